import numpy as np
import pytest
from scipy.optimize import approx_fprime

from graph_metric_learn.metrics.automatic import learning
from graph_metric_learn.metrics.automatic.learning import (
    GroupWeights,
    LowRank,
    Neighborhoods,
    group_squares,
    held_out_scores,
    learn,
    principal_directions,
)


def squares_of(vectors):
    return ((vectors[:, None] - vectors[None]) ** 2).sum(2)


def made_up(rng, count=150, informative=1, noise=12):
    """Two classes that differ in one column of many."""
    codes = np.arange(count) % 2
    vectors = rng.normal(size=(count, informative + noise)).astype(np.float32)
    vectors[:, :informative] = 3.0 * codes[:, None] + rng.normal(size=(count, informative))
    return vectors, codes


@pytest.fixture
def example(rng):
    vectors, codes = made_up(rng)
    return vectors, Neighborhoods.of(squares_of(vectors), codes, rng)


def models(vectors, around):
    groups = [np.arange(vectors.shape[1])]
    parts = group_squares([vectors[:, None, :]], groups, around.near)
    places = vectors @ principal_directions(vectors, 3)
    return {
        "weights": GroupWeights(parts),
        "low rank": LowRank(parts.sum(2), places[:, None, :] - places[around.near]),
    }


def test_neighbourhoods(rng, example):
    vectors, around = example
    assert around.valid.all()
    assert not (around.near == np.arange(len(vectors))[:, None]).any()
    order = np.argsort(squares_of(vectors) + 1e9 * np.eye(len(vectors)), axis=1)
    np.testing.assert_array_equal(around.near[:, :3], order[:, :3])
    for code in (0, 1):
        counts = np.bincount(around.folds[around.codes == code])
        assert counts.max() - counts.min() <= 1
    few = Neighborhoods.of(squares_of(vectors[:6]), around.codes[:6], rng)
    assert few.near.shape == (6, 5)


def test_no_graph_is_near_itself_or_near_twice_also_in_small_classes(rng):
    vectors, codes = rng.normal(size=(60, 3)), np.arange(60) % 20  # three of each
    around = Neighborhoods.of(squares_of(vectors), codes, rng)
    for i, (row, valid) in enumerate(zip(around.near, around.valid, strict=True)):
        used = row[valid].tolist()
        assert i not in used
        assert len(set(used)) == len(used)
        assert set(np.flatnonzero(codes == codes[i])) - {i} <= set(used)  # all of its class, near or not
    assert not (around.same & ~around.valid).any()


def test_the_order_of_equals_does_not_favour_a_class(rng):
    codes = np.repeat([0, 1], 100)
    around = Neighborhoods.of(np.zeros((200, 200)), codes, rng)
    assert 0.1 < np.mean(codes[around.near[:, : around.n_voters]]) < 0.9


def test_held_out_graphs_get_no_hint_of_their_class(rng):
    """Scores of learned distances are those that distances to all graphs give."""
    vectors, codes = made_up(rng, count=200, noise=30)
    around = Neighborhoods.of(squares_of(vectors), codes, rng)
    model = models(vectors, around)["weights"]
    held = around.folds == 0
    known = ~held[around.near] & around.valid
    found = learning.fit(model, around, ~held, known)
    scores = held_out_scores(model.squares(found), around, held).mean()
    every = squares_of(vectors * np.exp(found / 2))
    outside = np.flatnonzero(~held)
    hits = []
    for i in np.flatnonzero(held):
        order = codes[outside[np.argsort(every[i, outside])]]
        hits.append(np.mean([np.bincount(order[:k], minlength=2).argmax() == codes[i] for k in (1, 3, 5, 7)]))
    assert scores <= np.mean(hits) + 0.05


def test_squares_of_groups(rng):
    vectors = [rng.normal(size=(20, 2, 3)).astype(np.float32), rng.normal(size=(20, 1, 4)).astype(np.float32)]
    groups = [np.array([0, 0, 1]), np.array([2, 2, 2, 2])]
    near = rng.integers(20, size=(20, 5))
    parts = group_squares(vectors, groups, near)
    gaps = [values[:, None] - values[near] for values in vectors]
    np.testing.assert_allclose(parts[:, :, 0], (gaps[0][..., :2] ** 2).sum((2, 3)), rtol=1e-4)
    np.testing.assert_allclose(parts[:, :, 1], (gaps[0][..., 2:] ** 2).sum((2, 3)), rtol=1e-4)
    np.testing.assert_allclose(parts[:, :, 2], (gaps[1] ** 2).sum((2, 3)), rtol=1e-4)
    joined = GroupWeights.joined(parts, np.array([0, 1, 0]))
    np.testing.assert_allclose(joined.parts[:, :, 0], parts[:, :, 0] + parts[:, :, 2], rtol=1e-5)


@pytest.mark.parametrize("which", ["weights", "low rank"])
def test_gradients_are_those_of_finite_differences(rng, example, which):
    vectors, around = example
    model = models(vectors.astype(np.float64), around)[which]
    slopes = rng.normal(size=around.near.shape)
    point = 0.1 * rng.normal(size=model.n_parameters)
    numeric = approx_fprime(point, lambda p: float((slopes * model.squares(p)).sum()), 1e-3)
    np.testing.assert_allclose(model.gradient(point, slopes), numeric, rtol=0.05, atol=0.02 * np.abs(numeric).max())


def test_slopes_of_nca_are_those_of_finite_differences(rng):
    scaled = rng.uniform(0.1, 3.0, size=(4, 6))
    known, same = rng.random((4, 6)) < 0.8, rng.random((4, 6)) < 0.5
    known[:, 0] = same[:, 0] = True
    value, slopes = learning._nca(scaled, known, same & known)
    numeric = approx_fprime(
        scaled.ravel(), lambda s: learning._nca(s.reshape(4, 6), known, same & known)[0], 1e-6
    ).reshape(4, 6)
    np.testing.assert_allclose(slopes, numeric, atol=1e-4)
    assert value >= 0


def test_nothing_learned_is_the_distance_itself(example):
    vectors, around = example
    wanted = np.take_along_axis(squares_of(vectors), around.near, axis=1)
    for model in models(vectors, around).values():
        np.testing.assert_allclose(model.squares(np.zeros(model.n_parameters)), wanted, rtol=1e-3)


def test_scores_are_those_of_neighbours_that_are_not_held_out(example):
    vectors, around = example
    squares = squares_of(vectors)
    held = around.folds == 0
    scores = held_out_scores(np.take_along_axis(squares, around.near, axis=1), around, held)
    outside = np.flatnonzero(~held)
    for i, score in zip(np.flatnonzero(held)[:10], scores, strict=False):
        order = around.codes[outside[np.argsort(squares[i, outside])]]
        wanted = np.mean([np.bincount(order[:k], minlength=2).argmax() == around.codes[i] for k in (1, 3, 5, 7)])
        assert score == pytest.approx(wanted)


def test_what_helps_is_kept(example):
    vectors, around = example
    found, stage = learn("columns", models(vectors, around)["weights"], around)
    assert stage.kept
    assert stage.learned > stage.unlearned + 0.03
    assert found.argmax() == 0  # the column that tells the classes apart
    found, stage = learn("map", models(vectors, around)["low rank"], around)
    assert np.isfinite(found).all()


def test_what_does_not_help_is_not_kept():
    kept = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        vectors, codes = made_up(rng, informative=0)  # nothing to learn
        around = Neighborhoods.of(squares_of(vectors), codes, rng)
        for model in models(vectors, around).values():
            found, stage = learn("noise", model, around)
            kept.append(stage.kept)
            assert stage.kept or (found == 0).all()
    assert np.mean(kept) <= 0.25  # by chance one in twenty or so


def test_directions_are_principal_components(rng):
    vectors = (rng.normal(size=(30, 8)) * [9, 5, 1, 1, 1, 1, 1, 1]).astype(np.float32)
    directions = principal_directions(vectors, 2)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-4)
    _, _, rows = np.linalg.svd(vectors - vectors.mean(0))
    np.testing.assert_allclose(np.abs(rows[:2] @ directions), np.eye(2), atol=1e-3)
    assert principal_directions(np.ones((5, 3), np.float32) * np.arange(5, dtype=np.float32)[:, None], 4).shape == (
        3,
        1,
    )
