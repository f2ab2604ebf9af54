"""Kernel ridge regression in closed form: fits, and errors on graphs left out, without fitting again."""

from __future__ import annotations

import numpy as np

PENALTIES = np.logspace(-6, 1, 15)  # λ, for kernels whose diagonal is 1 on average
_EXACT = 1500  # graphs up to which all penalties are tried by one decomposition


def left_out_errors(kernel: np.ndarray, targets: np.ndarray, penalties: np.ndarray = PENALTIES) -> np.ndarray:
    """Mean squared error of leaving one out, by penalty [P], added up over the targets.

    With K = Q Λ Qᵀ: α = (K + λI)⁻¹ Y, and the prediction of a graph left out misses by α_i / ((K + λI)⁻¹)_ii.

    Parameters
    ----------
    kernel : ndarray [N, N]
    targets : ndarray [N, T]
        Centred; missing entries (NaN) are taken as 0, the mean, and do not count in the error.
    penalties : ndarray [P]
    """
    values, axes = np.linalg.eigh(kernel.astype(np.float64))
    values = np.maximum(values, 0.0)
    known = np.isfinite(targets)
    rotated = axes.T @ np.where(known, targets, 0.0)
    squares = axes**2
    errors = []
    for penalty in penalties:
        factors = 1.0 / (values + penalty)
        missed = (axes @ (factors[:, None] * rotated)) / (squares @ factors)[:, None]
        errors.append(_mean_square(missed, known))
    return np.array(errors)


def known_means(targets: np.ndarray) -> np.ndarray:
    """Mean of each target over the entries that are known [T]; 0 where there are none."""
    known = np.isfinite(targets)
    return np.where(known, targets, 0.0).sum(0) / np.maximum(known.sum(0), 1)


def fit_ridge(kernel: np.ndarray, targets: np.ndarray, penalty: float) -> np.ndarray:
    """α = (K + λI)⁻¹ Y [N, T]; where entries of Y are missing, from the graphs that have one, and 0 for the others."""
    from scipy.linalg import cho_factor, cho_solve

    known = np.isfinite(targets)
    weights = np.zeros(targets.shape)
    patterns, pattern_of = np.unique(known, axis=1, return_inverse=True)
    for i, pattern in enumerate(patterns.T):
        columns = np.flatnonzero(pattern_of.reshape(-1) == i)
        rows = np.flatnonzero(pattern)
        if len(rows) == 0:  # SciPy before 1.14 does not solve systems without equations
            continue
        within = kernel if len(rows) == len(kernel) else kernel[np.ix_(rows, rows)]
        matrix = within.astype(np.float64) + penalty * np.eye(len(rows))
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        weights[np.ix_(rows, columns)] = cho_solve(factor, targets[np.ix_(rows, columns)], check_finite=False)
    return weights


def best_penalty(kernel: np.ndarray, targets: np.ndarray, guess: float | None = None) -> tuple[float, float]:
    """The penalty of the least leave-one-out error, and that error.

    Among all `PENALTIES` by a decomposition, for up to 1500 graphs; else among those next to a guess, each by an
    inverse, which takes a tenth of the time.
    """
    if len(kernel) <= _EXACT or guess is None:
        errors = left_out_errors(kernel, targets)
        place = int(errors.argmin())
        return float(PENALTIES[place]), float(errors[place])
    near = int(np.abs(np.log(PENALTIES / guess)).argmin())
    tried = {place: left_out_error(kernel, targets, PENALTIES[place]) for place in {max(near - 1, 0), near}}
    step = -1 if tried[max(near - 1, 0)] < tried[near] else 1
    best = near - 1 if step < 0 else near
    while 0 <= best + step < len(PENALTIES):
        if best + step not in tried:
            tried[best + step] = left_out_error(kernel, targets, PENALTIES[best + step])
        if tried[best + step] >= tried[best]:
            break
        best += step
    return float(PENALTIES[best]), tried[best]


def left_out_error(kernel: np.ndarray, targets: np.ndarray, penalty: float) -> float:
    """The same as `left_out_errors` for one penalty, by an inverse."""
    from scipy.linalg import blas, lapack

    matrix = kernel.astype(np.float64).T  # in the order of LAPACK; a kernel is symmetric
    np.einsum("ii->i", matrix)[:] += penalty
    factor, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    inverse, failed_too = lapack.dpotri(factor, lower=1, overwrite_c=1)  # its lower half
    if failed or failed_too:
        return np.inf
    known = np.isfinite(targets)
    solved = blas.dsymm(1.0, inverse, np.where(known, targets, 0.0), lower=1)
    return _mean_square(solved / np.diag(inverse)[:, None], known)


def _mean_square(missed: np.ndarray, known: np.ndarray) -> float:
    """Mean square of what was missed, over the entries that are known, added up over the columns."""
    return float(known_means(np.where(known, missed, np.nan) ** 2).sum())
