import grakel
import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment
from torch_geometric.data import Data

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn_reproduction.baselines import HGKSP, PROPAK, WLOA, kernels
from graph_metric_learn_reproduction.baselines.base import normalized
from graph_metric_learn_reproduction.baselines.structure import node_labels, per_graph
from graph_metric_learn_reproduction.baselines.wl import wl_labels
from small_graphs import path, random_graphs


def for_grakel(graphs, values):
    parts = per_graph(as_graphs(graphs), values)
    return [(a.astype(int), dict(enumerate(part.tolist()))) for (a, _), part in zip(graphs, parts, strict=True)]


@pytest.fixture
def labelled(rng):
    return random_graphs(rng, 12, kind="labels", smallest=2)


@pytest.fixture
def attributed(rng):
    return random_graphs(rng, 12, smallest=2)


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("normalize", [False, True])
def test_wl_oa_is_that_of_grakel(labelled, depth, normalize):
    given = for_grakel(labelled, node_labels(as_graphs(labelled)))
    expected = grakel.WeisfeilerLehmanOptimalAssignment(n_iter=depth, normalize=normalize).fit_transform(given)
    np.testing.assert_allclose(WLOA(depth=depth, normalize=normalize).kernel(labelled), expected)


def test_propak_of_labels_is_that_of_grakel(labelled):
    given = for_grakel(labelled, node_labels(as_graphs(labelled)))
    expected = grakel.Propagation(t_max=4, w=1e-5, random_state=3).fit_transform(given)
    np.testing.assert_allclose(PROPAK(iterations=3, normalize=False, seed=3).kernel(labelled), expected)
    np.testing.assert_allclose(PROPAK(iterations=3, seed=3).kernel(labelled), normalized(expected))


def test_propak_of_attributes_is_that_of_grakel(attributed):
    given = for_grakel(attributed, as_graphs(attributed).x.astype(float))
    expected = grakel.PropagationAttr(t_max=2, w=2.0, random_state=3).fit_transform(given)
    found = PROPAK(iterations=1, width=2.0, normalize=False, seed=3).kernel(attributed)
    np.testing.assert_allclose(found, expected)
    assert np.count_nonzero(found - np.diag(np.diag(found))) > 0


def paths_and_nodes(graphs, labels):
    """GraKeL's shortest-path kernel, which has no pairs of a node and itself, and these."""
    with np.errstate(invalid="ignore"):  # graphs without edges have no paths
        kernel = grakel.ShortestPath(normalize=False).fit_transform(for_grakel(graphs, labels))
    counts = [[np.sum(part == label) for label in np.unique(labels)] for part in per_graph(as_graphs(graphs), labels)]
    return kernel + np.array(counts) @ np.transpose(counts)


def test_hgk_sp_is_the_sum_of_grakels_kernels_of_hashed_attributes(attributed):
    x = as_graphs(attributed).x.astype(float)
    rng = np.random.default_rng(5)
    total = 0.0
    for _ in range(3):
        direction, shift = rng.normal(size=3), rng.uniform(0, 0.7)
        total += paths_and_nodes(attributed, np.floor((x @ direction + shift) / 0.7).astype(int))
    system = HGKSP(iterations=3, width=0.7, seed=5)
    np.testing.assert_allclose(system.kernel(attributed), normalized(total))


def test_hgk_sp_compares_labels_as_they_are(labelled):
    expected = paths_and_nodes(labelled, node_labels(as_graphs(labelled)))
    np.testing.assert_allclose(HGKSP(iterations=5, width=100.0).kernel(labelled), normalized(expected))


def test_hgk_sp_hashes_numbers_beside_labels():
    """With one wide bin the numbers do not count, with narrow bins they do; labels do in both."""
    one, two = np.array([[1, 0, 0.3], [0, 1, 0.4]]), np.array([[1, 0, 0.6], [0, 1, 0.9]])
    other = one[:, [0, 0, 2]]
    graphs = [(path(2), x) for x in (one, two, other)]
    wide, narrow = (HGKSP(iterations=30, width=width).kernel(graphs) for width in (1e6, 0.1))
    assert wide[0, 1] == pytest.approx(1)
    assert narrow[0, 1] < 0.9
    assert wide[0, 2] < 0.9


def bonded(rng, count=6):
    """PyG graphs with one-hot node features and, as edge_attr, one-hot labels of edges."""
    graphs = []
    for adjacency, x in random_graphs(rng, count, kind="labels", smallest=3):
        upper = np.array(np.triu(adjacency).nonzero())
        bonds = np.eye(2)[rng.integers(0, 2, upper.shape[1])]
        edges = torch.from_numpy(np.concatenate([upper, upper[::-1]], axis=1))
        bonds = torch.from_numpy(np.concatenate([bonds, bonds]))
        graphs.append(Data(x=torch.from_numpy(x), edge_index=edges, edge_attr=bonds))
    return graphs


def test_wl_oa_with_bonds_is_the_optimal_assignment(rng):
    """The kernel of two nodes is the number of levels at which they agree; the best matching has the largest sum."""
    graphs = bonded(rng)
    labels = per_graph(as_graphs(graphs), wl_labels(as_graphs(graphs), 2, edges=True))
    expected = np.zeros((6, 6))
    for i, one in enumerate(labels):
        for j, other in enumerate(labels):
            agree = (one[:, None] == other[None]).sum(2)
            expected[i, j] = agree[linear_sum_assignment(agree, maximize=True)].sum()
    found = WLOA(depth=2, normalize=False, edges=True).kernel(graphs)
    np.testing.assert_array_equal(found, expected)
    assert (found < WLOA(depth=2, normalize=False).kernel(graphs)).any()


def test_bonds_and_weights_count_only_if_asked_for(rng):
    graphs = bonded(rng)
    plain = [Data(x=graph.x, edge_index=graph.edge_index) for graph in graphs]
    np.testing.assert_array_equal(WLOA().kernel(graphs), WLOA().kernel(plain))
    for graph in graphs:
        graph.edge_weight = graph.edge_attr @ torch.tensor([1.5, 3.0], dtype=torch.float64)
    np.testing.assert_array_equal(HGKSP().kernel(graphs), HGKSP().kernel(plain))
    for system in (WLOA(edges=True), HGKSP(edges=True)):
        with pytest.raises(ValueError, match="edges=True, but the edges have no"):
            system.kernel(plain)


def test_hgk_sp_with_whole_weights_is_that_of_grakel(rng):
    graphs = []
    for adjacency, x in random_graphs(rng, 8, kind="labels", smallest=4):
        upper = np.triu(adjacency * rng.integers(1, 4, adjacency.shape))
        graphs.append((upper + upper.T, x))
    expected = paths_and_nodes(graphs, node_labels(as_graphs(graphs)))
    np.testing.assert_allclose(HGKSP(edges=True).kernel(graphs), normalized(expected))
    assert not np.allclose(HGKSP(edges=True).kernel(graphs), HGKSP().kernel(graphs))


def test_hgk_sp_hashes_lengths_that_are_no_whole_numbers():
    """Three paths of a single edge: the share of bins in common falls with the difference of the lengths."""
    graphs = [(path(2) * length, np.eye(2)) for length in (1.0, 1.1, 2.5)]
    kernel = HGKSP(iterations=200, width=1.0, edges=True).kernel(graphs)
    spread = np.std([1.0, 1.0, 1.1, 1.1, 2.5, 2.5])
    shared = np.maximum(0, 1 - np.abs(np.subtract.outer([1, 1.1, 2.5], [1, 1.1, 2.5])) / spread)
    # two nodes with themselves and two ordered pairs, of which a share is common
    np.testing.assert_allclose(kernel, (2 + 2 * shared) / 4, atol=0.05)


def test_hgk_sp_follows_directions():
    arrow, both = np.array([[0, 1], [0, 0]]), path(2)
    graphs = [(arrow, np.eye(2)), (arrow.T, np.eye(2)), (both, np.eye(2))]
    kernel = HGKSP(edges=True).kernel(graphs)  # nodes 2; pairs 1, 1 and 2
    root = np.sqrt(3 * 4)
    np.testing.assert_allclose(kernel, [[1, 2 / 3, 3 / root], [2 / 3, 1, 3 / root], [3 / root, 3 / root, 1]])


def test_equal_graphs_without_edges_are_alike():
    kernel = HGKSP().kernel([(np.zeros((2, 2)), np.eye(2))] * 2)
    np.testing.assert_allclose(kernel, 1.0)


@pytest.mark.parametrize("system", [WLOA(), WLOA(normalize=False), PROPAK(), HGKSP(iterations=4)])
@pytest.mark.parametrize("kind", ["labels", "attributes"])
def test_kernels_are_positive_semidefinite(system, kind, rng):
    kernel = system.kernel(random_graphs(rng, 25, kind=kind))
    assert (kernel == kernel.T).all()
    assert np.linalg.eigvalsh(kernel)[0] > -1e-9 * kernel.max()
    if not (system.name == "wl-oa" and kind == "attributes"):  # no two rows are equal: no two nodes match
        assert np.ptp(kernel - np.diag(np.diag(kernel))) > 0


@pytest.mark.parametrize("system", [WLOA(), PROPAK(), HGKSP(iterations=4)])
def test_kernels_see_labels_and_edges(system):
    edges, fewer = path(4), path(4)
    fewer[0, 1] = fewer[1, 0] = 0
    x, other = np.eye(2)[[0, 1, 0, 1]], np.eye(2)[[0, 0, 1, 1]]
    kernel = system.kernel([(edges, x), (edges, x), (edges, other), (fewer, x)])
    np.testing.assert_allclose(kernel[0, 1], 1.0)
    assert kernel[0, 2] < 1 - 1e-6
    assert kernel[0, 3] < 1 - 1e-6


def test_seeds_are_local_and_matter(attributed):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for system in (HGKSP, PROPAK):
        assert (
            system(iterations=2, seed=1).kernel(attributed) == system(iterations=2, seed=1).kernel(attributed)
        ).all()
        assert (
            system(iterations=2, seed=1).kernel(attributed) != system(iterations=2, seed=2).kernel(attributed)
        ).any()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_the_time_of_hgk_sp_is_estimated_and_the_others_are_quick(attributed, ticking_clock):
    """One tick for one hash of the sample, scaled by the 20 hashes and the pairs of nodes."""
    ticking_clock(kernels)
    squares = as_graphs(attributed).sizes ** 2
    assert HGKSP().estimate_seconds(attributed, pairs=12) == 20
    some = np.random.default_rng(0).permutation(12)[:5]
    assert HGKSP().estimate_seconds(attributed, pairs=5) == pytest.approx(20 * squares.sum() / squares[some].sum())
    assert PROPAK().estimate_seconds(attributed) is None
    assert WLOA().estimate_seconds(attributed) is None


def test_hgk_sp_shows_its_progress_when_asked(attributed, capsys):
    HGKSP(iterations=2).kernel(attributed, progress=True)
    assert "2/2" in capsys.readouterr().err
