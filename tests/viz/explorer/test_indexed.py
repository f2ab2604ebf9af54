import base64

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from explorer_graphs import fitted, rings_and_stars
from graph_metric_learn.viz.explorer import indexed
from toy_metrics import FirstColumn, points


def line(targets):
    metric = FirstColumn().fit(points(0, 1))
    notes = [None if one is None else {"target": one} for one in targets]
    return gml.GraphIndex(metric).add(points(0, 1, 3, 6, 10, 15)[: len(targets)], ids=list("abcdef"), metadata=notes)


def test_map_neighbours_and_classes_are_those_of_the_index():
    graphs, y = rings_and_stars()
    metric = fitted().metric_
    index = gml.GraphIndex(metric).add(graphs, metadata=[{"target": one} for one in y.tolist()])
    index.remove(["graph number 0"])
    found = indexed.explored_index(index)
    assert found.names == [graph.name for graph in graphs[1:]]
    assert [found.targets.classes[code] for code in found.targets.values] == y[1:].tolist()
    expected = metric.pairwise_distances(graphs[1:])
    np.fill_diagonal(expected, np.inf)
    np.testing.assert_allclose(found.near.distances, np.sort(expected, 1)[:, :8], rtol=1e-3, atol=1e-3)
    data = found.data()
    assert base64.b64decode(data["drawings"]["drawn"]) == bytes(39)
    assert "keeps no graphs" in data["undrawn"]
    assert found.places.shape == (39, 2)


def test_curves_have_a_map_too():
    graphs = [nx.cycle_graph(n) for n in range(4, 12)] + [nx.star_graph(n) for n in range(4, 12)]
    metric = gml.SGML(random_state=0, n_epochs=1).fit(graphs, [0] * 8 + [1] * 8)
    found = indexed.explored_index(gml.GraphIndex(metric).add(graphs))
    assert found.names == [str(i) for i in range(16)]
    assert found.targets.kind == "none"
    np.testing.assert_allclose(
        found.near.distances[:, 0], np.sort(metric.pairwise_distances(graphs), 1)[:, 1], atol=1e-3
    )


@pytest.mark.parametrize(
    ("given", "kind", "values"),
    [
        ([0.5, 1.25, None, 2.5, 3.0, 9.0], "numbers", [0.5, 1.25, np.nan, 2.5, 3.0, 9.0]),
        (["b", "a", None, "a", "b", "b"], "classes", [1, 0, -1, 0, 1, 1]),
        ([None] * 6, "none", None),
    ],
)
def test_targets_are_what_the_metadata_say(given, kind, values):
    found = indexed.explored_index(line(given)).targets
    assert found.kind == kind
    assert (found.values is None) == (values is None)
    if values is not None:
        np.testing.assert_array_equal(found.values, values)
    assert found.predicted is None


def test_of_many_graphs_some_are_shown_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(indexed, "MOST_GRAPHS", 4)
    found = indexed.explored_index(line([None] * 6))
    assert len(found.names) == 4
    assert found.note.startswith("4 of 6 graphs")
