from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn._core.schema import FieldError, read, split
from graph_metric_learn.graphs import Columns, as_graphs
from graph_metric_learn.graphs.column_names import in_one_order
from graph_metric_learn.graphs.sources.raw_graph import RawGraph

NODES = {"charge": 1.0, "mass": 2.0, "spin": 3.0}
EDGES = {"angle": 30.0, "length": 1.5}


def triangle(nodes=("charge", "mass", "spin"), edges=("angle", "length")):
    """A triangle whose columns are named, and hold the numbers that belong to their names."""
    graph = nx.cycle_graph(3)
    nx.set_node_attributes(graph, {i: [NODES.get(name, 9.0) * (i + 1) for name in nodes] for i in range(3)}, "x")
    nx.set_edge_attributes(graph, [EDGES.get(name, 9.0) for name in edges], "edge_attr")
    graph.graph.update(node_columns=list(nodes), edge_columns=list(edges))
    return graph


def unnamed(graph):
    graph.graph.clear()
    return graph


def test_names_are_read_and_stay_with_chosen_graphs():
    graphs = as_graphs([triangle(), triangle()])
    for part in (graphs, graphs[[1]]):
        assert part.columns == ("charge", "mass", "spin")
        assert part.edge_data.columns == ("angle", "length")
    assert Columns.of(graphs) == Columns(graphs.columns, graphs.edge_data.columns)
    assert Columns.of(graphs, nodes=False, edges=False) == Columns()
    assert as_graphs([triangle()], edges=False).edge_data is None


def test_columns_of_one_collection_are_put_in_order():
    graphs = as_graphs([triangle(), triangle(("spin", "charge", "mass"), ("length", "angle"))])
    np.testing.assert_array_equal(graphs.x[3:], graphs.x[:3])
    assert graphs.x[0].tolist() == [1, 2, 3]
    assert {tuple(row) for row in graphs.edge_data.x.tolist()} == {(30.0, 1.5)}


def test_graphs_without_names_keep_their_order():
    graphs = as_graphs([unnamed(triangle(("spin", "charge", "mass"))), triangle()])
    assert graphs.columns == ("charge", "mass", "spin")
    assert graphs.x[0].tolist() == [3, 1, 2]
    assert as_graphs([unnamed(triangle())]).columns is None


def test_a_graph_that_carries_nothing_needs_no_names():
    lone = nx.empty_graph(1)
    lone.graph["node_columns"] = ["charge"]
    assert as_graphs([lone]).columns is None
    raw, columns = in_one_order([RawGraph(1, np.zeros((2, 0), dtype=np.int64), columns=("charge",))])
    assert raw[0].x is None
    assert columns == Columns()


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (triangle(("charge", "mass")), "node attributes of graph 1 differ from graph 0, missing: 'spin'"),
        (triangle(("charge", "mass", "size")), "differ from graph 0, missing: 'spin'; unknown: 'size'"),
        (
            triangle(edges=("angle", "width")),
            "edge attributes of graph 1 differ .* missing: 'length'; unknown: 'width'",
        ),
    ],
)
def test_graphs_of_one_collection_must_agree(other, words):
    with pytest.raises(ValueError, match=words):
        as_graphs([triangle(), other])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["charge", "mass"], "graph 1 has 2 names for 3 columns of node attributes"),
        (["charge", "mass", "mass"], "graph 1 has equal names for 3 columns of node attributes"),
        ("charge", r"graph 1: graph.graph\['node_columns'\] must be a list of strings, got 'charge'"),
        ([1, 2, 3], "must be a list of strings"),
    ],
)
def test_names_must_fit_to_the_columns(names, words):
    bad = triangle()
    bad.graph["node_columns"] = names
    with pytest.raises(ValueError, match=words):
        as_graphs([triangle(), bad])


def test_new_graphs_get_the_order_of_the_fitted():
    fitted = as_graphs([triangle()])
    found = Columns.of(fitted).apply(as_graphs([triangle(("mass", "spin", "charge"), ("length", "angle"))]))
    np.testing.assert_array_equal(found.x, fitted.x)
    np.testing.assert_array_equal(found.edge_data.x, fitted.edge_data.x)
    assert found.x.flags.c_contiguous
    assert (found.columns, found.edge_data.columns) == (fitted.columns, fitted.edge_data.columns)
    assert Columns.of(fitted).apply(fitted) is fitted


def test_without_names_on_either_side_places_count():
    names, shuffled = Columns.of(as_graphs([triangle()])), triangle(("mass", "spin", "charge"))
    for columns, graph in ((names, unnamed(shuffled.copy())), (Columns(), shuffled)):
        given = as_graphs([graph])
        assert columns.apply(given) is given
    bare = as_graphs([nx.cycle_graph(3)])
    assert names.apply(bare) is bare


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (
            triangle(("charge", "mass")),
            "^node attributes of the graphs differ from those that were fitted, missing: 'spin'$",
        ),
        (triangle(("charge", "mass", "spin", "size")), "those that were fitted, unknown: 'size'$"),
        (triangle(edges=("width",)), "^edge attributes .* missing: 'angle', 'length'; unknown: 'width'$"),
        (triangle([*NODES, *map(str, range(7))]), "unknown: '0', '1', '2', '3', '4' and 2 more$"),
    ],
)
def test_missing_and_unknown_columns_are_named(graph, words):
    with pytest.raises(ValueError, match=words):
        Columns.of(as_graphs([triangle()])).apply(as_graphs([graph]))


def test_names_of_a_collection_must_fit_to_its_columns():
    given = as_graphs([triangle()])
    for wrong in (replace(given, columns=("charge",)), replace(given, x=None)):
        with pytest.raises(ValueError, match=r"the collection has . names for . columns of node attributes"):
            Columns.of(wrong)
    with pytest.raises(ValueError, match="1 names for 2 columns of edge attributes"):
        Columns().apply(replace(given, edge_data=replace(given.edge_data, columns=("angle",))))


def test_what_is_saved_comes_back():
    for columns in (Columns(), Columns(("a", "b")), Columns(None, ("c",)), Columns(("a",), ())):
        assert read(Columns, split(columns)[0]) == columns
    assert split(Columns(("a",)))[0] == {"nodes": ["a"]}
    with pytest.raises(FieldError, match=r"columns.edges holds a name twice"):
        read(Columns, {"edges": ["a", "a"]}, "columns")
