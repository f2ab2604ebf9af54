"""A fitted GraphMetric as JSON and arrays, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.fields import (
    Arrays,
    FieldError,
    anything,
    choice,
    either,
    flag,
    list_of,
    mapping_of,
    number,
    optional,
    record,
    text,
    whole,
    within,
)
from ...embeddings import EMBEDDINGS
from ...features.blocks import BLOCKS, NodeBlocks, parse_name
from ...features.edge_reading import EdgeReading
from ...graphs import Columns, Graphs
from ...objectives import OBJECTIVES, resolve_objective
from .compaction import Projection
from .estimate import Estimate
from .learning import Learned
from .low_rank import LowRankMap
from .selection import Choice
from .terms import Term
from .width import Width

if TYPE_CHECKING:
    from .estimator import GraphMetric

_MANY = 10**9
_PARAMS = {
    "features": either(choice(["auto"]), list_of(text, 1)), "embedding": text, "n_steps": whole(1, _MANY),
    "learn": flag, "n_graphs": whole(4, _MANY), "random_state": optional(whole(0, 2**128)), "attribute": text,
    "label": optional(text), "progress": optional(flag), "task": text, "edge_attribute": optional(text),
    "edge_label": optional(text), "edge_weight": optional(text), "edges": choice(["auto", False]),
    "directed": choice(["auto", True, False]), "n_components": optional(either(choice(["auto"]), whole(1, _MANY))),
    "estimate": flag,
}  # fmt: skip
_CHOICE = {
    "weights": mapping_of(number()), "score": number(), "accuracy": number(), "n_neighbors": whole(1, _MANY),
    "trail": list_of(list_of(either(text, number()), 2, 2)), "scores": mapping_of(number()),
}  # fmt: skip
_ESTIMATE = {
    "score": number(), "error": number(0), "guess": number(), "guess_name": text, "balanced": optional(number()),
}  # fmt: skip
_BALANCED = {"balanced_error": optional(number(0)), "balanced_guess": optional(number())}  # not of earlier versions
_WIDTH = {"kept": whole(0, _MANY), "full": whole(0, _MANY), "score": number(), "full_score": number()}
_STATE = record(
    {
        "params": record({}, _PARAMS), "blocks": anything, "terms": list_of(anything, 1),
        "label_columns": list_of(flag), "labelled": flag, "choice": record(_CHOICE), "seconds": number(0),
    },
    {
        "objective": anything, "task": text, "edge_reading": anything, "columns": anything, "n_terms": whole(1, _MANY),
        "learned": anything, "estimate": record(_ESTIMATE, _BALANCED), "width": record(_WIDTH),
        "classes": anything, "history": anything,  # of earlier versions
    },
)  # fmt: skip


def fitted_state(metric: GraphMetric) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What JSON can hold, and arrays."""
    params = {**metric.get_params(deep=False), "random_state": metric.seed_}
    params["features"] = metric.features if isinstance(metric.features, str) else list(metric.features)
    blocks, centres = metric.blocks_.state()
    tensors = {f"blocks.{name}": value for name, value in centres.items()}
    terms = []
    for i, term in enumerate(metric.used_terms().values()):
        state, arrays = term.state()
        terms.append(state)
        tensors |= {f"term{i}.{name}": value for name, value in arrays.items()}
    config = {
        "params": params, "blocks": blocks, "terms": terms, "objective": metric.objective_.state(),
        "label_columns": metric.label_columns_.tolist(), "labelled": metric.labelled_,
        "edge_reading": metric.edge_reading_.state(), "columns": metric.columns_.state(),
        "choice": vars(metric.choice_), "task": metric.task_, "seconds": metric.seconds_,
        "n_terms": len(metric.terms_),  # the others are those of the regression alone
    }  # fmt: skip
    if metric.low_rank_ is not None:
        tensors |= {f"update.{name}": value for name, value in vars(metric.low_rank_).items()}
    if metric.compaction_ is not None:
        tensors |= {f"compaction.{name}": value for name, value in metric.compaction_.arrays().items()}
    if metric.learned_ is not None:
        config["learned"], arrays = metric.learned_.state()
        tensors |= {f"learned.{name}": value for name, value in arrays.items()}
    if metric.width_ is not None:
        config["width"] = vars(metric.width_)
    if metric.estimate_ is not None:
        config["estimate"] = vars(metric.estimate_)
    return config, tensors


def restored(home: type[GraphMetric], config: Any, tensors: dict[str, np.ndarray]) -> GraphMetric:
    """The metric that `fitted_state` came from, or a :class:`FieldError`."""
    config = _STATE(config, "config")
    metric = home(**_checked_params(config["params"]))
    restore_state(metric, config, tensors)
    return metric


def _checked_params(found: dict[str, Any]) -> dict[str, Any]:
    """Options whose names are in registries, or a `ValueError`."""
    choice(["auto", *EMBEDDINGS])(found.get("embedding", "auto"), "params.embedding")
    choice(["auto", *OBJECTIVES])(found.get("task", "auto"), "params.task")
    if isinstance(found.get("features"), list):
        for name in found["features"]:
            parse_name(name, "params.features")
    return found


def restore_state(metric: GraphMetric, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    """Makes an unfitted metric the one that `fitted_state` came from, or raises a :class:`FieldError`."""
    held = Arrays(tensors)
    metric.seed_ = config["params"].get("random_state")
    _restore_reading(metric, config)
    metric.blocks_ = NodeBlocks.from_state(config["blocks"], held.part("blocks.").rest())
    _check_edges_are_read(metric)
    terms = []
    for i, one in enumerate(config["terms"]):
        with within(f"terms.{i}"):
            terms.append(Term.from_state(one, held.part(f"term{i}."), metric.blocks_))
    metric.terms_ = terms[: whole(1, len(terms))(config.get("n_terms", len(terms)), "n_terms")]
    by_key = {term.key: term for term in terms}
    if len(by_key) != len(terms):
        raise FieldError("terms", "has two of the same kind and title")
    width = _total(term.width for term in metric.terms_)
    metric.low_rank_ = _low_rank(held.part("update."), width)
    with within("compaction"):
        metric.compaction_ = Projection.from_arrays(held.part("compaction.").rest(), width)
    metric.learned_ = None
    if "learned" in config:
        learned = held.part("learned.")
        with within("learned"):
            metric.learned_ = Learned.from_state(config["learned"], learned, by_key, metric.objective_.n_outputs())
    held.done()
    metric.width_ = Width(**config["width"]) if "width" in config else None
    metric.estimate_ = Estimate(**config["estimate"]) if "estimate" in config else None
    metric.choice_ = Choice(**config["choice"])
    metric.choice_.trail = [(name, score) for name, score in metric.choice_.trail]
    metric.seconds_ = config["seconds"]


def embedded_width(metric: GraphMetric) -> int | None:
    """Coordinates of the vectors of a metric that was restored; None if unknown."""
    scores = 0 if metric.learned_ is None else metric.learned_.width
    rest = _total(term.width for term in metric.terms_) if metric.compaction_ is None else metric.compaction_.width
    return None if rest is None else rest + scores


def _restore_reading(metric: GraphMetric, config: dict[str, Any]) -> None:
    """What the metric is for, and how graphs are read."""
    task = choice(["auto", *OBJECTIVES])(config.get("task", metric.task), "task")
    metric.objective_ = resolve_objective(task)
    metric.objective_.set_state(config.get("objective", config.get("classes")))  # "classes": the older name
    metric.label_columns_ = np.array(config["label_columns"], dtype=bool)
    metric.labelled_ = config["labelled"]
    metric.edge_reading_ = EdgeReading.from_state(config.get("edge_reading", EdgeReading().state()))
    metric.directed_ = metric.edge_reading_.directed
    metric.columns_ = Columns.from_state(config.get("columns"))


def _check_edges_are_read(metric: GraphMetric) -> None:
    """A :class:`FieldError` where blocks need what edges carry, and nothing of it is read."""
    bare = Graphs(np.ones(1, dtype=np.int64), np.zeros((2, 0), dtype=np.int64))
    for name in metric.blocks_.names_:
        kind = BLOCKS[parse_name(name).kind]
        if kind.needs_edges and kind.lacks(bare) is not None and not metric.edge_reading_.carries:
            raise FieldError("edge_reading", f"reads nothing that edges carry, but block {name!r} needs it")


def _low_rank(held: Arrays, width: int | None) -> LowRankMap | None:
    """The map of models of earlier versions, of vectors of so many coordinates."""
    if not len(held):
        return None
    with within("update"):
        directions = held.take("directions", (width, None))
        found = LowRankMap(directions, held.take("step", (directions.shape[1], directions.shape[1])))
        held.done()
    return found


def _total(widths: Iterable[int | None]) -> int | None:
    """The sum; None where one is unknown."""
    known = list(widths)
    return None if None in known else sum(one for one in known if one is not None)
