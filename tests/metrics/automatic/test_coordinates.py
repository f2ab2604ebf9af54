import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

import graph_metric_learn as gml
from edge_graphs import read_rich, renumbered_networkx, rich_graph
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic import coordinates as module
from graph_metric_learn.metrics.automatic.coordinates import fit_coordinates, hashed
from graph_metric_learn.metrics.automatic.mixture import Describer, Mixture, part_of
from graph_metric_learn.metrics.automatic.recipes import Carried, recipes_for
from made_up_vectors import squares_of

WEIGHTS = {"trees": 0.4, "pairs": 0.3, "nodes, mean": 0.2, "nodes, density": 0.1}


def mixture_of(graphs, rows=None, weights=WEIGHTS):
    """The kernel on some of the graphs as landmarks, their descriptions, and those of all."""
    names = set(weights)
    recipes = {name: recipe for name, recipe in recipes_for(Carried.of(graphs)).items() if name in names}
    describer, described = Describer.fit(recipes, graphs, np.random.default_rng(0))
    landmarks = described if rows is None else part_of(described, rows)
    return Mixture.of(describer, weights, landmarks), landmarks, described


def placed(mixture, landmarks, described, n_axes, n_hashes):
    found = fit_coordinates(mixture, mixture.kernel(), landmarks, n_axes, n_hashes)
    return found, found.place(
        mixture.kernel(described), hashed(mixture, described, n_hashes), mixture.diagonal(described)
    )


def upper(matrix):
    return matrix[np.triu_indices(len(matrix), 1)]


@pytest.fixture(scope="module")
def elements():
    return gml.as_graphs(element_graphs(80, seed=6)[0], label="element")


def test_distances_among_landmarks_are_those_of_the_kernel(elements):
    """With all axes, and whether or not there are hashes: the squared distance is 2 − 2 k, of mean 1."""
    mixture, landmarks, described = mixture_of(elements)
    squares = 2.0 - 2.0 * mixture.kernel()
    for n_hashes in (0, 64):
        found, vectors = placed(mixture, landmarks, described, 79, n_hashes)
        assert vectors.dtype == np.float32
        assert vectors.shape == (80, found.width)
        np.testing.assert_allclose(squares_of(vectors), squares / squares.mean(), atol=0.01)
        assert squares_of(vectors).mean() == pytest.approx(1.0, abs=1e-3)


def test_fewer_axes_are_those_of_largest_variance(elements):
    mixture, landmarks, described = mixture_of(elements)
    kernel = mixture.kernel().astype(float)
    centred = kernel - kernel.mean(0) - kernel.mean(0)[:, None] + kernel.mean()
    values = np.linalg.eigvalsh(centred)[::-1]
    found, vectors = placed(mixture, landmarks, described, 10, 0)
    np.testing.assert_allclose((vectors**2).sum(0) * found.unit, values[:10], rtol=1e-3)
    few = found.first(4, 0)
    np.testing.assert_allclose(few.place(kernel, np.zeros((80, 0)), np.ones(80)), vectors[:, :4], atol=1e-5)
    assert found.first(50, 0).width == 10  # there are no more


@pytest.mark.parametrize("exact", [1500, 20])
def test_axes_of_many_landmarks_are_found_by_iteration(elements, monkeypatch, exact):
    monkeypatch.setattr(module, "_EXACT", exact)
    mixture, landmarks, described = mixture_of(elements)
    _, vectors = placed(mixture, landmarks, described, 12, 0)
    kernel = mixture.kernel().astype(float)
    centred = kernel - kernel.mean(0) - kernel.mean(0)[:, None] + kernel.mean()
    values, axes = np.linalg.eigh(centred)
    wanted = squares_of(axes[:, -12:] * np.sqrt(values[-12:]))
    assert np.corrcoef(upper(squares_of(vectors)), upper(wanted))[0, 1] > 0.99


def test_folded_hashes_are_those_of_fewer_places(elements):
    mixture, landmarks, described = mixture_of(elements, np.arange(30))
    whole, _ = placed(mixture, landmarks, described, 10, 64)
    _, wanted = placed(mixture, landmarks, described, 10, 16)
    names = {name: weight for name, weight in mixture.weights.items() if name in ("trees", "pairs")}
    counted, landmarks, described = mixture_of(elements, np.arange(30), names)
    whole, _ = placed(counted, landmarks, described, 10, 64)
    few, wanted = placed(counted, landmarks, described, 10, 16)
    folded = whole.first(10, 16)
    np.testing.assert_allclose(folded.rest, few.rest, atol=1e-5)
    vectors = folded.place(counted.kernel(described), hashed(counted, described, 16), counted.diagonal(described))
    found = vectors * np.sqrt(whole.unit / few.unit)
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert whole.first(10, 0).n_hashes == 0


def test_the_length_of_what_no_landmark_sees_is_kept(elements):
    """|φ(G) − centre|² is that of the kernel, for every graph."""
    mixture, landmarks, described = mixture_of(elements, np.arange(20))
    found, vectors = placed(mixture, landmarks, described, 19, 128)
    kernel = mixture.kernel(described).astype(float)
    wanted = 1.0 - 2.0 * kernel.mean(1) + mixture.kernel().mean()
    np.testing.assert_allclose((vectors.astype(float) ** 2).sum(1) * found.unit, wanted, atol=0.01)


def test_counts_that_grow_with_the_graph_are_placed(elements):
    """Their kernel has no constant diagonal: distances are those of the counts."""
    mixture, landmarks, described = mixture_of(elements, weights={"counts": 1.0})
    counts = described["counts"].sets[0]
    for rows, n_hashes in ((None, 0), (np.arange(12), 4096)):
        mixture, landmarks, described = mixture_of(elements, rows, weights={"counts": 1.0})
        counts = described["counts"].sets[0]
        found, vectors = placed(mixture, landmarks, described, 79, n_hashes)
        np.testing.assert_allclose(mixture.diagonal(described), (counts**2).sum(1), rtol=1e-6)
        squares = squares_of(counts)
        np.testing.assert_allclose(squares_of(vectors) * found.unit, squares, atol=0.02 * squares.max())


@pytest.mark.parametrize("name", ["trees", "pairs", "nodes, mean", "nodes, density", "counts"])
def test_products_of_hashes_are_about_the_kernel(elements, name):
    """Of a minmax kernel, the common part relative to the geometric mean of sizes, which is near by."""
    mixture, _, described = mixture_of(elements, weights={name: 1.0})
    found, kernel = hashed(mixture, described, 4096), mixture.kernel()
    products = found @ found.T
    assert np.diag(products).mean() == pytest.approx(1.0, abs=0.05)
    assert np.corrcoef(upper(products), upper(kernel))[0, 1] > 0.9


def chains(count, first, seed):
    """Two or three rings and paths in a row, each of eight motifs with a label of its own, from number `first` on."""
    rng, graphs = np.random.default_rng(seed), []
    for _ in range(count):
        graph = nx.Graph()
        for kind in np.minimum(rng.geometric(0.2, int(rng.integers(2, 4))), 8).tolist():
            motif, start = nx.cycle_graph(3 + kind % 4) if kind % 2 else nx.path_graph(2 + kind % 3), len(graph)
            graph.add_nodes_from((start + v, {"element": first + kind}) for v in motif)
            graph.add_edges_from((start + u, start + v) for u, v in motif.edges)
            if start:
                graph.add_edge(start - 1, start)
        graphs.append(graph)
    return graphs


def test_graphs_unlike_all_landmarks_have_distances():
    """They share no label with these, but some with each other: told by hashes, but not by landmarks alone."""
    graphs = gml.as_graphs([*chains(300, 0, 0), *chains(150, 100, 1)], label="element")
    mixture, landmarks, described = mixture_of(graphs, np.arange(300), {"trees": 0.4, "pairs": 0.4, "bare trees": 0.2})
    new = part_of(described, np.arange(300, 450))
    squares = upper(1.0 - Mixture.of(mixture.describer, mixture.weights, new).kernel())
    _, vectors = placed(mixture, landmarks, new, 256, 256)
    assert vectors.shape[1] <= 512
    assert spearmanr(upper(squares_of(vectors)), squares)[0] >= 0.9
    _, bare = placed(mixture, landmarks, new, 512, 0)
    assert spearmanr(upper(squares_of(bare)), squares)[0] < 0.7


# --- distances of a metric -------------------------------------------------------------------------------------------

RICH = [rich_graph(seed) for seed in range(30)]


@pytest.fixture(scope="module", params=["classes", "numbers", "none"])
def metric(request):
    y = {"classes": [len(graph) > 5 for graph in RICH], "numbers": [len(g) + 0.5 for g in RICH], "none": None}
    return gml.GraphMetric(random_state=0, n_components=24).fit(read_rich(RICH), y[request.param])


@settings(max_examples=10)
@given(st.integers(0, 2**31))
def test_it_is_a_metric_of_graphs_whatever_their_numbering(metric, seed):
    """d(G, G) = 0, symmetric, and the triangle inequality; for graphs seen and new."""
    rng = np.random.default_rng(seed)
    graphs = [RICH[i] for i in rng.permutation(30)[:5]] + [rich_graph(int(i)) for i in rng.integers(100, 10**6, 5)]
    others = [renumbered_networkx(graph, int(rng.integers(2**31))) for graph in graphs]
    distances = metric.pairwise_distances(read_rich(graphs))
    np.testing.assert_array_equal(distances, distances.T)
    assert (np.diag(distances) == 0).all()
    assert (distances >= 0).all()
    assert (distances[:, :, None] + distances[None] - distances[:, None] > -1e-5).all()
    assert np.diag(metric.pairwise_distances(read_rich(graphs), read_rich(others))).max() < 1e-3 * distances.max()


def test_counts_alone_do_not_depend_on_the_numbering_at_all():
    """Bit by bit."""
    graphs, y = element_graphs(40)
    metric = gml.GraphMetric(families=["trees", "pairs", "bare pairs"], label="element", random_state=0).fit(graphs, y)
    for seed in range(3):
        others = [renumbered_networkx(graph, seed + i) for i, graph in enumerate(graphs)]
        np.testing.assert_array_equal(metric.transform(others), metric.transform(graphs))
