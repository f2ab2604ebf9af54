import csv
import io
import json

import networkx as nx
import pytest

from graph_metric_learn.cli import main


@pytest.fixture(scope="module")
def index(folder, model, tmp_path_factory):
    out = tmp_path_factory.mktemp("indices") / "index"
    assert main(["index", str(model), str(folder), "--out", str(out)]) == 0
    return out


@pytest.mark.parametrize("kind", ["index", "model"])
def test_neighbours_in_every_format(kind, index, model, folder, tmp_path, capsys):
    place = str(index if kind == "index" else model)
    assert main(["neighbors", place, str(folder), "-k", "3", "--format", "json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 20
    for line in lines:
        assert [one["distance"] for one in line["neighbors"]] == sorted(one["distance"] for one in line["neighbors"])
        assert line["neighbors"][0]["distance"] == pytest.approx(0, abs=1e-3)
        assert line["neighbors"][0]["id"][:4] == line["graph"][:4]  # a ring, or a star
        assert len(line["neighbors"]) == 3
    assert main(["neighbors", place, str(folder), "-k", "3", "--format", "csv", "--out", str(tmp_path / "n.csv")]) == 0
    rows = list(csv.DictReader((tmp_path / "n.csv").open()))
    assert [(row["graph"], row["neighbor"]) for row in rows] == [
        (line["graph"], one["id"]) for line in lines for one in line["neighbors"]
    ]
    assert rows[1]["rank"] == "2"
    assert json.loads(rows[0]["metadata"]) == lines[0]["neighbors"][0]["metadata"]
    capsys.readouterr()
    assert main(["neighbors", place, str(folder), "-k", "3"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[0] == lines[0]["graph"]
    assert lines[0]["neighbors"][0]["id"] in text.splitlines()[1]
    assert len(list(io.StringIO(text))) == 80


def test_approximate_neighbours_say_what_they_find(index, model, folder, capsys):
    pytest.importorskip("usearch", reason="needs graph-metric-learn[index]")
    assert main(["neighbors", str(index), str(folder), "-k", "3", "--approximate"]) == 0
    assert "% of the 10 nearest graphs" in capsys.readouterr().err
    assert main(["neighbors", str(model), str(folder), "--approximate"]) == 2
    assert "--approximate goes with an index" in capsys.readouterr().err


def test_what_is_refused(index, folder, tmp_path, capsys):
    assert main(["neighbors", str(index), str(folder), "-k", "21"]) == 2
    assert "k=21, but the index holds 20 graphs" in capsys.readouterr().err
    assert main(["neighbors", str(tmp_path), str(folder)]) == 2
    assert "is not a model folder" in capsys.readouterr().err


def test_drift(folder, model, tmp_path, capsys):
    out, other = tmp_path / "index", tmp_path / "others"
    other.mkdir()
    for n in range(10):
        nx.write_graphml(nx.complete_graph(30 + n), other / f"complete{n}.graphml")
    assert main(["index", str(model), str(folder), "--out", str(out)]) == 0
    search = ["neighbors", str(out), str(folder), "-k", "1"]
    assert main([*search, "--drift"]) == 0
    assert "% of 20 graphs are far from all that are known" in capsys.readouterr().err
    assert main(["neighbors", str(out), str(other), "-k", "1", "--drift", "--out", str(tmp_path / "table")]) == 0
    assert (
        "100.0 % of 10 graphs are far from all that are known (0.0 % are usual): they differ" in capsys.readouterr().err
    )
    assert main([*search, "--reference", str(folder)]) == 0
    assert "0.0 % of 20 graphs are far" in capsys.readouterr().err
    assert main(["neighbors", str(model), str(folder), "-k", "1", "--drift"]) == 2
    assert "--drift and --reference go with an index" in capsys.readouterr().err
