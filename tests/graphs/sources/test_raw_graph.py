import numpy as np
import pytest
import torch
from scipy import sparse

from graph_metric_learn.graphs import as_graphs
from graph_metric_learn.graphs.sources.raw_graph import (
    Names,
    as_numpy,
    checked_rows,
    checked_weights,
    first_text,
    labels_and_vectors,
)


def test_names_of_node_labels():
    assert Names().labels == ("node_labels", "label")
    assert Names(label="element").labels == ("element",)


@pytest.mark.parametrize(
    "given",
    [
        [[1.0, 2.0]],
        torch.tensor([[1.0, 2.0]], requires_grad=True),
        sparse.csr_array([[1.0, 2.0]]),
        np.array([[1.0, 2.0]]),
    ],
)
def test_arrays_of_any_kind(given):
    found = as_numpy(given)
    assert type(found) is np.ndarray
    assert found.tolist() == [[1, 2]]


def test_nothing_stays_nothing():
    assert as_numpy(None) is None
    assert checked_rows(None, 3, "graph 0", "edge_attr") is None


def test_the_first_text_that_says_something():
    assert first_text(None, "  ", 3, "one", "two") == "one"
    assert type(first_text(np.str_("one"))) is str
    assert first_text(np.zeros(2), ["one"]) is first_text() is None


def test_vectors_of_whole_numbers_are_labels_if_there_are_no_others():
    whole, real = np.array([1, 2]), np.array([1.0, 2.0])
    assert labels_and_vectors(None, whole) == (whole, None)
    assert labels_and_vectors(None, real) == (None, real)
    assert labels_and_vectors(real, whole) == (real, whole)
    assert labels_and_vectors(None, None) == (None, None)


def test_rows_of_edges():
    assert checked_rows(np.arange(3), 3, "graph 0", "edge_attr").tolist() == [[0], [1], [2]]
    assert checked_rows(np.zeros((0, 4)), 0, "graph 0", "edge_attr").shape == (0, 4)
    assert checked_rows(np.zeros(0), 0, "graph 0", "edge_attr").shape == (0, 1)
    for bad in (np.zeros(2), np.zeros((2, 3)), np.zeros((3, 1, 1)), np.float64(1)):
        with pytest.raises(ValueError, match=r"graph 4 has edge_attr of shape .* for 3 edges"):
            checked_rows(bad, 3, "graph 4", "edge_attr")


def test_weights_of_edges():
    found = checked_weights(np.array([[1], [-2]]), 2, "graph 0")
    assert found.tolist() == [1.0, -2.0]
    assert found.dtype == np.float64
    for bad in ([1.0], [1.0, np.nan], [1.0, np.inf], [[1.0, 2.0], [3.0, 4.0]]):
        with pytest.raises(ValueError, match="graph 4 has edge weights that are not one finite number per edge"):
            checked_weights(bad, 2, "graph 4")
    with pytest.raises(ValueError, match="graph 4 has edge weights that are not numbers"):
        checked_weights(["heavy", "light"], 2, "graph 4")


def test_weights_of_hundreds_of_digits_are_refused():
    with pytest.raises(ValueError, match="edge weights beyond"):
        checked_weights([1, 10**400], 2, "graph 0")


# Signed weights, a self-loop, an isolated node.
SIGNED = np.array([[9.0, -0.5, 0, 0], [-0.5, 0, 2.0, 0], [0, 2.0, 0, 0], [0, 0, 0, 0]])

KINDS = {
    "array": np.array,
    "csr": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_matrix,
    "coo_array": sparse.coo_array,
    "lil": sparse.lil_matrix,
    "dok": sparse.dok_matrix,
    "bsr": sparse.bsr_array,
    "torch": lambda a: torch.tensor(a, requires_grad=a.dtype.kind == "f"),
    "torch coo": lambda a: torch.tensor(a).to_sparse(),
    "torch csr": lambda a: torch.tensor(a).to_sparse_csr(),
}


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_weights_whatever_holds_them(kind):
    graphs = as_graphs([(KINDS[kind](SIGNED), None)])
    assert graphs.sizes.tolist() == [4]
    assert graphs.edges.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graphs.edge_data.carries == ["weights"]
    assert graphs.edge_data.ends.tolist() == graphs.edges.tolist()
    assert graphs.edge_data.weights.tolist() == [-0.5, -0.5, 2, 2]
    for options in ({"edges": False}, {"edge_weight": None}):
        assert as_graphs([(KINDS[kind](SIGNED), None)], **options).edge_data is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [bool, np.int32, np.float32])
def test_zeros_and_ones_are_no_weights(kind, dtype):
    if kind == "torch csr":
        pytest.skip("the same as torch coo")
    a = (SIGNED != 0).astype(dtype)
    graphs = as_graphs([(KINDS[kind](a), None)])
    assert graphs.edges.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graphs.edge_data is None


def test_an_asymmetric_adjacency_is_directed():
    a = SIGNED.copy()
    a[0, 1] = 3.0
    data = as_graphs([(a, None)]).edge_data
    assert data.directed
    assert data.ends.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert data.weights.tolist() == [3, -0.5, 2, 2]
    a[0, 1] = 0
    one_way = as_graphs([(a, None)]).edge_data
    assert one_way.directed
    assert one_way.ends.tolist() == [[1, 1, 2], [0, 2, 1]]
    both = as_graphs([(a, None)], directed=False).edge_data
    assert not both.directed
    assert both.weights.tolist() == [-0.5, -0.5, 2, 2]


def test_a_triangle_of_the_matrix_is_every_edge_once():
    with pytest.warns(UserWarning, match="every edge is listed in one direction only"):
        data = as_graphs([(np.triu(SIGNED), None)]).edge_data
    assert not data.directed
    assert data.weights.tolist() == [-0.5, -0.5, 2, 2]


def test_symmetric_up_to_rounding_is_symmetric(rng):
    x = rng.normal(size=(20, 5))
    a = np.corrcoef(x) + 1e-12 * rng.normal(size=(20, 20))
    assert (a != a.T).any()
    graphs = as_graphs([(a, None)])
    assert graphs.edge_data.carries == ["weights"]
    assert graphs.edges.shape == (2, 20 * 19)  # the ones of the diagonal are loops


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_entries_for_the_same_place_add_up_and_explicit_zeros_are_no_edges():
    rows, columns = np.array([0, 1, 0, 1, 0, 2, 1, 2]), np.array([1, 0, 1, 0, 2, 0, 2, 1])
    values = np.array([1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 5.0, 5.0])
    coo = sparse.coo_array((values, (rows, columns)), shape=(3, 3))
    csr = sparse.csr_array((values[[0, 2, 4, 1, 3, 6, 5, 7]], [1, 1, 2, 0, 0, 2, 0, 1], [0, 3, 6, 8]), shape=(3, 3))
    of_torch = torch.sparse_coo_tensor(np.stack([rows, columns]), torch.tensor(values), (3, 3))
    for matrix in (coo, csr, of_torch):
        data = as_graphs([(matrix, None)]).edge_data
        assert data.ends.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
        assert data.weights.tolist() == [3, 3, 5, 5]
    assert csr.nnz == 8  # what the caller gave is as it was
    assert coo.nnz == 8


def test_weighted_and_unweighted_graphs_together():
    data = as_graphs([(SIGNED, None), (np.ones((2, 2)), None), (np.zeros((1, 1)), None)]).edge_data
    assert data.weights.tolist() == [-0.5, -0.5, 2, 2, 1, 1]


@pytest.mark.parametrize("kind", ["array", "csr", "coo", "torch coo"])
def test_bad_matrices_name_the_graph(kind):
    good = (np.zeros((1, 1)), None)
    for bad, words in (
        (np.array([[0, np.nan], [np.nan, 0]]), "graph 1 has an adjacency with entries that are not finite numbers"),
        (np.array([[0, np.inf], [np.inf, 0]]), "graph 1 has an adjacency with entries that are not finite numbers"),
        (np.ones((2, 3)), r"graph 1 has an adjacency of shape \(2, 3\), expected a square matrix"),
    ):
        with pytest.raises(ValueError, match=words):
            as_graphs([good, (KINDS[kind](bad), None)])
    with pytest.raises(ValueError, match="not finite numbers"):
        as_graphs([(np.array([["a", "b"], ["b", "a"]]), None)])


@pytest.mark.parametrize("layout", ["to_sparse", "to_sparse_csr", "to_sparse_csc"])
def test_sparse_features_of_torch(layout):
    x = torch.tensor([[0.0, 1.0], [2.0, 0.0]])
    found = as_graphs([(np.array([[0, 1], [1, 0]]), getattr(x, layout)())])
    np.testing.assert_array_equal(found.x, x)


@pytest.mark.parametrize("kind", ["dok_array", "lil_array", "dia_array", "bsr_array"])
def test_every_sparse_format_of_scipy(kind):
    found = as_graphs([(getattr(sparse, kind)(1 - np.eye(3)), None)])
    assert found.edges.shape == (2, 6)


def test_sizes_and_weights_that_cannot_be():
    with pytest.raises(ValueError, match="graph 0 claims to have 10000000000 nodes"):
        as_graphs([(sparse.coo_array(([1.0], ([0], [1])), shape=(10**10, 10**10)), None)])
    with pytest.raises(ValueError, match=r"graph 0 has edge weights beyond 1e.30"):
        as_graphs([(np.array([[0, 1e31], [1e31, 0]]), None)])


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.dok_array, sparse.lil_array, sparse.coo_array])
def test_sparse_matrices_without_edges(form):
    """SciPy returns no array for no entries: such graphs were refused for weights that are not numbers."""
    weighted = np.array([[0, 2.5, 0], [2.5, 0, 0.5], [0, 0.5, 0]])
    found = as_graphs([(form(np.zeros((3, 3))), None), (form(weighted), None), (form(np.zeros((1, 1))), None)])
    plain = as_graphs([(np.zeros((3, 3)), None), (weighted, None), (np.zeros((1, 1)), None)])
    assert found.sizes.tolist() == [3, 3, 1]
    np.testing.assert_array_equal(found.edges, plain.edges)
    np.testing.assert_array_equal(found.edge_data.weights, plain.edge_data.weights)
