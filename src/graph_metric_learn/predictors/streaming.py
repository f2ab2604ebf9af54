"""Predictions of any number of graphs: some at a time, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable, Sized
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._core.parallel import n_workers
from ..graphs.stream import CHUNK, is_stream, read_chunks


def streamed(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a predictor that takes graphs first and returns arrays with a row per graph, or tuples of such.

    Many graphs, and graphs that come one after the other, are given to it in parts; what it returns is put together.
    """

    @wraps(method)
    def in_parts(self: Any, graphs: Any = None, *args: Any, **options: Any) -> Any:
        check_is_fitted(self)
        size = 4 * CHUNK * n_workers()
        if graphs is None or not (is_stream(graphs) or (isinstance(graphs, Sized) and len(graphs) > size)):
            return method(self, graphs, *args, **options)
        parts = [method(self, part, *args, **options) for part in read_chunks(graphs, self.metric_.read, size)]
        if isinstance(parts[0], tuple):
            return tuple(np.concatenate(column) for column in zip(*parts, strict=True))
        return np.concatenate(parts)

    return in_parts
