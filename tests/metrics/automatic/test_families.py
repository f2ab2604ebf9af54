from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graph_metric_learn as gml
from edge_graphs import read_rich, renumbered_networkx, rich_graph
from element_graphs import element_graphs
from graph_metric_learn.features.blocks import NodeBlocks
from graph_metric_learn.metrics.automatic import families as module
from graph_metric_learn.metrics.automatic.families import Counts, Points
from graph_metric_learn.metrics.automatic.mixture import Describer, part_of, stacked
from graph_metric_learn.metrics.automatic.recipes import FAMILIES, Carried, Recipe, recipes_for
from made_up_vectors import single_nodes, squares_of

RICH = [rich_graph(seed) for seed in range(24)]


def fitted(graphs, recipes=None):
    """All families that graphs can have, with these as references, and the descriptions of these."""
    recipes = recipes_for(Carried.of(graphs)) if recipes is None else recipes
    describer, described = Describer.fit(recipes, graphs, np.random.default_rng(0))
    return describer, {name: one.refer_to(described[name]) for name, one in describer.families.items()}, described


@pytest.fixture(scope="module")
def rich():
    return (read_rich(RICH), *fitted(read_rich(RICH)))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_a_kernel(rich, name):
    """1 for a graph and itself, or on average; symmetric, positive semidefinite, and it tells some graphs apart."""
    _, _, families, described = rich
    kernel = families[name].kernel()
    assert kernel.dtype == np.float32
    np.testing.assert_allclose(np.diag(kernel), families[name].diagonal(described[name]), atol=1e-6)
    if name == "counts":
        assert np.diag(kernel).mean() == pytest.approx(1.0)
    else:
        np.testing.assert_allclose(np.diag(kernel), 1.0, atol=1e-6)
        assert kernel.min() >= 0
    np.testing.assert_allclose(kernel, kernel.T, atol=1e-6)
    assert np.linalg.eigvalsh(kernel.astype(float)).min() > -1e-5
    assert kernel.min() < 0.9
    np.testing.assert_allclose(families[name].kernel(described[name]), kernel, atol=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_new_graphs_are_compared_as_if_they_had_been_there(rich, name):
    """Descriptions depend on the graph alone, whatever its company; references come back as they were given."""
    graphs, describer, families, described = rich
    again = describer.only([name]).describe(graphs[5:9])
    np.testing.assert_allclose(families[name].kernel(again[name]), families[name].kernel()[5:9], atol=1e-6)
    back = families[name].references()
    np.testing.assert_array_equal(families[name].kernel(back), families[name].kernel(described[name]))
    few = families[name].refer_to(described[name].part(np.array([3, 11])))
    np.testing.assert_allclose(few.kernel(described[name]), families[name].kernel()[:, [3, 11]], atol=1e-6)


@settings(max_examples=8)
@given(st.integers(0, 2**31))
def test_renumbering_changes_nothing(rich, seed):
    """Bit by bit where names are counted; where numbers are added up, to rounding."""
    _, describer, families, described = rich
    others = describer.describe(read_rich([renumbered_networkx(graph, seed + i) for i, graph in enumerate(RICH)]))
    for name, family in families.items():
        found, wanted = family.kernel(others[name]), family.kernel(described[name])
        if isinstance(described[name], Counts):
            np.testing.assert_array_equal(found, wanted, err_msg=name)
        else:
            np.testing.assert_allclose(found, wanted, atol=1e-6, err_msg=name)


@settings(max_examples=8)
@given(st.integers(0, 2**31))
def test_densities_and_means_of_labels_do_not_depend_on_the_numbering(seed):
    """To 1e-6, as features of labels and structure are small."""
    graphs, _ = element_graphs(20, seed=3)
    given_graphs = gml.as_graphs(graphs, label="element")
    describer, families, described = fitted(given_graphs)
    moved = gml.as_graphs([renumbered_networkx(graph, seed + i) for i, graph in enumerate(graphs)], label="element")
    others = describer.describe(moved)
    for name, family in families.items():
        np.testing.assert_allclose(family.kernel(others[name]), family.kernel(described[name]), atol=1e-6, err_msg=name)


# --- counts ----------------------------------------------------------------------------------------------------------


def minmax(one, two):
    total = sum((one | two).values())
    return sum((one & two).values()) / total if total else 1.0


def test_trees_are_compared_by_minima_and_maxima_of_counts():
    """The mean over cumulative levels, graph by graph and name by name."""
    graphs = gml.as_graphs(element_graphs(10)[0], label="element")
    names = [f"trees@{level}" for level in range(5)]
    blocks = NodeBlocks().fit(graphs, names).transform(graphs)
    ends = np.cumsum(graphs.sizes)
    bags = [  # of each graph, by last level
        [Counter((i, n) for i in range(last + 1) for n in blocks[i][end - size : end, 0]) for last in range(5)]
        for end, size in zip(ends, graphs.sizes, strict=True)
    ]
    _, families, _ = fitted(graphs)
    found = families["trees"].kernel()
    wanted = [[np.mean([minmax(one[last], two[last]) for last in range(1, 5)]) for two in bags] for one in bags]
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_pairs_are_compared_by_labels_and_shortest_paths():
    """Paths of up to eight edges, by networkx."""
    graphs, _ = element_graphs(12, seed=1)
    graphs += [nx.path_graph(12), nx.empty_graph(2)]
    for graph in graphs[-2:]:
        nx.set_node_attributes(graph, "C", "element")

    def bag(graph, label):
        elements, lengths = nx.get_node_attributes(graph, "element"), dict(nx.all_pairs_shortest_path_length(graph))
        pairs = [(u, v) for u, v in combinations(graph, 2) if lengths[u].get(v, 99) <= 8]
        return Counter((lengths[u][v], *(sorted([elements[u], elements[v]]) if label else ())) for u, v in pairs)

    _, families, _ = fitted(gml.as_graphs(graphs, label="element"))
    for name, label in (("pairs", True), ("bare pairs", False)):
        bags = [bag(graph, label) for graph in graphs]
        wanted = [[minmax(one, two) for two in bags] for one in bags]
        np.testing.assert_allclose(families[name].kernel(), wanted, atol=1e-6)


def test_counts_are_multiplied():
    """Of nodes by label and by degree, less their means; others of new graphs do not count."""
    graphs = element_graphs(20)[0]
    _, families, described = fitted(gml.as_graphs(graphs, label="element"))

    def table(graphs):
        kinds = [nx.get_node_attributes(graph, "element").values() for graph in graphs]
        degrees = [dict(graph.degree).values() for graph in graphs]
        labels = [[list(own).count(letter) for letter in "CNO"] for own in kinds]
        return np.hstack([labels, [[list(own).count(degree) for degree in range(12)] for own in degrees]]).astype(float)

    counts = table(graphs) - table(graphs).mean(0)
    wanted = counts @ counts.T / (counts**2).sum(1).mean()
    np.testing.assert_allclose(families["counts"].kernel(), wanted, atol=1e-5)
    np.testing.assert_allclose(families["counts"].kernel(described["counts"]), wanted, atol=1e-5)


def test_a_graph_that_has_nothing_to_count_is_like_its_own_kind_alone():
    graphs = gml.as_graphs([nx.empty_graph(1), nx.empty_graph(1), nx.path_graph(3)])
    _, families, described = fitted(graphs)
    for kernel in (families["pairs"].kernel(), families["pairs"].kernel(described["pairs"])):
        np.testing.assert_array_equal(kernel, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


def test_parts_of_descriptions_and_several_together(rich):
    graphs, describer, families, described = rich
    rows = np.array([7, 2, 19])
    for name, one in part_of(described, rows).items():
        np.testing.assert_allclose(families[name].kernel(one), families[name].kernel()[rows], atol=1e-6)
    pieces = [describer.describe(graphs[start : start + 10]) for start in (0, 10, 20)]
    whole = stacked(pieces)
    for name, one in whole.items():
        assert len(one) == len(graphs)
        np.testing.assert_allclose(families[name].kernel(one), families[name].kernel(described[name]), atol=1e-6)


# --- vectors ---------------------------------------------------------------------------------------------------------


def family_of_points(vectors, *sets):
    graphs = gml.as_graphs(single_nodes(vectors))
    recipe = Recipe("points", sets or (("attributes@0",),), "mean", "points")
    _, families, described = fitted(graphs, {"points": recipe})
    return families["points"], described["points"]


def test_vectors_are_compared_on_the_scale_of_their_median_distance(rng):
    """exp(−d² / median), whatever units the attributes have."""
    vectors = rng.normal(size=(40, 3))
    for unit in (1.0, 1e-4, 1e4):
        squares = squares_of(vectors / vectors.std(0))
        wanted = np.exp(-squares / np.median(squares[~np.eye(40, dtype=bool)]))
        family, _ = family_of_points(unit * vectors)
        np.testing.assert_allclose(family.kernel(), wanted, atol=1e-4)


def test_the_kernel_is_the_mean_over_sets_of_blocks():
    graphs = gml.as_graphs([nx.path_graph(n) for n in range(2, 9)] + [nx.star_graph(n) for n in range(3, 9)])
    sets = (("degree@0",), ("degree@0", "degree@1"), ("size@0",))
    recipes = {f"{i}": Recipe("x", (one,), "mean", "x") for i, one in enumerate(sets)}
    _, families, _ = fitted(graphs, recipes | {"all": Recipe("x", sets, "mean", "x")})
    wanted = np.mean([families[name].kernel() for name in recipes], axis=0)
    np.testing.assert_allclose(families["all"].kernel(), wanted, atol=1e-5)


def test_graphs_that_are_mostly_alike_have_a_scale_nonetheless():
    vectors = np.zeros((50, 1))
    vectors[:3, 0] = (1.0, 2.0, 3.0)
    family, _ = family_of_points(vectors)
    assert 0 < family.scales[0] < np.inf
    assert 0 < family.kernel().min() < 0.5
    constant, _ = family_of_points(np.ones((5, 2)))
    assert constant.scales[0] == 1.0
    np.testing.assert_array_equal(constant.kernel(), np.ones((5, 5)))


def test_many_columns_are_reduced_to_principal_components(monkeypatch):
    graphs = gml.as_graphs(element_graphs(20)[0], label="element")
    recipe = {"codes": Recipe("x", (("wl@0", "wl@1", "wl@2", "wl@3", "degree@0"),), "mean", "x")}
    _, families, _ = fitted(graphs, recipe)
    assert families["codes"].points.sets[0].shape[1] == module.MAX_COLUMNS == 96
    monkeypatch.setattr(module, "MAX_COLUMNS", 10**6)
    _, whole, _ = fitted(graphs, recipe)
    assert whole["codes"].points.sets[0].shape[1] > 96
    np.testing.assert_allclose(families["codes"].kernel(), whole["codes"].kernel(), atol=0.01)


def test_the_scale_is_of_a_sample_of_many(monkeypatch, rng):
    vectors = rng.normal(size=(60, 2))
    whole, _ = family_of_points(vectors)
    monkeypatch.setattr(module, "_SCALED_ON", 20)
    some, _ = family_of_points(vectors)
    assert some.scales[0] != whole.scales[0]
    assert some.scales[0] == pytest.approx(whole.scales[0], rel=0.5)


@pytest.mark.parametrize("embedding", ["histogram", "counts"])
def test_embeddings_of_names_are_sparse_vectors(embedding):
    graphs = gml.as_graphs(element_graphs(15)[0], label="element")
    recipe = Recipe("trees", (("trees@0", "trees@1"),), embedding, "trees")
    describer, families, described = fitted(graphs, {"trees": recipe})
    assert isinstance(described["trees"], Points)
    kernel = families["trees"].kernel()
    np.testing.assert_allclose(np.diag(kernel), 1.0, atol=1e-6)
    both = stacked([describer.describe(graphs[:7]), describer.describe(graphs[7:])])
    np.testing.assert_allclose(families["trees"].kernel(both["trees"]), kernel, atol=1e-5)
    np.testing.assert_allclose(families["trees"].kernel(both["trees"].part(np.array([4]))), kernel[4:5], atol=1e-5)
