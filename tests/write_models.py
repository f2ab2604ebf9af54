"""Writes the model folders that `io/test_saved_models.py` loads: run anew where the format has changed.

    python tests/write_models.py tests/io/models

Each model is saved as NAME/, and what it said when it was saved stands in expected.json: distances from the first
graphs to all, vectors of the first graph, predictions.
"""

import json
import sys
from pathlib import Path

import numpy as np

import graph_metric_learn as gml


def tiny_graphs(count=16, seed=7):
    """Rings and stars with two attributes and a label per node, drawn anew from the seed wherever they are needed."""
    from scipy import sparse
    from torch import tensor
    from torch_geometric.data import Data

    rng = np.random.default_rng(seed)
    graphs, y = [], []
    for i in range(count):
        n, kind = int(rng.integers(4, 9)), i % 2
        ends = [(j, (j + 1) % n) for j in range(n)] if kind else [(0, j) for j in range(1, n)]
        adjacency = sparse.coo_array((np.ones(len(ends)), np.transpose(ends)), shape=(n, n)).toarray()
        x = np.round(rng.normal(size=(n, 2)) + kind, 3)
        edges = np.array((adjacency + adjacency.T).nonzero())
        labels = rng.integers(0, 3, n)
        graphs.append(
            Data(
                x=tensor(x.tolist()),
                edge_index=tensor(edges.tolist()),
                node_labels=tensor(labels.tolist()),
                num_nodes=n,
            )
        )
        y.append("ring" if kind else "star")
    return graphs, np.array(y)


def sizes_of(graphs):
    return np.array([graph.num_nodes for graph in graphs], dtype=float)


def fitted_models():
    """A model of every class, and of every kind of embedding and distance, by name."""
    from sklearn.frozen import FrozenEstimator

    graphs, y = tiny_graphs()
    sgml = {"n_epochs": 2, "random_state": 0}
    yield "sgml-rpw", gml.SGML(**sgml).fit(graphs, y)
    yield "sgml-pw", gml.SGML(**sgml, distance="pw", n_projections=4, features="fuse").fit(graphs, y)
    yield "sgml-sw", gml.SGML(**sgml, distance="sw", n_projections=4, features="degree").fit(graphs, y)
    blocks = {
        "mean": ["attributes@0", "size@0"], "reference": ["labels@0", "labels@1", "wl@1"],
        "density": ["attributes@0", "labels@1"], "axes": ["structure@0", "degree@1"],
        "histogram": ["trees@0", "trees@1"],
    }  # fmt: skip
    for embedding, features in blocks.items():
        metric = gml.GraphMetric(features=features, embedding=embedding, random_state=0)
        yield f"graphmetric-{embedding}", metric.fit(graphs, y)
    chosen = gml.GraphMetric(random_state=0).fit(graphs, y)
    yield "graphmetric-auto", chosen
    yield "whole-families", vector_metric().fit(vector_graphs()[0], y)
    yield "knn-sgml", gml.GraphKNNClassifier(gml.SGML(**sgml), n_neighbors=3).fit(graphs, y)
    yield (
        "knn-graphmetric",
        gml.GraphKNNClassifier(gml.GraphMetric(random_state=0), n_neighbors="auto", weights="distance").fit(
            graphs, y
        ),
    )
    yield "knn-regressor", gml.GraphKNNRegressor(FrozenEstimator(chosen), n_neighbors=2).fit(graphs, sizes_of(graphs))
    yield "svc-sgml", gml.GraphSVC(gml.SGML(**sgml), C=2.0).fit(graphs, y)
    yield from edge_models()
    yield "svc-graphmetric", gml.GraphSVC(gml.GraphMetric(random_state=0), gamma=0.5).fit(graphs, y)
    more, _ = tiny_graphs(30)
    sizes = sizes_of(more)
    thirds, few = np.digitize(sizes, [6, 7]), {"features": ["size@0", "degree@0"], "embedding": "mean"}
    yield "svc-three-classes", gml.GraphSVC(gml.GraphMetric(**few, random_state=0)).fit(more, thirds)
    estimated = gml.GraphMetric(**few, estimate=True, random_state=0)
    yield "classifier", gml.GraphClassifier(estimated).fit(more, thirds)
    yield "regressor", gml.GraphRegressor(gml.GraphMetric(**few, estimate=True, random_state=0)).fit(more, sizes + 0.5)
    yield "clusters", gml.GraphKMeans(2, gml.GraphMetric(**few, random_state=0), random_state=0).fit(more, thirds)


def edge_graphs():
    """The same graphs with edges that carry a label, two numbers and a weight, and have directions."""
    from torch import from_numpy

    rng = np.random.default_rng(11)
    graphs, y = tiny_graphs()
    for graph in graphs:
        count = graph.edge_index.shape[1]
        graph.edge_type = from_numpy(rng.integers(0, 3, count))
        graph.edge_attr = from_numpy(rng.normal(size=(count, 2)).round(3).astype(np.float32))
        graph.edge_weight = from_numpy(rng.uniform(0.5, 2.0, count).round(3).astype(np.float32))
    return graphs, y


def vector_graphs():
    """The same graphs, each with a vector of its own; some numbers in these, and some attributes, are not measured."""
    from torch import from_numpy

    rng = np.random.default_rng(12)
    graphs, y = tiny_graphs()
    for i, graph in enumerate(graphs):
        graph.u = from_numpy(rng.normal(size=(1, 3)).round(3).astype(np.float32) + i % 2)
        if i % 5 == 3:
            graph.u[0, 1], graph.x[0, 0] = np.nan, np.nan
    return graphs, y


def vector_metric():
    families = ["vectors of graphs", "pairs of trees", "size", "attributes, density"]
    return gml.GraphMetric(families=families, graph_attribute="u", missing="mean", random_state=0)


def edge_models():
    """Metrics that see what edges carry, one for each kind of block, and SGML with sums of them."""
    graphs, y = edge_graphs()
    blocks = {
        "trees": ("histogram", ["trees+edges@0", "trees+edges@1"]), "edge-trees": ("histogram", ["edge_trees@0"]),
        "around": ("mean", ["around@0", "strength@0"]), "cloud": ("axes", ["edge@0", "ends@1"]),
        "weighted": ("reference", ["attributes+edges@1", "wl+edges@1"]),
    }  # fmt: skip
    for name, (embedding, features) in blocks.items():
        metric = gml.GraphMetric(features=features, embedding=embedding, random_state=0)
        yield f"edges-{name}", metric.fit(graphs, y)
    yield "edges-sgml", gml.SGML(n_epochs=2, random_state=0, edge_sums=True, propagation="in").fit(graphs, y)
    yield "edges-knn", gml.GraphKNNClassifier(gml.GraphMetric(random_state=0), n_neighbors=1).fit(graphs, y)


def said(model, name):
    """What a model says about graphs, as JSON can hold it."""
    graphs, _ = {"edges": edge_graphs, "whole": vector_graphs}.get(name.partition("-")[0], tiny_graphs)()
    metric = getattr(model, "metric_", model)
    found = {
        "distances": metric.pairwise_distances(graphs[:3], graphs).tolist(),
        "vector": metric.transform(graphs[:1])[0][:64].tolist(),
    }
    if hasattr(model, "predict"):
        found["predictions"] = model.predict(graphs).tolist()
    if hasattr(model, "predict_proba"):
        found["shares"] = model.predict_proba(graphs).tolist()
    if hasattr(model, "decision_function"):
        found["decisions"] = model.decision_function(graphs).tolist()
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    expected = {}
    for name, model in fitted_models():
        model.save(folder / name)
        expected[name] = said(model, name)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
