import warnings

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from torch_geometric.data import Data

import graph_metric_learn as gml
from edge_graphs import NAMES, edge_graph, read_rich, renumbered_networkx, rich_graph
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic import estimator, exact, fitting, given, mixture
from graph_metric_learn.metrics.base import fit_with_folds
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
    assert metric.report_.startswith("compares ")
    assert "2 classes" in metric.report_
    assert sum(metric.weights_.values()) == pytest.approx(1.0)
    assert list(metric.weights_.values()) == sorted(metric.weights_.values(), reverse=True)


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


@pytest.mark.parametrize("embedding", ["mean", "reference", "density", "axes"])
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


@pytest.mark.parametrize("kind", [gml.GraphKNNClassifier, gml.GraphSVC])
def test_under_a_classifier(tmp_path, data, kind):
    train, y, test, truth = data
    model = kind(gml.GraphMetric(random_state=0)).fit(train, y)
    assert model.score(test, truth) >= 0.9
    again = gml.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(test), model.predict(test))
    assert isinstance(again.metric_, gml.GraphMetric)


def test_labels_choose_surroundings():
    graphs, y = molecules()
    metric = gml.GraphMetric(label="element", random_state=0)
    assert cross_val_score(gml.GraphKNNClassifier(metric, n_neighbors=1), graphs, y, cv=3).mean() >= 0.9


def test_what_is_asked_for_is_used(data):
    metric = gml.GraphMetric(features=["attributes@0", "wl@1"], embedding="reference", random_state=0)
    metric.fit(data[0], data[1])
    assert list(metric.weights_) == ["attributes@0, wl@1 (reference)"]
    assert metric.mixture_.describer.blocks.names_ == ["attributes@0", "wl@1"]


@pytest.mark.parametrize("kind", ["auto", 6, None])
def test_rows_of_transform_have_the_distances_of_the_metric(molecules_with_numbers, kind, tmp_path):
    """Learned scores, few coordinates or all of them: for graphs seen and for new ones."""
    graphs, y = molecules_with_numbers
    metric = gml.GraphMetric(**TREES, n_components=kind)
    folds = fit_with_folds(metric, graphs[:50], y[:50])
    assert metric.learned_.width == 1
    vectors = metric.transform(graphs)
    assert vectors.dtype == np.float32
    assert kind is None or vectors.shape[1] <= (512 if kind == "auto" else kind)
    dense = vectors.astype(float)
    distances = metric.pairwise_distances(graphs)
    wanted = np.linalg.norm(dense[:, None] - dense[None], axis=2)
    np.testing.assert_allclose(distances, wanted, atol=1e-4 * wanted.max())
    assert (np.diag(distances) == 0).all()
    assert (np.diag(metric.pairwise_distances(graphs, graphs)) == 0).all()
    again = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(again.transform(graphs), vectors)
    assert sorted(np.concatenate([view.test for view in folds(1000)])) == list(range(50))


# --- learning ------------------------------------------------------------------------------------------------------

TREES = {"features": ["trees@0", "trees@1"], "label": "element", "random_state": 0}


@pytest.fixture(scope="module")
def molecules_with_numbers():
    return element_graphs()


def several_numbers(y):
    """Two numbers per graph, the second missing for some."""
    several = np.stack([y, -(y**2)], axis=1)
    several[::4, 1] = np.nan
    return several


@pytest.fixture(scope="module", params=["numbers", "several", "classes"])
def learned(request, molecules_with_numbers):
    """A metric that learned something, its graphs and targets, and how many coordinates the scores have."""
    graphs, y = molecules_with_numbers
    target = {"numbers": y, "several": several_numbers(y), "classes": np.digitize(y, np.quantile(y, [0.33, 0.67]))}
    metric = gml.GraphMetric(**TREES).fit(graphs[:50], target[request.param][:50])
    return metric, graphs, target[request.param], 1 if request.param == "numbers" else 2


def test_what_is_learned_predicts_new_graphs(learned):
    metric, graphs, target, width = learned
    gate = metric.learned_.gate
    assert gate.weight > 0
    assert gate.learned >= gate.unlearned - 0.02  # settings are compared by means over k that follow each other
    assert metric.learned_.width == width
    assert metric.chosen_n_neighbors == gate.n_neighbors
    assert "learned scores of a kernel ridge regression (" in metric.report_
    scores = metric.scores(graphs[50:])
    assert scores.shape == (20, 3 if metric.task_ == "classes" else width)
    if metric.task_ == "classes":
        assert np.mean(scores.argmax(1) == target[50:]) > 0.6
    else:
        number = metric.objective_.decode(scores).reshape(20, -1)[:, 0]
        assert np.corrcoef(number, target[50:].reshape(20, -1)[:, 0])[0, 1] > 0.8


def test_neighbours_are_better_with_it(molecules_with_numbers):
    graphs, y = molecules_with_numbers
    errors = []
    for learn in (True, False):
        metric = gml.GraphMetric(**TREES, learn=learn).fit(graphs[:50], y[:50])
        near = np.argsort(metric.pairwise_distances(graphs[50:], graphs[:50]), axis=1)[:, :3]
        errors.append(np.mean((y[:50][near].mean(1) - y[50:]) ** 2))
        if not learn:
            assert metric.learned_ is None
            assert "learned" not in metric.report_
            with pytest.raises(ValueError, match="nothing was learned"):
                metric.scores(graphs)
    assert errors[0] < 0.8 * errors[1]


def test_the_learned_metric_is_one_function(learned):
    """Graphs seen and new: the distance to itself is 0, and rows of transform do not depend on their company."""
    metric, graphs, _, width = learned
    vectors = metric.transform(graphs)
    assert (np.diag(metric.pairwise_distances(graphs, graphs)) == 0).all()
    np.testing.assert_allclose(metric.transform(graphs[45:55]), vectors[45:55], atol=1e-5)
    scores = metric.scores(graphs)
    unit = ((scores[:50, None] - scores[None, :50]) ** 2).sum(2).mean()
    wanted = metric.learned_.gate.weight * ((scores[0] - scores[60]) ** 2).sum() / unit
    gap = vectors[0, :width].astype(float) - vectors[60, :width]
    assert gap @ gap == pytest.approx(wanted, rel=1e-3)


def test_renumbering_does_not_change_what_is_learned(learned):
    metric, graphs, _, _ = learned
    for seed in range(3):
        others = [renumbered_networkx(graph, seed + i) for i, graph in enumerate(graphs)]
        vectors, moved = metric.transform(graphs).astype(float), metric.transform(others)
        scale = np.linalg.norm(vectors - vectors.mean(0), axis=1).mean()
        assert np.linalg.norm(vectors - moved, axis=1).max() < 1e-4 * scale
        assert np.diag(metric.pairwise_distances(graphs, others)).max() < 1e-4 * scale


def test_folds_are_seen_from_outside(learned):
    """Each graph is held out once; distances of a fold are not those of the metric, which knows its targets."""
    metric, graphs, target, _ = learned
    views = fit_with_folds(clone(metric), graphs[:50], target[:50])(1000)
    assert len(views) == 5
    assert sorted(np.concatenate([view.test for view in views])) == list(range(50))
    distances, scores = metric.pairwise_distances(graphs[:50]), metric.scores(graphs[:50])
    for view in views:
        assert sorted(np.concatenate([view.train, view.test])) == list(range(50))
        assert view.across.shape == (len(view.test), len(view.train))
        assert np.abs(view.across - distances[np.ix_(view.test, view.train)]).max() > 1e-3
        assert np.abs(view.scores - scores[view.test]).max() > 1e-3
    assert fit_with_folds(gml.GraphMetric(**TREES, learn=False), graphs[:20], np.arange(20) % 2)(10) is None


def test_groups_are_held_out_together(molecules_with_numbers):
    graphs, y = molecules_with_numbers
    groups = np.arange(50) // 5
    names = [f"scaffold {group}" for group in groups]
    for view in fit_with_folds(gml.GraphMetric(**TREES), graphs[:50], y[:50], names)(1000):
        assert not set(groups[view.test]) & set(groups[view.train])
    with pytest.raises(ValueError, match="70 graphs, but groups of shape"):
        gml.GraphMetric(**TREES).fit(graphs, y, groups=groups)


def test_targets_come_from_the_graphs():
    """`Data.y`: classes, numbers, or several columns."""
    pairs, classes = zoo(np.random.default_rng(2), 30)
    options = {"features": ["attributes@0"], "embedding": "mean", "random_state": 0}
    numbers = np.array([x[:, 0].mean() for _, x in pairs])
    assert gml.GraphMetric(**options).fit(as_pyg(pairs, classes)).task_ == "classes"
    carried = gml.GraphMetric(**options).fit(as_pyg(pairs, numbers))
    assert carried.task_ == "numbers"
    given = gml.GraphMetric(**options).fit(pairs, numbers.astype(np.float32))
    np.testing.assert_allclose(carried.transform(pairs), given.transform(pairs), atol=1e-4)
    assert gml.GraphMetric(**options).fit(as_pyg(pairs)).task_ == "none"
    some = as_pyg(pairs, classes)
    del some[3].y
    with pytest.raises(ValueError, match="graph 3 carries no y"):
        gml.GraphMetric(**options).fit(some)
    assert gml.GraphMetric(**options, task="none").fit(some).learned_ is None


def test_tasks_decide_what_whole_numbers_are():
    pairs, y = zoo(np.random.default_rng(2), 30)
    options = {"features": ["attributes@0"], "embedding": "mean", "random_state": 0}
    assert gml.GraphMetric(**options).fit(pairs, y).task_ == "classes"
    assert gml.GraphMetric(**options, task="numbers").fit(pairs, y).task_ == "numbers"
    assert gml.GraphMetric(**options).fit(pairs, y + 0.5 * np.arange(30)).task_ == "numbers"
    with pytest.raises(ValueError, match='task="numbers"'):
        gml.GraphMetric(**options).fit(pairs, np.arange(30))
    with pytest.raises(ValueError, match="missing"):
        gml.GraphMetric(**options).fit(pairs, [None, *(["a", "b"] * 15)[1:]])
    with pytest.raises(ValueError, match="target of graph 4 is NaN"):
        gml.GraphMetric(**options, task="numbers").fit(pairs, np.where(np.arange(30) == 4, np.nan, y))
    with pytest.raises(ValueError, match="unknown task='ranks'"):
        gml.GraphMetric(**options, task="ranks").fit(pairs, y)


def test_without_targets(data):
    """Balanced views of the graphs: the classes that it did not see are apart."""
    train, y, test, truth = data
    metric = gml.GraphMetric(random_state=0).fit(train)
    assert metric.learned_ is None
    assert metric.fold_views(100) is None
    assert "no targets" in metric.report_
    nearest = metric.pairwise_distances(test, train).argmin(1)
    assert np.mean(y[nearest] == truth) >= 0.9
    assert (np.diag(metric.pairwise_distances(test)) == 0).all()
    assert not hasattr(metric, "classes_")


def test_the_mean_squared_distance_is_one(molecules_with_numbers):
    """Of the unlearned part, among the landmarks, however many coordinates it has; learned scores come on top."""
    graphs, y = molecules_with_numbers
    for kind in ("auto", None, 4):
        metric = gml.GraphMetric(**TREES, n_components=kind).fit(graphs[:50], y[:50])
        vectors = metric.transform(graphs[:50])[:, metric.learned_.width :].astype(float)
        squares = ((vectors[:, None] - vectors[None]) ** 2).sum(2)
        assert squares.mean() == pytest.approx(1.0, abs=0.05)
        assert metric.width_ is None or metric.width_.kept == vectors.shape[1]


def test_explanations_add_up(data, metric):
    why = metric.explain(data[2][0], data[2][1])
    np.testing.assert_allclose(why.plan.sum(1), 1 / len(why.plan), atol=1e-6)
    assert why.source_share.sum() == pytest.approx(1)
    assert why.target_share.sum() == pytest.approx(1)
    assert why.distance == pytest.approx(metric.pairwise_distances(data[2][:1], data[2][1:2])[0, 0], rel=1e-5)
    same = metric.explain(data[2][0], data[2][0])
    assert same.distance == 0
    np.testing.assert_allclose(same.source_share, 0, atol=1e-6)


def test_near_duplicates_are_told_apart():
    """Two classes 3e-4 of the scale apart, and a few graphs far away."""
    rng = np.random.default_rng(0)
    values = np.concatenate([1.0 + 3e-4 * (np.arange(40) % 2), rng.normal(size=6)])
    graphs = [(np.zeros((1, 1)), np.array([[value]])) for value in values]
    metric = gml.GraphMetric(features=["attributes@0"], embedding="mean", random_state=0)
    metric.fit(graphs, [*(np.arange(40) % 2), 0, 1, 0, 1, 0, 1])
    nearest = metric.pairwise_distances(graphs[:40]) + np.eye(40)
    assert np.mean(nearest.argmin(1) % 2 == np.arange(40) % 2) > 0.85


def test_labels_of_another_kind_are_refused():
    graphs, y = molecules()
    metric = gml.GraphMetric(features=["wl@1"], label="element", random_state=0).fit(graphs, y)
    with pytest.raises(ValueError, match="nodes carry no labels, those that were fitted 1 label"):
        metric.transform(gml.as_graphs([nx.cycle_graph(4)]))


def test_numbers_of_numpy_and_generators_can_be_saved(tmp_path, data):
    rng = np.random.default_rng(0)
    metric = gml.GraphMetric(n_landmarks=np.int64(30), n_components=np.int32(6), random_state=rng).fit(data[0], data[1])
    before = rng.bit_generator.state
    loaded = gml.load(metric.save(tmp_path / "m"))
    assert rng.bit_generator.state == before
    again = clone(loaded).fit(data[0], data[1])
    np.testing.assert_array_equal(again.transform(data[2]), metric.transform(data[2]))


def test_bad_input():
    graphs, y = molecules()
    with pytest.raises(ValueError, match="embedding 'histogram' cannot take wl@1"):
        gml.GraphMetric(features=["wl@1"], embedding="histogram").fit(graphs, y)
    with pytest.raises(ValueError, match="unknown block 'colour@1'"):
        gml.GraphMetric(features=["colour@1"]).fit(graphs, y)
    with pytest.raises(ValueError, match="all graphs look the same"):
        gml.GraphMetric(features=["degree@0"]).fit(graphs, y)
    with pytest.raises(ValueError, match="must be a whole number"):
        gml.GraphMetric(n_landmarks=0).fit(graphs, y)
    with pytest.raises(ValueError, match="class"):
        gml.GraphMetric().fit(graphs, ["one"] * 20)


def test_progress_is_shown_when_asked(data, capsys):
    train, y, *_ = data
    for progress, shown in ((True, True), (None, False)):
        gml.GraphMetric(features=["degree@0"], n_landmarks=20, random_state=0, progress=progress).fit(train, y)
        assert ("learning: 100%" in capsys.readouterr().err) == shown


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
    assert coded.weights_ == pytest.approx(named.weights_)
    asked = gml.GraphMetric(features=["attributes@1"], random_state=0).fit(graphs, y)
    assert not asked.label_columns_.any()
    loaded = gml.GraphMetric.load(coded.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.pairwise_distances(graphs), coded.pairwise_distances(graphs))
    both = gml.GraphMetric(label="element", random_state=0).fit(graphs, y)  # x says what labels say, and is left out
    np.testing.assert_array_equal(both.pairwise_distances(graphs), named.pairwise_distances(graphs))
    assert coded.explain(graphs[0], graphs[10]).distance == pytest.approx(coded.pairwise_distances(graphs)[0, 10])


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
    assert model.score(graphs[80:], y[80:]) >= 0.95
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
    graphs = [edge_graph(seed, directed=directed, parallel=parallel) for seed in range(30)]
    metric = gml.GraphMetric(random_state=0, **NAMES).fit(graphs, [len(graph) > 5 for graph in graphs])
    return metric, graphs


def test_the_order_of_nodes_and_edges_does_not_matter_with_edge_data(with_edges):
    metric, graphs = with_edges
    others = [renumbered_networkx(graph, seed) for seed, graph in enumerate(graphs)]
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
    others = [renumbered_networkx(graph, seed) for seed, graph in enumerate(graphs)]
    scale = np.median(metric.pairwise_distances(graphs))
    assert np.diag(metric.pairwise_distances(graphs, others)).max() < 1e-4 * scale


def test_new_graphs_have_the_directions_of_those_in_fit():
    graphs, y = (part[:50] for part in edge_directions(np.random.default_rng(0)))
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


@pytest.mark.parametrize(
    ("module", "name"),
    [(exact, "likeliest_weights"), (exact, "loss")],
)
def test_products_have_one_thread_while_it_is_fitted(rng, monkeypatch, blas_threads, module, name):
    """Those of BLAS wait for each other: on a busy computer, decompositions take ten times as long."""
    seen, plain = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **more: seen.append(blas_threads()) or plain(*given, **more))
    pairs, y = zoo(rng, 30)
    gml.GraphMetric(random_state=0).fit(as_pyg(pairs, y))
    assert seen[0] == {1}
    assert blas_threads() == {3}


@pytest.mark.parametrize("nodes", [1, 50])
@pytest.mark.parametrize("most", ["auto", 20])
def test_graphs_in_pieces_make_the_same_metric(data, monkeypatch, nodes, most):
    """Pieces of a few graphs each, in `fit` and after it."""
    train, y, test, _ = data
    monkeypatch.setattr(fitting, "_FEW", 15)

    def fitted():
        metric = gml.GraphMetric(random_state=0, n_landmarks=most, n_components=None).fit(train, y)
        return metric.pairwise_distances(test), metric.scores(test)

    plain = fitted()
    for module, name in ((estimator, "AT_ONCE"), (mixture, "AT_ONCE"), (given, "_CHUNK")):
        monkeypatch.setattr(module, name, nodes)
    for found, wanted in zip(fitted(), plain, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-3)


# --- kinds of targets, and of graphs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_is_not_learned(seed):
    """All families, chosen by targets that mean nothing, and all settings."""
    rng, graphs = np.random.default_rng(seed), read_rich([rich_graph(i) for i in range(300)])
    y = rng.normal(size=300) if seed else rng.permutation(np.arange(300) % 2)
    metric = gml.GraphMetric(random_state=0).fit(graphs, y)
    assert metric.learned_.gate.weight == 0
    assert metric.learned_.width == 0
    assert "learned nothing" in metric.report_


def test_rare_classes_are_ranked():
    graphs, y = element_graphs(260)
    rare = np.where(y > np.quantile(y, 0.93), "active", "inactive")
    metric = gml.GraphMetric(families=["trees", "pairs", "size"], label="element", random_state=0)
    metric.fit(graphs[:200], rare[:200])
    assert "AUC" in metric.report_
    assert "0.5 by chance; the largest class for all has 9" in metric.report_
    active = metric.scores(graphs[200:])[:, 0]
    assert roc_auc_score(rare[200:] == "active", active) > 0.8
    plain = clone(metric).set_params(scoring="accuracy").fit(graphs[:200], rare[:200])
    assert "AUC" not in plain.report_


def test_several_labels_with_gaps():
    """Neighbours and the regression predict each; graphs without any label count for nothing."""
    graphs, y = element_graphs(140)
    table = np.stack([y > np.median(y), y > np.quantile(y, 0.7)], axis=1).astype(float)
    known = np.where(np.random.default_rng(0).random(table.shape) < 0.3, np.nan, table)
    known[5] = np.nan
    metric = gml.GraphMetric(families=["trees", "pairs", "size"], label="element", random_state=0)
    metric.fit(graphs[:100], known[:100])
    assert metric.task_ == "labels"
    assert "2 labels" in metric.report_
    assert np.mean((metric.scores(graphs[100:]) > 0.5) == table[100:]) > 0.8
    shares = metric.objective_.neighbor_outputs(metric.pairwise_distances(graphs[100:], graphs[:100]), known[:100], [5])
    assert np.mean((shares[:, 0] > 0.5) == table[100:]) > 0.8


def test_families_that_are_asked_for_are_used_alone(data):
    train, y, test, truth = data
    metric = gml.GraphMetric(families=["trees", "size"], random_state=0).fit(train, y)
    assert set(metric.weights_) <= {"trees", "size"}
    assert np.mean(y[metric.pairwise_distances(test, train).argmin(1)] == truth) >= 0.9


@pytest.mark.parametrize("kind", ["nodes", "graphs"])
def test_what_was_not_measured_is_not_an_error(kind, tmp_path):
    """Node features that are missing are means if that is asked for; in vectors of graphs it says something."""
    rng = np.random.default_rng(0)
    y, graphs = np.arange(80) % 2, []
    for target in y:
        graph = nx.path_graph(int(rng.integers(3, 7)))
        values = {v: [target + 0.2 * rng.normal() if rng.random() < 0.9 else np.nan, 1.0 * v] for v in graph}
        if kind == "nodes":
            nx.set_node_attributes(graph, values, "x")
        else:
            graph.graph["u"] = [values[0][0], rng.normal()]
        graphs.append(graph)
    options = {"missing": "mean"} if kind == "nodes" else {"graph_attribute": "u"}
    metric = gml.GraphMetric(random_state=0, **options).fit(graphs[:60], y[:60])
    if kind == "graphs":
        assert next(iter(metric.weights_)) == "vectors of graphs"
    else:
        with pytest.raises(ValueError, match="NaN"):
            gml.GraphMetric(random_state=0).fit(graphs, y)
    near = metric.pairwise_distances(graphs[60:], graphs[:60]).argmin(1)
    assert np.mean(y[near] == y[60:]) >= 0.8
    loaded = gml.load(metric.save(tmp_path / "metric"))
    np.testing.assert_array_equal(loaded.transform(graphs), metric.transform(graphs))
