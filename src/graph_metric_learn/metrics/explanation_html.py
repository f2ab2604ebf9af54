"""What notebooks show of an explanation: both graphs, coloured by what their nodes cost, and the terms in words."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from ..graphs.depiction import colour, graph_svg

if TYPE_CHECKING:
    from .explanation import Explanation

_N_TERMS = 6  # terms listed
_N_MATCHES = 10


def explanation_html(explanation: Explanation) -> str:
    """A piece of HTML, on white paper whatever the notebook: its colours mean something."""
    shares = (explanation.source_share, explanation.target_share)
    edges = [explanation.edge_shares(side) for side in (0, 1)]
    top = max(1e-12, *(float(np.abs(share).max()) for share in shares), *(abs(v) for e in edges for v in e.values()))
    names = explanation.names or ("first graph", "second graph")
    first, *_, last = (line.strip().capitalize() for line in explanation.in_words())
    drawings = "".join(
        f"<figure style='margin:0'>{_drawn(explanation, side, top)}<figcaption>{escape(name)}</figcaption></figure>"
        for side, name in enumerate(names)
    )
    parts = [
        f"<p style='margin:0 0 .6em'><b>{escape(first.removeprefix('Explanation: '))}</b></p>",
        f"<div style='display:flex;gap:1em;flex-wrap:wrap'>{drawings}{_bar(top)}</div>",
        _terms(explanation),
        _evidence(explanation),
        _matches(explanation),
        _paragraph(f"{last}."),
    ]
    return f"<div style='background:#fff;color:#222;padding:.8em;max-width:60em'>{''.join(parts)}</div>"


def _paragraph(text: str) -> str:
    return f"<p style='margin:.6em 0 0'>{escape(text)}</p>"


def _terms(explanation: Explanation) -> str:
    listed = list((explanation.term_share or {}).items())[:_N_TERMS]
    items = "".join(f"<li>{100 * share:.1f} % {escape(name)}</li>" for name, share in listed)
    return _paragraph("Of the squared distance:") + f"<ul style='margin:0'>{items}</ul>" if items else ""


def _drawn(explanation: Explanation, side: int, top: float) -> str:
    share = (explanation.source_share, explanation.target_share)[side]
    edges = {pair: value / top for pair, value in explanation.edge_shares(side).items()}
    alt = f"graph of {len(share)} nodes, coloured by their share of the squared distance"
    return graph_svg(explanation.looks[side], side=260, node_values=share / top, edge_values=edges, alt=alt)


def _bar(top: float) -> str:
    """The colours and the shares that they stand for."""
    steps = "".join(
        "<span style='display:block;height:9px;background:rgb({},{},{})'></span>".format(*colour(value))
        for value in np.linspace(1, -1, 21)
    )
    ends = "".join(f"<span>{text}</span>" for text in (f"{100 * top:.0f} %", "0", f"−{100 * top:.0f} %"))
    labels = f"<span style='display:flex;flex-direction:column;justify-content:space-between'>{ends}</span>"
    frame = "display:flex;gap:.4em;height:189px;font-size:.8em"
    return f"<div style='{frame}'><span style='width:14px'>{steps}</span>{labels}</div>"


def _evidence(explanation: Explanation) -> str:
    found = explanation.evidence
    if found is None:
        return ""
    what = f"raise {found.towards} most" if found.is_number else f"speak for {found.towards} most"
    parts = []
    for names, values in zip(explanation.node_names, (found.source, found.target), strict=True):
        best = [i for i in np.argsort(-values, kind="stable")[:3] if values[i] > 0]
        parts.append(", ".join(f"{names[i]} (+{values[i]:.2g})" for i in best) or "none")
    return _paragraph(f"Nodes that {what}: {parts[0]}; in the second graph {parts[1]}.")


def _matches(explanation: Explanation) -> str:
    one, two = explanation.node_names
    listed = ", ".join(f"{one[i]}–{two[j]}" for i, j, _ in explanation.matches(_N_MATCHES))
    return _paragraph(f"Heaviest matches: {listed}.")
