import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from edge_graphs import read_rich, rich_graph
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic import fitting, given
from graph_metric_learn.metrics.automatic.fitting import members_of, rows_apart
from graph_metric_learn.metrics.automatic.training import Training
from graph_metric_learn.metrics.base import fit_with_folds
from graph_metric_learn.objectives import Classes, Numbers
from graph_metric_learn.objectives.scoring import scorer_for
from made_up_vectors import single_nodes


def training_of(made, groups=None, powers=(0.0,)):
    objective, target = made
    groups = np.arange(len(target)) if groups is None else groups
    return Training(objective, scorer_for("auto", objective, target), target, groups, powers)


# --- which graphs choose ---------------------------------------------------------------------------------------------


def test_about_a_thousand_graphs_choose_weights(rng):
    rows = rows_apart(training_of(Numbers.of(np.arange(4000.0))), rng)
    assert len(rows) == 1000
    assert (np.diff(rows) > 0).all()


def test_half_of_those_that_choose_are_of_the_rare_class(rng):
    made = Classes.of((np.arange(20_000) % 25 == 0).astype(int))
    rare = training_of(made, powers=(0.0, 0.5, 1.0))
    assert made[1][rows_apart(rare, rng)].mean() == pytest.approx(0.5)
    assert made[1][rows_apart(training_of(made), rng)].mean() == pytest.approx(0.04, abs=0.01)


def test_whole_groups_choose(rng):
    groups = np.arange(4000) // 7
    rows = rows_apart(training_of(Numbers.of(np.arange(4000.0)), groups), rng)
    assert set(np.bincount(groups[rows])) <= {0, 3, 7}  # three are left in the last
    assert 990 <= len(rows) <= 1000


def test_members_of_groups():
    found = members_of(np.array([5, 3, 5, 3, 3]))
    assert {group: rows.tolist() for group, rows in found.items()} == {3: [1, 3, 4], 5: [0, 2]}


def test_descriptions_are_fitted_to_some_of_large_graphs(monkeypatch, rng):
    graphs = gml.as_graphs(element_graphs(200)[0], label="element")
    assert fitting._few(graphs, rng) is None
    monkeypatch.setattr(fitting, "_MAX_NODES", 1000)
    some = fitting._few(graphs, rng)
    assert len(some) == int(1000 / graphs.sizes.mean())
    monkeypatch.setattr(fitting, "_MAX_NODES", 100)
    assert len(fitting._few(graphs, rng)) == 100  # but at least so many
    rich = read_rich([rich_graph(seed) for seed in range(150)])
    monkeypatch.setattr(fitting, "_MAX_NODES", 10**6)
    assert fitting._few(rich, rng) is None
    monkeypatch.setattr(fitting, "_MAX_ARCS", 50)
    assert len(fitting._few(rich, rng)) == 100


# --- a fit, whole ----------------------------------------------------------------------------------------------------

OPTIONS = {"label": "element", "families": ["trees", "pairs", "size"], "random_state": 0}


@pytest.fixture
def few_graphs(monkeypatch):
    """As if these were many."""
    monkeypatch.setattr(fitting, "_FEW", 30)
    monkeypatch.setattr(given, "_CHUNK", 40)


@pytest.mark.parametrize("most", [1000, 60, 30])
def test_the_same_seed_makes_the_same_metric(few_graphs, most):
    graphs, y = element_graphs(120)
    one, two = (gml.GraphMetric(**OPTIONS, n_landmarks=most).fit(graphs, y).transform(graphs) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("most", [1000, 40])
def test_without_learning_targets_choose_weights_alone(few_graphs, most):
    graphs, y = element_graphs(100)
    metric = gml.GraphMetric(**OPTIONS, learn=False, n_landmarks=most).fit(graphs, y)
    assert metric.learned_ is None
    assert metric.width_ is None
    assert metric.chosen_n_neighbors is None
    assert "learned" not in metric.report_
    assert sum(metric.weights_.values()) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="nothing was learned: fit with targets and learn=True"):
        metric.scores(graphs)
    assert fit_with_folds(gml.GraphMetric(**OPTIONS, learn=False), graphs, y)(100) is None


@pytest.mark.parametrize("most", [1000, 40])
def test_without_targets_weights_are_even(few_graphs, most):
    graphs, _ = element_graphs(100)
    metric = gml.GraphMetric(**OPTIONS, n_landmarks=most).fit(graphs)
    assert metric.weights_ == {
        "trees": pytest.approx(1 / 3),
        "pairs": pytest.approx(1 / 3),
        "size": pytest.approx(1 / 3),
    }
    assert metric.learned_ is None
    assert metric.fold_views(100) is None
    assert "no targets" in metric.report_
    assert len(metric.coordinates_.centre) == min(most, 100)


def test_graphs_of_one_group_choose_nothing_for_each_other():
    """Each group has a place of its own, and classes belong to groups: neighbours of a group are no evidence."""
    rng = np.random.default_rng(1)
    groups = np.arange(120) // 5
    places = rng.normal(size=(24, 3))[groups] + 0.01 * rng.normal(size=(120, 3))
    y = rng.permutation(np.arange(24) % 2)[groups]
    options = {"features": ["attributes@0"], "embedding": "mean", "random_state": 0}
    apart = gml.GraphMetric(**options).fit(single_nodes(places), y)
    together = gml.GraphMetric(**options).fit(single_nodes(places), y, groups)
    assert apart.learned_.gate.regression > 0.95
    assert together.learned_.gate.regression < 0.8
    assert together.learned_.gate.weight == 0


def test_copies_in_many_groups_do_not_make_them_one():
    graphs, _ = element_graphs(8)
    with pytest.warns(UserWarning, match="some graphs have copies in other groups"):
        folds = fit_with_folds(gml.GraphMetric(**OPTIONS), graphs * 15, np.arange(120) % 2, np.arange(120) // 12)
    assert len(folds(1000)) == 5


def test_all_graphs_of_one_kind_are_refused():
    with pytest.raises(ValueError, match="all graphs look the same: no block of node features tells any two apart"):
        gml.GraphMetric(random_state=0).fit([(np.ones((3, 3)) - np.eye(3), None)] * 8, [0, 1] * 4)
    graphs, _ = element_graphs(10)
    with pytest.raises(ValueError, match="all graphs are of one class"):
        gml.GraphMetric(**OPTIONS).fit(graphs, np.zeros(10, dtype=int))


# --- bit by bit ------------------------------------------------------------------------------------------------------


def several(y, kind):
    table = np.stack([y > np.median(y), y > np.quantile(y, 0.8)], axis=1).astype(float)
    table[1::5, 0] = np.nan
    numbers = np.stack([y, -(y**2)], axis=1)
    return {
        "numbers": y,
        "two numbers": numbers,
        "labels": table,
        "classes": np.digitize(y, np.quantile(y, [0.3, 0.6])),
    }[kind]


@pytest.mark.parametrize("kind", ["numbers", "labels", "classes"])
def test_more_graphs_are_learned_from_as_if_they_had_been_there(few_graphs, kind):
    """With the landmarks of a stream, which are the first graphs."""
    graphs, y = element_graphs(160)
    y = several(y, kind)
    whole = gml.GraphMetric(**OPTIONS, n_landmarks=40, task=kind).fit(iter(graphs), iter(y))
    parts = gml.GraphMetric(**OPTIONS, n_landmarks=40, task=kind).fit(iter(graphs[:100]), iter(y[:100]))
    parts.partial_fit(graphs[100:130], y[100:130]).partial_fit(graphs[130:], y[130:])
    assert parts.learned_.n_graphs == whole.learned_.n_graphs == 160
    assert parts.learned_.setting.share == whole.learned_.setting.share
    np.testing.assert_allclose(parts.scores(graphs), whole.scores(graphs), atol=1e-3)
    np.testing.assert_allclose(parts.pairwise_distances(graphs), whole.pairwise_distances(graphs), atol=1e-3)


def test_the_first_partial_fit_is_a_fit():
    graphs, y = element_graphs(40)
    one, two = gml.GraphMetric(**OPTIONS).partial_fit(graphs, y), gml.GraphMetric(**OPTIONS).fit(graphs, y)
    np.testing.assert_array_equal(one.transform(graphs), two.transform(graphs))


def test_classes_that_come_later_are_named(few_graphs):
    graphs, y = element_graphs(160)
    codes = several(y, "classes")
    early = np.flatnonzero(codes < 2)[:70]
    later = np.setdiff1d(np.arange(160), early)
    metric = gml.GraphMetric(**OPTIONS, n_landmarks=40).fit([graphs[i] for i in early], codes[early])
    with pytest.raises(ValueError, match="graph 0 is of class 2, which was not seen: name"):
        metric.partial_fit([graphs[i] for i in later], codes[later])
    metric = gml.GraphMetric(**OPTIONS, n_landmarks=40).fit([graphs[i] for i in early], codes[early])
    metric.partial_fit([graphs[i] for i in later], codes[later], classes=[0, 1, 2])
    assert metric.classes_.tolist() == [0, 1, 2]
    scores = metric.scores(graphs)
    assert scores.shape == (160, 3)
    assert np.mean(scores.argmax(1) == codes) > 0.6
    assert np.mean(scores[codes == 2].argmax(1) == 2) > 0.5
    with pytest.raises(ValueError, match="classes= is for tasks with classes"):
        gml.GraphMetric(**OPTIONS).fit(graphs, y).partial_fit(graphs, y, classes=[1])


def test_there_must_be_something_to_go_on_from():
    graphs, y = element_graphs(40)
    for metric in (gml.GraphMetric(**OPTIONS).fit(graphs), gml.GraphMetric(**OPTIONS, learn=False).fit(graphs, y)):
        with pytest.raises(ValueError, match="there is nothing to go on from"):
            metric.partial_fit(graphs, y)


def test_what_the_larger_class_has_is_said_of_all_graphs(monkeypatch):
    """Of a rare class more than others are judged: the report speaks of all graphs."""
    monkeypatch.setattr(fitting, "JUDGED", 600)
    y = (np.arange(2000) % 20 == 0).astype(int)
    graphs = [nx.gnp_random_graph(12 + 2 * int(kind), 0.3, seed=i) for i, kind in enumerate(y)]
    gate = gml.GraphMetric(n_landmarks=200, random_state=0).fit(graphs, y).learned_.gate
    assert gate.scored_by == "roc_auc"
    assert gate.guess == pytest.approx(0.95, abs=0.02)
