"""What a distance is for: one file per objective, all of them in `OBJECTIVES`."""

import warnings
from typing import Any

from .base import OBJECTIVES, Objective
from .classes import Classes
from .labels import SeveralLabels
from .numbers import Numbers
from .tasks import objective_for, resolve_objective
from .unlabelled import Unlabelled

__all__ = [
    "OBJECTIVES", "Classes", "Numbers", "Objective", "SeveralLabels", "Unlabelled", "objective_for",
    "resolve_objective",
]  # fmt: skip

OBJECTIVES["classes"] = Classes
OBJECTIVES["numbers"] = Numbers
OBJECTIVES["labels"] = SeveralLabels
OBJECTIVES["none"] = Unlabelled


def __getattr__(name: str) -> Any:
    if name == "Nothing":
        warnings.warn("objectives.Nothing is now called Unlabelled", FutureWarning, stacklevel=2)
        return Unlabelled
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
