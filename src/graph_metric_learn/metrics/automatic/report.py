"""What was chosen and learned, in words."""

from __future__ import annotations

from ...objectives import Objective
from .estimate import Estimate
from .learning import Learned
from .selection import Choice


def report(
    choice: Choice, objective: Objective, learned: Learned | None, estimate: Estimate | None, seconds: float
) -> str:
    """A few sentences for a fitted metric."""
    parts = [f"{name} ({100 * weight:.0f} %)" for name, weight in choice.weights.items()]
    text = f"chose {' + '.join(parts) if len(parts) > 1 else next(iter(choice.weights))}"
    text += f" out of {len(choice.scores)} candidates ({objective.summary()}, {seconds:.1f} s)"
    if learned is not None:
        text += f"; {learning_in_words(learned)}"
    if estimate is not None:
        text += f"; {estimate_in_words(estimate, objective)}"
    return text


def learning_in_words(learned: Learned) -> str:
    """What was learned, and whether it is part of the distance."""
    gate = learned.gate
    names = dict.fromkeys(part.term.name for part in learned.machine.parts)
    machine = f"kernel ridge regression on {' + '.join(names)}"
    if gate.weight > 0:
        return f"learned scores of a {machine} count {gate.weight:g} times as much (k = {gate.n_neighbors})"
    why = "it did not help graphs held out" if gate.gain > 3 * gate.error else "it predicts no better than the mean"
    return f"learned nothing: a {machine} was tried, but {why} (k = {gate.n_neighbors})"


def estimate_in_words(estimate: Estimate, objective: Objective) -> str:
    """How well neighbours predict new graphs, beside what needs no graphs."""
    name = objective.score_name
    text = f"{name} on new graphs about {objective.in_words(estimate.score)} ± {objective.in_words(estimate.error)}"
    text += f" ({estimate.guess_name}: {objective.in_words(estimate.guess)}"
    if estimate.balanced is not None:
        text += f"; balanced {name}: {objective.in_words(estimate.balanced)}"
    text += ")"
    if estimate.score < estimate.guess + 2 * estimate.error:
        text += ": no better than chance"
    return text
