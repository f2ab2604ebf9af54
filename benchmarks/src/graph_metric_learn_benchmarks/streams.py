"""How `fit`, embedding and an index fare with many graphs: 200,000 random ones, QM9's molecules."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from graph_metric_learn.datasets.sources import CsvColumns, source_chunks
from graph_metric_learn.graphs import Graphs
from graph_metric_learn.index import GraphIndex
from graph_metric_learn.metrics.automatic import GraphMetric

from .inputs import LABELS, labelled_rings
from .measure import Report, extra_memory

_FEW, _MANY = 20_000, 200_000
_ROWS = CsvColumns(on_error="skip")  # some of QM9's molecules have impossible valences


def measure_fit(report: Report, *, quick: bool) -> None:
    """Seconds and memory of `fit` on many graphs, flat and as a stream, against a tenth of them.

    It learns from all of them: one of the many may take as long as one of the few.
    """
    few, many = (40, 80) if quick else (_FEW, _MANY)
    graphs = labelled_graphs(np.random.default_rng(0), many)
    y = np.arange(many) % 2
    GraphMetric(random_state=0).fit(graphs[:40], y[:40])  # compiles
    taken: dict[str, float] = {}

    def fit(name: str, *data: Any) -> None:
        taken[name] = GraphMetric(random_state=0).fit(*data).seconds_

    fit("few", graphs[:few], y[:few])
    memory = extra_memory(lambda: fit("many", graphs, y))
    fit("stream", (graphs[i] for i in range(many)), y)
    report.numbers["fit"] = {"graphs": [few, many], "seconds": taken, "megabytes": memory}
    named = f"fit on {many:,} graphs"
    report.target(f"{named} / on {few:,}, graph by graph", taken["many"] / taken["few"] * few / many, 1, at_most=True)
    report.target(f"{named}: memory", None if memory is None else memory / 1e3, 4, at_most=True, unit="GB")


def labelled_graphs(rng: np.random.Generator, count: int) -> Graphs:
    """Rings with NCI1's sizes and labels of nodes; of every second one, two labels are common."""
    rings = labelled_rings(rng, count)
    labels = rng.integers(0, LABELS, len(rings.owner))
    common = (rings.owner % 2 == 1) & (rng.random(len(labels)) < 0.1)
    return replace(rings, x=None, labels=np.where(common, labels % 2, labels)[:, None])


def measure_molecules(report: Report, molecules: Path, *, quick: bool) -> None:
    """Embedding and indexing of QM9's molecules, read from a CSV of SMILES as they are needed."""
    file = molecules / "qm9_smiles.csv.gz"
    if not file.is_file():
        print(f"left out: there is no {file}", flush=True)
        return
    some = next(source_chunks(str(file), columns=_ROWS, size=200 if quick else 5000))
    metric = GraphMetric(n_components=128, task="none", random_state=0).fit(some.graphs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        GraphIndex(metric).save(path)
        start = time.perf_counter()
        memory = extra_memory(lambda: _fill(path, file, 2000 if quick else None))
        taken = time.perf_counter() - start
        with GraphIndex.load(path, read_only=True) as index:
            count = len(index)
        size = sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
    report.numbers["molecules"] = {"count": count, "seconds": taken, "megabytes": memory, "index_bytes": size}
    named = f"{count:,} molecules read, embedded and indexed"
    report.target(named, taken / 60, 6, at_most=True, unit="minutes")
    report.target(f"{named}: memory", None if memory is None else memory / 1e3, 2, at_most=True, unit="GB")
    report.target(f"{named}: size on disk", size / 1e6, 120, at_most=True, unit="MB")


def _fill(path: Path, file: Path, most: int | None) -> None:
    with GraphIndex.load(path) as index:
        count = 0
        for chunk in source_chunks(str(file), columns=_ROWS, size=2000 if most is None else min(2000, most)):
            first = len(index)
            index.add(chunk.graphs, ids=list(range(first, first + len(chunk.graphs))))
            count += len(chunk.graphs)
            if most is not None and count >= most:
                return
