"""Drawings of an explanation: by matplotlib, and as HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graphs.depiction import Depiction, colour, graph_svg
from ..metrics.explanation import Explanation
from .render import cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EdgeShares = dict[tuple[int, int], float]  # by two nodes, the smaller first

_N_LISTED = 6  # terms in HTML
_SHIFT = 1.6  # from one graph to the other, both being 1 wide
_COLOURS = "PuOr_r"  # purple takes off, orange adds: told apart by the colour-blind
_BOND_GAP = 0.012  # between the lines of a double bond
_VISIBLE = 0.02  # share of the largest from which an edge is coloured
_MOST_WRITTEN = 60  # nodes up to which their names are written
_LONGEST_NAME = 12  # characters of a name that is written at a node


def plot_explanation(explanation: Explanation, ax: Axes | None, k: int, positions: tuple[Any, Any] | None) -> Axes:
    """See :meth:`Explanation.plot`."""
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(9, 4.8), layout="constrained").add_subplot()
    one, two = (
        _in_unit_square(look.layout if positions is None else np.asarray(positions[side], dtype=float))
        for side, look in enumerate(explanation.looks)
    )
    two[:, 0] += _SHIFT
    matches = explanation.matches(k)
    heaviest = max([mass for _, _, mass in matches], default=1.0)
    for i, j, mass in matches:
        ax.plot(*np.stack([one[i], two[j]]).T, color="0.55", linewidth=0.4 + 1.6 * mass / heaviest, alpha=0.5, zorder=1)
    top = _largest_share(explanation)
    node_shares = (explanation.source_share, explanation.target_share)
    for side, (points, look, shares) in enumerate(zip((one, two), explanation.looks, node_shares, strict=True)):
        _draw_edges(ax, points, look, explanation.edge_shares(side), top)
        dots = ax.scatter(
            points[:, 0], points[:, 1], c=shares, cmap=_COLOURS, vmin=-top, vmax=top,
            s=190 if look.symbols else 70, linewidths=0.0 if look.symbols else 0.8, edgecolors="0.25", zorder=3,
        )  # fmt: skip
        _write_nodes(ax, points, look)
    if ax.figure is not None:
        bar = ax.figure.colorbar(dots, ax=ax, shrink=0.7, format=lambda value, _: f"{100 * value:.0f} %")
        bar.set_label("share of the squared distance")
    ax.set_title(explanation.title, parse_math=False)  # a SMILES may hold dollar signs
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _largest_share(explanation: Explanation) -> float:
    """Of all nodes and edges of both graphs, in absolute value."""
    edges = [share for side in (0, 1) for share in explanation.edge_shares(side).values()]
    return max(1e-12, float(np.abs([*explanation.source_share, *explanation.target_share, *edges]).max()))


def _in_unit_square(points: np.ndarray) -> np.ndarray:
    """Points [n, 2] moved to 0, the longer side being 1."""
    return (points - points.min(0)) / max(float(np.ptp(points, axis=0).max()), 1e-12)


def _draw_edges(ax: Axes, points: np.ndarray, look: Depiction, shares: EdgeShares, top: float) -> None:
    from matplotlib import colormaps

    colours = colormaps[_COLOURS]
    for edge, (a, b) in enumerate(look.edges.T.tolist()):
        share = shares.get((min(a, b), max(a, b)), 0.0) / top
        lines = 1 if look.orders is None else int(look.orders[edge])
        ends = points[[a, b]]
        along = ends[1] - ends[0]
        aside = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-12) * _BOND_GAP
        if abs(share) >= _VISIBLE:
            stroke = colours(0.5 + share / 2)
            ax.plot(*ends.T, color=stroke, linewidth=3.0 + 6.0 * abs(share), zorder=1.5, solid_capstyle="round")
        for line in range(lines):
            ax.plot(*(ends + aside * (2 * line - lines + 1)).T, color="0.35", linewidth=1.2, zorder=2)


def _write_nodes(ax: Axes, points: np.ndarray, look: Depiction) -> None:
    """Symbols of atoms; other nodes by their names, where there are few and they are not mere numbers."""
    if look.symbols is not None:
        texts, size = look.symbols, 9
    elif len(look.names) <= _MOST_WRITTEN and look.names != [str(i) for i in range(len(look.names))]:
        texts, size = [cut(name, _LONGEST_NAME) for name in look.names], 6
    else:
        return
    for text, (x, y) in zip(texts, points, strict=True):
        if text:
            ax.text(x, y, text, ha="center", va="center", fontsize=size, zorder=4, parse_math=False)


def explanation_html(explanation: Explanation) -> str:
    """A piece of HTML, on white paper whatever the notebook: its colours mean something."""
    top = _largest_share(explanation)
    first, *_, last = (line.strip().capitalize() for line in explanation.in_words())
    drawings = _drawing(explanation, 0, top) + _drawing(explanation, 1, top)
    one, two = explanation.node_names
    matches = ", ".join(f"{one[i]}–{two[j]}" for i, j, _ in explanation.matches())
    return (
        "<div style='background:#fff;color:#222;padding:.8em;max-width:60em'>"
        f"<p style='margin:0 0 .6em'><b>{escape(first.removeprefix('Explanation: '))}</b></p>"
        f"<div style='display:flex;gap:1em;flex-wrap:wrap'>{drawings}{_bar(top)}</div>"
        f"{_terms(explanation)}{_evidence(explanation)}"
        f"{_paragraph(f'Heaviest matches: {matches}.')}{_paragraph(f'{last}.')}</div>"
    )


def _paragraph(text: str) -> str:
    return f"<p style='margin:.6em 0 0'>{escape(text)}</p>"


def _drawing(explanation: Explanation, side: int, top: float) -> str:
    """One of the two graphs, with its name below."""
    name = (explanation.names or ("first graph", "second graph"))[side]
    shares = (explanation.source_share, explanation.target_share)[side]
    edges = {pair: share / top for pair, share in explanation.edge_shares(side).items()}
    alt = f"graph of {len(shares)} nodes, coloured by their share of the squared distance"
    drawing = graph_svg(explanation.looks[side], side=260, node_values=shares / top, edge_values=edges, alt=alt)
    return f"<figure style='margin:0'>{drawing}<figcaption>{escape(name)}</figcaption></figure>"


def _bar(top: float) -> str:
    """The colours and the shares that they stand for."""
    steps = "".join(
        "<span style='display:block;height:9px;background:rgb({},{},{})'></span>".format(*colour(value))
        for value in np.linspace(1, -1, 21)
    )
    ends = f"<span>{100 * top:.0f} %</span><span>0</span><span>−{100 * top:.0f} %</span>"
    labels = f"<span style='display:flex;flex-direction:column;justify-content:space-between'>{ends}</span>"
    frame = "display:flex;gap:.4em;height:189px;font-size:.8em"
    return f"<div style='{frame}'><span style='width:14px'>{steps}</span>{labels}</div>"


def _terms(explanation: Explanation) -> str:
    listed = list((explanation.term_share or {}).items())[:_N_LISTED]
    items = "".join(f"<li>{100 * share:.1f} % {escape(name)}</li>" for name, share in listed)
    return _paragraph("Of the squared distance:") + f"<ul style='margin:0'>{items}</ul>" if items else ""


def _evidence(explanation: Explanation) -> str:
    evidence = explanation.evidence
    if evidence is None:
        return ""
    verb, parts = "raise" if evidence.is_number else "speak for", []
    for names, values in zip(explanation.node_names, (evidence.source, evidence.target), strict=True):
        best = [i for i in np.argsort(-values, kind="stable")[:3] if values[i] > 0]
        parts.append(", ".join(f"{names[i]} (+{values[i]:.2g})" for i in best) or "none")
    return _paragraph(f"Nodes that {verb} {evidence.towards} most: {parts[0]}; in the second graph {parts[1]}.")
