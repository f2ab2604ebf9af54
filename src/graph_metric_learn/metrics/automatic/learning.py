"""Learning with few parameters, kept only if graphs held out are predicted better.

A squared distance with parameters (see `reweighting`) is learned from pairs of near graphs: of each graph its nearest
ones, as the unlearned distance sees them. What does not depend on the parameters is computed once per pair, so
that a fit takes milliseconds, and so does judging it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...objectives import Objective
from .reweighting import Reweighting

N_NEAREST, N_ALIKE = 30, 5  # nearest graphs, and nearest further ones that should be near
N_FOLDS = 5
MAX_STEPS = 30
# Unlike in leave-one-out, where equals share their votes, all k count the same here and the first of equals votes.
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
        Score of k-NN on graphs held out, averaged over k and folds, before and after.
    error : float
        Standard error of the difference.
    kept : bool
        Whether it was kept: the gain is larger than two standard errors.
    refreshed : bool or None
        Whether embeddings were fitted anew with what was learned, where that can be.
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
        Of each graph the nearest ones, ascending, then the nearest further ones that are alike.
    n_voters : int
        How many of them are the nearest ones.
    alike : ndarray [N, M]
        Whether the two should be near each other.
    valid : ndarray [N, M]
        False where there are no further graphs that are alike.
    target : ndarray [N]
        Encoded by the objective.
    folds : ndarray [N]
        Which fold each graph is held out in.
    """

    near: np.ndarray
    n_voters: int
    alike: np.ndarray
    valid: np.ndarray
    target: np.ndarray
    folds: np.ndarray

    @classmethod
    def of(
        cls, squares: np.ndarray, target: np.ndarray, objective: Objective, rng: np.random.Generator
    ) -> Neighborhoods:
        """Neighbourhoods from squared distances [N, N]; ties are broken at random."""
        count = len(target)
        shuffled = rng.permutation(count)
        others = squares[:, shuffled].astype(np.float32)
        others[shuffled, np.arange(count)] = np.inf
        nearest = np.argsort(others, axis=1, kind="stable")[:, : min(N_NEAREST, count - 1)]
        np.put_along_axis(others, nearest, np.inf, axis=1)
        others[~objective.alike(target[:, None], target[shuffled])] = np.inf
        own = np.argsort(others, axis=1, kind="stable")[:, : min(N_ALIKE, count - 1 - nearest.shape[1])]
        further = np.isfinite(np.take_along_axis(others, own, axis=1))
        near = shuffled[np.concatenate([nearest, own], axis=1)]
        valid = np.concatenate([np.ones(nearest.shape, dtype=bool), further], axis=1)
        alike = objective.alike(target[near], target[:, None]) & valid
        return cls(near, nearest.shape[1], alike, valid, target, objective.folds(target, N_FOLDS, shuffled))


def learn(name: str, model: Reweighting, around: Neighborhoods, objective: Objective) -> tuple[np.ndarray, Stage]:
    """Parameters learned from all graphs, and how those learned without a fold do on that fold."""
    gains, before, after = [], [], []
    for fold in range(N_FOLDS):
        held = around.folds == fold
        known = ~held[around.near] & around.valid
        rows = ~held & (known & around.alike).any(1)
        if not (held.any() and rows.any()):
            continue
        found = fit(model, around, objective, rows, known)
        unlearned = held_out_scores(model.squares(np.zeros(model.n_parameters)), around, objective, held)
        learned = held_out_scores(model.squares(found), around, objective, held)
        gains.append(learned - unlearned)
        before.append(unlearned)
        after.append(learned)
    gain = np.concatenate(gains) if gains else np.zeros(1)
    error = float(gain.std() / np.sqrt(len(gain)))
    kept = bool(gain.mean() > 2 * error)
    stage = Stage(
        name, model.n_parameters, float(np.mean(np.concatenate(before))) if before else 0.0,
        float(np.mean(np.concatenate(after))) if after else 0.0, error, kept,
    )  # fmt: skip
    if not kept:
        return np.zeros(model.n_parameters), stage
    return fit(model, around, objective, np.any(around.alike, axis=1), around.valid), stage


def fit(
    model: Reweighting, around: Neighborhoods, objective: Objective, rows: np.ndarray, known: np.ndarray
) -> np.ndarray:
    """Parameters that minimise the pair loss of these rows [N] over their known neighbours [N, M].

    The loss takes τ d²; τ is fitted, too. Parameters are drawn towards 0 as by a normal prior of deviation 1.
    """
    from scipy.optimize import minimize

    known, alike = known[rows], around.alike[rows]
    start = model.squares(np.zeros(model.n_parameters))[rows]
    first = np.where(known & (start > 0), start, np.inf).min(1)  # copies say nothing about the scale
    typical = float(np.median(first[np.isfinite(first)])) if np.isfinite(first).any() else 1.0
    start_rate = -np.log(max(typical, 1e-30))
    count = int(rows.sum())

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        rate = np.exp(point[0])
        squares = model.squares(point[1:])[rows]
        value, grad_scaled = objective.pair_loss(rate * squares, known, alike)
        grad_squares = np.zeros(around.near.shape)
        grad_squares[rows] = rate * grad_scaled
        gradient = np.concatenate([[(grad_scaled * squares).sum() * rate], model.gradient(point[1:], grad_squares)])
        gradient[1:] += point[1:]
        return (value + 0.5 * float(point[1:] @ point[1:])) / count, gradient / count

    start_point = np.concatenate([[start_rate], np.zeros(model.n_parameters)])
    bounds = [(start_rate - 5, start_rate + 5)] + [(-5.0, 5.0)] * model.n_parameters
    found = minimize(loss, start_point, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MAX_STEPS})
    return found.x[1:]


def held_out_scores(squares: np.ndarray, around: Neighborhoods, objective: Objective, held: np.ndarray) -> np.ndarray:
    """How well each graph held out is predicted by its nearest graphs that are not held out, averaged over k.

    Only by the nearest, alike or not: the further ones, chosen because they are alike, would give the target away.
    """
    near = around.near[held, : around.n_voters]
    rows = np.where(held[near], np.inf, squares[held, : around.n_voters])
    return objective.held_out_scores(rows, around.target[near], around.target[held], _KS)
