"""Learning that cannot hurt: few parameters, fitted by NCA, and kept only where graphs held out are classified better.

A squared distance that is linear in its parameters is learned from pairs of near graphs: of each graph its nearest
ones, as the unlearned distance sees them. What each parameter is multiplied with is computed once per pair, so that
a fit takes milliseconds, and so does judging it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..._core.compiled import parallel, prange

N_NEAREST, N_OWN = 30, 5  # nearest graphs, and nearest further ones of the own class
N_FOLDS = 5
MAX_STEPS = 30
_KS = (1, 3, 5, 7)


@dataclass
class Stage:
    """One attempt to learn.

    Attributes
    ----------
    name : str
        What was learned.
    n_parameters : int
        How many numbers.
    unlearned, learned : float
        Accuracy of k-NN on graphs held out, averaged over k and folds, before and after.
    error : float
        Standard error of the difference.
    kept : bool
        Whether it was kept: the gain is larger than two standard errors.
    refreshed : bool or None
        Whether couplings were made anew with what was learned, where that can be.
    confirmed : bool or None
        Whether all that was kept does no harm to graphs that took no part in learning, where there are some; else it
        is taken back.
    """

    name: str
    n_parameters: int
    unlearned: float
    learned: float
    error: float
    kept: bool
    refreshed: bool | None = None
    confirmed: bool | None = None


@dataclass
class Neighborhoods:
    """Pairs of near graphs.

    Attributes
    ----------
    near : ndarray [N, M]
        Graphs near each graph: the nearest ones, then further ones of its own class.
    n_voters : int
        How many of them are the nearest, whatever their class: these may vote.
    same : ndarray [N, M]
        Whether they are of the same class.
    valid : ndarray [N, M]
        False where a class has no further graphs.
    codes : ndarray [N]
        Classes 0, 1, …
    folds : ndarray [N]
        Which fold each graph is held out in.
    """

    near: np.ndarray
    n_voters: int
    same: np.ndarray
    valid: np.ndarray
    codes: np.ndarray
    folds: np.ndarray

    @classmethod
    def of(cls, squares: np.ndarray, codes: np.ndarray, rng: np.random.Generator) -> Neighborhoods:
        """Those of squared distances [N, N], equal ones in random order; each class is spread over the folds."""
        count = len(codes)
        shuffled = rng.permutation(count)
        others = squares[:, shuffled].astype(np.float32)
        others[shuffled, np.arange(count)] = np.inf
        nearest = np.argsort(others, axis=1, kind="stable")[:, : min(N_NEAREST, count - 1)]
        np.put_along_axis(others, nearest, np.inf, axis=1)
        others[codes[:, None] != codes[shuffled]] = np.inf
        own = np.argsort(others, axis=1, kind="stable")[:, : min(N_OWN, count - 1 - nearest.shape[1])]
        further = np.isfinite(np.take_along_axis(others, own, axis=1))
        near = shuffled[np.concatenate([nearest, own], axis=1)]
        valid = np.concatenate([np.ones(nearest.shape, dtype=bool), further], axis=1)
        folds = np.empty(count, dtype=np.int64)
        folds[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(count) % N_FOLDS
        return cls(near, nearest.shape[1], (codes[near] == codes[:, None]) & valid, valid, codes, folds)


class Model(Protocol):
    """A squared distance of the pairs with parameters that are 0 where nothing is learned."""

    n_parameters: int

    def squares(self, parameters: np.ndarray) -> np.ndarray:
        """Squared distances of the pairs [N, M]."""

    def gradient(self, parameters: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Derivatives by the parameters of a loss with these derivatives [N, M] by the squared distances."""


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
        """With one weight for all groups of an owner [G]."""
        return cls(parts @ np.eye(owner.max() + 1, dtype=np.float32)[owner])

    def squares(self, parameters: np.ndarray) -> np.ndarray:
        return self.parts @ np.exp(parameters).astype(np.float32)

    def gradient(self, parameters: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        return np.exp(parameters) * (slopes.reshape(-1).astype(np.float32) @ self.parts.reshape(-1, self.n_parameters))


class LowRank:
    """d² = |δ|² + |(I + A) u|² − |u|²: a linear map of r coordinates u = Uᵀδ of the difference, and the rest as it is.

    Parameters
    ----------
    plain : ndarray [N, M]
        Squared distances of the pairs.
    gaps : ndarray [N, M, r]
        Differences in the r coordinates.
    """

    def __init__(self, plain: np.ndarray, gaps: np.ndarray) -> None:
        self.gaps = gaps
        self.rank = gaps.shape[2]
        self.rest = plain - (gaps**2).sum(2)
        self.n_parameters = self.rank**2

    def squares(self, parameters: np.ndarray) -> np.ndarray:
        return self.rest + (self._mapped(parameters) ** 2).sum(2)

    def gradient(self, parameters: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        mapped = self._mapped(parameters) * slopes[:, :, None].astype(np.float32)
        return 2.0 * (self.gaps.reshape(-1, self.rank).T @ mapped.reshape(-1, self.rank)).ravel()

    def _mapped(self, parameters: np.ndarray) -> np.ndarray:
        step = parameters.reshape(self.rank, self.rank)
        return self.gaps + self.gaps @ step.astype(np.float32)


def learn(name: str, model: Model, around: Neighborhoods) -> tuple[np.ndarray, Stage]:
    """Parameters learned from all graphs, and how those learned without a fold do on that fold."""
    gains, before, after = [], [], []
    for fold in range(N_FOLDS):
        held = around.folds == fold
        known = ~held[around.near] & around.valid
        rows = ~held & (known & around.same).any(1)
        if not (held.any() and rows.any()):
            continue
        found = fit(model, around, rows, known)
        one = held_out_scores(model.squares(np.zeros(model.n_parameters)), around, held)
        two = held_out_scores(model.squares(found), around, held)
        gains.append(two - one)
        before.append(one)
        after.append(two)
    gain = np.concatenate(gains) if gains else np.zeros(1)
    error = float(gain.std() / np.sqrt(len(gain)))
    kept = bool(gain.mean() > 2 * error)
    stage = Stage(
        name, model.n_parameters, float(np.mean(np.concatenate(before))) if before else 0.0,
        float(np.mean(np.concatenate(after))) if after else 0.0, error, kept,
    )  # fmt: skip
    if not kept:
        return np.zeros(model.n_parameters), stage
    return fit(model, around, np.any(around.same, axis=1), around.valid), stage


def fit(model: Model, around: Neighborhoods, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Parameters that minimise NCA, the chance that a graph of these rows is classified wrong by a known near one.

    Each graph chooses a near one with a chance that falls as e^(−τ d²); τ is fitted, too. Parameters are drawn towards
    0 as by a normal prior of deviation 1.
    """
    from scipy.optimize import minimize

    known, same = known[rows], around.same[rows]
    start = model.squares(np.zeros(model.n_parameters))[rows]
    first = np.where(known & (start > 0), start, np.inf).min(1)  # copies say nothing about the scale
    typical = float(np.median(first[np.isfinite(first)])) if np.isfinite(first).any() else 1.0
    start_rate = -np.log(max(typical, 1e-30))
    count = int(rows.sum())

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        rate = np.exp(point[0])
        squares = model.squares(point[1:])[rows]
        value, slopes = _nca(rate * squares, known, same)
        full = np.zeros(around.near.shape)
        full[rows] = rate * slopes
        gradient = np.concatenate([[(slopes * squares).sum() * rate], model.gradient(point[1:], full)])
        gradient[1:] += point[1:]
        return (value + 0.5 * float(point[1:] @ point[1:])) / count, gradient / count

    start_point = np.concatenate([[start_rate], np.zeros(model.n_parameters)])
    bounds = [(start_rate - 5, start_rate + 5)] + [(-5.0, 5.0)] * model.n_parameters
    found = minimize(loss, start_point, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MAX_STEPS})
    return found.x[1:]


def held_out_scores(squares: np.ndarray, around: Neighborhoods, held: np.ndarray) -> np.ndarray:
    """For each graph held out, for how many k, as a share, its nearest graphs that are not held out classify it right.

    Only the nearest, whatever their class: further ones of the own class would be a hint.
    """
    near = around.near[held, : around.n_voters]
    rows = np.where(held[near], np.inf, squares[held, : around.n_voters])
    order = np.argsort(rows, axis=1, kind="stable")
    voters = np.take_along_axis(around.codes[near], order, axis=1)
    counts = np.isfinite(np.take_along_axis(rows, order, axis=1))
    ballots = (voters[:, :, None] == np.arange(around.codes.max() + 1)) & counts[:, :, None]
    votes = np.cumsum(ballots, axis=1)
    right = [votes[:, min(k, votes.shape[1]) - 1].argmax(1) == around.codes[held] for k in _KS]
    return np.mean(right, axis=0)


def side_by_side(groups: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Groups that are numbered from 0 in each array, numbered through.

    >>> side_by_side([np.array([0, 0, 1]), np.array([0, 1])])
    [array([0, 0, 1]), array([2, 3])]
    """
    first = np.cumsum([0, *(int(group.max()) + 1 for group in groups[:-1])])
    return [group + start for group, start in zip(groups, first, strict=True)]


def group_squares(vectors: Sequence[np.ndarray], groups: Sequence[np.ndarray], near: np.ndarray) -> np.ndarray:
    """Squared distances of the pairs [N, M, G], float32, in each of G groups of columns.

    Parameters
    ----------
    vectors : list of ndarray [N, slots, q]
        Which together make up the distance.
    groups : list of ndarray [q]
        For each of them, which group a column is in.
    near : ndarray [N, M]
        The pairs.
    """
    parts = np.zeros((*near.shape, max(int(group.max()) for group in groups) + 1), dtype=np.float32)
    for values, group in zip(vectors, groups, strict=True):
        _add_squares(np.ascontiguousarray(values), group.astype(np.int64), near, parts)
    return parts


def principal_directions(vectors: np.ndarray, rank: int) -> np.ndarray:
    """Directions of largest variance of vectors [N, D], as columns [D, r], r at most `rank`."""
    centred = vectors - vectors.mean(0)
    values, weights = np.linalg.eigh((centred @ centred.T).astype(np.float64))
    chosen = [i for i in np.argsort(-values)[:rank] if values[i] > 1e-6 * values.max()]
    return np.linalg.qr(centred.T @ (weights[:, chosen] / np.sqrt(values[chosen])).astype(np.float32))[0]


def _nca(scaled: np.ndarray, known: np.ndarray, same: np.ndarray) -> tuple[float, np.ndarray]:
    """Σ −log(chance of the own class) over rows of squared distances, and its derivatives."""
    energy = np.where(known, -scaled, -np.inf).astype(np.float64)
    own = np.where(same, energy, -np.inf)
    top, top_own = energy.max(1, keepdims=True), own.max(1, keepdims=True)
    chance, chance_own = np.exp(energy - top), np.exp(own - top_own)
    total, total_own = chance.sum(1, keepdims=True), chance_own.sum(1, keepdims=True)
    value = np.sum(np.log(total) + top - np.log(total_own) - top_own)
    return float(value), chance_own / total_own - chance / total


@parallel
def _add_squares(values, place, near, parts):
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
