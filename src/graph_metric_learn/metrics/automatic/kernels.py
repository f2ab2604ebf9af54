"""Which kernels are tried for the regression, and the choice: a mean of few, by its error on graphs left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..._core.parallel import by_threads, in_parallel
from ...linalg.ridge import PENALTIES, known_means, left_out_error, left_out_errors

FORMS = ("gaussian", "linear")
_SHORTLIST = 16  # kernels, the best on their own, that sums are built from
_STEPS = 6  # kernels in a sum, at most
_Given = tuple[np.ndarray, bool, np.ndarray | None]  # centred targets, scale_invariant, groups
_GAIN = 0.002  # relative decrease of the error that another kernel must bring


@dataclass
class KernelChoice:
    """Kernels that are averaged.

    Attributes
    ----------
    names : list of (str, str)
        Candidate and form of each; one may be there several times.
    penalty : float
        λ of the least error.
    error : float
        Leave-one-out squared error, divided by that of the mean.
    """

    names: list[tuple[str, str]]
    penalty: float
    error: float


def kernel_from_squares(squares: np.ndarray, form: str) -> np.ndarray:
    """A kernel [n, n] with a mean diagonal of 1 or 2, from squared distances.

    "gaussian" is exp(−d² / median d²). "linear" is the inner product of centred vectors, which squared distances
    determine, plus a constant: so that a regression need not go through 0.
    """
    if form == "gaussian":
        return np.exp(-squares / gaussian_scale(squares))
    mean = squares.mean(1)
    return (mean[:, None] + mean[None, :] - squares - mean.mean()) / max(float(mean.mean()), 1e-30) + 1.0


def gaussian_scale(squares: np.ndarray) -> float:
    """The median of squared distances [n, n] of different graphs; of all that are not copies, where most are."""
    off = squares[~np.eye(len(squares), dtype=bool)]
    median = float(np.median(off))
    return median if median > 0 else float(off[off > 0].mean()) if (off > 0).any() else 1.0


def shortlist(
    squares: Mapping[str, np.ndarray],
    targets: np.ndarray,
    *,
    scale_invariant: bool = False,
    groups: np.ndarray | None = None,
) -> list[tuple[str, str]]:
    """The best kernels on their own, from squared distances [n, n] by candidate; targets [n, T]."""
    centred = targets - known_means(targets)
    found = in_parallel(_errors_of_forms, squares.values(), (centred, scale_invariant, groups), threads=True)
    errors = {(name, form): error for name, both in zip(squares, found, strict=True) for form, error in both.items()}
    return sorted(errors, key=lambda key: errors[key])[:_SHORTLIST]


def _errors_of_forms(given: _Given, squares: np.ndarray) -> dict[str, float]:
    """The least error of a candidate, by the form of its kernel."""
    return {form: float(_errors(given, kernel_from_squares(squares, form)).min()) for form in FORMS}


def _errors(given: _Given, kernel: np.ndarray) -> np.ndarray:
    """The errors of a kernel, by penalty."""
    centred, scale_invariant, groups = given
    return left_out_errors(kernel, centred, scale_invariant=scale_invariant, groups=groups)


def choose_kernels(
    kernels: Mapping[tuple[str, str], np.ndarray],
    targets: np.ndarray,
    *,
    scale_invariant: bool = False,
    groups: np.ndarray | None = None,
) -> KernelChoice:
    """A mean of few kernels [n, n], built greedily with replacement, by the least leave-one-out squared error.

    A step tries all with the penalty that was best so far, and looks for the best penalty of the winner. For
    `scale_invariant` and `groups` see :func:`left_out_errors`.
    """
    centred = targets - known_means(targets)
    given = (centred, scale_invariant, groups)
    alone = dict(zip(kernels, in_parallel(_errors, kernels.values(), given, threads=True), strict=True))
    first = min(alone, key=lambda key: alone[key].min())
    chosen, total = [first], kernels[first].astype(np.float64)
    best, penalty = float(alone[first].min()), float(PENALTIES[alone[first].argmin()])

    def with_one_more(key: tuple[str, str]) -> np.ndarray:
        share = 1.0 / (len(chosen) + 1)
        return (1 - share) * total + share * kernels[key]

    def error(key: tuple[str, str]) -> float:
        return left_out_error(with_one_more(key), centred, penalty, scale_invariant=scale_invariant, groups=groups)

    while len(chosen) < _STEPS:
        tried = dict(zip(kernels, by_threads(error, kernels), strict=True))
        key = min(tried, key=lambda key: tried[key])
        together = with_one_more(key)
        errors = _errors(given, together)
        if errors.min() > (1 - _GAIN) * best:
            break
        chosen.append(key)
        total, best, penalty = together, float(errors.min()), float(PENALTIES[errors.argmin()])
    return KernelChoice(chosen, penalty, best / max(float(known_means(centred**2).sum()), 1e-300))
