"""Many graphs: fitting and embedding them, and an index: exact search against FAISS, adding, removing, opening."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from graph_metric_learn._core.files import sync
from graph_metric_learn.index.folder import IndexFolder, create
from graph_metric_learn.index.search import nearest
from graph_metric_learn.index.store import Store
from graph_metric_learn.io.models import save_model
from graph_metric_learn_reproduction.experiments.timing import seconds
from graph_metric_learn_reproduction.pages.plots import as_png

from .measure import Report
from .streams import measure_fit, measure_molecules
from .workers import measure_workers

WIDTH = 128
_DECAY = 0.58  # standard deviations of QM9's vectors along their principal axes fall as i^-0.58
_K = 10
_QUERIES = 1000


def run(*, root: Path | None = None, molecules: Path | None = None, quick: bool = False) -> Report:
    """All measurements. quick: fewer vectors, for a look in seconds; the targets are meant for the full run.

    molecules : folder with qm9_smiles.csv.gz; without it, molecules are left out.
    """
    report = Report("scale")
    report.numbers["quick"] = quick
    rows = 20_000 if quick else 10**6
    rng = np.random.default_rng(0)
    vectors, queries = molecule_vectors(rng, rows), molecule_vectors(rng, 100 if quick else _QUERIES)
    store = Store()
    start = time.perf_counter()
    store.add(vectors, [f"molecule {i}" for i in range(rows)])
    report.numbers["build"] = {"rows": rows, "width": WIDTH, "seconds": time.perf_counter() - start}
    _search(report, store, vectors, queries)
    del vectors
    _changes(report, "in memory", store, queries)
    with tempfile.TemporaryDirectory() as folder:
        path = create(Path(folder) / "index", store.state, _NoMetric())
        del store
        _on_disk(report, path, queries)
    measure_fit(report, quick=quick)
    measure_workers(report, quick=quick)
    if molecules is not None:
        measure_molecules(report, molecules, quick=quick)
    return report


def molecule_vectors(rng: np.random.Generator, count: int) -> np.ndarray:
    """Normal vectors [count, 128], float32, with the variances of those of QM9's molecules, in no order of axes."""
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(WIDTH, WIDTH)))[0]
    scale = np.arange(1.0, WIDTH + 1) ** -_DECAY
    mix = (scale[:, None] * turn).astype(np.float32)
    vectors = np.empty((count, WIDTH), np.float32)
    for lo in range(0, count, 50_000):
        some = rng.standard_normal((min(50_000, count - lo), WIDTH), np.float32)
        np.matmul(some, mix, out=vectors[lo : lo + len(some)])
    return vectors


def _search(report: Report, store: Store, vectors: np.ndarray, queries: np.ndarray) -> None:
    """One query at a time, and many at once, beside FAISS on the same vectors."""
    import faiss

    flat = faiss.IndexFlatL2(WIDTH)
    flat.add(vectors)
    ours, theirs = [], []
    for q in range(9):  # queries differ in how many rows are ruled out
        one = queries[q : q + 1]
        ours.append(seconds(lambda one=one: _nearest(store, one), budget=0.2))  # type: ignore[misc]
        theirs.append(seconds(lambda one=one: flat.search(one, _K), budget=0.2))  # type: ignore[misc]
    results: dict[str, Any] = {}
    many = seconds(lambda: results.update(ours=_nearest(store, queries)), budget=1.0, at_least=1)
    many_theirs = seconds(lambda: results.update(theirs=flat.search(queries, _K)), budget=1.0, at_least=1)
    expected = np.sqrt(np.maximum(results["theirs"][0], 0.0))
    equal = float(np.isclose(results["ours"][0], expected, atol=1e-3).mean())
    report.numbers["search"] = {
        "one": ours, "one_faiss": theirs, "many": many, "many_faiss": many_theirs, "queries": len(queries),
        "equal_distances": equal,
    }  # fmt: skip
    rows = f"{len(vectors):,} vectors"
    ratio = float(np.median(np.array(theirs) / np.array(ours)))
    report.target(f"one exact query of {rows}: faster than FAISS", ratio, 4, at_most=False)
    report.target(f"one exact query of {rows}", 1e3 * float(np.median(ours)), 30, at_most=True, unit="ms")
    report.target(f"{len(queries):,} exact queries of {rows} / FAISS", many / many_theirs, 1.3, at_most=True)
    report.target("neighbours as near as those of FAISS", 100 * equal, 100, at_most=False, unit="%")


def _nearest(store: Store, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return nearest(store.state, queries, _K)


def _changes(report: Report, where: str, store: Store, queries: np.ndarray) -> None:
    """Median seconds of adding and of removing one row."""
    added, removed = [], []
    first = 0 if where == "in memory" else 1
    for i in range(30):
        start = time.perf_counter()
        store.add(queries[i : i + 1], [f"added {where} {i}"])
        middle = time.perf_counter()
        store.remove([f"molecule {7 * i + first}"])
        added.append(middle - start)
        removed.append(time.perf_counter() - middle)
    rows = f"{len(store):,}"
    report.numbers[f"changes {where}"] = {"add": added, "remove": removed}
    report.target(f"add one to {rows} {where}", 1e3 * float(np.median(added)), 10, at_most=True, unit="ms")
    report.target(f"remove one of {rows} {where}", 1e3 * float(np.median(removed)), 10, at_most=True, unit="ms")


def _on_disk(report: Report, path: Path, queries: np.ndarray) -> None:
    """Opening, changing and compacting an index on disk."""
    opening = seconds(lambda: Store.open(path), budget=0.5)
    store = Store.open(path)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    report.target(f"open an index of {len(store):,}", opening, 1, at_most=True, unit="s")
    report.numbers["sync"] = sorted(_replaced_file(path.parent) for _ in range(30))
    _changes(report, "on disk", store, queries)
    start = time.perf_counter()
    store.compact()
    compacting = time.perf_counter() - start
    one = seconds(lambda: _nearest(store, queries[:1]), budget=0.2)
    store.close()
    IndexFolder(path).verify()
    report.numbers["disk"] = {
        "open": opening, "bytes_per_row": size / len(store), "compact": compacting, "one_query_mapped": one,
    }  # fmt: skip


def _replaced_file(folder: Path) -> float:
    """Seconds of what every change on disk needs at least: one small file, synced, put in place of another."""
    start = time.perf_counter()
    (folder / "new").write_bytes(b"0" * 1000)
    sync(folder / "new")
    (folder / "new").replace(folder / "old")
    sync(folder)
    return time.perf_counter() - start


class _NoMetric:
    """Vectors that were drawn come from no metric."""

    def save(self, path: Path) -> None:
        save_model(path, "GraphMetric", {}, {})  # an empty one, which nobody asks for vectors


def draw(report: Report) -> bytes:
    """Seconds of search beside FAISS, and milliseconds of changes, as PNG."""
    from matplotlib.figure import Figure

    search: dict[str, Any] = report.numbers["search"]
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    names = ["one query", f"{search['queries']:,} queries,\nper query"]
    ours = [np.median(search["one"]), search["many"] / search["queries"]]
    theirs = [np.median(search["one_faiss"]), search["many_faiss"] / search["queries"]]
    positions = np.arange(2)
    left.bar(positions - 0.2, 1e3 * np.array(theirs), 0.4, color="0.7", label="FAISS, IndexFlatL2")
    left.bar(positions + 0.2, 1e3 * np.array(ours), 0.4, color="C3", label="GraphIndex")
    left.set_xticks(positions, names, fontsize=8)
    left.set(ylabel="milliseconds", yscale="log", title=f"exact search, {report.numbers['build']['rows']:,} vectors")
    left.legend(fontsize=8)
    kinds = [(what, where) for where in ("in memory", "on disk") for what in ("add", "remove")]
    values = [1e3 * np.median(report.numbers[f"changes {where}"][what]) for what, where in kinds]
    right.bar(np.arange(4), values, 0.6, color="C0")
    right.set_xticks(np.arange(4), [f"{what} one\n{where}" for what, where in kinds], fontsize=8)
    right.set(ylabel="milliseconds", title="changes")
    return as_png(figure)
