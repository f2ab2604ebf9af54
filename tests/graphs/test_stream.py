import networkx as nx
import numpy as np
import pytest
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader

import graph_metric_learn as gml
from graph_metric_learn.graphs import Graphs, as_graphs
from graph_metric_learn.graphs.stream import beside, is_stream, read_chunks
from graph_metric_learn.metrics.base import fit_with_folds
from graph_zoo import as_pyg, zoo


@pytest.fixture
def graphs(rng):
    pairs, y = zoo(rng, 25)
    return as_pyg([(a, x.astype(np.float32)) for a, x in pairs], y)


def sizes(chunks):
    return [chunk.sizes.tolist() for chunk in chunks]


def test_what_is_a_stream(graphs):
    assert is_stream(iter(graphs))
    assert is_stream(graph for graph in graphs)
    assert is_stream(DataLoader(graphs, batch_size=4))
    for known in (graphs, tuple(graphs), as_graphs(graphs), gml.datasets.load_digits()):
        assert not is_stream(known)


@pytest.mark.parametrize("kind", ["list", "generator", "loader", "batches", "flat", "batch"])
def test_chunks_of_everything_are_the_same_graphs(graphs, kind):
    given = {
        "list": graphs, "generator": (graph for graph in graphs), "loader": DataLoader(graphs, batch_size=4),
        "batches": [Batch.from_data_list(graphs[:9]), Batch.from_data_list(graphs[9:])], "flat": as_graphs(graphs),
        "batch": Batch.from_data_list(graphs),
    }[kind]  # fmt: skip
    chunks = list(read_chunks(given, size=10))
    assert [len(chunk) for chunk in chunks] == [10, 10, 5]
    whole = as_graphs(graphs)
    joined = Graphs.concatenate(chunks)
    np.testing.assert_array_equal(joined.edges, whole.edges)
    np.testing.assert_array_equal(joined.x, whole.x)
    np.testing.assert_array_equal(joined.y, whole.y)


def test_a_stream_is_drawn_chunk_by_chunk(graphs):
    drawn = []
    chunks = read_chunks((drawn.append(1) or graph for graph in graphs), size=10)
    next(chunks)
    assert len(drawn) == 10


def test_a_bad_graph_is_named_by_its_number_among_all():
    given = [nx.path_graph(3) for _ in range(25)]
    given[17] = nx.Graph()
    with pytest.raises(ValueError, match="graph 17 has no nodes"):
        list(read_chunks(iter(given), size=10))
    given[17] = nx.path_graph(2)
    nx.set_node_attributes(given[17], {0: [1.0], 1: [2.0]}, "x")
    with pytest.raises(ValueError, match="in graphs 10 to 19, counted from 10: graph"):
        list(read_chunks(iter(given), size=10))
    with pytest.raises(ValueError, match="no graphs"):
        list(read_chunks(iter([])))


def test_bad_graphs_are_left_out_and_named():
    given = [nx.path_graph(3), nx.Graph(), "CCO", nx.path_graph(2)]
    with pytest.warns(UserWarning, match="left out") as said:
        found = list(gml.skip_bad(iter(given)))
    assert found == [given[0], given[3]]
    assert [str(one.message).split(":")[1][:9] for one in said] == [" graph 1 ", " graph 2 "]


def test_targets_and_groups_stay_with_their_graphs(graphs):
    """Whatever each of them is, known or one after the other."""
    y, groups = [str(i) for i in range(25)], np.arange(25) // 2
    loader = DataLoader(graphs, batch_size=4)
    for given in ((iter(graphs), iter(y), iter(groups)), (graphs, y, groups), (loader, y, groups)):
        for i, (graph, target, group) in enumerate(beside(*given)):
            assert (target, group) == (str(i), i // 2)
            np.testing.assert_array_equal(graph.edge_index, graphs[i].edge_index)
        assert i == 24
    assert [len(row) for row in beside(graphs)] == [1] * 25
    assert [row[1:] for row in beside(graphs[:2], None, [3, 4])] == [(3,), (4,)]


@pytest.mark.parametrize(
    ("y", "groups", "words"),
    [
        (iter(range(7)), None, "more than 7 graphs, but 7 targets: give one per graph"),
        (range(30), None, "25 graphs, but 30 targets"),
        (iter(range(30)), None, "25 graphs, but more than 25 targets"),
        (range(25), range(3), "more than 3 graphs, but 3 groups"),
        (None, np.arange(3), "more than 3 graphs, but 3 groups"),
        (range(30), range(25), "25 graphs, but 30 targets"),
        (7, None, "targets must be a list or an array with one entry per graph, got 7"),
        (np.array(7), None, "targets must be a list or an array"),
        (None, {1, 2}, "groups are a set, which has no order"),
    ],
)
def test_a_stream_and_its_targets_are_as_many(graphs, y, groups, words):
    with pytest.raises(ValueError, match=words):
        list(beside(iter(graphs), y, groups))


def test_metrics_read_targets_of_a_generator(graphs):
    y = [int(graph.y) for graph in graphs]
    for kind in (lambda: gml.GraphMetric(learn=False, random_state=0), lambda: gml.SGML(random_state=0, n_epochs=1)):
        metric = kind().fit(graphs, (one for one in y))
        np.testing.assert_array_equal(metric.transform(graphs), kind().fit(graphs, y).transform(graphs))
    groups = [i // 2 for i in range(25)]
    one, two = (
        gml.GraphMetric(families=["size"], random_state=0).fit(graphs, y, each) for each in (groups, iter(groups))
    )
    assert one.learned_.gate == two.learned_.gate


def test_a_metric_takes_a_stream_and_gives_the_same(graphs):
    y = [int(graph.y) for graph in graphs]
    metric = gml.GraphMetric(random_state=0).fit(graphs, y)
    streamed = gml.GraphMetric(random_state=0).fit(iter(graphs), iter(y))
    np.testing.assert_array_equal(streamed.transform(iter(graphs)), metric.transform(graphs))
    carried = gml.GraphMetric(random_state=0).fit(graph for graph in graphs)
    np.testing.assert_array_equal(carried.transform(DataLoader(graphs, batch_size=7)), metric.transform(graphs))
    sgml = gml.SGML(random_state=0, n_epochs=1).fit(graphs, y)
    np.testing.assert_allclose(sgml.transform(iter(graphs)), sgml.transform(graphs), rtol=1e-5, atol=1e-6)


def test_of_many_graphs_of_a_stream_the_first_are_landmarks(graphs, monkeypatch):
    """Folds are known by the numbers of the graphs among all."""
    from graph_metric_learn.metrics.automatic import fitting

    monkeypatch.setattr(fitting, "_FEW", 5)
    y = [int(graph.y) for graph in graphs]
    metric = gml.GraphMetric(n_landmarks=12, random_state=0, families=["trees", "size", "nodes, mean"])
    folds = fit_with_folds(metric, iter(graphs), iter(y))(100)
    assert sorted(np.concatenate([view.test for view in folds])) == list(range(12, 25))
    assert metric.learned_.n_graphs == 25
    assert len(metric.learned_.alpha) == 12
    as_they_come = gml.GraphMetric(n_landmarks=12, random_state=0, families=["trees", "size", "nodes, mean"])
    as_they_come.fit(graph for graph in graphs)  # which carry their targets
    np.testing.assert_array_equal(as_they_come.transform(graphs), metric.transform(graphs))
    with pytest.raises(ValueError, match="more than 24 graphs, but 24 targets"):
        gml.GraphMetric(n_landmarks=12, random_state=0).fit(iter(graphs), y[:24])
