import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from graph_metric_learn.objectives import Classes
from graph_metric_learn.objectives.leave_one_out import NEIGHBORS, leave_one_out, usable


@pytest.mark.parametrize(("weights", "ks"), [("uniform", (1, 3, 5)), ("distance", NEIGHBORS)])
def test_leave_one_out_is_scikit_learns(rng, weights, ks):
    points, codes = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    points[:, 0] += codes
    distances = np.linalg.norm(points[:, None] - points[None], axis=2).astype(np.float32)
    scores = leave_one_out(Classes(), distances, codes, ks, weighted=weights == "distance")
    for k, score in zip(ks, scores, strict=True):
        knn = KNeighborsClassifier(k, weights=weights, metric="precomputed")
        assert score == pytest.approx(cross_val_score(knn, distances, codes, cv=LeaveOneOut()).mean())


def test_graphs_of_one_group_do_not_vote_for_each_other(rng):
    """Groups lie together, and classes belong to groups: within groups all are right, across them none is."""
    groups = np.repeat(np.arange(4), 10)
    codes, places = groups % 2, 10.0 * groups + rng.random(40)
    distances = np.abs(places[:, None] - places)
    assert leave_one_out(Classes(), distances, codes, [1])[0] == 1
    assert leave_one_out(Classes(), distances, codes, [1], groups=groups)[0] == 0


def test_only_as_many_neighbours_as_there_are():
    assert usable(3) == [1, 2]
    assert usable(100) == list(NEIGHBORS)
    assert len(leave_one_out(Classes(), np.zeros((3, 3)), np.array([0, 1, 1]))) == 2
