"""A fold is a part of the training graphs, held out together: each class is in all folds, each group in one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .targets import is_missing, target_array


def spread_folds(
    codes: np.ndarray, count: int, rng: np.random.Generator, groups: np.ndarray | None = None
) -> np.ndarray:
    """Which of `count` folds each graph is held out in [N].

    Classes `codes` [N] are spread evenly over the folds; zeros where there are none. Graphs of one group [N], such as
    copies of each other, go into the same fold. A group counts as of the class that most of its members have; large
    groups are placed first, each into the fold that has the fewest of its class.

    >>> folds = spread_folds(np.array([0, 0, 0, 0, 1, 1]), 2, np.random.default_rng(0))
    >>> folds.sum(), folds[4:].sum()
    (np.int64(3), np.int64(1))
    """
    shuffled = rng.permutation(len(codes))
    folds = np.empty(len(codes), dtype=np.int64)
    if groups is None or len(np.unique(groups)) == len(groups):
        folds[shuffled[np.argsort(codes[shuffled], kind="stable")]] = np.arange(len(codes)) % count
        return folds
    _, member_of = np.unique(groups[shuffled], return_inverse=True)
    n_groups, n_classes = int(member_of.max()) + 1, int(codes.max()) + 1
    tally = np.zeros((n_groups, n_classes), dtype=np.int64)
    np.add.at(tally, (member_of, codes[shuffled]), 1)
    of_folds = np.zeros((count, n_classes), dtype=np.int64)
    fold_of = np.empty(n_groups, dtype=np.int64)
    order = rng.permutation(n_groups)
    for group in order[np.argsort(-tally[order].sum(1), kind="stable")]:  # larger groups first, else at random
        most = int(tally[group].argmax())
        fold = min(range(count), key=lambda f: (of_folds[f, most], of_folds[f].sum()))
        fold_of[group] = fold
        of_folds[fold] += tally[group]
    folds[shuffled] = fold_of[member_of]
    return folds


def check_groups(groups: Any, count: int) -> np.ndarray | None:
    """Groups of graphs as whole numbers [N], or None; one clear error where they do not fit."""
    if groups is None:
        return None
    names = target_array(groups)
    if names.shape != (count,):
        raise ValueError(f"{count} graphs, but groups of shape {names.shape}: give one group per graph")
    entries = names.tolist()
    for i, group in enumerate(entries):
        if is_missing(group):
            raise ValueError(f"the group of graph {i} is {group}: give it one of its own if it is alone")
    codes = {group: code for code, group in enumerate(dict.fromkeys(entries))}
    if len(codes) == 1:
        raise ValueError("all graphs are of one group: none can be held out for the others; leave groups out")
    return np.array([codes[group] for group in entries])


def groups_among(groups: np.ndarray | None, which: np.ndarray) -> np.ndarray | None:
    """Groups of some of the graphs, if there are any."""
    return None if groups is None else groups[which]


def held_together(groups: np.ndarray | None, copies: np.ndarray) -> np.ndarray:
    """Which graphs are held out together [N]: those of one group, and copies of each other.

    Copies in several groups join these. Where that makes a group of more than half of the graphs, which none was
    before, groups alone count.
    """
    if groups is None:
        return copies
    joined = joined_groups(copies, groups)
    most, own = (int(np.bincount(part).max()) for part in (joined, groups))
    if most <= max(own, len(groups) // 2):
        return joined
    warnings.warn(
        f"some graphs have copies in other groups: if these groups were joined, one would hold {most} of {len(groups)} "
        "graphs. So groups are held out together, but copies in different groups are not",
        UserWarning,
        stacklevel=3,
    )
    return groups


def joined_groups(groups: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Groups [N] such that graphs of one group by either rule are together.

    >>> joined_groups(np.array([0, 0, 1, 2]), np.array([5, 6, 6, 7]))
    array([0, 0, 0, 1], dtype=int32)
    """
    from scipy import sparse

    rows, columns = (np.unique(part, return_inverse=True)[1].reshape(-1) for part in (groups, others))
    ends = (rows, columns + rows.max() + 1)
    size = int(ends[1].max()) + 1
    links = sparse.coo_array((np.ones(len(rows)), ends), shape=(size, size))
    return sparse.csgraph.connected_components(links, directed=False)[1][rows]
