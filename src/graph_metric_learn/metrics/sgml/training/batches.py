"""Partitions of the training set into batches."""

from __future__ import annotations

import numpy as np

BATCHINGS = ("covered", "shuffled")


def partition(y: np.ndarray, batch_size: int, rng: np.random.Generator, batching: str = "covered") -> list[np.ndarray]:
    """A random partition of the elements into batches; a last batch of one element joins the one before.

    Parameters
    ----------
    y : ndarray [N]
        Classes.
    batch_size : int
        Elements in a batch, >= 2.
    rng : numpy.random.Generator
        Source of randomness.
    batching : {"covered", "shuffled"}
        "shuffled" leaves it at that, as in the paper. In small batches it happens that all elements are of one class,
        and nothing can be learned from them: "covered" then exchanges one of them with another batch.

    Examples
    --------
    >>> y = np.array([0] * 7 + [1] * 2)
    >>> [sorted(y[batch].tolist()) for batch in partition(y, 3, np.random.default_rng(0))]
    [[0, 0, 0], [0, 0, 1], [0, 0, 1]]
    """
    if batching not in BATCHINGS:
        raise ValueError(f"unknown batching={batching!r}: use one of {', '.join(map(repr, BATCHINGS))}")
    order = rng.permutation(len(y))
    bounds = list(range(0, len(y), batch_size))
    if len(bounds) > 1 and len(y) - bounds[-1] == 1:
        bounds.pop()
    batches = np.split(order, bounds[1:])
    if batching == "covered":
        _cover(batches, y)
    return batches


def _cover(batches: list[np.ndarray], y: np.ndarray) -> None:
    """Gives every batch of one class an element of another one, from the next batch that has it to spare."""
    for b, batch in enumerate(batches):
        own = y[batch[0]]
        if (y[batch] != own).any():
            continue
        for step in range(1, len(batches)):
            donor = batches[(b + step) % len(batches)]
            foreign = np.flatnonzero(y[donor] != own)
            if len(foreign) >= 2 or (len(foreign) == len(donor) and len(foreign) > 0):
                batch[0], donor[foreign[0]] = donor[foreign[0]], batch[0]
                break
