"""What edge data is worth: GraphMetric with and without it, on whole graphs, on the same splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..report.render import render_sentence
from .comparisons import most_chosen
from .judgements import PACKAGE
from .records import Config, Record, Result
from .settings import TASKS, TITLES
from .statistics import PairedTest, average_over_tasks, corrected_resampled_t, p_text
from .tables import Entry, Rows, best_entry, difference_text, paired_gaps, signed, standard_error

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
CLEAR = 0.05  # a difference with a larger p-value may be chance


class Comparison(NamedTuple):
    """A mean difference in points, with edge data less without, its standard error, and the corrected paired test.

    Error and p-value are nan if there is one run.
    """

    difference: float
    error: float
    test: PairedTest

    def __str__(self) -> str:
        return difference_text(self.difference, self.error, self.test.p)


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
        _cell(name, run, "graphmetric", {"edges": edges}, CLASSIFIER)
        for name in datasets
        for run in range(runs)
        for edges in READINGS.values()
    ]


def network_cells(datasets: Sequence[str], runs: int) -> list[Config]:
    """A cell of GINE for each dataset and run."""
    return [_cell(name, run, "gine", NETWORK, "own") for name in datasets for run in range(runs)]


def _cell(name: str, run: int, method: str, model: dict[str, Any], classifier: str) -> Config:
    return {
        "what": "edges", "dataset": name, "features": None, "method": method,
        "model": model, "run": run, "classifier": classifier,
    }  # fmt: skip


def edge_rows(records: Sequence[Record], datasets: Sequence[str] = tuple(EDGE_DATASETS)) -> Rows:
    """Accuracy with and without edge data by dataset, and the paired difference; the last column is their average.

    Below stands GINE, where it was run. No average as long as a dataset is missing.
    """
    rows = [["", *datasets, "average"]]
    for title, edges in READINGS.items():
        found = [_entry(records, name, edges) for name in datasets]
        means = [entry.mean for entry in found if entry is not None]
        average = f"{np.mean(means):.1f}" if len(means) == len(datasets) else ""
        rows.append([f"GraphMetric, {title}", *("" if entry is None else str(entry) for entry in found), average])
    by_name = _comparisons(records, datasets)
    average = str(_average(by_name)) if len(by_name) == len(datasets) else ""
    rows.append(["difference", *(str(by_name.get(name, "")) for name in datasets), average])
    networks = [best_entry(_matching(records, name, NETWORK, "own")) for name in datasets]
    if any(networks):
        means = [found.mean for found in networks if not isinstance(found, str)]
        average = f"{np.mean(means):.1f}" if len(means) == len(datasets) else ""
        rows.append([TITLES["gine"], *map(str, networks), average])
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
    """How much weight GraphMetric gave to parts that see edge data, and which parts it chose most."""
    rows = [["", "weight of parts that see edge data", "chosen most, mean weight"]]
    for name in EDGE_DATASETS:
        if results := _results(records, name, READINGS["with edge data"]):
            share = np.mean([result["edge_share"] for result in results])
            rows.append([name, f"{100 * share:.0f} %", most_chosen(results)])
    return rows


def edge_judgement(records: Sequence[Record]) -> str:
    """Where edge data helps, where it hurts, and where the difference may be chance; empty if nothing is measured."""
    found = _comparisons(records, list(EDGE_DATASETS))
    if not found:
        return ""
    below = [name for name in found if all(_beaten(_results(records, name, edges)) for edges in READINGS.values())]
    clear = {name for name, one in found.items() if one.test.p < CLEAR}
    average = _average(found)
    return render_sentence(
        PACKAGE,
        "edges.md",
        n_datasets=len(found),
        average=difference_text(average.difference, average.error),
        p=p_text(average.test.p),
        median=signed(np.median([one.difference for one in found.values()])),
        better={name: one for name, one in found.items() if name in clear and one.difference > 0},
        worse={name: one for name, one in found.items() if name in clear and one.difference < 0},
        unclear={name: one for name, one in found.items() if name not in clear},
        below=below,
    )


def _results(records: Sequence[Record], name: str, edges: Any) -> list[Result]:
    """The results of all runs on a dataset."""
    return [record["result"] for record in _records(records, name, edges)]


def _records(records: Sequence[Record], name: str, edges: Any) -> list[Record]:
    return _matching(records, name, {"edges": edges}, CLASSIFIER)


def _matching(records: Sequence[Record], name: str, model: dict[str, Any], classifier: str) -> list[Record]:
    """The records of all runs of one system on a dataset."""
    wanted = {"what": "edges", "dataset": name, "model": model, "classifier": classifier}
    return [record for record in records if wanted.items() <= record["config"].items()]


def _entry(records: Sequence[Record], name: str, edges: Any) -> Entry | None:
    """The accuracies on a dataset; None if there are none."""
    found = best_entry(_records(records, name, edges))
    return None if isinstance(found, str) else found


def _comparisons(records: Sequence[Record], datasets: Sequence[str]) -> dict[str, Comparison]:
    """The difference by dataset, on the runs that were measured with and without edge data."""
    compared = {}
    for name in datasets:
        one, other = (_entry(records, name, edges) for edges in READINGS.values())
        if one is not None and other is not None and len(gaps := paired_gaps(one, other)):
            error = standard_error(gaps) if len(gaps) > 1 else np.nan
            compared[name] = Comparison(float(gaps.mean()), error, corrected_resampled_t(gaps))
    return compared


def _average(compared: dict[str, Comparison]) -> Comparison:
    """The mean over datasets, each of which counts the same; errors of different datasets are independent."""
    found = compared.values()
    errors = np.array([one.error for one in found])
    test = average_over_tasks([one.test for one in found])
    return Comparison(test.mean, float(np.sqrt(np.sum(errors**2)) / len(errors)), test)


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
