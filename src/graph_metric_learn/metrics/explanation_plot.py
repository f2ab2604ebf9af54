"""The matplotlib drawing of an explanation: two graphs, what their nodes cost, and who is matched with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..graphs.depiction import Depiction

if TYPE_CHECKING:
    from .explanation import Explanation

_SHIFT = 1.6  # from one graph to the other, both being 1 wide
_COLOURS = "PuOr_r"  # purple takes off, orange adds: told apart by the colour-blind
_BOND_GAP = 0.012  # between the lines of a double bond
_VISIBLE = 0.02  # share of the largest from which an edge is coloured
_MOST_WRITTEN = 60  # nodes up to which their names are written


def plot_explanation(explanation: Explanation, ax: Any, k: int, positions: tuple[Any, Any] | None) -> Any:
    """See :meth:`Explanation.plot`."""
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(9, 4.8), layout="constrained").add_subplot()
    looks = explanation.looks
    places = [
        _unit_square(look.layout if positions is None else np.asarray(positions[side], dtype=float))
        for side, look in enumerate(looks)
    ]
    places[1][:, 0] += _SHIFT
    matches = explanation.matches(k)
    heaviest = max([mass for _, _, mass in matches], default=1.0)
    for i, j, mass in matches:
        ends = np.stack([places[0][i], places[1][j]]).T
        ax.plot(*ends, color="0.55", linewidth=0.4 + 1.6 * mass / heaviest, alpha=0.5, zorder=1)
    edge_shares = [explanation.edge_shares(side) for side in (0, 1)]
    of_edges = [abs(share) for found in edge_shares for share in found.values()]
    of_nodes = [float(np.abs(share).max()) for share in (explanation.source_share, explanation.target_share)]
    top = max([1e-12, *of_nodes, *of_edges])
    dots = None
    for side, share in enumerate((explanation.source_share, explanation.target_share)):
        _draw_edges(ax, places[side], looks[side], edge_shares[side], top)
        dots = ax.scatter(
            *places[side].T, c=share, cmap=_COLOURS, vmin=-top, vmax=top, edgecolors="0.25", zorder=3,
            s=190 if looks[side].symbols else 70, linewidths=0.0 if looks[side].symbols else 0.8,
        )  # fmt: skip
        _write_nodes(ax, places[side], looks[side])
    if ax.figure is not None and dots is not None:
        bar = ax.figure.colorbar(dots, ax=ax, shrink=0.7, format=lambda value, _: f"{100 * value:.0f} %")
        bar.set_label("share of the squared distance")
    ax.set_title(explanation.title, parse_math=False)  # a SMILES may hold dollar signs
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _draw_edges(ax: Any, places: np.ndarray, look: Depiction, shares: dict[tuple[int, int], float], top: float) -> None:
    from matplotlib import colormaps

    colours = colormaps[_COLOURS]
    for edge, (a, b) in enumerate(look.edges.T.tolist()):
        part = shares.get((min(a, b), max(a, b)), 0.0) / top
        lines = 1 if look.orders is None else int(look.orders[edge])
        ends = places[[a, b]]
        along = ends[1] - ends[0]
        aside = np.array([-along[1], along[0]]) / max(float(np.linalg.norm(along)), 1e-12) * _BOND_GAP
        if abs(part) >= _VISIBLE:
            colour = colours(0.5 + part / 2)
            ax.plot(*ends.T, color=colour, linewidth=3.0 + 6.0 * abs(part), zorder=1.5, solid_capstyle="round")
        for line in range(lines):
            at = ends + aside * (2 * line - lines + 1)
            ax.plot(*at.T, color="0.35", linewidth=1.2, zorder=2)


def _write_nodes(ax: Any, places: np.ndarray, look: Depiction) -> None:
    """Symbols of atoms; other nodes by their names, where there are few and they are not mere numbers."""
    if look.symbols is not None:
        texts, size = look.symbols, 9
    elif len(look.names) <= _MOST_WRITTEN and look.names != [str(i) for i in range(len(look.names))]:
        texts, size = [name if len(name) <= 12 else f"{name[:11]}…" for name in look.names], 6
    else:
        return
    for text, place in zip(texts, places, strict=True):
        if text:
            ax.text(*place, text, ha="center", va="center", fontsize=size, zorder=4, parse_math=False)


def _unit_square(places: np.ndarray) -> np.ndarray:
    low, high = places.min(0), places.max(0)
    return (places - low) / max(float((high - low).max()), 1e-12)
