import numpy as np
import pytest

from graph_metric_learn.index import rows
from graph_metric_learn.index.rows import FEW, Axes, Batch, State, appended, batches_of, compacted_axes
from vector_oracle import decaying


def batch(rng, ids, *, notes=None, curves=False):
    ends = np.cumsum(rng.integers(1, 4, len(ids)))
    arrays = {"curves": rng.normal(size=(ends[-1], 2, 3)), "curve_ends": ends} if curves else {}
    return Batch(rng.normal(size=(len(ids), 20)).astype(np.float32), ids, notes, arrays)


def contents(batches):
    """What batches say about each row, one by one."""
    found = []
    for one in batches:
        curves = [None] * len(one.ids)
        if one.curves:
            curves = [c.tolist() for c in np.split(one.curves["curves"], one.curves["curve_ends"])[:-1]]
        notes = one.notes or [None] * len(one.ids)
        found += zip(one.ids, notes, one.vectors.tolist(), curves, strict=True)
    return found


@pytest.mark.parametrize("curves", [False, True])
@pytest.mark.parametrize("size", [1, 1000])
def test_rows_come_back_without_the_dead(rng, monkeypatch, curves, size):
    monkeypatch.setattr(rows, "_BATCH_BYTES", size)
    parts = [
        batch(rng, [3, 4, 5], curves=curves),
        batch(rng, ["a", 9], notes=[b"1", b"2"], curves=curves),
        batch(rng, [(1, 2)], curves=curves),
    ]
    state = State()
    for part in parts:
        state = appended(state, part)
    assert contents(batches_of(state)) == contents(parts)
    less = state.without(np.array([1])).without(np.array([4]))
    wanted = contents(parts)
    assert contents(batches_of(less)) == [wanted[i] for i in (0, 2, 3, 5)]
    assert (len(state), len(less), less.count) == (6, 4, 6)
    assert less.find([3, 4, "a", 9, (1, 2), "9"]).tolist() == [0, -1, 3, -1, 5, -1]
    assert (less.next_id, less.only_numbers) == (10, False)
    assert contents(batches_of(less.without(np.arange(6)))) == []


def test_growing_leaves_earlier_states_as_they_were(rng):
    first = appended(State(), batch(rng, [0, 1]))
    vectors = first.arrays["vectors"].copy()
    second = appended(first.without(np.array([0])), batch(rng, [2]))
    assert second.dead.tolist() == [True, False, False]
    assert first.alive.tolist() == [0, 1]
    np.testing.assert_array_equal(first.arrays["vectors"], vectors)
    np.testing.assert_array_equal(second.arrays["vectors"][:2], vectors)


def test_the_first_vectors_are_not_copied(rng):
    vectors = rng.normal(size=(100, 20)).astype(np.float32)
    assert np.shares_memory(appended(State(), Batch(vectors)).arrays["vectors"], vectors)


def test_coordinates_follow_the_axes(rng):
    vectors = decaying(rng, 300, 20)
    state = State()
    for lo in range(0, 300, 50):
        state = appended(state, Batch(vectors[lo : lo + 50]))
        coordinates = np.concatenate([state.arrays["coarse"], state.arrays["fine"]], axis=1)
        np.testing.assert_array_equal(coordinates, state.axes.coordinates(vectors[: lo + 50]))
    assert state.axes.fitted_to == 100  # the next time with four times as many
    state = state.without(np.arange(0, 300, 2))
    assert compacted_axes(state).fitted_to == 150
    assert compacted_axes(state.without(np.arange(40, 300))) is state.axes  # too few
    assert compacted_axes(state.without(np.arange(300))) is None
    with pytest.raises(ValueError, match="vectors of width 3, those of the index have 20"):
        appended(state, Batch(np.zeros((1, 3), np.float32)))


# --- axes ------------------------------------------------------------------------------------------------------------


def test_axes_are_those_of_the_covariance(rng):
    vectors = decaying(rng, 500, 30) + 3.0
    axes = Axes.fit(vectors)
    np.testing.assert_allclose(axes.directions.T @ axes.directions, np.eye(30), atol=1e-12)
    heads = axes.coordinates(vectors)
    np.testing.assert_allclose(heads, (vectors - vectors.mean(0, dtype=float)) @ axes.directions, atol=1e-5)
    variances = np.sort(np.linalg.eigvalsh(np.cov(vectors.T.astype(float), bias=True)))[::-1]
    np.testing.assert_allclose(heads.astype(float).var(0), variances, rtol=1e-3)


def test_distances_of_heads_bound_those_of_vectors(rng):
    vectors = decaying(rng, 80, 70)
    heads = Axes.fit(vectors).coordinates(vectors).astype(float)
    assert heads.shape == (80, 48)
    bound = np.linalg.norm(heads[:, None] - heads, axis=2)
    exact = np.linalg.norm(vectors[:, None].astype(float) - vectors, axis=2)
    assert (bound <= exact + 1e-6).all()
    assert bound.sum() > 0.7 * exact.sum()


def test_narrow_vectors_are_filled_up_with_zeros(rng):
    vectors = rng.normal(size=(20, 3)).astype(np.float32)
    heads = Axes.fit(vectors).coordinates(vectors)
    assert heads.shape == (20, 16)
    assert not heads[:, 3:].any()
    np.testing.assert_allclose(
        np.linalg.norm(heads[:, None] - heads, axis=2), np.linalg.norm(vectors[:, None] - vectors, axis=2), atol=1e-5
    )


def test_the_first_axes_are_the_first_coordinates(rng):
    vectors = rng.normal(size=(3, 20)).astype(np.float32)
    first = Axes.first(20)
    np.testing.assert_array_equal(first.coordinates(vectors), vectors)
    assert first.fitted_to == FEW
    assert not first.is_outgrown(4 * FEW - 1)
    assert first.is_outgrown(4 * FEW)
    assert not Axes.fit(vectors, 20_000).is_outgrown(10**6)  # many enough for good
