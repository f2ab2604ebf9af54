import gzip
import json

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn.datasets.chunks import source_chunks
from graph_metric_learn.datasets.sources import Columns, load_source


@pytest.fixture
def molecules(tmp_path):
    pytest.importorskip("rdkit")
    file = tmp_path / "molecules.csv.gz"
    rows = [f"m{i},{'C' * (i % 5 + 1)}O,{i}" for i in range(25)]
    file.write_bytes(gzip.compress(("name,smiles,number\n" + "\n".join(rows) + "\n").encode()))
    return file


def joined(chunks):
    names, graphs, y = zip(*chunks, strict=True)
    return [name for part in names for name in part], [graph for part in graphs for graph in part], y


def test_a_csv_is_read_some_rows_at_a_time(molecules):
    columns = Columns(target="number", name="name")
    chunks = list(source_chunks(str(molecules), columns=columns, size=10))
    assert [len(chunk.names) for chunk in chunks] == [10, 10, 5]
    names, graphs, y = joined(chunks)
    all_names, all_graphs, all_y = load_source(str(molecules), columns=columns)
    assert names == list(all_names)
    np.testing.assert_array_equal(np.concatenate(y), all_y)
    assert [graph.num_nodes for graph in graphs] == [graph.num_nodes for graph in all_graphs]


def test_bad_rows_are_named_by_their_line_or_left_out(molecules):
    text = gzip.decompress(molecules.read_bytes()).decode().replace("m17,CCCO", "m17,C(C")
    molecules.write_bytes(gzip.compress(text.encode()))
    chunks = source_chunks(str(molecules), size=10)
    assert len(next(chunks).names) == 10
    with pytest.raises(ValueError, match="line 19"):
        next(chunks)
    with pytest.warns(UserWarning, match="line 19"):
        skipped = list(source_chunks(str(molecules), columns=Columns(on_error="skip"), size=10))
    assert [len(chunk.names) for chunk in skipped] == [10, 9, 5]


def test_what_is_left_out_of_several_parts_is_counted(tmp_path):
    pytest.importorskip("rdkit")
    file, skip = tmp_path / "m.csv", Columns(on_error="skip")
    file.write_text("smiles\n" + "C\nx\n" + "x\nx\n" + "C\nC\n")
    with pytest.warns(UserWarning, match="left out") as said:
        assert [chunk.names for chunk in source_chunks(str(file), columns=skip, size=2)] == [["C"], ["C", "C"]]
    assert [str(one.message).split(";")[0] for one in said] == [
        "m.csv: 1 of 2 rows left out: line 3", "m.csv: 3 of 6 rows left out in all",
    ]  # fmt: skip
    with pytest.warns(UserWarning, match="standard input: 2 of 4 lines left out in all"):
        assert len(list(source_chunks("-", columns=skip, lines=["C", "x", "x", "C"], size=2))) == 2
    for lines, words in (
        (["x", "x"], "none of the 2 rows"),
        (["x"] * 3, "input: none of 3 lines can be read"),
    ):
        with pytest.raises(ValueError, match=words):
            list(source_chunks("-", columns=skip, lines=lines, size=2))


def test_a_folder_is_read_some_files_at_a_time(tmp_path):
    for i in range(5):
        nx.write_graphml(nx.path_graph(i + 2), tmp_path / f"g{i}.graphml")
    (tmp_path / "g3.graphml").write_text("<broken")
    chunks = source_chunks(str(tmp_path), size=2)
    assert next(chunks).names == ["g0", "g1"]
    with pytest.raises(ValueError, match="g3"):
        next(chunks)
    with pytest.warns(UserWarning, match="1 of 2 files left out"):
        names, graphs, _ = joined(source_chunks(str(tmp_path), columns=Columns(on_error="skip"), size=2))
    assert names == ["g0", "g1", "g2", "g4"]
    assert [len(graph) for graph in graphs] == [2, 3, 4, 6]
    (tmp_path / "g2.graphml").write_text("<broken")
    with pytest.warns(UserWarning, match="2 of 5 files left out in all"):
        assert joined(source_chunks(str(tmp_path), columns=Columns(on_error="skip"), size=2))[0] == ["g0", "g1", "g4"]
    with pytest.raises(ValueError, match="--target goes with a CSV"):
        next(source_chunks(str(tmp_path), columns=Columns(target="y")))


def test_lines_of_smiles_and_of_json():
    pytest.importorskip("rdkit")
    names, graphs, _ = joined(source_chunks("-", lines=["CCO\n", "\n", "c1ccccc1\n", "C"], size=2))
    assert names == ["CCO", "c1ccccc1", "C"]
    assert [graph.num_nodes for graph in graphs] == [3, 6, 1]
    path = {"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}
    lines = [json.dumps({**path, "name": "two"}), json.dumps(path)]
    names, graphs, _ = joined(source_chunks("-", lines=lines))
    assert names == ["two", "2"]
    assert [len(graph) for graph in graphs] == [2, 2]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "standard input has no graphs"),
        (["CCO", '{"nodes": []}'], "line 2 is not like those before"),
        (["{broken"], "line 1 is not JSON"),
        (["CCO", "C(C"], "line 2"),
    ],
)
def test_bad_lines(lines, words):
    pytest.importorskip("rdkit")
    with pytest.raises(ValueError, match=words):
        list(source_chunks("-", lines=lines))


def test_graphs_on_standard_input_have_the_names_that_networkx_writes():
    graph = nx.path_graph(3)
    graph.name = "my net"
    lines = [json.dumps(nx.node_link_data(graph, edges="edges")), json.dumps(nx.node_link_data(nx.path_graph(2)))]
    lines += [json.dumps({**nx.node_link_data(graph, edges="edges"), "name": "other"})]
    (chunk,) = source_chunks("-", lines=lines)
    assert chunk.names == ["my net", "2", "other"]
