"""The demo: a distance for handwritten digits as graphs, chosen and learned, and a page that shows the result."""

from .run import run_demo

__all__ = ["run_demo"]
