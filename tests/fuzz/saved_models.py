"""Every kind of model, small and quick to fit, saved in a folder each, for fuzzing."""

import numpy as np

import graph_metric_learn as gml
from write_models import edge_graphs, tiny_graphs, vector_graphs, vector_metric


def models():
    """(name, model, graphs) of every class and of every kind of embedding, distance and head."""
    from sklearn.frozen import FrozenEstimator

    graphs, y = tiny_graphs(12)
    sizes = np.array([graph.num_nodes + 0.5 for graph in graphs])
    several = np.stack([sizes, sizes**2], axis=1)
    several[::3, 1] = np.nan
    quick = {"n_epochs": 1, "random_state": 0}
    yield "sgml-rpw", gml.SGML(**quick).fit(graphs, y), graphs
    yield "sgml-pw", gml.SGML(**quick, distance="pw", n_projections=3, features="fuse").fit(graphs, y), graphs
    yield "sgml-sw", gml.SGML(**quick, distance="sw", n_projections=3, features="degree").fit(graphs, y), graphs
    yield "sgml-masses", gml.SGML(**quick, masses="learned").fit(graphs, y), graphs
    yield "sgml-numbers", gml.SGML(**quick, loss="mlkr", features="labels").fit(graphs, sizes), graphs
    blocks = {
        "mean": ["attributes@0", "size@0"], "reference": ["labels@0", "wl@1"], "axes": ["structure@0", "degree@1"],
        "density": ["attributes@0", "degree@1"], "histogram": ["trees@0", "trees@1"], "counts": ["trees@1"],
        "assignment": ["trees@1"], "normalized-assignment": ["trees@0"],
    }  # fmt: skip
    for embedding, features in blocks.items():
        metric = gml.GraphMetric(features=features, embedding=embedding, random_state=0).fit(graphs, y)
        yield f"graphmetric-{embedding}", metric, graphs
    whole = gml.GraphMetric(features=["trees@1"], n_components=None, random_state=0)
    yield "graphmetric-sparse", whole.fit(graphs, sizes), graphs
    yield "graphmetric-auto", gml.GraphMetric(random_state=0).fit(graphs, several), graphs
    some, classes = vector_graphs()
    yield "graphmetric-families", vector_metric().fit(some, classes), some
    nothing = gml.GraphMetric(features=["attributes@0", "degree@0"], task="none", random_state=0).fit(graphs)
    yield "graphmetric-nothing", nothing, graphs
    trees = gml.GraphMetric(features=["trees@1"], n_components=4, random_state=0)
    learned = FrozenEstimator(trees.fit(graphs, y))
    walked = FrozenEstimator(gml.SGML(**quick).fit(graphs, y))
    yield "knn", gml.GraphKNNClassifier(learned, n_neighbors=3).fit(graphs, y), graphs
    yield "knn-sgml", gml.GraphKNNClassifier(walked).fit(graphs, y), graphs
    yield "knn-numbers", gml.GraphKNNRegressor(learned).fit(graphs, sizes), graphs
    yield "knn-several", gml.GraphKNNRegressor(walked).fit(graphs, several), graphs
    yield "svc", gml.GraphSVC(learned, class_weight={"ring": 1.0, "star": 2.0}).fit(graphs, y), graphs
    yield "ridge", gml.GraphRidge(trees).fit(graphs, sizes), graphs
    yield "ridge-walked", gml.GraphRidgeClassifier(walked).fit(graphs, y), graphs
    yield "means", gml.NearestClassMean(walked).fit(graphs, y), graphs
    yield "kmeans", gml.GraphKMeans(2, nothing_of(graphs), random_state=0).fit(graphs), graphs
    yield "classifier", gml.GraphClassifier(learned).fit(graphs, y), graphs
    yield "regressor", gml.GraphRegressor(trees).fit(graphs, several), graphs
    carrying, y = edge_graphs()
    for name, embedding, features in (
        ("around", "mean", ["around@0", "strength@0"]), ("cloud", "axes", ["edge@0", "ends@1"]),
        ("trees", "histogram", ["trees+edges@1"]), ("roots", "counts", ["edge_trees@0"]),
    ):  # fmt: skip
        metric = gml.GraphMetric(features=features, embedding=embedding, random_state=0).fit(carrying, y)
        yield f"edges-{name}", metric, carrying
    yield "edges-sgml", gml.SGML(**quick, edge_sums=True, propagation="in").fit(carrying, y), carrying


def nothing_of(graphs):
    return gml.GraphMetric(features=["degree@0"], task="none", random_state=0)


def answers(model, graphs):
    """What a model says about a few graphs: arrays by name."""
    metric = getattr(model, "metric_", model)
    some = graphs[:3]
    vectors = metric.transform(some)
    found = {
        "vectors": vectors.toarray() if hasattr(vectors, "toarray") else vectors,
        "distances": metric.pairwise_distances(some, graphs[:5]),
    }
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            found[name] = getattr(model, name)(some)
    return found


def finite(found):
    """Whether all numbers among the answers are finite."""
    return all(value.dtype.kind != "f" or np.isfinite(value).all() for value in map(np.asarray, found.values()))
