from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from edge_graphs import NAMES, edge_graph
from element_graphs import element_graphs
from graph_metric_learn.embeddings import EMBEDDINGS, Mean
from graph_metric_learn.metrics.automatic.explaining import PREDICTED
from graph_metric_learn.metrics.automatic.mixture import part_of

SOME = {"label": "element", "random_state": 0, "families": ["trees", "pairs", "size", "codes, mean", "nodes, density"]}
PAIRS = [(0, 1), (2, 60), (61, 62)]


@pytest.fixture(scope="module")
def graphs():
    return element_graphs()


@pytest.fixture(scope="module", params=["numbers", "classes"])
def learned(request, graphs):
    """A metric with learned scores, of which several families have a part."""
    y = graphs[1][:50] if request.param == "numbers" else (graphs[1][:50] > np.median(graphs[1])).astype(int)
    metric = gml.GraphMetric(**SOME).fit(graphs[0][:50], y)
    assert metric.learned_.gate.weight > 0
    return metric


def sides(explanation):
    """Shares of the nodes and edges of both graphs, together."""
    edges = explanation.edge_source_share, explanation.edge_target_share
    nodes = explanation.source_share, explanation.target_share
    return [np.concatenate([n, np.zeros(0) if e is None else e]) for n, e in zip(nodes, edges, strict=True)]


def check(metric, one, two):
    """What every explanation must fulfil; returns it."""
    why = metric.explain(one, two)
    assert why.distance == pytest.approx(metric.pairwise_distances([one], [two])[0, 0], rel=1e-5)
    for whole in (*sides(why), list(why.term_share.values()), list(why.block_share.values())):
        assert sum(whole) == pytest.approx(1)
    assert min(why.term_share.values()) >= 0
    assert list(why.term_share.values()) == sorted(why.term_share.values(), reverse=True)
    np.testing.assert_allclose(why.plan.sum(1), 1 / len(one), atol=1e-6)
    np.testing.assert_allclose(why.plan.sum(0), 1 / len(two), atol=1e-6)
    check_evidence(metric, why, [one, two])
    return why


def check_evidence(metric, why, both):
    """Adds up to the difference of the scores, in the units of the targets."""
    if metric.learned_ is None or metric.learned_.width == 0:
        assert why.evidence is None
        return
    found, scores = why.evidence, metric.scores(both)
    if found.is_number:
        expected = (scores[0] - scores[1])[0] * metric.objective_.scale_[0]
    else:
        towards, against = scores.argmax(1)
        expected = scores[0, towards] - scores[1, towards]
        if towards != against:
            expected -= scores[0, against] - scores[1, against]
        assert found.towards == str(metric.classes_[towards])
        assert found.against == (None if towards == against else str(metric.classes_[against]))
    assert found.change == pytest.approx(expected, rel=1e-4, abs=1e-5)
    for nodes, edges, sign in ((found.source, found.edge_source, 1), (found.target, found.edge_target, -1)):
        total = nodes.sum() + (0 if edges is None else edges.sum())
        assert total == pytest.approx(sign * found.change, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("pair", PAIRS)
def test_families_have_the_shares_of_their_kernels(learned, graphs, pair):
    one, two = (graphs[0][i] for i in pair)
    why = check(learned, one, two)
    describer = learned.mixture_.describer
    described = describer.describe(learned.as_fitted(learned.read([one, two])))
    apart = {}
    for name, weight in learned.mixture_.weights.items():
        first, second = (part_of(described, np.array([i]))[name] for i in (0, 1))
        family = describer.families[name]
        apart[family.recipe.words] = weight * (1 - family.refer_to(first).kernel(second)[0, 0])
    vectors = learned.transform([one, two]).astype(float)
    width = learned.learned_.width
    squares = (vectors[0] - vectors[1]) ** 2
    assert why.term_share[PREDICTED] == pytest.approx(squares[:width].sum() / squares.sum(), rel=1e-3, abs=1e-6)
    for words, value in apart.items():
        expected = value / sum(apart.values()) * squares[width:].sum() / squares.sum()
        assert why.term_share[words] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert set(why.term_share) == {*apart, PREDICTED}


@pytest.mark.parametrize("pair", PAIRS)
def test_exchanging_the_graphs_exchanges_the_sides(learned, graphs, pair):
    one, two = (graphs[0][i] for i in pair)
    why, back = learned.explain(one, two), learned.explain(two, one)
    assert back.distance == pytest.approx(why.distance, rel=1e-6)
    np.testing.assert_allclose(back.source_share, why.target_share, atol=1e-5)
    np.testing.assert_allclose(back.target_share, why.source_share, atol=1e-5)
    np.testing.assert_allclose(back.plan, why.plan.T, atol=1e-9)
    assert back.term_share == pytest.approx(why.term_share, abs=1e-5)
    turned = 1 if why.evidence.against is None else -1  # it then is about the other class
    np.testing.assert_allclose(turned * back.evidence.source, why.evidence.target, atol=1e-4)


def test_equal_graphs_have_no_shares(learned, graphs):
    for other in (graphs[0][0], nx.relabel_nodes(graphs[0][0], {0: "last", **{i: i - 1 for i in range(1, 6)}})):
        why = learned.explain(graphs[0][0], other)
        assert why.distance == 0
        assert not any(side.any() for side in sides(why))
        assert set(why.term_share.values()) == {0.0}
        assert why.evidence.change == pytest.approx(0, abs=1e-5)


def test_a_graph_of_unknown_names_is_explained(learned, graphs):
    novel = nx.complete_graph(5)
    nx.set_node_attributes(novel, "Xe", "element")
    check(learned, novel, graphs[0][0])


def test_many_pairs_are_explained_as_single_ones(learned, graphs):
    pairs = [(0, 1), (5, 0), (60, 61), (3, 3)]
    for (i, j), found in zip(pairs, learned.explain_pairs(graphs[0], pairs), strict=True):
        alone = learned.explain(graphs[0][i], graphs[0][j])
        assert found.distance == pytest.approx(alone.distance, rel=1e-5)
        np.testing.assert_allclose(found.source_share, alone.source_share, atol=1e-5)
        np.testing.assert_allclose(found.plan, alone.plan, atol=1e-9)
        assert found.term_share == pytest.approx(alone.term_share, abs=1e-5)


# --- names, by hand --------------------------------------------------------------------------------------------------


def divided(carriers):
    """Shares of nodes [n], [m], from what names each graph has and at which nodes: tuples of nodes by name."""
    counts = [Counter({name: len(places) for name, places in side.items()}) for side in carriers]
    names = counts[0] | counts[1]
    shares = [Counter(), Counter()]
    for name in names:
        have = [counts[side][name] for side in (0, 1)]
        for side in (0, 1):
            gap = have[side] - have[1 - side]
            for places in carriers[side][name] if gap > 0 else ():
                for node in places:
                    shares[side][node] += gap / have[side] / len(places)
            shares[side]["all"] += max(-gap, 0)
    whole = sum(abs(counts[0][name] - counts[1][name]) for name in names)
    return shares, whole


def expected_of(carriers, sizes):
    shares, whole = divided(carriers)
    return [
        np.array([share[node] + share["all"] / n for node in range(n)]) / whole
        for share, n in zip(shares, sizes, strict=True)
    ]


class Places(dict):
    """Nodes by the name that they carry."""

    def __missing__(self, name):
        self[name] = []
        return self[name]


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_of_nodes_are_divided_as_by_hand(graphs, pair):
    metric = gml.GraphMetric(label="element", families=["pairs"], learn=False, random_state=0).fit(graphs[0][:50])
    both, carriers = [graphs[0][i] for i in pair], []
    for graph in both:
        element, lengths, places = (
            nx.get_node_attributes(graph, "element"),
            dict(nx.shortest_path_length(graph)),
            Places(),
        )
        for u, v in combinations(graph, 2):
            if v in lengths[u]:
                places[min(element[u], element[v]), max(element[u], element[v]), lengths[u][v]].append((u, v))
        carriers.append(places)
    why = check(metric, *both)
    for found, expected in zip(sides(why), expected_of(carriers, [len(graph) for graph in both]), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(why.plan, 1 / why.plan.size)  # nodes alone are not compared


@pytest.mark.parametrize("pair", PAIRS)
def test_trees_are_divided_as_by_hand(graphs, pair):
    metric = gml.GraphMetric(label="element", features=["trees@0"], learn=False, random_state=0).fit(graphs[0][:50])
    both = [graphs[0][i] for i in pair]
    carriers = []
    for graph in both:
        places = Places()
        for node, element in graph.nodes(data="element"):
            places[element].append((node,))
        carriers.append(places)
    why = check(metric, *both)
    for found, expected in zip(sides(why), expected_of(carriers, [len(graph) for graph in both]), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_levels_of_trees_are_blocks(graphs):
    metric = gml.GraphMetric(label="element", families=["trees"], learn=False, random_state=0).fit(graphs[0][:50])
    why = check(metric, *graphs[0][:2])
    assert set(why.block_share) == {f"trees@{depth}" for depth in range(5)}
    assert min(why.block_share.values()) >= 0


def test_a_node_that_only_one_graph_has_is_blamed(graphs):
    """A node that nobody is joined to: the trees of the others stay as they are."""
    metric = gml.GraphMetric(label="element", families=["trees"], learn=False, random_state=0).fit(graphs[0][:50])
    one = nx.cycle_graph(8)
    nx.set_node_attributes(one, "C", "element")
    two = one.copy()
    two.add_node("alone", element="O")
    why = check(metric, one, two)
    assert why.target_share[8] == pytest.approx(1)
    np.testing.assert_allclose(why.source_share, 1 / 8)


# --- what was learned ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"families": ["trees", "pairs"]}, {"features": ["labels@0"]}])
def test_evidence_points_at_the_node_that_carries_the_class(graphs, options):
    marked, y = [graph.copy() for graph in graphs[0]], np.array(["plain", "marked"])[np.arange(70) % 2]
    for graph in marked[1::2]:
        graph.nodes[2]["element"] = "X"
    metric = gml.GraphMetric(label="element", random_state=0, **options).fit(marked[:50], y[:50])
    assert metric.learned_.width > 0
    scores = metric.scores(marked)[:, 0]  # of "marked"
    for one, two in zip(scores.argsort()[-3:], scores.argsort(), strict=False):
        found = check(metric, marked[one], marked[two]).evidence
        assert (found.towards, found.against) == ("marked", "plain")
        assert found.change > 0
        assert found.source.argmax() == 2


def test_the_predicted_difference_is_shared_by_the_nodes(graphs):
    """With a metric that counts hardly anything else, shares are the evidence."""
    metric = gml.GraphMetric(**SOME).fit(graphs[0][:50], graphs[1][:50])
    metric.learned_.gate.weight = 1e6
    why = check(metric, *graphs[0][:2])
    assert why.term_share[PREDICTED] > 0.999
    np.testing.assert_allclose(why.source_share, why.evidence.source / why.evidence.change, atol=0.01)
    np.testing.assert_allclose(why.target_share, -why.evidence.target / why.evidence.change, atol=0.01)


def test_vectors_of_whole_graphs_lie_on_no_node(graphs):
    measured = [graph.copy() for graph in graphs[0]]
    for graph, value in zip(measured, graphs[1], strict=True):
        graph.graph["u"] = [float(value)]
    read = gml.as_graphs(measured, label="element", graph_attribute="u")
    metric = gml.GraphMetric(families=["vectors of graphs"], random_state=0).fit(read[:50], graphs[1][:50])
    why = metric.explain(read[:1], read[1:2])
    assert why.distance == pytest.approx(metric.pairwise_distances(read[:1], read[1:2])[0, 0], rel=1e-5)
    assert set(why.term_share) == {"vectors of whole graphs", PREDICTED}
    assert sum(why.term_share.values()) == pytest.approx(1)
    for side in (*sides(why), why.evidence.source, why.evidence.target):
        np.testing.assert_allclose(side, side.sum() / len(side))
    assert [side.sum() for side in sides(why)] == pytest.approx([1, 1])
    check_evidence(metric, why, read[:2])


def test_several_numbers_are_explained_by_the_one_that_differs_most(graphs):
    y = np.column_stack([graphs[1], [float(len(graph)) for graph in graphs[0]]])
    metric = gml.GraphMetric(**SOME).fit(graphs[0][:50], y[:50])
    sizes = [len(graph) for graph in graphs[0]]
    why = metric.explain(graphs[0][int(np.argmax(sizes))], graphs[0][int(np.argmin(sizes))])
    assert why.evidence.towards in ("number 1", "number 2")
    assert why.evidence.source.sum() == pytest.approx(why.evidence.change)
    assert sum(why.term_share.values()) == pytest.approx(1)


@pytest.mark.parametrize("n_components", [6, None])
def test_shares_add_up_in_few_and_in_all_coordinates(graphs, n_components):
    metric = gml.GraphMetric(**SOME, n_components=n_components).fit(graphs[0][:50], graphs[1][:50])
    for i, j in PAIRS:
        check(metric, graphs[0][i], graphs[0][j])


# --- edges -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("families", ["auto", ["edges as roots", "edges, mean"]])
def test_shares_of_nodes_and_edges_are_of_one_whole(directed, families):
    graphs = [edge_graph(seed, directed=directed) for seed in range(40)]
    y = None if families == "auto" else [sum(k == "s" for *_, k in g.edges(data="kind")) + 0.5 for g in graphs]
    metric = gml.GraphMetric(random_state=0, directed=directed, families=families, **NAMES).fit(graphs, y)
    why = check(metric, graphs[0], graphs[1])
    assert [ends.shape[1] for ends in why.edge_ends] == [graphs[i].number_of_edges() for i in (0, 1)]
    assert why.edge_source_share.any()
    assert why.source_share.any() == (families == "auto")
    if y is not None:
        assert metric.learned_.width > 0
        assert why.evidence.edge_source.any()
        assert len(why.evidence.edge_target) == len(why.edge_target_share)


@pytest.mark.parametrize("features", [["edge@0", "ends@0"], ["edge_trees@0"], ["around@0"]])
def test_edges_are_blamed_where_edges_are_compared(features):
    graphs = [edge_graph(seed) for seed in range(50)]
    metric = gml.GraphMetric(features=features, random_state=0, directed=False, **NAMES).fit(graphs)
    why = check(metric, graphs[0], graphs[1])
    if features == ["around@0"]:
        assert why.edge_ends is None
        return
    assert (why.source_share == 0).all()
    assert why.edge_ends[0].shape[1] == len(why.edge_source_share)
    np.testing.assert_allclose(why.plan, 1 / why.plan.size)


def test_the_edge_that_differs_is_named():
    ring = nx.cycle_graph(8)
    nx.set_edge_attributes(ring, 1.0, "length")
    other = ring.copy()
    other.edges[3, 4]["length"] = 5.0
    metric = gml.GraphMetric(features=["edge@0"], embedding="axes", edge_attribute="length", random_state=0)
    why = metric.fit([ring, other] * 5, [0, 1] * 5).explain(ring, other)
    assert why.edge_ends[1][:, why.edge_target_share.argmax()].tolist() == [3, 4]


def test_the_edge_with_another_label_is_named():
    ring = nx.cycle_graph(8)
    nx.set_edge_attributes(ring, "single", "kind")
    other = ring.copy()
    other.edges[3, 4]["kind"] = "double"
    metric = gml.GraphMetric(families=["edges as roots"], edge_label="kind", random_state=0)
    why = metric.fit([ring, other] * 5, [0, 1] * 5).explain(ring, other)
    assert why.edge_ends[1][:, why.edge_target_share.argmax()].tolist() == [3, 4]


def test_graphs_without_edges_are_explained():
    graphs = [edge_graph(seed) for seed in range(40)]
    metric = gml.GraphMetric(random_state=0, directed=False, **NAMES).fit(graphs)
    alone, pair = nx.empty_graph(1), nx.empty_graph(2)
    for graph in (alone, pair):
        nx.set_node_attributes(graph, "C", "element")
    why = check(metric, alone, pair)
    assert np.isfinite(why.distance)


# --- vectors of clouds, blocks ---------------------------------------------------------------------------------------


def test_the_node_that_differs_is_named():
    path = nx.path_graph(8)
    nx.set_node_attributes(path, {i: [0.0] for i in path}, "x")
    other = path.copy()
    other.nodes[3]["x"] = [5.0]
    for embedding in ("reference", "density", "axes"):
        metric = gml.GraphMetric(features=["attributes@0"], embedding=embedding, random_state=0)
        assert metric.fit([path, other] * 5, [0, 1] * 5).explain(path, other).target_share.argmax() == 3


@pytest.mark.parametrize("embedding", ["mean", "reference", "density", "axes", "counts", "histogram"])
def test_shares_of_blocks_add_up_and_are_those_of_the_columns(graphs, embedding):
    blocks = ["trees@0", "trees@1"] if embedding in ("counts", "histogram") else ["labels@0", "degree@0", "wl@1"]
    metric = gml.GraphMetric(features=blocks, embedding=embedding, label="element", random_state=0)
    metric.fit(graphs[0][:40])
    why = check(metric, *graphs[0][50:52])
    assert set(why.block_share) == set(blocks)
    if embedding == "mean":  # by hand: the mean of a block is its part of the vector
        read = metric.mixture_.describer.read(metric.as_fitted(metric.read(graphs[0][50:52])))
        first = len(graphs[0][50])
        squares = {name: ((read[name][:first].mean(0) - read[name][first:].mean(0)) ** 2).sum() for name in blocks}
        for name, share in why.block_share.items():
            assert share == pytest.approx(squares[name] / sum(squares.values()), rel=1e-3)


@pytest.mark.parametrize("embedding", ["reference", "density"])
def test_blocks_that_were_learned_from_have_shares(graphs, embedding):
    metric = gml.GraphMetric(
        features=["labels@0", "degree@0", "wl@1"], embedding=embedding, label="element", random_state=0
    )
    metric.fit(graphs[0][:40], graphs[1][:40])
    metric.learned_.gate.weight = 1.0
    check(metric, *graphs[0][50:52])


def test_rings_of_equal_nodes_are_explained():
    rings = [nx.cycle_graph(n) for n in range(3, 24)]
    for ring in rings:
        nx.set_node_attributes(ring, {v: [float(len(ring) % 3)] for v in ring}, "x")
    metric = gml.GraphMetric(features=["attributes@0", "degree@0"], embedding="density", learn=False, random_state=0)
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
    assert metric.explain(*graphs[0][50:52]).block_share == pytest.approx(dict.fromkeys(blocks, 0.5))


@pytest.mark.parametrize("embedding", ["mean", "density"])
def test_a_block_that_does_not_differ_has_no_share(embedding):
    path = nx.path_graph(6)
    nx.set_node_attributes(path, {i: [float(i)] for i in path}, "x")
    other = path.copy()
    other.nodes[5]["x"] = [9.0]
    features = ["attributes@0", "degree@0"]
    metric = gml.GraphMetric(features=features, embedding=embedding, random_state=0, learn=False)
    why = metric.fit([path, other] * 5, [0, 1] * 5).explain(path, other)
    assert why.block_share["attributes@0"] == pytest.approx(1, abs=1e-3 if embedding == "mean" else 0.1)


def test_nodes_are_named_in_explanations(learned, graphs):
    one = nx.relabel_nodes(graphs[0][0], {n: f"atom {n}" for n in graphs[0][0]})
    why = learned.explain(one, graphs[0][1])
    assert why.node_names[0][0].startswith("atom ")
    assert "atom " in repr(why)
