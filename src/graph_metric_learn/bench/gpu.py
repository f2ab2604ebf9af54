"""How close a GPU comes to its own limits: correctness against float64 on the CPU first, then times beside those of a
bare matrix product and a bare copy, measured in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .._core.ragged import groups
from ..datasets import load_tu
from ..graphs import Graphs, as_graphs
from ..metrics.sgml.estimator import SGML
from ..metrics.sgml.fit_many import fit_many
from ..metrics.sgml.training.batch_distances import CurveRule
from ..report.plots import as_png
from ..transport import Curves, iter_pairs, kneighbors, pairwise_distances
from ..transport.devices import products, resolve_device
from ..transport.engines.tiles import Tiles
from .measure import Report
from .transport import NCI1_SIZES, P

LABELS = 37  # kinds of atoms in NCI1


def run(*, root: Path | None = None, quick: bool = False, device: str = "cuda") -> Report:
    """All checks and measurements.

    root: folder with NCI1.zip; without it, random graphs of NCI1's sizes stand in. quick: small sizes, for a first
    look. device: "cpu" goes through the same motions without a GPU, for tests.
    """
    report, where = Report("gpu"), resolve_device(device)
    if where.type == "cuda":
        properties = torch.cuda.get_device_properties(where)
        report.machine |= {"gpu": properties.name, "gpu_GB": properties.total_memory / 1e9, "cuda": torch.version.cuda}
    report.numbers["quick"] = quick
    rng = np.random.default_rng()  # fresh numbers in every run
    _check_distances(report, rng, where, 60 if quick else 400)
    limits = _limits(report, where, 512 if quick else 8192)
    _all_pairs(report, rng, where, 1000 if quick else 100_000, limits["product"])
    _nearest(report, rng, where, 1000 if quick else 100_000)
    _from_numpy(report, rng, where, (50, 100) if quick else (250, 500, 1000, 2000, 4000, 8000))
    _to_host(report, rng, where, 500 if quick else 50_000)
    graphs, y, name = _nci1(rng, root, 60 if quick else 4110)
    _many_models(report, graphs, y, name, where, runs=2 if quick else 10, epochs=2 if quick else 10)
    _large_batches(report, rng, where, 600 if quick else 100_000, 64 if quick else 512)
    _crossover(report, rng, where, 64 if quick else 2048, (8, 32) if quick else (8, 16, 32, 64, 128, 256, 512))
    return report


def seconds(call: Callable[[], Any], device: torch.device, runs: int = 3) -> float:
    """The shortest of some runs after a warm-up, each waited for to its end."""
    times = []
    for _ in range(runs + 1):
        _synchronize(device)
        start = time.perf_counter()
        call()
        _synchronize(device)
        times.append(time.perf_counter() - start)
    return min(times[1:])


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _sizes(rng: np.random.Generator, count: int) -> np.ndarray:
    """Sizes drawn from NCI1's."""
    return rng.choice(np.repeat(np.arange(3, 3 + len(NCI1_SIZES)), NCI1_SIZES), count)


def _points(rng: np.random.Generator, count: int, device: torch.device) -> tuple[torch.Tensor, np.ndarray]:
    """Clouds of NCI1's sizes, after a ReLU, one after the other [S, P]."""
    sizes = _sizes(rng, count)
    return torch.randn(int(sizes.sum()), P, device=device).relu(), sizes


_RULE = CurveRule(None, "points", "canonical")


# --- is it right? ----------------------------------------------------------------------------------------------------


def _check_distances(report: Report, rng: np.random.Generator, device: torch.device, count: int) -> None:
    """Errors relative to the scale of the data, the root of the mean squared norm of its points."""
    base = [rng.normal(size=(int(n), P)) for n in _sizes(rng, count // 4)]
    ties = [np.maximum(rng.normal(size=(int(n), P)), 0) for n in _sizes(rng, count // 4)]
    near = [x + 1e-3 * rng.normal(size=x.shape) for x in (*base, *ties)]
    clouds = [x.astype(np.float32) for x in (*base, *ties, *near)]
    scale = float(np.sqrt(np.mean(np.concatenate(clouds) ** 2) * P))
    exact = [x.astype(float) for x in clouds]
    weights = [rng.dirichlet(np.ones(len(x))) for x in clouds]
    errors = {}
    variants: dict[str, dict[str, Any]] = {
        "rpw": {},
        "rpw, weights": {"weights": weights},
        "pw": {"metric": "pw", "projections": rng.normal(size=(P, 10))},
        "sw": {"metric": "sw", "projections": rng.normal(size=(P, 10))},
        "rpw, tf32": {"precision": "tf32"},
    }
    for name, options in variants.items():
        known = {key: value for key, value in options.items() if key != "precision"}
        wanted = pairwise_distances(exact, device="cpu", **known)
        got = pairwise_distances(clouds, device=device, **options)
        errors[name] = float(np.abs(got - wanted).max()) / scale
        if not ((got == got.T).all() and (np.diag(got) == 0).all()):
            errors[name] = float("nan")
    wanted = pairwise_distances(exact, device="cpu")
    np.fill_diagonal(wanted, np.inf)
    found, _ = kneighbors(clouds, n_neighbors=10, device=device)
    errors["nearest"] = float(np.abs(found - np.sort(wanted, axis=1)[:, :10]).max()) / scale
    once = np.zeros(wanted.shape)
    for rows, cols, block in iter_pairs(clouds, device=device):
        once[np.ix_(rows, cols)] = block
    np.fill_diagonal(wanted, 0)
    once = np.maximum(once, once.T)
    errors["each pair once"] = float(np.abs(once - wanted).max()) / scale
    report.numbers["errors"] = errors
    for name, error in errors.items():
        limit = 1e-3 if "tf32" in name else 1e-4
        report.target(f"error against float64 on the CPU, {name}", error, limit, at_most=True, unit="of the scale")


# --- limits ----------------------------------------------------------------------------------------------------------


def _limits(report: Report, device: torch.device, size: int) -> dict[str, float]:
    """Operations per second of a product of random square matrices, and bytes per second of a copy to pinned memory."""
    left, right = torch.randn(size, size, device=device), torch.randn(size, size, device=device)
    limits = {}
    for name, precision in (("product", "float32"), ("product_tf32", "tf32")):
        with products(precision):
            limits[name] = 2 * size**3 / seconds(lambda: left @ right.T, device, 10)
    block = torch.empty_like(left, device="cpu", pin_memory=device.type == "cuda")
    limits["copy"] = block.numel() * 4 / seconds(lambda: block.copy_(left), device, 10)
    report.numbers["limits"] = limits
    return limits


# --- how fast is it? -------------------------------------------------------------------------------------------------


def _all_pairs(report: Report, rng: np.random.Generator, device: torch.device, count: int, rate: float) -> None:
    points, sizes = _points(rng, count, device)

    def through(precision: str = "float32") -> None:
        for _ in iter_pairs(_RULE.curves(points, sizes), squared=True, precision=precision):
            pass

    # each pair once, on the coarser of its two grids
    operations = 2 * P * P * sum(
        n * ((hi - lo) * (hi - lo - 1) // 2 + (hi - lo) * (count - hi)) for n, lo, hi in groups(np.sort(sizes))
    )  # fmt: skip
    taken, tf32 = seconds(through, device), seconds(lambda: through("tf32"), device)
    curves = _RULE.curves(points, sizes)

    def operands(curves: Curves) -> None:
        side = Tiles(curves, None, "float32").rows
        for n, lo, hi in groups(side.sizes):
            side.right(n, slice(lo, hi))

    parts = {
        "curves": seconds(lambda: _RULE.curves(points, sizes), device),
        "operands": seconds(lambda: operands(curves), device),
    }
    share = operations / taken / rate
    report.numbers["all_pairs"] = {
        "graphs": count, "operations": operations, "seconds": taken, "seconds_tf32": tf32,
        "share_of_product_rate": share, "parts_seconds": parts,
    }  # fmt: skip
    what = f"all pairs of {count:,} graphs, nothing kept: share of the product's rate"
    report.target(what, share, 0.6, at_most=False, unit="")


def _nearest(report: Report, rng: np.random.Generator, device: torch.device, count: int) -> None:
    points, sizes = _points(rng, count, device)
    taken = seconds(lambda: kneighbors(_RULE.curves(points, sizes), n_neighbors=10), device)
    block = torch.rand(min(count, 4096), count, device=device)
    select = seconds(lambda: torch.topk(block, 10, largest=False), device) * count / len(block)
    report.numbers["nearest"] = {"graphs": count, "seconds": taken, "topk_seconds": select}
    report.target(f"10 nearest of each of {count:,} graphs", taken, 3, at_most=True, unit="s")


def _from_numpy(report: Report, rng: np.random.Generator, device: torch.device, counts: tuple[int, ...]) -> None:
    """Milliseconds for all pairs of NumPy clouds, on CPU and GPU: what device="auto" goes by."""
    rows: dict[int, dict[str, float]] = {}
    for count in counts:
        clouds = [np.maximum(rng.normal(size=(int(n), P)), 0).astype(np.float32) for n in _sizes(rng, count)]
        rows[count] = {
            where.type: 1000 * seconds(lambda c=clouds, w=where: pairwise_distances(c, device=w), device, 2)  # type: ignore[misc]
            for where in (torch.device("cpu"), device)
        }
    report.numbers["numpy_pairs_ms"] = rows
    _print_rows("ms for all pairs of NumPy clouds", rows)


def _print_rows(what: str, rows: dict[int, dict[str, float]]) -> None:
    print(f"       {what}: { ({n: {k: round(v, 2) for k, v in row.items()} for n, row in rows.items()}) }", flush=True)


def _to_host(report: Report, rng: np.random.Generator, device: torch.device, count: int) -> None:
    points, sizes = _points(rng, count, device)
    pinned = torch.empty(count, count, pin_memory=device.type == "cuda")
    plain = np.zeros((count, count), np.float32)

    def into(out: np.ndarray) -> None:
        pairwise_distances(_RULE.curves(points, sizes), squared=True, out=out)

    times = {
        "pinned": seconds(lambda: into(pinned.numpy()), device),
        "ordinary": seconds(lambda: into(plain), device, 2),
    }
    matrix = torch.empty(count, count, device=device).fill_(1.0)
    times["copy_pinned"] = seconds(lambda: pinned.copy_(matrix), device)
    times["copy_ordinary"] = seconds(lambda: torch.from_numpy(plain).copy_(matrix), device, 1)
    report.numbers["to_host"] = {"graphs": count, **times}
    for kind in ("pinned", "ordinary"):
        ratio = times[kind] / times[f"copy_{kind}"]
        report.target(f"all pairs of {count:,} graphs into {kind} host memory / copy", ratio, 1.5, at_most=True)


def _nci1(rng: np.random.Generator, root: Path | None, count: int) -> tuple[Graphs, np.ndarray, str]:
    try:
        dataset = load_tu("NCI1", features="labels", root=root, download=False)
    except (ValueError, OSError):
        graphs = _molecules(rng, count)
        return graphs, np.arange(count) % 2, "random graphs of NCI1's sizes"
    return as_graphs(dataset.graphs)[:count], dataset.y[:count], "NCI1"


def _molecules(rng: np.random.Generator, count: int) -> Graphs:
    """Rings of NCI1's sizes with one of its 37 labels at each node."""
    sizes = _sizes(rng, count)
    ends = np.cumsum(sizes)
    node, owner = np.arange(ends[-1]), np.repeat(np.arange(count), sizes)
    after = np.where(node + 1 == ends[owner], (ends - sizes)[owner], node + 1)
    edges = np.concatenate([np.stack([node, after]), np.stack([after, node])], 1)
    x = np.eye(LABELS, dtype=np.float32)[rng.integers(0, LABELS, len(node))]
    return Graphs(sizes, edges, x)


def _many_models(
    report: Report, graphs: Graphs, y: np.ndarray, name: str, device: torch.device, runs: int, epochs: int
) -> None:
    """As many splits as runs, four depths; on the CPU a thread per model, on the GPU all in one run."""
    splits = [np.random.default_rng(s).permutation(len(graphs))[: round(0.9 * len(graphs))] for s in range(runs)]
    jobs = [(depth, run) for run in range(runs) for depth in (1, 2, 3, 4)]
    subsets = [splits[run] for _, run in jobs]

    def fit(where: Any, only: slice = slice(None)) -> list[SGML]:
        models = [
            SGML(depth=depth, n_epochs=epochs, random_state=run, progress=False, device="cpu") for depth, run in jobs
        ]
        return fit_many(models[only], graphs, y, subsets=subsets[only], device=where)

    alone = fit("cpu", slice(0, 1))  # compiles
    times, fitted = {}, {}
    for where in ("cpu", device):
        if where == device:
            fit(device, slice(0, 2))
        _synchronize(device)
        start = time.perf_counter()
        fitted[str(where)] = fit(where)
        times[torch.device(where).type] = time.perf_counter() - start
    pairs = list(zip(fitted["cpu"], fitted[str(device)], strict=True))
    apart = max(float((_theta(a) - _theta(b)).abs().max()) for a, b in pairs)
    losses = [[abs(a.history_.loss[e] / b.history_.loss[e] - 1) for a, b in pairs] for e in (0, -1)]
    same = torch.equal(_theta(alone[0]), _theta(fitted["cpu"][0]))
    report.numbers["many_models"] = {
        "data": name, "models": len(jobs), "seconds": times, "largest_difference_of_theta": apart,
        "relative_difference_of_first_loss": {"median": float(np.median(losses[0])), "largest": max(losses[0])},
        "relative_difference_of_last_loss": {"median": float(np.median(losses[1])), "largest": max(losses[1])},
        "cpu_as_one_by_one": same,
    }  # fmt: skip
    # Some models part, as they do after a change of their start by 1e-7 (largest difference after an epoch 0.003, on
    # the CPU): where a parameter has hardly any gradient, Adam makes a large step of a small one or none at all.
    what = "loss of the first epoch, models trained together on the GPU and alone on the CPU, median"
    report.target(what, float(np.median(losses[0])), 1e-3, at_most=True, unit="apart")
    for where, taken in times.items():
        report.target(f"{len(jobs)} models of {name}, {epochs} epochs, on {where}", taken, 30, at_most=True, unit="s")


def _theta(metric: SGML) -> torch.Tensor:
    return metric.module_.state_dict()["theta"]


def _large_batches(report: Report, rng: np.random.Generator, device: torch.device, count: int, batch: int) -> None:
    graphs = _molecules(rng, count)
    y = rng.integers(0, 2, count)
    SGML(n_epochs=1, batch_size=batch, device=str(device), progress=False).fit(graphs[: 4 * batch], y[: 4 * batch])
    _synchronize(device)
    start = time.perf_counter()
    metric = SGML(n_epochs=1, batch_size=batch, device=str(device), progress=False).fit(graphs, y)
    _synchronize(device)
    taken = time.perf_counter() - start
    report.numbers["large_batches"] = {
        "graphs": count, "batch_size": batch, "seconds": taken, "training_seconds": metric.history_.seconds[0],
    }  # fmt: skip
    report.target(f"one epoch of {count:,} graphs, batches of {batch}", taken, 10, at_most=True, unit="s")


def _crossover(
    report: Report, rng: np.random.Generator, device: torch.device, count: int, batches: tuple[int, ...]
) -> None:
    """Milliseconds of a training step by size of the batch, on CPU and GPU: what device="auto" goes by."""
    rows: dict[int, dict[str, float]] = {}
    for batch in batches:
        graphs = _molecules(rng, max(count, 4 * batch) if batch < 256 else 2 * batch)
        y = np.arange(len(graphs)) % 2
        rows[batch] = {}
        for name in ("cpu", str(device)):
            metric = SGML(n_epochs=2, batch_size=batch, device=name, progress=False).fit(graphs, y)
            steps = len(graphs) / batch
            rows[batch][torch.device(name).type] = 1000 * min(metric.history_.seconds) / steps
    report.numbers["step_ms_by_batch"] = rows
    _print_rows("ms per step by batch", rows)


def draw(report: Report) -> bytes:
    """How far each number is from its limit, as PNG."""
    from matplotlib.figure import Figure

    targets = [target for target in report.targets if target["value"]]
    margins = [t["limit"] / t["value"] if t["at_most"] else t["value"] / t["limit"] for t in targets]
    figure = Figure(figsize=(9, 0.4 * len(targets) + 1), layout="constrained")
    axes = figure.add_subplot()
    axes.barh([t["what"] for t in targets], margins, color=["C2" if t["met"] else "C3" for t in targets])
    axes.axvline(1, color="black", linewidth=1)
    axes.set(xscale="log", xlabel="times better than asked for", title=report.machine.get("gpu", "no GPU"))
    axes.invert_yaxis()
    return as_png(figure)
