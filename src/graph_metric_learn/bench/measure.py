"""Time and memory of a call, and a table of what was asked and what was reached."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


def seconds(call: Callable[[], Any], *, budget: float = 1.0, at_least: int = 3) -> float:
    """The shortest of several runs after a warm-up: other work on the machine only ever adds time.

    Runs `at_least` times and goes on while the budget (in seconds) lasts. What takes long even the second time, when
    everything is compiled, is not run again.
    """
    began = time.perf_counter()
    call()
    if time.perf_counter() - began > 20 * budget:
        return time.perf_counter() - began
    best, runs = float("inf"), 0
    began = time.perf_counter()
    while runs < 1 or (runs < at_least and best < budget) or time.perf_counter() - began < budget:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
        runs += 1
    return best


def extra_memory(call: Callable[[], Any]) -> float | None:
    """MB (10^6 bytes) of memory the call needed at its peak beyond what was in use before; None where unknown."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # starts the peak anew
        before = _status("VmRSS")
        kept = call()
        peak = _status("VmHWM")
    except OSError:
        return None
    del kept
    return (peak - before) / 1e3


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) * 1.024 for line in lines if line.startswith(name))


@dataclass
class Report:
    """Numbers of a benchmark, and how they compare with what they must reach."""

    name: str
    machine: dict[str, Any] = field(default_factory=lambda: describe_machine())
    numbers: dict[str, Any] = field(default_factory=dict)
    targets: list[dict[str, Any]] = field(default_factory=list)

    def target(self, what: str, value: float | None, limit: float, *, at_most: bool, unit: str = "x") -> None:
        """Records and prints a number with its limit."""
        met = value is not None and (value <= limit if at_most else value >= limit)
        self.targets.append(
            {"what": what, "value": value, "limit": limit, "at_most": at_most, "unit": unit, "met": met}
        )
        shown = "unknown" if value is None else f"{value:,.3g} {unit}"
        print(f"{'ok    ' if met else 'MISSED'} {what}: {shown} ({'<=' if at_most else '>='} {limit:,g})", flush=True)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def describe_machine() -> dict[str, Any]:
    import numpy
    import torch

    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }
