import json
import os

import networkx as nx
import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.io import models as persistence
from graph_zoo import zoo


@pytest.fixture
def metric(rng):
    return gml.SGML(n_epochs=1, random_state=0).fit(*zoo(rng, 10))


def test_everything_comes_back(rng, tmp_path):
    pairs, y = zoo(rng, 10)
    for i, options in enumerate(({}, {"distance": "sw"}, {"propagation": "sum", "activation": "none", "depth": 3})):
        metric = gml.SGML(n_epochs=2, random_state=0, **options).fit(pairs, y)
        metric.save(tmp_path / f"m{i}")
        again = gml.SGML.load(tmp_path / f"m{i}")
        assert again.get_params() == metric.get_params()
        assert np.array_equal(again.pairwise_distances(pairs), metric.pairwise_distances(pairs))
        assert np.array_equal(again.transform(pairs), metric.transform(pairs))
        assert again.history_ == metric.history_
        assert again.classes_.tolist() == metric.classes_.tolist()
        again.partial_fit(pairs, y, n_epochs=1)


def test_labels_as_features_come_back(tmp_path):
    graphs = [nx.path_graph(n) for n in range(3, 9)]
    for graph in graphs:
        nx.set_node_attributes(graph, {i: "CN"[i % 2] for i in graph}, "label")
    metric = gml.SGML(features="labels", n_epochs=1, random_state=0).fit(graphs, [0, 1] * 3)
    metric.save(tmp_path / "m")
    assert np.array_equal(gml.SGML.load(tmp_path / "m").transform(graphs), metric.transform(graphs))


def test_no_pickle_in_the_folder(metric, tmp_path):
    metric.save(tmp_path / "m")
    assert sorted(os.listdir(tmp_path / "m")) == ["model.json", "tensors.safetensors"]
    assert json.loads((tmp_path / "m" / "model.json").read_text())["format"] == "graph-metric-learn"


def test_overwriting_must_be_asked_for(metric, tmp_path):
    metric.save(tmp_path / "m")
    with pytest.raises(ValueError, match="exists already"):
        metric.save(tmp_path / "m")
    metric.save(tmp_path / "m", overwrite=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep me")
    with pytest.raises(ValueError, match="not a model folder"):
        metric.save(tmp_path / "mine", overwrite=True)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep me"


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_interrupted_save_leaves_nothing_behind(metric, tmp_path, monkeypatch, overwrite):
    if overwrite:
        metric.save(tmp_path / "m")
    before = sorted(os.listdir(tmp_path))
    real = persistence.Path.write_text
    monkeypatch.setattr(persistence.Path, "write_text", lambda *args: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        metric.save(tmp_path / "m", overwrite=overwrite)
    monkeypatch.setattr(persistence.Path, "write_text", real)
    assert sorted(os.listdir(tmp_path)) == before
    if overwrite:
        gml.SGML.load(tmp_path / "m")


def damage_tensors(folder):
    data = bytearray((folder / "tensors.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "tensors.safetensors").write_bytes(data)


def change(**entries):
    def apply(folder):
        head = json.loads((folder / "model.json").read_text())
        (folder / "model.json").write_text(json.dumps({**head, **entries}))

    return apply


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (damage_tensors, "tensors.safetensors is damaged"),
        (change(version=99), "format version 99"),
        (change(format="other"), "is not a graph-metric-learn model"),
        (change(kind="Thing"), "holds a Thing"),
        (change(library=3), "model.json is damaged: library must be a string, got 3"),
        (change(tensors="../other"), "model.json is damaged: tensors"),
        (change(config=[]), "model.json is damaged: config must be a dictionary"),
        (change(more=1), "model.json is damaged: more is not known"),
        (change(library="0"), "is damaged or was edited"),
        (lambda f: (f / "model.json").write_text("{"), "damaged or not ours"),
        (lambda f: (f / "model.json").write_text("[]"), "damaged or not ours"),
        (lambda f: (f / "tensors.safetensors").unlink(), "not a model folder"),
    ],
)
def test_damaged_and_foreign_files_get_a_clear_error(metric, tmp_path, harm, words):
    metric.save(tmp_path / "m")
    harm(tmp_path / "m")
    with pytest.raises(ValueError, match=words):
        gml.SGML.load(tmp_path / "m")


def test_a_missing_folder(tmp_path):
    with pytest.raises(ValueError, match="is not a model folder"):
        gml.SGML.load(tmp_path / "nothing")
