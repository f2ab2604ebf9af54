"""Probabilities from scores of classes, calibrated on graphs held out."""

from __future__ import annotations

from typing import Any

import numpy as np

_STRENGTH = 10.0  # inverse of how strongly slopes are drawn to 0, as C of scikit-learn's logistic regression
_SLOPES = (-10.0, 10.0)  # logarithms of the slopes that are tried
_UNLIKELY = -20.0  # logarithm of the odds of a class that no graph is of
_NARROW = 0.1  # of the root of the mean square of a single score: the least unit of its slope


def calibrate(scores: np.ndarray, codes: np.ndarray, n_classes: int) -> dict[str, Any]:
    """How sure scores are, as JSON can hold it: from scores to probabilities of the classes.

    A single score [N], the larger the more likely the second of two classes, gets a logistic regression; where it would
    turn the order of scores around, as it may by chance, nearly the shares of the classes. Scores of all classes [N, C]
    get one slope, probabilities ∝ exp(slope · score): the largest score stays the most likely. With a slope for each
    pair of a score and a class, there are too many to be found on few graphs.

    The scores must be of graphs that whatever made them has not seen. Where it has not seen a class either, the score
    of this class is −inf, and graphs of the class do not count: of classes that it will know, they say nothing.
    """
    from sklearn.linear_model import LogisticRegression

    table = scores.reshape(len(scores), -1)
    width = table.shape[1]
    centre, scale = np.zeros(width), np.full(width, max(float(table[np.isfinite(table)].std()), 1e-12))
    coefficients, offsets = np.zeros((n_classes, width)), np.zeros(n_classes)
    present = np.unique(codes)
    if width > 1:
        coefficients = _slope(table / scale, codes) * np.eye(n_classes)
    elif len(present) == 1:
        offsets[1 - present] = _UNLIKELY
    else:
        centre, scale = table.mean(0), np.maximum(scale, _NARROW * np.sqrt((table**2).mean()))
        model = LogisticRegression(C=_STRENGTH).fit((table - centre) / scale, codes)
        slope, offset = float(model.coef_[0, 0]), float(model.intercept_[0])
        if slope <= 0:
            slope, offset = np.exp(_SLOPES[0]), np.log((codes == present[1]).sum() / (codes == present[0]).sum())
        coefficients[present[1]], offsets[present[1]] = slope, offset
    return {
        "centre": centre.tolist(), "scale": scale.tolist(), "coefficients": coefficients.tolist(),
        "offsets": offsets.tolist(),
    }  # fmt: skip


def _slope(scores: np.ndarray, codes: np.ndarray) -> float:
    """The slope for scores of all classes [N, C] that makes the right ones most likely, drawn to 0."""
    from scipy.optimize import minimize_scalar

    rows = np.flatnonzero(np.isfinite(scores[np.arange(len(codes)), codes]))
    scores, own = scores[rows], codes[rows]

    def missed(log_slope: float) -> float:
        slope = np.exp(log_slope)
        chances = _normalised(slope * scores)[np.arange(len(own)), own]
        return -np.log(np.maximum(chances, 1e-300)).sum() + slope**2 / (2 * _STRENGTH)

    return float(np.exp(minimize_scalar(missed, bounds=_SLOPES, method="bounded").x))


def probabilities(scores: np.ndarray, calibrator: dict[str, Any]) -> np.ndarray:
    """Probabilities of the classes [N, C] that `calibrate` found for such scores."""
    table = (scores.reshape(len(scores), -1) - np.array(calibrator["centre"])) / np.array(calibrator["scale"])
    return _normalised(table @ np.array(calibrator["coefficients"]).T + np.array(calibrator["offsets"]))


def _normalised(energy: np.ndarray) -> np.ndarray:
    """Shares of exp(energy) in each row."""
    odds = np.exp(energy - energy.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True)
