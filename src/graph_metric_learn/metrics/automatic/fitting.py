"""From training graphs to a fitted metric: describe, weigh the families, regress, weigh the scores, keep coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from ..._core.progress import progress_bar

from ...features.copies import graph_hashes
from ...graphs import Graphs
from ...linalg.landmark_ridge import FoldSums, KeptFeatures, Whitening
from ...linalg.squared_distances import squared_distances
from ...transport.devices import resolve_device
from ..base import FoldView
from .coordinates import Coordinates, fit_coordinates, hashed
from .exact import ANEW, APART, Regression, Setting, Weights, choose_setting, fit_few, fit_many
from .given import Given
from .landmarks import JUDGED, Chunk, Judged, Pass, judged_folds, regression_of, run, sides_of
from .learned import Learned
from .mixture import Described, Describer, Mixture, family_kernels
from .score_weight import decide, held_views
from .training import N_FOLDS, Training
from .weights import even_over, mixed_weights
from .width import Width, choose_width, most_coordinates, parts_of_width, score_columns

if TYPE_CHECKING:
    from .estimator import GraphMetric

LANDMARKS = 5000  # with n_landmarks="auto", at most
_FITTED_TO = 1000  # graphs that descriptions are fitted to, at most, of no more nodes than:
_MAX_NODES, _MIN_GRAPHS = 80_000, 100  # but at least so many graphs
_MAX_ARCS = 4_000_000  # the same for edges that carry something, counted in both directions
_CHUNK = 2000  # graphs that are described at once
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
    """The stages of a fit."""
    most = LANDMARKS if isinstance(metric.n_landmarks, str) else int(metric.n_landmarks)
    if len(given.graphs) > most:
        return fit_landmarks(metric, given, most, rng)
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
    setting, own = _setting_and_weights(_weights(describer, kernels, given.training.part(apart)), rng)
    chosen = _with_landmarks(describer, dict(zip(kernels, own, strict=True)), given, {})
    regression = fit_many(chosen.kernel, own, setting, apart, given.training, rng)
    return replace(chosen, regression=regression)


def _setting_and_weights(weights: Weights, rng: np.random.Generator) -> tuple[Setting, np.ndarray]:
    """What folds of some graphs choose, and weights of families [F] by all of these."""
    setting, _ = choose_setting(weights, rng)
    rows = np.arange(len(weights.training))
    return setting, mixed_weights(weights.likeliest(rows, rng), weights.even, setting.share)


def fit_landmarks(metric: GraphMetric, given: Given, most: int, rng: np.random.Generator) -> Fitted:
    """The stages of a fit where graphs are more than landmarks."""
    rows = landmark_rows(given, most, rng)
    graphs, training = given.graphs[rows], given.training.part(rows)
    names = None if given.group_names is None else given.group_names[rows]
    of_landmarks = replace(given, graphs=graphs, training=training, group_names=names)
    if not training.objective.supervised:
        return learned_from(metric, of_landmarks, without_targets(of_landmarks, rng))
    tuning = tuning_rows(training, rng)
    describer, _, kernels = described_sample(of_landmarks, tuning, rng)
    setting, own = _setting_and_weights(_weights(describer, kernels, training.part(tuning)), rng)
    chosen = _with_landmarks(describer, dict(zip(kernels, own, strict=True)), of_landmarks, {})
    if not metric.learn:
        return learned_from(metric, of_landmarks, chosen)
    device = resolve_device(metric.device, auto="cuda" if torch.cuda.is_available() else "cpu")
    n_sides, n_targets = _sides(training), training.outputs.shape[1]
    sums: FoldSums | KeptFeatures
    if given.training.target.ndim > 1 and (len(training.powers) > 1 or not np.isfinite(given.training.outputs).all()):
        sums = KeptFeatures(len(rows), n_targets, N_FOLDS, device)
    else:
        sums = FoldSums(n_sides, N_FOLDS + 1, len(rows), n_targets, device)
    judged = Judged([JUDGED // n_sides] * n_sides)
    known = graph_hashes(graphs) if names is None else names
    passed = Pass(chosen.mixture, Whitening.fit(chosen.kernel, device), sums, judged, known)
    run(passed, chunks_of(given, metric.progress), training)
    return learned_from_pass(metric, of_landmarks, replace(chosen, regression=None), passed, setting)


def _sides(training: Training) -> int:
    """Whether graphs of the rarer of two classes may count more than others: 2, else 1."""
    return 2 if len(training.powers) > 1 and training.outputs.shape[1] == 2 and training.target.ndim == 1 else 1


def landmark_rows(given: Given, most: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of the landmarks: at random, whole groups where the user named some."""
    if given.own_groups is None:
        return given.training.objective.subsample(given.training.target, most, rng)
    members, chosen, count = _members(given.own_groups), [], 0
    for group in rng.permutation(len(members)):
        if count + len(members[group]) <= most:
            chosen.append(members[group])
            count += len(members[group])
    return np.sort(np.concatenate(chosen)) if chosen else given.training.objective.subsample(
        given.training.target, most, rng
    )


def tuning_rows(training: Training, rng: np.random.Generator) -> np.ndarray:
    """Landmarks that weights are chosen by: about 1000, half of them of the rare class where there is one."""
    if _sides(training) == 1:
        return training.objective.subsample(training.target, APART, rng)
    sides = sides_of(training, training.target)
    rare, others = (rng.permutation(np.flatnonzero(sides == side))[: APART // 2] for side in (1, 0))
    return np.sort(np.concatenate([rare, others]))


def chunks_of(given: Given, progress: bool | None) -> Iterator[Chunk]:
    """All training graphs, some at a time."""
    total = len(given.graphs)
    with progress_bar(progress, "learning", total=total, unit="graph", delay=2.0) as bar:
        for start in range(0, total, _CHUNK):
            rows = np.arange(start, min(start + _CHUNK, total))
            part = given.training.part(rows)
            names = None if given.group_names is None else given.group_names[rows]
            yield Chunk(given.graphs[rows], part.outputs, part.target, names, start)
            bar.update(len(rows))


def learned_from_pass(
    metric: GraphMetric, given: Given, chosen: Chosen, passed: Pass, setting: Setting
) -> Fitted:
    """Solves the regression, weighs its scores by the judged graphs, and keeps as few coordinates as will do."""
    assert metric.seed_ is not None
    judged, kept, tests = judged_folds(passed, given.training)
    regression, to_landmarks = regression_of(passed, setting, judged, kept, tests, chosen.kernel)
    return keep(metric, replace(chosen, regression=regression), judged, (to_landmarks, kept["described"]), kept["index"],
                graph_hashes(given.graphs))  # fmt: skip


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
    judged = (chosen.kernel, chosen.landmarks)
    return keep(metric, chosen, given.training, judged, np.arange(len(given.training)), graph_hashes(given.graphs))


def keep(
    metric: GraphMetric, chosen: Chosen, training: Training, judged: tuple[np.ndarray, Described], indices: np.ndarray,
    hashes: np.ndarray,
) -> Fitted:  # fmt: skip
    """The weight of the scores, and the coordinates, by the graphs that are judged.

    Parameters
    ----------
    metric : GraphMetric
    chosen : Chosen
    training : Training
        The graphs that are judged.
    judged : ndarray [N, m], descriptions
        Their kernels to the landmarks, and descriptions.
    indices : ndarray [N]
        Which of the training graphs they are.
    hashes : ndarray [m], uint64
        Of the landmarks.
    """
    assert metric.seed_ is not None
    regression = chosen.regression
    most = most_coordinates(metric.n_components)
    learns = metric.learn and regression is not None
    reserved = score_columns(training.outputs, metric.n_components) if learns else 0
    whole = None if metric.n_components is None else most - reserved
    landmarks = chosen.mixture, chosen.kernel, chosen.landmarks
    coordinates = fit_coordinates(*landmarks, *parts_of_width(whole, len(chosen.kernel)), metric.seed_)
    if not learns or regression is None:
        return Fitted(chosen.mixture, coordinates)
    draws = regression.draws
    if whole is not None and most <= _NARROW:
        placed = coordinates.place(judged[0], hashed(chosen.mixture, judged[1], coordinates.n_hashes))
        near = 1.0 - squared_distances(placed) / 2.0
        draws = [lambda draw=draw: (replace(fold, kernel=near) for fold in draw()) for draw in draws]  # type: ignore[misc]
    gate, folds = decide(draws, training, most=reserved)
    scores = judged[0] @ regression.alpha + regression.mean
    learned = Learned.of(gate, regression.setting, regression.alpha, regression.mean, scores, reserved)
    learned.graphs = hashes
    width = None
    if isinstance(metric.n_components, str):
        coordinates, width = choose_width(chosen.mixture, coordinates, judged, folds, gate.weight, training)
    elif gate.weight == 0 and whole is not None and reserved:
        coordinates = fit_coordinates(*landmarks, *parts_of_width(most, len(chosen.kernel)), metric.seed_)
    return Fitted(chosen.mixture, coordinates, learned, width, held_views(folds, gate.weight, indices))
