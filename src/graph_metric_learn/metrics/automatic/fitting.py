"""From training graphs to a fitted metric: describe, weigh the families, regress, weigh the scores, keep coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...features.copies import graph_hashes
from ...graphs import Graphs
from ..base import FoldView
from .coordinates import Coordinates, fit_coordinates
from .exact import ANEW, APART, Regression, Weights, choose_setting, fit_few, fit_many
from .given import Given
from .learned import Learned
from .mixture import Described, Describer, Mixture, family_kernels
from .score_weight import decide, held_views
from .training import Training
from .weights import even_over, mixed_weights
from .width import Width, choose_width, most_coordinates, parts_of_width, score_columns

if TYPE_CHECKING:
    from .estimator import GraphMetric

LANDMARKS = 5000  # with n_landmarks="auto", at most
_FITTED_TO = 1000  # graphs that descriptions are fitted to, at most, of no more nodes than:
_MAX_NODES, _MIN_GRAPHS = 80_000, 100  # but at least so many graphs
_MAX_ARCS = 4_000_000  # the same for edges that carry something, counted in both directions
_NARROW = 64  # coordinates up to which the score weight is chosen for the coordinates that are kept


@dataclass(frozen=True)
class Fitted:
    """What `fit` found."""

    mixture: Mixture
    coordinates: Coordinates
    learned: Learned | None = None
    width: Width | None = None
    views: Callable[[int], list[FoldView]] | None = None  # distances by fold, for what is chosen after the metric


@dataclass(frozen=True)
class Chosen:
    """The kernel of the metric with its landmarks, and a regression on it where there are targets."""

    mixture: Mixture
    landmarks: Described
    kernel: np.ndarray  # among the landmarks [m, m]
    regression: Regression | None = None


def fit_given(metric: GraphMetric, given: Given, rng: np.random.Generator) -> Fitted:
    """The stages of a fit where all graphs are landmarks."""
    if not given.training.objective.supervised:
        chosen = without_targets(given, rng)
    elif len(given.graphs) <= ANEW:
        chosen = from_few(given, rng)
    else:
        chosen = from_many(given, rng)
    return learned_from(metric, given, chosen)


def without_targets(given: Given, rng: np.random.Generator) -> Chosen:
    """Even weights."""
    describer, described, kernels = described_sample(given, _sample(given, _FITTED_TO, rng), rng)
    names = list(kernels)
    weights = even_over(names, *_kinds(describer, names))
    return _with_landmarks(describer, dict(zip(names, weights, strict=True)), given, described)


def from_few(given: Given, rng: np.random.Generator) -> Chosen:
    """Weights chosen by all graphs, and without each fold for what is chosen later."""
    describer, described, kernels = described_sample(given, np.arange(len(given.graphs)), rng)
    weights = _weights(describer, kernels, given.training)
    regression = fit_few(weights, rng)
    mixture = Mixture.of(describer, dict(zip(kernels, regression.weights, strict=True)), described)
    return Chosen(mixture, described, regression.kernel, regression)


def from_many(given: Given, rng: np.random.Generator) -> Chosen:
    """Weights chosen by some of the graphs, which are never held out."""
    apart = apart_rows(given.training, rng)
    describer, described, kernels = described_sample(given, apart, rng)
    weights = _weights(describer, kernels, given.training.part(apart))
    setting, _ = choose_setting(weights, rng)
    own = mixed_weights(weights.likeliest(np.arange(len(apart)), rng), weights.even, setting.share)
    del weights
    chosen = _with_landmarks(describer, dict(zip(kernels, own, strict=True)), given, {})
    regression = fit_many(chosen.kernel, own, setting, apart, given.training, rng)
    return replace(chosen, regression=regression)


def described_sample(
    given: Given, rows: np.ndarray, rng: np.random.Generator
) -> tuple[Describer, Described, dict[str, np.ndarray]]:
    """Families fitted to some of the graphs; descriptions of these, and kernels among them [n, n] by family."""
    graphs = given.graphs if len(rows) == len(given.graphs) else given.graphs[rows]
    few = _few(graphs, rng)
    describer, described = Describer.fit(given.recipes, graphs if few is None else graphs[few], rng)
    if few is not None:
        described = describer.describe(graphs)
    kernels = family_kernels(describer, described)
    return describer, described, kernels


def _few(graphs: Graphs, rng: np.random.Generator) -> np.ndarray | None:
    """Graphs that descriptions are fitted to; None where they are all."""
    most = max(_MIN_GRAPHS, int(_MAX_NODES / graphs.sizes.mean()))
    if graphs.edge_data is not None:
        arcs = graphs.edge_data.ends.shape[1] / len(graphs)
        most = min(most, max(_MIN_GRAPHS, int(_MAX_ARCS / max(arcs, 1))))
    return np.sort(rng.permutation(len(graphs))[:most]) if len(graphs) > most else None


def _sample(given: Given, most: int, rng: np.random.Generator) -> np.ndarray:
    return given.training.objective.subsample(given.training.target, most, rng)


def apart_rows(training: Training, rng: np.random.Generator) -> np.ndarray:
    """About 1000 of the graphs, each with all of its group, at most a third of them all."""
    some = training.objective.subsample(training.target, APART, rng)
    most = max(APART, len(training) // 3)
    chosen: list[np.ndarray] = []
    members = _members(training.groups)
    count = 0
    for group in rng.permutation(np.unique(training.groups[some])):
        rows = members[group]
        if count + len(rows) <= most:
            chosen.append(rows)
            count += len(rows)
        if count >= APART:
            break
    return np.sort(np.concatenate(chosen)) if chosen else some


def _members(groups: np.ndarray) -> dict[int, np.ndarray]:
    """Indices of the graphs of each group."""
    order = np.argsort(groups, kind="stable")
    names, starts = np.unique(groups[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, starts[1:]), strict=True))


def _kinds(describer: Describer, names: list[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The kind and the embedding of families."""
    recipes = {name: describer.families[name].recipe for name in names}
    return {n: one.kind for n, one in recipes.items()}, {n: one.embedding for n, one in recipes.items()}


def _weights(describer: Describer, kernels: dict[str, np.ndarray], training: Training) -> Weights:
    names = list(kernels)
    return Weights(np.stack(list(kernels.values())), even_over(names, *_kinds(describer, names)), training)


def _with_landmarks(describer: Describer, weights: dict[str, float], given: Given, described: Described) -> Chosen:
    """All graphs as landmarks; described anew unless they are all there."""
    describer = describer.only([name for name, weight in weights.items() if weight > 0])
    known = described and len(next(iter(described.values()))) == len(given.graphs)
    landmarks = described if known else describer.describe(given.graphs)
    mixture = Mixture.of(describer, weights, landmarks)
    return Chosen(mixture, landmarks, mixture.kernel())


def learned_from(metric: GraphMetric, given: Given, chosen: Chosen) -> Fitted:
    """Weighs the scores of the regression by folds, and keeps as few coordinates as will do."""
    assert metric.seed_ is not None
    training, regression = given.training, chosen.regression
    most = most_coordinates(metric.n_components)
    learns = metric.learn and regression is not None
    reserved = score_columns(training.outputs, metric.n_components) if learns else 0
    whole = None if metric.n_components is None else most - reserved
    parts = parts_of_width(whole, len(chosen.kernel))
    coordinates, placed = fit_coordinates(chosen.mixture, chosen.kernel, chosen.landmarks, *parts, metric.seed_)
    if not learns or regression is None:
        return Fitted(chosen.mixture, coordinates)
    draws = regression.draws
    if whole is not None and most <= _NARROW:
        near = 1.0 - squares_of(placed) / 2.0
        draws = [lambda draw=draw: (replace(fold, kernel=near) for fold in draw()) for draw in draws]  # type: ignore
    gate, folds = decide(draws, training, most=reserved)
    scores = chosen.kernel @ regression.alpha + regression.mean
    learned = Learned.of(gate, regression.setting, regression.alpha, regression.mean, scores, reserved)
    learned.graphs = graph_hashes(given.graphs)
    width = None
    if isinstance(metric.n_components, str):
        judged = (chosen.kernel, chosen.landmarks)
        coordinates, width = choose_width(chosen.mixture, coordinates, judged, folds, gate.weight, training)
    elif gate.weight == 0 and whole is not None and reserved:
        parts = parts_of_width(most, len(chosen.kernel))
        coordinates, _ = fit_coordinates(chosen.mixture, chosen.kernel, chosen.landmarks, *parts, metric.seed_)
    views = held_views(folds, gate.weight, np.arange(len(training)))
    return Fitted(chosen.mixture, coordinates, learned, width, views)


def squares_of(vectors: np.ndarray) -> np.ndarray:
    """Squared distances [N, N] of vectors [N, d]."""
    from ...linalg.squared_distances import squared_distances

    return squared_distances(vectors)
