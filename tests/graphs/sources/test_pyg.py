import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.transforms import ToSparseTensor
from torch_geometric.utils import from_networkx

from graph_metric_learn import as_graphs
from graph_metric_learn.graphs.sources.pyg import PlainData

BOTH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])  # a path of three nodes, both ways


def path(**parts):
    return Data(**{"edge_index": BOTH, "num_nodes": 3, **parts})


class SparseTensor:
    """As much of `torch_sparse.SparseTensor` as readers see."""

    def __init__(self, rows, columns, values=None, n=3):
        self.parts, self.n = (rows, columns, values), n

    def coo(self):
        return self.parts

    def size(self, dim):
        return self.n


def test_edge_attr_of_floats_is_vectors():
    attributes = torch.tensor([[0.5, 1], [0.5, 1], [2, 3], [2, 3]])
    data = as_graphs([path(edge_attr=attributes)]).edge_data
    assert data.carries == ["vectors"]
    assert data.x.tolist() == attributes.tolist()
    assert as_graphs([path(edge_attr=attributes[:, 0])]).edge_data.x.tolist() == [[0.5], [0.5], [2], [2]]


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
def test_edge_attr_of_whole_numbers_is_labels(dtype):
    data = as_graphs([path(edge_attr=torch.tensor([7, 7, 8, 8], dtype=dtype))]).edge_data
    assert data.carries == ["labels"]
    assert data.labels.tolist() == [[7], [7], [8], [8]]
    several = torch.tensor([[1, 0], [1, 0], [2, 5], [2, 5]], dtype=dtype)
    assert as_graphs([path(edge_attr=several)]).edge_data.labels.tolist() == several.tolist()


def test_edge_type_is_labels_and_edge_attr_then_numbers():
    kinds = torch.tensor([1, 1, 0, 0])
    data = as_graphs([path(edge_type=kinds, edge_attr=torch.tensor([5, 5, 6, 6]))]).edge_data
    assert data.carries == ["labels", "vectors"]
    assert data.labels[:, 0].tolist() == kinds.tolist()
    assert data.x.tolist() == [[5], [5], [6], [6]]


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_edge_weight(shape):
    data = as_graphs([path(edge_weight=torch.tensor([2.0, 2, -3, -3]).reshape(shape))]).edge_data
    assert data.carries == ["weights"]
    assert data.weights.tolist() == [2, 2, -3, -3]
    assert as_graphs([path(edge_weight=torch.ones(shape))]).edge_data is None


def test_all_at_once_and_by_other_names():
    options = {
        "bond": torch.tensor([1, 1, 2, 2]),
        "length": torch.tensor([3, 3, 4, 4]),
        "w": torch.tensor([2.0, 2, 5, 5]),
    }
    names = {"edge_label": "bond", "edge_attribute": "length", "edge_weight": "w"}
    data = as_graphs([path(**options)], **names).edge_data
    assert data.labels.tolist() == [[1], [1], [2], [2]]
    assert data.x.tolist() == [[3], [3], [4], [4]]  # named as vectors: whole numbers are no labels then
    assert data.weights.tolist() == [2, 2, 5, 5]
    unnamed = as_graphs([path(**options)])
    assert unnamed.edge_data is None
    assert unnamed.unused == ("edge attribute 'bond'", "edge attribute 'length'", "edge attribute 'w'")


def test_edge_attr_named_as_labels_is_not_read_twice():
    data = as_graphs([path(edge_attr=torch.tensor([1.0, 1, 2, 2]))], edge_label="edge_attr").edge_data
    assert data.carries == ["labels"]
    assert data.labels.tolist() == [[1], [1], [2], [2]]
    data = as_graphs([path(edge_attr=torch.tensor([1, 1, 2, 2]))], edge_attribute="edge_attr").edge_data
    assert data.carries == ["vectors"]


@pytest.mark.parametrize("option", ["edge_label", "edge_attribute", "edge_weight"])
def test_names_that_no_graph_has(option):
    with pytest.raises(ValueError, match="no graph has an edge attribute 'bnod'"):
        as_graphs([path()], **{option: "bnod"})
    # New graphs may have no edge at all, and then they need not carry anything on edges.
    assert as_graphs([Data(num_nodes=1)], **{option: "bond"}).edge_data is None


def test_weights_of_from_networkx():
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, {(0, 1): 2.0, (1, 2): 3.0}, "weight")
    data = as_graphs([from_networkx(graph)]).edge_data
    assert data.weights.tolist() == [2, 2, 3, 3]
    assert as_graphs([from_networkx(graph)], edge_weight=None).edge_data is None


def test_adj_t_is_the_transposed_adjacency():
    """Edges 0 → 1 and 1 → 2 and 2 → 1: SparseTensor and tensors of torch hold heads as rows."""
    heads, tails, values = torch.tensor([1, 1, 2]), torch.tensor([0, 2, 1]), torch.tensor([2.0, 3.0, 4.0])
    for layout in ("SparseTensor", "coo", "csr", "csc"):
        matrix = torch.sparse_coo_tensor(torch.stack([heads, tails]), values, (3, 3))
        if layout == "SparseTensor":
            matrix = SparseTensor(heads, tails, values)
        elif layout != "coo":
            matrix = getattr(matrix, f"to_sparse_{layout}")()
        data = as_graphs([Data(adj_t=matrix, num_nodes=3)]).edge_data
        assert data.directed, layout
        assert data.ends.tolist() == [[0, 1, 2], [1, 2, 1]], layout
        assert data.weights.tolist() == [2, 4, 3], layout


def test_adj_t_without_values_is_just_edges():
    tails, heads = BOTH
    ones = torch.sparse_coo_tensor(torch.stack([heads, tails]), torch.ones(4), (3, 3))
    for matrix in (SparseTensor(heads, tails), ones, ones.to_sparse_csr()):
        graphs = as_graphs([Data(adj_t=matrix, num_nodes=3)])
        assert graphs.edges.tolist() == BOTH.tolist()
        assert graphs.edge_data is None


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize("attr", ["edge_weight", "edge_attr", None])
def test_to_sparse_tensor_loses_nothing(attr):
    weights, vectors = torch.tensor([2.0, 3, 4, 5]), torch.tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]])
    kinds = torch.tensor([3, 2, 1, 0])
    given = path(edge_weight=weights, edge_attr=vectors, edge_type=kinds)
    wanted = as_graphs([given]).edge_data
    found = as_graphs([ToSparseTensor(attr=attr)(given.clone())]).edge_data
    for part in ("ends", "labels", "x", "weights"):
        np.testing.assert_array_equal(getattr(found, part), getattr(wanted, part))


def test_vectors_in_adj_t():
    vectors = torch.tensor([[1.0, 2], [1, 2], [5, 6], [5, 6]])
    data = as_graphs([Data(adj_t=SparseTensor(BOTH[1], BOTH[0], vectors), num_nodes=3)]).edge_data
    assert data.carries == ["vectors"]
    assert data.x.tolist() == vectors.tolist()


def test_a_matrix_of_unknown_kind():
    with pytest.raises(ValueError, match="graph 0 has an adjacency of type dict: give edge_index instead"):
        as_graphs([Data(adj_t={}, num_nodes=2)])


def test_hetero_data_says_what_to_do():
    hetero = HeteroData()
    hetero["atom"].x = torch.zeros(2, 1)
    for given in ([hetero], hetero, Batch.from_data_list([hetero, hetero])):
        with pytest.raises(ValueError, match=r"HeteroData has several types of nodes: .*\.to_homogeneous\(\)"):
            as_graphs(given)
    hetero["atom", "bound", "atom"].edge_index = torch.tensor([[0, 1], [1, 0]])
    hetero["atom", "near", "atom"].edge_index = torch.tensor([[0, 1], [1, 0]])
    data = as_graphs([hetero.to_homogeneous()]).edge_data
    assert sorted(data.labels[:, 0].tolist()) == [0, 0, 1, 1]  # parallel edges of both types


def test_edges_false_reads_edges_alone():
    given = path(edge_weight=torch.tensor([2.0, 3, 4, 5]), edge_attr=torch.rand(4, 2), edge_type=torch.arange(4))
    graphs = as_graphs([given], edges=False)
    assert graphs.edge_data is None
    assert graphs.edges.tolist() == BOTH.tolist()


def test_a_batch_keeps_what_edges_carry():
    given = [path(edge_attr=torch.tensor([1.5, 1.5, 2, 2])), path(edge_attr=torch.tensor([3.0, 3, 4, 4]))]
    data = as_graphs(Batch.from_data_list(given)).edge_data
    assert data.ends.tolist() == [[0, 1, 1, 2, 3, 4, 4, 5], [1, 0, 2, 1, 4, 3, 5, 4]]
    assert data.x[:, 0].tolist() == [1.5, 1.5, 2, 2, 3, 3, 4, 4]


def test_graphs_without_edges_need_not_carry_anything():
    with_data = path(edge_attr=torch.tensor([[1.5], [1.5], [2], [2]]))
    empty = torch.zeros(2, 0, dtype=torch.int64)
    for lone in (
        Data(num_nodes=1),
        Data(num_nodes=1, edge_index=empty),
        Data(num_nodes=1, edge_index=empty, edge_attr=torch.zeros(0, 1)),
        Data(num_nodes=1, edge_index=empty, edge_attr=torch.zeros(0)),
        Data(num_nodes=1, edge_index=empty, edge_attr=torch.zeros(0, 1, dtype=torch.int64)),
    ):
        graphs = as_graphs([lone, with_data, lone])
        assert graphs.sizes.tolist() == [1, 3, 1]
        assert graphs.edge_data.x.tolist() == [[1.5], [1.5], [2], [2]]
        assert graphs.edge_data.ends.tolist() == (BOTH + 1).tolist()


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"edge_attr": torch.zeros(3, 2)}, r"graph 1 has edge_attr of shape \(3, 2\) for 4 edges"),
        ({"edge_type": torch.zeros(3)}, r"graph 1 has edge labels of shape \(3,\) for 4 edges"),
        ({"edge_weight": torch.zeros(3)}, "graph 1 has edge weights that are not one finite number per edge"),
        ({"edge_weight": torch.full((4,), torch.nan)}, "graph 1 has edge weights that are not one finite number"),
        ({"edge_attr": torch.full((4, 1), torch.inf)}, "graph 1 has a NaN or infinite edge feature"),
        ({}, "graph 1 has no edge features, other graphs have"),
        ({"edge_attr": torch.zeros(4, 3)}, "graph 1 has edge features of width 3, graph 0 of width 1"),
    ],
)
def test_bad_edge_data_names_the_graph(parts, words):
    good = path(edge_attr=torch.zeros(4, 1))
    given = [good, path(**({"edge_attr": torch.zeros(4, 1), **parts} if parts else {}))]
    with pytest.raises(ValueError, match=words):
        as_graphs(given)


def test_the_graph_is_named_also_after_graphs_without_edges():
    lone, one, two = Data(num_nodes=1), path(edge_attr=torch.zeros(4, 1)), path(edge_attr=torch.zeros(4, 2))
    with pytest.raises(ValueError, match="graph 3 has edge features of width 2, graph 1 of width 1"):
        as_graphs([lone, one, lone, two])


def test_what_nobody_named_is_listed():
    given = path(
        x=torch.zeros(3, 1), pos=torch.zeros(3, 2), node_type=torch.arange(3), name="path", edge_length=torch.rand(4)
    )
    nodes = ("node attribute 'pos'", "node attribute 'node_type'")
    assert as_graphs([given]).unused == (*nodes, "edge attribute 'edge_length'")
    assert as_graphs([given], edges=False).unused == nodes
    options = {"label": "node_type", "edge_attribute": "edge_length", "directed": True}
    assert as_graphs([given], **options).unused == nodes[:1]
    assert as_graphs([given], attribute="pos", **options).unused == ("node attribute 'x'",)


def test_places_that_are_for_drawing_only_are_not_listed():
    marked = path(x=torch.zeros(3, 1), pos=torch.zeros(3, 2), drawing="pos", node_type=torch.arange(3))
    for graphs in ([marked], Batch.from_data_list([marked, marked])):
        assert as_graphs(graphs).unused == ("node attribute 'node_type'",)
    assert as_graphs([marked], attribute="pos").x.shape == (3, 2)
    other = path(pos=torch.zeros(3, 2), drawing=["pos"])  # not a name
    assert as_graphs([other]).unused == ("node attribute 'pos'",)


def test_names_and_else_smiles():
    assert as_graphs([path(name="a", smiles="C"), path(smiles="CC")]).names.tolist() == ["a", "CC"]
    assert as_graphs([path(name="", smiles="C")]).names.tolist() == ["C"]
    for unnamed in (path(), path(name=torch.zeros(1)), path(name=" ")):
        assert as_graphs([path(name="a"), unnamed]).names is None


def test_targets_are_numbers_or_one_row_of_them():
    def target(*ys):
        return as_graphs([path(y=y) for y in ys]).y

    assert target(torch.tensor([2]), torch.tensor(3)).tolist() == [2, 3]
    assert target(torch.tensor([[0.5]]), torch.tensor([1.5])).tolist() == [0.5, 1.5]
    assert target(1, "a").tolist() == [1, "a"]
    rows = torch.tensor([[[1.0, 2.0]], [[3.0, float("nan")]]])
    np.testing.assert_array_equal(target(*rows), [[1, 2], [3, np.nan]])
    np.testing.assert_array_equal(as_graphs(Batch.from_data_list([path(y=y) for y in rows])).y, rows[:, 0])


@pytest.mark.parametrize("y", [torch.arange(3), torch.zeros(3, 2), torch.zeros(0), torch.zeros(1, 0), None])
def test_targets_of_nodes_are_none_of_the_graph(y):
    assert as_graphs([path(y=y)]).y is None
    assert as_graphs([path(y=y), path(y=torch.tensor([1]))]).y.tolist() == [None, 1]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float16])
def test_short_floating_point_numbers(dtype):
    x = torch.tensor([[0.5], [1.0], [2.0]])
    found = as_graphs([Data(x=x.to(dtype), edge_index=torch.tensor([[0, 1], [1, 0]]))]).x
    np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize(
    "edges", [[[0.5, 1.0], [1.0, 0.7]], [[np.nan, 1.0], [1.0, 0.0]], [[True, False], [False, True]]]
)
def test_ends_of_edges_are_whole_numbers(edges):
    with pytest.raises(ValueError, match="graph 0 has an edge_index that is not whole numbers"):
        as_graphs([Data(edge_index=torch.tensor(edges), num_nodes=3)])


@pytest.mark.parametrize("n", [10**10, -1, 3.5, "three"])
def test_numbers_of_nodes_that_cannot_be(n):
    with pytest.raises(ValueError, match=r"graph 0 (claims to have 10000000000 nodes|has num_nodes)"):
        as_graphs([Data(edge_index=torch.tensor([[0], [1]]), num_nodes=n)])


@pytest.mark.parametrize(
    "options", [{}, {"edges": False}, {"label": "colour"}, {"attribute": "z", "edge_label": "kind"}]
)
def test_fields_are_read_as_those_of_data(options):
    fields = {
        "edge_index": torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), "edge_type": torch.tensor([1, 1, 2, 2]),
        "kind": torch.tensor([3, 3, 4, 4]), "x": torch.rand(3, 2), "z": torch.rand(3, 1),
        "node_labels": torch.tensor([6, 6, 8]), "colour": torch.tensor([0, 1, 0]), "num_nodes": 3, "name": "ethanol",
        "y": torch.tensor([2.5]), "odd": torch.rand(3),
    }  # fmt: skip
    plain, data = as_graphs([PlainData(**fields)], **options), as_graphs([Data(**fields)], **options)
    for part in ("sizes", "edges", "x", "labels", "y", "names"):
        np.testing.assert_array_equal(getattr(plain, part), getattr(data, part))
    assert set(plain.unused) == set(data.unused) != set()  # `Data` has an order of its own
    assert (plain.edge_data is None) == (data.edge_data is None) == (options.get("edges") is False)
    if plain.edge_data is not None:
        np.testing.assert_array_equal(plain.edge_data.labels, data.edge_data.labels)


def test_a_single_one_is_no_list():
    with pytest.raises(ValueError, match="got a single graph"):
        as_graphs(PlainData(num_nodes=1))
