"""What a distance is for: one file per objective, all of them in `OBJECTIVES`."""

from .base import OBJECTIVES, Objective
from .classes import Classes
from .numbers import Numbers
from .tasks import objective_for, resolve_objective
from .unlabelled import Unlabelled

__all__ = ["OBJECTIVES", "Classes", "Numbers", "Objective", "Unlabelled", "objective_for", "resolve_objective"]

OBJECTIVES["classes"] = Classes
OBJECTIVES["numbers"] = Numbers
OBJECTIVES["none"] = Unlabelled
