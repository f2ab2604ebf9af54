import csv
import json
import sys

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import graph_metric_learn as gml
from graph_metric_learn.cli import embed as embed_command
from graph_metric_learn.cli import main


def test_vectors_come_in_the_order_of_the_source(folder, model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(embed_command, "_CHUNK", 7)
    out, names = tmp_path / "vectors.npy", tmp_path / "names.csv"
    assert main(["embed", str(model), str(folder), "--out", str(out), "--names", str(names)]) == 0
    assert f"written: {out} (20 graphs)" in capsys.readouterr().out
    listed = [row for (row,) in csv.reader(names.open())]
    assert listed[0] == "graph"
    graphs = [nx.read_graphml(folder / f"{name}.graphml") for name in listed[1:]]
    vectors = np.load(out)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, gml.load(model).metric_.transform(graphs), atol=1e-5)

    assert main(["embed", str(model), str(folder), "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["embed", str(model), str(folder), "--out", str(out), "--overwrite"]) == 0


def test_the_metric_of_an_index(folder, model, tmp_path):
    index, out = tmp_path / "index", tmp_path / "vectors.npy"
    assert main(["index", str(model), str(folder), "--out", str(index)]) == 0
    assert main(["embed", str(index), str(folder), "--out", str(out)]) == 0
    stored = gml.GraphIndex.load(index)
    np.testing.assert_array_equal(np.load(out), stored.embedded(stored.ids).values)


def test_names_and_targets_of_molecules(molecules, chemist, tmp_path):
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    source = [str(molecules / "molecules.csv"), "--smiles", "structure", "--name", "id", "--target", "class"]
    out, names = tmp_path / "vectors.npy", tmp_path / "names.csv"
    assert main(["embed", str(chemist), *source, "--out", str(out), "--names", str(names)]) == 0
    rows = list(csv.reader(names.open()))
    assert rows[0] == ["graph", "target"]
    assert ["amine 5", "amine"] in rows
    assert len(np.load(out)) == len(rows) - 1


def test_parquet(molecules, chemist, tmp_path):
    pytest.importorskip("rdkit", reason="needs graph-metric-learn[chem]")
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    source = [str(molecules / "molecules.csv"), "--smiles", "structure", "--name", "id", "--target", "class"]
    for ending in ("npy", "parquet"):
        assert main(["embed", str(chemist), *source, "--out", str(tmp_path / f"vectors.{ending}")]) == 0
    table = parquet.read_table(tmp_path / "vectors.parquet")
    assert table.column_names == ["id", "vector", "metadata"]
    np.testing.assert_array_equal(np.stack(table["vector"].to_numpy()), np.load(tmp_path / "vectors.npy"))
    assert json.loads(table["metadata"][table["id"].to_pylist().index("amine 5")].as_py()) == {"target": "amine"}


def test_what_cannot_be_written(folder, model, tmp_path, capsys, monkeypatch):
    assert main(["embed", str(model), str(folder), "--out", str(tmp_path / "vectors.txt")]) == 2
    assert "the ending must be .npy or .parquet" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("graph_metric_learn.io.vectors.find_spec", lambda name: None)
    assert main(["embed", str(model), str(folder), "--out", str(tmp_path / "vectors.parquet")]) == 2
    assert "vectors.parquet: .parquet needs pyarrow: pip install pyarrow, or write .npy" in capsys.readouterr().err
    monkeypatch.setattr(gml.GraphMetric, "transform", lambda self, graphs: sparse.csr_array(np.eye(len(graphs))))
    assert main(["embed", str(model), str(folder), "--out", str(tmp_path / "vectors.npy")]) == 2
    assert "the metric makes sparse vectors" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
