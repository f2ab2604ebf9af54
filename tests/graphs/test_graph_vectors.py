from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data

from graph_metric_learn.graphs import Columns, Graphs, as_graphs
from graph_metric_learn.graphs.graph_vectors import GraphVectors, joined, ordered, read_vector

NAN = np.nan
EDGE = torch.tensor([[0, 1], [1, 0]])


def path(n=2, **attributes):
    graph = nx.path_graph(n)
    graph.graph.update(attributes)
    return graph


def data(n=2, **attributes):
    return Data(edge_index=EDGE[:, : 2 * (n > 1)], num_nodes=n, **attributes)


def table(graphs):
    return graphs.graph_columns, graphs.graph_x.tolist()


def same(one, other):
    assert one.graph_columns == other.graph_columns
    np.testing.assert_array_equal(one.graph_x, other.graph_x)


def test_networkx_numbers_categories_and_gaps():
    people = [path(age=61, site="B", extra=[1, 2]), path(3, age=None, site="A", extra=[3, 4]), path(age=7.5)]
    graphs = as_graphs(people, graph_attribute=["age", "site", "extra"])
    assert graphs.graph_columns == ("age", "site=A", "site=B", "extra[0]", "extra[1]")
    assert graphs.graph_x.dtype == np.float64
    wanted = [[61, 0, 1, 1, 2], [NAN, 1, 0, 3, 4], [7.5, NAN, NAN, NAN, NAN]]
    np.testing.assert_array_equal(graphs.graph_x, wanted)
    assert as_graphs(people, graph_attribute="age").graph_columns == ("age",)
    assert as_graphs(people).graph_x is None


@pytest.mark.parametrize("key", ["u", "graph_attr"])
def test_pyg_rows_and_vectors(key):
    for shape in ((1, 2), (2,)):
        graphs = [data(**{key: torch.tensor([1.0, 2.0]).reshape(shape)}), data(3, **{key: torch.ones(shape)})]
        wanted = ((f"{key}[0]", f"{key}[1]"), [[1, 2], [1, 1]])
        assert table(as_graphs(graphs, graph_attribute=key)) == wanted
    assert table(as_graphs(Batch.from_data_list([data(**{key: torch.ones(1, 2)})]), graph_attribute=key))[1] == [[1, 1]]
    one_number = as_graphs([data(**{key: torch.tensor([0.1], dtype=torch.float64)})], graph_attribute=key)
    assert table(one_number) == ((key,), [[0.1]])


def test_three_make_a_graph_too():
    a, x = np.array([[0, 1], [1, 0]]), np.eye(2)
    assert table(as_graphs([(a, x, np.array([1.0, 2.0])), (a, x, [[3.0, 4.0]])])) == (
        ("u[0]", "u[1]"),
        [[1, 2], [3, 4]],
    )
    named = [(a, x, {"age": 3, "site": "A"}), (a, None, {"site": "B", "age": 4})]
    assert table(as_graphs([(a, None, named[0][2]), named[1]])) == (("age", "site=A", "site=B"), [[3, 1, 0], [4, 0, 1]])
    assert table(as_graphs(named[1:], graph_attribute="age")) == (("age",), [[4]])
    assert as_graphs([(a, x, np.ones(1))], graph_attribute="v").graph_columns == ("v",)
    with pytest.raises(ValueError, match="graph 0 is a tuple"):
        as_graphs([(a, x, 1)])
    with pytest.raises(ValueError, match="single graph"):
        as_graphs((a, x, np.ones(1)))


def test_graphs_may_say_where_their_vectors_are():
    graph = data(u=torch.tensor([[1.0, 0.0]]), graph_attribute="u", graph_columns=["mass", "site=A"])
    assert table(as_graphs([graph])) == (("mass", "site=A"), [[1, 0]])
    assert table(as_graphs([path(age=3, graph_attribute=["age"])])) == (("age",), [[3]])
    other = data(v=torch.ones(1, 3), u=torch.ones(1, 2), graph_attribute="u", graph_columns=["mass", "site=A"])
    assert as_graphs([other], graph_attribute="v").graph_columns == ("v[0]", "v[1]", "v[2]")
    graph.graph_columns = ["mass"]
    with pytest.raises(ValueError, match=r"graph 0 has 1 names \(graph_columns\) for a vector of 2 numbers"):
        as_graphs([graph])


def test_they_stay_with_their_graphs():
    graphs = as_graphs([path(n, age=n, site="AB"[n % 2]) for n in range(2, 7)], graph_attribute=["age", "site"])
    assert graphs[[3, 0, 0]].graph_x[:, 0].tolist() == [5, 2, 2]
    assert graphs[1].graph_columns == graphs.graph_columns
    assert [piece.graph_x[:, 0].tolist() for piece in graphs.pieces(9)] == [[2, 3, 4], [5], [6]]
    assert graphs.without_edge_data().graph_x is graphs.graph_x
    same(Graphs.concatenate([graphs[:2], graphs[2:]]), graphs)
    same(as_graphs([graphs[:2], graphs[2:]]), graphs)


def test_collections_are_joined_by_name():
    one = as_graphs([path(age=3, site="B")], graph_attribute=["age", "site"])
    two = as_graphs([path(age=4, site="A", dose=1)], graph_attribute=["site", "dose", "age"])
    bare = as_graphs([path()])
    graphs = Graphs.concatenate([one, bare, two])
    assert graphs.graph_columns == ("age", "site=A", "site=B", "dose")
    np.testing.assert_array_equal(graphs.graph_x, [[3, 0, 1, NAN], [NAN] * 4, [4, 1, 0, 1]])
    assert Graphs.concatenate([bare, bare]).graph_x is None


def test_new_graphs_get_the_columns_of_those_that_were_fitted():
    fitted = as_graphs([path(age=3, site="A"), path(age=4, site="B")], graph_attribute=["age", "site"])
    columns = Columns.of(fitted, graph_vectors=True)
    assert columns.graphs == ("age", "site=A", "site=B")
    assert Columns.of(fitted).graphs is None
    new = as_graphs(
        [path(age=9, site="C", dose=1), path(age=8, site="B"), path(age=7)], graph_attribute=["site", "dose", "age"]
    )
    np.testing.assert_array_equal(columns.apply(new).graph_x, [[9, 0, 0], [8, 0, 1], [7, NAN, NAN]])
    assert columns.apply(fitted) is fitted
    assert Columns().apply(new) is new
    unknown = as_graphs([path(age=None, site=None)], graph_attribute=["age", "site"])
    np.testing.assert_array_equal(columns.apply(unknown).graph_x, [[NAN] * 3])
    codes = Columns(graphs=("site=1", "site=0.5"))
    numbers = as_graphs([path(site=1), path(site=0.5), path(site=2)], graph_attribute="site")
    assert codes.apply(numbers).graph_x.tolist() == [[1, 0], [0, 1], [0, 0]]


def test_what_does_not_match_is_named():
    columns = Columns(graphs=("age", "dose", "site=A"))
    with pytest.raises(ValueError, match="missing: 'dose', 'site' "):
        columns.apply(as_graphs([path(age=3)], graph_attribute="age"))
    with pytest.raises(ValueError, match="missing: 'age', 'dose', 'site' "):
        columns.apply(as_graphs([path()]))
    old = as_graphs([path(age="old", dose=1, site="A")], graph_attribute=["age", "dose", "site"])
    with pytest.raises(ValueError, match="'age' is text in the graphs, a number"):
        columns.apply(old)


@pytest.mark.parametrize(
    ("graphs", "names", "message"),
    [
        ([path(age=3)], "agee", "no graph has a graph attribute 'agee'"),
        ([path(age=3)], ["age", "site"], "no graph has a graph attribute 'site'"),
        ([path(age=3), path(age=np.inf)], "age", "graph 1: 'age' holds what is no finite number"),
        ([path(age=10**400)], "age", "graph 0: 'age' is neither numbers nor text"),
        ([path(age={1})], "age", "graph 0: 'age' is neither numbers nor text, but set"),
        ([path(age=[[1, 2], [3]])], "age", "graph 0: 'age' has rows of different lengths"),
        ([path(age=np.ones((2, 2)))], "age", r"graph 0: 'age' has the shape \[2, 2\]"),
        ([path(age=3), path(age="old")], "age", "'age' is a number in some graphs and text in others"),
        ([path(site=f"S{i}") for i in range(1001)], "site", "text with 1001 different values"),
        ([path(u={"a=b": 3})], "u", "'a=b' is no name of a graph attribute"),
        ([path(age=3)], "a=b", "without '='"),
        ([path(age=3)], [3], "graph_attribute must be a name"),
        ([path(age=3)], [], "must name one attribute or several"),
        ([path(age=3)], ["age", "age"], "each once"),
        ([data(u=torch.ones(1, 2), graph_attribute="u", graph_columns=["a", "a"])], None, "two columns 'a'"),
        ([data(u=torch.ones(1, 2), graph_attribute="u", graph_columns=3)], None, "graph_columns must be a list"),
    ],
)
def test_bad_vectors_are_named(graphs, names, message):
    with pytest.raises(ValueError, match=message):
        as_graphs(graphs, graph_attribute=names)


def test_what_is_not_read_is_said():
    assert as_graphs([data(3, u=torch.ones(1, 2))]).unused == ("graph attribute 'u'",)
    assert as_graphs([data(3, u=torch.ones(1, 2))], graph_attribute="u").unused == ()
    assert as_graphs([data(1, u=torch.ones(1, 2))]).unused == ("graph attribute 'u'",)
    assert as_graphs([data(3, conditions=torch.ones(1, 2))]).unused == ("graph attribute 'conditions'",)
    assert as_graphs([data(3, y=torch.ones(1, 2), idx=torch.tensor([7]))]).unused == ()
    spoken = path(age=3, v=[1.0, 2.0], name="a", y=1, note="text", node_columns=["x"])
    assert as_graphs([spoken]).unused == ("graph attribute 'age'", "graph attribute 'v'")
    assert as_graphs([spoken], graph_attribute="v").unused == ("graph attribute 'age'",)


def test_collections_check_their_vectors():
    graphs = as_graphs([path(age=3)], graph_attribute="age")
    with pytest.raises(ValueError, match="give graph_x and graph_columns, or neither"):
        replace(graphs, graph_columns=None)
    with pytest.raises(ValueError, match=r"its shape is \[2, 1\]"):
        replace(graphs, graph_x=np.ones((2, 1)))
    assert graphs.with_graph_vectors(None).graph_vectors is None


def test_a_vector_that_is_not_known_takes_the_width_of_others():
    graphs = as_graphs([path(u=None), path(u=[1, 2])], graph_attribute="u")
    assert graphs.graph_columns == ("u[0]", "u[1]")
    np.testing.assert_array_equal(graphs.graph_x, [[NAN, NAN], [1, 2]])


def test_texts_among_numbers():
    row = read_vector({"v": ["a", 2, None, ""]}, "graph 0")
    assert row.columns == ("v[0]=a", "v[1]", "v[2]", "v[3]")
    np.testing.assert_array_equal(row.values, [[1, 2, NAN, NAN]])
    assert joined([None, None], [1, 1]) is None
    assert ordered(row, row.columns) is row
    assert GraphVectors(np.ones((1, 3)), ("a=1", "b", "a=2")).attributes == {"a": [0, 2], "b": [1]}
