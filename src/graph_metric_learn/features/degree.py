"""Block of degrees: one column per degree, large ones together."""

from __future__ import annotations

import numpy as np

from ..graphs.collection import Graphs
from .base import SmoothBlock

_EXACT_DEGREES = 32  # larger degrees share geometric bins of ratio 1.25
_BINS = 48  # of larger degrees; they reach a million


class Degree(SmoothBlock):
    """The degree, one-hot."""

    def start(self, graphs: Graphs) -> np.ndarray:
        return degree_columns(graphs.degrees)

    def widths(self) -> tuple[int, ...]:
        return (_EXACT_DEGREES + _BINS,)


def degree_columns(degrees: np.ndarray) -> np.ndarray:
    """One column for each degree up to 32, then one for every quarter more; 60 columns reach 10^4 [S, columns].

    >>> degree_columns(np.array([0, 2, 33, 40, 41])).argmax(1)
    array([ 0,  2, 33, 33, 34])
    """
    large = _EXACT_DEGREES + np.ceil(np.log(np.maximum(degrees, 1) / _EXACT_DEGREES) / np.log(1.25))
    column = np.where(degrees <= _EXACT_DEGREES, degrees, large).astype(int)
    columns = np.zeros((len(degrees), _EXACT_DEGREES + _BINS), dtype=np.float32)
    columns[np.arange(len(degrees)), np.minimum(column, columns.shape[1] - 1)] = 1.0
    return columns
