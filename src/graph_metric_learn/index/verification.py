"""What arrays of an index must be to each other, whoever wrote them: `verify` looks at this beyond checksums.

Search leaves out rows by bounds: coordinates along axes, and vectors of curves. It is exact only as long as these are
what they are said to be.
"""

from __future__ import annotations

import numpy as np

from .._core.schema import FieldError
from ..transport import curve_vectors
from .kernels import COARSE
from .rows import Axes, State
from .search import curves_at

_ROWS = 50_000  # looked at together
_TURNED = 1e-9  # by which inner products of axes may be off
_OFF = 2.0**-22  # share of its norm by which coordinates may be off: twice their rounding to float32
_CANCELLED = 2.0**-40  # share of the norms of vector and centre that is lost in their difference
_AVERAGED = 1e-5  # share of the largest value of a curve by which its averages may be off


def check_arrays(state: State) -> None:
    """A :class:`FieldError` that names what does not fit to the vectors [n, d] of a state, or to its curves."""
    if state.axes is None:
        return
    axes = state.axes.directions
    if not np.abs(axes.T @ axes - np.eye(axes.shape[1])).max(initial=0.0) <= _TURNED:
        raise FieldError("axes", "are not orthonormal")
    for lo in range(0, state.count, _ROWS):
        rows = np.arange(lo, min(lo + _ROWS, state.count))
        _check_coordinates(state, state.axes, rows)
        if "curves" in state.arrays:
            _check_bounds(state, rows)


def _check_coordinates(state: State, axes: Axes, rows: np.ndarray) -> None:
    """Coordinates of rows [m] must be those of their vectors along the axes."""
    vectors, coarse, fine = (state.arrays[name][rows] for name in ("vectors", "coarse", "fine"))
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = axes.coordinates(vectors)
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1) + np.linalg.norm(axes.centre)
        slack = _OFF * np.linalg.norm(wanted.astype(np.float64), axis=1) + _CANCELLED * norms
        for name, part, some in (("coarse", coarse, wanted[:, :COARSE]), ("fine", fine, wanted[:, COARSE:])):
            off = ~(np.linalg.norm(part.astype(np.float64) - some, axis=1) <= slack)
            if off.any():
                raise FieldError(name, f"of row {rows[off.argmax()]} is not that of its vector along the axes")


def _check_bounds(state: State, rows: np.ndarray) -> None:
    """Vectors of rows [m] must be the averages of their curves: only then are they never farther apart than these."""
    vectors, shape = state.arrays["vectors"][rows], state.arrays["curves"].shape[1:]
    cells, rest = divmod(vectors.shape[1], max(int(np.prod(shape)), 1))
    if rest or not cells:
        raise FieldError("vectors", f"of width {vectors.shape[1]} are no averages of curves {shape}")
    try:
        curves = curves_at(state, rows)
        wanted = np.asarray(curve_vectors(curves, cells))
    except ValueError as error:
        raise FieldError("curves", f"do not make sense: {error}") from None
    largest = np.maximum.reduceat(np.abs(curves.values.flatten(1).numpy()).max(1), curves.offsets[:-1])
    off = ~(np.abs(vectors - wanted).max(1) <= _AVERAGED * largest)
    if off.any():
        raise FieldError("vectors", f"of row {rows[off.argmax()]} are not the averages of its curve")
