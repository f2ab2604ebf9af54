"""How graphs look: names and places of their nodes, molecules as molecules, and small SVG drawings for notebooks."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from .collection import Graphs
from .placement import place_nodes
from .sources.pyg import DRAWING
from .sources.raw_graph import as_numpy, first_text
from .sources.smiles_limits import check_rings

_MOST_DRAWN_RINGS = 300  # of a molecule: RDKit takes 15 s to place the 4,108 of [12]cycloparaphenylene
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class Depiction:
    """One graph, ready to be drawn."""

    names: list[str]  # what the user calls each node: its id in NetworkX, "C1" of an atom, else its index [n]
    edges: np.ndarray  # each edge once; with directions, from tail to head [2, e]
    places: np.ndarray | None = None  # of the nodes (x to the right, y upwards), where they are known [n, 2]
    symbols: list[str] | None = None  # what is written in place of a node: elements, "" for carbon [n]
    orders: np.ndarray | None = None  # lines that an edge is drawn with: 1, 2 or 3, of bonds [e]
    widths: np.ndarray | None = None  # absolute weights of the edges, from 0 to 1 [e]
    sizes: np.ndarray | None = None  # the only attribute of nodes, if just one, from 0 to 1 over all graphs [n]
    labels: list[str] | None = None  # of the nodes, as text [n]
    directed: bool = False
    smiles: str | None = None  # of a molecule whose atoms are the nodes

    @cached_property
    def layout(self) -> np.ndarray:
        """Where the nodes are drawn [n, 2]: their places, or by their edges."""
        return place_nodes(len(self.names), self.edges) if self.places is None else self.places


def depictions(originals: Any, graphs: Graphs) -> list[Depiction]:
    """How each graph looks.

    Parameters
    ----------
    originals : list of graphs, or None
        What the user has: `Data` with `smiles` are molecules (needs RDKit); `Data.pos` [n, 2], or what `Data.drawing`
        names, and the attribute "pos" of NetworkX nodes are places.
    graphs : Graphs
        The same as read.

    Examples
    --------
    >>> import networkx as nx
    >>> from graph_metric_learn.graphs import as_graphs
    >>> flights = nx.path_graph(["Oslo", "Rome", "Cairo"])
    >>> depictions([flights], as_graphs([flights]))[0].names
    ['Oslo', 'Rome', 'Cairo']
    """
    data = graphs.edge_data
    directed = data is not None and data.directed
    ends = data.ends if data is not None and directed else graphs.edges
    rows = np.arange(ends.shape[1]) if directed else np.flatnonzero(ends[0] < ends[1])
    rows = rows[np.argsort(ends[0][rows], kind="stable")]
    cuts = np.searchsorted(ends[0][rows], graphs.offsets)
    widths = _widths(graphs, ends[:, rows])
    sizes = None
    if graphs.x is not None and graphs.x.shape[1] == 1:
        sizes = (graphs.x[:, 0] - graphs.x.min()) / max(float(np.ptp(graphs.x)), 1e-300)
    looks = []
    for i, start in enumerate(graphs.offsets[:-1]):
        end, part = graphs.offsets[i + 1], slice(cuts[i], cuts[i + 1])
        plain = Depiction(
            names=[str(node) for node in range(end - start)],
            edges=ends[:, rows[part]] - start,
            widths=None if widths is None else widths[part],
            sizes=None if sizes is None else sizes[start:end],
            labels=None if graphs.labels is None else [", ".join(map(str, row)) for row in graphs.labels[start:end]],
            directed=directed,
        )
        looks.append(plain if originals is None else _as_it_came(originals[i], plain))
    return looks


def _as_it_came(original: Any, plain: Depiction) -> Depiction:
    """The depiction with what the user's own object says."""
    n = len(plain.names)
    own: dict[str, Any] = {}
    if hasattr(original, "nodes") and hasattr(original, "adj"):  # NetworkX
        nodes = list(original.nodes(data="pos"))
        own = {"names": [str(node) for node, _ in nodes], "places": _as_places([place for _, place in nodes], n)}
    elif hasattr(original, "to_dict"):  # Data
        stored = original.to_dict()
        own = {"places": _as_places(stored.get(first_text(stored.get(DRAWING)) or "pos"), n)}
        smiles = first_text(stored.get("smiles"))
        if smiles is not None:
            own |= _of_molecule(smiles, n, plain.edges) or {}
    return replace(plain, **own)


def _as_places(values: Any, n: int) -> np.ndarray | None:
    """Places [n, 2] as numbers, None unless they are that."""
    try:
        places = np.asarray(as_numpy(values), dtype=float)
    except (TypeError, ValueError):
        return None
    return places if places.shape == (n, 2) and np.isfinite(places).all() else None


def _of_molecule(smiles: str, n: int, edges: np.ndarray) -> dict[str, Any] | None:
    """What RDKit knows of a molecule: symbols, places, bonds; None without RDKit, or if its atoms are not the nodes."""
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor
    except ImportError:
        return None
    with rdBase.BlockLogs():
        try:
            check_rings(smiles)
        except ValueError:
            return None
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None or molecule.GetNumAtoms() != n or molecule.GetRingInfo().NumRings() > _MOST_DRAWN_RINGS:
            return None
        with suppress(ValueError):  # bonds then stay aromatic, and are drawn as single ones
            Chem.Kekulize(molecule)
        rdDepictor.Compute2DCoords(molecule)
    bonds = [molecule.GetBondBetweenAtoms(*pair) for pair in edges.T.tolist()]
    if None in bonds:
        return None
    atoms = list(molecule.GetAtoms())
    return {
        "names": [f"{atom.GetSymbol()}{atom.GetIdx() + 1}" for atom in atoms],
        "symbols": [_symbol(atom) for atom in atoms],
        "places": molecule.GetConformer().GetPositions()[:, :2],
        "orders": np.array([min(3, max(1, int(bond.GetBondTypeAsDouble()))) for bond in bonds], dtype=np.int64),
        "labels": [atom.GetSymbol() for atom in atoms],
        "smiles": smiles,
    }


def _symbol(atom: Any) -> str:
    """How an atom is written: "OH", "NH₂", "N⁺"; carbon with bonds is where lines meet, and is not written."""
    symbol, hydrogens, charge = atom.GetSymbol(), atom.GetTotalNumHs(), atom.GetFormalCharge()
    if symbol == "C" and charge == 0 and atom.GetDegree() > 0:
        return ""
    count = str(hydrogens).translate(_SUBSCRIPTS) if hydrogens > 1 else ""
    sign = "" if charge == 0 else ("⁺" if charge > 0 else "⁻") * min(abs(charge), 3)
    return f"{symbol}{'H' + count if hydrogens else ''}{sign}"


def _widths(graphs: Graphs, ends: np.ndarray) -> np.ndarray | None:
    """Absolute weights of the edges [e] from 0 to 1, None without weights."""
    if graphs.weights is None or ends.shape[1] == 0:
        return None
    values = np.abs(np.asarray(graphs.weights[ends[0], ends[1]]).reshape(-1))
    return values / max(float(values.max()), 1e-300)


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
    """A graph as SVG of `side` pixels; `alt` says in words what it shows.

    Nodes are coloured by values [n], edges by those of two nodes, the smaller first, all of them between −1 and 1.
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
    frame = f"aria-label='{escape(alt)}' width='{side}' height='{side}' viewBox='0 0 {side} {side}'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' role='img' {frame}>{''.join(lines)}</svg>"


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
