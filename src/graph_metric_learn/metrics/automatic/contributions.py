"""What nodes, edges and blocks of two graphs add to a number, by one family: to its kernel, or to learned scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..._core.ragged import offsets
from ...embeddings.columns import plan_by_names
from ...embeddings.embedding import attribute_slots
from ...linalg.multiset_changes import changes_by_name
from ...linalg.squared_distances import squared_norms
from .families import Family, LinearFamily, MultisetFamily, VectorFamily, WholeFamily
from .views import View

# Places along the line between two graphs, from 0 to 1, at which gradients are averaged, and how much each counts.
_PLACES, _SHARES = (np.polynomial.legendre.leggauss(32)[part] / 2 + (0.5, 0.0)[part] for part in (0, 1))


class Parts(NamedTuple):
    """A number divided in three ways: by the points of one graph, by those of another, and by blocks."""

    source: np.ndarray  # [n]
    target: np.ndarray  # [m]
    blocks: dict[str, float]

    def completed(self, whole: float) -> Parts:
        """The same, so that each way adds up to `whole`; what is missing is divided by absolute values."""
        blocks = _completed(np.array(list(self.blocks.values())), whole).tolist()
        by_name = dict(zip(self.blocks, blocks, strict=True))
        return Parts(_completed(self.source, whole), _completed(self.target, whole), by_name)


def _completed(values: np.ndarray, whole: float) -> np.ndarray:
    sizes = np.abs(values)
    shares = sizes / sizes.sum() if sizes.sum() > 0 else np.full(len(values), 1.0 / len(values))
    return values + (whole - values.sum()) * shares


class FamilyPair(ABC):
    """Two graphs as one family sees them."""

    def __init__(self, family: Any, one: View, two: View) -> None:
        self.family, self.one, self.two = family, one, two

    @property
    def cloud(self) -> str:
        """What contributions are divided by, "nodes" or "edges"."""
        return "edges" if self.family.recipe.cloud == "edges" else "nodes"

    @abstractmethod
    def apart(self) -> float:
        """Half of the squared distance by the kernel, 1 − k where k(G, G) = 1."""

    @abstractmethod
    def parts(self, factor: float, weights: np.ndarray | None) -> list[Parts]:
        """What is added to Σ_m weights_m (k(G, m) − k(H, m)), for each column of weights [M, C] on the references.

        To the first of them factor · (1 − k) comes; without weights it is the only one.
        """

    @abstractmethod
    def plan(self) -> np.ndarray:
        """Which points are compared [n, m]: rows add up to 1 / n, columns to 1 / m."""


class MultisetPair(FamilyPair):
    """1 − Σ min / Σ max is a sum over names, of |a − b| / Σ max.

    What a name adds is divided among those that have it, in the graph that has more of it; in the other graph, where it
    is missing, among all.
    """

    family: MultisetFamily

    def __init__(self, family: MultisetFamily, one: View, two: View) -> None:
        super().__init__(family, one, two)
        self.named = one.names(family), two.names(family)
        word, level = (np.concatenate([getattr(side, part) for side in self.named]) for part in ("word", "level"))
        order = np.lexsort([word, level])
        new = np.ones(len(order), dtype=bool)
        new[1:] = (word[order][1:] != word[order][:-1]) | (level[order][1:] != level[order][:-1])
        which = np.empty(len(order), np.int64)
        which[order] = np.cumsum(new) - 1
        self.which = np.split(which, [len(self.named[0].word)])
        self.word, self.level = word[order[new]], level[order[new]]
        first, second = (np.bincount(rows, minlength=len(self.word)).astype(float) for rows in self.which)
        self.counts = first, second

    def apart(self) -> float:
        return float(self._apart_by_name().sum())

    def _apart_by_name(self) -> np.ndarray:
        """What each name adds to 1 − k [U]."""
        ranges, n_levels = self.family.recipe.ranges, len(self.family.recipe.names)
        larger = np.bincount(self.level, np.maximum(*self.counts), n_levels).cumsum()
        times = np.bincount(ranges, minlength=n_levels) / len(ranges)
        rates = np.divide(times, larger, out=np.zeros(n_levels), where=larger > 0)[::-1].cumsum()[::-1]
        return np.abs(self.counts[0] - self.counts[1]) * rates[self.level]

    def parts(self, factor: float, weights: np.ndarray | None) -> list[Parts]:
        adds = factor * self._apart_by_name()[:, None]
        if weights is not None:
            sums, ranges = self.family.sums, self.family.recipe.ranges
            changes = changes_by_name(sums, self.word, self.level, self.counts, weights, ranges)
            changes[:, 0] += adds[:, 0]
            adds = changes
        return [self._divided(column) for column in adds.T]

    def _divided(self, adds: np.ndarray) -> Parts:
        """What names add [U], divided among the points that have them."""
        sides = []
        for side, view in enumerate((self.one, self.two)):
            own, other = self.counts[side], self.counts[1 - side]
            there = own > other
            each = np.divide(adds, own, out=np.zeros(len(adds)), where=there)[self.which[side]]
            points, count = self.named[side].points, view.sizes[self.cloud]
            of_points = np.repeat(each / points.shape[1], points.shape[1])
            sides.append(np.bincount(points.reshape(-1), of_points, count) + adds[~there].sum() / count)
        names = self.family.recipe.names
        blocks = np.bincount(self.level, adds, len(names)).tolist()
        return Parts(sides[0], sides[1], dict(zip(names, blocks, strict=True)))

    def plan(self) -> np.ndarray:
        names = self.family.recipe.names
        one, two = (np.concatenate([view.blocks[name] for name in names], axis=1) for view in (self.one, self.two))
        return plan_by_names(one, two)


class LinearPair(MultisetPair):
    """Half of d² is a sum over names, of (a − b)² / 2 scale²; a change of scores is one of (a − b) times a slope."""

    family: LinearFamily  # type: ignore[assignment]

    def _gaps(self) -> tuple[np.ndarray, np.ndarray]:
        """By name, the difference of the counts in the units of the family [U], and its place in the vocabulary [U]."""
        vocabulary = self.family.vocabulary
        place = np.minimum(np.searchsorted(vocabulary, self.word), len(vocabulary) - 1)
        gaps = (self.counts[0] - self.counts[1]) / self.family.scale
        return np.where(vocabulary[place] == self.word, gaps, 0.0), place

    def _apart_by_name(self) -> np.ndarray:
        return self._gaps()[0] ** 2 / 2

    def parts(self, factor: float, weights: np.ndarray | None) -> list[Parts]:
        gaps, place = self._gaps()
        adds = factor * self._apart_by_name()[:, None]
        if weights is not None:
            changes = gaps[:, None] * (self.family.points.sets[0].T @ weights)[place]
            changes[:, 0] += adds[:, 0]
            adds = changes
        return [self._divided(column) for column in adds.T]


class VectorPair(FamilyPair):
    """1 − exp(−d² / scale): what points add to d², or to the slope of the kernel along the line between both."""

    family: VectorFamily

    def __init__(self, family: VectorFamily, one: View, two: View) -> None:
        super().__init__(family, one, two)
        ends = [view.described[family.name].sets for view in (one, two)]
        self.vectors = [(_dense(first), _dense(second)) for first, second in zip(*ends, strict=True)]
        self.gaps = [first - second for first, second in self.vectors]

    def apart(self) -> float:
        return sum(self._apart_by_set())

    def _apart_by_set(self) -> list[float]:
        """What each set of blocks adds to 1 − k."""
        squares = np.array([gap @ gap for gap in self.gaps])
        return (-np.expm1(-squares / self.family.scales) / len(squares)).tolist()

    def parts(self, factor: float, weights: np.ndarray | None) -> list[Parts]:
        n_columns = 1 if weights is None else weights.shape[1]
        n, m, names = self.one.sizes[self.cloud], self.two.sizes[self.cloud], self.family.recipe.names
        totals = [Parts(np.zeros(n), np.zeros(m), dict.fromkeys(names, 0.0)) for _ in range(n_columns)]
        for i, (gap, apart) in enumerate(zip(self.gaps, self._apart_by_set(), strict=True)):
            if not gap.any():
                continue
            gradients = np.zeros((len(gap), n_columns))
            if weights is not None:
                references, scale = self.family.points.sets[i], float(self.family.scales[i])
                gradients += mean_gradient(references, scale, *self.vectors[i], weights / len(self.gaps))
            gradients[:, 0] += gap * (factor * apart / (gap @ gap))
            for total, gradient in zip(totals, gradients.T, strict=True):
                source, target = self._by_point(i, gradient)
                total.source[:] += source
                total.target[:] += target
                for name, value in self._by_block(i, gradient).items():
                    total.blocks[name] += value
        return totals

    def _by_point(self, which: int, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each point adds to ⟨gradient, difference of the vectors⟩ of a set."""
        x, z = (view.points(self.family, which) for view in (self.one, self.two))
        left, right = (view.slots(self.family, which) for view in (self.one, self.two))
        if left is None or right is None:
            return self.family.embeddings[which].attribute(x, z, gradient)
        return attribute_slots(x, z, left, right, gradient)

    def _by_block(self, which: int, gradient: np.ndarray) -> dict[str, float]:
        """What each block of a set adds to ⟨gradient, difference of the vectors⟩."""
        names, embedding = self.family.recipe.sets[which], self.family.embeddings[which]
        whole = float(gradient @ self.gaps[which])
        if len(names) == 1:
            return {names[0]: whole}
        if embedding.takes_columns:
            clouds = [(self.one.blocks[name], self.two.blocks[name]) for name in names]
            alone = np.array([embedding.attribute(x, z, gradient)[0].sum() for x, z in clouds])
        else:
            columns = self._by_column(which, gradient)
            cuts = offsets(np.array([self.one.blocks[name].shape[1] for name in names]))
            alone = np.array([columns[low:high].sum() for low, high in pairwise(cuts)])
        rest = (whole - alone.sum()) / len(alone)  # what trees that were not seen in fit add, or pairs left out
        return dict(zip(names, (alone + rest).tolist(), strict=True))

    def _by_column(self, which: int, gradient: np.ndarray) -> np.ndarray:
        """The same by the columns of all blocks of a set side by side [Q], as far as can be told."""
        names, basis = self.family.recipe.sets[which], self.family.bases[which]
        x, z = (
            np.concatenate([view.blocks[name] for name in names], axis=1) / np.sqrt(len(names))
            for view in (self.one, self.two)
        )
        left, right = (view.slots(self.family, which) for view in (self.one, self.two))
        if left is not None and right is not None:
            values, slopes = (left @ x - right @ z) / np.sqrt(len(left)), gradient.reshape(len(left), -1)
        else:
            own, other = (view.points(self.family, which) for view in (self.one, self.two))
            found = self.family.embeddings[which].attribute_columns(own, other, gradient)
            if found is None:
                return np.zeros(x.shape[1])
            values, slopes = np.concatenate([x, z]), np.concatenate([found[0], -found[1]])
        return (values * (slopes if basis is None else slopes @ basis.T)).sum(0)

    def plan(self) -> np.ndarray:
        total = np.zeros((self.one.sizes[self.cloud], self.two.sizes[self.cloud]))
        for which, embedding in enumerate(self.family.embeddings):
            left, right = (view.slots(self.family, which) for view in (self.one, self.two))
            if left is None or right is None:
                total += embedding.plan(self.one.points(self.family, which), self.two.points(self.family, which))
            else:
                total += left.T @ right / len(left)
        return total / len(self.family.embeddings)


class WholePair(FamilyPair):
    """Vectors of whole graphs lie on no node: what they add is divided evenly among all."""

    family: WholeFamily

    def apart(self) -> float:
        one, two = (view.described[self.family.name].sets[0][0].astype(float) for view in (self.one, self.two))
        return -float(np.expm1(-np.linalg.norm(one - two) / self.family.scale))

    def parts(self, factor: float, weights: np.ndarray | None) -> list[Parts]:
        adds = np.zeros(1)
        if weights is not None:
            kernels = [self.family.kernel(view.described[self.family.name])[0] for view in (self.one, self.two)]
            adds = (kernels[0] - kernels[1]) @ weights
        adds = adds + np.eye(len(adds))[0] * factor * self.apart()
        n, m = self.one.sizes["nodes"], self.two.sizes["nodes"]
        return [Parts(np.full(n, one / n), np.full(m, one / m), {self.family.name: float(one)}) for one in adds]

    def plan(self) -> np.ndarray:
        n, m = self.one.sizes["nodes"], self.two.sizes["nodes"]
        return np.full((n, m), 1.0 / (n * m))


def _dense(row: Any) -> np.ndarray:
    """A row [1, D] as a vector [D], float64."""
    return np.asarray(row.toarray() if sparse.issparse(row) else row, dtype=np.float64).reshape(-1)


def mean_gradient(
    references: Any, scale: float, first: np.ndarray, second: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """The gradients of Σ_m weights_m exp(−|· − references_m|² / scale), averaged along the line between two vectors.

    Parameters
    ----------
    references : ndarray or csr_array [M, D]
    scale : float
    first, second : ndarray [D]
    weights : ndarray [M, C]

    Returns
    -------
    gradients : ndarray [D, C]
        Products with first − second are the differences of the sums, but for rounding.
    """
    places, norms, gap, kind = _PLACES[:, None], squared_norms(references), first - second, references.dtype
    to_first, to_second = (norms - 2 * (references @ end.astype(kind)) + end @ end for end in (first, second))
    squares = places * to_first + (1 - places) * to_second - places * (1 - places) * (gap @ gap)  # [places, M]
    near = np.exp(-np.maximum(squares, 0.0) / scale)
    sums = near @ weights
    total = references.T @ ((_SHARES @ near)[:, None] * weights).astype(kind)
    return (total - np.outer(second, _SHARES @ sums) - np.outer(gap, _SHARES @ (sums * places))) * (2.0 / scale)


def pair_of(family: Family, one: View, two: View) -> FamilyPair:
    """Two graphs as this family sees them."""
    if isinstance(family, LinearFamily):
        return LinearPair(family, one, two)
    if isinstance(family, MultisetFamily):
        return MultisetPair(family, one, two)
    if isinstance(family, WholeFamily):
        return WholePair(family, one, two)
    assert isinstance(family, VectorFamily)
    return VectorPair(family, one, two)
