"""What was chosen and learned, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...objectives import Objective
from ...objectives.scoring import Scorer
from .estimate import Estimate
from .learned import Learned
from .width import Width

if TYPE_CHECKING:
    from .estimator import GraphMetric

_NAMED = 6  # families that a report names


def report(metric: GraphMetric) -> str:
    """A few sentences for a fitted metric."""
    objective = metric.objective_
    weights = metric.weights_
    parts = [f"{name} ({100 * weight:.0f} %)" for name, weight in list(weights.items())[:_NAMED]]
    more = f" and {len(weights) - len(parts)} more" if len(weights) > len(parts) else ""
    text = f"compares {' + '.join(parts)}{more} ({objective.summary()}, {metric.seconds_:.1f} s)"
    if metric.learned_ is not None:
        text += f"; {learning_in_words(metric, metric.learned_)}"
    if metric.width_ is not None and metric.width_.kept < metric.width_.full:
        text += f"; {width_in_words(metric.width_, metric)}"
    if metric.estimate_ is not None:
        text += f"; {estimate_in_words(metric.estimate_, objective)}"
    return text


def learning_in_words(metric: GraphMetric, learned: Learned) -> str:
    """What was learned, how good it was on graphs held out, whether it is part of the distance, and the k."""
    gate, objective = learned.gate, metric.objective_
    scorer = Scorer(objective, gate.scored_by)
    guess = f"{objective.guess_name} for all has {objective.in_words(gate.guess)}"
    if scorer.ranks:
        guess = f"0.5 by chance; {guess} {objective.score_name}"
    judged = f"{scorer.words} {scorer.in_words(gate.regression)} on graphs held out; {guess}"
    if gate.weight > 0:
        return (
            f"learned scores of a kernel ridge regression ({judged}) count {gate.weight:g} times as much "
            f"(k = {gate.n_neighbors})"
        )
    why = "they did not make neighbours better"
    if not gate.is_certain:
        why = "it is not clearly better than predicting the mean"
    elif learned.basis.shape[1] == 0:
        why = "n_components leaves no coordinate for its scores"
    text = "learned nothing" if not gate.is_certain else "the distance has no learned scores"
    return f"{text}: a kernel ridge regression was fitted ({judged}), but {why} (k = {gate.n_neighbors})"


def width_in_words(width: Width, metric: GraphMetric) -> str:
    """What fewer coordinates cost."""
    scorer = Scorer(metric.objective_, metric.learned_.gate.scored_by if metric.learned_ is not None else "")
    return (
        f"kept {width.kept} of {width.full} coordinates ({scorer.words} of neighbours on graphs held out "
        f"{scorer.in_words(width.score)}, with all {scorer.in_words(width.full_score)})"
    )


def estimate_in_words(estimate: Estimate, objective: Objective) -> str:
    """How well neighbours predict new graphs, beside what needs no graphs."""
    name = objective.score_name
    score, error = objective.in_words(estimate.score), objective.in_words(estimate.error)
    text = f"{name} of neighbours on new graphs about {score} ± {error}"
    in_units, of_guess = objective.error_in_words(estimate.score), objective.error_in_words(estimate.guess)
    if in_units is not None:
        text += f" (error {in_units}, of {estimate.guess_name} {of_guess}"
    else:
        text += f" ({estimate.guess_name}: {objective.in_words(estimate.guess)}"
    if estimate.balanced is not None:
        text += f"; balanced {name}: {objective.in_words(estimate.balanced)}"
        if estimate.balanced_error is not None:
            text += f" ± {objective.in_words(estimate.balanced_error)}"
    text += ")"
    return f"{text}: no better than chance" if estimate.at_chance else text
