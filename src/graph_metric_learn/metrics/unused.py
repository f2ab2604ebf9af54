"""What graphs carry and a metric does not use, said once per fit."""

from __future__ import annotations

import warnings

from ..graphs import Graphs

_NAMES = {  # what edges can carry, by the names under which users know it
    "edge labels": "edge labels (PyG: edge_type or edge_attr)",
    "edge vectors": "edge vectors (PyG: edge_attr)",
    "edge weights": "edge weights",
    "edge directions": "edge directions",
    "graph vectors": "vectors of whole graphs",
}


def warn_unused(graphs: Graphs, uses: set[str], *, hint: str = "") -> None:
    """One `UserWarning` that names all that the graphs carry and a metric does not use; none if it uses everything.

    Call it from `fit` itself: the warning points to the line that called `fit`.

    Parameters
    ----------
    graphs : Graphs
        As they were read. What was not read at all (`Graphs.unused`) is always named.
    uses : set of {"edge labels", "edge vectors", "edge weights", "edge directions", "graph vectors"}
    hint : str
        Which option would make the metric use what edges carry; said where that is not used.

    Examples
    --------
    >>> import numpy as np
    >>> from graph_metric_learn.graphs import as_graphs
    >>> weighted = as_graphs([(np.array([[0.0, 2.0], [2.0, 0.0]]), None)])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_unused(weighted, {"edge weights"})
    ...     warn_unused(weighted, set())
    >>> [str(warning.message) for warning in caught]
    ['the graphs carry edge weights, which this metric does not use']
    """
    if missing := unused(graphs, uses):
        text = missing[0] if len(missing) == 1 else f"{', '.join(missing[:-1])} and {missing[-1]}"
        advice = f": {hint}" if hint and len(missing) > len(graphs.unused) else ""
        for what, prefix in (("node", ""), ("edge", "edge_")):
            if any(one.startswith(f"{what} attribute") for one in graphs.unused):
                advice += f"; name {what} attributes by {prefix}label= (kinds) or {prefix}attribute= (numbers)"
        warnings.warn(f"the graphs carry {text}, which this metric does not use{advice}", UserWarning, stacklevel=3)


def unused(graphs: Graphs, uses: set[str]) -> list[str]:
    """What the graphs carry and a metric with these uses does not use, in words."""
    if unknown := uses - _NAMES.keys():
        raise ValueError(f"unknown uses {sorted(unknown)}: the known ones are {sorted(_NAMES)}")
    carried = [] if graphs.edge_data is None else [f"edge {what}" for what in graphs.edge_data.carries]
    carried += ["graph vectors"] * (graphs.graph_x is not None)
    return [_NAMES[what] for what in carried if what not in uses] + list(graphs.unused)
