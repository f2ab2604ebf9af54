"""Kernel ridge regression in closed form: fits, and errors on graphs left out, without fitting again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._core.gaps import columns_by_gaps
from .._core.parallel import by_threads

PENALTIES = np.logspace(-6, 1, 15)  # λ, for kernels whose diagonal is 1 on average
_EXACT = 1500  # graphs up to which all penalties are tried by one decomposition
_GAPS = 8  # sets of targets, each with its own gaps, that are left out exactly; each takes a decomposition of its own


def left_out_errors(
    kernel: np.ndarray, targets: np.ndarray, penalties: np.ndarray = PENALTIES, *,
    scale_invariant: bool = False, groups: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Mean squared error of leaving one out, by penalty [P], added up over the targets.

    With K = Q Λ Qᵀ: α = (K + λI)⁻¹ Y, and the prediction of a graph left out misses by α_i / ((K + λI)⁻¹)_ii; those of
    a group g that is left out, by (((K + λI)⁻¹)_gg)⁻¹ α_g.

    Parameters
    ----------
    kernel : ndarray [N, N]
    targets : ndarray [N, T]
        Centred. A target with missing entries (NaN) is predicted from the graphs that have one; beyond the eight
        patterns with the most gaps, missing entries are taken as 0, the mean. They never count in the error.
    penalties : ndarray [P]
    scale_invariant : bool
        Whether to count what is missed when all predictions are multiplied by the factor that suits them best. Kernels
        by which all graphs are far from each other predict little more than the mean, but may order graphs well.
    groups : ndarray [N], optional
        Graphs that are left out together.
    """
    missed = np.zeros((len(penalties), *targets.shape))
    for rows, columns, wanted in _parts(targets):
        values, axes = np.linalg.eigh(_among(kernel, rows).astype(np.float64))
        values = np.maximum(values, 0.0)
        rotated, squares = axes.T @ wanted, axes**2
        members = _members(groups, rows)
        for p, penalty in enumerate(penalties):
            factors = 1.0 / (values + penalty)
            solved = axes @ (factors[:, None] * rotated)
            left_out = solved / (squares @ factors)[:, None]
            for together in members:
                some = axes[together]
                left_out[together] = np.linalg.solve((some * factors) @ some.transpose(0, 2, 1), solved[together])
            missed[p][np.ix_(rows, columns)] = left_out
    return np.array([_error(one, targets, scale_invariant=scale_invariant) for one in missed])


def _parts(targets: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows, columns, and the targets [n, t] there without gaps: as they are, or with 0 where there are too many."""
    rest = []
    for i, (rows, columns) in enumerate(columns_by_gaps(np.isfinite(targets))):
        if len(rows) == len(targets) or i < _GAPS:
            yield rows, columns, targets[np.ix_(rows, columns)]
        else:
            rest.append(columns)
    if rest:
        columns = np.concatenate(rest)
        yield np.arange(len(targets)), columns, np.nan_to_num(targets[:, columns])


def _among(kernel: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The kernel between these rows, ascending; itself where they are all."""
    return kernel if len(rows) == len(kernel) else kernel[np.ix_(rows, rows)]


def _members(groups: np.ndarray | None, rows: np.ndarray) -> list[np.ndarray]:
    """Of these rows, the places of all groups of more than one [G, n], an array for each number of graphs n."""
    if groups is None:
        return []
    _, group_of, sizes = np.unique(groups[rows], return_inverse=True, return_counts=True)
    order, size_of = np.argsort(group_of, kind="stable"), sizes[np.sort(group_of)]
    return [order[size_of == size].reshape(-1, size) for size in np.unique(sizes) if size > 1]


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


def best_penalty(
    kernel: np.ndarray, targets: np.ndarray, guess: float | None = None, *,
    scale_invariant: bool = False, groups: np.ndarray | None = None,
) -> tuple[float, float]:  # fmt: skip
    """The penalty of the least leave-one-out error, and that error.

    Among all `PENALTIES` by a decomposition, for up to 1500 graphs; else among those next to a guess, each by an
    inverse, which takes a tenth of the time.
    """
    if len(kernel) <= _EXACT or guess is None:
        errors = left_out_errors(kernel, targets, scale_invariant=scale_invariant, groups=groups)
        return float(PENALTIES[errors.argmin()]), float(errors.min())
    last = len(PENALTIES) - 1
    near = max(1, int(np.abs(np.log(PENALTIES / guess)).argmin()))
    tried: dict[int, float] = {}

    def error(i: int) -> float:
        return left_out_error(kernel, targets, PENALTIES[i], scale_invariant=scale_invariant, groups=groups)

    def look(indices: list[int]) -> None:
        missing = [i for i in indices if 0 <= i <= last and i not in tried]
        tried.update(zip(missing, by_threads(error, missing), strict=True))

    look([near - 1, near])
    step, best = (-1, near - 1) if tried[near - 1] < tried[near] else (1, near)
    while 0 <= best + step <= last:
        if best + step not in tried:
            look([best + step, best + 2 * step])  # two at a time
        if tried[best + step] >= tried[best]:
            break
        best += step
    return float(PENALTIES[best]), tried[best]


def left_out_error(
    kernel: np.ndarray, targets: np.ndarray, penalty: float, *,
    scale_invariant: bool = False, groups: np.ndarray | None = None,
) -> float:  # fmt: skip
    """The same as `left_out_errors` for one penalty, by an inverse; kernel [N, N], targets [N, T]."""
    from scipy.linalg import blas, lapack

    missed = np.zeros(targets.shape)
    for rows, columns, wanted in _parts(targets):
        matrix = np.array(_among(kernel, rows), dtype=np.float64).T  # in the order of LAPACK; a kernel is symmetric
        np.einsum("ii->i", matrix)[:] += penalty
        factor, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
        inverse, failed_too = lapack.dpotri(factor, lower=1, overwrite_c=1)  # its lower half
        if failed or failed_too:
            return np.inf
        solved = blas.dsymm(1.0, inverse, wanted, lower=1)
        left_out = solved / np.diag(inverse)[:, None]
        for together in _members(groups, rows):
            first, second = together[:, :, None], together[:, None, :]
            within = inverse[np.maximum(first, second), np.minimum(first, second)]
            left_out[together] = np.linalg.solve(within, solved[together])
        missed[np.ix_(rows, columns)] = left_out
    return _error(missed, targets, scale_invariant=scale_invariant)


def _error(missed: np.ndarray, targets: np.ndarray, *, scale_invariant: bool) -> float:
    """Mean square of what was missed, over the entries that are known, added up over the columns.

    With `scale_invariant`, of what predictions p of targets y miss when multiplied by a = ⟨y, p⟩ / |p|², or by 0 where
    that is negative: |y|² − a² |p|².
    """
    if not scale_invariant:
        return float(known_means(np.where(np.isfinite(targets), missed, np.nan) ** 2).sum())
    predicted = targets - missed
    squares, shared = float(known_means(predicted**2).sum()), float(known_means(targets * predicted).sum())
    return max(0.0, float(known_means(targets**2).sum()) - max(shared, 0.0) ** 2 / max(squares, 1e-300))
