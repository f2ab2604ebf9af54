"""Regression where all graphs are landmarks: kernel ridge in closed form, judged on folds that chose nothing.

Few graphs: weights of families are chosen anew without each fold. More: by graphs that are never held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._core.parallel import by_threads
from ..._core.schema import NonNegative, Positive, Saved
from ..._core.threads import one_thread_for_products
from ...linalg.ridge import fit_ridge, held_out_fits, weighted_means
from .training import Training
from .weights import SHARES, centred, likeliest_weights, mixed_weights

PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # λ that are tried, for kernels with k(G, G) = 1
_START = 5  # which of them is tried first
_WEIGHED_ON = 300  # graphs that the likeliest weights are found on
_GAPS = 3  # sets of targets, each with gaps of its own, that are not filled where settings are tried
_GRAPHS = 1000  # folds are drawn anew until about so many graphs were held out
_DRAWS = 2  # but at most so often


class Setting(Saved, frozen=True):  # type: ignore[misc]  # Saved itself is not frozen
    """What is chosen on folds.

    Attributes
    ----------
    share : float
        Of the even weights of families.
    penalty : float
        λ of the regression.
    power : float
        Of the weights of graphs by the size of their class.
    """

    share: NonNegative
    penalty: Positive
    power: NonNegative = 0.0


@dataclass(frozen=True)
class Fold:
    """A regression without some of N graphs.

    Attributes
    ----------
    train, test : ndarray
        Indices of the graphs that it knows, and of those held out that are judged.
    scores : ndarray [N, T]
        What it predicts, for all graphs; NaN where the entry of a target is missing.
    kernel : ndarray [N, N]
        Among all graphs, chosen without those that are judged.
    """

    train: np.ndarray
    test: np.ndarray
    scores: np.ndarray
    kernel: np.ndarray


class Weighed(NamedTuple):
    """Weights of families that were found without a fold."""

    train: np.ndarray
    test: np.ndarray
    weights: np.ndarray  # the likeliest [F]


@dataclass
class Weights:
    """The families' kernels among N graphs, and how their weights are found.

    Attributes
    ----------
    kernels : ndarray [F, N, N], float32
    even : ndarray [F]
        The even weights.
    training : Training
    """

    kernels: np.ndarray
    even: np.ndarray
    training: Training

    def likeliest(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Weights [F] by the targets of at most 300 of these graphs."""
        part = self.training.part(rows)
        some = rows[part.objective.subsample(part.target, _WEIGHED_ON, rng)]
        outputs = centred(self.training.outputs[some])
        if outputs.shape[1] == 0:
            return self.even.copy()
        return likeliest_weights(self.kernels[:, some[:, None], some], outputs, self.even)

    def mixture(self, likeliest: np.ndarray, share: float) -> np.ndarray:
        """The kernel among all graphs [N, N], float32."""
        total = np.zeros(self.kernels.shape[1:], np.float32)
        for weight, kernel in zip(mixed_weights(likeliest, self.even, share), self.kernels, strict=True):
            if weight > 0:
                total += np.float32(weight) * kernel
        return total


@one_thread_for_products()
def choose_setting(weights: Weights, rng: np.random.Generator) -> tuple[Setting, list[list[Weighed]]]:
    """The setting that does best on folds, and the weights that were found without each of them, by draw of folds.

    One part of the setting after the other: the penalty, the share of even weights, the penalty again near by, and the
    weights of graphs.
    """
    training = weights.training
    draws = _weighed_draws(weights, rng)
    parts = [part for draw in draws for part in draw]
    losses: dict[Setting, float] = {}
    kernels: dict[float, list[np.ndarray]] = {}  # by share, of each fold

    def look(share: float, at: int, power: float) -> float:
        setting = Setting(share, PENALTIES[at], power)
        if setting not in losses:
            if share not in kernels:
                kernels.clear()
                kernels[share] = list(by_threads(lambda part: weights.mixture(part.weights, share), parts))
            found = by_threads(lambda i: _predicted(training, parts[i], kernels[share][i], setting), range(len(parts)))
            losses[setting] = loss(training, [part.test for part in parts], list(found))
        return losses[setting]

    power = training.powers[0] if training.target.ndim > 1 else training.powers[len(training.powers) // 2]
    best = None
    for share in SHARES:
        start = _START if best is None else PENALTIES.index(best.penalty)
        walk(lambda at, share=share: look(share, at, power), start, len(PENALTIES))  # type: ignore[misc]
        best = min(losses, key=lambda one: losses[one])
    assert best is not None
    for other in training.powers if training.target.ndim == 1 else ():
        look(best.share, PENALTIES.index(best.penalty), other)
    return min(losses, key=lambda one: losses[one]), draws


def walk(look: Callable[[int], float], start: int, count: int) -> int:
    """The index among 0 … count − 1 from which no step leads to less, looked for from a start."""
    at, step = start, 1 if start + 1 < count and look(start + 1) < look(start) else -1
    while 0 <= at + step < count and look(at + step) < look(at):
        at += step
    return at


def _weighed_draws(weights: Weights, rng: np.random.Generator) -> list[list[Weighed]]:
    """Folds, and weights of families that are found without each, by draw."""
    training, draws = weights.training, []
    for _ in range(min(_DRAWS, -(-_GRAPHS // len(training)))):
        folds = training.folds(rng)
        parts = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
        parts = [(train, test) for train, test in parts if len(train) and len(test)]
        if not parts:
            raise ValueError("all graphs are of one group: none can be held out; give more groups, or learn=False")
        seeds = rng.spawn(len(parts))
        found = by_threads(lambda i: weights.likeliest(parts[i][0], seeds[i]), range(len(parts)))  # noqa: B023
        draws.append([Weighed(train, test, own) for (train, test), own in zip(parts, found, strict=True)])
    return draws


def _predicted(training: Training, part: Weighed, kernel: np.ndarray, setting: Setting) -> np.ndarray:
    """What a regression without the test graphs says of them [H, T]."""
    outputs, rows = filled(training.outputs[part.train]), training.part(part.train).row_weights(setting.power)
    mean = weighted_means(outputs, rows)
    alpha = fit_ridge(kernel[np.ix_(part.train, part.train)], outputs - mean, setting.penalty, rows)
    return kernel[np.ix_(part.test, part.train)] @ alpha + mean


def filled(outputs: np.ndarray) -> np.ndarray:
    """Outputs [N, T], with means in the place of what is missing where there are many sets of graphs that have one."""
    known = np.isfinite(outputs)
    if known.all() or len(np.unique(known, axis=1).T) <= _GAPS:
        return outputs
    return np.where(known, outputs, weighted_means(outputs))


def loss(training: Training, tests: Sequence[np.ndarray], predictions: Sequence[np.ndarray]) -> float:
    """How bad predictions [H, T] of graphs held out are, fold by fold: squared error, or how badly they rank."""
    if training.scorer.ranks:
        scores = [training.scorer.of_outputs(p, training.target[t]) for p, t in zip(predictions, tests, strict=True)]
        return -sum(score * weight for score, weight in scores) / max(sum(weight for _, weight in scores), 1e-300)
    outputs = training.outputs
    truth, predicted = np.concatenate([outputs[test] for test in tests]), np.concatenate(predictions)
    known = np.isfinite(truth)
    truth = np.where(known, truth - weighted_means(outputs), 0.0)
    predicted = np.where(known, predicted - weighted_means(outputs), 0.0)
    if not training.objective.scale_invariant:
        return float(((truth - predicted) ** 2).sum())
    return -(max(float((truth * predicted).sum()), 0.0) ** 2) / max(float((predicted**2).sum()), 1e-300)


@dataclass
class Regression:
    """A fitted regression and what is needed to judge what comes after it.

    Attributes
    ----------
    setting : Setting
    alpha : ndarray [N, T]
        Scores of a graph are k(G, ·) α + mean.
    mean : ndarray [T]
    draws : list of functions
        Each makes the folds of a draw, one after the other.
    """

    setting: Setting
    alpha: np.ndarray
    mean: np.ndarray
    draws: list[Callable[[], Iterator[Fold]]]


def fit_few(weights: Weights, kernel: np.ndarray, setting: Setting, draws: list[list[Weighed]]) -> Regression:
    """From the kernel among all graphs [N, N], all families' kernels, and weights chosen anew without each fold."""
    training = weights.training
    rows, outputs = training.row_weights(setting.power), training.outputs
    mean = weighted_means(outputs, rows)
    alpha = fit_ridge(kernel, outputs - mean, setting.penalty, rows)

    def folds(draw: list[Weighed]) -> Iterator[Fold]:
        for train, test, found in draw:
            among = weights.mixture(found, setting.share)
            rows = training.part(train).row_weights(setting.power)
            mean = weighted_means(outputs[train], rows)
            alpha = fit_ridge(among[np.ix_(train, train)], outputs[train] - mean, setting.penalty, rows)
            yield Fold(train, test, among[:, train] @ alpha + mean, among)

    return Regression(setting, alpha, mean, [lambda draw=draw: folds(draw) for draw in draws])  # type: ignore[misc]


def fit_many(
    kernel: np.ndarray, setting: Setting, apart: np.ndarray, training: Training, rng: np.random.Generator
) -> Regression:
    """From the kernel among all graphs [N, N], chosen by those `apart`, which are known in every fold.

    The penalty is the best near that of the setting, by folds of the other graphs.
    """
    outputs, judged = training.outputs, np.setdiff1d(np.arange(len(training)), apart)
    parts = training.part(judged).folds(rng)
    tests = [judged[parts == fold] for fold in np.unique(parts)]
    rows = training.row_weights(setting.power)
    tried: dict[float, tuple[float, tuple]] = {}

    def look(penalty: float) -> float:
        if penalty not in tried:
            fits = held_out_fits(kernel, outputs, penalty, tests, rows)
            tried[penalty] = loss(training, tests, [s[t] for s, t in zip(fits[2], tests, strict=True)]), fits
            for other in [one for one in tried if one != min(tried, key=lambda p: tried[p][0])]:
                tried[other] = tried[other][0], ()
        return tried[penalty][0]

    walk(lambda at: look(PENALTIES[at]), PENALTIES.index(setting.penalty), len(PENALTIES))
    best = min(tried, key=lambda one: tried[one][0])
    alpha, mean, scores = tried[best][1]

    def folds() -> Iterator[Fold]:
        for test, fitted in zip(tests, scores, strict=True):
            yield Fold(np.setdiff1d(np.arange(len(training)), test), test, fitted, kernel)

    return Regression(Setting(setting.share, best, setting.power), alpha, mean, [folds])
