import numpy as np
import pytest

from graph_metric_learn.metrics.automatic import learning
from graph_metric_learn.metrics.automatic.learning import Neighborhoods, held_out_scores, learn
from graph_metric_learn.objectives import Classes
from made_up_vectors import made_up, models, squares_of


@pytest.fixture
def example(rng):
    vectors, codes = made_up(rng)
    return vectors, Neighborhoods.of(squares_of(vectors), codes, Classes(), rng)


def test_neighbourhoods(rng, example):
    vectors, around = example
    assert around.valid.all()
    assert not (around.near == np.arange(len(vectors))[:, None]).any()
    order = np.argsort(squares_of(vectors) + 1e9 * np.eye(len(vectors)), axis=1)
    np.testing.assert_array_equal(around.near[:, :3], order[:, :3])
    for code in (0, 1):
        counts = np.bincount(around.folds[around.target == code])
        assert counts.max() - counts.min() <= 1
    few = Neighborhoods.of(squares_of(vectors[:6]), around.target[:6], Classes(), rng)
    assert few.near.shape == (6, 5)


def test_no_graph_is_near_itself_or_near_twice_also_in_small_classes(rng):
    vectors, codes = rng.normal(size=(60, 3)), np.arange(60) % 20  # three of each
    around = Neighborhoods.of(squares_of(vectors), codes, Classes(), rng)
    for i, (row, valid) in enumerate(zip(around.near, around.valid, strict=True)):
        used = row[valid].tolist()
        assert i not in used
        assert len(set(used)) == len(used)
        assert set(np.flatnonzero(codes == codes[i])) - {i} <= set(used)  # all of its class, near or not
    assert not (around.alike & ~around.valid).any()


def test_the_order_of_equals_does_not_favour_a_class(rng):
    codes = np.repeat([0, 1], 100)
    around = Neighborhoods.of(np.zeros((200, 200)), codes, Classes(), rng)
    assert 0.1 < np.mean(codes[around.near[:, : around.n_voters]]) < 0.9


def test_held_out_graphs_get_no_hint_of_their_class(rng):
    """Scores of learned distances are those that distances to all graphs give."""
    vectors, codes = made_up(rng, count=200, noise=30)
    around = Neighborhoods.of(squares_of(vectors), codes, Classes(), rng)
    model = models(vectors, around)["weights"]
    held = around.folds == 0
    known = ~held[around.near] & around.valid
    found = learning.fit(model, around, Classes(), ~held, known)
    scores = held_out_scores(model.squares(found), around, Classes(), held).mean()
    every = squares_of(vectors * np.exp(found / 2))
    outside = np.flatnonzero(~held)
    hits = []
    for i in np.flatnonzero(held):
        order = codes[outside[np.argsort(every[i, outside])]]
        hits.append(np.mean([np.bincount(order[:k], minlength=2).argmax() == codes[i] for k in (1, 3, 5, 7)]))
    assert scores <= np.mean(hits) + 0.05


def test_scores_are_those_of_neighbours_that_are_not_held_out(rng):
    """Classes at random: the neighbours that are held out would vote otherwise."""
    vectors, codes = rng.normal(size=(120, 2)), rng.integers(0, 2, 120)
    squares = squares_of(vectors)
    around = Neighborhoods.of(squares, codes, Classes(), rng)
    held = around.folds == 0
    scores = held_out_scores(np.take_along_axis(squares, around.near, axis=1), around, Classes(), held)
    outside = np.flatnonzero(~held)
    for i, score in zip(np.flatnonzero(held), scores, strict=True):
        order = codes[outside[np.argsort(squares[i, outside])]]
        wanted = np.mean([np.bincount(order[:k], minlength=2).argmax() == codes[i] for k in (1, 3, 5, 7)])
        assert score == pytest.approx(wanted)


def test_further_graphs_that_are_alike_do_not_vote(rng):
    """They were chosen by their class: brought near by a learned distance, they would give it away."""
    vectors, codes = rng.normal(size=(120, 2)), rng.integers(0, 2, 120)
    squares = squares_of(vectors)
    around = Neighborhoods.of(squares, codes, Classes(), rng)
    held = around.folds == 0
    learned = np.take_along_axis(squares, around.near, axis=1)
    wanted = held_out_scores(learned, around, Classes(), held)
    assert around.near.shape[1] > around.n_voters
    learned[:, around.n_voters :] = 0.0
    np.testing.assert_array_equal(held_out_scores(learned, around, Classes(), held), wanted)


def test_what_helps_is_kept(example):
    vectors, around = example
    found, stage = learn("columns", models(vectors, around)["weights"], around, Classes())
    assert stage.kept
    assert stage.learned > stage.unlearned + 0.03
    assert found.argmax() == 0  # the column that tells the classes apart
    found, stage = learn("map", models(vectors, around)["low rank"], around, Classes())
    assert np.isfinite(found).all()


def test_what_does_not_help_is_not_kept():
    kept = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        vectors, codes = made_up(rng, informative=0)  # nothing to learn
        around = Neighborhoods.of(squares_of(vectors), codes, Classes(), rng)
        for model in models(vectors, around).values():
            found, stage = learn("noise", model, around, Classes())
            kept.append(stage.kept)
            assert stage.kept or (found == 0).all()
    assert np.mean(kept) <= 0.25  # by chance one in twenty or so
