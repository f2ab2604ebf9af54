"""Probabilities from scores of classes, calibrated on graphs held out."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def calibrate(scores: np.ndarray, codes: np.ndarray, n_classes: int) -> dict[str, Any]:
    """A multinomial logistic regression from scores [N] or [N, S] to classes, as JSON can hold it.

    The scores must be of graphs that whatever made them has not seen. Classes that are not among them get a
    probability of nearly 0.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    table = scores.reshape(len(scores), -1)
    centre, scale = table.mean(0), np.maximum(table.std(0), 1e-12)
    present = np.unique(codes)
    coefficients, offsets = np.zeros((n_classes, table.shape[1])), np.full(n_classes, -20.0)
    if len(present) == 1:
        offsets[present] = 0.0
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression(C=10.0, max_iter=500).fit((table - centre) / scale, codes)
        if len(present) == 2:
            coefficients[present[1]], offsets[present[0]] = model.coef_[0], 0.0
            offsets[present[1]] = model.intercept_[0]
        else:
            coefficients[present], offsets[present] = model.coef_, model.intercept_
    return {
        "centre": centre.tolist(), "scale": scale.tolist(), "coefficients": coefficients.tolist(),
        "offsets": offsets.tolist(),
    }  # fmt: skip


def probabilities(scores: np.ndarray, calibrator: dict[str, Any]) -> np.ndarray:
    """Probabilities of the classes [N, C] that `calibrate` found for such scores."""
    table = (scores.reshape(len(scores), -1) - np.array(calibrator["centre"])) / np.array(calibrator["scale"])
    energy = table @ np.array(calibrator["coefficients"]).T + np.array(calibrator["offsets"])
    odds = np.exp(energy - energy.max(1, keepdims=True))
    return odds / odds.sum(1, keepdims=True)
