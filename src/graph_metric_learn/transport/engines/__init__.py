"""All pairs of many embedded measures: one protocol, several engines, chosen once per call."""

from .allpairs import ENGINES, choose_engine
from .base import Engine, Run

__all__ = ["ENGINES", "Engine", "Run", "choose_engine"]
