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
from .base import Embedding

_SMALL = 10_000  # names up to which threads are not worth waking


class Entries(NamedTuple):
    """Entries of sparse vectors.

    Attributes
    ----------
    cloud : ndarray [E]
        Which cloud.
    name : ndarray [E], uint64
        What the cloud has.
    code : ndarray [E], uint64
        The column: the name itself, or a hash of it.
    value : ndarray [E]
    """

    cloud: np.ndarray
    name: np.ndarray
    code: np.ndarray
    value: np.ndarray


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
        """Entries of the vectors, from how often each cloud has each name."""

    def fit(self, points: Any, sizes: np.ndarray, rng: np.random.Generator) -> ColumnEmbedding:
        """The columns that clouds have."""
        self.vocabulary = np.unique(self._entries(points, sizes).code.view(np.int64))
        return self

    def vectors(self, points: Any, sizes: np.ndarray) -> Any:
        """Sparse vectors [G, V + 1], float64."""
        found = self._entries(points, sizes)
        column = self._columns(found.code)
        unseen = column == len(self.vocabulary)
        value = np.where(unseen, found.value**2, found.value)
        vectors = sparse.csr_array(
            (value, (found.cloud, column)), shape=(len(sizes), len(self.vocabulary) + 1), dtype=np.float64
        )
        vectors.sum_duplicates()
        last = vectors.indices == len(self.vocabulary)
        vectors.data[last] = np.sqrt(vectors.data[last])
        return vectors

    def plan(self, x: Any, z: Any) -> np.ndarray:
        """Mass is matched within each name first; what is left over is spread over all points with mass left."""
        own, other, _ = _indicators(x, z)
        return column_plan(own, other)

    def attribute(self, x: Any, z: Any, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a name adds is shared among the points that have it; if there are none, among all points."""
        n, levels = x.shape
        names, place = np.unique(np.concatenate([x, z]).reshape(-1), return_inverse=True)
        found = self._entries(np.concatenate([x, z]), np.array([n, len(z)]))
        at, column = np.searchsorted(names, found.name), self._columns(found.code)
        seen = column < len(self.vocabulary)
        gap = np.where(found.cloud == 0, found.value, -found.value)
        adds = np.bincount(at, np.where(seen, gap * gradient[column], 0.0), minlength=len(names))
        if not seen.all():
            unseen = np.unique(at[~seen])
            lengths = np.sqrt(np.bincount(found.cloud[~seen], found.value[~seen] ** 2, minlength=2))
            adds[unseen] += gradient[-1] * (lengths[0] - lengths[1]) / len(unseen)
        both = place.reshape(-1, levels)
        return _among_points(both[:n], adds), _among_points(both[n:], adds)

    def width(self, columns: int) -> int:
        return len(self.vocabulary) + 1

    def _entries(self, points: np.ndarray, sizes: np.ndarray) -> Entries:
        return self.entries(*count_names(points, sizes), sizes)

    def _columns(self, codes: np.ndarray) -> np.ndarray:
        """The column of each code; the last one for codes that were not seen."""
        codes = codes.view(np.int64)
        if len(self.vocabulary) == 0:
            return np.zeros(len(codes), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.vocabulary, codes), len(self.vocabulary) - 1)
        return np.where(self.vocabulary[place] == codes, place, len(self.vocabulary))


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


def column_plan(x: sparse.csr_array, z: sparse.csr_array) -> np.ndarray:
    """A plan [n, m] between points that are in columns of 0 and 1 [n, q], [m, q]: within columns first."""
    n, m = x.shape[0], z.shape[0]
    mass, mass_z = np.asarray(x.sum(0)) / n, np.asarray(z.sum(0)) / m
    common = np.minimum(mass, mass_z)
    inside, inside_z = np.zeros(len(mass)), np.zeros(len(mass))
    np.divide(1.0, n * mass, out=inside, where=mass > 0)
    np.divide(1.0, m * mass_z, out=inside_z, where=mass_z > 0)
    levels = x.sum() / n
    plan = ((x * (inside * common)) @ (z * inside_z).T).toarray() / levels
    rest, rest_z = 1.0 / n - plan.sum(1), 1.0 / m - plan.sum(0)
    return plan + np.outer(rest, rest_z) / rest.sum() if rest.sum() > 1e-12 else plan


def shared_out(x: sparse.csr_array, adds: np.ndarray) -> np.ndarray:
    """What each column adds [q], shared among the points in it [n]; columns without points are shared by all."""
    counts = np.asarray(x.sum(0))
    inside = np.zeros(len(adds))
    np.divide(adds, counts, out=inside, where=counts > 0)
    return x @ inside + adds[counts == 0].sum() / x.shape[0]


def _among_points(place: np.ndarray, adds: np.ndarray) -> np.ndarray:
    """What each name adds [U], shared among the points that have it [n, L]; names that none has are shared by all."""
    counts = np.bincount(place.reshape(-1), minlength=len(adds))
    inside = np.divide(adds, counts, out=np.zeros(len(adds)), where=counts > 0)
    return inside[place].sum(1) + adds[counts == 0].sum() / len(place)


def _indicators(x: np.ndarray, z: np.ndarray) -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
    """Names of two clouds [n, L], [m, L] as columns of 0 and 1 [n, U], [m, U], and the U names."""
    names, place = np.unique(np.concatenate([x, z]).reshape(-1), return_inverse=True)
    rows = np.repeat(np.arange(len(x) + len(z)), x.shape[1])
    ones = np.ones(len(rows))
    both = sparse.csr_array((ones, (rows, place.reshape(-1))), shape=(len(x) + len(z), len(names)))
    return both[: len(x)], both[len(x) :], names
