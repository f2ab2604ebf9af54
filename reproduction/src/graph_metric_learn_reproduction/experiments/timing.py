"""How long a call takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def seconds(
    call: Callable[[], Any], *, budget: float = 1.0, at_least: int = 3, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest of several runs after a warm-up: other work on the machine only ever adds time.

    Runs are repeated for `budget` seconds, and then until there are `at_least` so many, unless one run alone exceeds
    the budget. A call whose warm-up takes more than 20 times the budget is not repeated.
    """
    began = clock()
    call()
    if clock() - began > 20 * budget:
        return clock() - began
    best, runs = float("inf"), 0
    began = clock()
    while runs < 1 or (runs < at_least and best < budget) or clock() - began < budget:
        start = clock()
        call()
        best = min(best, clock() - start)
        runs += 1
    return best
