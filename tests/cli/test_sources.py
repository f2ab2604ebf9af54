import csv
import io

import pytest

import graph_metric_learn as gml
from command_line import fit_quickly
from graph_metric_learn.cli import main
from graph_zoo import write_tu


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
