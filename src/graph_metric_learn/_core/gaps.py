"""Tables with missing entries: columns with entries in the same rows are looked at together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def columns_by_gaps(present: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and columns of a table [N, T] such that these rows, and no others, have entries in all these columns.

    Columns without any entry are left out. Those without gaps come first, then those with the most gaps.

    Examples
    --------
    >>> for rows, columns in columns_by_gaps(np.array([[True, False, True, False], [True, True, True, False]])):
    ...     print(rows, columns)
    [0 1] [0 2]
    [1] [1]
    """
    if present.all():
        yield np.arange(present.shape[0]), np.arange(present.shape[1])
        return
    patterns, pattern_of = np.unique(present, axis=1, return_inverse=True)
    counts = patterns.sum(axis=0)
    for pattern in np.lexsort((counts, counts < len(present))):
        rows = np.flatnonzero(patterns[:, pattern])
        if len(rows):
            yield rows, np.flatnonzero(pattern_of.reshape(-1) == pattern)
