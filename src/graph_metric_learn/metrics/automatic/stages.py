"""The stages of learning on a chosen sum: weights of blocks, weights of columns, a map of low rank."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np

from ..._core.linear import principal_directions
from ...objectives import Objective
from ...objectives.leave_one_out import NEIGHBORS, leave_one_out
from .learning import Neighborhoods, Stage, learn
from .reweighting import GroupWeights, LowRank, LowRankMap, group_squares, numbered_through
from .sample import Sample, side_by_side, squared_distances
from .terms import Term

_LEARNED_ON = 500  # graphs at most: learning takes its time for the pairs among them
_RANK = 16  # of the map that is learned last


@dataclass
class Learned:
    """What the stages work on: terms of the distance, the map after them, and what was tried."""

    terms: list[Term]
    low_rank: LowRankMap | None = None
    stages: list[Stage] = field(default_factory=list)


def learn_stages(terms: list[Term], sample: Sample, objective: Objective, rng: np.random.Generator) -> Learned:
    """All stages on at most 500 graphs of the sample, then a check on the rest of it."""
    some = objective.subsample(sample.target, _LEARNED_ON, rng)
    learned = Learned(copy.deepcopy(terms))
    _learn_in_turn(learned, sample.part(some), objective, rng)
    _confirm(learned, terms, sample, objective, np.setdiff1d(np.arange(len(sample.target)), some))
    return learned


def _learn_in_turn(learned: Learned, sample: Sample, objective: Objective, rng: np.random.Generator) -> None:
    """Weights of blocks, then of columns, then a map of low rank; each is kept where it helps."""
    columns, owners = zip(*(term.column_groups(sample.blocks) for term in learned.terms), strict=True)
    groups = numbered_through(columns)
    vectors, around, parts = _pairs(learned.terms, sample, objective, groups, rng)
    for name, owner in (
        ("weights of blocks", np.concatenate(numbered_through(owners))),
        ("weights of columns", np.arange(parts.shape[2])),
    ):
        if owner.max() > 0:
            found, stage = learn(name, GroupWeights.joined(parts, owner), around, objective)
            learned.stages.append(stage)
            if stage.kept:
                for term, group in zip(learned.terms, groups, strict=True):
                    term.weight_columns(np.exp(found)[owner][group])
                stage.refreshed = _refresh(learned, sample, objective, rng)
                vectors, around, parts = _pairs(learned.terms, sample, objective, groups, rng)
    flat = side_by_side(vectors)
    directions = principal_directions(flat, min(_RANK, len(flat) // 4))
    coordinates = flat @ directions
    model = LowRank(parts.sum(2), coordinates[:, None, :] - coordinates[around.near])
    found, stage = learn("a map of low rank", model, around, objective)
    learned.stages.append(stage)
    if stage.kept:
        learned.low_rank = LowRankMap(directions, found.reshape(model.rank, model.rank).astype(np.float32))


def _pairs(
    terms: list[Term], sample: Sample, objective: Objective, groups: list[np.ndarray], rng: np.random.Generator
) -> tuple[list[np.ndarray], Neighborhoods, np.ndarray]:
    """Vectors of the terms, pairs of near graphs, and their squared distances by groups of columns."""
    vectors = [sample.vectors(term) for term in terms]
    around = Neighborhoods.of(squared_distances(vectors), sample.target, objective, rng)
    return vectors, around, group_squares(vectors, groups, around.near)


def _refresh(learned: Learned, sample: Sample, objective: Objective, rng: np.random.Generator) -> bool:
    """Fits the embeddings anew with the learned weights, if graphs left out are then predicted better."""
    anew = [
        term if term.embedding.takes_columns else term.refreshed(sample.blocks, sample.sizes[term.cloud], rng)
        for term in learned.terms
    ]
    held_score, anew_score = (
        leave_one_out(objective, sample.squares(terms), sample.target).mean() for terms in (learned.terms, anew)
    )
    if anew_score <= held_score:
        return False
    learned.terms = anew
    return True


def _confirm(learned: Learned, unlearned: list[Term], sample: Sample, objective: Objective, rest: np.ndarray) -> None:
    """Undoes all learning if the leave-one-out score of the graphs that were not learned from got worse."""
    kept = [stage for stage in learned.stages if stage.kept]
    if not kept or len(rest) == 0:
        return
    vectors = [sample.vectors(term) for term in learned.terms]
    if learned.low_rank is not None:
        vectors = [learned.low_rank.apply(side_by_side(vectors))]
    before, after = (
        objective.left_out_scores(squares, sample.target, NEIGHBORS)[rest].mean()
        for squares in (sample.squares(unlearned), squared_distances(vectors))
    )
    for stage in kept:
        stage.confirmed = bool(after >= before)
        if after < before:
            stage.kept, stage.refreshed = False, None
    if after < before:
        learned.terms, learned.low_rank = unlearned, None
