"""Fewer coordinates: vectors projected onto the directions along which they vary most."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from scipy import sparse

from ..._core.schema import FieldError, Saved, array
from ...linalg.principal_axes import axes_as_sums
from ...linalg.squared_distances import inner_products

MAX_WIDTH = 256  # coordinates of one term
_FITTED_TO = 1000  # vectors that directions are computed from, at most
_ROWS = 256  # vectors that are projected at a time


class Projection(Saved):
    """Principal directions of some vectors, as weighted sums of these: v ↦ ⟨v, landmarks⟩ · coefficients.

    Of dense vectors the sums are formed once; sparse ones stay as they are, since their sums would not be sparse.

    Attributes
    ----------
    directions : ndarray [D, r], float32, or None
        For dense vectors.
    landmarks : csr_array [m, D] or None
    coefficients : ndarray [m, r] or None
        For sparse ones.
    """

    directions: Annotated[np.ndarray, array("D r")] | None = None
    landmarks: Annotated[sparse.csr_array, array("m D")] | None = None
    coefficients: Annotated[np.ndarray, array("m r")] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.directions is None) == (self.landmarks is not None) == (self.coefficients is not None):
            raise FieldError("directions", "or landmarks and their coefficients must be there")

    @classmethod
    def fit(cls, vectors: Any, width: int) -> Projection:
        """At most `width` directions along which these vectors [N, D] vary most."""
        some = vectors[:: max(1, -(-vectors.shape[0] // _FITTED_TO))]
        exact = some.astype(np.float64)  # so that directions of little variance are orthogonal, too
        weights = axes_as_sums(inner_products(exact, exact), width)
        if sparse.issparse(some):
            return cls(None, some, np.ascontiguousarray(weights))
        return cls(np.ascontiguousarray(exact.T @ weights, np.float32))  # as files hold it: products have the same bits

    @property
    def width(self) -> int:
        """r."""
        kept = self.directions if self.directions is not None else self.coefficients
        assert kept is not None
        return kept.shape[1]

    def first(self, width: int) -> Projection:
        """The `width` directions of largest variance, or all if there are fewer."""
        if self.directions is not None:
            return Projection(np.ascontiguousarray(self.directions[:, :width]))
        assert self.coefficients is not None
        return Projection(None, self.landmarks, np.ascontiguousarray(self.coefficients[:, :width]))

    def apply(self, vectors: Any) -> np.ndarray:
        """Coordinates [N, r], float32; computed in float64, so that they do not depend on how many rows there are."""
        if self.directions is not None:
            return _product(vectors, self.directions.astype(np.float64))
        return (inner_products(vectors, self.landmarks) @ self.coefficients).astype(np.float32)

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by the vectors [D] of something whose gradient by the coordinates [r] is given, or of several.

        In the precision of the directions: they are not copied.
        """
        if self.directions is not None:
            return (self.directions @ gradient.astype(np.float32)).astype(np.float64)
        assert self.landmarks is not None
        return self.landmarks.T @ (self.coefficients @ gradient)


def _product(vectors: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """vectors @ directions [N, r], float32, computed in float64, some rows at a time in the same memory."""
    found = np.empty((len(vectors), directions.shape[1]), np.float32)
    exact = np.empty((min(_ROWS, len(vectors)), vectors.shape[1]))
    product = np.empty((len(exact), directions.shape[1]))
    for lo in range(0, len(vectors), _ROWS):
        some = vectors[lo : lo + _ROWS]
        exact[: len(some)] = some
        np.matmul(exact[: len(some)], directions, out=product[: len(some)])
        found[lo : lo + _ROWS] = product[: len(some)]
    return found
