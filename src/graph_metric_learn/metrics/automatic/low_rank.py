"""A linear map of low rank after the terms, in models of earlier versions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LowRankMap:
    """The linear map I + U A Uᵀ of vectors, with orthonormal directions U [d, r] and a step A [r, r]."""

    directions: np.ndarray
    step: np.ndarray

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Mapped vectors [N, d]."""
        return vectors + vectors @ self.directions @ self.step @ self.directions.T

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by the vectors [d], from that by the mapped ones."""
        return gradient + self.directions @ (self.step @ (self.directions.T @ gradient))
