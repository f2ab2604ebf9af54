"""Training an encoder so that the distance between graphs fits their classes."""

from .loop import History, train

__all__ = ["History", "train"]
