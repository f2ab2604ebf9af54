import json

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from graph_metric_learn.predictors.calibration import calibrate, probabilities


def test_one_score_has_the_logistic_regression_of_scikit_learn(rng):
    codes = np.arange(90) % 2
    scores = rng.normal(size=90) + 1.5 * codes + 3
    found = probabilities(scores, calibrate(scores, codes, 2))
    scaled = (scores[:, None] - scores.mean()) / scores.std()
    np.testing.assert_allclose(found, LogisticRegression(C=10.0).fit(scaled, codes).predict_proba(scaled), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_scores_of_all_classes_keep_their_order(rng, n_classes):
    """And the slope is the one of the least loss on the graphs it was found on, among a thousand."""
    codes = np.arange(120) % n_classes
    scores = 0.1 * (rng.normal(size=(120, n_classes)) + 2 * np.eye(n_classes)[codes]) + 5
    found = probabilities(scores, calibrate(scores, codes, n_classes))
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))
    slopes = np.logspace(-1, 3, 1000)
    losses = [log_loss(codes, softmax(slope * scores, axis=1)) for slope in slopes]
    assert log_loss(codes, found) < min(losses) + 1e-3
    assert log_loss(codes, found) < log_loss(codes, np.full((120, n_classes), 1 / n_classes)) - 0.1


def test_probabilities_are_those_that_were_drawn_by(rng):
    """One score; the second class has the odds exp(2 s − 1), in other units."""
    scores = rng.normal(size=4000)
    wanted = 1 / (1 + np.exp(1 - 2 * scores))
    codes = (rng.random(4000) < wanted).astype(int)
    found = probabilities(100 * scores + 7, calibrate(100 * scores + 7, codes, 2))
    np.testing.assert_allclose(found.sum(1), 1)
    np.testing.assert_allclose(found[:, 1], wanted, atol=0.04)


@pytest.mark.parametrize("seen", [[0], [2], [0, 2], [1, 2]])
def test_classes_without_a_graph_held_out_have_the_slope_of_the_others(rng, seen):
    codes = np.array(seen * 20)[:20]
    scores = rng.normal(size=(20, 3)) + 2 * np.eye(3)[codes]
    found = probabilities(scores, calibrate(scores, codes, 3))
    np.testing.assert_allclose(found.sum(1), 1)
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))
    assert found[np.arange(20), codes].mean() > 0.7


@pytest.mark.parametrize("seen", [0, 1])
def test_of_two_classes_one_without_a_graph_held_out_is_unlikely(rng, seen):
    scores = rng.normal(size=20)
    found = probabilities(scores, calibrate(scores, np.full(20, seen), 2))
    assert (found[:, 1 - seen] < 1e-6).all()


def test_graphs_of_classes_that_were_not_seen_do_not_count(rng):
    """Half of the graphs are of classes whose scores are -inf."""
    codes = np.arange(120) % 4
    scores = 0.1 * (rng.normal(size=(120, 4)) + 3 * np.eye(4)[codes])
    part = scores.copy()
    part[:40, :2] = part[40:80, 1:3] = -np.inf
    known = np.isfinite(part[np.arange(120), codes])
    assert known.sum() == 80
    calibrator = calibrate(part, codes, 4)
    kept = calibrate(part[known], codes[known], 4)
    np.testing.assert_allclose(probabilities(scores, calibrator), probabilities(scores, kept), atol=0.01)
    assert probabilities(scores, calibrator).max(1).mean() > 0.8


def test_without_a_graph_of_a_class_that_was_seen_nothing_is_known():
    scores = np.array([[1.0, -np.inf, -np.inf], [-np.inf, 0.2, 0.7]])
    calibrator = calibrate(scores, np.array([1, 0]), 3)
    np.testing.assert_allclose(probabilities(np.array([[0.9, -0.3, 0.1]]), calibrator), 1 / 3, atol=1e-3)


def test_scores_far_away_and_scores_that_are_all_the_same(rng):
    codes = np.arange(20) % 2
    flat = calibrate(np.ones(20), codes, 2)
    np.testing.assert_allclose(probabilities(np.ones(3), flat), 0.5, atol=1e-6)
    found = probabilities(np.array([-1e6, 1e6]), calibrate(codes + rng.normal(size=20), codes, 2))
    np.testing.assert_allclose(found, np.eye(2), atol=1e-12)


def test_it_is_kept_as_json(rng):
    codes, scores = np.arange(30) % 3, rng.normal(size=(30, 3))
    calibrator = calibrate(scores, codes, 3)
    again = json.loads(json.dumps(calibrator))
    np.testing.assert_array_equal(probabilities(scores, again), probabilities(scores, calibrator))


def test_the_order_of_scores_is_never_turned_around(rng):
    """Scores that are wrong by chance: nearly the shares of the classes."""
    codes = np.arange(40) % 4 == 0
    scores = rng.normal(size=40) - codes
    found = probabilities(scores, calibrate(scores, codes.astype(int), 2))
    np.testing.assert_array_equal(np.argsort(found[:, 1]), np.argsort(scores))
    np.testing.assert_allclose(found[:, 1], 0.25, atol=1e-3)


def test_small_differences_between_scores_mean_little(rng):
    """One of 40 is of the second class, and no decision is far from -1."""
    scores = -1 + 0.002 * rng.normal(size=40)
    scores[0] = -0.99
    found = probabilities(np.array([-0.95, 1.0]), calibrate(scores, (np.arange(40) == 0).astype(int), 2))
    assert found[0, 1] < 0.5
