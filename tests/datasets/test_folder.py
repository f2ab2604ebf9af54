import json
import os
from collections import Counter

import networkx as nx
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch_geometric.data import Data

import graph_metric_learn as gml
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
    assert [as_graphs([graph]).names[0] for graph in graphs] == names


@pytest.mark.filterwarnings("ignore:.*lacks them")
def test_classes_from_csv_in_its_order(folder):
    (folder / "y.csv").write_text("graph,label\ntwo.pt,active\none,inactive\n")
    names, graphs, y = load_folder(folder, folder / "y.csv")
    assert names == ["two", "one"]
    assert len(graphs) == 2
    np.testing.assert_array_equal(y, ["active", "inactive"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name,class\na,b\n", "y.csv has no column 'graph', its columns are name, class"),
        ("", "needs a header"),
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


# --- edges ----------------------------------------------------------------------------------------------------------


def arcs(graph):
    """How often each arc occurs, between nodes by number, with label, vector and weight."""
    data = as_graphs([graph]).edge_data
    parts = [part for part in (data.labels, data.x, data.weights) if part is not None]
    return Counter((u, v, *(str(part[i].tolist()) for part in parts)) for i, (u, v) in enumerate(data.ends.T.tolist()))


def bonds(kind=nx.Graph, **more):
    graph = kind()
    graph.add_nodes_from(["a", "b", "c"])
    graph.add_edge("a", "b", length=1.5, angle=30, label="single", weight=2.0, **more)
    graph.add_edge("b", "c", length=2.5, angle=60, label="double", weight=0.5, **more)
    return graph


SINGLE, DOUBLE = ("['single']", "[30.0, 1.5]", "2.0"), ("['double']", "[60.0, 2.5]", "0.5")


def write(graph, path):
    if path.suffix == ".json":
        path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    else:
        nx.write_graphml(graph, path)


def load_one(path):
    return load_folder(path.parent)[1][0]


@pytest.mark.parametrize("suffix", [".graphml", ".json"])
def test_what_edges_carry(tmp_path, suffix):
    write(bonds(), tmp_path / f"one{suffix}")
    graph = load_one(tmp_path / "one")
    assert arcs(graph) == Counter([(0, 1, *SINGLE), (1, 0, *SINGLE), (1, 2, *DOUBLE), (2, 1, *DOUBLE)])
    assert as_graphs([graph]).unused == ()


@pytest.mark.parametrize("suffix", [".graphml", ".json"])
def test_directed_graphs_and_parallel_edges(tmp_path, suffix):
    write(bonds(nx.DiGraph), tmp_path / f"one{suffix}")
    graph = load_one(tmp_path / "one")
    assert as_graphs([graph]).edge_data.directed
    assert arcs(graph) == Counter([(0, 1, *SINGLE), (1, 2, *DOUBLE)])
    multi = bonds(nx.MultiGraph)
    multi.add_edge("a", "b", length=1.5, angle=30, label="single", weight=2.0)
    write(multi, tmp_path / f"one{suffix}")
    graph = load_one(tmp_path / "one")
    assert arcs(graph) == Counter(2 * [(0, 1, *SINGLE), (1, 0, *SINGLE)] + [(1, 2, *DOUBLE), (2, 1, *DOUBLE)])


@pytest.mark.parametrize("suffix", [".graphml", ".json"])
def test_text_that_is_no_label_is_listed_as_unused(tmp_path, suffix):
    graph = bonds(note="old")
    nx.set_node_attributes(graph, "red", "colour")
    write(graph, tmp_path / f"one{suffix}")
    assert as_graphs(load_folder(tmp_path)[1]).unused == ("node attribute 'colour'", "edge attribute 'note'")


def test_an_edge_without_a_weight_has_weight_one(tmp_path):
    graph = bonds()
    del graph.edges["b", "c"]["weight"]
    write(graph, tmp_path / "one.graphml")
    assert as_graphs(load_folder(tmp_path)[1]).edge_data.weights.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("key", ["links", "edges"])
def test_node_link_files_of_all_kinds(tmp_path, key):
    for name, kind in (
        ("graph", nx.Graph),
        ("digraph", nx.DiGraph),
        ("multi", nx.MultiGraph),
        ("both", nx.MultiDiGraph),
    ):
        graph = bonds(kind)
        for node in graph:
            graph.nodes[node].update(x=[1.0, ord(node)], charge=-1, node_labels=7)
        (tmp_path / f"{name}.json").write_text(json.dumps(nx.node_link_data(graph, edges=key)))
    names, graphs, _ = load_folder(tmp_path)
    assert names == ["both", "digraph", "graph", "multi"]
    for name, graph in zip(names, graphs, strict=True):
        read = as_graphs([graph])
        assert read.edge_data.directed == ("both" in name or "di" in name)
        assert read.x.tolist() == [[-1, 1, 97], [-1, 1, 98], [-1, 1, 99]]  # charge, x[0], x[1]
        assert read.labels.tolist() == [[7]] * 3
        assert read.edges.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]


# --- columns by name ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".graphml", ".json"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"drop": "mass"}, "two{} has no node attribute 'mass', one{} has: give all files the same attributes"),
        ({"add": "spin"}, "one{} has no node attribute 'spin', two{} has"),
        ({"drop": "mass", "add": "spin"}, "two{} has no node attribute 'mass', one{} has"),  # as many, but others
        ({"drop": "length"}, "two{} has no edge attribute 'length', one{} has"),
        ({"drop": "length", "add": "width"}, "two{} has no edge attribute 'length', one{} has"),
        ({"drop": "label"}, "two{} has no edge attribute 'label', one{} has"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*lacks them")
def test_columns_are_matched_by_name(tmp_path, suffix, change, words):
    for name in ("one", "two"):
        graph = bonds()
        nx.set_node_attributes(graph, 1.0, "mass")
        nx.set_node_attributes(graph, 2.0, "charge")
        if name == "two":
            edges = change.get("drop") in ("length", "label")
            items = [data for *_, data in (graph.edges(data=True) if edges else graph.nodes(data=True))]
            for data in items:
                data.pop(change.get("drop"), None)
                if "add" in change:
                    data[change["add"]] = 5.0
        write(graph, tmp_path / f"{name}{suffix}")
    with pytest.raises(ValueError, match=words.format(suffix, suffix).replace(".", r"\.")):
        load_folder(tmp_path)
    (tmp_path / "y.csv").write_text("graph,label\none,a\n")
    assert len(load_folder(tmp_path, tmp_path / "y.csv")[1]) == 1  # the other file is not read


def test_the_order_of_attributes_in_a_file_does_not_matter(tmp_path):
    for name, order in (("one", ("mass", "charge")), ("two", ("charge", "mass"))):
        graph = nx.path_graph(2)
        for attribute in order:
            nx.set_node_attributes(graph, {"mass": 1.0, "charge": 2.0}[attribute], attribute)
        write(graph, tmp_path / f"{name}.graphml")
    assert as_graphs(load_folder(tmp_path)[1]).x.tolist() == [[2, 1]] * 4  # charge, mass


@pytest.mark.parametrize("suffix", [".graphml", ".json"])
def test_names_of_columns_stay_with_the_graphs(tmp_path, suffix):
    graph = bonds()
    graph.graph["node_columns"] = "a name of the file's own"
    for i, node in enumerate(graph):
        graph.nodes[node].update(mass=1.0, charge=i, label="C")
    write(graph, tmp_path / f"one{suffix}")
    graphs = as_graphs(load_folder(tmp_path)[1])
    assert graphs.columns == ("charge", "mass")  # labels and weights are no columns
    assert graphs.edge_data.columns == ("angle", "length")
    wide = nx.path_graph(2)
    nx.set_node_attributes(wide, {0: [1.0, 2.0], 1: [3.0, 4.0]}, "place")
    (tmp_path / "wide").mkdir()
    write(wide, tmp_path / "wide" / "one.json")
    assert as_graphs(load_folder(tmp_path / "wide")[1]).columns == ("place[0]", "place[1]")
    wide.graph["node_columns"] = "a name of the file's own"
    for node in wide:
        wide.nodes[node].clear()
    write(wide, tmp_path / "wide" / "one.json")
    assert load_one(tmp_path / "wide" / "one").graph == {"name": "one"}


def test_a_model_finds_its_columns_in_another_folder(tmp_path, rng):
    def written(folder, names):
        (tmp_path / folder).mkdir()
        for i in range(12):
            graph = nx.cycle_graph(4 + i % 3)
            for _, data in graph.nodes(data=True):
                data.update({name: float(rng.normal()) + 3 * (i % 2) for name in names})
            write(graph, tmp_path / folder / f"{i:02}.graphml")
        return load_folder(tmp_path / folder)[1]

    metric = gml.SGML(n_epochs=1, random_state=0).fit(written("fit", ["charge", "mass"]), np.arange(12) % 2)
    assert metric.transform(written("new", ["mass", "charge"])).shape[0] == 12
    with pytest.raises(ValueError, match="fitted, missing: 'charge'; unknown: 'spin'"):
        metric.transform(written("other", ["mass", "spin"]))


def test_a_graph_without_edges_has_no_edge_attributes_to_compare(tmp_path):
    write(bonds(), tmp_path / "one.graphml")
    write(nx.empty_graph(1), tmp_path / "two.json")
    graphs = as_graphs(load_folder(tmp_path)[1])
    assert graphs.sizes.tolist() == [3, 1]
    assert graphs.edge_data.carries == ["labels", "vectors", "weights"]


def test_two_files_for_one_graph_are_refused(tmp_path):
    for suffix in (".graphml", ".json"):
        write(bonds(), tmp_path / f"one{suffix}")
    with pytest.raises(ValueError, match=r"two files for one graph, one\.graphml and one\.json"):
        load_folder(tmp_path)


def test_tensors_of_edges(tmp_path):
    tensors = {
        "edge_index": EDGES,
        "x": torch.ones(2, 1),
        "edge_attr": torch.tensor([[0.5], [0.5]]),
        "edge_type": torch.tensor([3, 3]),
        "edge_weight": torch.tensor([2.0, 2.0]),
    }
    torch.save(Data(**tensors), tmp_path / "one.pt")
    torch.save(tensors, tmp_path / "two.pt")
    save_file(tensors, tmp_path / "three.safetensors")
    for graph in load_folder(tmp_path)[1]:
        assert arcs(graph) == Counter([(0, 1, "[3]", "[0.5]", "2.0"), (1, 0, "[3]", "[0.5]", "2.0")])


def test_labels_with_a_byte_order_mark(tmp_path):
    nx.write_graphml(nx.path_graph(3), tmp_path / "a.graphml")
    (tmp_path / "labels.csv").write_bytes(b"\xef\xbb\xbfgraph,label\na,yes\n")
    assert load_folder(tmp_path, tmp_path / "labels.csv")[2].tolist() == ["yes"]
    (tmp_path / "labels.csv").write_bytes(b"graph,label\na,\xff\xfe\n")
    with pytest.raises(ValueError, match=r"labels.csv: it is not text in UTF-8"):
        load_folder(tmp_path, tmp_path / "labels.csv")


def test_xml_with_entities_is_refused(tmp_path):
    text = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "ha">]><graphml>&a;</graphml>'
    (tmp_path / "a.graphml").write_text(text)
    with pytest.raises(ValueError, match=r"a.graphml: it declares a document type"):
        load_folder(tmp_path)


def test_a_tensor_that_claims_more_than_the_file_holds(tmp_path):
    """Strides of 0 make 16 bytes look like gigabytes."""
    wide = torch.zeros(1).expand(10**10)[:, None]
    torch.save({"edge_index": torch.tensor([[0], [1]]), "x": wide}, tmp_path / "a.pt")
    with pytest.raises(ValueError, match=r"a.pt: x claims 10000000000 numbers"):
        load_folder(tmp_path)


@pytest.mark.filterwarnings("ignore:.*lacks them")
def test_broken_files_can_be_left_out(tmp_path):
    nx.write_graphml(nx.path_graph(3), tmp_path / "a.graphml")
    (tmp_path / "b.graphml").write_text("<graphml>")
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(ValueError, match=r"cannot read b.graphml"):
        load_folder(tmp_path)
    with pytest.warns(UserWarning, match=r"2 of 3 files left out: cannot read b.graphml.*cannot read c.json"):
        names, graphs, _ = load_folder(tmp_path, on_error="skip")
    assert names == ["a"]
    assert len(graphs) == 1
    (tmp_path / "labels.csv").write_text("graph,label\nb,no\na,yes\n")
    with pytest.warns(UserWarning, match="1 of 2 files left out"):
        names, _, y = load_folder(tmp_path, tmp_path / "labels.csv", on_error="skip")
    assert (names, y.tolist()) == (["a"], ["yes"])
    (tmp_path / "a.graphml").unlink()
    with pytest.raises(ValueError, match="none of 2 files can be read"):
        load_folder(tmp_path, on_error="skip")


def test_files_without_nodes_are_named_and_can_be_left_out(tmp_path):
    nx.write_graphml(nx.path_graph(3), tmp_path / "a.graphml")
    nx.write_graphml(nx.Graph(), tmp_path / "e.graphml")
    with pytest.raises(ValueError, match=r"e.graphml has no nodes: drop it or give it one"):
        load_folder(tmp_path)
    with pytest.warns(UserWarning, match="1 of 2 files left out: e.graphml has no nodes"):
        assert load_folder(tmp_path, on_error="skip")[0] == ["a"]


def test_a_csv_with_more_values_than_columns_names_the_line(folder):
    """As a decimal comma makes it: the number was cut at it."""
    (folder / "classes.csv").write_text("graph,label\none,1\ntwo,1,5\n")
    with pytest.raises(ValueError, match="line 3 has 3 values for 2 columns"):
        load_folder(folder, folder / "classes.csv")


def test_files_that_the_csv_does_not_name_are_counted(folder):
    (folder / "classes.csv").write_text("graph,label\none,1\ntwo,2\n")
    with pytest.warns(UserWarning, match="2 of 4 files left out, 'four' first: .*classes.csv lacks them"):
        assert load_folder(folder, folder / "classes.csv")[0] == ["one", "two"]


def test_a_file_name_in_another_encoding_becomes_text(folder):
    """Answers, pages and files of text could not hold it as it is."""
    os.rename(folder / "one.graphml", os.fsencode(folder) + b"/caf\xe9.graphml")
    names, graphs, _ = load_folder(folder)
    assert names[0] == graphs[0].name == r"caf\udce9"
    assert "".join(names).encode()
