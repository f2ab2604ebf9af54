import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from graph_metric_learn.metrics.base import FoldView
from graph_metric_learn.objectives import Classes, SeveralLabels
from graph_metric_learn.objectives.scoring import scorer_for
from graph_metric_learn.predictors.calibration import probabilities
from graph_metric_learn.predictors.held_out import calibrated, class_counts, judged, votes_of_all


def test_classes_are_judged_by_accuracy_and_rare_ones_by_how_they_are_ranked(rng):
    y = np.arange(200) % 2
    outputs = np.eye(2)[y] + rng.normal(size=(200, 2))
    right = outputs.argmax(1) == y
    found = judged(scorer_for("auto", *Classes.of(y)), [outputs[:120], outputs[120:]], [y[:120], y[120:]])
    assert found["scored_by"] == "accuracy"
    assert found["held_out_score"] == pytest.approx(right.mean())
    assert found["held_out_error"] == pytest.approx(right.std() / np.sqrt(200))
    rare = (np.arange(200) % 20 == 0).astype(int)
    found = judged(scorer_for("auto", *Classes.of(rare)), [outputs], [rare])
    area = roc_auc_score(rare, outputs[:, 1])
    assert found["scored_by"] == "AUC"
    assert found["held_out_score"] == pytest.approx(area)
    assert found["held_out_error"] == pytest.approx(np.sqrt(area * (1 - area) / 10))


def test_labels_without_a_prediction_do_not_count(rng):
    table = (rng.random((60, 2)) < 0.4).astype(float)
    outputs = np.where(rng.random((60, 2)) < 0.2, 1 - table, table)
    partly, unknown = outputs.copy(), table.copy()
    partly[::3, 0] = np.nan
    unknown[::3, 0] = np.nan
    scorer = scorer_for("auto", *SeveralLabels.of(table))
    assert judged(scorer, [partly], [table]) == judged(scorer, [outputs], [unknown])
    assert judged(scorer, [partly], [table]) != judged(scorer, [outputs], [table])


def test_folds_say_nothing_of_classes_that_they_do_not_know(rng):
    """All graphs of the third class are in one fold, where they are taken for others, with certainty."""
    y = np.repeat([0, 1, 2], 40)
    folds = np.where(y == 2, 0, 1 + np.arange(120) % 4)
    views = [
        FoldView(np.flatnonzero(folds != f), np.flatnonzero(folds == f), *[np.zeros((0, 0))] * 2, None)
        for f in range(5)
    ]
    outputs = [np.eye(3)[np.where(y[view.test] == 2, 0, y[view.test])] for view in views]
    objective, target = Classes.of(y)
    found = calibrated(objective, views, outputs, target)
    assert probabilities(np.eye(3), found).max(1).min() > 0.95


def test_votes_of_a_sample_that_holds_more_of_a_rare_class():
    objective, target = Classes.of(np.repeat([0, 1], [900, 100]))
    train = np.concatenate([np.arange(100), np.arange(900, 1000)])
    found = votes_of_all(objective, np.array([[0.5, 0.5], [1.0, 0.0]]), train, target)
    np.testing.assert_allclose(found, [[0.9, 0.1], [1.0, 0.0]])
    assert class_counts(objective, target).tolist() == [900, 100]
    table = np.array([[0.0, 1.0], [np.nan, 1.0], [1.0, 0.0]])
    assert class_counts(SeveralLabels.of(table)[0], table).tolist() == [[1, 1], [1, 2]]
    shares = np.array([[0.2, 0.4]])
    assert votes_of_all(SeveralLabels.of(table)[0], shares, np.arange(2), table) is shares
