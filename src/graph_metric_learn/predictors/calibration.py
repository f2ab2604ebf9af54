"""Probabilities from scores of classes or labels, calibrated on graphs held out: p ∝ exp(slope · score + offset)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

_STRENGTH = 10.0  # inverse of how strongly slopes are drawn to 0, as C of scikit-learn's logistic regression
_SLOPES = (-10.0, 10.0)  # logarithms of the slopes that are tried
_NARROW = 0.1  # of the root of the mean square of the scores: the least unit of their slope
_OFFSETS = 1e-3  # how strongly offsets are drawn to 0, which only matters for classes without a graph held out
_RARE = 0.2  # share of the smallest class, times the number of classes, below which it is rare
_UNEVEN = 5.0  # standard errors by which shares of classes differ where graphs were not held out by chance alone


def calibrate(scores: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """How sure scores are, as JSON can hold it: one slope, and an offset for each class.

    Offsets are 0, so that the class with the largest score is the most likely one, unless they are clearly needed: for
    rare classes, and where graphs of rare classes count more in what made the scores. With a slope for each pair of a
    score and a class, there are too many numbers to be found on few graphs.

    Parameters
    ----------
    scores : ndarray [H, C]
        Of graphs that whatever made them has not seen. Where it has not seen a class either, the score of this class is
        −inf, and graphs of the class do not count: of classes that it will know, they say nothing.
    codes : ndarray [H]
        Indices of their classes.
    counts : ndarray [C]
        How many graphs of each class there are in all, which the graphs held out stand for: offsets are such that
        the mean probability of a class is its share. Many more of a rare class may have been held out.
    """
    kept = np.flatnonzero(np.isfinite(scores[np.arange(len(codes)), codes]))
    scores, codes = scores[kept], codes[kept]
    present = np.unique(codes)
    offsets, slope = np.zeros(len(counts)), float(np.exp(_SLOPES[0]))
    if len(present):
        unit = _unit(scores)
        slope, _, missed = _fitted(scores / unit, codes, free=present[:1])
        shifted = _fitted(scores / unit, codes, free=present)
        held_out = np.bincount(codes, minlength=len(counts))[present]
        expected = len(codes) * counts[present] / counts[present].sum()
        uneven = np.abs(held_out - expected) > _UNEVEN * np.sqrt(expected + 1)
        rare = counts.min() * len(counts) < _RARE * counts.sum()
        needed = missed - shifted[2] > (len(present) - 1) * np.log(len(codes)) / 2  # as Schwarz counts parameters
        if rare or uneven.any() or needed:
            slope, start = shifted[0], shifted[1][present]
            own, energy = np.searchsorted(present, codes), slope * scores[:, present] / unit
            of_present = _shares_met(energy, own, start, expected / held_out)
            offsets[:] = of_present.min()
            offsets[present] = of_present
        slope /= unit
    return {"slopes": [slope], "offsets": offsets.tolist()}


def calibrate_labels(scores: np.ndarray, table: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """The same for each of several labels, from scores [H, T] about 1 for graphs that have it and 0 for others.

    Of a `table` [H, T] of 0, 1 and NaN, labels that are not known do not count, nor scores that are NaN. `counts`
    [2, T] say how many of all graphs have each label not, and have it.
    """
    slopes, offsets = np.zeros((2, table.shape[1]))
    for t in range(table.shape[1]):
        rows = np.flatnonzero(np.isfinite(table[:, t]) & np.isfinite(scores[:, t]))
        own = table[rows, t].astype(np.int64)
        if len(np.unique(own)) < 2:
            offsets[t] = np.log(max(counts[1, t], 0.5) / max(counts[0, t], 0.5))
            continue
        halves = np.stack([0.5 - scores[rows, t], scores[rows, t] - 0.5], axis=1)
        unit = _unit(halves)
        slope, both, _ = _fitted(halves / unit, own, free=np.arange(2))
        weights = counts[:, t] / counts[:, t].sum() * len(own) / np.bincount(own)
        both = _shares_met(slope * halves / unit, own, both, weights)
        slopes[t] = 2 * slope / unit
        offsets[t] = both[1] - both[0] - slopes[t] / 2
    return {"slopes": slopes.tolist(), "offsets": offsets.tolist()}


def probabilities(scores: np.ndarray, calibrator: dict[str, Any]) -> np.ndarray:
    """Probabilities of the classes [N, C] that `calibrate` found for such scores."""
    return softmax(calibrator["slopes"][0] * scores + np.array(calibrator["offsets"]), axis=1)


def label_probabilities(scores: np.ndarray, calibrator: dict[str, Any]) -> np.ndarray:
    """The probability of each label [N, T] that `calibrate_labels` found for such scores."""
    return expit(np.array(calibrator["slopes"]) * scores + np.array(calibrator["offsets"]))


def as_of_all(shares: np.ndarray, counts: np.ndarray, held_out: np.ndarray) -> np.ndarray:
    """Shares of votes [H, C] among `held_out` [C] graphs of each class, as if there were `counts` [C] of each.

    >>> as_of_all(np.array([[0.5, 0.5]]), np.array([90, 10]), np.array([10, 10]))
    array([[0.9, 0.1]])
    """
    votes = shares * np.divide(counts, held_out, out=np.zeros(len(counts)), where=held_out > 0)
    return votes / np.maximum(votes.sum(1, keepdims=True), 1e-300)


def _unit(scores: np.ndarray) -> float:
    """How much scores [H, C] of a class differ, about, beside those of other classes."""
    finite = np.where(np.isfinite(scores), scores, np.nan)
    finite -= np.nanmean(finite, axis=1, keepdims=True)
    spread, size = np.nanstd(finite - np.nanmean(finite, axis=0)), np.sqrt(np.nanmean(finite**2))
    return max(float(spread), _NARROW * float(size), 1e-12)


def _fitted(scores: np.ndarray, codes: np.ndarray, *, free: np.ndarray) -> tuple[float, np.ndarray, float]:
    """The slope and offsets [C] that make the right classes most likely, drawn to 0; and by how much they miss it.

    Offsets of the classes `free` add up to 0, those of others are 0: of one class alone, too.
    """
    from scipy.optimize import minimize

    offsets = np.zeros(scores.shape[1])

    def missed(values: np.ndarray) -> tuple[float, np.ndarray]:
        slope, own = values[0], values[1:] - values[1:].mean()
        offsets[free] = own
        loss, grad_energy = _loss(slope * scores + offsets, codes)
        by_slope = np.where(grad_energy == 0, 0.0, scores) * grad_energy  # a score of −inf has the probability 0
        by_offset = grad_energy.sum(0)[free] + _OFFSETS * own
        grad = np.concatenate([[by_slope.sum() + slope / _STRENGTH], by_offset - by_offset.mean()])
        return loss + slope**2 / (2 * _STRENGTH) + _OFFSETS / 2 * float(own @ own), grad

    start = np.concatenate([[1.0], np.zeros(len(free))])
    bounds = [tuple(np.exp(_SLOPES)), *[(None, None)] * len(free)]
    found = minimize(missed, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500})
    offsets[free] = found.x[1:] - found.x[1:].mean()
    return float(found.x[0]), offsets, float(found.fun)


def _shares_met(energy: np.ndarray, codes: np.ndarray, offsets: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Offsets [C] by which the mean probability of a class is its share, where its graphs count `weights` [C]."""
    from scipy.optimize import minimize

    of_rows = weights[codes]

    def missed(offsets: np.ndarray) -> tuple[float, np.ndarray]:
        loss, grad = _loss(energy + offsets, codes, of_rows)
        return loss + _OFFSETS / 2 * float(offsets @ offsets), grad.sum(0) + _OFFSETS * offsets

    start = offsets + np.log(weights)
    return minimize(missed, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x


def _loss(energy: np.ndarray, codes: np.ndarray, weights: Any = 1.0) -> tuple[float, np.ndarray]:
    """Minus the logarithm of the probability of the right classes, and its gradient by the energies [H, C]."""
    from scipy.special import log_softmax

    logs = log_softmax(energy, axis=1)
    own = np.arange(len(codes)), codes
    grad = np.exp(logs)
    grad[own] -= 1.0
    loss = -np.broadcast_to(weights, len(codes)) @ np.maximum(logs[own], -700.0)
    return float(loss), grad * np.broadcast_to(weights, len(codes))[:, None]
