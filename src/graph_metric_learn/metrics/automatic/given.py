"""What is given to `fit`, read and checked: training graphs, targets, groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...features.copies import copy_groups
from ...features.edge_reading import EdgeReading
from ...features.onehot import code_columns, without_codes
from ...graphs import Columns, Graphs
from ...objectives import Objective, objective_for
from ...objectives.folds import check_groups, held_together
from ...objectives.scoring import scorer_for
from .landmarks import group_names
from .recipes import Carried, Recipe, recipes_for, recipes_of_blocks
from .training import Training

if TYPE_CHECKING:
    from .estimator import GraphMetric

_POWERS = (0.0, 0.5, 1.0)  # of the weights of graphs that are tried where a class is rare


@dataclass(frozen=True)
class Given:
    """Training graphs as `fit` reads them.

    Attributes
    ----------
    original : Graphs
        Before codes of labels were taken out, for fitting again to a part.
    graphs : Graphs
    training : Training
    own_groups : ndarray [N] or None
        Those that the user named.
    group_names : ndarray [N], uint64, or None
        Hashes of these.
    recipes : dict of Recipe
        Of the families to choose from.
    """

    original: Graphs
    graphs: Graphs
    training: Training
    own_groups: np.ndarray | None
    group_names: np.ndarray | None
    recipes: dict[str, Recipe]


def read_given(metric: GraphMetric, graphs: Any, y: Any, groups: Any) -> Given:
    """Reads graphs and decides how later ones are read: `label_columns_`, `labelled_`, `edge_reading_`, `columns_`."""
    original = metric.read_new(graphs)
    objective = objective_for(metric.task, original, y)
    target = objective.encode(original, y)
    own = check_groups(groups, len(original))
    metric.objective_ = objective
    metric.label_columns_ = code_columns(original) if isinstance(metric.features, str) else np.zeros(0, dtype=bool)
    metric.labelled_ = original.labels is not None
    metric.edge_reading_, metric.columns_ = EdgeReading.of(original), Columns.of(original)
    metric.directed_ = metric.edge_reading_.directed
    read = metric.edge_reading_.apply(without_codes(original, metric.label_columns_, metric.labelled_))
    together = held_together(own, copy_groups(read)) if objective.supervised else np.arange(len(read))
    training = training_of(metric, objective, target, together)
    names = None if own is None else group_names(groups)
    return Given(original, read, training, own, names, chosen_recipes(metric, read))


def training_of(metric: GraphMetric, objective: Objective, target: np.ndarray, groups: np.ndarray) -> Training:
    """Targets with how they are judged and weighted."""
    scorer = scorer_for(metric.scoring, objective, target)
    powers: tuple[float, ...] = (0.0,)
    share = objective.rarest_share(target)
    if metric.class_weight == "balanced" and share is not None:
        powers = (1.0,)
    elif metric.class_weight == "auto" and scorer.ranks and share is not None:
        powers = _POWERS
    return Training(objective, scorer, target, groups, powers)


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
    seen = set()
    for name, recipe in recipes.items():
        for names in recipe.sets:
            if recipe.cloud == "pairs" or names in seen:
                continue
            seen.add(names)
            try:
                found |= recipes_of_blocks(names, embedding)
            except ValueError:  # an embedding of another kind of points
                continue
    if not found:
        raise ValueError(f"embedding {embedding!r} takes none of the features that these graphs have")
    return found
