"""How fast the distances are: all pairs against a matrix product and POT, single pairs against POT and sorting."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
import torch

from graph_metric_learn.transport import pairwise_distances, rpw_distance
from graph_metric_learn_reproduction.experiments.figure1 import DIMENSION, run_times
from graph_metric_learn_reproduction.experiments.timing import seconds
from graph_metric_learn_reproduction.pages.plots import as_png, times_by_points

from .inputs import NCI1_SIZES, relu_clouds
from .measure import Report, extra_memory


def run(*, quick: bool = False) -> Report:
    """All measurements. quick: smaller sizes, for a look in seconds; the targets are meant for the full run."""
    report = Report("transport")
    rng = np.random.default_rng(0)
    report.numbers["quick"] = quick
    _all_pairs(report, rng, 500 if quick else 4110)
    _weighted_pairs(report, rng, 200 if quick else 1000)
    _one_pair(report, rng, [10, 100, 1000] if quick else [10, 30, 100, 10**3, 10**4, 10**5, 10**6], quick)
    report.numbers["figure"] = run_times(rng, largest=10**3 if quick else 10**6, patience=1.0 if quick else 60.0)
    return report


def _all_pairs(report: Report, rng: np.random.Generator, count: int) -> None:
    sizes = rng.permutation(NCI1_SIZES)[:count]
    clouds = relu_clouds(rng, sizes)
    ours = seconds(lambda: pairwise_distances(clouds), budget=5.0)
    # A product of the shape [count, inner] by [inner, count] with as many multiplications.
    multiplications = product_size(sizes)
    inner = max(1, round(multiplications / count**2))
    left = torch.randn(count, inner, generator=torch.Generator().manual_seed(0))
    product = seconds(lambda: left @ left.T, budget=2.0)
    product *= multiplications / (inner * count**2)
    pot = _pot_seconds(clouds, None, rng) * count * (count - 1) / 2
    numbers = {
        "clouds": count, "points": int(sizes.sum()), "seconds": ours, "product_seconds": product,
        "multiplications": multiplications, "pot_loop_seconds_extrapolated": pot,
    }  # fmt: skip
    memory = extra_memory(lambda: pairwise_distances(clouds))
    report.numbers["all_pairs"] = {**numbers, "memory_MB": memory}
    report.target(f"all pairs of {count} clouds / one product", ours / product, 6, at_most=True)
    report.target(f"all pairs of {count} clouds: faster than looping POT", pot / ours, 5000, at_most=False)
    report.target(f"all pairs of {count} clouds: memory above the input", memory, 700, at_most=True, unit="MB")


def product_size(sizes: np.ndarray) -> int:
    """Multiplications for all pairs, both orders of equal sizes included: each on the coarser of the two grids.

    >>> product_size(np.array([3, 2])) // DIMENSION**2  # 2 with 2 and 3 on the grid of 2, 3 with 3 on that of 3
    7
    """
    ascending = np.sort(sizes)
    values, first, counts = np.unique(ascending, return_index=True, return_counts=True)
    pairs = counts * (len(sizes) - first)
    return int(sum(c * n * DIMENSION * DIMENSION for n, c in zip(values, pairs, strict=True)))


def _weighted_pairs(report: Report, rng: np.random.Generator, count: int) -> None:
    sizes = rng.permutation(NCI1_SIZES)[:count]
    clouds = [rng.normal(size=(n, DIMENSION)).astype(np.float32) for n in sizes]
    weights = [rng.dirichlet(np.ones(len(x))) for x in clouds]
    ours = seconds(lambda: pairwise_distances(clouds, weights=weights), budget=5.0)
    pot = _pot_seconds(clouds, weights, rng) * count * (count - 1) / 2
    report.numbers["weighted_pairs"] = {"clouds": count, "seconds": ours, "pot_loop_seconds_extrapolated": pot}
    report.target(f"weighted pairs of {count} clouds: faster than looping POT", pot / ours, 500, at_most=False)


def _pot_seconds(clouds: list, weights: list | None, rng: np.random.Generator, sample: int = 200) -> float:
    """Mean seconds that POT takes for a pair, from a random sample."""
    from ot.sliced import expected_sliced_plan

    pairs = rng.integers(0, len(clouds), size=(sample, 2))
    axes = np.eye(DIMENSION, dtype=clouds[0].dtype)

    def loop() -> None:
        for i, j in pairs:
            a, b = (None, None) if weights is None else (weights[i], weights[j])
            expected_sliced_plan(clouds[i].astype(float), clouds[j].astype(float), a, b, projections=axes.astype(float))

    return seconds(loop, budget=0.5, at_least=1) / sample


def _one_pair(report: Report, rng: np.random.Generator, sizes: list[int], quick: bool) -> None:
    from ot import sliced_wasserstein_distance

    rows: dict[int, dict[str, float]] = {}
    for n in sizes:
        x, y = _two_clouds(rng, n)
        rows[n] = {
            "rpw": seconds(partial(rpw_distance, x, y)),
            "argsorts": seconds(partial(_argsorts, x, y)),
            "sw_pot": seconds(partial(sliced_wasserstein_distance, x, y, n_projections=50, seed=0), at_least=1),
        }
        ratio = rows[n]["sw_pot"] / rows[n]["rpw"]
        report.target(f"one pair of {n:,} points: faster than POT's SW2", ratio, 3 if n <= 100 else 15, at_most=False)
    report.numbers["one_pair"] = rows
    if not quick:
        _large_pairs(report, rng, rows)


def _large_pairs(report: Report, rng: np.random.Generator, rows: dict[int, dict[str, float]]) -> None:
    """How time grows with the points, what unequal sizes cost, and the memory of ten million points."""
    large = rows[10**6]
    report.target("one pair of 1,000,000 points / ten argsorts", large["rpw"] / large["argsorts"], 3.5, at_most=True)
    exponent = math.log10(large["rpw"] / rows[10**4]["rpw"]) / 2
    report.target("log-log slope from 10^4 to 10^6 points", exponent, 1.2, at_most=True, unit="")
    n = 10**5
    x, y, z = (rng.normal(size=(m, DIMENSION)) for m in (n, n, n - 1))
    equal, mixed = seconds(lambda: rpw_distance(x, y), budget=3.0), seconds(lambda: rpw_distance(x, z), budget=3.0)
    report.numbers["mixed_sizes"] = {"equal": equal, "mixed": mixed}
    report.target("100,000 against 99,999 points / equal sizes", mixed / equal, 2, at_most=True)
    x, y = _two_clouds(rng, 10**7)
    start = time.perf_counter()
    memory = extra_memory(lambda: rpw_distance(x, y))
    whole = None if memory is None else memory / 1e3 + (x.nbytes + y.nbytes) / 1e9
    report.numbers["ten_million"] = {"seconds": time.perf_counter() - start, "GB_with_input": whole}
    report.target("10,000,000 points: memory with the input", whole, 6, at_most=True, unit="GB")


def _two_clouds(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(n, DIMENSION)), rng.normal(size=(n, DIMENSION))


def _argsorts(x: np.ndarray, y: np.ndarray) -> None:
    for cloud in (x, y):
        for k in range(DIMENSION):
            np.argsort(cloud[:, k])


def draw(report: Report) -> bytes:
    """The run-time figure as PNG."""
    return as_png(times_by_points(report.numbers["figure"]))
