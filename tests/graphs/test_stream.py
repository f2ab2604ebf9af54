import networkx as nx
import numpy as np
import pytest
from torch_geometric.data import Batch
from torch_geometric.loader import DataLoader

import graph_metric_learn as gml
from graph_metric_learn.graphs import Graphs, as_graphs
from graph_metric_learn.graphs.stream import is_stream, read_chunks, reservoir, sampled
from graph_metric_learn.predictors.fold_distances import own_fold_views
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


def test_every_one_is_as_likely_to_be_kept():
    counts = np.zeros(20)
    for seed in range(2000):
        _, numbers = reservoir(range(20), 5, seed)
        assert numbers == sorted(set(numbers))
        assert len(numbers) == 5
        counts[numbers] += 1
    assert np.abs(counts / 2000 - 0.25).max() < 0.05
    assert reservoir("ab", 5, 0) == (["a", "b"], [0, 1])


@pytest.mark.parametrize("stream", [False, True])
def test_a_sample_keeps_targets_and_groups_with_their_graphs(graphs, stream):
    y, groups = [str(i) for i in range(25)], np.arange(25) // 2
    given = (iter(graphs), iter(y), iter(groups)) if stream else (graphs, y, groups)
    part, targets, together, numbers = sampled(*given, 10, seed=0)
    assert list(map(int, targets)) == numbers.tolist() == sorted(numbers)
    assert len(part) == len(targets) == len(together) == 10
    for graph, target, group in zip(part, targets, together, strict=True):
        assert graph is graphs[int(target)]
        assert int(target) // 2 == group
    if not stream:
        assert sampled(*given, 10, seed=0)[1] == targets
        assert sampled(graphs, y, None, 25, 0) == (graphs, y, None, None)
        flat, targets, _, _ = sampled(as_graphs(graphs), y, None, 10, 0)
        np.testing.assert_array_equal(flat.sizes, as_graphs(graphs).sizes[[int(one) for one in targets]])
        with pytest.raises(ValueError, match="3 targets for 25 graphs"):
            sampled(graphs, y[:3], None, 10, 0)


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
        sampled(iter(graphs), y, groups, 10, seed=0)


@pytest.mark.parametrize("most", [10, 100])
def test_targets_of_known_graphs_may_be_a_generator(graphs, most):
    y, groups = [str(i) for i in range(25)], list(range(25))
    found = sampled(graphs, (one for one in y), dict.fromkeys(groups).keys(), most, seed=0)
    wanted = sampled(graphs, y, groups, most, seed=0)
    assert found[1:3] == wanted[1:3]
    with pytest.raises(ValueError, match="targets are a dict, which has no order"):
        sampled(graphs, dict.fromkeys(y), None, most, seed=0)


def test_metrics_read_targets_of_a_generator(graphs):
    y = [int(graph.y) for graph in graphs]
    for kind in (lambda: gml.GraphMetric(learn=False, random_state=0), lambda: gml.SGML(random_state=0, n_epochs=1)):
        metric = kind().fit(graphs, (one for one in y))
        np.testing.assert_array_equal(metric.transform(graphs), kind().fit(graphs, y).transform(graphs))


def test_a_metric_takes_a_stream_and_gives_the_same(graphs):
    y = [int(graph.y) for graph in graphs]
    metric = gml.GraphMetric(random_state=0).fit(graphs, y)
    streamed = gml.GraphMetric(random_state=0).fit(iter(graphs), iter(y))
    np.testing.assert_array_equal(streamed.transform(iter(graphs)), metric.transform(graphs))
    carried = gml.GraphMetric(random_state=0).fit(graph for graph in graphs)
    np.testing.assert_array_equal(carried.transform(DataLoader(graphs, batch_size=7)), metric.transform(graphs))
    sgml = gml.SGML(random_state=0, n_epochs=1).fit(graphs, y)
    np.testing.assert_allclose(sgml.transform(iter(graphs)), sgml.transform(graphs), rtol=1e-5, atol=1e-6)


def test_of_many_graphs_a_sample_is_looked_at(graphs, monkeypatch):
    """Folds are known by the numbers of the graphs among all."""
    from graph_metric_learn.metrics.automatic import estimator

    monkeypatch.setattr(estimator, "_SEEN", 18)
    y = np.array([int(graph.y) for graph in graphs])
    flat = as_graphs(graphs)
    model = gml.GraphKNNClassifier(gml.GraphMetric(random_state=0)).fit(flat, y)
    chosen = sampled(flat, y, None, 18, model.metric_.seed_)[3]
    held_out = np.concatenate([view.test for view in own_fold_views(model, 18)])
    np.testing.assert_array_equal(np.sort(held_out), chosen)
    assert len(model.y_) == 25
    alone = gml.GraphMetric(random_state=0, task="classes").fit(flat[chosen], y[chosen])
    np.testing.assert_array_equal(alone.transform(flat), model.metric_.transform(flat))


def test_ridge_on_more_graphs_than_the_metric_looks_at(monkeypatch, tmp_path):
    """Numbers are decoded by what the metric has seen, and classes that it has not seen are never predicted."""
    from graph_metric_learn.metrics.automatic import estimator

    monkeypatch.setattr(estimator, "_SEEN", 60)
    every = as_graphs([nx.cycle_graph(4 + i % 20) for i in range(90)])
    numbers = every.sizes + 0.5
    probe = gml.GraphRidge(gml.GraphMetric(random_state=0)).fit(every, numbers)
    seen = sampled(every, numbers, None, 60, probe.metric_.seed_)[3]
    unseen = np.setdiff1d(np.arange(90), seen)
    numbers[unseen[0]] = 1e4  # the mean and deviation of all are far from those of the sample
    model = gml.GraphRidge(gml.GraphMetric(random_state=0)).fit(every, numbers)
    np.testing.assert_allclose(model.predict(every[seen]), numbers[seen], atol=0.5)

    classes = np.where(every.sizes > 12, "large", "a few").astype("<U8")
    for name in ("another", "zz last"):
        classes[unseen[0]] = name
        head = gml.GraphClassifier(gml.GraphMetric(random_state=0), head="ridge").fit(every, classes)
        assert name in head.classes_
        assert head.predict_proba(every).shape == (90, 3)
        assert (head.predict(every[seen]) == classes[seen]).mean() > 0.9
        again = gml.load(head.save(tmp_path / name))
        np.testing.assert_array_equal(again.predict_proba(every), head.predict_proba(every))
