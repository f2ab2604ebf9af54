"""A distance without targets: different views of the graphs, each with the same weight."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..._core.threads import one_thread_for_products
from .sample import Sample
from .screening import Screened
from .selection import Choice
from .terms import Term

_VIEWS = 6  # terms, at most
_ALIKE = 0.9  # correlation of distances from which a candidate says nothing new
# Of each set of blocks one embedding is tried: the first of these that fits it.
_PREFERRED = ("axes", "histogram", "mean")


@one_thread_for_products()
def balance(screened: Mapping[str, Screened], sample: Sample) -> tuple[list[Term], Choice]:
    """Few terms of equal weight that differ from each other.

    The first is the one that agrees most with all others; then always the one that agrees least with those that are
    there, as long as it says something new: a rank correlation of distances below 0.9.
    """
    names = _representatives(screened)
    upper = np.triu_indices(len(screened[names[0]].squares), 1)
    ranks = np.array([_ranks(screened[name].squares[upper]) for name in names])
    alike = ranks @ ranks.T
    chosen = [int(alike.mean(1).argmax())]
    while len(chosen) < min(_VIEWS, len(names)):
        most = alike[:, chosen].max(1)
        most[chosen] = np.inf
        place = int(most.argmin())
        if most[place] > _ALIKE:
            break
        chosen.append(place)
    terms = []
    for place in chosen:
        term = screened[names[place]].term
        term.compact(sample.embedded(term))
        term.weight = 1.0
        term.weight = 1.0 / max(float(sample.squares(term).mean()) * len(chosen), 1e-30)
        terms.append(term)
    weights = {names[place]: 1.0 / len(chosen) for place in chosen}
    trail = [(names[place], float(alike[place, chosen].max())) for place in chosen]
    return terms, Choice(weights, 0.0, 0.0, 5, trail, {name: float(alike[i].mean()) for i, name in enumerate(names)})


def _representatives(screened: Mapping[str, Screened]) -> list[str]:
    """One candidate for each set of blocks."""
    found: dict[str, str] = {}
    for kind in (*_PREFERRED, None):
        for name, one in screened.items():
            if kind is None or one.term.kind == kind:
                found.setdefault(one.term.title, name)
    return list(found.values())


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks of values, equal ones with the same; centred, and of length 1 if there are two different ones."""
    from scipy.stats import rankdata

    ranks = rankdata(values) - (len(values) + 1) / 2
    return ranks / max(float(np.linalg.norm(ranks)), 1e-30)
