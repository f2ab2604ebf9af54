"""What GraphMetric tries: sets of blocks of node features, each through several embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...embeddings import EMBEDDINGS
from ...features.blocks import BLOCKS, available_kinds, parse_name
from ...graphs import Graphs

_BUILT_IN = ("attributes", "labels", "degree", "structure", "size", "wl", "trees")


def candidate_blocks(features: Any, embedding: str, graphs: Graphs) -> dict[str, list[str]]:
    """Sets of blocks to choose from, by title: those that were asked for, or for "auto" what these graphs can have."""
    if isinstance(features, str):
        return recipes(available_kinds(graphs))
    names = list(features)
    if not embeddings_for(names, embedding):
        raise ValueError(f"embedding {embedding!r} cannot take {', '.join(names)}")
    return {", ".join(names): names}


def recipes(kinds: Sequence[str]) -> dict[str, list[str]]:
    """Sets of blocks worth trying for graphs with these kinds of node information, by title.

    Kinds that were registered from outside are tried on their own, at level 0.

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
    for last in (1, 2, 3):
        found[f"trees 0–{last}"] = levels(["trees"], last)
    return found | {kind: [f"{kind}@0"] for kind in kinds if kind not in _BUILT_IN}


def embeddings_for(names: Sequence[str], wanted: str = "auto") -> list[str]:
    """Embeddings that make sense for these blocks; if `wanted` is given, only that one, or none if it does not apply.

    >>> embeddings_for(["trees@0", "trees@1"]), embeddings_for(["size@0"])
    (['histogram'], ['mean'])
    """
    blocks = [BLOCKS[parse_name(name)[0]] for name in names]
    columns = {block.scaling == "none" for block in blocks}
    if len(columns) == 2:
        raise ValueError(f"trees go with trees alone, got {', '.join(names)}")
    fitting = [kind for kind, embedding in EMBEDDINGS.items() if embedding.takes_columns in columns]
    if wanted != "auto":
        return [wanted] if wanted in fitting else []
    restricted = [block.embeddings for block in blocks]
    if all(restricted):
        return [kind for kind in fitting if all(kind in allowed for allowed in restricted if allowed)]
    return fitting
