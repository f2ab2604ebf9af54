"""How graphs look: what the user calls their nodes, where these are drawn, and molecules as molecules."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .collection import Graphs
from .placement import place_nodes
from .sources.base import as_numpy, first_text
from .sources.pyg import DRAWING

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class Depiction:
    """One graph, ready to be drawn.

    Attributes
    ----------
    names : list of str [n]
        What the user calls each node: a NetworkX node by its id, an atom by its element and number, others by number.
    edges : ndarray [2, e]
        Each edge once; with directions, from tail to head.
    places : ndarray [n, 2] or None
        Where the nodes are (x to the right, y upwards), if that is known.
    symbols : list of str [n] or None
        What is written in place of a node: elements, "" for carbon.
    orders : ndarray [e] or None
        Lines that an edge is drawn with: 1, 2 or 3, of bonds.
    widths : ndarray [e] or None
        Absolute weights of the edges, from 0 to 1.
    sizes : ndarray [n] or None
        The only attribute of nodes, if there is just one, from 0 to 1 over all graphs.
    labels : list of str [n] or None
        Labels of the nodes as text.
    directed : bool
    smiles : str or None
        Of a molecule whose atoms are the nodes.
    """

    names: list[str]
    edges: np.ndarray
    places: np.ndarray | None = None
    symbols: list[str] | None = None
    orders: np.ndarray | None = None
    widths: np.ndarray | None = None
    sizes: np.ndarray | None = None
    labels: list[str] | None = None
    directed: bool = False
    smiles: str | None = None

    @cached_property
    def layout(self) -> np.ndarray:
        """Where the nodes are drawn [n, 2]: their places, or by their edges."""
        return place_nodes(len(self.names), self.edges) if self.places is None else self.places


def depictions(originals: Any, given: Graphs) -> list[Depiction]:
    """How each graph looks.

    Parameters
    ----------
    originals : list of graphs, or None
        What the user has: `Data` with `smiles` are molecules (needs RDKit); `Data.pos` [n, 2], or what `Data.drawing`
        names, and the attribute "pos" of NetworkX nodes are places.
    given : Graphs
        The same as read.

    Examples
    --------
    >>> import networkx as nx
    >>> from graph_metric_learn.graphs import as_graphs
    >>> flights = nx.path_graph(["Oslo", "Rome", "Cairo"])
    >>> depictions([flights], as_graphs([flights]))[0].names
    ['Oslo', 'Rome', 'Cairo']
    """
    data = given.edge_data
    directed = data is not None and data.directed
    ends = data.ends if data is not None and directed else given.edges
    rows = np.arange(ends.shape[1]) if directed else np.flatnonzero(ends[0] < ends[1])
    rows = rows[np.argsort(ends[0][rows], kind="stable")]
    cuts = np.searchsorted(ends[0][rows], given.offsets)
    widths = _widths(given, ends[:, rows])
    sizes = None if given.x is None or given.x.shape[1] != 1 else _unit(given.x[:, 0])
    found = []
    for i, start in enumerate(given.offsets[:-1]):
        end, part = given.offsets[i + 1], slice(cuts[i], cuts[i + 1])
        plain = Depiction(
            names=[str(node) for node in range(end - start)],
            edges=ends[:, rows[part]] - start,
            widths=None if widths is None else widths[part],
            sizes=None if sizes is None else sizes[start:end],
            labels=None if given.labels is None else [", ".join(map(str, row)) for row in given.labels[start:end]],
            directed=directed,
        )
        found.append(plain if originals is None else _as_it_came(originals[i], plain))
    return found


def _as_it_came(original: Any, plain: Depiction) -> Depiction:
    """The depiction with what the user's own object says."""
    n, options = len(plain.names), dict(plain.__dict__)
    if hasattr(original, "nodes") and hasattr(original, "adj"):  # NetworkX
        nodes = list(original.nodes(data="pos"))
        options["names"] = [str(node) for node, _ in nodes]
        options["places"] = _as_places([place for _, place in nodes], n)
    elif hasattr(original, "to_dict"):  # Data
        stored = original.to_dict()
        options["places"] = _as_places(stored.get(first_text(stored.get(DRAWING)) or "pos"), n)
        smiles = first_text(stored.get("smiles"))
        if smiles is not None:
            options |= _of_molecule(smiles, n, plain.edges) or {}
    options.pop("layout", None)
    return Depiction(**options)


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
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None or molecule.GetNumAtoms() != n:
            return None
        with suppress(ValueError):  # bonds then stay aromatic, and are drawn as single ones
            Chem.Kekulize(molecule)
        rdDepictor.Compute2DCoords(molecule)
    places = molecule.GetConformer().GetPositions()[:, :2]
    kinds = {
        frozenset((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())): min(3, max(1, int(bond.GetBondTypeAsDouble())))
        for bond in molecule.GetBonds()
    }
    orders = [kinds.get(frozenset(pair)) for pair in edges.T.tolist()]
    if None in orders:
        return None
    atoms = list(molecule.GetAtoms())
    return {
        "names": [f"{atom.GetSymbol()}{atom.GetIdx() + 1}" for atom in atoms],
        "symbols": [_symbol(atom) for atom in atoms],
        "places": places,
        "orders": np.array(orders, dtype=np.int64),
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


def _widths(given: Graphs, ends: np.ndarray) -> np.ndarray | None:
    """Absolute weights of the edges [e] from 0 to 1, None without weights."""
    if given.weights is None or ends.shape[1] == 0:
        return None
    values = np.abs(np.asarray(given.weights[ends[0], ends[1]]).reshape(-1))
    return values / max(float(values.max()), 1e-300)


def _unit(values: np.ndarray) -> np.ndarray:
    """Numbers moved and scaled to lie between 0 and 1."""
    low, high = float(values.min()), float(values.max())
    return (values - low) / max(high - low, 1e-300)
