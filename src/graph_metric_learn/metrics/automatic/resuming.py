"""What a metric that is to learn more after loading keeps in files: ``save(resumable=True)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta
from scipy.sparse import issparse

from ..._core.schema import MANY, Count, FieldError, NonNegative, Rows, Saved, array, check_choice, dims_of, within
from ...linalg.landmark_ridge import FoldSums, Whitening
from ...objectives import Classes, Objective, SeveralLabels
from ...objectives.scoring import SCORERS, Scorer, scorer_for
from ...transport.devices import resolve_device
from .exact import PENALTIES, Setting
from .families import Counts, Family, MultisetFamily, Points
from .fitting import Kernel, Resume, n_sides
from .landmarks import JUDGED, Judged, Pass
from .mixture import Described
from .training import N_FOLDS, Training

if TYPE_CHECKING:
    from .estimator import GraphMetric


class TargetState(Saved):
    """Encoded targets: whole numbers, or a table with gaps."""

    codes: Annotated[np.ndarray, array("N", "i", least=0)] | None = None
    values: Annotated[np.ndarray, array("N T")] | None = None
    known: Annotated[np.ndarray, array("N T", "u", most=1)] | None = None

    @classmethod
    def of(cls, target: np.ndarray) -> TargetState:
        """Of encoded targets [N] or [N, T]."""
        if target.ndim == 1:
            return cls(target.astype(np.int64))
        known = np.isfinite(target)
        return cls(None, np.where(known, target, 0.0), known.astype(np.uint8))

    def target(self, objective: Objective) -> np.ndarray:
        """What `of` was given, encoded by this objective."""
        if isinstance(objective, Classes):
            if self.codes is None or self.codes.max(initial=0) >= len(objective.classes_):
                raise FieldError("codes", f"must be numbers of the {len(objective.classes_)} classes")
            return self.codes.astype(np.int64)
        if self.values is None or self.known is None:
            raise FieldError("values", "is missing")
        dims_of(self, T=objective.n_outputs())
        if isinstance(objective, SeveralLabels) and not np.isin(self.values, (0, 1)).all():
            raise FieldError("values", "of labels must be 0 or 1")
        return np.where(self.known > 0, self.values, np.nan)


class CountsState(Saved, tag="counts", tag_field="kind"):
    """Multisets."""

    graph: Annotated[np.ndarray, array("E", "i", least=0)]
    name: Annotated[np.ndarray, array("E", "u")]
    count: Annotated[np.ndarray, array("E", least=1.0, most=MANY)]
    level: Annotated[np.ndarray, array("E", "i", least=0)]
    n_graphs: Count

    def counts(self, family: Family) -> Counts:
        """What a family described so."""
        n_levels = len(family.recipe.names)
        if self.level.max(initial=0) >= n_levels:
            raise FieldError("level", f"holds {self.level.max()}, but there are {n_levels} levels")
        if (np.diff(self.graph) < 0).any() or self.graph.max(initial=0) >= self.n_graphs:
            raise FieldError("graph", "must ascend, below the number of graphs")
        whole = self.graph.astype(np.int64), self.level.astype(np.int64)
        return Counts(whole[0], self.name.astype(np.uint64), self.count.astype(np.float32), whole[1], self.n_graphs)


class PointsSet(Saved):
    """Vectors by one set of blocks."""

    vectors: Annotated[Rows, array("N D")]


class PointsState(Saved, tag="points", tag_field="kind"):
    """Vectors."""

    sets: Annotated[list[PointsSet], Meta(min_length=1)]

    def points(self, family: Family) -> Points:
        """What a family described so."""
        own = family.references().sets
        if [(issparse(one), one.shape[1]) for one in own] != [
            (issparse(one.vectors), one.vectors.shape[1]) for one in self.sets
        ]:
            raise FieldError("sets", "are not such as those of the landmarks")
        if len({one.vectors.shape[0] for one in self.sets}) > 1:
            raise FieldError("sets", "differ in how many graphs they describe")
        return Points([one.vectors for one in self.sets])


class SumsState(Saved):
    """Sums over graphs by side and fold, and the graphs that are judged."""

    squares: Annotated[np.ndarray, array("s f m m")]
    products: Annotated[np.ndarray, array("s f m T")]
    features: Annotated[np.ndarray, array("s f m")]
    targets: Annotated[np.ndarray, array("s f T")]
    counts: Annotated[np.ndarray, array("s f", least=0.0)]
    described: dict[str, CountsState | PointsState] | None = None
    order: Annotated[np.ndarray, array("N", "u")] | None = None
    name: Annotated[np.ndarray, array("N", "u")] | None = None
    side: Annotated[np.ndarray, array("N", "i", least=0)] | None = None
    fold: Annotated[np.ndarray, array("N", "i", least=0, most=N_FOLDS - 1)] | None = None
    index: Annotated[np.ndarray, array("N", "i", least=0)] | None = None
    target: TargetState | None = None


class ResumeState(Saved):
    """What files hold of a :class:`Resume`."""

    target: TargetState
    groups: Annotated[np.ndarray, array("m", "i", least=0)]
    names: Annotated[np.ndarray, array("m", "u")]
    known: Annotated[np.ndarray, array("k", "u")]
    setting: Setting
    scorer: str
    powers: Annotated[list[NonNegative], Meta(min_length=1, max_length=8)]
    n_graphs: Count
    sums: SumsState | None = None


def resume_state(metric: GraphMetric) -> ResumeState:
    """Of a fitted metric, or a `ValueError` where it cannot go on."""
    resume = metric._resume
    if resume is None:
        raise ValueError("resumable=True is for metrics that were fitted here, with targets and learn=True")
    passed, training = resume.passed, resume.training
    sums = None
    if passed is not None:
        if not isinstance(passed.sums, FoldSums):
            raise ValueError(
                "with several labels and gaps, features of all graphs would have to be kept: fit anew instead"
            )
        judged: dict[str, Any] = {}
        if passed.judged.parts:
            kept = dict(passed.judged.settle())
            described, target = kept.pop("described"), kept.pop("target")
            judged = {**kept, "target": TargetState.of(target)}
            judged["described"] = {name: _saved(one) for name, one in described.items()}
        sums = SumsState(**passed.sums.arrays(), **judged)  # type: ignore[arg-type]
    groups = np.unique(training.groups, return_inverse=True)[1].reshape(-1)
    return ResumeState(
        TargetState.of(training.target), groups, resume.names, resume.known, resume.setting, training.scorer.name,
        list(training.powers), resume.n_graphs, sums,
    )  # fmt: skip


def _saved(described: Counts | Points) -> CountsState | PointsState:
    if isinstance(described, Counts):
        return CountsState(described.graph, described.name, described.count, described.level, len(described))
    return PointsState([PointsSet(rows) for rows in described.sets])


def _restored(saved: CountsState | PointsState, family: Family) -> Counts | Points:
    if isinstance(saved, CountsState) != isinstance(family, MultisetFamily):
        raise FieldError("", f"does not go with {family.recipe.embedding!r}")
    return saved.counts(family) if isinstance(saved, CountsState) else saved.points(family)


def resumed(metric: GraphMetric, saved: ResumeState) -> Resume:
    """What `resume_state` came from, for a metric that was restored; or a :class:`FieldError`."""
    check_choice("scorer", saved.scorer, ["", *SCORERS[1:]])
    if saved.setting.penalty not in PENALTIES:
        raise FieldError("setting.penalty", f"must be one of {PENALTIES}, got {saved.setting.penalty}")
    objective = metric.objective_
    dims_of(saved, m=len(metric.coordinates_.centre))
    with within("target"):
        target = saved.target.target(objective)
    if len(target) != len(saved.names):
        raise FieldError("target", f"has {len(target)} entries for {len(saved.names)} landmarks")
    scorer = scorer_for(saved.scorer, objective, target) if saved.scorer else Scorer(objective)
    training = Training(objective, scorer, target, saved.groups, tuple(saved.powers))
    mixture = metric.mixture_
    kernel = Kernel(mixture, mixture.landmarks(), mixture.kernel())
    names, known = saved.names.astype(np.uint64), saved.known.astype(np.uint64)
    resume = Resume(kernel, training, names, known, saved.setting, None, saved.n_graphs)
    if saved.sums is not None:
        with within("sums"):
            resume.passed = _restored_pass(metric, resume, saved.sums)
    return resume


def _restored_pass(metric: GraphMetric, resume: Resume, saved: SumsState) -> Pass:
    import torch

    device = resolve_device(metric.device, auto="cuda" if torch.cuda.is_available() else "cpu")
    sides, outputs = n_sides(resume.training), resume.training.outputs.shape[1]
    dims_of(saved, s=sides, f=N_FOLDS + 1, m=len(resume.names), T=outputs)
    arrays = {name: getattr(saved, name) for name in ("squares", "products", "features", "targets", "counts")}
    judged = Judged([JUDGED // sides] * sides)
    if saved.described is not None:
        judged.parts.append(_restored_judged(metric, saved, sides))
    whitening = Whitening.fit(resume.kernel.among, device)
    return Pass(resume.kernel.mixture, whitening, FoldSums.of(arrays, device), judged, resume.known)


def _restored_judged(metric: GraphMetric, saved: SumsState, sides: int) -> dict[str, Any]:
    """The graphs that are judged, as :class:`Judged` keeps them."""
    assert saved.described is not None
    columns: dict[str, Any] = {name: getattr(saved, name) for name in ("order", "name", "side", "fold", "index")}
    if any(column is None for column in columns.values()) or saved.target is None:
        raise FieldError("described", "stands without what belongs to it")
    if columns["side"].max(initial=0) >= sides:
        raise FieldError("side", f"holds {columns['side'].max()}, but there are {sides} sides")
    kinds = {name: np.uint64 if name in ("order", "name") else np.int64 for name in columns}
    columns = {name: column.astype(kinds[name]) for name, column in columns.items()}
    families = metric.mixture_.describer.families
    described: Described = {}
    for name, family in families.items():
        if name not in saved.described:
            raise FieldError(f"described.{name}", "is missing")
        with within(f"described.{name}"):
            described[name] = _restored(saved.described[name], family)
    with within("target"):
        columns["target"] = saved.target.target(metric.objective_)
    if {len(one) for one in [*described.values(), *columns.values()]} != {len(columns["order"])}:
        raise FieldError("described", "are not as many graphs as there are entries")
    return {"described": described, **columns}
