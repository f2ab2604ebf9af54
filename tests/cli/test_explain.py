import json

import pytest

from graph_metric_learn.cli import main


def test_two_graphs_by_name_and_by_number(model, folder, tmp_path, capsys):
    picture = tmp_path / "why.svg"
    assert main(["explain", str(model), str(folder), "ring5", "star9", "--picture", str(picture)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("ring5 and star9: distance ")
    shares = [float(line.split(" %")[0]) for line in lines[1:-2]]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert lines[-1].startswith("star9: ")
    assert "<svg" in picture.read_text()
    assert main(["explain", str(model), str(folder), "0", "1"]) == 0


def test_all_shares_as_json(model, folder, capsys):
    assert main(["explain", str(model), str(folder), "ring5", "star9", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["graphs"] == ["ring5", "star9"]
    assert sum(found["terms"].values()) == pytest.approx(1)
    assert sum(found["blocks"].values()) == pytest.approx(1)
    assert [len(nodes) for nodes in found["nodes"]] == [5, 10]


def test_a_graph_that_is_not_there(model, folder, capsys):
    assert main(["explain", str(model), str(folder), "ring5", "square"]) == 2
    assert "no graph 'square'" in capsys.readouterr().err
