"""Paired differences over splits: their mean, a standard error that knows that splits overlap, and a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

TEST_SHARE = 1 / 9  # test graphs by training graphs, in splits of 90 and 10 percent


class PairedTest(NamedTuple):
    """A mean difference and how sure it is."""

    mean: float
    error: float  # the corrected standard error
    t: float  # Student's
    df: float  # degrees of freedom
    p: float  # two-sided; nan where there is only one split


def corrected_resampled_t(differences: np.ndarray, test_share: float = TEST_SHARE) -> PairedTest:
    r"""The corrected resampled t-test of Nadeau and Bengio [1]_ for differences over random splits.

    Training parts of different splits overlap, so the differences d_1 … d_J are not independent, and their variance s²
    divided by J is too small for that of their mean. The test takes

    .. math:: t = \frac{\bar d}{\sqrt{(1/J + n_{test}/n_{train}) \, s^2}}, \qquad J - 1 \text{ degrees of freedom.}

    Parameters
    ----------
    differences : ndarray [J]
        Of two systems on the same splits.
    test_share : float
        n_test / n_train.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio. Inference for the Generalization Error. Machine Learning 52, 2003.

    Examples
    --------
    >>> test = corrected_resampled_t(np.array([1.0, 3.0, 2.0, 2.0]), test_share=0.25)
    >>> round(test.error, 4), round(test.t, 4), round(test.p, 4)  # s² = 2/3, so the error is sqrt(0.5 · 2/3)
    (0.5774, 3.4641, 0.0405)
    """
    differences = np.asarray(differences, dtype=float)
    count = len(differences)
    if count == 0:
        raise ValueError("there are no differences to test")
    mean = float(differences.mean())
    if count == 1:
        return PairedTest(mean, np.nan, np.nan, 0.0, np.nan)
    variance = 0.0 if np.ptp(differences) == 0 else float(differences.var(ddof=1))  # no rounding errors of equal ones
    return _tested(mean, float(np.sqrt((1 / count + test_share) * variance)), count - 1)


def average_over_tasks(tests: Sequence[PairedTest]) -> PairedTest:
    """The mean over tasks, each of which counts the same; errors of different tasks are independent.

    The degrees of freedom are those of Welch and Satterthwaite.
    """
    if not tests:
        raise ValueError("there are no tasks to average over")
    mean = float(np.mean([test.mean for test in tests]))
    variances = np.array([test.error**2 for test in tests])
    freedom = np.array([test.df for test in tests], dtype=float)
    total = variances.sum()
    if np.isnan(total):
        return PairedTest(mean, np.nan, np.nan, 0.0, np.nan)
    df = total**2 / np.sum(variances**2 / freedom) if total > 0 else freedom.sum()
    return _tested(mean, float(np.sqrt(total) / len(tests)), float(df))


def _tested(mean: float, error: float, df: float) -> PairedTest:
    """With t and p; no difference at all has p = 1, one that is the same everywhere p = 0."""
    t = 0.0 if mean == 0 else float(np.inf * np.sign(mean)) if error == 0 else mean / error
    return PairedTest(mean, error, t, float(df), float(2 * stats.t.sf(abs(t), df)))


def p_text(p: float) -> str:
    """A p-value for a table; empty for nan.

    >>> p_text(0.0412), p_text(0.0004), p_text(0.5), p_text(float("nan"))
    ('p = 0.04', 'p < 0.001', 'p = 0.50', '')
    """
    if np.isnan(p):
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.01 else f"p = {p:.2f}"
