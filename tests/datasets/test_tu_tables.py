import zipfile

import numpy as np
import pytest
import torch

from graph_metric_learn.datasets import load_tu
from tu_toy import TOY, same, write_folder


def test_edges_go_both_ways_once_and_isolated_nodes_stay(tmp_path):
    dataset = load_tu("TOY", root=write_folder(tmp_path))
    path, pair = dataset.graphs
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert pair.edge_index.tolist() == [[0, 1], [1, 0]]
    assert (path.num_nodes, pair.num_nodes) == (4, 2)
    assert path.edge_index.dtype == torch.int64


def test_classes_keep_their_numbers_and_lone_nodes_are_left_out(tmp_path):
    dataset = load_tu("TOY", root=write_folder(tmp_path))
    assert dataset.y.tolist() == [4, -2]
    assert dataset.y.dtype == np.int64
    assert [graph.y.tolist() for graph in dataset.graphs] == [[4], [-2]]
    assert dataset.graphs[0].y.dtype == torch.int64
    assert dataset.dropped == 1
    assert dataset.name == "TOY"


def test_nodes_of_a_graph_need_not_be_together(tmp_path):
    """The same two graphs, written with their nodes mixed: 1, 3, 4 are the path, 2, 5 the edge."""
    files = {
        "A": "1,3\n3,4\n2,5\n",
        "graph_indicator": "2\n1\n2\n2\n1\n",
        "graph_labels": "0\n1\n",
        "node_labels": "0\n1\n2\n3\n4\n",
    }
    pair, path = load_tu("MIX", root=write_folder(tmp_path, files, "MIX")).graphs
    assert path.node_labels.tolist() == [0, 2, 3]
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert path.x.argmax(1).tolist() == [0, 2, 3]
    assert pair.node_labels.tolist() == [1, 4]
    assert pair.edge_index.tolist() == [[0, 1], [1, 0]]


def test_a_graph_between_others_may_have_no_nodes_and_no_edges_at_all(tmp_path):
    files = {"A": "", "graph_indicator": "1\n1\n3\n3\n", "graph_labels": "0\n1\n2\n"}
    dataset = load_tu("BARE", features="degree", root=write_folder(tmp_path, files, "BARE"))
    assert dataset.y.tolist() == [0, 2]
    assert [graph.edge_index.shape for graph in dataset.graphs] == [(2, 0), (2, 0)]
    assert dataset.graphs[0].x.tolist() == [[0], [0]]


def test_windows_line_ends_and_byte_order_marks_are_read(tmp_path):
    folder = write_folder(tmp_path)
    windows = {what: "\ufeff" + text.replace("\n", "\r\n") for what, text in TOY.items()}
    (tmp_path / "windows" / "TOY").mkdir(parents=True)
    for what, text in windows.items():
        (tmp_path / "windows" / "TOY" / f"TOY_{what}.txt").write_bytes(text.encode())
    same(load_tu("TOY", root=folder), load_tu("TOY", root=tmp_path / "windows"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"A": "1, 2\n3, 8\n"}, r"TOY_A\.txt, line 2, joins a node that is none of the 7 nodes"),
        ({"A": "0, 1\n"}, r"TOY_A\.txt, line 1, joins a node that is none"),
        ({"A": "1, 2\n1, 5\n"}, r"TOY_A\.txt, line 2, joins nodes of different graphs"),
        ({"A": "1\n2\n"}, r"TOY_A\.txt has 1 columns, expected 2"),
        ({"A": "1, 2\n3\n"}, r"TOY_A\.txt is not a table of whole numbers"),
        ({"A": "1, 2.5\n"}, r"TOY_A\.txt is not a table of whole numbers.*2\.5"),
        ({"A": "1, \x00\xff\n"}, r"TOY_A\.txt is not a table"),
        ({"A": None}, r"TOY has no file TOY_A\.txt"),
        ({"graph_indicator": "1\n1\n1\n1\n2\n2\n4\n"}, r"TOY_graph_indicator\.txt, line 7, names none of the 3 graphs"),
        ({"graph_indicator": "0\n1\n1\n1\n2\n2\n3\n"}, r"TOY_graph_indicator\.txt, line 1, names none"),
        ({"graph_labels": "1\nx\n2\n"}, r"TOY_graph_labels\.txt is not a table of whole numbers.*'x'"),
        ({"graph_labels": "1, 0\n1, 1\n0, 1\n"}, r"TOY_graph_labels\.txt has 2 columns"),
        ({"graph_labels": None}, r"no file TOY_graph_labels\.txt: .*regression"),
        ({"node_labels": "0\n1\n"}, r"TOY_node_labels\.txt has 2 lines for the 7 nodes"),
        ({"node_attributes": "0.5\n1\n"}, r"TOY_node_attributes\.txt has 2 lines for the 7 nodes"),
        ({"node_attributes": "0.5\none\n"}, r"TOY_node_attributes\.txt is not a table of numbers.*'one'"),
        ({"graph_indicator": "1\n2\n3\n", "A": "", "node_labels": None, "node_attributes": None}, "at least 2 nodes"),
    ],
)
def test_malformed_files_get_one_clear_error(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words):
        load_tu("TOY", root=write_folder(tmp_path, **changes))


@pytest.mark.parametrize("name", ["MUTAG", "ENZYMES", "IMDB-MULTI", "Cuneiform"])
def test_graphs_are_those_torch_geometric_reads(real, tmp_path, name):
    from torch_geometric.io import read_tu_data

    with zipfile.ZipFile(real / f"{name}.zip") as archive:
        archive.extractall(tmp_path)
    data, slices, _ = read_tu_data(str(tmp_path / name), name)
    dataset = load_tu(name, features=None, root=real)
    starts = np.cumsum([0] + [graph.num_nodes for graph in dataset.graphs])
    mine = torch.cat([graph.edge_index for graph in dataset.graphs], dim=1)
    assert torch.equal(mine, data.edge_index)
    assert torch.equal(torch.cumsum(torch.tensor([0] + [g.num_edges for g in dataset.graphs]), 0), slices["edge_index"])
    np.testing.assert_array_equal(np.searchsorted(dataset.classes, dataset.y), data.y)
    if "x" in data:
        np.testing.assert_array_equal(slices["x"], starts)
        width = dataset.graphs[0].x.shape[1] if "x" in dataset.graphs[0] else 0
        if width:
            assert torch.equal(torch.cat([graph.x for graph in dataset.graphs]), data.x[:, :width])
        labels = torch.cat([graph.node_labels.reshape(graph.num_nodes, -1) for graph in dataset.graphs])
        codes = [torch.nn.functional.one_hot(column - column.min()) for column in labels.T]
        assert torch.equal(torch.cat(codes, dim=1).float(), data.x[:, width:])
