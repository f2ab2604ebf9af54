import json

import networkx as nx
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.cli import main


def about(model, capsys):
    assert main(["info", str(model), "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.count("\n") == 1
    return json.loads(printed.out)


def test_a_predictor_and_its_metric(model, capsys):
    loaded = gml.load(model)
    found = about(model, capsys)
    assert (found["kind"], found["metric"], found["task"]) == ("GraphKNNClassifier", "GraphMetric", "classes")
    assert found["settings"] == {"n_neighbors": 3, "weights": "distance"}
    assert found["metric_settings"]["estimate"] is False
    assert found["classes"] == ["ring", "star"]
    assert found["reference_graphs"] == 20
    assert found["chosen"]["n_neighbors"] == loaded.n_neighbors_ == 3
    assert found["report"] == loaded.metric_.report_
    assert found["bytes"] == sum(path.stat().st_size for path in model.iterdir())


def test_the_same_in_lines(model, capsys):
    assert main(["info", str(model)]) == 0
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["kind"] == "GraphKNNClassifier"
    assert lines["settings"] == "n_neighbors=3, weights='distance'"
    assert lines["classes"] == "ring, star"
    assert lines["reference graphs"] == "20"
    assert lines["report"].startswith("compares ")


GRAPHS = [nx.cycle_graph(n) for n in range(4, 9)] + [nx.star_graph(n) for n in range(4, 9)]
KINDS = ["ring"] * 5 + ["star"] * 5
SIZES = [len(graph) + 0.5 for graph in GRAPHS]


@pytest.mark.parametrize(
    ("model", "y", "task", "classes", "references"),
    [
        (gml.SGML(n_epochs=1), KINDS, "classes", ["ring", "star"], None),
        (gml.GraphMetric(features=["degree@0"]), KINDS, "classes", ["ring", "star"], None),
        (gml.GraphKNNRegressor(gml.GraphMetric(features=["degree@0"])), SIZES, "numbers", None, 10),
        (gml.GraphSVC(gml.SGML(n_epochs=1), gamma=1.0, C=1.0), KINDS, "classes", ["ring", "star"], 10),
    ],
)
def test_models_of_all_kinds(model, y, task, classes, references, tmp_path, capsys):
    model.fit(GRAPHS, y).save(tmp_path / "model")
    found = about(tmp_path / "model", capsys)
    assert (found["kind"], found["task"], found["classes"], found["reference_graphs"]) == (
        type(model).__name__, task, classes, references,
    )  # fmt: skip
    assert (found["metric"] is None) == (references is None)


def test_what_is_no_model(tmp_path, capsys):
    assert main(["info", str(tmp_path)]) == 2
    assert "info: " in (error := capsys.readouterr().err)
    assert "not a model folder" in error


def test_an_index(model, folder, tmp_path, capsys):
    out = tmp_path / "index"
    assert main(["index", str(model), str(folder), "--out", str(out)]) == 0
    capsys.readouterr()
    found = about(out, capsys)
    assert (found["kind"], found["graphs"], found["metric"], found["task"]) == (
        "GraphIndex", 20, "GraphMetric", "classes",
    )  # fmt: skip
    assert found["bytes"] == sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    assert main(["info", str(out)]) == 0
    assert "graphs: 20\n" in capsys.readouterr().out


class OwnEncoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.LazyLinear(4)

    def forward(self, batch):
        return self.linear(batch.x)


def test_an_encoder_of_ones_own_is_named_in_one_line(tmp_path, capsys):
    metric = gml.SGML(encoder=OwnEncoder(), n_epochs=1, random_state=0)
    model = gml.GraphKNNClassifier(metric, n_neighbors=1).fit(GRAPHS, KINDS)
    model.save(tmp_path / "model")
    assert main(["info", str(tmp_path / "model")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "OwnEncoder, an encoder of your own, which files do not hold: load it in Python" in error
