import json

import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from graph_metric_learn.predictors.calibration import (
    calibrate,
    calibrate_labels,
    label_probabilities,
    probabilities,
)


def counted(codes, n_classes):
    return np.bincount(codes, minlength=n_classes)


def halves(decisions):
    return decisions[:, None] * [-0.5, 0.5]


@pytest.mark.parametrize("n_classes", [2, 3, 30])
def test_scores_of_all_classes_keep_their_order(rng, n_classes):
    """And the slope is the one of the least loss on the graphs it was found on, among a thousand."""
    codes = np.arange(120) % n_classes
    scores = 0.1 * (rng.normal(size=(120, n_classes)) + 2 * np.eye(n_classes)[codes]) + 5
    found = probabilities(scores, calibrate(scores, codes, counted(codes, n_classes)))
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))
    slopes = np.logspace(-1, 3, 1000)
    losses = [log_loss(codes, softmax(slope * scores, axis=1)) for slope in slopes]
    assert log_loss(codes, found) < min(losses) + 5e-3
    assert log_loss(codes, found) < log_loss(codes, np.full((120, n_classes), 1 / n_classes)) - 0.1


def test_probabilities_are_those_that_were_drawn_by(rng):
    """The second class has the odds exp(2 s − 1), in other units: an offset is clearly needed."""
    scores = rng.normal(size=4000)
    wanted = expit(2 * scores - 1)
    codes = (rng.random(4000) < wanted).astype(int)
    calibrator = calibrate(100 * halves(scores), codes, counted(codes, 2))
    found = probabilities(100 * halves(scores), calibrator)
    np.testing.assert_allclose(found.sum(1), 1)
    np.testing.assert_allclose(found[:, 1], wanted, atol=0.04)
    assert calibrator["slopes"][0] == pytest.approx(0.02, rel=0.1)


def test_offsets_are_those_of_a_logistic_regression(rng):
    codes = (rng.random(600) < 0.05).astype(int)
    scores = rng.normal(size=600) + 1.5 * codes
    found = probabilities(halves(scores), calibrate(halves(scores), codes, counted(codes, 2)))
    plain = LogisticRegression(C=100.0).fit(scores[:, None], codes)
    np.testing.assert_allclose(logit(found[:, 1]), plain.decision_function(scores[:, None]), atol=0.15)
    assert found[:, 1].mean() == pytest.approx(codes.mean(), rel=0.01)


def rare(rng, count, share=1e-3):
    """Scores and classes of many graphs, of which one in a thousand is of the second class."""
    codes = (rng.random(count) < share).astype(int)
    return halves(rng.normal(size=count) + 3.0 * codes), codes


def test_one_in_a_thousand(rng):
    """All 60 rare graphs and a thousand of 60,000 others were held out: probabilities are right for all graphs."""
    scores, codes = rare(rng, 60_000)
    held_out = np.concatenate([np.flatnonzero(codes == 1), rng.permutation(np.flatnonzero(codes == 0))[:1000]])
    calibrator = calibrate(scores[held_out], codes[held_out], counted(codes, 2))
    new, truth = rare(rng, 200_000)
    found = probabilities(new, calibrator)
    of_rates = log_loss(truth, np.tile(counted(codes, 2) / 60_000, (200_000, 1)))
    assert log_loss(truth, found) < 0.8 * of_rates
    assert log_loss(truth, found) < 1.05 * log_loss(truth, probabilities(new, calibrate(new, truth, counted(truth, 2))))
    assert found[:, 1].mean() == pytest.approx(1e-3, rel=0.3)
    sure = found[:, 1] > 0.1
    assert truth[sure].mean() == pytest.approx(found[sure, 1].mean(), rel=0.3)


def test_few_rare_graphs_are_enough_for_an_offset(rng):
    """Two of a thousand held out, whose scores say little: probabilities are about the shares of the classes."""
    codes = (np.arange(1000) < 2).astype(int)
    shares = np.clip(0.002 * rng.random(1000), 0, 1)
    scores = np.stack([1 - shares, shares], axis=1)
    found = probabilities(scores, calibrate(scores, codes, counted(codes, 2)))
    np.testing.assert_allclose(found[:, 1], 0.002, atol=1e-3)


def test_scores_that_say_nothing_give_the_shares_of_the_classes(rng):
    _, codes = rare(rng, 20_000, 0.01)
    scores = halves(rng.normal(size=20_000))
    held_out = np.concatenate([np.flatnonzero(codes == 1), np.flatnonzero(codes == 0)[:300]])
    found = probabilities(scores, calibrate(scores[held_out], codes[held_out], counted(codes, 2)))
    np.testing.assert_allclose(found[:, 1], 0.01, atol=0.01)


@pytest.mark.parametrize("seen", [[0], [2], [0, 2], [1, 2]])
def test_classes_without_a_graph_held_out_have_the_slope_of_the_others(rng, seen):
    codes = np.array(seen * 20)[:20]
    scores = rng.normal(size=(20, 3)) + 2 * np.eye(3)[codes]
    found = probabilities(scores, calibrate(scores, codes, np.full(3, 20)))
    np.testing.assert_allclose(found.sum(1), 1)
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))
    assert found[np.arange(20), codes].mean() > 0.7


def test_a_class_without_a_graph_held_out_is_as_rare_as_the_rarest(rng):
    codes = (np.arange(500) % 50 == 0).astype(int)
    scores = rng.normal(size=(500, 3)) + np.eye(3)[codes]
    offsets = calibrate(scores, codes, np.array([490, 10, 1]))["offsets"]
    assert offsets[0] > offsets[1] + 2
    assert offsets[2] == offsets[1]


def test_graphs_of_classes_that_were_not_seen_do_not_count(rng):
    """Half of the graphs are of classes whose scores are -inf."""
    codes = np.arange(120) % 4
    scores = 0.1 * (rng.normal(size=(120, 4)) + 3 * np.eye(4)[codes])
    part = scores.copy()
    part[:40, :2] = part[40:80, 1:3] = -np.inf
    known = np.isfinite(part[np.arange(120), codes])
    assert known.sum() == 80
    calibrator = calibrate(part, codes, counted(codes, 4))
    kept = calibrate(part[known], codes[known], counted(codes, 4))
    np.testing.assert_allclose(probabilities(scores, calibrator), probabilities(scores, kept), atol=0.01)
    assert probabilities(scores, calibrator).max(1).mean() > 0.8


def test_without_a_graph_of_a_class_that_was_seen_nothing_is_known():
    scores = np.array([[1.0, -np.inf, -np.inf], [-np.inf, 0.2, 0.7]])
    calibrator = calibrate(scores, np.array([1, 0]), np.ones(3))
    np.testing.assert_allclose(probabilities(np.array([[0.9, -0.3, 0.1]]), calibrator), 1 / 3, atol=1e-3)


def test_scores_far_away_and_scores_that_are_all_the_same(rng):
    codes = np.arange(20) % 2
    flat = calibrate(np.ones((20, 2)), codes, counted(codes, 2))
    np.testing.assert_allclose(probabilities(np.ones((3, 2)), flat), 0.5, atol=1e-6)
    near = halves(codes + rng.normal(size=20))
    found = probabilities(halves(np.array([-1e6, 1e6])), calibrate(near, codes, counted(codes, 2)))
    np.testing.assert_allclose(found, np.eye(2), atol=1e-12)


def test_it_is_kept_as_json(rng):
    codes, scores = np.arange(30) % 3, rng.normal(size=(30, 3))
    calibrator = calibrate(scores, codes, counted(codes, 3))
    again = json.loads(json.dumps(calibrator))
    np.testing.assert_array_equal(probabilities(scores, again), probabilities(scores, calibrator))


def test_the_order_of_scores_is_never_turned_around(rng):
    """Scores that are wrong by chance: nearly the shares of the classes."""
    codes = (np.arange(400) % 4 == 0).astype(int)
    scores = halves(rng.normal(size=400) - codes)
    found = probabilities(scores, calibrate(scores, codes, counted(codes, 2)))
    np.testing.assert_array_equal(np.argsort(found[:, 1]), np.argsort(scores[:, 1]))
    np.testing.assert_allclose(found[:, 1], 0.25, atol=1e-3)


def test_small_differences_between_scores_mean_little(rng):
    """One of 40 is of the second class, and no decision is far from -1."""
    decisions = -1 + 0.002 * rng.normal(size=40)
    decisions[0] = -0.99
    codes = (np.arange(40) == 0).astype(int)
    found = probabilities(halves(np.array([-0.95])), calibrate(halves(decisions), codes, counted(codes, 2)))
    assert found[0, 1] < 0.5


# --- several labels ---------------------------------------------------------------------------------------------------


def test_each_label_has_a_logistic_regression_of_its_own(rng):
    scores = rng.normal(size=(5000, 3))
    wanted = expit(scores * [0.5, 2.0, 4.0] + [0.0, -3.0, 1.0])
    table = (rng.random((5000, 3)) < wanted).astype(float)
    counts = np.stack([(table == 0).sum(0), (table == 1).sum(0)])
    found = label_probabilities(scores, calibrate_labels(scores, table, counts))
    np.testing.assert_allclose(found, wanted, atol=0.05)


def test_labels_that_are_not_known_do_not_count(rng):
    scores, table = rng.normal(size=(200, 2)), (rng.random((200, 2)) < 0.4).astype(float)
    table[:, 1] = scores[:, 1] > 0
    counts = np.stack([(table == 0).sum(0), (table == 1).sum(0)])
    table[150:, 1], scores[:50, 1] = np.nan, np.nan
    both = calibrate_labels(scores, table, counts)
    rest = calibrate_labels(scores[50:150, 1:], table[50:150, 1:], counts[:, 1:])
    assert both["slopes"][1] == pytest.approx(rest["slopes"][0])
    assert both["offsets"][1] == pytest.approx(rest["offsets"][0])
    assert both["slopes"][1] > 3 > both["slopes"][0]


@pytest.mark.parametrize("known", [0, 30])
def test_a_label_with_one_kind_of_graphs_held_out_has_its_share(rng, known):
    table = np.full((100, 1), np.nan)
    table[:known] = 0.0
    calibrator = calibrate_labels(rng.normal(size=(100, 1)), table, np.array([[900], [100]]))
    np.testing.assert_allclose(label_probabilities(rng.normal(size=(9, 1)), calibrator), 0.1)
