import gzip
import json

import networkx as nx
import numpy as np
import pytest

from graph_metric_learn import as_graphs
from graph_metric_learn.datasets import load_smiles
from graph_metric_learn.datasets.sources import CsvColumns, load_source, source_chunks
from graph_metric_learn.graphs.sources.pyg import PlainData
from tu_toy import TOY, write_folder, zipped


@pytest.fixture
def graphml(tmp_path):
    folder = tmp_path / "graphs"
    folder.mkdir()
    for n in (3, 4):
        nx.write_graphml(nx.path_graph(n), folder / f"path{n}.graphml")
    (folder / "y.csv").write_text("graph,label\npath4,long\npath3,short\n")
    return folder


def test_a_folder_of_graph_files(graphml):
    names, graphs, y = load_source(str(graphml))
    assert names == ["path3", "path4"]
    assert [len(graph) for graph in graphs] == [3, 4]
    assert [graph.name for graph in graphs] == names
    assert y is None
    names, _, y = load_source(str(graphml), labels=graphml / "y.csv")
    assert names == ["path4", "path3"]
    assert y.tolist() == ["long", "short"]


def test_a_tu_dataset_by_folder_or_by_name(tmp_path):
    write_folder(tmp_path)
    (tmp_path / "zips").mkdir()
    (tmp_path / "zips" / "TOY.zip").write_bytes(zipped(TOY))
    for source, root in ((str(tmp_path / "TOY"), None), ("TOY", tmp_path), ("TOY", tmp_path / "zips")):
        names, graphs, y = load_source(source, root=root)
        assert names == ["0", "1", "2"]
        assert y.tolist() == [4, -2, 4]
        assert graphs[0].x.tolist() == [[1, 7], [1, 7], [3, 7], [3, 7]]  # as in the file


def test_graphs_of_tu_files_are_numbered_by_their_place_there(tmp_path):
    write_folder(tmp_path, graph_indicator="1\n1\n1\n1\n3\n3\n4\n", graph_labels="4\n9\n-2\n4\n")
    with pytest.warns(UserWarning, match="TOY: 1 of 4 graphs left out, which have no nodes: 1$"):
        names, graphs, y = load_source(str(tmp_path / "TOY"))
    assert (names, y.tolist()) == (["0", "2", "3"], [4, -2, 4])
    assert [graph.name for graph in graphs] == names


def test_of_many_graphs_without_nodes_some_are_listed(tmp_path):
    labels = "".join(f"{i}\n" for i in range(40))
    write_folder(tmp_path, graph_indicator="1\n1\n1\n1\n39\n39\n40\n", graph_labels=labels)
    with pytest.warns(UserWarning, match="37 of 40 graphs left out, which have no nodes: 1, 2, .*, 20 and 17 more$"):
        assert load_source(str(tmp_path / "TOY"))[0] == ["0", "38", "39"]


def test_what_cannot_be_meant(tmp_path):
    with pytest.raises(ValueError, match="there is no folder no/such/folder"):
        load_source("no/such/folder")
    with pytest.raises(ValueError, match="--labels goes with a folder of graph files"):
        load_source(str(write_folder(tmp_path) / "TOY"), labels=tmp_path / "y.csv")


@pytest.fixture
def molecules(tmp_path):
    path = tmp_path / "molecules.csv"
    path.write_text("id,smiles,class\nm1,CCO,a\nm2,C,b\nm3,x,b\nm4,O,b\n")
    return path


def test_a_csv_of_molecules(molecules):
    with pytest.raises(ValueError, match=r"molecules.csv, line 4 \('x'\)"):
        load_source(str(molecules))
    with pytest.warns(UserWarning, match="1 of 4 rows left out: line 4"):
        names, graphs, y = load_source(str(molecules), columns=CsvColumns("smiles", "class", "id", "skip"))
    assert names == ["m1", "m2", "m4"]
    assert [graph.num_nodes for graph in graphs] == [3, 1, 1]
    assert y.tolist() == ["a", "b", "b"]
    packed = molecules.with_suffix(".CSV.gz")
    packed.write_bytes(gzip.compress(b"smiles\nCCO\n"))
    names, _, y = load_source(str(packed))
    assert (names, y) == (["CCO"], None)


@pytest.mark.parametrize(
    ("values", "kind"),
    [(range(3), "i"), ([0.5, 1.5], "f"), (range(30), "i"), ([f"class {i}" for i in range(30)], "U")],
)
def test_targets_may_be_classes_or_numbers(tmp_path, values, kind):
    rows = [f"C,{values[i % len(values)]}" for i in range(30)]
    path = tmp_path / "numbers.csv"
    path.write_text("\n".join(["smiles,logS", *rows]))
    y = load_source(str(path), columns=CsvColumns(target="logS"))[2]
    assert y.dtype.kind == kind
    assert y.tolist() == [values[i % len(values)] for i in range(30)]


def test_two_molecules_of_two_classes(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("smiles,y\nC,0\nO,1\n")
    assert load_source(str(path), columns=CsvColumns(target="y"))[2].tolist() == [0, 1]


def test_options_of_other_sources_are_refused(graphml, molecules):
    for option, columns in (("smiles", CsvColumns(smiles="s")), ("name", CsvColumns(name="n"))):
        with pytest.raises(ValueError, match=f"--{option} goes with a CSV of molecules"):
            load_source(str(graphml), columns=columns)
    with pytest.raises(ValueError, match="--labels goes with a folder of graph files; --target names"):
        load_source(str(molecules), labels=graphml / "y.csv")


def test_a_file_of_another_kind_is_no_dataset_to_download(tmp_path):
    path = tmp_path / "molecules.smi"
    path.write_text("CCO\n")
    with pytest.raises(ValueError, match=r"molecules.smi is a file, and no .csv"):
        load_source(str(path))


def test_molecules_without_pytorch_geometric_are_read_as_those_with_it(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("id,smiles,class\nm1,CCO,a\nm2,c1ccccc1[N+](=O)[O-],b\nm3,[Na+].[Cl-],b\n")
    names, graphs, y = load_source(str(path), columns=CsvColumns(target="class", name="id"))
    public = load_smiles(path, target="class", name="id")
    assert isinstance(graphs[0], PlainData)
    assert (names, y.tolist()) == (public.names, public.y.tolist())
    plain, data = as_graphs(graphs), as_graphs(public.graphs)
    for part in ("sizes", "edges", "labels", "y", "names"):
        np.testing.assert_array_equal(getattr(plain, part), getattr(data, part))
    np.testing.assert_array_equal(plain.edge_data.labels, data.edge_data.labels)
    assert plain.unused == data.unused


@pytest.fixture
def packed_molecules(tmp_path):
    pytest.importorskip("rdkit")
    file = tmp_path / "molecules.csv.gz"
    rows = [f"m{i},{'C' * (i % 5 + 1)}O,{i}" for i in range(25)]
    file.write_bytes(gzip.compress(("name,smiles,number\n" + "\n".join(rows) + "\n").encode()))
    return file


def joined(chunks):
    names, graphs, y = zip(*chunks, strict=True)
    return [name for part in names for name in part], [graph for part in graphs for graph in part], y


def test_a_csv_is_read_some_rows_at_a_time(packed_molecules):
    columns = CsvColumns(target="number", name="name")
    chunks = list(source_chunks(str(packed_molecules), columns=columns, size=10))
    assert [len(chunk.names) for chunk in chunks] == [10, 10, 5]
    names, graphs, y = joined(chunks)
    all_names, all_graphs, all_y = load_source(str(packed_molecules), columns=columns)
    assert names == list(all_names)
    np.testing.assert_array_equal(np.concatenate(y), all_y)
    assert [graph.num_nodes for graph in graphs] == [graph.num_nodes for graph in all_graphs]


def test_bad_rows_are_named_by_their_line_or_left_out(packed_molecules):
    text = gzip.decompress(packed_molecules.read_bytes()).decode().replace("m17,CCCO", "m17,C(C")
    packed_molecules.write_bytes(gzip.compress(text.encode()))
    chunks = source_chunks(str(packed_molecules), size=10)
    assert len(next(chunks).names) == 10
    with pytest.raises(ValueError, match="line 19"):
        next(chunks)
    with pytest.warns(UserWarning, match="line 19"):
        skipped = list(source_chunks(str(packed_molecules), columns=CsvColumns(on_error="skip"), size=10))
    assert [len(chunk.names) for chunk in skipped] == [10, 9, 5]


def test_what_is_left_out_of_several_parts_is_counted(tmp_path):
    pytest.importorskip("rdkit")
    file, skip = tmp_path / "m.csv", CsvColumns(on_error="skip")
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
        names, graphs, _ = joined(source_chunks(str(tmp_path), columns=CsvColumns(on_error="skip"), size=2))
    assert names == ["g0", "g1", "g2", "g4"]
    assert [len(graph) for graph in graphs] == [2, 3, 4, 6]
    (tmp_path / "g2.graphml").write_text("<broken")
    with pytest.warns(UserWarning, match="2 of 5 files left out in all"):
        assert joined(source_chunks(str(tmp_path), columns=CsvColumns(on_error="skip"), size=2))[0] == [
            "g0",
            "g1",
            "g4",
        ]
    with pytest.raises(ValueError, match="--target goes with a CSV"):
        next(source_chunks(str(tmp_path), columns=CsvColumns(target="y")))


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


@pytest.fixture
def described(tmp_path):
    folder = tmp_path / "described"
    folder.mkdir()
    for n, site in ((3, "A"), (4, "B")):
        path = nx.path_graph(n)
        path.graph.update(age=10 * n, site=site)
        nx.write_graphml(path, folder / f"path{n}.graphml")
    content = {"graph": {"age": 50}, "nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}
    (folder / "path5.json").write_text(json.dumps(content))
    return folder, content


def test_attributes_of_whole_graphs_in_files(described):
    folder, content = described
    wanted = [[30, 1, 0], [40, 0, 1], [50, np.nan, np.nan]]
    columns = CsvColumns(graph_columns=["age", "site"])
    _, graphs, _ = load_source(str(folder), columns=columns)
    (chunk,) = source_chunks(str(folder), columns=columns)
    _, plain, _ = load_source(str(folder))
    for read in (as_graphs(graphs), as_graphs(chunk.graphs), as_graphs(plain, graph_attribute=["age", "site"])):
        assert read.graph_columns == ("age", "site=A", "site=B")
        np.testing.assert_array_equal(read.graph_x, wanted)
    assert as_graphs(plain).unused == ("graph attribute 'age'",)
    (chunk,) = source_chunks("-", columns=CsvColumns(graph_columns=["age"]), lines=[json.dumps(content)])
    assert as_graphs(chunk.graphs).graph_x.tolist() == [[50]]
    with pytest.raises(ValueError, match="no graph has a graph attribute 'agee'"):
        load_source(str(folder), columns=CsvColumns(graph_columns=["agee"]))


def test_vectors_of_molecules(tmp_path):
    path = tmp_path / "assays.csv"
    path.write_text("smiles,dose\nCCO,1\nC,x\n")
    columns = CsvColumns(graph_columns=["dose"], descriptors=True)
    _, graphs, _ = load_source(str(path), columns=columns)
    (chunk,) = source_chunks(str(path), columns=columns)
    for read in (as_graphs(graphs), as_graphs(chunk.graphs)):
        assert read.graph_columns[:2] == ("dose=1", "dose=x")
        assert "MolWt" in read.graph_columns
    (lines,) = source_chunks("-", columns=CsvColumns(descriptors=True), lines=["CCO", "C"])
    np.testing.assert_array_equal(as_graphs(lines.graphs).graph_x, as_graphs(graphs).graph_x[:, 2:])
    with pytest.raises(ValueError, match="--descriptors goes with a CSV"):
        load_source(str(tmp_path), columns=CsvColumns(descriptors=True))


def test_attributes_of_whole_graphs_in_tu_files(tmp_path):
    write_folder(tmp_path, graph_attributes="1.5, 7\n2, nan\n3, 1e300\n", graph_indicator="1\n1\n1\n1\n1\n1\n3\n")
    for columns in (None, CsvColumns(graph_columns=["u"])):
        with pytest.warns(UserWarning, match="have no nodes: 1"):
            _, graphs, _ = load_source(str(tmp_path / "TOY"), columns=columns)
        assert graphs[0].u.tolist() == [[1.5, 7]]
        read = as_graphs(graphs)
        assert (read.graph_x is None) == (columns is None)
        assert read.unused == (("graph attribute 'u'",) if columns is None else ())
        assert as_graphs(graphs, graph_attribute="u").graph_x.tolist() == [[1.5, 7], [3, 1e300]]
    write_folder(tmp_path, graph_attributes="1\n2\n")
    with pytest.raises(ValueError, match=r"TOY_graph_attributes\.txt has 2 lines for the 3 graphs of TOY_graph_labels"):
        load_source(str(tmp_path / "TOY"))
