import csv

import networkx as nx
import numpy as np

import graph_metric_learn as gml
from graph_metric_learn.cli import main


def test_distances_to_npy_and_csv(folder, model, tmp_path):
    for ending in ("npy", "csv"):
        assert main(["distances", str(model), str(folder), "--out", str(tmp_path / f"d.{ending}")]) == 0
    matrix = np.load(tmp_path / "d.npy")
    graphs = [nx.read_graphml(path) for path in sorted(folder.glob("*.graphml"))]
    np.testing.assert_allclose(matrix, gml.load(model).metric_.pairwise_distances(graphs), atol=1e-6)
    table = list(csv.reader((tmp_path / "d.csv").open()))
    assert table[0][:2] == ["graph", "ring10"]
    np.testing.assert_allclose(np.array([row[1:] for row in table[1:]], dtype=float), matrix, atol=1e-4)
    out = tmp_path / "wide.npy"
    assert main(["distances", str(model), str(folder), "--others", str(folder), "--out", str(out)]) == 0
    np.testing.assert_allclose(np.load(out), matrix, atol=1e-4)
