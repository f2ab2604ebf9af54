"""Kernel ridge regression in closed form: fits, and what fits without each fold predict, from one inverse."""

from __future__ import annotations

import numpy as np

from .._core.gaps import columns_by_gaps


def _among(kernel: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The kernel between these rows, ascending; itself where they are all."""
    return kernel if len(rows) == len(kernel) else kernel[np.ix_(rows, rows)]


def known_means(targets: np.ndarray) -> np.ndarray:
    """Mean of each target over the entries that are known [T]; 0 where there are none."""
    known = np.isfinite(targets)
    return np.where(known, targets, 0.0).sum(0) / np.maximum(known.sum(0), 1)


def fit_ridge(
    kernel: np.ndarray, targets: np.ndarray, penalty: float, row_weights: np.ndarray | None = None
) -> np.ndarray:
    """α = (K + λ W⁻¹)⁻¹ Y [N, T]; where entries of Y are missing, from the graphs that have one, and 0 for the others.

    W is the diagonal matrix of `row_weights` [N], the identity when None.
    """
    from scipy.linalg import cho_solve

    weights = np.zeros(targets.shape)
    for rows, columns in columns_by_gaps(np.isfinite(targets)):
        factor = _factor(_among(kernel, rows), penalty, None if row_weights is None else row_weights[rows])
        weights[np.ix_(rows, columns)] = cho_solve((factor, True), targets[np.ix_(rows, columns)], check_finite=False)
    return weights


def _factor(kernel: np.ndarray, penalty: float, row_weights: np.ndarray | None) -> np.ndarray:
    """The lower factor of K + λ W⁻¹ [N, N], in the order of LAPACK, above its diagonal anything.

    Where rounding made eigenvalues of K smaller than −λ, those below 0 are taken as 0.
    """
    from scipy.linalg import lapack

    added = penalty if row_weights is None else penalty / row_weights

    def factor_of(exact: np.ndarray) -> tuple[np.ndarray, int]:
        np.einsum("ii->i", exact)[:] += added
        return lapack.dpotrf(exact, lower=1, overwrite_a=1)[:2]

    factor, failed = factor_of(np.array(kernel, dtype=np.float64).T)  # a kernel is symmetric
    if failed:
        values, axes = np.linalg.eigh(kernel.astype(np.float64))
        factor, failed = factor_of(((axes * np.maximum(values, 0.0)) @ axes.T).T)
    if failed:
        raise np.linalg.LinAlgError("the kernel has entries that are not finite, or the penalty is too small")
    return factor


def held_out_fits(
    kernel: np.ndarray,
    targets: np.ndarray,
    penalty: float,
    folds: list[np.ndarray],
    row_weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """A ridge regression on all graphs, and what it would predict without each fold, from one inverse.

    With A = (K + λ W⁻¹)⁻¹ and α = A (Y − mean), the regression without fold f has α' = α − A_:f A_ff⁻¹ α_f, 0 in f; it
    predicts Y_f − A_ff⁻¹ α_f for the fold, and Y − λ W⁻¹ α' for the graphs it knows. Means are those of the graphs that
    are known.

    Parameters
    ----------
    kernel : ndarray [N, N]
    targets : ndarray [N, T]
        NaN where an entry is missing: such a graph is neither known nor judged by this target.
    penalty : float
    folds : list of ndarray
        Indices of the graphs that are held out together.
    row_weights : ndarray [N], optional

    Returns
    -------
    alpha : ndarray [N, T]
    mean : ndarray [T]
    scores : list of ndarray [N, T]
        For each fold, of all graphs, NaN where the entry of the target is missing.
    """
    from scipy.linalg import lapack

    mean, alpha = weighted_means(targets, row_weights), np.zeros(targets.shape)
    scores = [np.full(targets.shape, np.nan) for _ in folds]
    for rows, columns in columns_by_gaps(np.isfinite(targets)):
        own = np.ones(len(rows)) if row_weights is None else row_weights[rows]
        inverse, _ = lapack.dpotri(_factor(_among(kernel, rows), penalty, own), lower=1, overwrite_c=1)
        _fill_upper(inverse)
        wanted, among = targets[np.ix_(rows, columns)], np.full(len(targets), -1)
        among[rows] = np.arange(len(rows))
        both = inverse @ np.column_stack([wanted, np.ones(len(rows))])
        solved, ones = both[:, :-1], both[:, -1:]
        alpha[np.ix_(rows, columns)] = solved - ones * mean[columns]
        for fold, held in zip(scores, folds, strict=True):
            test = among[held][among[held] >= 0]
            kept = np.ones(len(rows), dtype=bool)
            kept[test] = False
            centre = weighted_means(wanted[kept], own[kept]) if kept.any() else np.zeros(len(columns))
            before = solved - ones * centre
            missed = np.linalg.solve(inverse[np.ix_(test, test)], before[test])
            after = before - inverse[:, test] @ missed
            fitted = wanted - (penalty / own)[:, None] * after
            fitted[test] = wanted[test] - missed
            fold[np.ix_(rows, columns)] = fitted
    return alpha, mean, scores


def _fill_upper(lower: np.ndarray) -> None:
    """Copies what is below the diagonal of a matrix [N, N] to above it, in place."""
    from .loops import mirror

    diagonal = np.diag(lower).copy()
    mirror(lower.T)
    np.einsum("ii->i", lower)[:] = diagonal


def weighted_means(targets: np.ndarray, row_weights: np.ndarray | None = None) -> np.ndarray:
    """Mean of each target [T] over the entries that are known, of rows with these weights [N]; 0 where there are none.

    >>> weighted_means(np.array([[0.0, np.nan], [1.0, 5.0]]), np.array([1.0, 3.0]))
    array([0.75, 5.  ])
    """
    if row_weights is None:
        return known_means(targets)
    known = np.isfinite(targets) * row_weights[:, None]
    return np.where(known > 0, targets, 0.0).T @ row_weights / np.maximum(known.sum(0), 1e-300)
