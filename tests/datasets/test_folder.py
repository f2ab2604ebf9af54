import networkx as nx
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch_geometric.data import Data

from graph_metric_learn.datasets.folder import load_folder
from graph_metric_learn.graphs import as_graphs

EDGES = torch.tensor([[0, 1], [1, 0]])


@pytest.fixture
def folder(tmp_path):
    path = nx.path_graph(["a", "b"])
    nx.set_node_attributes(path, {"a": 1.0, "b": 2.0}, "mass")
    nx.set_node_attributes(path, {"a": 7, "b": 8}, "charge")
    nx.set_node_attributes(path, {"a": "C", "b": "N"}, "label")
    nx.write_graphml(path, tmp_path / "one.graphml")
    tensors = {"edge_index": EDGES, "x": torch.tensor([[7.0, 1.0], [8.0, 2.0]])}
    torch.save(Data(**tensors), tmp_path / "two.pt")
    torch.save(tensors, tmp_path / "three.pt")
    save_file(tensors, tmp_path / "four.safetensors")
    (tmp_path / "notes.txt").write_text("not a graph")
    return tmp_path


def test_all_kinds_of_files(folder):
    names, graphs, y = load_folder(folder)
    assert names == ["four", "one", "three", "two"]
    assert y is None
    for graph in graphs:
        one = as_graphs([graph])
        assert one.x.tolist() == [[7, 1], [8, 2]]  # charge, mass
        assert one.edges.tolist() == EDGES.tolist()
    assert as_graphs(graphs[1:2]).labels.tolist() == [["C"], ["N"]]


def test_classes_from_csv_in_its_order(folder):
    (folder / "y.csv").write_text("graph,label\ntwo.pt,active\none,inactive\n")
    names, graphs, y = load_folder(folder, folder / "y.csv")
    assert names == ["two", "one"]
    assert len(graphs) == 2
    np.testing.assert_array_equal(y, ["active", "inactive"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,class\na,b\n", "columns graph,label"),
        ("", "columns graph,label"),
        ("graph,label\nnine,x\n", "names 'nine'"),
        ("graph,label\none,\n", "line 2: graph or label is empty"),
        ("graph,label\none,x\none.graphml,y\n", "line 3: one.graphml is listed twice"),
    ],
)
def test_bad_csv(folder, text, words):
    (folder / "y.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        load_folder(folder, folder / "y.csv")


def test_bad_folders_and_files(folder, tmp_path):
    with pytest.raises(ValueError, match="not a folder"):
        load_folder(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no graph files"):
        load_folder(tmp_path / "empty")
    with pytest.raises(ValueError, match="cannot read"):
        load_folder(folder, folder / "missing.csv")
    (folder / "bad.graphml").write_text("<graphml>")
    with pytest.raises(ValueError, match=r"cannot read bad\.graphml"):
        load_folder(folder)


def test_a_file_that_would_run_code_is_refused(folder):
    class Trap:
        def __reduce__(self):
            return (open, (str(folder / "trapped"), "w"))

    torch.save({"edge_index": EDGES, "x": Trap()}, folder / "trap.pt")
    with pytest.raises(ValueError, match=r"cannot read trap\.pt"):
        load_folder(folder)
    assert not (folder / "trapped").exists()
