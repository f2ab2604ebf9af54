import pickle

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from graph_metric_learn.datasets import GraphDataset, load_digits, load_smiles
from graph_metric_learn.datasets.graph_dataset import build_graphs


@pytest.fixture
def two_graphs():
    """A path 0 - 1 - 2, and an edge 0 - 1 beside an isolated node."""
    return build_graphs(
        sizes=np.array([3, 3]),
        edge_index=np.array([[0, 1, 1, 2, 0, 1], [1, 0, 2, 1, 1, 0]]),
        edge_counts=np.array([4, 2]),
        y=np.array([5, -1]),
        x=np.arange(12, dtype=np.float32).reshape(6, 2),
    )


def test_every_graph_gets_its_share_of_the_arrays(two_graphs):
    path, pair = two_graphs
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert pair.edge_index.tolist() == [[0, 1], [1, 0]]
    assert path.x.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert pair.x.tolist() == [[6, 7], [8, 9], [10, 11]]
    assert [graph.num_nodes for graph in two_graphs] == [3, 3]
    assert [graph.y.tolist() for graph in two_graphs] == [[5], [-1]]
    assert all(graph.edge_index.is_contiguous() for graph in two_graphs)


def test_every_graph_gets_its_share_of_what_edges_carry():
    one, lone, two = build_graphs(
        sizes=np.array([2, 1, 2]),
        edge_index=np.array([[0, 1, 0, 1], [1, 0, 1, 0]]),
        edge_counts=np.array([2, 0, 2]),
        y=np.array([0, 1, 0]),
        edge_arrays={"edge_type": np.array([5, 5, 6, 6]), "edge_attr": np.arange(8.0).reshape(4, 2)},
    )
    assert one.edge_type.tolist() == [5, 5]
    assert lone.edge_attr.shape == (0, 2)
    assert two.edge_attr.tolist() == [[4, 5], [6, 7]]
    assert "1.0 edges, no features, edge labels, edge vectors)" in repr(GraphDataset([one, two], np.array([0, 1]), "x"))


def test_joined_nodes_are_counted_once_whatever_the_directions():
    directed = Data(edge_index=torch.tensor([[0, 1, 1, 1], [1, 0, 2, 2]]), num_nodes=3)
    assert "3.0 nodes and 2.0 edges" in repr(GraphDataset([directed], np.array([0]), "arcs"))


def test_a_pickled_graph_does_not_take_the_dataset_along():
    n = 50_000
    empty = np.empty((2, 0), dtype=np.int64)
    graphs = build_graphs(np.array([2, n]), empty, np.array([0, 0]), np.array([0, 1]), x=np.zeros((n + 2, 4)))
    assert len(pickle.dumps(graphs[0])) < 10_000


def test_a_dataset_says_what_it_is(two_graphs):
    dataset = GraphDataset(two_graphs, np.array([5, -1]), "toy", dropped=3)
    assert len(dataset) == 2
    assert dataset.classes.tolist() == [-1, 5]
    assert repr(dataset) == (
        "GraphDataset(toy: 2 graphs, 2 classes, on average 3.0 nodes and 1.5 edges, 2-dimensional features, "
        "3 too small and left out)"
    )


def test_as_many_rows_as_graphs(two_graphs):
    assert GraphDataset(two_graphs, np.array([0, 1]), "toy", rows=np.array([0, 4])).rows.tolist() == [0, 4]
    with pytest.raises(ValueError, match=r"2 graphs and rows of shape \(1,\): give one row per graph"):
        GraphDataset(two_graphs, np.array([0, 1]), "toy", rows=np.array([3]))


def test_a_dataset_without_features_or_graphs_can_be_shown():
    edge = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    assert "1.0 edges, no features)" in repr(GraphDataset([edge], np.array([0]), "bare"))
    assert repr(GraphDataset([], np.array([]), "none")) == "GraphDataset(none: 0 graphs, 0 classes)"


@pytest.mark.parametrize("y", [np.array([1]), np.array([[1], [2]]), np.array(1)])
def test_labels_that_do_not_fit_are_refused(two_graphs, y):
    with pytest.raises(ValueError, match="one label per graph"):
        GraphDataset(two_graphs, y, "toy")


def test_notebooks_see_classes_and_the_first_graphs():
    html = load_digits()._repr_html_()
    assert html.count("<svg") == 6
    assert "GraphDataset(digits: 1797 graphs" in html
    assert "0: 178, 1: 182" in html


def test_names_are_escaped_and_numbers_have_a_range(tmp_path):
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    file = tmp_path / "m.csv"
    file.write_text("name,smiles,size\n<b>water</b>,O,1.5\nethanol,CCO,3.25\n")
    dataset = load_smiles(file, target="size", name="name")
    html = dataset._repr_html_()
    assert "&lt;b&gt;water&lt;/b&gt; (1.5)" in html
    assert "<b>water" not in html
    assert f"from {np.min(dataset.y):.3g} to 3.25" in html
