"""The command line `graph-metric-learn`: one module per command, each with `options(parser)` and `run(options)`."""

from .entry import console, main

__all__ = ["console", "main"]
