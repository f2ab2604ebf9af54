"""The paper's Figure 1: seconds for one distance against the number of points, each number a record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from graph_metric_learn.transport import pw_distance, rpw_distance

from .records import Config, Record, Records, matching
from .rpw_of_the_paper import rpw_quadratic, rpw_sequential
from .timing import seconds

DIMENSION = 5  # of all points, as in the paper
Times = dict[str, list[tuple[int, float]]]  # (points, seconds) by method


def run_times(
    rng: np.random.Generator,
    *,
    largest: int,
    patience: float,
    known: Mapping[str, Sequence[tuple[int, float]]] | None = None,
    keep: Callable[[str, int, float], None] = lambda method, points, spent: None,
) -> Times:
    """Seconds for one distance between two clouds of 10, 30, 100, 300, … points, at most `largest`, by method.

    A method stops before the first size that is expected to take more than `patience` seconds. What is `known` from an
    earlier call is not measured again; `keep` is called with (method, points, seconds) after each measurement.
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
    # The most points for methods whose memory grows with their square.
    most = {"W2 (POT)": 2.5e4, "entropic W2, γ = 100 (POT)": 2.5e4, "RPW2, paper's quadratic": 1.5e4}
    sizes = [n for k in range(1, 7) for n in (10**k, 3 * 10**k) if n <= largest]
    times: Times = {}
    for name, method in methods.items():
        done = list((known or {}).get(name, ()))
        for n in sizes:
            if n in dict(done):
                continue
            if n > most.get(name, math.inf) or expected_seconds(done, n) > patience:
                break
            x, y = rng.normal(size=(n, DIMENSION)), rng.normal(size=(n, DIMENSION))
            done.append((n, seconds(partial(method, x, y), budget=0.3, at_least=1)))
            keep(name, *done[-1])
        times[name] = done
        print(f"       {name}: {done[-1][1]:.3g} s at {done[-1][0]:,} points", flush=True)
    return times


def expected_seconds(done: Sequence[tuple[int, float]], n: int) -> float:
    """Seconds to expect for n points, by a power law through the last two of (points, seconds); 0 before there are two.

    >>> expected_seconds([(10, 1.0), (20, 4.0)], 40)
    16.0
    """
    if len(done) < 2:
        return 0.0
    (n1, t1), (n2, t2) = done[-2:]
    growth = max(1.0, math.log(t2 / t1) / math.log(n2 / n1))
    return t2 * (n / n2) ** growth


def measure_figure(records: Records, *, largest: int = 10**6, patience: float = 60.0) -> None:
    """Measures and records what is missing of the figure."""

    def keep(method: str, points: int, spent: float) -> None:
        records.add(point_config(method, points), {"seconds": spent})

    run_times(np.random.default_rng(0), largest=largest, patience=patience, known=figure_times(records), keep=keep)


def point_config(method: str, points: int) -> Config:
    """The configuration of one point of the figure."""
    return {"what": "figure1", "dataset": "figure1", "method": method, "model": {"points": points}}


def figure_times(records: Iterable[Record]) -> Times:
    """The recorded (points, seconds) by method, by increasing points."""
    times: Times = {}
    for record in matching(records, what="figure1"):
        point = record["config"]["model"]["points"], record["result"]["seconds"]
        times.setdefault(record["config"]["method"], []).append(point)
    return {method: sorted(points) for method, points in times.items()}
