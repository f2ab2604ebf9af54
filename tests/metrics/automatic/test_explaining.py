import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import graph_metric_learn as gml
from edge_graphs import NAMES, edge_graph
from element_graphs import element_graphs
from graph_metric_learn.embeddings import EMBEDDINGS, Mean
from graph_metric_learn.metrics.automatic.explaining import chosen_gradients, learned_gradients

TREES = {"features": ["trees@0", "trees@1"], "label": "element", "random_state": 0}
PAIRS = [(0, 1), (2, 60), (61, 62)]


@pytest.fixture(scope="module")
def graphs():
    return element_graphs()


@pytest.fixture(scope="module", params=[512, 6])
def learned(request, graphs):
    """A metric with learned scores, in many coordinates and in few."""
    metric = gml.GraphMetric(**TREES, n_components=request.param).fit(graphs[0][:50], graphs[1][:50])
    assert metric.learned_.gate.weight > 0
    assert (metric.compaction_ is not None) == (request.param == 6)
    return metric


def check(metric, one, two, tolerance=1e-3):
    """What every explanation must fulfil; returns it."""
    why = metric.explain(one, two)
    assert why.distance == pytest.approx(metric.pairwise_distances([one], [two])[0, 0], rel=1e-4)
    for side in ("source", "target"):
        of_edges = getattr(why, f"edge_{side}_share")
        whole = getattr(why, f"{side}_share").sum() + (0 if of_edges is None else of_edges.sum())
        assert whole == pytest.approx(1)
    assert sum(why.term_share.values()) == pytest.approx(1)
    assert list(why.term_share.values()) == sorted(why.term_share.values(), reverse=True)
    assert added_up(metric, one, two) == pytest.approx(why.distance**2, rel=tolerance)
    return why


def added_up(metric, one, two):
    """What all terms add, before shares are made of it."""
    both = metric._as_fitted(metric.read([one, two]))
    embedded = metric._embedded(both)
    vectors = metric.transform([one, two])
    first, second = (vectors.toarray() if sparse.issparse(vectors) else vectors).astype(float)
    total = 0.0
    compared = {} if metric.learned_ is None else metric.learned_.machine.compared(embedded)
    gradients = chosen_gradients(metric, embedded, first - second)
    gradients += [(term, two[:, 0]) for term, two in learned_gradients(metric, compared, first - second, None)]
    for term, gradient in gradients:
        values = embedded[term.key]
        values = (values.toarray() if sparse.issparse(values) else values).astype(float)
        total += gradient @ (values[0] - values[1])
    return total


@pytest.mark.parametrize("pair", PAIRS)
def test_shares_add_up_with_what_was_learned(learned, graphs, pair):
    one, two = (graphs[0][i] for i in pair)
    why = check(learned, one, two)
    scores = learned.scores([one, two])
    of_scores = learned.learned_.gate.weight * ((scores[0] - scores[1]) ** 2).sum() / learned.learned_.unit
    found = sum(share for name, share in why.term_share.items() if name.startswith("learned from "))
    assert found * why.distance**2 == pytest.approx(of_scores, rel=1e-3, abs=1e-4)
    np.testing.assert_allclose(why.plan.sum(1), 1 / len(one), atol=1e-6)
    np.testing.assert_allclose(why.plan.sum(0), 1 / len(two), atol=1e-6)


def test_names_of_terms_stand_in_the_shares(learned, graphs):
    why = learned.explain(*graphs[0][:2])
    wanted = {term.name for term in learned.terms_}
    wanted |= {f"learned from {part.term.name}" for part in learned.learned_.machine.parts}
    assert set(why.term_share) == wanted


def test_classes_are_explained_too(graphs):
    y = graphs[1] > np.median(graphs[1])
    metric = gml.GraphMetric(**TREES).fit(graphs[0][:50], y[:50])
    assert metric.learned_.gate.weight > 0
    check(metric, graphs[0][0], graphs[0][1])


@pytest.mark.parametrize("options", [{"features": ["labels@0", "wl@1"]}, {}, {"n_components": None}])
def test_shares_add_up_without_targets(graphs, options):
    metric = gml.GraphMetric(label="element", random_state=0, **options).fit(graphs[0][:40])
    assert metric.learned_ is None
    check(metric, graphs[0][0], graphs[0][1])


@pytest.mark.parametrize("y", [None, "numbers"])
def test_shares_add_up_in_sparse_coordinates(graphs, y):
    metric = gml.GraphMetric(**TREES, n_components=None).fit(graphs[0][:50], None if y is None else graphs[1][:50])
    for i, j in PAIRS:
        check(metric, graphs[0][i], graphs[0][j])


def test_equal_graphs_have_no_shares(learned, graphs):
    why = learned.explain(graphs[0][0], nx.Graph(graphs[0][0]))
    assert why.distance == 0
    assert (why.source_share == 0).all()
    assert set(why.term_share.values()) == {0.0}


def test_a_node_that_only_one_graph_has_is_blamed(learned):
    """A node that nobody is joined to: the trees of the others stay as they are."""
    one = nx.cycle_graph(8)
    nx.set_node_attributes(one, "C", "element")
    two = one.copy()
    two.add_node("alone", element="O")
    why = check(learned, one, two)
    assert why.target_share.argmax() == 8
    assert why.target_share[8] > 0.8


# --- edges ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_edges():
    graphs = [edge_graph(seed) for seed in range(50)]
    weights = [sum(abs(data["v"][0]) for *_, data in graph.edges(data=True)) for graph in graphs]
    return graphs, np.array(weights) / [max(graph.number_of_edges(), 1) for graph in graphs]


@pytest.mark.parametrize("features", [["edge@0", "ends@0"], ["edge_trees@0"], ["around@0"]])
def test_shares_of_nodes_and_edges_add_up(with_edges, features):
    graphs, y = with_edges
    metric = gml.GraphMetric(features=features, random_state=0, directed=False, **NAMES).fit(graphs, y)
    why = check(metric, graphs[0], graphs[1])
    if features == ["around@0"]:
        assert why.edge_ends is None
        return
    assert (why.source_share == 0).all()
    assert why.edge_ends[0].shape[1] == len(why.edge_source_share)
    np.testing.assert_allclose(why.plan, 1 / why.plan.size)  # nodes are not compared


def test_shares_of_nodes_and_edges_are_of_one_whole(with_edges):
    graphs, _ = with_edges
    metric = gml.GraphMetric(random_state=0, **NAMES).fit(graphs)
    clouds = {term.cloud for term in metric.terms_}
    assert clouds == {"nodes", "edges"}
    why = check(metric, graphs[0], graphs[1])
    assert why.source_share.any()
    assert why.edge_source_share.any()


def test_the_edge_that_differs_is_named():
    ring = nx.cycle_graph(8)
    nx.set_edge_attributes(ring, 1.0, "length")
    other = ring.copy()
    other.edges[3, 4]["length"] = 5.0
    metric = gml.GraphMetric(features=["edge@0"], embedding="axes", edge_attribute="length", random_state=0)
    why = metric.fit([ring, other] * 5, [0, 1] * 5).explain(ring, other)
    heaviest = why.edge_ends[1][:, why.edge_target_share.argmax()]
    assert heaviest.tolist() == [3, 4]


def test_the_node_that_differs_is_named():
    path = nx.path_graph(8)
    nx.set_node_attributes(path, {i: [0.0] for i in path}, "x")
    other = path.copy()
    other.nodes[3]["x"] = [5.0]
    graphs, y = [path, other] * 5, [0, 1] * 5
    for embedding in ("reference", "density", "axes"):
        metric = gml.GraphMetric(features=["attributes@0"], embedding=embedding, random_state=0).fit(graphs, y)
        assert metric.explain(path, other).target_share.argmax() == 3


# --- blocks, evidence, many pairs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("embedding", ["mean", "reference", "density", "axes", "counts", "histogram"])
def test_shares_of_blocks_add_up_and_are_those_of_the_columns(graphs, embedding):
    blocks = ["trees@0", "trees@1"] if embedding in ("counts", "histogram") else ["labels@0", "degree@0", "wl@1"]
    metric = gml.GraphMetric(features=blocks, embedding=embedding, label="element", random_state=0, n_components=None)
    metric.fit(graphs[0][:40])
    why = metric.explain(*graphs[0][50:52])
    assert sum(why.block_share.values()) == pytest.approx(1)
    assert set(why.block_share) <= set(blocks)
    if embedding == "mean":  # by hand: the mean of a block is its part of the vector
        for name, share in why.block_share.items():
            both = metric._blocks(metric._as_fitted(metric.read(graphs[0][50:52])))[name]
            first = len(graphs[0][50])
            gap = both[:first].mean(0) - both[first:].mean(0)
            (term,) = [term for term in metric.terms_ if name in term.names]
            by_hand = term.weight * float(gap @ gap) / len(term.names)
            assert share * why.distance**2 == pytest.approx(by_hand, rel=1e-3)


def test_rings_of_equal_nodes_are_explained():
    rings = [nx.cycle_graph(n) for n in range(3, 24)]
    for ring in rings:
        nx.set_node_attributes(ring, {v: [float(len(ring) % 3)] for v in ring}, "x")
    features = ["attributes@0", "degree@0"]
    metric = gml.GraphMetric(features=features, embedding="density", learn=False, random_state=0)
    metric.fit(rings, [len(ring) % 2 for ring in rings])
    for other in rings:
        why = metric.explain(rings[0], other)
        assert why.plan.max() <= 1 / 3 + 1e-9
        assert np.abs(why.source_share).max() < 10


def test_blocks_of_an_embedding_that_cannot_tell_them_apart_have_equal_shares(monkeypatch, graphs):
    class Means(Mean):
        def plan(self, x, z):
            return np.full((len(x), len(z)), 1 / (len(x) * len(z)))

        def attribute(self, x, z, gradient):
            return super().attribute(x, z, gradient)

    monkeypatch.setitem(EMBEDDINGS, "means", Means)
    blocks = ["labels@0", "degree@0"]
    metric = gml.GraphMetric(features=blocks, embedding="means", label="element", random_state=0).fit(graphs[0][:40])
    shares = metric.explain(*graphs[0][50:52]).block_share
    assert shares == pytest.approx(dict.fromkeys(blocks, 0.5))


@pytest.mark.parametrize("embedding", ["mean", "density"])
def test_a_block_that_does_not_differ_has_no_share(embedding):
    path = nx.path_graph(6)
    nx.set_node_attributes(path, {i: [float(i)] for i in path}, "x")
    other = path.copy()
    other.nodes[5]["x"] = [9.0]
    features = ["attributes@0", "degree@0"]
    metric = gml.GraphMetric(features=features, embedding=embedding, random_state=0, learn=False)
    metric.fit([path, other] * 5, [0, 1] * 5)
    why = metric.explain(path, other)
    assert why.block_share["attributes@0"] == pytest.approx(1, abs=1e-3 if embedding == "mean" else 0.1)


def test_evidence_adds_up_to_the_difference_of_scores(learned, graphs):
    for i, j in PAIRS:
        found = learned.explain(graphs[0][i], graphs[0][j]).evidence
        scores = learned.scores([graphs[0][i], graphs[0][j]])[:, 0] * learned.objective_.scale_[0]
        assert found.is_number
        assert found.towards == "the number"
        assert found.change == pytest.approx(scores[0] - scores[1], rel=1e-4, abs=1e-6)
        assert found.source.sum() == pytest.approx(found.change, rel=1e-3, abs=1e-5)
        assert found.target.sum() == pytest.approx(-found.change, rel=1e-3, abs=1e-5)


def test_evidence_names_the_classes_and_the_nodes(graphs):
    y = np.array(["many" if sum(e == "O" for _, e in g.nodes(data="element")) > 2 else "few" for g in graphs[0]])
    metric = gml.GraphMetric(**TREES).fit(graphs[0][:50], y[:50])
    assert metric.learned_.gate.weight > 0
    scores = metric.scores(graphs[0][:50])
    many, few = int(scores[:, 1].argmax()), int(scores[:, 0].argmax())
    found = metric.explain(graphs[0][many], graphs[0][few]).evidence
    assert (found.towards, found.against) == ("many", "few")
    assert found.change > 0
    elements = np.array([e for _, e in graphs[0][many].nodes(data="element")])
    assert found.source[elements == "O"].mean() > found.source[elements != "O"].mean()


def test_many_pairs_are_explained_as_single_ones(learned, graphs):
    pairs = [(0, 1), (5, 0), (60, 61), (3, 3)]
    for (i, j), found in zip(pairs, learned.explain_pairs(graphs[0], pairs), strict=True):
        alone = learned.explain(graphs[0][i], graphs[0][j])
        assert found.distance == pytest.approx(alone.distance, rel=1e-5)
        np.testing.assert_allclose(found.source_share, alone.source_share, atol=1e-6)
        np.testing.assert_allclose(found.plan, alone.plan, atol=1e-9)
        assert found.term_share == pytest.approx(alone.term_share, abs=1e-6)


def test_nodes_are_named_in_explanations(learned, graphs):
    one = nx.relabel_nodes(graphs[0][0], {n: f"atom {n}" for n in graphs[0][0]})
    why = learned.explain(one, graphs[0][1])
    assert why.node_names[0][0].startswith("atom ")
    assert "atom " in repr(why)


def test_two_graphs_without_edges_are_explained(with_edges):
    graphs, y = with_edges
    metric = gml.GraphMetric(features=["edge@0", "ends@0"], random_state=0, directed=False, **NAMES).fit(graphs, y)
    alone, pair = nx.empty_graph(1), nx.empty_graph(2)
    for graph in (alone, pair):
        nx.set_node_attributes(graph, "C", NAMES.get("label") or "label")
    why = metric.explain(alone, pair)
    assert np.isfinite(why.distance)
