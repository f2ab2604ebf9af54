"""What edge data is worth: GraphMetric with and without it, on whole graphs, on the same splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..pages.render import render_sentence
from .comparisons import most_chosen
from .differences import Comparison, average, compared_by_dataset, difference_row, judged, scores_of
from .records import Config, Record, Result, cell, matching
from .settings import TASKS, TITLES
from .tables import Entry, Rows, best_entry, signed

# What the labels, vectors and directions of edges mean, by dataset.
EDGE_DATASETS = {
    "MUTAG": "the kind of bond",
    "PTC_FM": "the kind of bond",
    "BZR_MD": "for every two atoms, the kind of bond, or that there is none, and the distance",
    "Cuneiform": "whether an edge is in a wedge or joins two, and the step in the plane from one wedge to the other",
    "Fingerprint": "the angle of the edge in the plane, and its sine",
}
READINGS: dict[str, Any] = {"with edge data": "auto", "without edge data": False}  # of GraphMetric(edges=…)
CLASSIFIER = "head-knn"
NETWORK: dict[str, Any] = {"limit": 20 * 60.0}  # settings of GINE, which reads the same graphs


def edge_datasets(named: Sequence[str] | None) -> list[str]:
    """The datasets of this table; if some are named, only those, along with named ones that no table has.

    >>> edge_datasets(["NCI1", "BZR_MD", "AIDS"])
    ['BZR_MD', 'AIDS']
    """
    if named is None:
        return list(EDGE_DATASETS)
    others = {task.dataset for task in TASKS.values()} - set(EDGE_DATASETS)
    return [name for name in named if name not in others]


def edge_cells(datasets: Sequence[str], runs: int) -> list[Config]:
    """A cell for each dataset and run, with and without edge data."""
    return [
        cell("edges", name, "graphmetric", CLASSIFIER, run, model={"edges": edges})
        for name in datasets
        for run in range(runs)
        for edges in READINGS.values()
    ]


def network_cells(datasets: Sequence[str], runs: int) -> list[Config]:
    """A cell of GINE for each dataset and run."""
    return [cell("edges", name, "gine", "own", run, model=NETWORK) for name in datasets for run in range(runs)]


def edge_rows(records: Sequence[Record], datasets: Sequence[str] = tuple(EDGE_DATASETS)) -> Rows:
    """Accuracy with and without edge data by dataset, and the paired difference; the last column is their average.

    Below stands GINE, where it was run. No average as long as a dataset is missing.
    """
    rows = [["", *datasets, "average"]]
    for title, edges in READINGS.items():
        entries = [_entry(records, name, edges) for name in datasets]
        means = [entry.mean for entry in entries if entry is not None]
        mean = f"{np.mean(means):.1f}" if len(means) == len(datasets) else ""
        rows.append([f"GraphMetric, {title}", *("" if entry is None else str(entry) for entry in entries), mean])
    rows.append(difference_row("difference", _comparisons(records, datasets), datasets))
    networks = [
        best_entry(matching(records, what="edges", dataset=name, method="gine", model=NETWORK)) for name in datasets
    ]
    if any(networks):
        means = [entry.mean for entry in networks if not isinstance(entry, str)]
        mean = f"{np.mean(means):.1f}" if len(means) == len(datasets) else ""
        rows.append([TITLES["gine"], *map(str, networks), mean])
    results = [_results(records, name, READINGS["with edge data"]) for name in datasets]
    rows.append([TITLES["largest-class"], *map(_largest_class, results), ""])
    return rows


def edge_data_rows(records: Sequence[Record]) -> Rows:
    """What the datasets hold and what their edges carry, as it was recorded."""
    rows = [["", "edges carry", "that is", "graphs", "of one node", "classes", "graphs left out"]]
    for name, meaning in EDGE_DATASETS.items():
        for data in (result["data"] for result in _results(records, name, READINGS["with edge data"])[:1]):
            rows.append([
                name, _carried(data["edges"]), meaning, f"{data['graphs']:,}", str(data["single_nodes"]),
                str(data["classes"]), _left_out(data["left_out"]),
            ])  # fmt: skip
    return rows


def edge_choice_rows(records: Sequence[Record]) -> Rows:
    """How much weight GraphMetric gave to what sees edge data, and what it gave most."""
    rows = [["", "weight of what sees edge data", "chosen most, mean weight"]]
    for name in EDGE_DATASETS:
        if results := _results(records, name, READINGS["with edge data"]):
            share = np.mean([result["edge_share"] for result in results])
            rows.append([name, f"{100 * share:.0f} %", most_chosen(results)])
    return rows


def edge_judgement(records: Sequence[Record]) -> str:
    """Where edge data helps, where it hurts, and where the difference may be chance; empty if nothing is measured."""
    gaps = _comparisons(records, list(EDGE_DATASETS))
    if not gaps:
        return ""
    below = [name for name in gaps if all(_beaten(_results(records, name, edges)) for edges in READINGS.values())]
    return render_sentence(
        "edges.md",
        n_datasets=len(gaps),
        average=average(gaps).in_words("points"),
        median=signed(np.median([one.difference for one in gaps.values()])),
        below=below,
        **judged(gaps),
    )


def _results(records: Sequence[Record], name: str, edges: Any) -> list[Result]:
    """The results of all runs on a dataset."""
    return [record["result"] for record in _records(records, name, edges)]


def _records(records: Sequence[Record], name: str, edges: Any) -> list[Record]:
    return matching(records, what="edges", dataset=name, classifier=CLASSIFIER, model={"edges": edges})


def _entry(records: Sequence[Record], name: str, edges: Any) -> Entry | None:
    """The accuracies on a dataset; None if there are none."""
    entry = best_entry(_records(records, name, edges))
    return None if isinstance(entry, str) else entry


def _comparisons(records: Sequence[Record], datasets: Sequence[str]) -> dict[str, Comparison]:
    """The difference by dataset, with edge data less without, on the runs that were measured both ways."""
    one, other = (
        {name: scores_of(_records(records, name, edges), {}, 100.0) for name in datasets} for edges in READINGS.values()
    )
    return compared_by_dataset(one, other)


def _beaten(results: Sequence[Result]) -> bool:
    """Whether always predicting the largest class is at least as good on average, up to rounding."""
    return bool(np.mean([result["test"] - result["largest_class"] for result in results]) < 1e-9)


def _largest_class(results: Sequence[Result]) -> str:
    return f"{100 * np.mean([result['largest_class'] for result in results]):.1f}" if results else ""


def _carried(edges: dict[str, Any]) -> str:
    """What edges carry, with numbers.

    >>> _carried({"directions": True, "labels": 2, "vectors": 1, "weights": False})
    'labels (2 different), vectors (1 number), directions'
    """
    if not edges:
        return "nothing"
    said = {
        f"labels ({edges['labels']} different)": edges["labels"],
        f"vectors ({edges['vectors']} number{'s' * (edges['vectors'] > 1)})": edges["vectors"],
        "weights": edges["weights"],
        "directions": edges["directions"],
    }
    return ", ".join(what for what, there in said.items() if there)


def _left_out(counts: dict[str, int]) -> str:
    """Graphs that are not in the table, and why.

    >>> _left_out({"no_nodes": 2, "small_classes": 17, "classes": 5})
    '2 without nodes, 17 of 5 small classes'
    >>> _left_out({"no_nodes": 0, "small_classes": 0, "classes": 0})
    'none'
    """
    parts = [f"{counts['no_nodes']} without nodes"] * bool(counts["no_nodes"])
    classes = "1 small class" if counts["classes"] == 1 else f"{counts['classes']} small classes"
    parts += [f"{counts['small_classes']} of {classes}"] * bool(counts["small_classes"])
    return ", ".join(parts) or "none"
