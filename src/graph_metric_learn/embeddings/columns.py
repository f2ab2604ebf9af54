"""Embeddings of clouds whose points are equal or different, with nothing in between: sparse vectors, one column each.

Points are named by 64-bit hashes [S, L], several names per point where there are several levels of trees. What a cloud
has of each name becomes entries of a sparse vector. Columns are those seen in `fit`; one more holds the length of all
that was not seen there, so that distances to graphs of `fit` are exact, and the width is fixed.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core.compiled import share_of, shared
from .._core.ragged import offsets
from .._core.schema import FieldError, Saved, array
from .embedding import Embedding

_SMALL = 10_000  # names up to which threads are not worth waking


class Entries(NamedTuple):
    """Entries of sparse vectors."""

    cloud: np.ndarray  # which cloud [E]
    name: np.ndarray  # what the cloud has [E], uint64
    code: np.ndarray  # the column: the name itself, or a hash of it [E], uint64
    value: np.ndarray  # [E]


class _Fitted(Saved):
    vocabulary: Annotated[np.ndarray, array("V", "i")]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vocabulary.dtype != np.int64 or (self.vocabulary[1:] <= self.vocabulary[:-1]).any():
            raise FieldError("vocabulary", "must be 64-bit whole numbers that ascend")


class ColumnEmbedding(Embedding):
    """What the embeddings of named points share; each says in `entries` what counts of names become.

    Attributes
    ----------
    vocabulary : ndarray [V], int64
        Columns seen in `fit`, ascending; hashes, with their bits read as signed numbers.
    """

    takes_columns = True
    fitted_type = _Fitted
    vocabulary: np.ndarray

    @abstractmethod
    def entries(self, cloud: np.ndarray, name: np.ndarray, count: np.ndarray, sizes: np.ndarray) -> Entries:
        """Entries of the vectors of clouds of these sizes [G]: `cloud` [e] has `name` [e] `count` [e] times."""

    def fit(self, points: Any, sizes: np.ndarray, rng: np.random.Generator) -> ColumnEmbedding:
        """The columns that clouds have, of points named by hashes [S, L]."""
        self.vocabulary = np.unique(self._entries(points, sizes).code.view(np.int64))
        return self

    def vectors(self, points: Any, sizes: np.ndarray) -> Any:
        """Sparse vectors [G, V + 1], float64."""
        entries = self._entries(points, sizes)
        column = self._columns(entries.code)
        unseen = column == len(self.vocabulary)
        value = np.where(unseen, entries.value**2, entries.value)
        vectors = sparse.csr_array(
            (value, (entries.cloud, column)), shape=(len(sizes), len(self.vocabulary) + 1), dtype=np.float64
        )
        vectors.sum_duplicates()
        last = vectors.indices == len(self.vocabulary)
        vectors.data[last] = np.sqrt(vectors.data[last])
        return vectors

    def plan(self, x: Any, z: Any) -> np.ndarray:
        """See :func:`plan_by_names`."""
        return plan_by_names(x, z)

    def attribute(self, x: Any, z: Any, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a name adds is shared among the points that have it [n], [m]; if there are none, among all points."""
        own, other, names = _indicators(x, z)
        entries = self._entries(np.concatenate([x, z]), np.array([len(x), len(z)]))
        row, column = np.searchsorted(names, entries.name), self._columns(entries.code)
        seen = column < len(self.vocabulary)
        gap = np.where(entries.cloud == 0, entries.value, -entries.value)
        adds = np.bincount(row, np.where(seen, gap * gradient[column], 0.0), minlength=len(names))
        if not seen.all():
            unseen = np.unique(row[~seen])
            lengths = np.sqrt(np.bincount(entries.cloud[~seen], entries.value[~seen] ** 2, minlength=2))
            adds[unseen] += gradient[-1] * (lengths[0] - lengths[1]) / len(unseen)
        return _shared_out(own, adds), _shared_out(other, adds)

    def width(self, columns: int) -> int:
        return len(self.vocabulary) + 1

    def _entries(self, points: np.ndarray, sizes: np.ndarray) -> Entries:
        return self.entries(*count_names(points, sizes), sizes)

    def _columns(self, codes: np.ndarray) -> np.ndarray:
        """The column of each code; the last one for codes that were not seen."""
        codes = codes.view(np.int64)
        if len(self.vocabulary) == 0:
            return np.zeros(len(codes), dtype=np.int64)
        column = np.minimum(np.searchsorted(self.vocabulary, codes), len(self.vocabulary) - 1)
        return np.where(self.vocabulary[column] == codes, column, len(self.vocabulary))


def count_names(points: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each cloud has each name: the cloud, the name and the count of each pair that occurs.

    >>> count_names(np.array([[7], [7], [9], [9]], dtype=np.uint64), np.array([3, 1]))
    (array([0, 0, 1]), array([7, 9, 9], dtype=uint64), array([2, 1, 1]))
    """
    levels = points.shape[1]
    cloud = np.repeat(np.repeat(np.arange(len(sizes)), sizes), levels)
    names = np.array(points, dtype=np.uint64).reshape(-1)
    _sort_within(names, levels * offsets(sizes), threads=len(names) > _SMALL)
    new = np.ones(len(names), dtype=bool)
    new[1:] = (cloud[1:] != cloud[:-1]) | (names[1:] != names[:-1])
    starts = np.flatnonzero(new)
    return cloud[starts], names[starts], np.diff(np.append(starts, len(names)))


@shared
def _sort_within(part, parts, names, starts):
    for cloud in share_of(len(starts) - 1, part, parts):
        names[starts[cloud] : starts[cloud + 1]].sort()


def plan_by_names(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """A plan [n, m] between clouds of points with names [n, L], [m, L].

    It matches mass within each name first; the rest is spread over all points with mass left.
    """
    own, other, _ = _indicators(x, z)
    mass, mass_z = np.asarray(own.sum(0)) / len(x), np.asarray(other.sum(0)) / len(z)  # of each name [U]
    inside, inside_z = np.zeros(len(mass)), np.zeros(len(mass))
    np.divide(1.0, len(x) * mass, out=inside, where=mass > 0)
    np.divide(1.0, len(z) * mass_z, out=inside_z, where=mass_z > 0)
    plan = ((own * (inside * np.minimum(mass, mass_z))) @ (other * inside_z).T).toarray() / x.shape[1]
    rest, rest_z = 1.0 / len(x) - plan.sum(1), 1.0 / len(z) - plan.sum(0)
    return plan + np.outer(rest, rest_z) / rest.sum() if rest.sum() > 1e-12 else plan


def _shared_out(x: sparse.csr_array, adds: np.ndarray) -> np.ndarray:
    """What each name adds [U], shared among the points that have it [n]; names without points are shared by all."""
    counts = np.asarray(x.sum(0))
    inside = np.zeros(len(adds))
    np.divide(adds, counts, out=inside, where=counts > 0)
    return x @ inside + adds[counts == 0].sum() / x.shape[0]


def _indicators(x: np.ndarray, z: np.ndarray) -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
    """Names of two clouds [n, L], [m, L] as columns of 0 and 1 [n, U], [m, U], and the U names."""
    names, name_of = np.unique(np.concatenate([x, z]).reshape(-1), return_inverse=True)
    rows = np.repeat(np.arange(len(x) + len(z)), x.shape[1])
    ones = np.ones(len(rows))
    both = sparse.csr_array((ones, (rows, name_of.reshape(-1))), shape=(len(x) + len(z), len(names)))
    return both[: len(x)], both[len(x) :], names
