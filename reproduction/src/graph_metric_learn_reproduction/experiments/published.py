"""Numbers that the paper published: accuracies and run times."""

from __future__ import annotations

from typing import NamedTuple

from .settings import TABLES

# Test accuracies in percent, "mean±standard deviation", one column per task of TABLES; "-" where there is none.
_ACCURACIES = {
    "table1": {
        ("rpw", "knn"): "90.00±7.60 72.12±1.65 70.18±4.01 49.00±8.17 45.00±5.46 68.90±5.45",
        ("netlsd", "knn"): "84.90 65.89 64.89 31.99 40.51 68.04",
        ("fgsd", "knn"): "86.47 75.77 65.30 41.58 41.14 69.54",
        ("netsimile", "knn"): "84.09 66.56 62.45 33.23 40.97 69.20",
        ("rpw", "svm"): "88.95±7.61 74.84±1.81 74.55±4.19 54.00±7.07 51.00±5.44 72.00±3.16",
        ("wwl", "svm"): "87.27±1.50 85.75±0.25 74.28±0.56 59.13±0.80 - -",
        ("fgw", "svm"): "83.26±10.30 72.82±1.46 - - 48.00±3.22 63.80±3.49",
        ("fgw-wl", "svm"): "88.42±5.67 86.42±1.63 - - - -",
        ("wl-oa", "svm"): "87.15±1.82 86.08±0.27 76.37±0.30 58.97±0.82 - -",
        ("pscn", "own"): "83.47±10.26 70.65±2.58 58.34±7.71 - - -",
    },
    "table2": {
        ("rpw", "knn"): "85.61±2.98 79.79±2.18 71.79±4.47 51.66±5.16 54.81±12.26",
        ("rpw", "svm"): "84.39±3.81 78.51±0.01 74.29±4.11 48.83±4.78 64.44±10.50",
        ("wwl", "svm"): "84.42±2.03 78.29±0.47 77.91±0.80 73.25±0.87 -",
        ("fgw", "svm"): "85.12±4.15 77.23±4.86 74.55±2.74 71.00±6.76 76.67±7.04",
        ("propak", "svm"): "79.51±5.02 77.66±3.95 61.34±4.38 71.67±5.63 12.59±6.67",
        ("hgk-sp", "svm"): "76.42±0.72 72.57±1.18 75.78±0.17 66.36±0.37 -",
        ("pscn", "own"): "80.00±4.47 71.70±3.57 67.95±11.28 26.67±4.77 25.19±7.73",
    },
    "table3": {
        ("wwl-last", "knn"): "78.05 78.51 83.68 80.43 71.60 68.20 48.73 56.00",
        ("sw", "knn"): "82.93 78.30 86.84 69.03 71.34 68.20 42.33 44.33",
        ("nca", "knn"): "83.41 77.66 87.37 69.66 71.70 67.40 42.73 55.33",
        ("pw", "knn"): "84.39 78.94 90.00 72.90 70.54 68.80 44.13 44.83",
    },
    "fgw": {("fgw", "knn"): "81.70 78.51 83.16 - - 80.80 - - 70.83"},
}


def _parse(number: str) -> tuple[float, float | None]:
    """Mean and standard deviation, None where only the mean is given."""
    mean, _, spread = number.partition("±")
    return float(mean), float(spread) if spread else None


# Test accuracy in percent by (task, method, classifier): mean, standard deviation or None.
PUBLISHED: dict[tuple[str, str, str], tuple[float, float | None]] = {
    (task, *row): _parse(number)
    for table, rows in _ACCURACIES.items()
    for row, numbers in rows.items()
    for task, number in zip(TABLES[table], numbers.split(), strict=True)
    if number != "-"
}


class PublishedSeconds(NamedTuple):
    """Run times that the paper reports for a dataset (i9-9900KS, RTX 3090), with the node features we time it on."""

    features: str  # as `load_tu` takes them
    training: int  # SGML, 10 epochs at depth 4
    distances: int  # all of them, by SGML
    wwl: int  # all distances by WWL at depth 2
    fgw: int  # all distances by FGW


PUBLISHED_SECONDS = {
    "BZR": PublishedSeconds("attributes", 35, 5, 16, 240),
    "COX2": PublishedSeconds("attributes", 40, 7, 25, 270),
    "PROTEINS": PublishedSeconds("labels", 240, 40, 200, 3600),
    "ENZYMES": PublishedSeconds("labels", 220, 40, 30, 540),
    "MUTAG": PublishedSeconds("degree", 15, 1, 2, 30),
    "NCI1": PublishedSeconds("labels", 480, 480, 1500, 23400),
    "IMDB-BINARY": PublishedSeconds("degree", 80, 10, 80, 1000),
    "IMDB-MULTI": PublishedSeconds("degree", 120, 55, 140, 1400),
}
