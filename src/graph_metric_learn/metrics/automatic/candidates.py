"""What GraphMetric tries: sets of blocks of node features, each through several embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...embeddings import EMBEDDINGS
from ...features.blocks import BLOCKS, BUILT_IN, available_kinds, cloud_of, parse_name
from ...graphs import Graphs

_DEEPEST = 4  # level of the deepest trees


def candidate_blocks(features: Any, embedding: str, graphs: Graphs) -> dict[str, list[str]]:
    """Sets of blocks to choose from, by title: those that were asked for, or for "auto" what these graphs can have."""
    if isinstance(features, str):
        carries = [] if graphs.edge_data is None else graphs.edge_data.carries
        several = graphs.labels is not None and graphs.labels.shape[1] > 1
        return recipes(available_kinds(graphs), carries, several_labels=several)
    names = list(features)
    if not embeddings_for(names, embedding):
        raise ValueError(f"embedding {embedding!r} cannot take {', '.join(names)}")
    return {", ".join(names): names}


def recipes(kinds: Sequence[str], carries: Sequence[str] = (), *, several_labels: bool = False) -> dict[str, list[str]]:
    """Sets of blocks worth trying for graphs with these kinds of node information, by title.

    `carries` names what edges carry: labels, vectors, weights, directions. Kinds that were registered from outside are
    tried on their own, at level 0.

    >>> list(recipes(["labels", "degree", "wl"]))[:3]
    ['labels', 'labels, hops 0–1', 'labels, hops 0–2']
    """
    own = [kind for kind in kinds if kind in ("attributes", "labels")] or ["degree"]
    title = " and ".join(own)

    def levels(bases: list[str], last: int) -> list[str]:
        return [f"{base}@{level}" for base in bases for level in range(last + 1)]

    found = {title: levels(own, 0)}
    for last in (1, 2, 4):
        found[f"{title}, hops 0–{last}"] = levels(own, last)
    if len(own) == 2:
        found |= {"attributes": levels(own[:1], 0), "attributes, hops 0–2": levels(own[:1], 2)}
    if own != ["degree"]:
        found["degrees, hops 0–1"] = levels(["degree"], 1)
    found["size"] = ["size@0"]
    found["structure, hops 0–2"] = levels(["structure"], 2)
    found["structure, hops 0–2 + size"] = [*levels(["structure"], 2), "size@0"]
    for last in (1, 2, 3):
        found[f"WL codes 0–{last}"] = levels(["wl"], last)
    found[f"{title} + WL codes 1–2"] = [*levels(own, 0), "wl@1", "wl@2"]
    found[f"{title}, hops 0–2 + WL codes 1–2"] = [*levels(own, 2), "wl@1", "wl@2"]
    for last in range(_DEEPEST + 1):
        found[f"trees 0–{last}" if last else "trees 0"] = levels(["trees"], last)
    if carries:
        found |= _with_edges(kinds, carries, own, title, several_labels=several_labels)
    return found | {kind: [f"{kind}@0"] for kind in kinds if kind not in BUILT_IN}


def _with_edges(
    kinds: Sequence[str], carries: Sequence[str], own: list[str], title: str, *, several_labels: bool
) -> dict[str, list[str]]:
    """Sets of blocks that see what edges carry."""
    found: dict[str, list[str]] = {}
    if "labels" in carries or "directions" in carries:
        for last in range(1, _DEEPEST + 1):
            found[f"trees with edges 0–{last}"] = [f"trees+edges@{level}" for level in range(last + 1)]
        found["WL codes with edges 0–2"] = [f"wl+edges@{level}" for level in range(3)]
        for view, of in [("", "")] + [("+first", " of first labels")] * several_labels:  # all labels may tell too much
            found[f"trees at edges{of} 0"] = [f"edge_trees{view}@0"]
            found[f"trees at edges{of} 0–1"] = [f"edge_trees{view}@0", f"edge_trees{view}@1"]
        if several_labels:
            for last in range(1, _DEEPEST + 1):
                found[f"trees of first labels 0–{last}"] = [f"trees+first+edges@{level}" for level in range(last + 1)]
    if "around" in kinds:
        found["edges around nodes, hops 0–1"] = ["around@0", "around@1"]
        found[f"{title} + edges around nodes"] = [*(f"{kind}@0" for kind in own), "around@0"]
    if "weights" in carries:
        found["strength, hops 0–1"] = ["strength@0", "strength@1"]
        found[f"{title}, weighted hops 0–2"] = [f"{kind}+edges@{level}" for kind in own for level in range(3)]
    if "edge" in kinds:
        found["edges"] = ["edge@0"]
    edge = ["edge@0"] * ("edge" in kinds)
    found["edges and their ends, hops 0–1"] = [*edge, "ends@0", "ends@1"]
    return found


def embeddings_for(names: Sequence[str], wanted: str = "auto", *, supervised: bool = True) -> list[str]:
    """Embeddings that make sense for these blocks, of graphs with or without targets.

    If `wanted` is given, only that one, or none if it does not apply.

    >>> embeddings_for(["trees@0", "trees@1"]), embeddings_for(["size@0"])
    (['histogram', 'counts', 'assignment', 'normalized-assignment'], ['mean'])
    """
    blocks = [BLOCKS[parse_name(name).kind] for name in names]
    columns = {block.categorical for block in blocks}
    if len(columns) == 2:
        raise ValueError(f"trees go with trees alone, got {', '.join(names)}")
    cloud_of(names)
    fitting = [kind for kind, embedding in EMBEDDINGS.items() if embedding.takes_columns in columns]
    if wanted != "auto":
        return [wanted] if wanted in fitting else []
    fitting = [kind for kind in fitting if EMBEDDINGS[kind].supervised in (None, supervised)]
    restricted = [block.embeddings for block in blocks]
    if any(allowed is None for allowed in restricted):
        return fitting
    return [kind for kind in fitting if all(allowed is None or kind in allowed for allowed in restricted)]
