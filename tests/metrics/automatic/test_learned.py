import numpy as np
import pytest

from graph_metric_learn.metrics.automatic.exact import Regression, Setting
from graph_metric_learn.metrics.automatic.learned import Learned
from graph_metric_learn.metrics.automatic.score_weight import ScoreWeight
from made_up_vectors import squares_of

COUNT, LANDMARKS = 40, 12
SETTING = Setting(0.5, 0.1)


def learned_from(rng, weight=3.0, outputs=3, most=9):
    """A regression whose outputs add up to 1, as those of classes; and kernels of graphs to its landmarks."""
    kernel = rng.random((COUNT, LANDMARKS))
    alpha, mean = rng.normal(size=(LANDMARKS, outputs)), np.full(outputs, 1 / outputs)
    if outputs > 1:
        alpha -= alpha.mean(1, keepdims=True)
    gate = ScoreWeight(weight, 7, 0.5, 0.6, 0.7, "", 0.3, 0.5, 0.1)
    names = np.arange(LANDMARKS, dtype=np.uint64)
    learned = Learned.of(gate, Regression(SETTING, alpha, mean, []), kernel @ alpha + mean, most, COUNT, names)
    return learned, kernel


@pytest.mark.parametrize("outputs", [1, 3])
def test_scores_join_the_distance_by_their_weight(rng, outputs):
    """weight / mean · |f(G) − f(H)|², with f the regression itself."""
    learned, kernel = learned_from(rng, outputs=outputs)
    scores = learned.scores(kernel)
    np.testing.assert_allclose(scores, kernel @ learned.alpha + learned.mean)
    wanted = 3.0 * squares_of(scores) / squares_of(scores).mean()
    placed = learned.placed(scores)
    assert placed.dtype == np.float32
    np.testing.assert_allclose(squares_of(placed), wanted, rtol=1e-4, atol=1e-5)


def test_scores_of_classes_differ_in_one_direction_less(rng):
    """They add up to 1."""
    learned, kernel = learned_from(rng)
    assert learned.width == 2
    np.testing.assert_allclose(learned.basis.T @ learned.basis, np.eye(2), atol=1e-12)
    narrow, _ = learned_from(np.random.default_rng(0), most=1)
    assert narrow.width == 1
    assert narrow.placed(narrow.scores(kernel)).shape == (COUNT, 1)


def test_scores_without_weight_have_no_coordinates(rng):
    learned, _ = learned_from(rng, weight=0.0)
    assert learned.width == 0
    assert learned.basis.shape[1] == 2


def test_another_regression_on_the_same_landmarks(rng):
    learned, _ = learned_from(rng)
    again = Learned.refitted(learned, 2 * learned.alpha, learned.mean + 1, 99)
    assert (again.n_graphs, learned.n_graphs) == (99, COUNT)
    np.testing.assert_array_equal(again.alpha, 2 * learned.alpha)
    np.testing.assert_array_equal(again.basis, learned.basis)
    assert again.unit == learned.unit
