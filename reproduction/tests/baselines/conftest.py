from itertools import count
from types import SimpleNamespace

import pytest


@pytest.fixture
def ticking_clock(monkeypatch):
    """Replaces the clock of modules by one that advances a second whenever it is read."""
    ticks = count()

    def install(*modules):
        for module in modules:
            monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))

    return install
