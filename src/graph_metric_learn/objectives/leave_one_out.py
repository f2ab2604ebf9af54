"""Leave-one-out: every graph predicted by all others, for several numbers of neighbours at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .base import Objective

NEIGHBORS = (1, 2, 3, 5, 7)  # the k that are tried


def leave_one_out(
    objective: Objective, distances: np.ndarray, target: np.ndarray, ks: Sequence[int] | None = None, *,
    weighted: bool = False, groups: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Mean score for each k, each graph predicted by all others (of other groups [N]), from distances [N, N].

    See :meth:`Objective.left_out_scores`. `ks` are those of `NEIGHBORS` that N graphs have neighbours for when None.
    """
    ks = usable(len(target)) if ks is None else ks
    if groups is not None:
        distances = np.where(groups[:, None] == groups, np.inf, distances)
    return objective.left_out_scores(distances, target, ks, weighted=weighted).mean(0)


def usable(count: int) -> list[int]:
    """Those k of `NEIGHBORS` that `count` graphs have enough neighbours for when one of them is left out.

    >>> usable(4)
    [1, 2, 3]
    """
    return [k for k in NEIGHBORS if k < count]
