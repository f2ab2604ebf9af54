import csv
import io
import json
import subprocess
import sys

import pytest

from command_line import fit_quickly
from graph_metric_learn.cli import main


def test_predictions_are_a_table(folder, model, tmp_path, capsys):
    assert main(["predict", str(model), str(folder)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 20
    assert all(row["graph"].startswith(row["prediction"]) for row in rows)
    assert float(rows[0]["probability ring"]) + float(rows[0]["probability star"]) == pytest.approx(1, abs=1e-3)
    assert main(["predict", str(model), str(folder), "--out", str(tmp_path / "p.csv")]) == 0
    assert len(list(csv.DictReader((tmp_path / "p.csv").open()))) == 20


def test_predictions_as_json_lines(folder, model, tmp_path, capsys):
    assert main(["predict", str(model), str(folder)]) == 0
    table = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert main(["predict", str(model), str(folder), "--format", "json"]) == 0
    text = capsys.readouterr().out
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["graph"], line["prediction"]) for line in lines] == [
        (row["graph"], row["prediction"]) for row in table
    ]
    for line, row in zip(lines, table, strict=True):
        assert list(line["probabilities"]) == ["ring", "star"]
        assert f"{line['probabilities']['ring']:.4g}" == row["probability ring"]
    assert main(["predict", str(model), str(folder), "--format", "json", "--out", str(tmp_path / "p.jsonl")]) == 0
    assert (tmp_path / "p.jsonl").read_text() == text


def test_numbers_as_json_lines(molecules, tmp_path, capsys):
    source = [str(molecules / "molecules.csv"), "--smiles", "structure"]
    assert fit_quickly(source[0], tmp_path / "m", *source[1:], "--target", "logS", "--model", "ridge") == 0
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "m"), *source, "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert list(first) == ["graph", "prediction"]
    assert isinstance(first["prediction"], float)


# What a prediction by neighbours on graphs that are not of PyTorch Geometric has no use for.
UNUSED = {"torch_geometric", "matplotlib", "sklearn.model_selection", "sklearn.svm", "ot", "jinja2", "IPython"}


@pytest.mark.parametrize("kind", ["folder", "molecules"])
def test_a_prediction_imports_only_what_it_needs(kind, folder, model, molecules, chemist):
    """In a process of its own: importing PyTorch Geometric takes longer than the whole prediction."""
    source = [chemist, molecules / "molecules.csv", "--smiles", "structure"] if kind == "molecules" else [model, folder]
    code = (
        "import sys; from graph_metric_learn.cli import main; assert main(sys.argv[1:]) == 0;"
        f"found = {UNUSED!r} & set(sys.modules); assert not found, found"
    )
    command = [sys.executable, "-c", code, "predict", *map(str, source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("graph,prediction,probability ")
