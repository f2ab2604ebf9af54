"""How fast the distances are: all pairs against a matrix product and POT, single pairs against POT and sorting."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from ..report.plots import as_png, times_by_points
from ..transport import pairwise_distances, pw_distance, rpw_distance
from ..transport.reference import rpw_quadratic, rpw_sequential
from .measure import Report, extra_memory, seconds

P = 5  # dimension of all clouds, as in the paper

# How many of NCI1's 4110 molecules have 3, 4, … 111 atoms.
NCI1_SIZES = [
    1, 0, 1, 0, 0, 10, 9, 14, 24, 40, 47, 49, 71, 95, 121, 126, 168, 175, 179, 167, 193, 181, 167, 167, 152, 172, 128,
    122, 124, 108, 108, 104, 100, 73, 90, 80, 75, 76, 41, 44, 49, 21, 26, 31, 20, 18, 18, 17, 12, 12, 18, 15, 6, 17, 9,
    9, 11, 16, 14, 12, 18, 13, 9, 13, 7, 6, 3, 10, 5, 0, 2, 3, 4, 5, 6, 5, 6, 4, 2, 4, 2, 4, 2, 2, 0, 1, 0, 5, 2, 3, 2,
    0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 2, 0, 0, 0, 1,
]  # fmt: skip


def nci1_sizes(rng: np.random.Generator) -> np.ndarray:
    """The 4110 sizes, in random order."""
    return rng.permutation(np.repeat(np.arange(3, 3 + len(NCI1_SIZES)), NCI1_SIZES))


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
    sizes = nci1_sizes(rng)[:count]
    clouds = [np.maximum(rng.normal(size=(n, P)), 0).astype(np.float32) for n in sizes]
    mine = seconds(lambda: pairwise_distances(clouds), budget=5.0)
    # the multiplications of our products: each pair once, on the coarser of its two grids
    ascending = np.sort(sizes)
    values, first, counts = np.unique(ascending, return_index=True, return_counts=True)
    multiplications = int(sum(c * (count - f) * n * P * P for n, f, c in zip(values, first, counts, strict=True)))
    inner = max(1, round(multiplications / count**2))
    left = torch.randn(count, inner)
    product = seconds(lambda: left @ left.T, budget=2.0)
    product *= multiplications / (inner * count**2)
    pot = _pot_plans(clouds, None, rng) * count * (count - 1) / 2
    numbers = {
        "clouds": count, "points": int(sizes.sum()), "seconds": mine, "product_seconds": product,
        "multiplications": multiplications, "pot_loop_seconds_extrapolated": pot,
    }  # fmt: skip
    memory = extra_memory(lambda: pairwise_distances(clouds))
    report.numbers["all_pairs"] = {**numbers, "memory_MB": memory}
    report.target(f"all pairs of {count} clouds / one product", mine / product, 6, at_most=True)
    report.target(f"all pairs of {count} clouds: faster than looping POT", pot / mine, 5000, at_most=False)
    report.target(f"all pairs of {count} clouds: memory above the input", memory, 700, at_most=True, unit="MB")


def _weighted_pairs(report: Report, rng: np.random.Generator, count: int) -> None:
    clouds = [rng.normal(size=(n, P)).astype(np.float32) for n in nci1_sizes(rng)[:count]]
    weights = [rng.dirichlet(np.ones(len(x))) for x in clouds]
    mine = seconds(lambda: pairwise_distances(clouds, weights=weights), budget=5.0)
    pot = _pot_plans(clouds, weights, rng) * count * (count - 1) / 2
    report.numbers["weighted_pairs"] = {"clouds": count, "seconds": mine, "pot_loop_seconds_extrapolated": pot}
    report.target(f"weighted pairs of {count} clouds: faster than looping POT", pot / mine, 500, at_most=False)


def _pot_plans(clouds: list, weights: list | None, rng: np.random.Generator, sample: int = 200) -> float:
    """Seconds POT takes for one pair, the mean of a sample."""
    from ot.sliced import expected_sliced_plan

    pairs = rng.integers(0, len(clouds), size=(sample, 2))
    axes = np.eye(P, dtype=clouds[0].dtype)

    def loop() -> None:
        for i, j in pairs:
            a, b = (None, None) if weights is None else (weights[i], weights[j])
            expected_sliced_plan(clouds[i].astype(float), clouds[j].astype(float), a, b, projections=axes.astype(float))

    return seconds(loop, budget=0.5, at_least=1) / sample


def _one_pair(report: Report, rng: np.random.Generator, sizes: list[int], quick: bool) -> None:
    from ot import sliced_wasserstein_distance

    rows: dict[int, dict[str, float]] = {}
    for n in sizes:
        x, y = rng.normal(size=(n, P)), rng.normal(size=(n, P))
        rows[n] = {
            "rpw": seconds(partial(rpw_distance, x, y)),
            "argsorts": seconds(partial(_argsorts, x, y)),
            "sw_pot": seconds(partial(sliced_wasserstein_distance, x, y, n_projections=50, seed=0), at_least=1),
        }
        ratio = rows[n]["sw_pot"] / rows[n]["rpw"]
        report.target(f"one pair of {n:,} points: faster than POT's SW2", ratio, 3 if n <= 100 else 15, at_most=False)
    report.numbers["one_pair"] = rows
    if quick:
        return
    large = rows[10**6]
    report.target("one pair of 1,000,000 points / ten argsorts", large["rpw"] / large["argsorts"], 3.5, at_most=True)
    slope = math.log10(large["rpw"] / rows[10**4]["rpw"]) / 2
    report.target("log-log slope from 10^4 to 10^6 points", slope, 1.2, at_most=True, unit="")
    n = 10**5
    x, y, z = (rng.normal(size=(m, P)) for m in (n, n, n - 1))
    equal, mixed = seconds(lambda: rpw_distance(x, y), budget=3.0), seconds(lambda: rpw_distance(x, z), budget=3.0)
    report.numbers["mixed_sizes"] = {"equal": equal, "mixed": mixed}
    report.target("100,000 against 99,999 points / equal sizes", mixed / equal, 2, at_most=True)
    n = 10**7
    x, y = rng.normal(size=(n, P)), rng.normal(size=(n, P))
    start = time.perf_counter()
    memory = extra_memory(lambda: rpw_distance(x, y))
    whole = None if memory is None else memory / 1e3 + (x.nbytes + y.nbytes) / 1e9
    report.numbers["ten_million"] = {"seconds": time.perf_counter() - start, "GB_with_input": whole}
    report.target("10,000,000 points: memory with the input", whole, 6, at_most=True, unit="GB")


def _argsorts(x: np.ndarray, y: np.ndarray) -> None:
    for cloud in (x, y):
        for k in range(P):
            np.argsort(cloud[:, k])


def run_times(
    rng: np.random.Generator,
    *,
    largest: int,
    patience: float,
    known: Mapping[str, Sequence[tuple[int, float]]] | None = None,
    keep: Callable[[str, int, float], None] = lambda method, points, seconds: None,
) -> dict[str, list[tuple[int, float]]]:
    """The paper's run-time figure: seconds against the number of points, for each method as far as patience goes.

    What is known from an earlier run is not measured again; what is measured goes to `keep` at once.
    """
    import ot

    methods: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
        "W2 (POT)": lambda x, y: ot.emd2([], [], ot.dist(x, y), numItermax=10**7),
        "entropic W2, γ = 100 (POT)": lambda x, y: ot.sinkhorn2([], [], ot.dist(x, y), 100.0),
        "SW2 (POT)": lambda x, y: ot.sliced_wasserstein_distance(x, y, n_projections=50, seed=0),
        "PW2": lambda x, y: pw_distance(x, y, n_projections=50, seed=0),
        "RPW2": lambda x, y: rpw_distance(x, y),
        "RPW2, paper's sequential": rpw_sequential,
        "RPW2, paper's quadratic": rpw_quadratic,
    }
    most = {"W2 (POT)": 2.5e4, "entropic W2, γ = 100 (POT)": 2.5e4, "RPW2, paper's quadratic": 1.5e4}  # memory: n²
    sizes = [n for k in range(1, 7) for n in (10**k, 3 * 10**k) if n <= largest]
    times: dict[str, list[tuple[int, float]]] = {}
    for name, method in methods.items():
        done = list((known or {}).get(name, ()))
        for n in sizes:
            if n in dict(done):
                continue
            if n > most.get(name, math.inf) or _expected(done, n) > patience:
                break
            x, y = rng.normal(size=(n, P)), rng.normal(size=(n, P))
            done.append((n, seconds(partial(method, x, y), budget=0.3, at_least=1)))
            keep(name, *done[-1])
        times[name] = done
        print(f"       {name}: {done[-1][1]:.3g} s at {done[-1][0]:,} points", flush=True)
    return times


def _expected(done: list[tuple[int, float]], n: int) -> float:
    """Seconds to expect for n points, from the last two sizes."""
    if len(done) < 2:
        return 0.0
    (n1, t1), (n2, t2) = done[-2:]
    growth = max(1.0, math.log(t2 / t1) / math.log(n2 / n1))
    return t2 * (n / n2) ** growth


def draw(report: Report) -> bytes:
    """The run-time figure as PNG."""
    return as_png(times_by_points(report.numbers["figure"]))
