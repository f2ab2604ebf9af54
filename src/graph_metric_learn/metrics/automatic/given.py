"""What is given to `fit`, read and checked: landmarks first, and the rest of the training graphs chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.progress import progress_bar
from ..._core.validation import as_listed
from ...features.copies import copy_groups
from ...features.edge_reading import EdgeReading
from ...features.onehot import code_columns
from ...graphs import Columns, Graphs
from ...graphs.gaps import NodeMeans
from ...graphs.stream import beside, is_stream
from ...objectives import Objective, objective_for
from ...objectives.folds import check_groups, held_together
from ...objectives.scoring import scorer_for
from .landmarks import Chunk, group_names
from .recipes import Carried, Recipe, recipes_for, recipes_of_blocks
from .training import Training

if TYPE_CHECKING:
    from .estimator import GraphMetric

LANDMARKS = 5000  # with n_landmarks="auto", at most
_CHUNK = 2000  # graphs that are read and described at once
_POWERS = (0.0, 0.5, 1.0)  # of the weights of graphs that are tried where a class is rare


@dataclass(frozen=True)
class Given:
    """Landmarks as `fit` reads them, and the rest of the training graphs.

    Attributes
    ----------
    original : Graphs
        Before codes of labels were taken out, for fitting again to a part; all graphs, but of a stream.
    graphs : Graphs
        The landmarks.
    training : Training
        Of the landmarks.
    own_groups : ndarray [m] or None
        Groups that the user named.
    group_names : ndarray [m], uint64, or None
        Hashes of these.
    recipes : dict of Recipe
        Of the families to choose from.
    rest : iterable of Chunk, or None
        All other graphs; None where all are landmarks.
    """

    original: Graphs
    graphs: Graphs
    training: Training
    own_groups: np.ndarray | None
    group_names: np.ndarray | None
    recipes: dict[str, Recipe]
    target: np.ndarray
    rest: Iterable[Chunk] | None = None


def read_given(metric: GraphMetric, graphs: Any, y: Any, groups: Any, rng: np.random.Generator) -> Given:
    """Reads graphs and decides how later ones are read: `label_columns_`, `labelled_`, `edge_reading_`, `columns_`."""
    most = LANDMARKS if isinstance(metric.n_landmarks, str) else int(metric.n_landmarks)
    rest: Iterator[tuple[Any, ...]] | None = None
    if is_stream(graphs):
        rows = beside(graphs, y, groups)
        first = list(islice(rows, most))
        graphs, y, groups = columns_of(first, y, groups)
        after = next(rows, None)
        rest = None if after is None else chain([after], rows)
    else:
        given = ("targets", y), ("groups", groups)
        y, groups = (None if one is None else as_listed(what, one) for what, one in given)
    original = metric.read_new(graphs)
    objective = objective_for(metric.task, original, y)
    target = objective.encode(original, y)
    own = check_groups(groups, len(original))
    metric.objective_ = objective
    metric.node_means_ = NodeMeans.of(original)
    metric.label_columns_ = code_columns(original) if isinstance(metric.features, str) else np.zeros(0, dtype=bool)
    metric.labelled_ = original.labels is not None
    metric.edge_reading_, metric.columns_ = EdgeReading.of(original), Columns.of(original, graph_vectors=True)
    metric.directed_ = metric.edge_reading_.directed
    read = metric.as_fitted(original)
    names = None if own is None else group_names(groups)
    chosen = np.arange(len(read))
    if len(read) > most:
        chosen = landmark_rows(objective, target, own, most, rng)
    part = read if len(chosen) == len(read) else read[chosen]
    own_part, names_part = (None if one is None else one[chosen] for one in (own, names))
    together = held_together(own_part, copy_groups(part)) if objective.supervised else np.arange(len(part))
    training = training_of(metric, objective, target, together, chosen)
    chunks: Iterable[Chunk] | None = None
    if rest is not None:
        chunks = chunks_of_stream(metric, rest, y is not None, groups is not None, len(read))
    elif len(chosen) < len(read):
        others = np.setdiff1d(np.arange(len(read)), chosen)
        chunks = chunks_of(read, objective, target, names, others, metric.progress)
    recipes = chosen_recipes(metric, part)
    return Given(original, part, training, own, names_part, recipes, target, chunks)


def columns_of(rows: Sequence[tuple[Any, ...]], y: Any, groups: Any) -> tuple[Any, Any, Any]:
    """Graphs, targets and groups, from rows of those that are there."""
    parts = [list(part) for part in zip(*rows, strict=True)] or [[]]
    left = iter(parts[1:])
    targets, together = (None if one is None else next(left, []) for one in (y, groups))
    return parts[0], targets, together


def training_of(
    metric: GraphMetric, objective: Objective, target: np.ndarray, groups: np.ndarray, rows: np.ndarray
) -> Training:
    """Targets of some graphs, with how they are judged and weighted: by those of all."""
    scorer = scorer_for(metric.scoring, objective, target)
    powers: tuple[float, ...] = (0.0,)
    share = objective.rarest_share(target)
    if metric.class_weight == "balanced" and share is not None:
        powers = (1.0,)
    elif metric.class_weight == "auto" and scorer.ranks and share is not None:
        powers = _POWERS
    return Training(objective, scorer, target[rows], groups, powers)


def landmark_rows(
    objective: Objective, target: np.ndarray, own: np.ndarray | None, most: int, rng: np.random.Generator
) -> np.ndarray:
    """Indices of the landmarks: at random, whole groups where the user named some."""
    if own is None:
        return objective.subsample(target, most, rng)
    order = rng.permutation(int(own.max()) + 1)[own]  # groups in random order
    rows = np.argsort(order, kind="stable")
    ends = np.flatnonzero(np.diff(order[rows], append=-1))
    ends = ends[ends < most]
    return np.sort(rows[: ends[-1] + 1]) if len(ends) else objective.subsample(target, most, rng)


def chunks_of(
    read: Graphs, objective: Objective, target: np.ndarray, names: np.ndarray | None, rows: np.ndarray,
    progress: bool | None,
) -> Iterator[Chunk]:  # fmt: skip
    """Some of the graphs that were read, a few thousand at a time."""
    with progress_bar(progress, "learning", total=len(rows), unit="graph", delay=2.0) as bar:
        for start in range(0, len(rows), _CHUNK):
            some = rows[start : start + _CHUNK]
            groups = None if names is None else names[some]
            yield Chunk(read[some], objective.outputs(target[some]), target[some], groups, some)
            bar.update(len(some))


def chunks_of_stream(
    metric: GraphMetric, rows: Iterator[tuple[Any, ...]], with_y: bool, with_groups: bool, first: int
) -> Iterator[Chunk]:
    """Graphs that come one after the other, with their targets and groups, the first of them number `first`."""
    with progress_bar(metric.progress, "learning", total=None, unit="graph", delay=2.0) as bar:
        while some := list(islice(rows, _CHUNK)):
            yield read_chunk(metric, *columns_of(some, with_y or None, with_groups or None), first)
            first += len(some)
            bar.update(len(some))


def read_chunk(metric: GraphMetric, graphs: Any, y: Any, groups: Any, first: int) -> Chunk:
    """More graphs of a metric that knows how to read them."""
    original = metric.read(graphs)
    target = metric.objective_.encode_more(original, y)
    names = None if groups is None else group_names(groups)
    rows = first + np.arange(len(original))
    return Chunk(metric.as_fitted(original), metric.objective_.outputs(target), target, names, rows)


def chunks_of_more(metric: GraphMetric, graphs: Any, y: Any, groups: Any, first: int) -> Iterator[Chunk]:
    """Graphs of any kind and number, a few thousand at a time."""
    rows = beside(graphs, y, groups)
    total = len(graphs) if isinstance(graphs, Sized) and not is_stream(graphs) else None
    if total is not None and total <= _CHUNK:
        yield read_chunk(metric, graphs, y, groups, first)
        return
    yield from chunks_of_stream(metric, rows, y is not None, groups is not None, first)


def chosen_recipes(metric: GraphMetric, graphs: Graphs) -> dict[str, Recipe]:
    """Recipes of the families that were asked for, or of all that these graphs can have."""
    if not isinstance(metric.features, str):
        return recipes_of_blocks(list(metric.features), metric.embedding)
    recipes = recipes_for(Carried.of(graphs))
    if metric.embedding != "auto":
        return recipes_through(recipes, metric.embedding)
    if isinstance(metric.families, str):
        return recipes
    lacking = [name for name in metric.families if name not in recipes]
    if lacking:
        raise ValueError(f"family {lacking[0]!r} needs what these graphs do not carry; they have {', '.join(recipes)}")
    return {name: recipes[name] for name in metric.families}


def recipes_through(recipes: dict[str, Recipe], embedding: str) -> dict[str, Recipe]:
    """The same sets of blocks, through one embedding."""
    found: dict[str, Recipe] = {}
    for names in dict.fromkeys(names for recipe in recipes.values() for names in recipe.sets):
        if not names[0].startswith("pairs"):
            try:
                found |= recipes_of_blocks(names, embedding)
            except ValueError:  # an embedding of another kind of points
                continue
    if not found:
        raise ValueError(f"embedding {embedding!r} takes none of the features that these graphs have")
    return found
