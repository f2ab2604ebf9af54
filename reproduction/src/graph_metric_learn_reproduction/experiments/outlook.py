"""The paper's outlook, measured: nearest class means, learned masses of nodes, and learning from numbers."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator

from graph_metric_learn.metrics.automatic.estimator import GraphMetric
from graph_metric_learn.metrics.base import BaseGraphMetric
from graph_metric_learn.metrics.sgml.estimator import SGML
from graph_metric_learn.predictors import GraphKNNClassifier, GraphKNNRegressor, NearestClassMean

from ..pages.render import render_sentence
from . import protocol
from .differences import (
    CLEAR,
    Comparison,
    Scores,
    average,
    compared,
    compared_by_dataset,
    difference_row,
    judged,
    score_row,
    scores_of,
    scores_text,
)
from .evaluate import dataset
from .heads import accuracy, root_mean_square_error
from .molecules import group_split, molecule_wanted, read_molecules
from .records import Config, Record, Result, cell, matching
from .settings import TITLES, title
from .tables import Rows

# Node features of SGML by dataset: the richest that the paper's tables have. GraphMetric reads all that nodes carry.
OUTLOOK_DATASETS = {
    "MUTAG": "degree", "BZR": "attributes", "COX2": "attributes", "ENZYMES": "fuse", "IMDB-BINARY": "degree",
    "PROTEINS": "fuse",
}  # fmt: skip
NUMBERS_DATASET = "ESOL"
N_NEIGHBORS = 5  # of the predictor of numbers


class Variant(NamedTuple):
    """A metric as it comes, but for the named options."""

    method: str
    model: dict[str, Any]


VARIANTS = {
    "SGML": Variant("sgml", {}),
    "SGML, learned masses": Variant("sgml", {"masses": "learned"}),
    "GraphMetric": Variant("graphmetric", {}),
}
PREDICTORS = {"knn": "k-NN", "ncm": "nearest class mean"}
Row = tuple[str, str]  # metric, predictor
COMPARED: dict[str, tuple[Row, Row]] = {  # the first with the second, split by split
    "nearest class means on SGML": (("SGML", "ncm"), ("SGML", "knn")),
    "learned masses": (("SGML, learned masses", "knn"), ("SGML", "knn")),
    "nearest class means on GraphMetric": (("GraphMetric", "ncm"), ("GraphMetric", "knn")),
}
_MORE = {"loss": "mlkr", "edge_sums": True, "batch_size": 64}  # what the guide recommends for molecules
NUMBER_VARIANTS = {  # without training, and with it
    "SGML": (Variant("sgml", {"loss": "mlkr", "n_epochs": 0}), Variant("sgml", {"loss": "mlkr"})),
    "SGML, edge_sums=True, batch_size=64": (Variant("sgml", {**_MORE, "n_epochs": 0}), Variant("sgml", _MORE)),
}


def outlook_cells(runs: int, datasets: Sequence[str] | None = None) -> list[Config]:
    """Cells of classes: each metric with k-NN and nearest class means, by dataset and split."""
    return [
        cell(
            "outlook", name, variant.method, predictor, run,
            features=features if variant.method == "sgml" else None, model=variant.model,
        )
        for variant in VARIANTS.values()
        for name, features in OUTLOOK_DATASETS.items()
        if datasets is None or name in datasets
        for run in range(runs)
        for predictor in PREDICTORS
    ]  # fmt: skip


def number_cells(runs: int, datasets: Sequence[str] | None = None) -> list[Config]:
    """Cells of numbers: SGML with and without training, by split."""
    if datasets is not None and NUMBERS_DATASET not in datasets:
        return []
    return [
        cell("outlook", NUMBERS_DATASET, variant.method, f"{N_NEIGHBORS}-nn", run, model=variant.model)
        for pair in NUMBER_VARIANTS.values()
        for variant in pair
        for run in range(runs)
    ]


def evaluate_outlook(configs: list[Config], root: str | None, folder: str) -> list[Result]:
    """The cells of one dataset, split and metric; `folder` has the molecules."""
    first = configs[0]
    if first["dataset"] == NUMBERS_DATASET:
        return [_number_result(config, folder) for config in configs]
    graphs, y = dataset(first["dataset"], first["features"], root)
    train, test = protocol.split(y, first["run"])
    start = time.perf_counter()
    neighbors = GraphKNNClassifier(_metric(first)).fit(graphs[train], y[train])
    training = time.perf_counter() - start
    classes, counts = np.unique(y[train], return_counts=True)
    largest = float(np.mean(y[test] == classes[counts.argmax()]))
    results = []
    for config in configs:
        began = time.perf_counter()
        model: Any = neighbors
        if config["classifier"] == "ncm":
            model = NearestClassMean(FrozenEstimator(neighbors.metric_)).fit(graphs[train], y[train])
        reached = accuracy(model, graphs[test], y[test])
        seconds = {"training": training, "classifier": time.perf_counter() - began}
        results.append({"test": reached, "largest_class": largest, "chosen": model.chosen_, "seconds": seconds})
    return results


def _number_result(config: Config, folder: str) -> Result:
    """The error of 5-NN with SGML on molecules, beside that of the mean of the training part."""
    data = read_molecules(config["dataset"], folder, "kept")
    train, test = group_split(data.groups, config["run"])
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the graphs carry edge labels")  # without edge_sums it reads nodes alone
        model = GraphKNNRegressor(_metric(config), n_neighbors=N_NEIGHBORS).fit(data.graphs[train], data.y[train])
    trained = time.perf_counter()
    reached = root_mean_square_error(model, data.graphs[test], data.y[test])
    of_mean = float(np.sqrt(np.mean((data.y[test] - data.y[train].mean()) ** 2)))
    seconds = {"training": trained - start, "classifier": time.perf_counter() - trained}
    return {"test": reached, "mean_error": of_mean, "seconds": seconds}


def _metric(config: Config) -> BaseGraphMetric:
    if config["method"] == "graphmetric":
        return GraphMetric(**config["model"], task="classes", random_state=config["run"])
    return SGML(**config["model"], random_state=config["run"], device="cpu", progress=False)


def outlook_rows(records: Sequence[Record]) -> Rows:
    """Mean accuracy ± standard error by metric, predictor and dataset, and paired differences; none without records."""
    names = list(OUTLOOK_DATASETS)
    rows = [["", *names, "average"]]
    for row in itertools.product(VARIANTS, PREDICTORS):
        scores = outlook_scores(records, *row)
        if any(scores.values()):
            rows.append(score_row(_title(row), scores))
        for one, other in COMPARED.values():
            if one == row and (differences := _comparisons(records, one, other)):
                rows.append(difference_row(f"— less {_title(other)}", differences, names))
    if len(rows) == 1:
        return []
    return [*rows, [TITLES["largest-class"], *(_largest_class(records, name) for name in names), ""]]


def number_rows(records: Sequence[Record]) -> Rows:
    """Mean RMSE ± standard error on molecules, and what training changes; no rows without records."""
    rows = [["", f"{NUMBERS_DATASET}, RMSE"]]
    for name, pair in NUMBER_VARIANTS.items():
        untrained, trained = (_number_scores(records, variant) for variant in pair)
        if untrained or trained:
            rows.append([f"{name}, untrained, {N_NEIGHBORS}-NN", scores_text(untrained, 3)])
            rows.append([f'{name}, loss="mlkr", {N_NEIGHBORS}-NN', scores_text(trained, 3)])
            rows.append(["— less untrained", str(compared(trained, untrained, 3) or "")])
    if len(rows) == 1:
        return []
    wanted = molecule_wanted(NUMBERS_DATASET, "graphmetric", "head-knn", "kept")
    measured = matching(records, what="outlook", dataset=NUMBERS_DATASET)
    of_mean = {one["config"]["run"]: one["result"]["mean_error"] for one in measured}
    rows.append([title("graphmetric", "head-knn"), scores_text(scores_of(records, wanted), 3)])
    return [*rows, ["always the mean", scores_text(of_mean, 3)]]


def outlook_judgement(records: Sequence[Record]) -> str:
    """Where each of these helps, and where it does not; empty if nothing is measured."""
    lines = []
    for what, (one, other) in COMPARED.items():
        if gaps := _comparisons(records, one, other):
            lines.append(
                {"what": what, "other": _title(other), "n": len(gaps), "average": average(gaps), **judged(gaps)}
            )
    numbers = {}
    for name, pair in NUMBER_VARIANTS.items():
        untrained, trained = (_number_scores(records, variant) for variant in pair)
        if (difference := compared(trained, untrained, 3)) is not None:
            numbers[name] = difference
    if not lines and not numbers:
        return ""
    return render_sentence("outlook.md", lines=lines, numbers=numbers, dataset=NUMBERS_DATASET, clear=CLEAR)


def outlook_scores(records: Sequence[Record], metric: str, predictor: str) -> dict[str, Scores]:
    """Accuracies in percent by dataset and split."""
    variant = VARIANTS[metric]
    wanted = {"what": "outlook", "method": variant.method, "model": variant.model, "classifier": predictor}
    return {name: scores_of(records, {**wanted, "dataset": name}, 100.0) for name in OUTLOOK_DATASETS}


def _number_scores(records: Sequence[Record], variant: Variant) -> Scores:
    return scores_of(records, {"what": "outlook", "dataset": NUMBERS_DATASET, "model": variant.model})


def _comparisons(records: Sequence[Record], one: Row, other: Row) -> dict[str, Comparison]:
    return compared_by_dataset(outlook_scores(records, *one), outlook_scores(records, *other))


def _title(row: Row) -> str:
    metric, predictor = row
    return f"{metric}, {PREDICTORS[predictor]}"


def _largest_class(records: Sequence[Record], name: str) -> str:
    measured = matching(records, what="outlook", dataset=name)
    by_split = {one["config"]["run"]: one["result"]["largest_class"] for one in measured}
    return f"{100 * np.mean(list(by_split.values())):.1f}" if by_split else ""
