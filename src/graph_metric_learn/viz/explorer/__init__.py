"""The explorer: one page on which all graphs of a dataset, their neighbours and explanations can be looked at."""

from .page import explore

__all__ = ["explore"]
