"""A fitted GraphMetric as JSON and arrays, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta
from msgspec.structs import asdict

from ..._core.schema import (
    Count,
    FieldError,
    NonNegative,
    Saved,
    check_choice,
    dims_of,
    join,
    read,
    split,
    within,
)
from ...embeddings import EMBEDDINGS
from ...features.blocks import BLOCKS, BlocksState, NodeBlocks, parse_name
from ...features.edge_reading import EdgeReading
from ...graphs import Columns, Graphs
from ...objectives import OBJECTIVES, resolve_objective
from ..base import CommonParams
from .compaction import Projection
from .estimate import Estimate
from .learning import Learned, LearnedState
from .selection import Choice
from .terms import Term, TermState
from .width import Width

if TYPE_CHECKING:
    from .estimator import GraphMetric


class Params(CommonParams, kw_only=True):
    """Options of a GraphMetric."""

    features: Literal["auto"] | Annotated[list[str], Meta(min_length=1)]
    embedding: str
    n_steps: Count
    learn: bool
    n_graphs: Annotated[int, Meta(ge=4, le=10**9)]
    task: str
    n_components: Literal["auto"] | Count | None = None
    estimate: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("embedding", self.embedding, ["auto", *EMBEDDINGS])
        check_choice("task", self.task, ["auto", *OBJECTIVES])
        for name in [] if isinstance(self.features, str) else self.features:
            parse_name(name, "features")


class MetricState(Saved, kw_only=True):
    """What files hold of a GraphMetric."""

    params: Params
    task: str
    objective: Any
    label_columns: list[bool]
    labelled: bool
    edge_reading: EdgeReading
    columns: Columns
    blocks: BlocksState
    terms: Annotated[list[TermState], Meta(min_length=1)]  # of the distance, then those of the regression alone
    n_terms: Count  # of the distance
    compaction: Projection | None = None
    learned: LearnedState | None = None
    choice: Choice
    width: Width | None = None
    estimate: Estimate | None = None
    seconds: NonNegative

    def __post_init__(self) -> None:
        check_choice("task", self.task, ["auto", *OBJECTIVES])
        if self.n_terms > len(self.terms):
            raise FieldError("n_terms", f"is {self.n_terms}, but there are {len(self.terms)} terms")


def fitted_state(metric: GraphMetric) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON can hold, and arrays."""
    params = {**metric.get_params(deep=False), "random_state": metric.seed_}
    params["features"] = metric.features if isinstance(metric.features, str) else list(metric.features)
    return split(
        {
            "params": params,
            "task": metric.task_,
            "objective": metric.objective_.state(),
            "label_columns": metric.label_columns_.tolist(),
            "labelled": metric.labelled_,
            "edge_reading": metric.edge_reading_,
            "columns": metric.columns_,
            "blocks": metric.blocks_.saved(),
            "terms": [term.state() for term in metric.used_terms().values()],
            "n_terms": len(metric.terms_),
            "compaction": metric.compaction_,
            "learned": None if metric.learned_ is None else metric.learned_.state(),
            "choice": metric.choice_,
            "width": metric.width_,
            "estimate": metric.estimate_,
            "seconds": metric.seconds_,
        }
    )


def restored(home: type[GraphMetric], config: Any, tensors: dict[str, np.ndarray]) -> GraphMetric:
    """The metric that `fitted_state` came from, or a :class:`FieldError`."""
    saved = read(MetricState, join(config, tensors))
    metric = home(**asdict(saved.params))
    metric.seed_ = saved.params.random_state
    metric.objective_ = resolve_objective(saved.task)
    metric.objective_.set_state(saved.objective)
    metric.label_columns_, metric.labelled_ = np.array(saved.label_columns, dtype=bool), saved.labelled
    metric.edge_reading_, metric.directed_ = saved.edge_reading, saved.edge_reading.directed
    metric.columns_ = saved.columns
    with within("blocks"):
        metric.blocks_ = NodeBlocks.of(saved.blocks)
    _check_edges_are_read(metric)
    _restore_terms(metric, saved)
    metric.width_, metric.estimate_, metric.choice_ = saved.width, saved.estimate, saved.choice
    metric.seconds_ = saved.seconds
    return metric


def _restore_terms(metric: GraphMetric, saved: MetricState) -> None:
    """Terms of the distance, what comes after them, and the regression."""
    terms = []
    for i, one in enumerate(saved.terms):
        with within(f"terms.{i}"):
            terms.append(Term.from_state(one, metric.blocks_))
    by_key = {term.key: term for term in terms}
    if len(by_key) != len(terms):
        raise FieldError("terms", "has two of the same kind and title")
    metric.terms_, metric.compaction_, metric.learned_ = terms[: saved.n_terms], saved.compaction, None
    if saved.compaction is not None:
        with within("compaction"):
            dims_of(saved.compaction, D=_total(term.width for term in metric.terms_))
    if saved.learned is not None:
        with within("learned"):
            metric.learned_ = Learned.from_state(saved.learned, by_key, metric.objective_.n_outputs())


def _check_edges_are_read(metric: GraphMetric) -> None:
    """A :class:`FieldError` where blocks need what edges carry, and nothing of it is read."""
    bare = Graphs(np.ones(1, dtype=np.int64), np.zeros((2, 0), dtype=np.int64))
    for name in metric.blocks_.names_:
        kind = BLOCKS[parse_name(name).kind]
        if kind.needs_edges and kind.lacks(bare) is not None and not metric.edge_reading_.carries:
            raise FieldError("edge_reading", f"reads nothing that edges carry, but block {name!r} needs it")


def embedded_width(metric: GraphMetric) -> int | None:
    """Coordinates of the vectors of a metric that was restored; None if unknown."""
    scores = 0 if metric.learned_ is None else metric.learned_.width
    rest = _total(term.width for term in metric.terms_) if metric.compaction_ is None else metric.compaction_.width
    return None if rest is None else rest + scores


def _total(widths: Iterable[int | None]) -> int | None:
    """The sum; None where one is unknown."""
    known = list(widths)
    return None if None in known else sum(one for one in known if one is not None)
