"""Metrics that saw no labels, judged by labels: k-NN on the paper's splits, and agreement of clusters with classes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import adjusted_rand_score

from graph_metric_learn.graphs import Graphs
from graph_metric_learn.metrics.automatic.estimator import GraphMetric
from graph_metric_learn.metrics.base import BaseGraphMetric
from graph_metric_learn.metrics.sgml.estimator import SGML
from graph_metric_learn.predictors import GraphKMeans

from ..pages.render import render_sentence
from . import protocol
from .differences import Comparison, Scores, average, compared_by_dataset, difference_row, judged, score_row, scores_of
from .evaluate import dataset
from .methods import baseline
from .outlook import OUTLOOK_DATASETS
from .records import Config, Record, Result, cell
from .settings import TITLES, task_for
from .tables import SPLITS, Rows, measured

OURS = "graphmetric"
CONTROLS = ("random", "mean-pool", "netlsd")
SEEDS = 5  # of the clusters
JUDGES = ("knn", "kmeans")
FAINT = 0.1  # an adjusted Rand index below it: clusters say next to nothing about classes


def unlabelled_cells(runs: int, datasets: Sequence[str] | None = None) -> list[Config]:
    """Cells of all systems: k-NN by split, k-means by seed."""
    return [
        cell("unlabelled", name, method, judge, run, features=None if method == OURS else features)
        for name, features in OUTLOOK_DATASETS.items()
        if datasets is None or name in datasets
        for method in (OURS, *CONTROLS)
        for run in range(runs)
        for judge in JUDGES
        if judge == "knn" or run < SEEDS
    ]


def evaluate_unlabelled(configs: list[Config], root: str | None) -> list[Result]:
    """The cells of one dataset, system and run; labels are looked at after all was fitted."""
    first = configs[0]
    graphs, y = dataset(first["dataset"], first["features"], root)
    results = []
    for config in configs:
        start = time.perf_counter()
        if config["classifier"] == "kmeans":
            clusters = _clusters(config, graphs, len(np.unique(y)))
            result: Result = {"test": float(adjusted_rand_score(y, clusters))}
        else:
            train, test = protocol.split(y, config["run"])
            distances = _distances(config, graphs, train)
            result = protocol.choose_knn_loo(distances, y, train, test, weighted=True)._asdict()
        results.append({**result, "seconds": {"all": time.perf_counter() - start}})
    return results


def _distances(config: Config, graphs: Graphs, train: np.ndarray) -> np.ndarray:
    """Between all graphs [N, N]; a metric is fitted to the training part."""
    if (metric := _fitted_metric(config, graphs[train])) is not None:
        return metric.pairwise_distances(graphs)
    return baseline(config["method"])[0]().distances(graphs, progress=False)


def _clusters(config: Config, graphs: Graphs, count: int) -> np.ndarray:
    """Clusters of all graphs [N], by k-means from ten starts."""
    if (metric := _fitted_metric(config, graphs)) is not None:
        return GraphKMeans(count, FrozenEstimator(metric), random_state=config["run"]).fit(graphs).labels_
    system: Any = baseline(config["method"])[0]()
    vectors = system.describe(system.read(graphs))
    return KMeans(count, n_init=10, random_state=config["run"]).fit_predict(vectors)


def _fitted_metric(config: Config, graphs: Graphs) -> BaseGraphMetric | None:
    """GraphMetric or untrained SGML on these graphs; None for systems that are not fitted."""
    if config["method"] == "graphmetric":
        return GraphMetric(task="none", random_state=config["run"]).fit(graphs)
    if config["method"] == "random":
        anything = np.arange(len(graphs)) % 2  # SGML asks for classes; without an epoch it does not look at them
        return SGML(n_epochs=0, random_state=config["run"], device="cpu", progress=False).fit(graphs, anything)
    return None


def unlabelled_knn_rows(records: Sequence[Record]) -> Rows:
    """Mean accuracy of k-NN ± standard error by system and dataset, and differences; no rows without records."""
    rows = _score_rows(records, "knn")
    if not rows:
        return []
    for control in CONTROLS:
        if gaps := _comparisons(records, control):
            rows.append(difference_row(f"GraphMetric less {TITLES[control]}", gaps, list(OUTLOOK_DATASETS)))
    seen = {name: _with_labels(records, name) for name in OUTLOOK_DATASETS}
    return [*rows, score_row("for comparison: GraphMetric, labels seen", seen)] if any(seen.values()) else rows


def unlabelled_cluster_rows(records: Sequence[Record]) -> Rows:
    """Mean adjusted Rand index of clusters and classes ± standard error over seeds; no rows without records."""
    return _score_rows(records, "kmeans")


def unlabelled_judgement(records: Sequence[Record]) -> str:
    """Where GraphMetric without labels is ahead of each control, and where clusters show classes at all."""
    against = []
    for control in CONTROLS:
        if gaps := _comparisons(records, control):
            against.append({"name": TITLES[control], "n": len(gaps), "average": average(gaps), **judged(gaps)})
    indices = _indices(records)
    if not against and not indices:
        return ""
    best = {name: max(means, key=means.__getitem__) for name, means in indices.items()}
    shown = {name: means for name, means in indices.items() if means[best[name]] >= FAINT}
    return render_sentence(
        "unlabelled.md",
        against=against,
        n_clustered=len(indices),
        first=[name for name in shown if best[name] == OURS],
        behind=[
            {"name": name, "system": TITLES[best[name]], "index": means[best[name]], "ours": means[OURS]}
            for name, means in shown.items()
            if best[name] != OURS
        ],
        faint=[name for name in indices if name not in shown],
        limit=FAINT,
    )


def _score_rows(records: Sequence[Record], judge: str) -> Rows:
    digits, full, unit = (1, SPLITS, "split") if judge == "knn" else (2, SEEDS, "seed")
    rows = [["", *OUTLOOK_DATASETS, "average"]]
    for method in (OURS, *CONTROLS):
        scores = _scores(records, method, judge)
        if any(scores.values()):
            said = f"{TITLES[method]}, no labels" if method == OURS else TITLES[method]
            rows.append(score_row(said, scores, digits, full, unit))
    return rows if len(rows) > 1 else []


def _scores(records: Sequence[Record], method: str, judge: str) -> dict[str, Scores]:
    """By dataset: accuracies in percent by split, or adjusted Rand indices by seed."""
    wanted = {"what": "unlabelled", "method": method, "classifier": judge}
    scale = 100.0 if judge == "knn" else 1.0
    return {name: scores_of(records, {**wanted, "dataset": name}, scale) for name in OUTLOOK_DATASETS}


def _with_labels(records: Sequence[Record], name: str) -> Scores:
    """The accuracies of GraphMetric's k-NN in the tables of the paper's tasks, which read the same of the graphs."""
    entry = measured(records, task_for(name, OUTLOOK_DATASETS[name]), "graphmetric", "head-knn")
    return dict(zip(entry.splits.tolist(), entry.tests.tolist(), strict=True)) if entry else {}


def _comparisons(records: Sequence[Record], control: str) -> dict[str, Comparison]:
    """k-NN with GraphMetric less that with a control, by dataset."""
    return compared_by_dataset(_scores(records, OURS, "knn"), _scores(records, control, "knn"))


def _indices(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Mean adjusted Rand index by dataset and system, of datasets on which all systems were clustered."""
    by_method = {method: _scores(records, method, "kmeans") for method in (OURS, *CONTROLS)}
    return {
        name: {method: float(np.mean(list(scores[name].values()))) for method, scores in by_method.items()}
        for name in OUTLOOK_DATASETS
        if all(scores[name] for scores in by_method.values())
    }
