"""Memory of a call, seconds on a GPU, and a report of measured numbers against their targets."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def extra_memory(call: Callable[[], Any]) -> float | None:
    """Peak memory of a call beyond what was in use before, in MB (10^6 bytes); None where it cannot be measured."""
    gc.collect()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        before = _status("VmRSS")
        kept = call()
        peak = _status("VmHWM")
    except OSError:
        return None
    del kept
    return (peak - before) / 1e3


def _status(name: str) -> float:
    """A line of /proc/self/status in kB (10^3 bytes)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) * 1.024 for line in lines if line.startswith(name))


def device_seconds(
    call: Callable[[], Any], device: torch.device, runs: int = 3, *, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest of some runs after a warm-up, each timed until the device has finished."""
    times = []
    for _ in range(runs + 1):
        synchronize(device)
        start = clock()
        call()
        synchronize(device)
        times.append(clock() - start)
    return min(times[1:])


def synchronize(device: torch.device) -> None:
    """Waits until a GPU has finished all work; does nothing for the CPU."""
    if device.type == "cuda":
        import torch

        torch.cuda.synchronize(device)


@dataclass
class Report:
    """Numbers of a benchmark, and which targets they reach."""

    name: str
    machine: dict[str, Any] = field(default_factory=lambda: describe_machine())  # what it ran on
    numbers: dict[str, Any] = field(default_factory=dict)  # what was measured, by section
    targets: list[dict[str, Any]] = field(default_factory=list)  # what, value, limit, at_most, unit, and whether met

    def target(self, what: str, value: float | None, limit: float, *, at_most: bool, unit: str = "x") -> None:
        """Records and prints a number with its limit."""
        met = value is not None and (value <= limit if at_most else value >= limit)
        self.targets.append(
            {"what": what, "value": value, "limit": limit, "at_most": at_most, "unit": unit, "met": met}
        )
        shown = "unknown" if value is None else f"{value:,.3g} {unit}"
        print(f"{'ok    ' if met else 'MISSED'} {what}: {shown} ({'<=' if at_most else '>='} {limit:,g})", flush=True)

    def as_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)


def print_rows(what: str, rows: dict[int, dict[str, float]]) -> None:
    """Prints numbers by size and device, with two decimals."""
    print(f"       {what}: { ({n: {k: round(v, 2) for k, v in row.items()} for n, row in rows.items()}) }", flush=True)


def describe_machine() -> dict[str, Any]:
    """Processor, cores, and the versions that matter."""
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
