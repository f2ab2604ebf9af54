import numpy as np
import pytest
from scipy.optimize import approx_fprime

from graph_metric_learn.metrics.automatic.learning import Neighborhoods
from graph_metric_learn.metrics.automatic.reweighting import GroupWeights, LowRankMap, group_squares
from graph_metric_learn.objectives import Classes
from made_up_vectors import made_up, models, squares_of


@pytest.fixture
def example(rng):
    vectors, codes = made_up(rng)
    return vectors, Neighborhoods.of(squares_of(vectors), codes, Classes(), rng)


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
    grad_squares = rng.normal(size=around.near.shape)
    point = 0.1 * rng.normal(size=model.n_parameters)
    numeric = approx_fprime(point, lambda p: float((grad_squares * model.squares(p)).sum()), 1e-3)
    np.testing.assert_allclose(
        model.gradient(point, grad_squares), numeric, rtol=0.05, atol=0.02 * np.abs(numeric).max()
    )


def test_nothing_learned_is_the_distance_itself(example):
    vectors, around = example
    wanted = np.take_along_axis(squares_of(vectors), around.near, axis=1)
    for model in models(vectors, around).values():
        np.testing.assert_allclose(model.squares(np.zeros(model.n_parameters)), wanted, rtol=1e-3)


def test_a_map_of_low_rank_changes_few_directions(rng):
    """I + U A Uᵀ, written out as a matrix."""
    directions = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    step = rng.normal(size=(2, 2))
    vectors = rng.normal(size=(5, 6))
    wanted = vectors @ (np.eye(6) + directions @ step @ directions.T)
    np.testing.assert_allclose(LowRankMap(directions, step).apply(vectors), wanted)
