"""Small SVG drawings of graphs for notebooks: nodes and edges coloured by numbers, molecules drawn by RDKit."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from .depiction import Depiction

# Purple takes off, orange adds: told apart by the colour-blind, on white paper.
_NEGATIVE, _NEUTRAL, _POSITIVE = (94, 60, 153), (236, 236, 236), (230, 97, 1)
_MARGIN = 14
_VISIBLE = 0.02  # share of the largest value from which an atom or bond is coloured


def colour(value: float) -> tuple[int, int, int]:
    """Of a value between −1 and 1.

    >>> colour(-1.0), colour(0.0), colour(1.0)
    ((94, 60, 153), (236, 236, 236), (230, 97, 1))
    """
    end, part = (_POSITIVE, min(value, 1.0)) if value >= 0 else (_NEGATIVE, min(-value, 1.0))
    return tuple(round(a + part * (b - a)) for a, b in zip(_NEUTRAL, end, strict=True))  # type: ignore[return-value]


def graph_svg(
    look: Depiction,
    *,
    side: int = 220,
    node_values: np.ndarray | None = None,
    edge_values: dict[tuple[int, int], float] | None = None,
    alt: str = "",
) -> str:
    """A graph as SVG.

    Parameters
    ----------
    look : Depiction
    side : int
        Width and height in pixels.
    node_values : ndarray [n], optional
        Between −1 and 1: colours of the nodes.
    edge_values : dict by two nodes, the smaller first, optional
        Between −1 and 1: colours of edges.
    alt : str
        What it shows, in words.
    """
    values = np.zeros(len(look.names)) if node_values is None else np.asarray(node_values)
    drawn = _molecule(look, side, values, edge_values or {}) if look.smiles is not None else None
    if drawn is not None:
        return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
    places = _fitted(look.layout, side)
    lines = []
    for a, b in look.edges.T.tolist():
        value = (edge_values or {}).get((min(a, b), max(a, b)), 0.0)
        stroke = _css(value) if abs(value) > _VISIBLE else "#9aa3ad"
        ends = "x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}'".format(*places[a], *places[b])
        lines.append(f"<line {ends} stroke='{stroke}' stroke-width='{1.2 + 3 * abs(value):.1f}'/>")
    sizes = np.full(len(places), 0.6) if look.sizes is None else look.sizes
    for name, (x, y), value, size in zip(look.names, places, values, sizes, strict=True):
        circle = f"cx='{x:.1f}' cy='{y:.1f}' r='{2 + 5 * size:.1f}' fill='{_css(value)}' stroke='#444'"
        lines.append(f"<circle {circle}><title>{escape(name)}</title></circle>")
    frame = f"width='{side}' height='{side}' viewBox='0 0 {side} {side}'"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' role='img' aria-label='{escape(alt)}' {frame}>{''.join(lines)}</svg>"
    )


def _molecule(look: Depiction, side: int, values: np.ndarray, edges: dict[tuple[int, int], float]) -> str | None:
    """A molecule by RDKit, with coloured atoms and bonds; None without RDKit."""
    try:
        from rdkit import Chem
        from rdkit.Chem.Draw import rdMolDraw2D
    except ImportError:
        return None
    molecule = Chem.MolFromSmiles(look.smiles)
    atoms = {i: _rgb(value) for i, value in enumerate(values.tolist()) if abs(value) > _VISIBLE}
    bonds: dict[int, Any] = {}
    for bond in molecule.GetBonds():
        a, b = sorted((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()))
        if abs(edges.get((a, b), 0.0)) > _VISIBLE:
            bonds[bond.GetIdx()] = _rgb(edges[a, b])
    canvas = rdMolDraw2D.MolDraw2DSVG(side, side)
    options: Any = canvas.drawOptions()
    options.clearBackground = False
    rdMolDraw2D.PrepareAndDrawMolecule(
        canvas, molecule, highlightAtoms=list(atoms), highlightAtomColors=atoms, highlightBonds=list(bonds),
        highlightBondColors=bonds,
    )  # fmt: skip
    canvas.FinishDrawing()
    text = canvas.GetDrawingText()
    return text[text.index("<svg") :].strip()


def _fitted(places: np.ndarray, side: int) -> np.ndarray:
    """Places [n, 2] moved into a square of this side, y downwards."""
    low, high = places.min(0), places.max(0)
    scale = (side - 2 * _MARGIN) / max(float((high - low).max()), 1e-9)
    centred = (places - (low + high) / 2) * scale
    return np.stack([side / 2 + centred[:, 0], side / 2 - centred[:, 1]], axis=1)


def _css(value: float) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour(value))


def _rgb(value: float) -> tuple[float, ...]:
    return tuple(part / 255 for part in colour(value))
