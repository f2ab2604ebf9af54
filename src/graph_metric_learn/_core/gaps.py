"""Tables with missing entries: columns that are known for the same rows are looked at together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def columns_by_gaps(known: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and columns of a table [N, T] such that all of these rows are known in all of these columns, and no others.

    Columns without any known row are left out. Those without gaps come first, then the larger sets of columns.

    Examples
    --------
    >>> for rows, columns in columns_by_gaps(np.array([[True, False, True, False], [True, True, True, False]])):
    ...     print(rows, columns)
    [0 1] [0 2]
    [1] [1]
    """
    patterns, pattern_of, counts = np.unique(known, axis=1, return_inverse=True, return_counts=True)
    gaps = (~patterns).any(axis=0).astype(int)
    for place in np.lexsort((-counts, gaps)):
        rows = np.flatnonzero(patterns[:, place])
        if len(rows):
            yield rows, np.flatnonzero(pattern_of.reshape(-1) == place)
