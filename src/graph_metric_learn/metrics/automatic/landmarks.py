"""Regression where graphs are more than landmarks: one pass over all of them, by sums over folds.

Weights of families are chosen by landmarks, which are known in every fold and never judged. All other graphs are judged
by regressions without their fold: a sample of them that is kept along the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..._core.hashing import ODD, mix
from ..._core.parallel import in_parallel, is_parallel
from ...features.copies import graph_hashes
from ...features.tree_hashes import hashed_rows
from ...graphs import Graphs
from ...linalg.landmark_ridge import FoldSums, KeptFeatures, Whitening
from .exact import PENALTIES, Fold, Regression, Setting, loss, walk
from .mixture import Described, Mixture, part_of, stacked
from .training import N_FOLDS, Training

PART = 20_000  # graphs that a worker sums over at once: sums are large, and are sent back
JUDGED = 3000  # graphs that are kept to be judged, at most
_ALWAYS = N_FOLDS  # the fold of graphs that are known in every fold
_SALT = 0x5DEECE66D  # so that who is judged does not depend on the fold


class Chunk(NamedTuple):
    """Some of the training graphs, read as fitted."""

    graphs: Graphs
    outputs: np.ndarray  # what the regression is fitted to [N, T]
    target: np.ndarray  # encoded [N, …]
    groups: np.ndarray | None  # hashes of the groups that the user named [N], uint64
    indices: np.ndarray  # of the graphs among all [N]


@dataclass
class Judged:
    """A sample of the graphs that are no landmarks, those with the least hashes: whatever order they come in.

    Attributes
    ----------
    most : int
        How many of each side are kept.
    """

    most: list[int]
    parts: list[dict[str, Any]] = field(default_factory=list)

    def add(self, described: Described, columns: dict[str, np.ndarray]) -> None:
        """Graphs with these descriptions; columns [N] by name, among them their "order" and "side"."""
        self.parts.append({"described": described, **columns})
        if sum(len(part["order"]) for part in self.parts) > 2 * sum(self.most):
            self.settle()

    def settle(self) -> dict[str, Any]:
        """Keeps those with the least hashes, and returns them."""
        names = [name for name in self.parts[0] if name != "described"]
        columns = {name: np.concatenate([part[name] for part in self.parts]) for name in names}
        order = np.argsort(columns["order"], kind="stable")
        kept = np.concatenate([order[columns["side"][order] == side][:most] for side, most in enumerate(self.most)])
        kept = kept[np.argsort(columns["index"][kept], kind="stable")]
        described = part_of(stacked([part["described"] for part in self.parts]), kept)
        self.parts = [{"described": described, **{name: column[kept] for name, column in columns.items()}}]
        return self.parts[0]


@dataclass
class Pass:
    """One pass over the graphs: sums by fold, and a sample to be judged.

    Attributes
    ----------
    mixture : Mixture
    whitening : Whitening
    sums : FoldSums
    judged : Judged
    known : ndarray, uint64
        Hashes of landmarks, or of their groups: graphs with these are never judged.
    """

    mixture: Mixture
    whitening: Whitening
    sums: FoldSums | KeptFeatures
    judged: Judged
    known: np.ndarray

    def add(self, chunk: Chunk, sides: np.ndarray) -> None:
        """Some more graphs, each of a side [N]."""
        described = self.mixture.describer.describe(chunk.graphs)
        names = graph_hashes(chunk.graphs) if chunk.groups is None else chunk.groups
        folds = np.where(np.isin(names, self.known), _ALWAYS, fold_of(names))
        features = self.whitening.features(self.mixture.kernel(described))
        self.sums.add(features, chunk.outputs, folds, sides)
        rows = np.flatnonzero(folds != _ALWAYS)
        columns = {
            "order": _order(names[rows], chunk.indices[rows]), "side": sides[rows], "fold": folds[rows],
            "index": chunk.indices[rows], "target": chunk.target[rows], "name": names[rows],
        }  # fmt: skip
        self.judged.add(part_of(described, rows), columns)


def fold_of(names: np.ndarray) -> np.ndarray:
    """The fold [N] that graphs with these hashes, of themselves or of their groups, are held out in."""
    return (names % np.uint64(N_FOLDS)).astype(np.int64)


def _order(names: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """By what the judged are drawn [N], uint64."""
    with np.errstate(over="ignore"):
        return mix(mix(names ^ np.uint64(_SALT)) + indices.astype(np.uint64) * ODD)


def group_names(groups: Any) -> np.ndarray:
    """Hashes of groups [N], uint64, whatever other groups there are."""
    return mix(hashed_rows(np.asarray(groups).reshape(-1, 1)))


def sides_of(training: Training, target: np.ndarray) -> np.ndarray:
    """1 for graphs of the rarer of two classes where these may count more, else 0 [N]."""
    if max(training.powers) == 0 or target.ndim != 1:
        return np.zeros(len(target), dtype=np.int64)
    counts = np.bincount(training.target, minlength=2)
    return (target == counts.argmin()).astype(np.int64) if len(counts) == 2 else np.zeros(len(target), dtype=np.int64)


def judged_folds(passed: Pass, training: Training) -> tuple[Training, dict[str, Any], list[np.ndarray]]:
    """The graphs that are judged: their targets, what was kept of them, and those of each fold."""
    kept = passed.judged.settle()
    judged = Training(training.objective, training.scorer, kept["target"], kept["name"], training.powers)
    return judged, kept, [np.flatnonzero(kept["fold"] == fold) for fold in range(N_FOLDS)]


def regression_of(
    passed: Pass, setting: Setting, judged: Training, kept: dict[str, Any], tests: Sequence[np.ndarray]
) -> tuple[Regression, np.ndarray]:
    """The regression on all graphs, its penalty and weights of graphs chosen by the judged.

    In its folds, graphs are the judged ones, whose kernels to the landmarks [N, m] are returned, too.
    """
    to_landmarks = passed.mixture.kernel(kept["described"])
    features = passed.whitening.features(to_landmarks)
    fits: dict[tuple[float, float], list[np.ndarray]] = {}
    losses: dict[tuple[float, float], float] = {}

    def look(penalty: float, power: float) -> float:
        key = penalty, power
        if key not in losses:
            fits[key] = []
            for fold in range(N_FOLDS):
                beta, mean = passed.sums.solve(penalty, power, without=fold)
                fits[key].append((features.double() @ beta + mean).cpu().numpy())
            losses[key] = loss(judged, tests, [s[t] for s, t in zip(fits[key], tests, strict=True)])
            best = min(losses, key=lambda one: losses[one])
            for other in [one for one in fits if one != best]:
                del fits[other]
        return losses[key]

    start = PENALTIES.index(setting.penalty)
    at = walk(lambda at: look(PENALTIES[at], setting.power), start, len(PENALTIES))
    for other in judged.powers:
        look(PENALTIES[at], other)
    penalty, power = best = min(losses, key=lambda one: losses[one])
    beta, mean = passed.sums.solve(penalty, power)
    among = Mixture.of(passed.mixture.describer, passed.mixture.weights, kept["described"]).kernel()

    def folds() -> Iterator[Fold]:
        for test, scores in zip(tests, fits[best], strict=True):
            if len(test):
                yield Fold(np.setdiff1d(np.arange(len(judged)), test), test, scores, among)

    alpha, centre = passed.whitening.to_landmarks(beta), mean.cpu().numpy()
    return Regression(Setting(setting.share, penalty, power), alpha, centre, [folds]), to_landmarks


def run(passed: Pass, chunks: Iterable[Chunk], training: Training) -> int:
    """The pass itself; how many graphs came along.

    Here, or by joblib's workers (`in_parallel`), each of which sums over some chunks.
    """
    if not is_parallel() or isinstance(passed.sums, KeptFeatures):
        total = 0
        for chunk in chunks:
            passed.add(chunk, sides_of(training, chunk.target))
            total += len(chunk.graphs)
        return total
    empty = replace(passed, sums=passed.sums.like("cpu"), whitening=passed.whitening.to("cpu"), judged=Judged([]))
    counts: list[int] = []

    def parts() -> Iterator[list[Chunk]]:
        left = iter(chunks)
        while part := _of_size(left, PART):
            counts.append(sum(len(chunk.graphs) for chunk in part))
            yield part

    for arrays, judged in in_parallel(_summed, parts(), (empty, training, passed.judged.most)):
        passed.sums.merge(FoldSums.of(arrays, "cpu"))
        if judged is not None:
            passed.judged.parts.append(judged)
            passed.judged.settle()
    return sum(counts)


def _of_size(chunks: Iterator[Chunk], graphs: int) -> list[Chunk]:
    """The next chunks, of about so many graphs together."""
    part: list[Chunk] = []
    for chunk in chunks:
        part.append(chunk)
        if sum(len(one.graphs) for one in part) >= graphs:
            break
    return part


def _summed(shared: tuple[Pass, Training, list[int]], chunks: list[Chunk]) -> tuple[dict[str, np.ndarray], Any]:
    """Sums over some chunks, as arrays, and those of their graphs that are kept to be judged."""
    empty, training, most = shared
    assert isinstance(empty.sums, FoldSums)
    part = replace(empty, sums=empty.sums.like("cpu"), judged=Judged(most))
    for chunk in chunks:
        part.add(chunk, sides_of(training, chunk.target))
    assert isinstance(part.sums, FoldSums)
    return part.sums.arrays(), part.judged.settle() if part.judged.parts else None
