"""How close distances on a GPU come to its own limits.

First the accuracy against float64 on the CPU, then times beside those of a bare matrix product and a bare copy in the
same run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from graph_metric_learn._core.ragged import groups
from graph_metric_learn.metrics.sgml.training.batch_distances import CurveRule
from graph_metric_learn.transport import Curves, Vectors, iter_pairs, kneighbors, pairwise_distances
from graph_metric_learn.transport.devices import products, resolve_device
from graph_metric_learn.transport.engines.tiles import Tiles
from graph_metric_learn_reproduction.experiments.figure1 import DIMENSION
from graph_metric_learn_reproduction.pages.plots import as_png

from .gpu_training import large_batches, many_models, step_by_batch, training_graphs
from .inputs import NCI1_SIZES, relu_clouds
from .measure import Report, device_seconds, print_rows

_RULE = CurveRule(None, "points", "canonical")


def run(
    *, root: Path | None = None, quick: bool = False, device: str = "cuda", random_state: int | None = None
) -> Report:
    """All checks and measurements.

    Parameters
    ----------
    root : path, optional
        Folder with NCI1.zip; without it, random graphs of NCI1's sizes take its place.
    quick : bool
        Small sizes, for a first look.
    device : str
        "cpu" runs the same code without a GPU, for tests.
    random_state : int, optional
        For all graphs and points; by default other ones in every run.
    """
    report, where = Report("gpu"), resolve_device(device)
    if where.type == "cuda":
        properties = torch.cuda.get_device_properties(where)
        report.machine |= {"gpu": properties.name, "gpu_GB": properties.total_memory / 1e9, "cuda": torch.version.cuda}
    report.numbers["quick"] = quick
    rng = np.random.default_rng(random_state)
    _check_distances(report, rng, where, 60 if quick else 400)
    limits = _limits(report, rng, where, 512 if quick else 8192)
    _all_pairs(report, rng, where, 1000 if quick else 100_000, limits["product"])
    _nearest(report, rng, where, 1000 if quick else 100_000)
    _nearest_vectors(report, rng, where, 1000 if quick else 10**6)
    _from_numpy(report, rng, where, (50, 100) if quick else (250, 500, 1000, 2000, 4000, 8000))
    _to_host(report, rng, where, 500 if quick else 50_000)
    graphs, y, name = training_graphs(rng, root, 60 if quick else 4110)
    many_models(report, graphs, y, name, where, runs=2 if quick else 10, epochs=2 if quick else 10)
    large_batches(report, rng, where, count=600 if quick else 100_000, batch=64 if quick else 512)
    batches = (8, 32) if quick else (8, 16, 32, 64, 128, 256, 512)
    step_by_batch(report, rng, where, count=64 if quick else 2048, batches=batches)
    return report


def _relu_points(rng: np.random.Generator, count: int, device: torch.device) -> tuple[torch.Tensor, np.ndarray]:
    """Points [S, 5] after a ReLU of `count` clouds, one after the other, and the sizes of the clouds."""
    sizes = rng.choice(NCI1_SIZES, count)
    return _normal(rng, device, int(sizes.sum()), DIMENSION).relu(), sizes


def _normal(rng: np.random.Generator, device: torch.device, *shape: int) -> torch.Tensor:
    """Normal numbers, drawn on the device."""
    generator = torch.Generator(device).manual_seed(int(rng.integers(2**32)))
    return torch.randn(*shape, device=device, generator=generator)


# --- accuracy --------------------------------------------------------------------------------------------------------


def _check_distances(report: Report, rng: np.random.Generator, device: torch.device, count: int) -> None:
    """Errors relative to the scale of the data, the root of the mean squared norm of its points."""
    base = [rng.normal(size=(int(n), DIMENSION)) for n in rng.choice(NCI1_SIZES, count // 4)]
    ties = [np.maximum(rng.normal(size=(int(n), DIMENSION)), 0) for n in rng.choice(NCI1_SIZES, count // 4)]
    near = [x + 1e-3 * rng.normal(size=x.shape) for x in (*base, *ties)]
    clouds = [x.astype(np.float32) for x in (*base, *ties, *near)]
    scale = float(np.sqrt(np.mean(np.concatenate(clouds) ** 2) * DIMENSION))
    exact = [x.astype(float) for x in clouds]
    weights = [rng.dirichlet(np.ones(len(x))) for x in clouds]
    errors = {}
    variants: dict[str, dict[str, Any]] = {
        "rpw": {},
        "rpw, weights": {"weights": weights},
        "pw": {"metric": "pw", "projections": rng.normal(size=(DIMENSION, 10))},
        "sw": {"metric": "sw", "projections": rng.normal(size=(DIMENSION, 10))},
        "rpw, tf32": {"precision": "tf32"},
    }
    for name, options in variants.items():
        on_cpu = {key: value for key, value in options.items() if key != "precision"}
        wanted = pairwise_distances(exact, device="cpu", **on_cpu)
        got = pairwise_distances(clouds, device=device, **options)
        errors[name] = float(np.abs(got - wanted).max()) / scale
        if not ((got == got.T).all() and (np.diag(got) == 0).all()):
            errors[name] = float("nan")
    wanted = pairwise_distances(exact, device="cpu")
    np.fill_diagonal(wanted, np.inf)
    nearest, _ = kneighbors(clouds, n_neighbors=10, device=device)
    errors["nearest"] = float(np.abs(nearest - np.sort(wanted, axis=1)[:, :10]).max()) / scale
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


# --- limits of the device --------------------------------------------------------------------------------------------


def _limits(report: Report, rng: np.random.Generator, device: torch.device, size: int) -> dict[str, float]:
    """Operations per second of a product of random square matrices, and bytes per second of a copy to pinned memory."""
    left, right = _normal(rng, device, size, size), _normal(rng, device, size, size)
    limits = {}
    for name, precision in (("product", "float32"), ("product_tf32", "tf32")):
        with products(precision):
            limits[name] = 2 * size**3 / device_seconds(lambda: left @ right.T, device, 10)
    block = torch.empty_like(left, device="cpu", pin_memory=device.type == "cuda")
    limits["copy"] = block.numel() * 4 / device_seconds(lambda: block.copy_(left), device, 10)
    report.numbers["limits"] = limits
    return limits


# --- speed -----------------------------------------------------------------------------------------------------------


def _all_pairs(report: Report, rng: np.random.Generator, device: torch.device, count: int, rate: float) -> None:
    """All pairs without keeping them, as a share of `rate`, the operations per second of a product."""
    points, sizes = _relu_points(rng, count, device)

    def all_pairs(precision: str = "float32") -> None:
        for _ in iter_pairs(_RULE.curves(points, sizes), squared=True, precision=precision):
            pass

    # Each pair once, on the coarser of its two grids.
    operations = 2 * DIMENSION * DIMENSION * sum(
        n * ((hi - lo) * (hi - lo - 1) // 2 + (hi - lo) * (count - hi)) for n, lo, hi in groups(np.sort(sizes))
    )  # fmt: skip
    taken, tf32 = device_seconds(all_pairs, device), device_seconds(lambda: all_pairs("tf32"), device)
    curves = _RULE.curves(points, sizes)

    def operands(curves: Curves) -> None:
        side = Tiles(curves, None, "float32").rows
        for n, lo, hi in groups(side.sizes):
            side.right(n, slice(lo, hi))

    parts = {
        "curves": device_seconds(lambda: _RULE.curves(points, sizes), device),
        "operands": device_seconds(lambda: operands(curves), device),
    }
    share = operations / taken / rate
    report.numbers["all_pairs"] = {
        "graphs": count, "operations": operations, "seconds": taken, "seconds_tf32": tf32,
        "share_of_product_rate": share, "parts_seconds": parts,
    }  # fmt: skip
    what = f"all pairs of {count:,} graphs, nothing kept: share of the product's rate"
    report.target(what, share, 0.6, at_most=False, unit="")


def _nearest(report: Report, rng: np.random.Generator, device: torch.device, count: int) -> None:
    """The 10 nearest neighbours of each graph, beside `torch.topk` on as many numbers."""
    points, sizes = _relu_points(rng, count, device)
    taken = device_seconds(lambda: kneighbors(_RULE.curves(points, sizes), n_neighbors=10), device)
    block = _normal(rng, device, min(count, 4096), count)
    select = device_seconds(lambda: torch.topk(block, 10, largest=False), device) * count / len(block)
    report.numbers["nearest"] = {"graphs": count, "seconds": taken, "topk_seconds": select}
    report.target(f"10 nearest of each of {count:,} graphs", taken, 3, at_most=True, unit="s")


def _nearest_vectors(report: Report, rng: np.random.Generator, device: torch.device, count: int) -> None:
    """The 10 nearest of each of many vectors, against bare products and a bare selection of the largest."""
    values = _normal(rng, device, count, 128)
    vectors = Vectors(values)
    rows = max(1, min(count, 2**29 // count))  # of a block of 2 GiB

    def bare() -> None:
        halves = values.square().sum(1) / 2
        for block in values.split(rows):
            (block @ values.T).sub_(halves).topk(11, sorted=True)

    runs = 1 if count > 10**5 else 3
    limit = device_seconds(bare, device, runs)
    taken = device_seconds(lambda: kneighbors(vectors, n_neighbors=10), device, runs)
    report.numbers["nearest_vectors"] = {"count": count, "seconds": taken, "bare": limit}
    what = f"10 nearest of each of {count:,} vectors / products and top-k"
    report.target(what, taken / limit, 1.5, at_most=True)


def _from_numpy(report: Report, rng: np.random.Generator, device: torch.device, counts: tuple[int, ...]) -> None:
    """Milliseconds for all pairs of NumPy clouds, on CPU and GPU: the numbers behind device="auto"."""
    rows: dict[int, dict[str, float]] = {}
    for count in counts:
        clouds = relu_clouds(rng, rng.choice(NCI1_SIZES, count))
        rows[count] = {
            where.type: 1000 * device_seconds(lambda c=clouds, w=where: pairwise_distances(c, device=w), device, 2)  # type: ignore[misc]
            for where in (torch.device("cpu"), device)
        }
    report.numbers["numpy_pairs_ms"] = rows
    print_rows("ms for all pairs of NumPy clouds", rows)


def _to_host(report: Report, rng: np.random.Generator, device: torch.device, count: int) -> None:
    """All pairs into host memory, pinned and ordinary, beside a plain copy of a matrix of that size."""
    points, sizes = _relu_points(rng, count, device)
    pinned = torch.empty(count, count, pin_memory=device.type == "cuda")
    plain = np.zeros((count, count), np.float32)

    def into(out: np.ndarray) -> None:
        pairwise_distances(_RULE.curves(points, sizes), squared=True, out=out)

    times = {
        "pinned": device_seconds(lambda: into(pinned.numpy()), device),
        "ordinary": device_seconds(lambda: into(plain), device, 2),
    }
    matrix = torch.empty(count, count, device=device).fill_(1.0)
    times["copy_pinned"] = device_seconds(lambda: pinned.copy_(matrix), device)
    times["copy_ordinary"] = device_seconds(lambda: torch.from_numpy(plain).copy_(matrix), device, 1)
    report.numbers["to_host"] = {"graphs": count, **times}
    for kind in ("pinned", "ordinary"):
        ratio = times[kind] / times[f"copy_{kind}"]
        report.target(f"all pairs of {count:,} graphs into {kind} host memory / copy", ratio, 1.5, at_most=True)


def draw(report: Report) -> bytes:
    """By what factor each number is better or worse than its limit, as PNG."""
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
