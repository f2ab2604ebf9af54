from types import SimpleNamespace

import numpy as np
import pytest

from graph_metric_learn.metrics.automatic.estimate import Estimate
from graph_metric_learn.metrics.automatic.exact import Setting
from graph_metric_learn.metrics.automatic.learned import Learned
from graph_metric_learn.metrics.automatic.report import estimate_in_words, learning_in_words, report, width_in_words
from graph_metric_learn.metrics.automatic.score_weight import ScoreWeight
from graph_metric_learn.metrics.automatic.width import Width
from graph_metric_learn.objectives import Classes, Numbers


@pytest.fixture
def classes():
    objective = Classes()
    objective.classes_ = np.arange(3)
    return objective


def learned_with(weight, gain, scored_by="", columns=1):
    gate = ScoreWeight(weight, 7, 0.5, 0.6, 0.71, scored_by, 0.965, gain, 0.1)
    return Learned(gate, Setting(0.5, 0.1), np.ones((3, 1)), np.zeros(1), np.ones((1, columns)), 1.0, 3)


def fitted(objective, weights=None, learned=None, estimate=None, seconds=0.0, width=None):
    parts = {"learned_": learned, "estimate_": estimate, "seconds_": seconds, "width_": width}
    return SimpleNamespace(weights_=weights or {"trees": 1.0}, objective_=objective, **parts)


def test_what_is_compared(classes):
    one = fitted(classes, {"trees": 0.7, "size": 0.3}, seconds=1.23)
    assert report(one) == "compares trees (70 %) + size (30 %) (3 classes, 1.2 s)"
    many = fitted(classes, {f"family {i}": 0.1 for i in range(10)})
    assert "family 5 (10 %) and 4 more (3 classes" in report(many)


def test_what_was_learned(classes):
    metric = fitted(classes, learned=learned_with(3.0, 0.5))
    said = learning_in_words(metric, metric.learned_)
    assert said == (
        "learned scores of a kernel ridge regression (accuracy 71.0 % on graphs held out; the largest class for all "
        "has 96.5 %) count 3 times as much (k = 7)"
    )
    assert said in report(metric)


@pytest.mark.parametrize(
    ("gain", "columns", "start", "why"),
    [
        (0.5, 1, "the distance has no learned scores", "they did not make neighbours better (k = 7)"),
        (0.2, 1, "learned nothing", "it is not clearly better than predicting the mean (k = 7)"),
        (0.5, 0, "the distance has no learned scores", "n_components leaves no coordinate for its scores (k = 7)"),
    ],
)
def test_why_scores_do_not_count(classes, gain, columns, start, why):
    said = report(fitted(classes, learned=learned_with(0.0, gain, columns=columns))).split("; ", 1)[1]
    assert said.startswith(start)
    assert said.endswith(why)


def test_rare_classes_are_reported_by_how_well_they_are_ranked(classes):
    said = report(fitted(classes, learned=learned_with(3.0, 0.5, "roc_auc"), width=Width(32, 64, 0.812, 0.815)))
    assert "AUC 0.710 on graphs held out; 0.5 by chance; the largest class for all has 96.5 % accuracy" in said
    assert "kept 32 of 64 coordinates (AUC of neighbours on graphs held out 0.812, with all 0.815)" in said


def test_how_well_neighbours_predict(classes):
    good = Estimate(0.85, 0.02, 0.5, "the largest class", None)
    said = estimate_in_words(good, classes)
    assert said == "accuracy of neighbours on new graphs about 85.0 % ± 2.0 % (the largest class: 50.0 %)"
    uneven = Estimate(0.85, 0.02, 0.5, "the largest class", 0.7)
    assert "; balanced accuracy: 70.0 %)" in estimate_in_words(uneven, classes)
    uneven = Estimate(0.85, 0.02, 0.5, "the largest class", 0.7, 0.031, 0.5)
    assert "; balanced accuracy: 70.0 % ± 3.1 %)" in estimate_in_words(uneven, classes)
    assert report(fitted(classes, estimate=good)).endswith(said)


@pytest.mark.parametrize(("score", "chance"), [(0.5625, True), (0.575, False), (0.45, True)])
def test_chance_is_said_in_words(classes, score, chance):
    said = estimate_in_words(Estimate(score, 0.03125, 0.5, "the largest class", None), classes)
    assert said.endswith("no better than chance") == chance


@pytest.mark.parametrize(
    ("score", "balanced", "error", "chance"),
    [
        (0.857, 0.76, 0.04, False),  # 15 in 85: many of the smaller class are found, at the cost of the larger
        (0.857, 0.76, 0.09, True),
        (0.75, 0.875, 0.125, True),  # equal is not above
        (0.95, 0.5, 0.04, False),
        (0.85, 0.5, 0.0, True),  # the largest class for all
        (0.7, 0.9, None, True),
    ],
)
def test_what_is_above_chance_for_classes_of_one_size_is_above_chance(classes, score, balanced, error, chance):
    estimate = Estimate(score, 0.02, 0.85, "the largest class", balanced, error, None if error is None else 0.5)
    assert estimate.at_chance == chance
    assert estimate_in_words(estimate, classes).endswith("no better than chance") == chance


def numbers(count):
    objective = Numbers()
    objective.set_state({"centre": [0.0] * count, "scale": [1.3125] * count, "several": count > 1})
    return objective


def test_numbers_are_reported_by_what_they_explain_and_by_the_error_in_their_units():
    estimate = Estimate(0.609375, 0.05, -1e-16, "the mean", None)
    said = estimate_in_words(estimate, numbers(1))
    assert said == "R² of neighbours on new graphs about 0.609 ± 0.050 (error 0.82, of the mean 1.31)"
    several = estimate_in_words(estimate, numbers(2))
    assert several == "R² of neighbours on new graphs about 0.609 ± 0.050 (the mean: 0.000)"
    assert estimate_in_words(Estimate(0.1, 0.05, 0.0, "the mean", None), numbers(1)).endswith("no better than chance")


def test_what_fewer_coordinates_cost(classes):
    said = width_in_words(Width(64, 300, 0.851, 0.853), fitted(classes))
    assert said == "kept 64 of 300 coordinates (accuracy of neighbours on graphs held out 85.1 %, with all 85.3 %)"
    assert report(fitted(classes, width=Width(64, 300, 0.851, 0.853))).endswith(said)
    assert "kept" not in report(fitted(classes, width=Width(300, 300, 0.853, 0.853)))
