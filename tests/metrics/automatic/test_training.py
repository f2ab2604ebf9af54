import numpy as np
import pytest

from graph_metric_learn.metrics.automatic.training import N_FOLDS, Training
from graph_metric_learn.objectives import Classes, Numbers, SeveralLabels
from graph_metric_learn.objectives.scoring import scorer_for


def training_of(made, groups=None):
    objective, target = made
    groups = np.arange(len(target)) if groups is None else groups
    return Training(objective, scorer_for("auto", objective, target), target, groups)


def test_outputs_are_those_of_the_objective():
    np.testing.assert_array_equal(training_of(Classes.of(np.array([0, 1, 1]))).outputs, [[1, 0], [0, 1], [0, 1]])
    table = np.array([[0, np.nan], [1, 1]])
    np.testing.assert_array_equal(training_of(SeveralLabels.of(table)).outputs, table)


def test_a_part_keeps_what_belongs_together():
    training = training_of(Classes.of(np.array([0, 1, 0, 1])), np.array([4, 4, 2, 9]))
    part = training.part(np.array([3, 0]))
    assert part.target.tolist() == [1, 0]
    assert part.groups.tolist() == [9, 4]
    assert part.outputs.shape == (2, 2)  # also of classes that are not among them
    assert training.part(np.array([0, 2])).outputs.shape == (2, 2)


def test_folds_hold_each_graph_once_and_groups_together(rng):
    groups = np.arange(60) // 4
    folds = training_of(Classes.of(np.arange(60) % 3), groups).folds(rng)
    assert sorted(set(folds)) == list(range(N_FOLDS))
    assert all(len(set(folds[groups == group])) == 1 for group in groups)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_weights_of_graphs_go_by_the_size_of_their_class(power):
    training = training_of(Classes.of(np.array(["a"] * 8 + ["b"] * 2)))
    weights = training.row_weights(power)
    assert weights.mean() == pytest.approx(1.0)
    assert weights[9] / weights[0] == pytest.approx(4.0**power)


def test_all_count_the_same_unless_asked():
    classes = training_of(Classes.of(np.arange(6) % 2))
    assert classes.row_weights(0.0) is None
    numbers, labels = training_of(Numbers.of(np.arange(6.0))), training_of(SeveralLabels.of(np.eye(3)))
    assert numbers.row_weights(1.0) is labels.row_weights(1.0) is None
