"""Learn a distance between attributed graphs.

Names are loaded when they are first used: importing the package costs nothing, and the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Curves": "transport",
    "curve_vectors": "transport",
    "as_curves": "transport",
    "iter_distances": "transport",
    "kneighbors": "transport",
    "mean_curve": "transport",
    "pairwise_distances": "transport",
    "pw_distance": "transport",
    "rpw_distance": "transport",
    "sw_distance": "transport",
}
_ROOMS = ("transport",)

if TYPE_CHECKING:
    from . import transport
    from .transport import (
        Curves,
        as_curves,
        curve_vectors,
        iter_distances,
        kneighbors,
        mean_curve,
        pairwise_distances,
        pw_distance,
        rpw_distance,
        sw_distance,
    )

__all__ = [
    "Curves",
    "as_curves",
    "curve_vectors",
    "iter_distances",
    "kneighbors",
    "mean_curve",
    "pairwise_distances",
    "pw_distance",
    "rpw_distance",
    "sw_distance",
    "transport",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *_ROOMS])
