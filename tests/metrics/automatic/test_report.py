from types import SimpleNamespace

import numpy as np
import pytest
from graph_metric_learn.metrics.automatic.kernel_ridge import KernelRidge, Part
from graph_metric_learn.metrics.automatic.learning import Learned
from graph_metric_learn.metrics.automatic.selection import Choice

from graph_metric_learn.metrics.automatic.estimate import Estimate
from graph_metric_learn.metrics.automatic.report import estimate_in_words, learning_in_words, report, width_in_words
from graph_metric_learn.metrics.automatic.score_weight import ScoreWeight
from graph_metric_learn.metrics.automatic.width import Width
from graph_metric_learn.objectives import Classes, Numbers
from made_up_vectors import points_term


@pytest.fixture
def classes():
    objective = Classes()
    objective.classes_ = np.arange(3)
    return objective


def learned_with(weight, gain):
    terms = [points_term(np.eye(3), f"attributes@{i}") for i in range(2)]
    parts = [Part(term, "linear", np.eye(3), 1.0, np.zeros(3)) for term in (*terms, terms[0])]
    return Learned(
        ScoreWeight(weight, 7, 0.5, 0.6, 0.7, gain, 0.1),
        KernelRidge(parts, np.ones((3, 1)), np.zeros(1), 0.1),
        np.eye(1),
        1.0,
    )


def fitted(choice, objective, learned=None, estimate=None, seconds=0.0, width=None):
    return SimpleNamespace(
        choice_=choice, objective_=objective, learned_=learned, estimate_=estimate, seconds_=seconds, width_=width
    )


def test_what_was_chosen(classes):
    one = Choice({"mean of size": 1.0}, 0.5, 0.5, 3, scores={"mean of size": 0.5, "other": 0.4})
    assert report(fitted(one, classes, seconds=1.23)) == "chose mean of size out of 2 candidates (3 classes, 1.2 s)"
    two = Choice({"a": 0.25, "b": 0.75}, 0.5, 0.5, 3, scores={"a": 0.5, "b": 0.4})
    assert report(fitted(two, classes)).startswith("chose a (25 %) + b (75 %) out of 2 candidates")


def test_what_was_learned(classes):
    names = "mean of attributes@0 + mean of attributes@1"  # each once
    said = learning_in_words(learned_with(3.0, 0.5), 7)
    assert said == f"learned scores of a kernel ridge regression on {names} count 3 times as much (k = 7)"
    said = learning_in_words(learned_with(0.0, 0.5), 7)
    assert said.startswith("learned nothing:")
    assert "it did not help graphs held out" in said
    assert "it is not clearly better than predicting the mean" in learning_in_words(learned_with(0.0, 0.2), 7)
    choice = Choice({"a": 1.0}, 0.5, 0.5, 3, scores={"a": 0.5})
    assert learning_in_words(learned_with(3.0, 0.5), 3) in report(fitted(choice, classes, learned_with(3.0, 0.5)))


def test_how_well_neighbours_predict(classes):
    good = Estimate(0.85, 0.02, 0.5, "the largest class", None)
    said = estimate_in_words(good, classes)
    assert said == "accuracy of neighbours on new graphs about 85.0 % ± 2.0 % (the largest class: 50.0 %)"
    uneven = Estimate(0.85, 0.02, 0.5, "the largest class", 0.7)
    assert "; balanced accuracy: 70.0 %)" in estimate_in_words(uneven, classes)
    uneven = Estimate(0.85, 0.02, 0.5, "the largest class", 0.7, 0.031, 0.5)
    assert "; balanced accuracy: 70.0 % ± 3.1 %)" in estimate_in_words(uneven, classes)
    choice = Choice({"a": 1.0}, 0.5, 0.5, 3, scores={"a": 0.5})
    assert report(fitted(choice, classes, estimate=good)).endswith(said)


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
    said = width_in_words(Width(64, 300, 0.851, 0.853), classes)
    assert said == "kept 64 of 300 coordinates (accuracy of neighbours on graphs held out 85.1 %, with all 85.3 %)"
    choice = Choice({"a": 1.0}, 0.5, 0.5, 3, scores={"a": 0.5})
    assert report(fitted(choice, classes, width=Width(64, 300, 0.851, 0.853))).endswith(said)
    assert "kept" not in report(fitted(choice, classes, width=Width(300, 300, 0.853, 0.853)))
