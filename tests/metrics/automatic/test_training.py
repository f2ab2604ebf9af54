"""Training graphs: their folds, and how much each counts."""

import numpy as np
import pytest

from graph_metric_learn.metrics.automatic.training import N_FOLDS, Training
from graph_metric_learn.objectives import Classes, SeveralLabels
from graph_metric_learn.objectives.scoring import Scorer


def training(target, objective=None, groups=None):
    objective = objective or Classes.of(np.asarray(target))[0]
    return Training(
        objective, Scorer(objective), np.asarray(target), np.arange(len(target)) if groups is None else groups
    )


def test_groups_are_in_one_fold_and_classes_in_all(rng):
    groups = np.repeat(np.arange(30), 2)
    target = np.repeat(np.arange(30) % 2, 2)
    folds = training(target, groups=groups).folds(rng)
    assert set(folds) == set(range(N_FOLDS))
    assert (folds[::2] == folds[1::2]).all()
    assert all(len(np.unique(target[folds == fold])) == 2 for fold in range(N_FOLDS))


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_graphs_of_rare_classes_count_more(power):
    target = np.array([0] * 16 + [1] * 4)
    weights = training(target).row_weights(power)
    assert weights.mean() == pytest.approx(1)
    assert weights[-1] / weights[0] == pytest.approx(4**power)


def test_without_power_and_with_several_labels_all_count_the_same():
    assert training([0, 0, 1]).row_weights(0.0) is None
    table = np.array([[0.0, 1.0], [1.0, np.nan]])
    assert training(table, SeveralLabels.of(table)[0]).row_weights(1.0) is None


def test_a_part_has_its_own_targets_and_groups():
    part = training([0, 1, 1, 0], groups=np.array([7, 7, 8, 9])).part(np.array([1, 3]))
    assert (part.target.tolist(), part.groups.tolist(), len(part)) == ([1, 0], [7, 9], 2)
    assert part.outputs.tolist() == [[0, 1], [1, 0]]
