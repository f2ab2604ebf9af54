import argparse
import csv
import io
import json
import shutil

import numpy as np
import pytest

import graph_metric_learn as gml
from cluster import cluster
from command_line import fit_quickly
from graph_metric_learn.cli import main
from graph_metric_learn.cli.shared_options import read_source, source_chunks, source_options
from graph_zoo import write_tu
from tu_toy import TOY, zipped


def test_molecules_from_a_csv(molecules, chemist, tmp_path, capsys):
    source = [str(molecules / "molecules.csv"), "--smiles", "structure"]
    assert main(["predict", str(chemist), *source, "--name", "id"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert rows[0]["graph"] == "alcohol 3"
    assert all(row["graph"].startswith(row["prediction"]) for row in rows)
    assert main(["predict", str(chemist), *source]) == 0
    assert "\nCCO,alcohol," in capsys.readouterr().out  # without names, the SMILES
    assert main(["distances", str(chemist), *source, "--name", "id", "--out", str(tmp_path / "d.csv")]) == 0
    assert (tmp_path / "d.csv").read_text().startswith("graph,alcohol 3,amine 3,")
    assert gml.load(chemist).names_.tolist()[:2] == ["CCO", "CCN"]


def test_bad_rows_of_a_csv_stop_or_are_left_out(molecules, chemist, capsys):
    assert main(["predict", str(chemist), str(molecules / "bad.csv")]) == 2
    assert "bad.csv, line 3 ('C1CC') is not a valid SMILES" in capsys.readouterr().err
    assert main(["predict", str(chemist), str(molecules / "bad.csv"), "--on-error", "skip"]) == 0
    printed = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert [(row["graph"], row["prediction"]) for row in rows] == [("CCCO", "alcohol"), ("CCCN", "amine")]
    assert "predict: warning: bad.csv: 1 of 3 rows left out: line 3; " in printed.err
    assert printed.err.count("\n") == 1


def test_a_folder_in_tu_format(tmp_path):
    tu = write_tu(tmp_path, 12)
    assert fit_quickly(tu, tmp_path / "a") == 0
    assert main(["fit", "TOY", "--root", str(tmp_path), "--out", str(tmp_path / "b"), "--metric", "sgml"]) == 0
    assert main(["predict", str(tmp_path / "a"), str(tu), "--out", str(tmp_path / "p.csv")]) == 0
    assert gml.load(tmp_path / "b").metric_.features_.kind_ == "degree"


@pytest.mark.parametrize("command", ["predict", "explore", "explain"])
def test_an_index_is_no_model(command, model, folder, tmp_path, capsys):
    out = tmp_path / "index"
    assert main(["index", str(model), str(folder), "--out", str(out)]) == 0
    more = ["0", "1"] if command == "explain" else ["--out", str(tmp_path / "out")]
    capsys.readouterr()
    assert main([command, str(out), str(folder), *more]) == 2
    error = capsys.readouterr().err
    assert f"is an index, which keeps no graphs: `{command}` needs the model" in error
    assert error.count("\n") == 1


def test_graphs_without_nodes_keep_their_numbers_and_are_counted(tmp_path, capsys):
    """The second of 13 graphs has no nodes: the third is still called 2, by every command."""
    tu, model, index = write_tu(tmp_path, 12), str(tmp_path / "m"), str(tmp_path / "i")
    indicator, labels = tu / "TOY_graph_indicator.txt", tu / "TOY_graph_labels.txt"
    numbers = [int(line) for line in indicator.read_text().split()]
    indicator.write_text("\n".join(str(number + (number > 1)) for number in numbers))
    first, *rest = labels.read_text().split()
    labels.write_text("\n".join([first, "7", *rest]))
    own = ["0", *map(str, range(2, 13))]

    def said(*arguments):
        assert main([*arguments, "--quiet"]) == 0
        printed = capsys.readouterr()
        note = f"graph-metric-learn {arguments[0]}: warning: TOY: 1 of 13 graphs left out, which have no nodes: 1\n"
        assert printed.err.replace(_DIRECTION.format(arguments[0]), "") == note
        return printed.out

    said("fit", str(tu), "--out", model, "--no-estimate", "--neighbors", "1")
    rows = list(csv.DictReader(io.StringIO(said("predict", model, str(tu)))))
    assert [row["graph"] for row in rows] == own
    said("distances", model, str(tu), "--out", str(tmp_path / "d.csv"))
    assert (tmp_path / "d.csv").read_text().splitlines()[0] == ",".join(["graph", *own])
    said("index", model, str(tu), "--out", index)
    for where in (index, model):
        lines = said("neighbors", where, str(tu), "-k", "12", "--format", "json").splitlines()
        assert [json.loads(line)["graph"] for line in lines] == own
        assert sorted(one["id"] for one in json.loads(lines[2])["neighbors"]) == sorted(own)
    assert said("explain", model, str(tu), "2", "12").startswith("2 and 12: distance")
    assert main(["explain", model, str(tu), "1", "2"]) == 2  # and not the graph in place 1
    assert "has no graph '1'" in capsys.readouterr().err


def test_the_limit_of_what_archives_unpack_to(tmp_path, model, capsys, monkeypatch):
    bare = {name: TOY[name] for name in ("A", "graph_indicator")}  # like the graphs that the model was fitted to
    (tmp_path / "TOY.zip").write_bytes(zipped({**bare, "graph_labels": "4\n-2\n4" + " " * 10**6}))
    command = ["predict", str(model), "TOY", "--root", str(tmp_path)]
    assert main([*command, "--max-unpacked", "500K"]) == 2
    assert "TOY.zip unpacks to 1,000,0" in (printed := capsys.readouterr().err)
    assert "the limit is 512,000: if you trust it, raise --max-unpacked" in printed
    monkeypatch.setenv("GRAPH_METRIC_LEARN_MAX_UNPACKED", "1000")
    assert main(command) == 2
    assert main([*command, "--max-unpacked", "1G"]) == 0
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--max-unpacked", "much"])
    assert stopped.value.code == 2
    assert "'much' is not a size" in capsys.readouterr().err


_DIRECTION = (
    "graph-metric-learn {}: warning: TOY_A.txt lists every edge in one direction only, and it is read as undirected: "
    "pass directed=True if the direction means something, directed=False to say that it does not\n"
)


def test_nothing_is_overwritten_unasked(folder, model, tmp_path, capsys):
    labels = ["--labels", str(folder / "classes.csv")]
    assert main(["fit", str(folder), *labels, "--out", str(model)]) == 2
    assert "exists already" in capsys.readouterr().err
    (tmp_path / "d.npy").write_text("mine")
    assert main(["distances", str(model), str(folder), "--out", str(tmp_path / "d.npy")]) == 2
    assert (tmp_path / "d.npy").read_text() == "mine"


def test_a_file_where_a_folder_must_be_is_noticed_before_the_work(folder, tmp_path, capsys):
    (tmp_path / "file").write_text("not a folder")
    out = ["--out", str(tmp_path / "file" / "model")]
    assert main(["fit", str(folder), "--labels", str(folder / "classes.csv"), *out]) == 2
    said = capsys.readouterr()
    assert "cannot be written" in said.err
    assert said.out == ""  # neither read nor learned


def test_an_edited_model_is_one_line_and_exit_code_2(folder, model, tmp_path, capsys):
    shutil.copytree(model, tmp_path / "edited")
    file = tmp_path / "edited" / "model.json"
    file.write_text(file.read_text().replace('"n_neighbors": 3', '"n_neighbors": 1'))
    assert main(["predict", str(tmp_path / "edited"), str(folder)]) == 2
    said = capsys.readouterr().err
    assert "was edited" in said
    assert "Traceback" not in said


def test_a_scheduler_does_the_same(model, folder, tmp_path, capsys):
    pytest.importorskip("distributed", reason="needs the extra dask")
    with cluster(tmp_path) as (address, _):
        for command, out in (("distances", "all.npy"), ("index", "index")):
            assert main([command, str(model), str(folder), "--out", str(tmp_path / out)]) == 0
            elsewhere = ["--out", str(tmp_path / f"there-{out}"), "--scheduler", address]
            assert main([command, str(model), str(folder), *elsewhere]) == 0
        np.testing.assert_array_equal(np.load(tmp_path / "there-all.npy"), np.load(tmp_path / "all.npy"))
        capsys.readouterr()
        found = []
        for options in ([], ["--scheduler", address]):
            arguments = ["neighbors", str(tmp_path / "there-index"), str(folder), "-k", "3", "--format", "csv"]
            assert main([*arguments, *options]) == 0
            found.append(capsys.readouterr().out)
        assert found[0] == found[1]
        assert found[0].count("\n") > 3


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x"])
def test_no_scheduler_is_one_line(address, model, folder, tmp_path, capsys, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    real = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: real(address, timeout=0.5))
    arguments = ["distances", str(model), str(folder), "--out", str(tmp_path / "x.npy"), "--scheduler", address]
    assert main(arguments) == 2
    assert f"no scheduler answers at {address}" in capsys.readouterr().err


def test_columns_and_descriptors_of_whole_molecules(tmp_path):
    file = tmp_path / "assays.csv"
    file.write_text("smiles,dose,site\nCCO,2,A\nC,,B\n")
    parser = argparse.ArgumentParser()
    source_options(parser)
    wanted = ("dose", "site=A", "site=B")
    for given in (["--graph-columns", "dose", "site"], ["--graph-columns", "dose", "site", "--descriptors"]):
        options = parser.parse_args(given)
        for graphs in (read_source(options, str(file))[1], whole(options, file)):
            collection = gml.as_graphs(graphs)
            assert collection.graph_columns[:3] == wanted
            assert ("MolWt" in collection.graph_columns) == ("--descriptors" in given)
            np.testing.assert_array_equal(collection.graph_x[:, :3], [[2, 1, 0], [np.nan, 0, 1]])
    assert gml.as_graphs(read_source(parser.parse_args([]), str(file))[1]).graph_x is None


def whole(options, file):
    """The graphs as commands read them that go through files in chunks."""
    options.source = str(file)
    ((_, graphs, _),) = source_chunks(options, 10)
    return graphs
