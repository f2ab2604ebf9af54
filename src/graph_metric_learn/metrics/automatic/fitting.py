"""From training graphs to a fitted metric: weigh the families, regress, weigh the scores, keep coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import torch

from ...features.copies import graph_hashes
from ...graphs import Graphs
from ...linalg.landmark_ridge import FoldSums, KeptFeatures, Whitening
from ...linalg.squared_distances import squared_distances
from ...objectives import Classes
from ...objectives.scoring import Scorer
from ...transport.devices import resolve_device
from ..base import FoldView
from .coordinates import Coordinates, fit_coordinates, hashed
from .exact import Regression, Setting, Weighed, Weights, choose_setting, fit_few, fit_many
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

ANEW = 1500  # landmarks up to which weights are chosen anew without each fold
_APART = 1000  # of more landmarks, those that weights are chosen by, and that are never held out
_FEW = 300  # graphs that must be judged, so that something is chosen by them
_MAX_NODES, _MIN_GRAPHS = 80_000, 100  # descriptions are fitted to at most 80,000 nodes, but at least 100 graphs
_MAX_ARCS = 4_000_000  # the same for edges that carry something, counted in both directions
_NARROW = 64  # coordinates up to which the score weight is chosen for the coordinates that are kept


@dataclass(frozen=True)
class Selected:
    """Families and their weights.

    Attributes
    ----------
    describer, described
        Families fitted to some of the landmarks, and the descriptions of these.
    rows : ndarray
        Which landmarks these are.
    weights : dict of float
        By family.
    setting : Setting or None
        What folds of these landmarks chose; None without targets.
    kernels : Weights or None
        The families' kernels among these landmarks.
    draws : list of lists of Weighed
        Weights without each fold.
    """

    describer: Describer
    described: Described
    rows: np.ndarray
    weights: dict[str, float]
    setting: Setting | None = None
    kernels: Weights | None = None
    draws: tuple[list[Weighed], ...] = ()


@dataclass(frozen=True)
class Kernel:
    """The kernel of the metric with its landmarks: descriptions, and the kernel among them [m, m]."""

    mixture: Mixture
    landmarks: Described
    among: np.ndarray


@dataclass(frozen=True)
class Fitted:
    """What `fit` found."""

    mixture: Mixture
    coordinates: Coordinates
    learned: Learned | None = None
    width: Width | None = None
    views: Callable[[int], list[FoldView]] | None = None  # distances by fold, for what is chosen after the metric


@dataclass
class Resume:
    """What more graphs are learned by: the kernel, and sums over the graphs so far.

    Attributes
    ----------
    kernel : Kernel
    training : Training
        The landmarks.
    names : ndarray [m], uint64
        Hashes of the landmarks.
    known : ndarray, uint64
        Hashes of the landmarks, or of their groups: graphs with these are never judged.
    setting : Setting
    passed : Pass or None
        None as long as all graphs are landmarks.
    n_graphs : int
    """

    kernel: Kernel
    training: Training
    names: np.ndarray
    known: np.ndarray
    setting: Setting
    passed: Pass | None
    n_graphs: int


def fit_given(metric: GraphMetric, given: Given, rng: np.random.Generator) -> tuple[Fitted, Resume | None]:
    """The stages of a fit."""
    for_weights, for_folds = rng.spawn(2)
    selected = select(given, for_weights)
    kernel = with_landmarks(selected, given)
    names = graph_hashes(given.graphs)
    if selected.setting is None or not metric.learn:
        return keep(metric, kernel, None, given.training, (kernel.among, kernel.landmarks)), None
    known = names if given.group_names is None else given.group_names
    resume = Resume(kernel, given.training, names, known, selected.setting, None, len(names))
    fitted: Fitted | None = None
    if given.rest is not None:
        fitted = fit_more(metric, resume, given.rest)
    if given.rest is None or fitted is None:
        regression = exact_regression(selected, kernel, given.training, for_folds)
        judged = kernel.among, kernel.landmarks
        fitted = keep(metric, kernel, regression, given.training, judged, names=names)
        resume.setting = regression.setting
    if resume.passed is not None and fitted.learned is not None and fitted.learned.n_graphs < resume.n_graphs:
        fitted = replace(fitted, learned=solved(resume, fitted.learned))
    return fitted, resume


# --- which families count --------------------------------------------------------------------------------------------


def select(given: Given, rng: np.random.Generator) -> Selected:
    """Weighs the families by some of the landmarks; without targets, evenly."""
    training, supervised = given.training, given.training.objective.supervised
    rows = np.arange(len(training))
    if len(rows) > (ANEW if supervised else _APART):
        rows = rows_apart(training, rng)
    describer, described, kernels = described_sample(given, rows, rng)
    names = list(kernels)
    recipes = [describer.families[name].recipe for name in names]
    kinds = {name: recipe.kind for name, recipe in zip(names, recipes, strict=True)}
    embeddings = {name: recipe.embedding for name, recipe in zip(names, recipes, strict=True)}
    even = even_over(names, kinds, embeddings, cheap=supervised)
    if not supervised:
        return Selected(describer, described, rows, dict(zip(names, even.tolist(), strict=True)))
    weights = Weights(np.stack(list(kernels.values())), even, training.part(rows))
    setting, draws = choose_setting(weights, rng)
    own = mixed_weights(weights.likeliest(np.arange(len(rows)), rng), even, setting.share)
    chosen = dict(zip(names, own.tolist(), strict=True))
    return Selected(describer, described, rows, chosen, setting, weights, tuple(draws))


def described_sample(
    given: Given, rows: np.ndarray, rng: np.random.Generator
) -> tuple[Describer, Described, dict[str, np.ndarray]]:
    """Families fitted to some of the graphs; descriptions of these, and kernels among them [n, n] by family."""
    graphs = given.graphs if len(rows) == len(given.graphs) else given.graphs[rows]
    few = _few(graphs, rng)
    describer, described = Describer.fit(given.recipes, graphs if few is None else graphs[few], rng)
    if few is not None:
        described = describer.describe(graphs)
    return describer, described, family_kernels(describer, described)


def _few(graphs: Graphs, rng: np.random.Generator) -> np.ndarray | None:
    """Graphs that descriptions are fitted to; None where they are all."""
    most = max(_MIN_GRAPHS, int(_MAX_NODES / graphs.sizes.mean()))
    if graphs.edge_data is not None:
        arcs = graphs.edge_data.ends.shape[1] / len(graphs)
        most = min(most, max(_MIN_GRAPHS, int(_MAX_ARCS / max(arcs, 1))))
    return np.sort(rng.permutation(len(graphs))[:most]) if len(graphs) > most else None


def rows_apart(training: Training, rng: np.random.Generator) -> np.ndarray:
    """About 1000 of the graphs, each with all of its group; half of them of the rare class where one may count more."""
    some = training.objective.subsample(training.target, _APART, rng)
    if n_sides(training) == 2:
        sides = sides_of(training, training.target)
        some = np.concatenate([rng.permutation(np.flatnonzero(sides == side))[: _APART // 2] for side in (0, 1)])
    members, chosen, count = members_of(training.groups), [], 0
    for group in rng.permutation(np.unique(training.groups[some])).tolist():
        if count + len(members[group]) <= _APART:
            chosen.append(members[group])
            count += len(members[group])
    return np.sort(np.concatenate(chosen)) if chosen else np.sort(some)


def members_of(groups: np.ndarray) -> dict[int, np.ndarray]:
    """Indices of the graphs of each group."""
    order = np.argsort(groups, kind="stable")
    names, starts = np.unique(groups[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, starts[1:]), strict=True))


def n_sides(training: Training) -> int:
    """2 where graphs of the rarer of two classes may count more than others, else 1."""
    return 2 if max(training.powers) > 0 and training.target.ndim == 1 and training.outputs.shape[1] == 2 else 1


def with_landmarks(selected: Selected, given: Given) -> Kernel:
    """All landmarks described, and compared with each other."""
    used = {name: weight for name, weight in selected.weights.items() if weight > 0}
    whole = len(selected.rows) == len(given.graphs)
    landmarks = selected.described if whole else selected.describer.only(used).describe(given.graphs)
    mixture = Mixture.of(selected.describer, used, landmarks)
    return Kernel(mixture, {name: landmarks[name] for name in used}, mixture.kernel())


# --- regression ------------------------------------------------------------------------------------------------------


def exact_regression(selected: Selected, kernel: Kernel, training: Training, rng: np.random.Generator) -> Regression:
    """On landmarks alone."""
    assert selected.setting is not None
    assert selected.kernels is not None
    if len(selected.rows) == len(training):
        return fit_few(selected.kernels, kernel.among, selected.setting, list(selected.draws))
    return fit_many(kernel.among, selected.setting, selected.rows, training, rng)


def fit_more(metric: GraphMetric, resume: Resume, chunks: Iterable[Chunk]) -> Fitted | None:
    """Adds graphs to the sums, and learns from all so far; None where too few can be judged to choose by them."""
    if resume.passed is None:
        resume.passed = first_pass(metric, resume)
    resume.n_graphs += run(resume.passed, chunks, resume.training)
    judged, kept, tests = judged_folds(resume.passed, resume.training)
    if len(judged) < _FEW:
        return None
    regression, to_landmarks = regression_of(resume.passed, resume.setting, judged, kept, tests)
    parts = to_landmarks, kept["described"]
    fitted = keep(metric, resume.kernel, regression, judged, parts, kept["index"], resume.names, resume.n_graphs)
    assert fitted.learned is not None
    known = resume.training  # at random, while of a rare class more than others are judged
    guess = float(known.objective.guess(known.target, known.target).mean())
    gate = msgspec.structs.replace(fitted.learned.gate, guess=guess)
    return replace(fitted, learned=msgspec.structs.replace(fitted.learned, gate=gate))


def first_pass(metric: GraphMetric, resume: Resume) -> Pass:
    """Sums over the landmarks, which are known in every fold."""
    device = resolve_device(metric.device, auto="cuda" if torch.cuda.is_available() else "cpu")
    kernel, training = resume.kernel, resume.training
    sides, outputs, width = n_sides(training), training.outputs, len(kernel.among)
    gaps = training.target.ndim > 1 and (max(training.powers) > 0 or not np.isfinite(outputs).all())
    sums = (KeptFeatures if gaps else FoldSums)(sides, N_FOLDS + 1, width, outputs.shape[1], device)
    whitening = Whitening.fit(kernel.among, device)
    always = np.full(width, N_FOLDS)
    sums.add(whitening.features(kernel.among), outputs, always, sides_of(training, training.target))
    return Pass(kernel.mixture, whitening, sums, Judged([JUDGED // sides] * sides), resume.known)


def solved(resume: Resume, learned: Learned) -> Learned:
    """What was learned, with the regression on all graphs so far in the place of its own."""
    assert resume.passed is not None
    beta, mean = resume.passed.sums.solve(learned.setting.penalty, learned.setting.power)
    alpha = resume.passed.whitening.to_landmarks(beta)
    return Learned.refitted(learned, alpha, mean.cpu().numpy(), resume.n_graphs)


def extend_classes(metric: GraphMetric, resume: Resume, classes: Any) -> None:
    """Makes room for classes that were not seen before."""
    objective = resume.training.objective
    if not isinstance(objective, Classes) or metric.learned_ is None:
        raise ValueError(f"classes= is for tasks with classes, this one has {objective.summary()}")
    more, places = objective.extended(classes)
    if len(more.classes_) == len(objective.classes_):
        return
    scorer = Scorer(more, resume.training.scorer.name)
    resume.training = replace(resume.training, objective=more, scorer=scorer, target=places[resume.training.target])
    learned, count = metric.learned_, len(more.classes_)
    alpha, mean, basis = (
        np.zeros((len(learned.alpha), count)),
        np.zeros(count),
        np.zeros((count, learned.basis.shape[1])),
    )
    alpha[:, places], mean[places], basis[places] = learned.alpha, learned.mean, learned.basis
    metric.objective_, metric.learned_ = more, msgspec.structs.replace(learned, alpha=alpha, mean=mean, basis=basis)
    if resume.passed is not None:
        assert isinstance(resume.passed.sums, FoldSums)
        resume.passed.sums.widen(count, places)
        for part in resume.passed.judged.parts:
            part["target"] = places[part["target"]]


# --- what is kept ----------------------------------------------------------------------------------------------------


def keep(
    metric: GraphMetric, kernel: Kernel, regression: Regression | None, training: Training,
    judged: tuple[np.ndarray, Described], indices: np.ndarray | None = None, names: np.ndarray | None = None,
    n_graphs: int | None = None,
) -> Fitted:  # fmt: skip
    """The weight of the scores, and the coordinates, by the graphs that are judged.

    Parameters
    ----------
    metric : GraphMetric
    kernel : Kernel
    regression : Regression or None
    training : Training
        The graphs that are judged.
    judged : ndarray [N, m], descriptions
        Their kernels to the landmarks, and descriptions.
    indices : ndarray [N], optional
        Which of the training graphs they are; all when None.
    names : ndarray [m], uint64
        Hashes of the landmarks.
    n_graphs : int, optional
        How many graphs were learned from; those that are judged when None.
    """
    most = most_coordinates(metric.n_components)
    reserved = 0 if regression is None else score_columns(training.outputs, metric.n_components)
    whole = None if metric.n_components is None else most - reserved
    landmarks = kernel.mixture, kernel.among, kernel.landmarks
    coordinates = fit_coordinates(*landmarks, *parts_of_width(whole, len(kernel.among)))
    if regression is None or names is None:
        return Fitted(kernel.mixture, coordinates)
    draws = regression.draws
    if whole is not None and most <= _NARROW:
        hashes = hashed(kernel.mixture, judged[1], coordinates.n_hashes)
        placed = coordinates.place(judged[0], hashes, kernel.mixture.diagonal(judged[1]))
        near = 1.0 - squared_distances(placed) / 2.0
        draws = [lambda draw=draw: (replace(fold, kernel=near) for fold in draw()) for draw in draws]  # type: ignore[misc]
    gate, folds = decide(draws, training, most=reserved)
    scores = judged[0] @ regression.alpha + regression.mean
    learned = Learned.of(gate, regression, scores, reserved, n_graphs or len(training), names)
    width = None
    if isinstance(metric.n_components, str):
        coordinates, width = choose_width(kernel.mixture, coordinates, judged, folds, gate.weight, training)
    elif gate.weight == 0 and whole is not None and reserved:
        coordinates = fit_coordinates(*landmarks, *parts_of_width(most, len(kernel.among)))
    indices = np.arange(len(training)) if indices is None else indices
    return Fitted(kernel.mixture, coordinates, learned, width, held_views(folds, gate.weight, indices))
