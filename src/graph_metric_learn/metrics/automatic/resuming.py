"""What a metric that is to learn more after loading keeps in files: ``save(resumable=True)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta

from ..._core.schema import Count, FieldError, NonNegative, Saved, array, check_choice, dims_of, within
from ...linalg.landmark_ridge import FoldSums, Whitening
from ...objectives.scoring import SCORERS, Scorer
from ...transport.devices import resolve_device
from .exact import Setting
from .families import Counts, Points
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
    known: Annotated[np.ndarray, array("N T", "u")] | None = None

    @classmethod
    def of(cls, target: np.ndarray) -> TargetState:
        """Of encoded targets [N] or [N, T]."""
        if target.ndim == 1:
            return cls(target.astype(np.int64))
        known = np.isfinite(target)
        return cls(None, np.where(known, target, 0.0), known.astype(np.uint8))

    def target(self) -> np.ndarray:
        """What `of` was given."""
        if self.codes is not None:
            return self.codes
        if self.values is None or self.known is None:
            raise FieldError("values", "is missing")
        return np.where(self.known > 0, self.values, np.nan)


class CountsState(Saved, tag="counts", tag_field="kind"):
    """Multisets."""

    graph: Annotated[np.ndarray, array("E", "i", least=0)]
    name: Annotated[np.ndarray, array("E", "u")]
    count: Annotated[np.ndarray, array("E", least=0.0)]
    level: Annotated[np.ndarray, array("E", "i", least=0)]
    n_graphs: Count


class PointsState(Saved, tag="points", tag_field="kind"):
    """Vectors of one set of blocks after the other, side by side."""

    vectors: Annotated[np.ndarray, array("N D")]
    widths: Annotated[list[Count], Meta(min_length=1)]


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
    fold: Annotated[np.ndarray, array("N", "i", least=0)] | None = None
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
    dense = [rows.toarray() if hasattr(rows, "toarray") else rows for rows in described.sets]
    return PointsState(np.concatenate(dense, axis=1), [rows.shape[1] for rows in dense])


def _restored(saved: CountsState | PointsState) -> Counts | Points:
    if isinstance(saved, CountsState):
        if (np.diff(saved.graph) < 0).any() or saved.graph.max(initial=0) >= saved.n_graphs:
            raise FieldError("graph", "must ascend, below the number of graphs")
        return Counts(saved.graph, saved.name, saved.count, saved.level, saved.n_graphs)
    if sum(saved.widths) != saved.vectors.shape[1]:
        raise FieldError("widths", f"add up to {sum(saved.widths)}, but there are {saved.vectors.shape[1]} columns")
    return Points(np.split(saved.vectors, np.cumsum(saved.widths)[:-1], axis=1))


def resumed(metric: GraphMetric, saved: ResumeState) -> Resume:
    """What `resume_state` came from, for a metric that was restored; or a :class:`FieldError`."""
    check_choice("scorer", saved.scorer, ["", *SCORERS])
    target, objective = saved.target.target(), metric.objective_
    dims_of(saved, m=len(metric.coordinates_.centre))
    if len(target) != len(saved.names):
        raise FieldError("target", f"has {len(target)} entries for {len(saved.names)} landmarks")
    training = Training(objective, Scorer(objective, saved.scorer), target, saved.groups, tuple(saved.powers))
    mixture = metric.mixture_
    kernel = Kernel(mixture, mixture.landmarks(), mixture.kernel())
    resume = Resume(kernel, training, saved.names, saved.known, saved.setting, None, saved.n_graphs)
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
        columns = {name: getattr(saved, name) for name in ("order", "name", "side", "fold", "index")}
        if any(column is None for column in columns.values()) or saved.target is None:
            raise FieldError("described", "stands without what belongs to it")
        described: Described = {}
        for name, one in saved.described.items():
            with within(f"described.{name}"):
                described[check_choice("", name, resume.kernel.mixture.weights)] = _restored(one)
        columns["target"] = saved.target.target()
        if {len(one) for one in [*described.values(), *columns.values()]} != {len(columns["order"])}:
            raise FieldError("described", "are not as many graphs as there are entries")
        judged.parts.append({"described": described, **columns})
    whitening = Whitening.fit(resume.kernel.among, device)
    return Pass(resume.kernel.mixture, whitening, FoldSums.of(arrays, device), judged, resume.known)
