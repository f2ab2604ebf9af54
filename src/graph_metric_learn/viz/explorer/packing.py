"""Graphs and explanations in few bytes, and text that is safe inside a page.

Coordinates are quantised to a byte, shares to a signed byte of the largest share in the pair. The script of the page,
`static/explorer_data.js`, is the reader of what is written here.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...graphs.depiction import Depiction
from ...metrics.explanation import Explanation

MOST_TERMS = 6  # of an explanation, the others together
_MOST_ASSIGNED = 200  # nodes up to which matches are made one to one
_NOWHERE = np.zeros((0, 2), dtype=np.int64)
_UNSAFE = ("<", ">", "&", "\u2028", "\u2029")


def safe_json(value: Any) -> str:
    """JSON that can stand in a script element: nothing in it can end the element or be read as HTML.

    >>> safe_json("</script><b>&")
    '"\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e\\\\u0026"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in _UNSAFE:
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def packed(array: np.ndarray, kind: str) -> str:
    """Numbers as base64 of little-endian values: "u1", "u2", "u4", "i1", "f4"."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()).decode()


def pack_drawings(looks: Sequence[Depiction], most_edges: int, drawn: np.ndarray) -> dict[str, Any]:
    """Nodes and edges of all graphs in flat arrays.

    Parameters
    ----------
    looks : list of Depiction [N]
    most_edges : int
        Edges drawn of one graph, at most: the first ones; the page says when there are more.
    drawn : ndarray [N] of bool
        Which graphs are drawn; of the others the page knows the numbers of nodes and edges only, and says so.
    """
    sizes = np.array([len(look.names) for look in looks])
    counts = np.array([look.edges.shape[1] for look in looks])
    shown = [look for look, there in zip(looks, drawn, strict=True) if there]
    kept = np.minimum(counts, most_edges)[drawn]
    wide = _index_kind(sizes[drawn])
    edges = [look.edges[:, :most].T for look, most in zip(shown, kept, strict=True)]
    names = [None if not there or _plain_names(look) else look.names for look, there in zip(looks, drawn, strict=True)]
    text = (_text_codes([getattr(look, part) for look in shown], sizes[drawn]) for part in ("symbols", "labels"))
    symbols, labels = text
    return {
        "sizes": packed(sizes, "u4"),
        "counts": packed(np.where(drawn, np.minimum(counts, most_edges), 0), "u4"),
        "all": packed(counts, "u4"),
        "drawn": None if drawn.all() else packed(drawn, "u1"),
        "wide": wide,
        "places": packed(np.concatenate([_NOWHERE, *(_bytes_in_square(look.layout) for look in shown)]), "u1"),
        "edges": packed(np.concatenate([_NOWHERE, *edges]), wide),
        "orders": _edge_bytes([look.orders for look in shown], kept, 1),
        "widths": _edge_bytes([None if one.widths is None else 255 * one.widths for one in shown], kept, 255),
        "weights": _node_bytes([None if one.sizes is None else 255 * one.sizes for one in shown], sizes[drawn]),
        "symbols": symbols,
        "labels": labels,
        "atoms": [int(look.smiles is not None) for look in looks] if any(look.smiles for look in looks) else None,
        "names": names if any(names) else None,
        "directed": any(look.directed for look in looks),
    }


def drawing_bytes(looks: Sequence[Depiction], most_edges: int) -> np.ndarray:
    """Bytes that the drawing of each graph needs on the page, at most [N]: numbers as base64, names and labels as JSON.

    A label counts for the first graph that has it.
    """
    sizes = np.array([len(look.names) for look in looks])
    counts = np.minimum([look.edges.shape[1] for look in looks], most_edges)
    text, seen = np.zeros(len(looks), dtype=np.int64), set[str]()
    for i, look in enumerate(looks):
        new = set(look.labels or ()) - seen
        seen |= new
        named = [] if _plain_names(look) else look.names
        text[i] = len(safe_json([*named, *new]).encode())
    per_node = 2 + any(one.sizes is not None for one in looks) + any(one.symbols is not None for one in looks)
    per_node += (
        0 if not seen else 1 if len(seen) < 256 else 2 if len(seen) < 65536 else 4
    )  # the empty label is one more
    per_edge = 2 * int(_index_kind(sizes)[1])
    per_edge += any(one.orders is not None for one in looks) + any(one.widths is not None for one in looks)
    return np.ceil((per_node * sizes + per_edge * counts) * 4 / 3).astype(np.int64) + text


def _index_kind(sizes: np.ndarray) -> str:
    """Numbers that can hold those of nodes."""
    largest = int(sizes.max(initial=1))
    return "u1" if largest <= 256 else "u2" if largest <= 65536 else "u4"


def _plain_names(look: Depiction) -> bool:
    """Whether the page can tell the names of the nodes: numbers, or elements and numbers."""
    return look.smiles is not None or look.names == [str(i) for i in range(len(look.names))]


def _bytes_in_square(places: np.ndarray) -> np.ndarray:
    """Places [n, 2] as whole numbers from 0 to 255, y downwards, the longer side filling the square."""
    low, high = places.min(0), places.max(0)
    unit = (places - (low + high) / 2) / max(float((high - low).max()), 1e-9) + 0.5
    return np.clip(np.rint(255 * np.stack([unit[:, 0], 1 - unit[:, 1]], axis=1)), 0, 255).astype(np.uint8)


def _edge_bytes(parts: list[np.ndarray | None], drawn: np.ndarray, default: int) -> str | None:
    if all(part is None for part in parts):
        return None
    filled = [np.full(kept, default) if one is None else one[:kept] for one, kept in zip(parts, drawn, strict=True)]
    return packed(np.rint(np.concatenate(filled)), "u1")


def _node_bytes(parts: list[np.ndarray | None], sizes: np.ndarray) -> str | None:
    if all(part is None for part in parts):
        return None
    filled = [np.zeros(n) if one is None else one for one, n in zip(parts, sizes, strict=True)]
    return packed(np.rint(np.concatenate(filled)), "u1")


def _text_codes(parts: list[list[str] | None], sizes: np.ndarray) -> dict[str, Any] | None:
    """Texts of all nodes as places in a table of the different ones; the most frequent first."""
    if all(part is None for part in parts):
        return None
    flat = [text for part, n in zip(parts, sizes, strict=True) for text in (part or [""] * n)]
    table, place, counts = np.unique(np.array(flat, dtype=object).astype(str), return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    kind = "u1" if len(table) <= 256 else "u2" if len(table) <= 65536 else "u4"
    return {"table": table[order].tolist(), "codes": packed(rank[place.reshape(-1)], kind), "wide": kind}


def explanation_bytes(sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Bytes that an explanation needs for a graph of this many nodes and edges, at most, as base64 [N]."""
    return np.ceil((6 * sizes + 2 * counts + 24) * 4 / 3).astype(np.int64)


def pack_explanation(
    explanation: Explanation,
    looks: tuple[Depiction, Depiction],
    most_edges: int,
    terms: dict[str, int],
    classes: list[str],
) -> bytes:
    """One explanation: shares of nodes and edges, the heaviest match of each node, terms, and what speaks for a class.

    `terms` numbers the names of terms, and grows.
    """
    edges = [_by_edge(explanation.edge_shares(side), looks[side], most_edges) for side in (0, 1)]
    shares = [explanation.source_share, explanation.target_share, *(edges if explanation.edge_ends is not None else [])]
    found = [struct.pack("<fB", explanation.distance, explanation.edge_ends is not None), _signed(shares)]
    for plan in (explanation.plan, explanation.plan.T):
        best = _partners(plan)
        mass = plan[np.arange(len(plan)), best] * len(plan)  # of what the node has
        found += [best.astype("<u2").tobytes(), np.rint(255 * np.clip(mass, 0, 1)).astype(np.uint8).tobytes()]
    listed = list((explanation.term_share or {}).items())
    kept = listed[:MOST_TERMS] if len(listed) <= MOST_TERMS else listed[: MOST_TERMS - 1]
    if len(listed) > len(kept):
        kept.append(("all others together", sum(share for _, share in listed[len(kept) :])))
    found.append(bytes([len(kept)]))
    for name, share in kept:
        found.append(struct.pack("<Hf", terms.setdefault(name, len(terms)), share))
    found.append(_evidence(explanation, classes))
    return b"".join(found)


def _partners(plan: np.ndarray) -> np.ndarray:
    """Whom each node is shown as matched with [n]: one to one as far as it goes, the others by their heaviest match."""
    best = plan.argmax(1)
    if max(plan.shape) <= _MOST_ASSIGNED:
        rows, columns = linear_sum_assignment(-plan)
        there = plan[rows, columns] > 0
        best[rows[there]] = columns[there]
    return best


def _by_edge(shares: dict[tuple[int, int], float], look: Depiction, most_edges: int) -> np.ndarray:
    """Shares of the edges that are drawn, in their order."""
    pairs = look.edges[:, :most_edges].T.tolist()
    return np.array([shares.get((min(a, b), max(a, b)), 0.0) for a, b in pairs])


def _signed(parts: Sequence[np.ndarray]) -> bytes:
    """Numbers as signed bytes, after the largest of them in absolute value."""
    joined = np.concatenate(parts)
    top = max(float(np.abs(joined).max(initial=0.0)), 1e-12)
    return struct.pack("<f", top) + np.rint(127 * joined / top).astype(np.int8).tobytes()


def _evidence(explanation: Explanation, classes: list[str]) -> bytes:
    """1 and what speaks for which class; 0 where nothing was learned."""
    found = explanation.evidence
    if found is None:
        return bytes([0])
    place = {name: i for i, name in enumerate(classes)}
    towards = -1 if found.is_number else place.get(found.towards, -1)
    against = -1 if found.against is None else place.get(found.against, -1)
    return struct.pack("<Bhhf", 1, towards, against, found.change) + _signed([found.source, found.target])
