import warnings
import zipfile

import numpy as np
import pytest
import torch

from graph_metric_learn.datasets import load_tu
from graph_metric_learn.graphs import as_graphs
from tu_toy import TOY, same, write_folder


@pytest.mark.parametrize("options", [{"edges": False}, {"directed": False}])
def test_edges_go_both_ways_once_and_isolated_nodes_stay(tmp_path, options):
    dataset = load_tu("TOY", root=write_folder(tmp_path), **options)
    path, pair, _ = dataset.graphs
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert pair.edge_index.tolist() == [[0, 1], [1, 0]]
    assert (path.num_nodes, pair.num_nodes) == (4, 2)
    assert path.edge_index.dtype == torch.int64


def test_classes_keep_their_numbers_and_lone_nodes_are_left_out_by_name(tmp_path):
    every = load_tu("TOY", root=write_folder(tmp_path))
    assert every.y.tolist() == [4, -2, 4]
    assert every.dropped == 0
    assert every.rows.tolist() == [0, 1, 2]
    assert every.graphs[2].num_nodes == 1
    assert every.graphs[2].edge_index.shape == (2, 0)
    dataset = load_tu("TOY", root=write_folder(tmp_path), min_nodes=2)
    assert dataset.y.tolist() == [4, -2]
    assert dataset.y.dtype == np.int64
    assert [graph.y.tolist() for graph in dataset.graphs] == [[4], [-2]]
    assert dataset.graphs[0].y.dtype == torch.int64
    assert dataset.dropped == 1
    assert dataset.name == "TOY"


# --- what edges carry -----------------------------------------------------------------------------------------------

# Both directions of 1 - 2 and 5 - 6; 2 - 3 twice, as parallel edges; a loop.
EDGES = "2, 1\n1, 2\n3, 2\n2, 3\n2, 3\n3, 2\n2, 2\n5, 6\n6, 5\n"


def test_labels_and_attributes_stand_in_the_order_of_the_edges(tmp_path):
    labels, attributes = "1\n1\n2\n3\n2\n3\n9\n4\n4\n", "".join(f"{i}.5, {-i}\n" for i in (1, 1, 2, 3, 2, 3, 9, 4, 4))
    folder = write_folder(tmp_path, A=EDGES, edge_labels=labels, edge_attributes=attributes)
    path, pair, lone = load_tu("TOY", root=folder).graphs
    assert path.edge_index.tolist() == [[0, 1, 1, 1, 2, 2], [1, 0, 2, 2, 1, 1]]
    assert sorted(path.edge_type.tolist()) == [1, 1, 2, 2, 3, 3]
    assert path.edge_type[:2].tolist() == [1, 1]
    assert path.edge_attr.tolist() == [[label + 0.5, -label] for label in path.edge_type.tolist()]
    assert path.edge_attr.dtype == torch.float32
    assert path.edge_type.dtype == torch.int64
    assert pair.edge_type.tolist() == [4, 4]
    assert lone.edge_type.shape == (0,)
    assert lone.edge_attr.shape == (0, 2)
    assert path.x.shape == load_tu("TOY", root=folder, edges=False).graphs[0].x.shape
    data = as_graphs([path, pair, lone]).edge_data
    assert data.carries == ["labels", "vectors"]
    bare = load_tu("TOY", root=folder, edges=False).graphs[0]
    assert sorted(bare.keys()) == ["edge_index", "node_labels", "num_nodes", "x", "y"]
    assert bare.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


def test_several_columns_of_edge_labels(tmp_path):
    labels = "".join(f"{i}, {i + 1}\n" for i in (1, 1, 2, 3, 2, 3, 9, 4, 4))
    pair = load_tu("TOY", root=write_folder(tmp_path, A=EDGES, edge_labels=labels)).graphs[1]
    assert pair.edge_type.tolist() == [[4, 5], [4, 5]]


def test_edge_data_of_graphs_that_are_left_out(tmp_path):
    folder = write_folder(tmp_path, A=EDGES, edge_labels="1\n1\n2\n3\n2\n3\n9\n4\n4\n")
    (path,) = load_tu("TOY", root=folder, min_nodes=3).graphs
    assert sorted(path.edge_type.tolist()) == [1, 1, 2, 2, 3, 3]


def test_directions_of_the_files(tmp_path):
    """In TOY one edge comes in one direction only, others in both: then direction means something."""
    dataset = load_tu("TOY", root=write_folder(tmp_path))
    assert dataset.graphs[0].edge_index.tolist() == [[0, 1, 2], [1, 0, 1]]
    assert as_graphs(dataset).edge_data.directed
    assert repr(dataset).startswith("GraphDataset(TOY: 3 graphs, 2 classes, on average 2.3 nodes and 1.0 edges")
    labelled = write_folder(tmp_path / "labels", A="1, 2\n2, 1\n5, 6\n6, 5\n", edge_labels="0\n1\n2\n2\n")
    dataset = load_tu("TOY", root=labelled)  # the two directions of an edge carry different labels
    assert dataset.graphs[0].edge_type.tolist() == [0, 1]
    assert as_graphs(dataset).edge_data.directed


def test_every_edge_listed_once(tmp_path):
    folder = write_folder(tmp_path, A="1, 2\n3, 2\n5, 6\n", edge_labels="7\n8\n9\n")
    with pytest.warns(UserWarning, match=r"TOY_A\.txt lists every edge in one direction only.*directed=True"):
        path = load_tu("TOY", root=folder).graphs[0]
    assert path.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert path.edge_type.tolist() == [7, 7, 8, 8]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_tu("TOY", root=folder, directed=False).graphs[0].edge_type.tolist() == [7, 7, 8, 8]
        assert load_tu("TOY", root=folder, directed=True).graphs[0].edge_index.tolist() == [[0, 2], [1, 1]]
        assert load_tu("TOY", root=folder, edges=False).graphs[0].edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


def test_nodes_of_a_graph_need_not_be_together(tmp_path):
    """The same two graphs, written with their nodes mixed: 1, 3, 4 are the path, 2, 5 the edge."""
    files = {
        "A": "1,3\n3,4\n2,5\n",
        "graph_indicator": "2\n1\n2\n2\n1\n",
        "graph_labels": "0\n1\n",
        "node_labels": "0\n1\n2\n3\n4\n",
    }
    pair, path = load_tu("MIX", root=write_folder(tmp_path, files, "MIX"), directed=False).graphs
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
        ({"graph_indicator": "", "A": "", "node_labels": None, "node_attributes": None}, "at least 1 nodes"),
        ({"edge_labels": "0\n1\n"}, r"TOY_edge_labels\.txt has 2 lines for the 8 edges of TOY_A\.txt: .*edges=False"),
        ({"edge_attributes": "0\n1\n"}, r"TOY_edge_attributes\.txt has 2 lines for the 8 edges of TOY_A\.txt"),
        ({"edge_labels": "0.5\n" * 8}, r"TOY_edge_labels\.txt is not a table of whole numbers"),
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
