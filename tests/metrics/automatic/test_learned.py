"""Scores of a regression as coordinates of the distance."""

import numpy as np
import pytest

from graph_metric_learn.metrics.automatic.exact import Regression, Setting
from graph_metric_learn.metrics.automatic.learned import Learned
from graph_metric_learn.metrics.automatic.score_weight import ScoreWeight


def learned(rng, weight=2.0, most=9):
    gate = ScoreWeight(weight, 3, 0.5, 0.6, 0.7, "", 0.4, 1.0, 0.1)
    alpha, mean = rng.normal(size=(20, 3)), np.array([0.2, 0.3, 0.5])
    alpha -= alpha.mean(1, keepdims=True)  # scores add up to 1, as those of classes do
    kernel = rng.uniform(size=(40, 20))
    scores = kernel @ alpha + mean
    regression = Regression(Setting(0.5, 1.0), alpha, mean, [])
    return Learned.of(gate, regression, scores, most, 40, np.arange(20, dtype=np.uint64)), kernel, scores


def test_distances_of_placed_scores_are_those_of_the_scores_of_mean_weight(rng):
    one, kernel, scores = learned(rng)
    assert one.width == 2  # three scores that add up to 1 differ in two directions
    np.testing.assert_allclose(one.scores(kernel), scores)
    placed = one.placed(scores).astype(float)
    squares, wanted = (((v[:, None] - v) ** 2).sum(-1) for v in (placed, scores))
    np.testing.assert_allclose(squares, 2.0 * wanted / wanted.mean(), atol=1e-5)


@pytest.mark.parametrize("most", [0, 1])
def test_scores_get_no_more_coordinates_than_there_are(rng, most):
    assert learned(rng, most=most)[0].width == most


def test_without_weight_scores_are_no_part_of_the_distance(rng):
    assert learned(rng, weight=0.0)[0].width == 0


def test_another_regression_keeps_what_was_found(rng):
    one, _, _ = learned(rng)
    other = Learned.refitted(one, 2 * one.alpha, one.mean, 80)
    assert (other.n_graphs, other.gate, other.width) == (80, one.gate, 2)
    np.testing.assert_array_equal(other.alpha, 2 * one.alpha)
