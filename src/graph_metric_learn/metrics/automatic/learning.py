"""Learning: a regression on few of the candidates, whose scores join the distance where they help graphs held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from ..._core.parallel import by_threads
from ..._core.schema import Positive, Saved, array, dims_of, within
from ..._core.threads import one_thread_for_products
from ...linalg.principal_axes import spanning_directions
from ...objectives import Objective
from ...objectives.folds import groups_among
from .kernel_ridge import KernelRidge, KernelRidgeState, Part, mean_kernel
from .kernels import choose_kernels, kernel_from_squares, shortlist
from .sample import Sample, squares_without_copies
from .score_weight import Fold, Kernels, ScoreWeight, Squares, decide, fewer_columns, score_squares
from .screening import Screened
from .selection import chosen_without
from .terms import Term

_SCREENED_ON = 400  # graphs that all kernels are tried on
_CHOSEN_ON = 1000  # graphs that sums of kernels are tried on
_FEWEST = 10  # graphs that a choice can be made by
_CHOSEN_ANEW = 1000  # graphs up to which the unlearned part is chosen anew without each fold
_KERNELS_ANEW = 500  # the same for kernels and penalty, which take longer


@dataclass
class KernelPlan:
    """Kernels that were chosen.

    Attributes
    ----------
    terms, forms : list
        Of each kernel.
    penalty : float
        A guess at λ.
    error : float
        Relative leave-one-out error.
    tried : dict of ndarray [N, N]
        All kernels that these were chosen from, by candidate and form, if they are of all graphs of the sample.
    """

    terms: list[Term]
    forms: list[str]
    penalty: float
    error: float
    tried: dict[tuple[str, str], np.ndarray] = field(default_factory=dict, repr=False)


class LearnedState(Saved):
    """What files hold of :class:`Learned`."""

    gate: ScoreWeight
    machine: KernelRidgeState
    basis: Annotated[np.ndarray, array("T r")]
    unit: Positive
    graphs: Annotated[np.ndarray, array("M", "u")] | None = None


@dataclass
class Learned:
    """A regression and how much its scores count.

    Attributes
    ----------
    gate : ScoreWeight
        What was found on graphs held out; with weight 0 the scores are not part of the distance.
    machine : KernelRidge
    basis : ndarray [T, r]
        Directions in which scores differ: of C classes, C − 1.
    unit : float
        Mean squared distance of the scores of training graphs.
    graphs : ndarray [M], uint64, or None
        Hashes of these, see :func:`graph_hashes`, where they are kept.
    """

    gate: ScoreWeight
    machine: KernelRidge
    basis: np.ndarray
    unit: float
    graphs: np.ndarray | None = None

    @property
    def width(self) -> int:
        """Coordinates that the scores have in the distance."""
        return self.basis.shape[1] if self.gate.weight > 0 else 0

    def coordinates(self, embedded: Mapping[str, Any]) -> np.ndarray:
        """Scores as coordinates of the distance [N, r], float32."""
        return self.placed(self.machine.scores(dict(embedded)))

    def placed(self, scores: np.ndarray) -> np.ndarray:
        """Scores [N, T] as coordinates of the distance [N, r], float32."""
        factor = np.sqrt(self.gate.weight / self.unit)
        return (factor * (scores - self.machine.mean) @ self.basis).astype(np.float32)

    def state(self) -> LearnedState:
        """What files hold."""
        return LearnedState(self.gate, self.machine.state(), self.basis, self.unit, self.graphs)

    @classmethod
    def from_state(cls, saved: LearnedState, terms: dict[str, Term], n_outputs: int | None) -> Learned:
        """What `state` came from, on terms by key, for so many outputs, or a :class:`FieldError`."""
        with within("machine"):
            machine = KernelRidge.from_state(saved.machine, terms, n_outputs)
        dims_of(saved, M=len(machine.weights), T=machine.weights.shape[1])
        return cls(saved.gate, machine, saved.basis, saved.unit, saved.graphs)


@one_thread_for_products()
def plan_kernels(
    screened: Mapping[str, Screened], objective: Objective, sample: Sample, screening: Sample, rng: np.random.Generator
) -> KernelPlan:
    """Kernels by their leave-one-out error: all on 400 graphs, sums of the best on 1000."""
    few = np.sort(rng.permutation(len(screening))[:_SCREENED_ON])
    outputs = objective.outputs(screening.target)[few]
    best = shortlist(
        {name: one.squares[np.ix_(few, few)] for name, one in screened.items()}, outputs,
        scale_invariant=objective.scale_invariant, groups=groups_among(screening.groups, few),
    )  # fmt: skip
    some = sample.part(objective.subsample(sample.target, _CHOSEN_ON, rng))

    def squares(name: str) -> np.ndarray:
        term = screened[name].term
        embedded = some.embedded(term)
        if isinstance(embedded, np.ndarray) and term.projection is None:
            term.compact(embedded)
        return some.squares(term)

    names = list(dict.fromkeys(name for name, _ in best))
    squares_of = dict(zip(names, by_threads(squares, names), strict=True))
    kernels = {(name, form): kernel_from_squares(squares_of[name], form) for name, form in best}
    how: dict[str, Any] = {"scale_invariant": objective.scale_invariant, "groups": some.groups}
    choice = choose_kernels(kernels, objective.outputs(some.target), **how)
    terms, forms = [screened[name].term for name, _ in choice.names], [form for _, form in choice.names]
    tried = kernels if len(some) == len(sample) <= _KERNELS_ANEW else {}
    return KernelPlan(terms, forms, choice.penalty, choice.error, tried)


def squares_by_known(
    base: np.ndarray,
    candidates: Mapping[str, np.ndarray],
    objective: Objective,
    target: np.ndarray,
    *,
    n_steps: int,
    groups: np.ndarray | None = None,
) -> Squares:
    """Squared distances [N, N] without learned scores, as a function of the graphs that may be looked at.

    A choice among candidates looks better on the graphs that it was made on than on others, the more so the fewer they
    are. So up to 1000 graphs it is made anew, among the candidates [N, N], by the known graphs alone. With more, or
    without candidates, the squared distances are those of the vectors `base` [N, r], whichever graphs are known.
    """
    fixed = squares_without_copies(base)
    if not candidates or base.shape[0] > _CHOSEN_ANEW:
        return lambda known: fixed

    def anew(known: np.ndarray) -> np.ndarray:
        if len(known) < _FEWEST:  # nearly all graphs are copies of each other, and held out together
            return fixed
        return chosen_without(candidates, target, objective, known, n_steps=n_steps, groups=groups)

    return anew


def kernels_by_known(
    kernel: np.ndarray,
    penalty: float,
    tried: Mapping[tuple[str, str], np.ndarray],
    outputs: np.ndarray,
    *,
    scale_invariant: bool,
    groups: np.ndarray | None = None,
) -> Kernels:
    """The kernel among all graphs [N, N] and the penalty, as a function of the graphs that may be looked at.

    As in `squares_by_known`, the choice is made anew among the kernels that were tried [N, N], by the known graphs
    alone; where none are given, it is the fixed kernel and penalty, whichever graphs are known.
    """

    def anew(known: np.ndarray) -> tuple[np.ndarray, float]:
        if len(known) < _FEWEST:
            return kernel, penalty
        among = {key: one[np.ix_(known, known)] for key, one in tried.items()}
        choice = choose_kernels(
            among, outputs[known], scale_invariant=scale_invariant, groups=groups_among(groups, known)
        )
        return np.mean([tried[key] for key in choice.names], axis=0), choice.penalty

    return anew if tried else lambda known: (kernel, penalty)


@one_thread_for_products()
def learn(
    plan: KernelPlan,
    embedded: Mapping[str, Any],
    squares: Squares,
    objective: Objective,
    target: np.ndarray,
    groups: np.ndarray,
    rng: np.random.Generator,
    *,
    most: int,
    own_groups: np.ndarray | None = None,
    alone: Squares | None = None,
) -> tuple[Learned, list[Fold]]:
    """Fits the regression to training graphs and decides by folds how much its scores count.

    Parameters
    ----------
    plan : KernelPlan
    embedded : dict
        Vectors of the training graphs, by the key of the term.
    squares, objective, target, groups, alone
        See :func:`decide`.
    most : int
        Coordinates that the scores may have.
    own_groups : ndarray [N], optional
        Those that the user named, without copies: their graphs do not predict each other where the penalty is chosen.
    """
    parts = [Part.fit(term, form, embedded[term.key]) for term, form in zip(plan.terms, plan.forms, strict=True)]
    kernel = mean_kernel(parts, dict(embedded))
    outputs = objective.outputs(target)
    how: dict[str, Any] = {"scale_invariant": objective.scale_invariant, "groups": own_groups}
    machine = KernelRidge.fit(parts, kernel, outputs, plan.penalty, **how)
    tried = plan.tried if all(len(one) == len(target) for one in plan.tried.values()) else {}
    kernels = kernels_by_known(kernel, machine.penalty, tried, outputs, **how)
    gate, folds = decide(squares, kernels, objective, target, groups, rng, most=most, alone=alone)
    scores = kernel @ machine.weights + machine.mean
    placed = fewer_columns(scores, scores, most)
    unit = max(float(score_squares(placed, placed).mean()), 1e-30)
    basis = np.ascontiguousarray(spanning_directions(scores)[:, :most])
    return Learned(gate, machine, basis, unit), folds
