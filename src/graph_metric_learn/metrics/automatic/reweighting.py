"""Distances with parameters: weights of groups of columns, and maps of low rank, on listed pairs of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._core.compiled import parallel, prange


class Reweighting(Protocol):
    """A squared distance of listed pairs, with parameters that are 0 where nothing is learned."""

    n_parameters: int

    def squares(self, parameters: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs [N, M]."""

    def gradient(self, parameters: np.ndarray, grad_squares: np.ndarray) -> np.ndarray:
        """Gradient by the parameters of a loss whose gradient by the squared distances [N, M] is given."""


class GroupWeights:
    """d² = Σ_g e^θ_g d²_g.

    Parameters
    ----------
    parts : ndarray [N, M, G]
        Squared distances of the pairs in each group of columns.
    """

    def __init__(self, parts: np.ndarray) -> None:
        self.parts = parts
        self.n_parameters = parts.shape[2]

    @classmethod
    def joined(cls, parts: np.ndarray, owner: np.ndarray) -> GroupWeights:
        """One weight per owner; owner[g] is the owner of group g [G]."""
        return cls(parts @ np.eye(owner.max() + 1, dtype=np.float32)[owner])

    def squares(self, parameters: np.ndarray) -> np.ndarray:
        return self.parts @ np.exp(parameters).astype(np.float32)

    def gradient(self, parameters: np.ndarray, grad_squares: np.ndarray) -> np.ndarray:
        by_group = grad_squares.reshape(-1).astype(np.float32) @ self.parts.reshape(-1, self.n_parameters)
        return np.exp(parameters) * by_group


class LowRank:
    """d² = |δ|² + |(I + A) u|² − |u|²: a linear map of r coordinates u = Uᵀδ of the difference δ, the rest as it is.

    Parameters
    ----------
    plain : ndarray [N, M]
        Squared distances of the pairs.
    gaps : ndarray [N, M, r]
        Differences u in the r coordinates.
    """

    def __init__(self, plain: np.ndarray, gaps: np.ndarray) -> None:
        self.gaps = gaps
        self.rank = gaps.shape[2]
        self.rest = plain - (gaps**2).sum(2)
        self.n_parameters = self.rank**2

    def squares(self, parameters: np.ndarray) -> np.ndarray:
        return self.rest + (self._mapped(parameters) ** 2).sum(2)

    def gradient(self, parameters: np.ndarray, grad_squares: np.ndarray) -> np.ndarray:
        mapped = self._mapped(parameters) * grad_squares[:, :, None].astype(np.float32)
        return 2.0 * (self.gaps.reshape(-1, self.rank).T @ mapped.reshape(-1, self.rank)).ravel()

    def _mapped(self, parameters: np.ndarray) -> np.ndarray:
        step = parameters.reshape(self.rank, self.rank)
        return self.gaps + self.gaps @ step.astype(np.float32)


@dataclass(frozen=True)
class LowRankMap:
    """The linear map I + U A Uᵀ of vectors, with orthonormal directions U [d, r] and a step A [r, r]."""

    directions: np.ndarray
    step: np.ndarray

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Mapped vectors [N, d]."""
        return vectors + vectors @ self.directions @ self.step @ self.directions.T


def numbered_through(groups: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Groups that are numbered from 0 in each array, numbered across all arrays.

    >>> numbered_through([np.array([0, 0, 1]), np.array([0, 1])])
    [array([0, 0, 1]), array([2, 3])]
    """
    first = np.cumsum([0, *(int(group.max()) + 1 for group in groups[:-1])])
    return [group + start for group, start in zip(groups, first, strict=True)]


def group_squares(vectors: Sequence[np.ndarray], groups: Sequence[np.ndarray], near: np.ndarray) -> np.ndarray:
    """Squared distances of listed pairs [N, M, G], float32, in each of G groups of columns.

    Parameters
    ----------
    vectors : list of ndarray [N, slots, q]
        Which together make up the distance.
    groups : list of ndarray [q]
        For each of them, which group a column is in.
    near : ndarray [N, M]
        Graph i is paired with near[i].
    """
    parts = np.zeros((*near.shape, max(int(group.max()) for group in groups) + 1), dtype=np.float32)
    for values, group in zip(vectors, groups, strict=True):
        _add_squares(np.ascontiguousarray(values), group.astype(np.int64), near, parts)
    return parts


@parallel
def _add_squares(values, place, near, parts):
    """Adds squared differences of vectors [N, slots, q] to parts [N, M, G], column c to group place[c]."""
    for i in prange(near.shape[0]):
        total = np.empty(values.shape[2], dtype=np.float32)
        for b in range(near.shape[1]):
            total[:] = 0.0
            for s in range(values.shape[1]):
                for c in range(values.shape[2]):
                    gap = values[i, s, c] - values[near[i, b], s, c]
                    total[c] += gap * gap
            for c in range(values.shape[2]):
                parts[i, b, place[c]] += total[c]
