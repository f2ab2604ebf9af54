"""What a distance is for: one file per objective, all of them in `OBJECTIVES`."""

from .base import OBJECTIVES, Objective
from .classes import Classes

__all__ = ["OBJECTIVES", "Classes", "Objective", "resolve_objective"]

OBJECTIVES["classes"] = Classes


def resolve_objective(task: str) -> Objective:
    """A new objective by name; "auto" is classes."""
    return OBJECTIVES["classes" if task == "auto" else task]()
