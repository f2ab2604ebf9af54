"""Graphs and explanations in few bytes, and text that is safe inside a page.

Coordinates are quantised to a byte, shares to a signed byte of the largest share in the pair. The script of the page,
`static/explorer_data.js`, is the reader of what is written here.
"""

from __future__ import annotations

import base64
import json
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ...graphs.depiction import Depiction
from ...metrics.explanation import Evidence, Explanation

MOST_TERMS = 6  # of an explanation, the others together
_MOST_ASSIGNED = 200  # nodes up to which matches are made one to one
_NO_ROWS = np.zeros((0, 2), dtype=np.int64)
_UNSAFE = ("<", ">", "&", "\u2028", "\u2029")


def safe_json(value: Any) -> str:
    """JSON that can stand in a script element: nothing in it can end the element or be read as HTML.

    >>> safe_json("</script><b>&")
    '"\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e\\\\u0026"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in _UNSAFE:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "backslashreplace").decode()  # of names in another encoding, escapes remain


def packed(array: np.ndarray, kind: str) -> str:
    """Numbers of any shape as base64 of little-endian values: "u1", "u2", "u4", "i1", "f4"."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()).decode()


def pack_drawings(looks: Sequence[Depiction], most_edges: int, drawn: np.ndarray) -> dict[str, Any]:
    """Nodes and edges of all graphs [N] in flat arrays.

    Of one graph, the first `most_edges` are drawn; the page says when there are more. Of graphs that are not `drawn`
    [N], it knows the numbers of nodes and edges only, and says so.
    """
    sizes = np.array([len(look.names) for look in looks])
    counts = np.array([look.edges.shape[1] for look in looks])
    kept = np.minimum(counts, most_edges)
    shown = [look for look, there in zip(looks, drawn, strict=True) if there]
    shown_sizes, shown_kept = sizes[drawn], kept[drawn]
    kind = index_kind(int(shown_sizes.max(initial=1)))
    edges = [look.edges[:, :most].T for look, most in zip(shown, shown_kept, strict=True)]
    names = [None if not there or _plain_names(look) else look.names for look, there in zip(looks, drawn, strict=True)]
    widths = [None if look.widths is None else 255 * look.widths for look in shown]
    weights = [None if look.sizes is None else 255 * look.sizes for look in shown]
    return {
        "sizes": packed(sizes, "u4"),
        "counts": packed(np.where(drawn, kept, 0), "u4"),
        "all": packed(counts, "u4"),
        "drawn": None if drawn.all() else packed(drawn, "u1"),
        "wide": kind,
        "places": packed(np.concatenate([_NO_ROWS, *(_bytes_in_square(look.layout) for look in shown)]), "u1"),
        "edges": packed(np.concatenate([_NO_ROWS, *edges]), kind),
        "orders": _bytes_or_none([look.orders for look in shown], shown_kept, default=1),
        "widths": _bytes_or_none(widths, shown_kept, default=255),
        "weights": _bytes_or_none(weights, shown_sizes, default=0),
        "symbols": _text_codes([look.symbols for look in shown], shown_sizes),
        "labels": _text_codes([look.labels for look in shown], shown_sizes),
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
    per_node = 2 + any(look.sizes is not None for look in looks) + any(look.symbols is not None for look in looks)
    if seen:
        per_node += int(index_kind(len(seen) + 1)[1])  # the empty label is one more
    per_edge = 2 * int(index_kind(int(sizes.max(initial=1)))[1])
    per_edge += any(look.orders is not None for look in looks) + any(look.widths is not None for look in looks)
    return np.ceil((per_node * sizes + per_edge * counts) * 4 / 3).astype(np.int64) + text


def index_kind(count: int) -> str:
    """The smallest kind of number that can hold indices of so many things.

    >>> index_kind(256), index_kind(257), index_kind(65537)
    ('u1', 'u2', 'u4')
    """
    return "u1" if count <= 256 else "u2" if count <= 65536 else "u4"


def _plain_names(look: Depiction) -> bool:
    """Whether the page can tell the names of the nodes: numbers, or elements and numbers."""
    return look.smiles is not None or look.names == [str(i) for i in range(len(look.names))]


def _bytes_in_square(positions: np.ndarray) -> np.ndarray:
    """Positions [n, 2] as whole numbers from 0 to 255, y downwards, the longer side filling the square."""
    low, high = positions.min(0), positions.max(0)
    unit = (positions - (low + high) / 2) / max(float((high - low).max()), 1e-9) + 0.5
    return np.clip(np.rint(255 * np.stack([unit[:, 0], 1 - unit[:, 1]], axis=1)), 0, 255).astype(np.uint8)


def _bytes_or_none(parts: Sequence[np.ndarray | None], counts: np.ndarray, default: int) -> str | None:
    """The first numbers of each graph, as many as counted, as bytes; None where no graph has any."""
    if all(part is None for part in parts):
        return None
    pairs = zip(parts, counts, strict=True)
    filled = [np.full(count, default) if part is None else part[:count] for part, count in pairs]
    return packed(np.rint(np.concatenate(filled)), "u1")


def _text_codes(parts: list[list[str] | None], sizes: np.ndarray) -> dict[str, Any] | None:
    """Texts of all nodes as indices in a table of the different ones; the most frequent first."""
    if all(part is None for part in parts):
        return None
    flat = [text for part, n in zip(parts, sizes, strict=True) for text in (part or [""] * n)]
    counts = Counter(flat)
    table = sorted(counts, key=lambda text: (-counts[text], text))
    codes, kind = {text: code for code, text in enumerate(table)}, index_kind(len(table))
    return {"table": table, "codes": packed(np.array([codes[text] for text in flat]), kind), "wide": kind}


def explanation_bytes(sizes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Bytes that an explanation needs for a graph of this many nodes and edges, at most, as base64 [N]."""
    return np.ceil((6 * sizes + 2 * counts + 24) * 4 / 3).astype(np.int64)


@dataclass
class PackedExplanations:
    """Explanations of pairs of graphs, one after the other."""

    pairs: list[tuple[int, int]] = field(default_factory=list)  # indices of the graphs
    records: list[bytes] = field(default_factory=list)
    terms: dict[str, int] = field(default_factory=dict)  # names of terms, numbered

    def as_dict(self) -> dict[str, Any]:
        """As the page holds them: records joined, and where each of them ends."""
        return {
            "pairs": packed(np.array(self.pairs).reshape(-1, 2), "u4"),
            "ends": packed(np.cumsum([0, *map(len, self.records)]), "u4"),
            "records": packed(np.frombuffer(b"".join(self.records), dtype=np.uint8), "u1"),
            "terms": list(self.terms),
        }


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
    with_edges = explanation.edge_ends is not None
    shares = [explanation.source_share, explanation.target_share]
    if with_edges:
        shares += [_by_edge(explanation.edge_shares(side), looks[side], most_edges) for side in (0, 1)]
    parts = [struct.pack("<fB", explanation.distance, with_edges), _signed(shares)]
    for plan in (explanation.plan, explanation.plan.T):
        partners = _partners(plan)
        mass = plan[np.arange(len(plan)), partners] * len(plan)  # of what the node has
        parts += [partners.astype("<u2").tobytes(), np.rint(255 * np.clip(mass, 0, 1)).astype(np.uint8).tobytes()]
    kept = list((explanation.term_share or {}).items())
    if len(kept) > MOST_TERMS:
        others = sum(share for _, share in kept[MOST_TERMS - 1 :])
        kept = [*kept[: MOST_TERMS - 1], ("all others together", others)]
    parts.append(bytes([len(kept)]))
    parts += [struct.pack("<Hf", terms.setdefault(name, len(terms)), share) for name, share in kept]
    return b"".join([*parts, _evidence(explanation.evidence, classes)])


def _partners(plan: np.ndarray) -> np.ndarray:
    """The node that each node is shown as matched with [n]: one to one as far as it goes, else the heaviest match."""
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
    """Numbers as signed bytes, behind the largest of them in absolute value."""
    joined = np.concatenate(parts)
    top = max(float(np.abs(joined).max(initial=0.0)), 1e-12)
    return struct.pack("<f", top) + np.rint(127 * joined / top).astype(np.int8).tobytes()


def _evidence(evidence: Evidence | None, classes: list[str]) -> bytes:
    """1 and what speaks for which class; 0 where nothing was learned."""
    if evidence is None:
        return bytes([0])
    codes = {name: code for code, name in enumerate(classes)}
    towards = -1 if evidence.is_number else codes.get(evidence.towards, -1)
    against = -1 if evidence.against is None else codes.get(evidence.against, -1)
    return struct.pack("<Bhhf", 1, towards, against, evidence.change) + _signed([evidence.source, evidence.target])
