"""Seeded cases whose results are written down, and the public names with their signatures.

    python tests/recorded_cases.py          # writes recorded_cases.json and public_api.json beside this file

What changes on purpose is written anew with the change, so that a diff shows what became of it.
"""

import inspect
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np

import graph_metric_learn as gml
from edge_graphs import edge_graph
from element_graphs import element_graphs
from graph_zoo import ring_or_hub, zoo
from small_graphs import random_graphs
from write_models import edge_graphs, tiny_graphs

HERE = Path(__file__).parent


def _numbers(values, most=40):
    """The first few of an array, as JSON can hold them."""
    values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    flat = values.ravel()
    return flat[:: max(1, len(flat) // most)][:most].tolist()


def _of_metric(metric, graphs):
    """Distances, widths, and what was chosen."""
    result = {
        "distances": _numbers(metric.pairwise_distances(graphs[:8], graphs)),
        "width": metric.transform(graphs[:2]).shape[1],
    }
    if isinstance(metric, gml.GraphMetric):
        result["report"] = metric.report_
        result["weights"] = metric.weights_
    explanation = metric.explain(graphs[0], graphs[1])
    result["source_share"] = _numbers(explanation.source_share)
    return result


def _of_head(head, graphs):
    result = {"predict": head.predict(graphs).tolist(), **_of_metric(head.metric_, graphs)}
    if hasattr(head, "predict_proba"):
        result["proba"] = _numbers(head.predict_proba(graphs))
    if hasattr(head, "chosen_"):
        result["chosen"] = dict(vars(head.chosen_)) if hasattr(head.chosen_, "__dict__") else head.chosen_
    return json.loads(json.dumps(result, default=float))


def _three_classes(rng, count=60):
    """Rings, hubs and random graphs."""
    graphs = [ring_or_hub(int(n), i % 2, rng) for i, n in enumerate(rng.integers(5, 12, count))]
    graphs[::3] = random_graphs(rng, len(graphs[::3]), smallest=5)
    y = np.arange(count) % 2
    y[::3] = 2
    return graphs, np.array(["ring", "hub", "random"])[y]


def cases():
    """Name and a function that returns what JSON can hold."""

    def rng():
        return np.random.default_rng(11)

    data = {
        "zoo": zoo(rng(), 48),
        "tiny": tiny_graphs(40),
        "edges": edge_graphs(),
        "three": _three_classes(rng()),
        "elements": element_graphs(60, seed=3),
        "directed": ([edge_graph(i, directed=True) for i in range(30)], np.arange(30) % 2),
        "carrying": (
            [edge_graph(i) for i in range(40)],
            np.array([edge_graph(i).number_of_edges() for i in range(40)]),
        ),
    }
    options = {
        "elements": {"label": "element"},
        "directed": {"label": "element", "edge_label": "kind"},
        "carrying": {"label": "element", "edge_label": "kind", "edge_attribute": "v"},
    }
    for name, (graphs, y) in data.items():
        how = {"random_state": 0, **options.get(name, {})}
        numbers = name in ("elements", "carrying")
        heads = (
            {"knn": gml.GraphKNNRegressor, "ridge": gml.GraphRidge, "auto": gml.GraphRegressor}
            if numbers
            else {
                "knn": gml.GraphKNNClassifier,
                "svc": gml.GraphSVC,
                "ridge": gml.GraphRidgeClassifier,
                "auto": gml.GraphClassifier,
            }
        )
        for head, kind in heads.items():
            yield (
                f"{name}-{head}",
                lambda kind=kind, how=how, graphs=graphs, y=y: _of_head(
                    kind(gml.GraphMetric(**how)).fit(graphs, y), graphs
                ),
            )
    zoo_graphs, zoo_y = data["zoo"]
    for distance in ("rpw", "pw", "sw"):
        for loss in ("nccml", "nca"):

            def sgml(distance=distance, loss=loss):
                metric = gml.SGML(distance=distance, loss=loss, n_projections=4, n_epochs=3, random_state=0)
                return _of_head(gml.GraphKNNClassifier(metric, n_neighbors=3).fit(zoo_graphs, zoo_y), zoo_graphs)

            yield f"sgml-{distance}-{loss}", sgml
    metrics = {
        "unlabelled": {"task": "none"},
        "few-coordinates": {"n_components": 4},
        "all-coordinates": {"n_components": None},
        "no-learning": {"learn": False},
        "few-landmarks": {"n_landmarks": 12},
        "two-families": {"families": ["trees", "nodes, mean"]},
        "estimate": {"estimate": True},
        "mean": {"embedding": "mean", "features": ["attributes@0", "size@0"]},
        "density": {"embedding": "density", "features": ["attributes@0"]},
        "counts": {"embedding": "counts", "features": ["trees@0", "trees@1"]},
        "assignment": {"embedding": "assignment", "features": ["trees@1"]},
    }
    for name, how in metrics.items():

        def of_metric(how=how):
            y = None if how.get("task") == "none" else zoo_y
            return _of_metric(gml.GraphMetric(random_state=0, **how).fit(zoo_graphs, y), zoo_graphs)

        yield f"metric-{name}", of_metric
    yield (
        "kmeans",
        lambda: {
            "labels": gml.GraphKMeans(3, random_state=0).fit_predict(zoo_graphs).tolist(),
            "curves": gml.GraphKMeans(3, gml.SGML(n_epochs=1, random_state=0), random_state=0)
            .fit(zoo_graphs, zoo_y)
            .labels_.tolist(),
        },
    )
    yield (
        "class-means",
        lambda: _of_head(gml.NearestClassMean(gml.GraphMetric(random_state=0)).fit(zoo_graphs, zoo_y), zoo_graphs),
    )
    for distance in ("rpw", "sw", "pw"):
        for ties in ("canonical", "optimal", "first"):
            if (distance, ties) != ("sw", "optimal"):

                def clouds(distance=distance, ties=ties):
                    measures = [np.round(x, 1) for _, x in zoo_graphs[:12]]
                    return {
                        "distances": _numbers(
                            gml.pairwise_distances(
                                measures,
                                metric=distance,
                                ties=ties,
                                **({} if distance == "rpw" else {"seed": 0, "n_projections": 5}),
                            )
                        )
                    }

                yield f"clouds-{distance}-{ties}", clouds
    yield "index", _index
    yield "smiles", _smiles


def _index():
    """Search in memory and in a folder, before and after changes."""
    graphs, y = zoo(np.random.default_rng(5), 60)
    result = {}
    for name, metric in (
        ("vectors", gml.GraphMetric(random_state=0)),
        ("curves", gml.SGML(n_epochs=2, random_state=0)),
    ):
        index = gml.GraphIndex(metric.fit(graphs[:40], y[:40])).add(graphs[:40], ids=[f"g{i}" for i in range(40)])
        with tempfile.TemporaryDirectory() as folder:
            index.save(Path(folder) / "index")
            index = gml.GraphIndex.load(Path(folder) / "index")
            index.remove(["g3", "g7"])
            index.add(graphs[40:], ids=[f"g{i}" for i in range(40, 60)])
            distances, ids = index.search(graphs[::9], k=4)
            result[name] = {"distances": _numbers(distances), "ids": ids.ravel().tolist()}
            index.close()
    return result


def _smiles():
    """Molecules with numbers; ends early where RDKit is not installed."""
    ends = {"O": 0, "N": 1, "C(=O)O": 3, "c1ccccc1": 6}
    smiles = [f"{'C' * n}{end}" for n in range(1, 12) for end in ends]
    y = np.array([n + shift + 0.25 for n in range(1, 12) for shift in ends.values()])
    graphs = gml.from_smiles(smiles)
    return _of_head(gml.GraphRegressor(gml.GraphMetric(random_state=0)).fit(list(graphs), y), list(graphs))


def public_api():
    """Signatures of all public names, and of public methods of classes."""
    result = {}
    for name in gml.__all__:
        thing = getattr(gml, name)
        if inspect.ismodule(thing):
            result[name] = sorted(one for one in getattr(thing, "__all__", []))
        elif inspect.isclass(thing):
            result[name] = _signature(thing)
            for method, value in inspect.getmembers(thing):
                ours = str(getattr(value, "__module__", "")).startswith("graph_metric_learn")
                if callable(value) and ours and not method.startswith("_"):
                    result[f"{name}.{method}"] = _signature(value)
        else:
            result[name] = _signature(thing)
    return result


def _signature(thing):
    """As text without annotations, which may be spelt in other words."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(…)"
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


if __name__ == "__main__":
    (HERE / "public_api.json").write_text(json.dumps(public_api(), indent=1, ensure_ascii=False) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorded = {name: case() for name, case in cases()}
    lines = [f"{json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}" for name, found in recorded.items()]
    (HERE / "recorded_cases.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
