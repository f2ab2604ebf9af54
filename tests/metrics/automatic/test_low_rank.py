import numpy as np
import pytest

from graph_metric_learn.metrics.automatic.low_rank import LowRankMap


@pytest.fixture
def low_rank(rng):
    return LowRankMap(np.linalg.qr(rng.normal(size=(6, 2)))[0], rng.normal(size=(2, 2)))


def test_a_map_of_low_rank_changes_few_directions(rng, low_rank):
    """I + U A Uᵀ, written out as a matrix."""
    vectors = rng.normal(size=(5, 6))
    wanted = vectors @ (np.eye(6) + low_rank.directions @ low_rank.step @ low_rank.directions.T)
    np.testing.assert_allclose(low_rank.apply(vectors), wanted)


def test_pull_is_the_adjoint(rng, low_rank):
    vectors, gradient = rng.normal(size=(5, 6)), rng.normal(size=6)
    np.testing.assert_allclose(vectors @ low_rank.backward(gradient), low_rank.apply(vectors) @ gradient)
