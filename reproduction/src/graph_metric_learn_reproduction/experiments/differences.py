"""Scores by split and their paired differences: means with standard errors, tests, and what is clear of chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .records import Record, matching
from .statistics import PairedTest, average_over_tasks, corrected_resampled_t, p_text
from .tables import SPLITS, count_text, difference_text, standard_error

CLEAR = 0.05  # a difference with a larger p-value may be chance

Scores = dict[int, float]  # by split


class Comparison(NamedTuple):
    """A mean difference, its standard error, the corrected paired test, and how many decimals are shown.

    Error and p-value are nan if there is one split.
    """

    difference: float
    error: float
    test: PairedTest
    digits: int = 1

    def __str__(self) -> str:
        return difference_text(self.difference, self.error, self.test.p, self.digits)

    def in_words(self, unit: str) -> str:
        """The same for a sentence, such as "+1.3 ± 0.5 points (p = 0.04)"."""
        said = f"{difference_text(self.difference, self.error, digits=self.digits)} {unit}"
        return f"{said} ({p_text(self.test.p)})" if p_text(self.test.p) else said


def scores_of(records: Sequence[Record], wanted: Mapping[str, Any], scale: float = 1.0) -> Scores:
    """Test scores of the records whose configuration has the wanted entries, times `scale`, in the order of splits."""
    runs = (record for record in matching(records, **wanted) if "test" in record["result"])
    return dict(sorted((record["config"]["run"], scale * record["result"]["test"]) for record in runs))


def scores_text(scores: Scores, digits: int = 1, full: int = SPLITS, unit: str = "split") -> str:
    """The mean ± its standard error, and the number of splits if these are fewer than `full`; empty without scores.

    >>> scores_text({0: 1.0, 1: 3.0}), scores_text({0: 0.5}, 3, full=1), scores_text({})
    ('2.0 ± 1.0 (2 splits)', '0.500', '')
    """
    if not scores:
        return ""
    values = np.array(list(scores.values()))
    error = f" ± {standard_error(values):.{digits}f}" if len(values) > 1 else ""
    short = "" if len(values) >= full else f" ({count_text(len(values), unit)})"
    mean = round(float(values.mean()), digits) + 0.0  # no minus before 0
    return f"{mean:.{digits}f}{error}{short}"


def compared(one: Scores, other: Scores, digits: int = 1) -> Comparison | None:
    """The first less the second, on the splits that both have; None if there is no such split.

    >>> str(compared({0: 60.0, 1: 80.0}, {0: 50.0, 1: 90.0, 2: 0.0}))
    '+0.0 ± 10.0, p = 1.00'
    """
    shared = sorted(set(one) & set(other))
    if not shared:
        return None
    gaps = np.array([one[run] - other[run] for run in shared])
    error = standard_error(gaps) if len(gaps) > 1 else np.nan
    return Comparison(float(gaps.mean()), error, corrected_resampled_t(gaps), digits)


def compared_by_dataset(
    ones: Mapping[str, Scores], others: Mapping[str, Scores], digits: int = 1
) -> dict[str, Comparison]:
    """The differences by dataset, where both were measured on some split."""
    gaps = {name: compared(ones[name], others[name], digits) for name in ones}
    return {name: gap for name, gap in gaps.items() if gap is not None}


def average(by_dataset: Mapping[str, Comparison]) -> Comparison:
    """The mean over datasets, each of which counts the same; errors of different datasets are independent."""
    errors = np.array([one.error for one in by_dataset.values()])
    test = average_over_tasks([one.test for one in by_dataset.values()])
    digits = max(one.digits for one in by_dataset.values())
    return Comparison(test.mean, float(np.sqrt(np.sum(errors**2)) / len(errors)), test, digits)


def judged(by_dataset: Mapping[str, Comparison]) -> dict[str, dict[str, Comparison]]:
    """The datasets where the difference is clear and above 0 ("better"), clear and below ("worse"), or "unclear"."""
    clear = {name for name, one in by_dataset.items() if one.test.p < CLEAR}
    return {
        "better": {name: one for name, one in by_dataset.items() if name in clear and one.difference > 0},
        "worse": {name: one for name, one in by_dataset.items() if name in clear and one.difference < 0},
        "unclear": {name: one for name, one in by_dataset.items() if name not in clear},
    }


def score_row(
    title: str, by_dataset: Mapping[str, Scores], digits: int = 1, full: int = SPLITS, unit: str = "split"
) -> list[str]:
    """A row of a table: scores by dataset, and the mean of their means, if no dataset is missing."""
    scores = list(by_dataset.values())
    mean = f"{np.mean([np.mean(list(one.values())) for one in scores]):.{digits}f}" if all(scores) else ""
    return [title, *(scores_text(one, digits, full, unit) for one in scores), mean]


def difference_row(title: str, by_dataset: Mapping[str, Comparison], datasets: Sequence[str]) -> list[str]:
    """A row of a table: differences by dataset, and their average, if no dataset is missing."""
    mean = str(average(by_dataset)) if len(by_dataset) == len(datasets) else ""
    return [title, *(str(by_dataset.get(name, "")) for name in datasets), mean]
