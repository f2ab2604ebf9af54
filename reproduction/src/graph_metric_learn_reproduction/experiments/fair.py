"""The splits of "A fair comparison of graph neural networks for graph classification" (Errica et al., ICLR 2020)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from graph_metric_learn.metrics.automatic.estimator import GraphMetric

from .evaluate import all_graphs
from .heads import head_results
from .records import Config, Record, Result, cell, matching
from .settings import HEADS, TITLES
from .tables import Rows

FAIR_DATASETS = ("NCI1", "PROTEINS", "ENZYMES", "IMDB-BINARY", "IMDB-MULTI")
# The best of each paper on these splits, whichever its method, in percent, in the order of FAIR_DATASETS.
FAIR_PUBLISHED = {
    "best of the networks and baselines of that paper": (80.0, 75.8, 65.2, 71.2, 49.1),
    "PathNN (Michel et al., ICML 2023), best variant": (82.3, 75.2, 73.0, 72.6, 50.8),
}


def read_splits(folder: str | Path, name: str, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test indices of each fold, from NAME.json: the validation part belongs to training.

    The file is a list of folds with "test", "train" and "validation"; as published, the last two stand in the only
    entry of "model_selection". All choices are made inside the training part, so that no validation part is needed.
    """
    path = Path(folder) / f"{name}.json"
    try:
        folds = json.loads(path.read_text(encoding="utf-8"))
        inner = [fold["model_selection"][0] if "model_selection" in fold else fold for fold in folds]
        splits = [
            (np.array([*part["train"], *part["validation"]]), np.array(fold["test"]))
            for part, fold in zip(inner, folds, strict=True)
        ]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{path}: not a file of splits ({error})") from None
    for train, test in splits:
        both = np.sort(np.concatenate([train, test]))
        if len(both) != count or (both != np.arange(count)).any():
            raise ValueError(f"{path}: a fold does not have each of the {count} graphs of {name} once")
    return splits


def fair_cells(runs: int, datasets: Sequence[str] | None = None) -> list[Config]:
    """A cell for each dataset, fold and head."""
    return [
        cell("fair", name, "graphmetric", head, run)
        for name in FAIR_DATASETS
        if datasets is None or name in datasets
        for run in range(runs)
        for head in HEADS
    ]


def evaluate_fair(configs: list[Config], root: str | None, folder: str) -> list[Result]:
    """The cells of one dataset and fold."""
    first = configs[0]
    graphs, y = all_graphs(first["dataset"], root)
    train, test = read_splits(folder, first["dataset"], len(y))[first["run"]]
    metric = GraphMetric(task="classes", random_state=first["run"])
    heads = [config["classifier"] for config in configs]
    return head_results(metric, heads, (graphs[train], y[train]), (graphs[test], y[test]))[1]


def fair_rows(records: Sequence[Record]) -> Rows:
    """Mean test accuracy ± its standard deviation over the folds, then published ones; no rows without records."""
    rows = [["", *FAIR_DATASETS]]
    for head in HEADS:
        cells = []
        for name in FAIR_DATASETS:
            runs = matching(records, what="fair", dataset=name, classifier=head)
            tests = [100 * record["result"]["test"] for record in runs]
            short = "" if len(tests) >= 10 else f" ({len(tests)} folds)"
            cells.append(f"{np.mean(tests):.1f} ± {np.std(tests):.1f}{short}" if tests else "")
        if any(cells):
            rows.append([f"{TITLES['graphmetric']}, {TITLES[head]}", *cells])
    if len(rows) == 1:
        return []
    return rows + [[f"{name}, as published", *map(str, numbers)] for name, numbers in FAIR_PUBLISHED.items()]
