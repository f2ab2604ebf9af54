import pickle

import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.viz.explorer.predictions import read_targets, vote
from toy_metrics import FirstColumn, Memorizing, points

AT = [0.0, 0.1, 0.3, 5.0, 5.2, 5.5]


def read(model, graphs, y=None, label=None):
    metric = getattr(model, "metric_", model)
    given = metric.read(graphs)
    return read_targets(model, given, metric.embed(given), y, label)


def test_no_graph_is_predicted_from_itself():
    """Each reference graph is of the class of its others: alone with itself, every prediction would be right."""
    y = np.array(["a", "b", "b", "c", "d", "d"])
    head = gml.GraphKNNClassifier(FirstColumn(), n_neighbors=1).fit(points(*AT), y)
    assert (head.predict(points(*AT)) == y).all()
    found = read(head, points(*AT, 0.11), [*y, "b"])
    assert found.classes == ["a", "b", "c", "d"]
    assert [found.classes[code] for code in found.predicted] == ["b", "a", "b", "d", "c", "d", "b"]
    assert found.fitted.tolist() == [True] * 6 + [False]
    assert [found.sentences[i].split()[0] for i in found.origin] == ["the"] * 6 + ["that"]
    assert [found.unbiased[i] for i in found.origin] == [False] * 6 + [True]
    assert found.wrong.tolist() == [True, True, False, True, True, False, False]


def test_what_has_learned_targets_is_asked_by_folds():
    y = np.array([0, 1] * 10)
    graphs = points(*np.linspace(0, 1, 20))
    head = gml.GraphKNNClassifier(Memorizing(), n_neighbors=1).fit(graphs, y)
    found = read(head, graphs, y)
    assert set(found.origin) == {1}
    assert found.sentences[1].startswith("held out")
    expected = {}
    for fold in head.metric_.fold_views(10**6):
        train, test, _, across, _ = fold
        for row, distances in zip(test, across, strict=True):
            expected[int(row)] = y[train[distances.argmin()]]
    assert found.predicted.tolist() == [expected[i] for i in range(20)]
    again = read(pickle.loads(pickle.dumps(head)), graphs, y)  # folds are not kept
    assert set(again.origin) == {2}
    assert "optimistic" in again.sentences[2]


def test_a_metric_alone_votes_among_the_graphs_of_the_page():
    metric = FirstColumn().fit(points(*AT))
    found = read(metric, points(*AT, 0.2), [1, 1, 1, 2, 2, 2, None])
    assert found.kind == "classes"
    assert found.values.tolist() == [0, 0, 0, 1, 1, 1, -1]
    assert found.predicted[-1] == 0
    assert "this page" in found.sentences[0]
    assert read(metric, points(*AT)).kind == "none"


def test_a_metric_that_chose_how_many_vote_is_asked():
    class ThreeVote(FirstColumn):
        chosen_n_neighbors = 3

    for kind, k in ((FirstColumn, 5), (ThreeVote, 3)):
        found = read(kind().fit(points(*AT)), points(*AT), [1, 1, 1, 2, 2, 2])
        assert found.sentences[0].startswith(f"the vote of the {k} nearest other graphs")


def test_numbers_are_means_by_one_over_the_distance():
    y = np.array([0.5, 1.5, 2.5, 10.5, 11.5, 12.5])
    head = gml.GraphKNNRegressor(FirstColumn(), n_neighbors=2).fit(points(*AT), y)
    found = read(head, points(*AT), y)
    assert found.kind == "numbers"
    assert found.values.tolist() == y.tolist()
    assert found.predicted[0] == pytest.approx((1.5 / 0.1 + 2.5 / 0.3) / (1 / 0.1 + 1 / 0.3), rel=1e-5)
    assert not found.wrong.any()


def test_clusters_are_shown_as_they_are():
    model = gml.GraphKMeans(2, metric=FirstColumn(), random_state=0).fit(points(*AT))
    found = read(model, points(*AT))
    assert found.values is None
    assert len(set(found.predicted[:3])) == len(set(found.predicted[3:])) == 1
    assert found.sentences == ["the number of its cluster"]


def test_votes_are_those_of_k_nearest_neighbours():
    """Equal distances share their votes, a copy does not decide alone, and uniform votes are uniform."""
    assert vote(np.array([[1.0, 1.0, 1.0]]), np.array([0, 1, 1]), 1, "classes").tolist() == [1]
    near = np.array([[1e-3, *[1.0] * 14]])
    assert vote(near, np.array([0] + [1] * 14), 15, "classes").tolist() == [1]
    steps, classes = np.array([[0.5, 1.0, 1.0, 9.0]]), np.array([0, 1, 1, 1])
    assert vote(steps, classes, 2, "classes").tolist() == [0]
    assert vote(np.array([[0.3, 1.0, 1.1]]), np.array([0, 1, 1]), 3, "classes").tolist() == [0]
    assert vote(np.array([[0.3, 1.0, 1.1]]), np.array([0, 1, 1]), 3, "classes", weighted=False).tolist() == [1]
    numbers = np.array([np.nan, 2.0, 4.0])
    assert vote(np.array([[0.1, 1.0, 2.0]]), numbers, 1, "numbers").tolist() == [2.0]
    assert np.isnan(vote(np.array([[0.1, 1.0]]), np.full(2, np.nan), 1, "numbers")).all()


# --- several labels ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [gml.GraphKNNClassifier, gml.GraphRidgeClassifier])
@pytest.mark.parametrize("metric", [FirstColumn, lambda: gml.GraphMetric(["attributes@0"], "mean", random_state=0)])
def test_one_of_several_labels_is_shown(rng, kind, metric):
    x = rng.normal(size=60)
    table = np.stack([x > 0, x < 0], axis=1).astype(float)
    table[::4, 1] = np.nan
    table[0] = np.nan
    model = kind(metric()).fit(points(*x), table)
    model.target_names_ = ["right", "left"]
    for label, column in ((None, 0), ("right", 0), (1, 1), ("left", 1)):
        found = read(model, points(*x, 3.0), np.vstack([table, [np.nan, np.nan]]), label)
        assert (found.kind, found.classes) == ("classes", ["0", "1"])
        wanted = np.where(np.isnan(table[:, column]), -1, table[:, column])
        assert found.values.tolist() == [*wanted, -1]
        assert (found.predicted[:60] == (x > 0 if column == 0 else x < 0)).mean() > 0.85
        assert found.predicted[60] == 1 - column
    with pytest.raises(ValueError, match="there is no label 'up' to show; there are right, left"):
        read(model, points(*x), table, "up")


def test_labels_of_a_metric_alone(rng):
    x = rng.normal(size=30)
    table = np.stack([x > 0, x > 0.5], axis=1).astype(float)
    table[3, 1] = np.nan
    found = read(FirstColumn().fit(points(*x)), points(*x), table, "1")
    assert found.values.tolist() == [-1 if i == 3 else int(x[i] > 0.5) for i in range(30)]
    with pytest.raises(ValueError, match="there is no label 'right' to show; there are 0, 1"):
        read(FirstColumn().fit(points(*x)), points(*x), table, "right")
