"""Random partitions of the training set into batches, made anew at every epoch."""

from __future__ import annotations

import numpy as np

from ...._core.validation import one_of

BATCHINGS = ("covered", "shuffled")


def partition(y: np.ndarray, batch_size: int, rng: np.random.Generator, batching: str = "covered") -> list[np.ndarray]:
    """A random partition of the elements into batches; a last batch of one element joins the one before.

    Parameters
    ----------
    y : ndarray [N]
        Classes; for "shuffled", targets of any kind.
    batch_size : int
        Elements in a batch, >= 2.
    rng : numpy.random.Generator
        Source of randomness.
    batching : {"covered", "shuffled"}
        "shuffled" is a plain random partition, as in the paper. Small batches may then hold elements of one class
        only, from which nothing can be learned: "covered" exchanges one of their elements with another batch.

    Examples
    --------
    >>> y = np.array([0] * 7 + [1] * 2)
    >>> [sorted(y[batch].tolist()) for batch in partition(y, 3, np.random.default_rng(0))]
    [[0, 0, 0], [0, 0, 1], [0, 0, 1]]
    """
    one_of("batching", batching, BATCHINGS)
    order = rng.permutation(len(y))
    bounds = list(range(0, len(y), batch_size))
    if len(bounds) > 1 and len(y) - bounds[-1] == 1:
        bounds.pop()
    batches = np.split(order, bounds[1:])
    if batching == "covered":
        _cover(batches, y)
    return batches


def _cover(batches: list[np.ndarray], y: np.ndarray) -> None:
    """Gives every batch of one class an element of another class, in place.

    The donor is the next batch, cyclically, that has at least two such elements and so keeps two classes itself; or one
    that consists of nothing else and has nothing to lose.
    """
    for b, batch in enumerate(batches):
        only_class = y[batch[0]]
        if (y[batch] != only_class).any():
            continue
        for step in range(1, len(batches)):
            donor = batches[(b + step) % len(batches)]
            foreign = np.flatnonzero(y[donor] != only_class)
            if len(foreign) >= 2 or (len(foreign) == len(donor) and len(foreign) > 0):
                batch[0], donor[foreign[0]] = donor[foreign[0]], batch[0]
                break
