"""Arrays that grow at the end without being copied, and never change where they were read."""

from __future__ import annotations

import numpy as np


class GrowingArray:
    """The first rows of a buffer that has room for more. Rows that were read never change.

    Growing writes behind these rows, and returns another object with the same buffer; the buffer is copied only when it
    is full, when other rows were written there already, or when the type of its entries is too narrow.

    Parameters
    ----------
    rows : ndarray [n, …]
        Taken as they are, not copied.

    Examples
    --------
    >>> first = GrowingArray(np.array([1, 2]))
    >>> more = first.grown(np.array([3]))
    >>> first.rows, more.rows
    (array([1, 2]), array([1, 2, 3]))
    """

    def __init__(self, rows: np.ndarray) -> None:
        self._buffer, self._count = rows, len(rows)
        self._used = [len(rows)]  # of the buffer, by whoever shares it

    @property
    def rows(self) -> np.ndarray:
        """The rows [n, …]: a view, of which later growth changes nothing."""
        return self._buffer[: self._count]

    def __len__(self) -> int:
        return self._count

    def grown(self, more: np.ndarray) -> GrowingArray:
        """These rows and more; one thread at a time may call this."""
        total, dtype = self._count + len(more), np.result_type(self._buffer, more)
        found = object.__new__(GrowingArray)
        found._count = total
        if self._used[0] == self._count and total <= len(self._buffer) and dtype == self._buffer.dtype:
            found._buffer, found._used = self._buffer, self._used
        else:
            found._buffer = np.empty((total + total // 2 + 8, *self._buffer.shape[1:]), dtype)
            found._buffer[: self._count] = self.rows
            found._used = [0]
        found._buffer[self._count : total] = more
        found._used[0] = total
        return found
