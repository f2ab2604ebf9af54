import warnings

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from torch_geometric.data import Data

import graph_metric_learn as gml
from edge_graphs import NAMES, edge_graph, renumbered
from graph_metric_learn.metrics.automatic import estimator, selection
from graph_metric_learn.metrics.automatic.reweighting import LowRankMap
from graph_zoo import as_networkx, as_pyg, zoo


@pytest.fixture(scope="module")
def data():
    pairs, y = zoo(np.random.default_rng(2), 60)
    return pairs[:40], np.array(y[:40]), pairs[40:], np.array(y[40:])


@pytest.fixture(scope="module")
def metric(data):
    return gml.GraphMetric(random_state=0).fit(data[0], data[1])


def molecules():
    """Rings whose atoms alternate or are split in halves: only surroundings tell them apart."""

    def ring(elements):
        graph = nx.cycle_graph(len(elements))
        nx.set_node_attributes(graph, dict(enumerate(elements)), "element")
        return graph

    graphs = [ring("CN" * n) for n in range(3, 13)] + [ring("C" * n + "N" * n) for n in range(3, 13)]
    return graphs, np.repeat(["mixed", "split"], 10)


def test_it_learns_what_matters(data, metric):
    train, y, test, truth = data
    nearest = metric.pairwise_distances(test, train).argmin(1)
    assert np.mean(y[nearest] == truth) >= 0.9
    assert "leave-one-out accuracy" in metric.report_
    assert len(metric.choice_.scores) > 20


def test_distances_are_those_of_the_vectors(data, metric):
    vectors = metric.transform(data[2]).astype(float)
    wanted = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    distances = metric.pairwise_distances(data[2])
    np.testing.assert_allclose(distances, wanted, atol=1e-4)
    assert (np.diag(distances) == 0).all()
    np.testing.assert_array_equal(distances, distances.T)


def test_the_numbering_of_nodes_does_not_matter(data, metric):
    rng = np.random.default_rng(0)
    renumbered = []
    for adjacency, x in data[2]:
        order = rng.permutation(len(x))
        renumbered.append((np.asarray(adjacency)[np.ix_(order, order)], x[order]))
    scale = metric.pairwise_distances(data[2]).mean()
    crossed = metric.pairwise_distances(data[2], renumbered)
    assert np.diag(crossed).max() < 1e-4 * scale


@pytest.mark.parametrize("embedding", ["mean", "reference", "axes"])
@pytest.mark.parametrize("regular", [2, 4])
def test_the_numbering_does_not_matter_where_nodes_look_alike(embedding, regular):
    """Labels on regular graphs: columns add up to a constant, and many nodes differ by rounding only."""
    rng = np.random.default_rng(0)
    graphs, copies = [], []
    for seed in range(20):
        graph = nx.random_regular_graph(regular, 12, seed=seed)
        nx.set_node_attributes(graph, {v: int(rng.integers(3)) for v in graph}, "kind")
        graphs.append(graph)
        order = rng.permutation(12).tolist()
        copies.append(nx.relabel_nodes(graph, dict(zip(range(12), order, strict=True))))
        copies[-1] = nx.Graph(copies[-1])
        shuffled = nx.Graph()
        shuffled.add_nodes_from(sorted(copies[-1].nodes(data=True)))
        shuffled.add_edges_from(copies[-1].edges)
        copies[-1] = shuffled
    names = ["labels@0", "labels@1", "labels@2"]
    metric = gml.GraphMetric(features=names, embedding=embedding, label="kind", learn=False, random_state=0)
    metric.fit(graphs, np.arange(20) % 2)
    scale = metric.pairwise_distances(graphs).mean()
    assert np.diag(metric.pairwise_distances(graphs, copies)).max() < 1e-3 * scale


def test_one_seed_one_result(data):
    one, two = (gml.GraphMetric(random_state=3).fit(data[0], data[1]).transform(data[2]) for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", [as_pyg, as_networkx])
def test_all_kinds_of_graphs_give_the_same(data, metric, kind):
    np.testing.assert_allclose(metric.transform(kind(data[2])), metric.transform(data[2]), atol=1e-5)


def test_saved_and_loaded(tmp_path, data, metric):
    path = metric.save(tmp_path / "m")
    for loaded in (gml.GraphMetric.load(path), gml.load(path)):
        np.testing.assert_array_equal(loaded.transform(data[2]), metric.transform(data[2]))
        assert loaded.report_ == metric.report_
        assert loaded.stages_ == metric.stages_
        assert loaded.choice_ == metric.choice_
        np.testing.assert_array_equal(loaded.classes_, metric.classes_)


@pytest.mark.parametrize("kind", [gml.GraphKNNClassifier, gml.GraphSVC])
def test_under_a_classifier(tmp_path, data, kind):
    train, y, test, truth = data
    model = kind(gml.GraphMetric(n_steps=2, random_state=0)).fit(train, y)
    assert model.score(test, truth) >= 0.9
    again = gml.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(test), model.predict(test))
    assert isinstance(again.metric_, gml.GraphMetric)


def test_labels_choose_surroundings():
    graphs, y = molecules()
    metric = gml.GraphMetric(label="element", random_state=0)
    assert cross_val_score(gml.GraphKNNClassifier(metric, n_neighbors=1), graphs, y, cv=5).mean() >= 0.9
    fitted = clone(metric).fit(graphs, y)
    assert "mean of labels" not in fitted.choice_.scores  # every ring has as many of each


def test_what_is_asked_for_is_used(data):
    metric = gml.GraphMetric(features=["attributes@0", "wl@1"], embedding="reference", random_state=0)
    metric.fit(data[0], data[1])
    assert list(metric.choice_.scores) == ["reference transport of attributes@0, wl@1"]
    assert metric.blocks_.names_ == ["attributes@0", "wl@1"]


def noisy(count=120, noise=10, seed=0):
    """Graphs without edges whose class shows in one attribute of many."""
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 2
    graphs = []
    for code in y:
        x = rng.normal(size=(6, noise + 1))
        x[:, 0] = 1.5 * code + 0.5 * rng.normal(size=6)
        x[:, 1:] += rng.normal(size=noise)  # what a graph has, and its class has not
        graphs.append((np.zeros((6, 6)), x))
    return graphs, y


@pytest.fixture(scope="module")
def learned():
    graphs, y = noisy()
    options = {"features": ["attributes@0"], "embedding": "reference", "random_state": 0}
    return gml.GraphMetric(**options).fit(graphs, y), gml.GraphMetric(**options, learn=False).fit(graphs, y)


def test_learning_finds_the_column_that_matters(learned):
    metric, plain = learned
    graphs, y = noisy()
    test, truth = noisy(seed=1)
    errors = [np.mean(y[m.pairwise_distances(test, graphs).argmin(1)] != truth) for m in (metric, plain)]
    assert errors[0] < 0.6 * errors[1]
    assert plain.stages_ == []
    kept = [stage for stage in metric.stages_ if stage.kept]
    assert kept[0].name == "weights of columns"
    assert kept[0].learned > kept[0].unlearned
    assert "learning kept: weights of columns +" in metric.report_


def test_what_was_learned_is_saved(tmp_path, learned):
    metric, _ = learned
    test, _ = noisy(seed=1)
    loaded = gml.load(metric.save(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.transform(test), metric.transform(test))
    assert loaded.stages_ == metric.stages_


def test_a_map_of_low_rank_is_applied_and_saved(tmp_path, data):
    metric = gml.GraphMetric(features=["attributes@0"], embedding="mean", learn=False, random_state=0)
    metric.fit(data[0], data[1])
    plain = metric.transform(data[2])
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(plain.shape[1], 2)))[0].astype(np.float32)
    step = np.array([[1.0, 0.0], [0.5, -1.0]], dtype=np.float32)
    metric.low_rank_ = LowRankMap(directions, step)
    mapped = metric.transform(data[2])
    gap, mapped_gap = plain[0] - plain[1], mapped[0] - mapped[1]
    inner = gap @ directions
    wanted = gap @ gap - inner @ inner + np.sum((inner + inner @ step) ** 2)
    assert mapped_gap @ mapped_gap == pytest.approx(wanted, rel=1e-4)
    again = gml.load(metric.save(tmp_path / "m"))
    np.testing.assert_array_equal(again.transform(data[2]), mapped)


def test_explanations_add_up(data, metric):
    why = metric.explain(data[2][0], data[2][1])
    np.testing.assert_allclose(why.plan.sum(1), 1 / len(why.plan), atol=1e-6)
    assert why.source_share.sum() == pytest.approx(1)
    assert why.target_share.sum() == pytest.approx(1)
    assert why.distance == pytest.approx(metric.pairwise_distances(data[2][:1], data[2][1:2])[0, 0], rel=1e-5)
    same = metric.explain(data[2][0], data[2][0])
    assert same.distance == 0
    np.testing.assert_allclose(same.source_share, 0, atol=1e-6)


def test_the_node_that_differs_is_named():
    path = nx.path_graph(8)
    nx.set_node_attributes(path, {i: [0.0] for i in path}, "x")
    other = path.copy()
    other.nodes[3]["x"] = [5.0]
    graphs, y = [path, other] * 5, [0, 1] * 5
    for embedding in ("reference", "axes"):
        metric = gml.GraphMetric(features=["attributes@0"], embedding=embedding, random_state=0).fit(graphs, y)
        assert metric.explain(path, other).target_share.argmax() == 3


def test_the_choice_is_made_on_a_part_of_many_graphs(data, monkeypatch):
    seen = []
    real = selection.choose
    monkeypatch.setattr(selection, "choose", lambda s, y, *a, **o: seen.append(len(y)) or real(s, y, *a, **o))
    metric = gml.GraphMetric(n_graphs=16, random_state=0).fit(data[0], data[1])
    assert seen == [16]
    assert metric.transform(data[2]).shape[0] == len(data[2])


def test_near_duplicates_are_told_apart():
    """Two classes 3e-4 of the scale apart, and a few graphs far away."""
    rng = np.random.default_rng(0)
    values = np.concatenate([1.0 + 3e-4 * (np.arange(40) % 2), rng.normal(size=6)])
    graphs = [(np.zeros((1, 1)), np.array([[value]])) for value in values]
    metric = gml.GraphMetric(features=["attributes@0"], embedding="mean", random_state=0)
    metric.fit(graphs, [*(np.arange(40) % 2), 0, 1, 0, 1, 0, 1])
    assert metric.choice_.accuracy > 0.85


def test_labels_of_another_kind_are_refused():
    graphs, y = molecules()
    metric = gml.GraphMetric(features=["wl@1"], label="element", random_state=0).fit(graphs, y)
    with pytest.raises(ValueError, match="nodes carry no labels, those that were fitted 1 label"):
        metric.transform(gml.as_graphs([nx.cycle_graph(4)]))


def test_numbers_of_numpy_and_generators_can_be_saved(tmp_path, data):
    rng = np.random.default_rng(0)
    metric = gml.GraphMetric(n_steps=np.int64(2), random_state=rng).fit(data[0], data[1])
    before = rng.bit_generator.state
    loaded = gml.load(metric.save(tmp_path / "m"))
    assert rng.bit_generator.state == before
    again = clone(loaded).fit(data[0], data[1])
    np.testing.assert_array_equal(again.transform(data[2]), metric.transform(data[2]))


def test_bad_input():
    graphs, y = molecules()
    with pytest.raises(ValueError, match="unknown embedding='best'"):
        gml.GraphMetric(embedding="best").fit(graphs, y)
    for features in ("labels", None, 5, [], [1]):
        with pytest.raises(ValueError, match='features must be "auto" or a list'):
            gml.GraphMetric(features=features).fit(graphs, y)
    with pytest.raises(ValueError, match="embedding 'histogram' cannot take wl@1"):
        gml.GraphMetric(features=["wl@1"], embedding="histogram").fit(graphs, y)
    with pytest.raises(ValueError, match="unknown block 'colour@1'"):
        gml.GraphMetric(features=["colour@1"]).fit(graphs, y)
    with pytest.raises(ValueError, match="all graphs look the same"):
        gml.GraphMetric(features=["degree@0"]).fit(graphs, y)
    for options in ({"n_steps": 0}, {"n_steps": 2.5}, {"n_steps": True}, {"n_graphs": 1}):
        with pytest.raises(ValueError, match="must be a whole number"):
            gml.GraphMetric(**options).fit(graphs, y)
    with pytest.raises(ValueError, match="class"):
        gml.GraphMetric().fit(graphs, ["one"] * 20)


def test_the_choice_is_made_on_fewer_graphs_where_they_are_large(data, monkeypatch):
    seen = []
    real = selection.choose
    monkeypatch.setattr(selection, "choose", lambda s, y, *a, **o: seen.append(len(y)) or real(s, y, *a, **o))
    monkeypatch.setattr(estimator, "_MAX_NODES", 1)
    monkeypatch.setattr(estimator, "_MIN_GRAPHS", 12)
    gml.GraphMetric(features=["degree@0"], random_state=0).fit(data[0], data[1])
    assert seen == [12]


def test_progress_is_shown_when_asked(data, capsys):
    train, y, *_ = data
    for progress, shown in ((True, True), (None, False)):
        gml.GraphMetric(features=["degree@0"], learn=False, random_state=0, progress=progress).fit(train, y)
        assert ("choosing: 100%" in capsys.readouterr().err) == shown


def test_distances_into_an_array(data, metric):
    some = data[2]
    out = np.full((len(some), 3), np.nan, dtype=np.float32)
    assert metric.pairwise_distances(some, some[:3], out=out) is out
    np.testing.assert_array_equal(out, metric.pairwise_distances(some, some[:3]))


def test_one_hot_features_are_labels(tmp_path):
    """As PyG keeps them: trees and codes then see them, as if they had been given by name."""
    graphs, y = molecules()
    named = gml.GraphMetric(label="element", random_state=0).fit(graphs, y)
    for graph in graphs:
        for _, node in graph.nodes(data=True):
            node["x"] = [0.0, 1.0, 0.0] if node["element"] == "C" else [0.0, 0.0, 1.0]  # the first never occurs
    coded = gml.GraphMetric(random_state=0).fit(graphs, y)
    assert coded.label_columns_.tolist() == [True, True, True]
    assert coded.choice_.scores.keys() == named.choice_.scores.keys()
    asked = gml.GraphMetric(features=["attributes@1"], random_state=0).fit(graphs, y)
    assert not asked.label_columns_.any()
    loaded = gml.GraphMetric.load(coded.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.pairwise_distances(graphs), coded.pairwise_distances(graphs))
    both = gml.GraphMetric(label="element", random_state=0).fit(graphs, y)  # x says what labels say, and is left out
    np.testing.assert_array_equal(both.pairwise_distances(graphs), named.pairwise_distances(graphs))
    assert coded.explain(graphs[0], graphs[10]).distance == pytest.approx(coded.pairwise_distances(graphs)[0, 10])


def test_the_old_name_of_the_stages_says_so(learned):
    metric, _ = learned
    with pytest.warns(FutureWarning, match="stages_"):
        assert metric.history_ is metric.stages_


def test_a_refit_that_fails_leaves_the_metric_as_it_was(data):
    train, y, test, _ = data
    metric = gml.GraphMetric(features=["attributes@0"], embedding="mean", random_state=0).fit(train, y)
    before = metric.transform(test)
    with pytest.raises(ValueError, match="of one class"):
        metric.fit(train, np.zeros(len(train)))
    np.testing.assert_array_equal(metric.classes_, [0, 1])
    np.testing.assert_array_equal(metric.transform(test), before)


# --- edges ---------------------------------------------------------------------------------------------------------


def frames(rng, count):
    """Random graphs as lists of edges [2, e]: the same for all classes."""
    drawn = [nx.gnp_random_graph(int(n), 0.35, seed=int(rng.integers(2**31))) for n in rng.integers(9, 16, count)]
    return [(len(graph), np.array(graph.edges, dtype=np.int64).reshape(-1, 2).T) for graph in drawn]


def pyg_graphs(rng, count, attributes):
    """Graphs of two classes that differ in what `attributes(class, ends [2, e], n)` says of their edges alone."""
    graphs = []
    for i, (n, ends) in enumerate(frames(rng, count)):
        values = torch.as_tensor(attributes(i % 2, ends, n), dtype=torch.float32)
        both = torch.from_numpy(np.concatenate([ends, ends[::-1]], axis=1).copy())
        graphs.append(Data(edge_index=both, num_nodes=n, edge_attr=torch.cat([values, values])))
    return graphs, np.arange(count) % 2


def edge_labels(rng):
    """Class 1: edges of one label form a star around a node; class 0: as many, anywhere."""

    def labels(kind, ends, n):
        chosen = (ends == np.bincount(ends.ravel(), minlength=n).argmax()).any(0)
        return np.eye(2)[(chosen if kind else rng.permutation(chosen)).astype(int)]

    return pyg_graphs(rng, 120, labels)


def edge_vectors(rng):
    """The two numbers of an edge go together, or against each other."""

    def vectors(kind, ends, n):
        first = rng.normal(size=ends.shape[1])
        return np.stack([first, (1 if kind else -1) * first + 0.3 * rng.normal(size=len(first))], axis=1)

    return pyg_graphs(rng, 120, vectors)


def edge_weights(rng):
    """Complete correlation networks: communities, or the same weights anywhere."""
    graphs = []
    for i in range(120):
        x = rng.normal(size=(60, 4))[:, np.arange(16) % 4] + rng.normal(size=(60, 16))
        upper = np.triu_indices(16, 1)
        weights = np.corrcoef(x.T)[upper]
        matrix = np.zeros((16, 16))
        matrix[upper] = weights if i % 2 else rng.permutation(weights)
        graphs.append((matrix + matrix.T, None))
    return graphs, np.arange(120) % 2


def edge_directions(rng):
    """Trees that grow from their root, or towards it."""
    graphs = []
    for i in range(120):
        arcs = [(int(rng.integers(v)), v) for v in range(1, int(rng.integers(8, 20)))]
        graphs.append(nx.DiGraph(arcs if i % 2 else [arc[::-1] for arc in arcs]))
    return graphs, np.arange(120) % 2


@pytest.mark.parametrize("made", [edge_labels, edge_vectors, edge_weights, edge_directions])
def test_classes_that_only_edges_tell_apart(made, tmp_path):
    graphs, y = made(np.random.default_rng(0))
    model = gml.GraphKNNClassifier(gml.GraphMetric(random_state=0)).fit(graphs[:80], y[:80])
    assert model.score(graphs[80:], y[80:]) >= 0.9
    again = gml.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(graphs[80:]), model.predict_proba(graphs[80:]))
    if made is edge_weights:  # complete networks without their weights
        with pytest.raises(ValueError, match="look the same"):
            gml.GraphMetric(random_state=0, edges=False).fit(graphs, y)
    else:
        blind = gml.GraphKNNClassifier(gml.GraphMetric(random_state=0, edges=False)).fit(graphs[:80], y[:80])
        assert blind.score(graphs[80:], y[80:]) <= 0.75


@pytest.fixture(scope="module", params=[(False, False), (False, True), (True, False), (True, True)])
def with_edges(request):
    """A metric on graphs whose edges carry everything, and the graphs."""
    directed, parallel = request.param
    graphs = [edge_graph(seed, directed=directed, parallel=parallel) for seed in range(60)]
    metric = gml.GraphMetric(random_state=0, **NAMES).fit(graphs, [len(graph) > 5 for graph in graphs])
    return metric, graphs


def test_the_order_of_nodes_and_edges_does_not_matter_with_edge_data(with_edges):
    metric, graphs = with_edges
    others = [renumbered(graph, seed) for seed, graph in enumerate(graphs)]
    scale = np.median(metric.pairwise_distances(graphs))
    assert np.diag(metric.pairwise_distances(graphs, others)).max() < 1e-4 * scale


@pytest.mark.parametrize(
    "features",
    [["trees+edges@0", "trees+edges@1"], ["wl+edges@2"], ["around@0", "around@1"], ["strength@0"], ["edge@0"],
     ["edge@0", "ends@0", "ends@1"], ["labels+edges@2"]],
)  # fmt: skip
def test_every_block_that_sees_edges_is_blind_to_their_order(features):
    graphs = [edge_graph(seed, parallel=True) for seed in range(30)]
    metric = gml.GraphMetric(features=features, random_state=0, learn=False, **NAMES)
    metric.fit(graphs, [len(graph) > 5 for graph in graphs])
    others = [renumbered(graph, seed) for seed, graph in enumerate(graphs)]
    scale = np.median(metric.pairwise_distances(graphs))
    assert np.diag(metric.pairwise_distances(graphs, others)).max() < 1e-4 * scale


def test_shares_of_nodes_and_edges_add_up(with_edges):
    _, graphs = with_edges
    metric = gml.GraphMetric(
        features=["edge@0", "ends@0"], embedding="reference", learn=False, random_state=0, directed=False, **NAMES
    )
    why = metric.fit(graphs, [len(graph) > 5 for graph in graphs]).explain(graphs[0], graphs[1])
    assert why.source_share.sum() + why.edge_source_share.sum() == pytest.approx(1)
    assert why.target_share.sum() + why.edge_target_share.sum() == pytest.approx(1)
    assert why.edge_ends[0].shape[1] == len(why.edge_source_share)
    np.testing.assert_allclose(why.plan.sum(1), 1 / len(why.plan))


def test_the_edge_that_differs_is_named():
    ring = nx.cycle_graph(8)
    nx.set_edge_attributes(ring, 1.0, "length")
    other = ring.copy()
    other.edges[3, 4]["length"] = 5.0
    metric = gml.GraphMetric(features=["edge@0"], embedding="axes", edge_attribute="length", random_state=0)
    why = metric.fit([ring, other] * 5, [0, 1] * 5).explain(ring, other)
    heaviest = why.edge_ends[1][:, why.edge_target_share.argmax()]
    assert heaviest.tolist() == [3, 4]


def test_new_graphs_have_the_directions_of_those_in_fit():
    graphs, y = edge_directions(np.random.default_rng(0))
    metric = gml.GraphMetric(random_state=0).fit(graphs, y)
    assert metric.directed_
    undirected = [graph.to_undirected() for graph in graphs[:4]]
    assert metric.transform(undirected).shape[0] == 4
    one, two = metric.pairwise_distances(undirected[:1], graphs[:1])[0, 0], 0.0
    assert one > two  # an edge without direction is one in both directions
    blind = gml.GraphMetric(random_state=0, directed=False).fit(graphs, y)
    assert blind.pairwise_distances(undirected[:1], graphs[:1])[0, 0] == 0


def test_what_is_not_used_is_said_once():
    graphs, y = molecules()
    with pytest.warns(UserWarning, match="node attribute 'element'") as said:
        gml.GraphMetric(random_state=0).fit(graphs, y)
    assert len([w for w in said if "element" in str(w.message)]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gml.GraphMetric(label="element", random_state=0).fit(graphs, y)


def test_attributes_with_a_large_offset_keep_their_digits():
    """Unit variance on 1e8: centred and scaled before they become float32."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    graphs = [(np.zeros((5, 5)), rng.normal(size=(5, 2)) + kind) for kind in y]
    moved = [(adjacency, x + 1e8) for adjacency, x in graphs]
    options = {"features": ["attributes@0"], "embedding": "mean", "learn": False, "random_state": 0}
    one, two = (gml.GraphMetric(**options).fit(each, y).pairwise_distances(each) for each in (graphs, moved))
    np.testing.assert_allclose(one, two, atol=1e-4)
