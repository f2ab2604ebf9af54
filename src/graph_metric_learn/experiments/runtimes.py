"""The paper's run times: its appendix table, alone on the machine, and its Figure 1. Each number is a record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..bench.measure import seconds
from ..bench.training import PAPER
from ..bench.transport import run_times
from ..metrics.sgml.estimator import SGML
from .records import Records
from .settings import variant
from .systems import baseline, dataset, missing_packages
from .tables import Rows, shown_seconds

# Seconds for all distances by WWL (depth 2) and FGW that the paper reports.
PAPER_RIVALS = {
    "BZR": (16, 240), "COX2": (25, 270), "PROTEINS": (200, 3600), "ENZYMES": (30, 540), "MUTAG": (2, 30),
    "NCI1": (1500, 23400), "IMDB-BINARY": (80, 1000), "IMDB-MULTI": (140, 1400),
}  # fmt: skip

DEPTH = 4  # of all models that are timed, as in the paper

# What else is timed: the name in tables. "wwl-tree" is WWL's closed form, for discrete features.
RIVALS = {"wwl": "WWL, a linear programme per pair", "wwl-tree": "WWL, closed form", "fgw": "FGW"}


def measure_datasets(records: Records, *, root: str | Path | None, datasets: Sequence[str] | None) -> None:
    """Training of 10 epochs and all distances; for WWL and FGW, estimates from a sample of pairs on one core."""
    for name in PAPER if datasets is None else [name for name in PAPER if name in datasets]:
        for method in ("rpw", *RIVALS):
            config = _config(name, method)
            if config in records or missing_packages(method.removesuffix("-tree")):
                continue
            if method == "wwl-tree" and PAPER[name][0] == "attributes":
                continue
            graphs, y = dataset(name, PAPER[name][0], None if root is None else str(root))
            if method == "rpw":
                model = SGML(**config["model"], random_state=0, device="cpu", progress=False)
                spent = {
                    "training": seconds(lambda m=model, g=graphs, c=y: m.fit(g, c), at_least=1),  # type: ignore[misc]
                    "distances": seconds(lambda m=model, g=graphs: m.pairwise_distances(g), at_least=2),  # type: ignore[misc]
                }
            else:
                system = baseline(method.removesuffix("-tree"))[0](**config["model"])
                spent = {
                    "distances": seconds(lambda s=system, g=graphs: s.distances(g, progress=False), at_least=2)  # type: ignore[misc]
                    if method == "wwl-tree"
                    else system.estimate_seconds(graphs)
                }
            records.add(config, {"seconds": spent})
            print(f"{name}, {method}: " + ", ".join(f"{what} {s:.3g} s" for what, s in spent.items()), flush=True)


def _config(name: str, method: str) -> dict[str, Any]:
    models: dict[str, dict[str, Any]] = {
        "rpw": {**variant("rpw", "authors"), "depth": DEPTH},
        "wwl": {"depth": 2, "solver": "emd"},
        "wwl-tree": {"depth": 2, "solver": "tree"},
        "fgw": {"alpha": 1.0 if name.startswith("IMDB") else 0.5},
    }
    return {
        "what": "runtime", "dataset": name, "features": PAPER[name][0], "method": method, "model": models[method],
    }  # fmt: skip


def found_times(records: Iterable[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Seconds by dataset: training, distances, and the others of `RIVALS`; nan where not measured."""
    rows = {name: dict.fromkeys(("training", "distances", *RIVALS), np.nan) for name in PAPER}
    for record in records:
        config, spent = record["config"], record["result"].get("seconds")
        if config.get("what") == "runtime" and config == _config(config["dataset"], config["method"]):
            if config["method"] == "rpw":
                rows[config["dataset"]].update(spent)
            else:
                rows[config["dataset"]][config["method"]] = spent["distances"]
    return rows


def runtime_rows(records: Iterable[dict[str, Any]]) -> Rows:
    """The appendix table: what was measured, and below it what was published."""
    found = found_times(records)
    rows = [["seconds", *PAPER]]
    for title, what, published in (
        ("training, 10 epochs", "training", [PAPER[name][1] for name in PAPER]),
        ("all distances", "distances", [PAPER[name][2] for name in PAPER]),
        (f"all distances, {RIVALS['wwl']}", "wwl", [PAPER_RIVALS[name][0] for name in PAPER]),
        (f"all distances, {RIVALS['wwl-tree']}", "wwl-tree", []),
        (f"all distances, {RIVALS['fgw']}", "fgw", [PAPER_RIVALS[name][1] for name in PAPER]),
    ):
        numbers = [found[name][what] for name in PAPER]
        rows.append([title, *map(shown_seconds, numbers)])
        if published:
            rows.append(["— published", *(f"{number:,}" for number in published)])
    return rows


def speed_judgement(records: Iterable[dict[str, Any]]) -> str:
    """How much faster all distances of the largest dataset are than those of WWL and FGW, in a sentence."""
    found = found_times(records)["NCI1"]
    ratios = [
        f"{found[method] / found['distances']:,.0f} times as fast as {name}, on one core"
        for method, name in RIVALS.items()
        if np.isfinite(found[method] / found["distances"])
    ]
    return f"SGML on two cores, all distances of NCI1: {'; '.join(ratios) or 'not measured yet'}."


def measure_figure(records: Records, *, largest: int = 10**6, patience: float = 60.0) -> None:
    """Figure 1: seconds for one distance against the number of points."""

    def keep(method: str, points: int, spent: float) -> None:
        records.add(_point(method, points), {"seconds": spent})

    run_times(np.random.default_rng(0), largest=largest, patience=patience, known=figure_times(records), keep=keep)


def _point(method: str, points: int) -> dict[str, Any]:
    return {"what": "figure1", "dataset": "figure1", "method": method, "model": {"points": points}}


def figure_times(records: Iterable[dict[str, Any]]) -> dict[str, list[tuple[int, float]]]:
    """(points, seconds) by method."""
    times: dict[str, list[tuple[int, float]]] = {}
    for record in records:
        if record["config"].get("what") == "figure1":
            point = record["config"]["model"]["points"], record["result"]["seconds"]
            times.setdefault(record["config"]["method"], []).append(point)
    return {method: sorted(points) for method, points in times.items()}
