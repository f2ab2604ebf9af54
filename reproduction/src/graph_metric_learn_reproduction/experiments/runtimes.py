"""The paper's table of run times: training and all distances, measured one at a time. Each number is a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graph_metric_learn.metrics.sgml.estimator import SGML

from .evaluate import dataset
from .methods import baseline, missing_packages
from .published import PUBLISHED_SECONDS
from .records import Config, Record, Records, matching
from .settings import variant
from .tables import Rows, shown_seconds
from .timing import seconds

DEPTH = 4  # of SGML, as in the paper

# The baselines that are timed, with their titles. "wwl-tree" is WWL's closed form, for discrete features.
BASELINES = {"wwl": "WWL, a linear programme per pair", "wwl-tree": "WWL, closed form", "fgw": "FGW"}


def measure_datasets(records: Records, *, root: str | Path | None, datasets: Sequence[str] | None) -> None:
    """Measures and records what is missing of the table, for all datasets or the named ones."""
    for name in PUBLISHED_SECONDS if datasets is None else [name for name in PUBLISHED_SECONDS if name in datasets]:
        for method in ("rpw", *BASELINES):
            config = runtime_config(name, method)
            if config in records or missing_packages(method.removesuffix("-tree")):
                continue
            if method == "wwl-tree" and config["features"] == "attributes":
                continue
            spent = _measure(config, *dataset(name, config["features"], None if root is None else str(root)))
            records.add(config, {"seconds": spent})
            print(f"{name}, {method}: " + ", ".join(f"{what} {s:.3g} s" for what, s in spent.items()), flush=True)


def _measure(config: Config, graphs: Any, y: np.ndarray) -> dict[str, float]:
    """Seconds of 10 epochs of training and of all distances; of baselines with a solver, estimates on one core."""
    if config["method"] == "rpw":
        metric = SGML(**config["model"], random_state=0, device="cpu", progress=False)
        training = seconds(lambda: metric.fit(graphs, y), at_least=1)
        return {"training": training, "distances": seconds(lambda: metric.pairwise_distances(graphs), at_least=2)}
    system = baseline(config["method"].removesuffix("-tree"))[0](**config["model"])
    if config["method"] == "wwl-tree":
        return {"distances": seconds(lambda: system.distances(graphs, progress=False), at_least=2)}
    return {"distances": system.estimate_seconds(graphs)}


def runtime_config(name: str, method: str) -> Config:
    """The configuration of a method on a dataset of the table."""
    models: dict[str, dict[str, Any]] = {
        "rpw": {**variant("rpw", "authors"), "depth": DEPTH},
        "wwl": {"depth": 2, "solver": "emd"},
        "wwl-tree": {"depth": 2, "solver": "tree"},
        "fgw": {"alpha": 1.0 if name.startswith("IMDB") else 0.5},
    }
    features = PUBLISHED_SECONDS[name].features
    return {"what": "runtime", "dataset": name, "features": features, "method": method, "model": models[method]}


def recorded_times(records: Iterable[Record]) -> dict[str, dict[str, float]]:
    """Recorded seconds by dataset: "training" and "distances" of SGML, all distances by baseline; nan if missing."""
    rows = {name: dict.fromkeys(("training", "distances", *BASELINES), np.nan) for name in PUBLISHED_SECONDS}
    for record in matching(records, what="runtime"):
        config, spent = record["config"], record["result"]["seconds"]
        if config == runtime_config(config["dataset"], config["method"]):
            if config["method"] == "rpw":
                rows[config["dataset"]].update(spent)
            else:
                rows[config["dataset"]][config["method"]] = spent["distances"]
    return rows


def runtime_rows(records: Iterable[Record]) -> Rows:
    """The table: what was measured, and below it what was published."""
    times = recorded_times(records)
    titles = {"training": "training, 10 epochs", "distances": "all distances"}
    titles |= {method: f"all distances, {title}" for method, title in BASELINES.items()}
    rows = [["seconds", *PUBLISHED_SECONDS]]
    for what, title in titles.items():
        rows.append([title, *(shown_seconds(times[name][what]) for name in PUBLISHED_SECONDS)])
        if what != "wwl-tree":  # the paper solves a linear programme per pair
            rows.append(["— published", *(f"{getattr(paper, what):,}" for paper in PUBLISHED_SECONDS.values())])
    return rows


def speed_judgement(records: Iterable[Record]) -> str:
    """How much faster all distances of the largest dataset are than those of WWL and FGW, in a sentence."""
    times = recorded_times(records)["NCI1"]
    ratios = [
        f"{times[method] / times['distances']:,.0f} times as fast as {name}, on one core"
        for method, name in BASELINES.items()
        if np.isfinite(times[method] / times["distances"])
    ]
    return f"SGML on two cores, all distances of NCI1: {'; '.join(ratios) or 'not measured yet'}."
