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


def fit_ridge(kernel: np.ndarray, targets: np.ndarray, penalty: float) -> np.ndarray:
    """α = (K + λI)⁻¹ Y [N, T]; where entries of Y are missing, from the graphs that have one, and 0 for the others."""
    from scipy.linalg import cho_factor, cho_solve

    weights = np.zeros(targets.shape)
    for rows, columns in columns_by_gaps(np.isfinite(targets)):
        within, wanted = _among(kernel, rows).astype(np.float64), targets[np.ix_(rows, columns)]
        try:
            factor = cho_factor(within + penalty * np.eye(len(rows)), lower=True, overwrite_a=True, check_finite=False)
            solved = cho_solve(factor, wanted, check_finite=False)
        except np.linalg.LinAlgError:  # rounding made eigenvalues smaller than −λ: they are 0
            values, axes = np.linalg.eigh(within)
            solved = axes @ ((axes.T @ wanted) / (np.maximum(values, 0.0) + penalty)[:, None])
        weights[np.ix_(rows, columns)] = solved
    return weights


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
