"""Molecules as graphs: SMILES strings or RDKit molecules, atoms being nodes and bonds edges."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._core.ragged import offsets
from ..._core.validation import first_few, one_of
from ..graph_vectors import attach
from .coarse_atoms import coarse_codes
from .pyg import ATOM_COARSE, ATOM_STEREO, PlainData
from .smiles_limits import check_molecule, check_rings
from .stereo import stereo_codes

if TYPE_CHECKING:
    from torch_geometric.data import Data

# What each column of node labels says of an atom. The element comes first: metrics may look at the first label alone.
ATOM_LABELS: dict[str, Callable[[Any], int]] = {
    "element": lambda atom: atom.GetAtomicNum(),
    "charge": lambda atom: atom.GetFormalCharge(),
    "aromatic": lambda atom: atom.GetIsAromatic(),
    "ring": lambda atom: atom.IsInRing(),
    "hydrogens": lambda atom: atom.GetTotalNumHs(),
}
_MOST_LISTED = 20  # rows that a warning names one by one


class NothingReadError(ValueError):
    """Of some rows or files that may be left out, none can be read."""


class Molecules(list):
    """A list of `torch_geometric.data.Data`, one per molecule, that knows which rows of the input they came from.

    Attributes
    ----------
    rows : ndarray [G]
        Row of the input of each molecule, from 0: all of them, unless bad ones were skipped.
    """

    rows: np.ndarray

    def __init__(self, graphs: Iterable[Data] = (), rows: np.ndarray | None = None) -> None:
        super().__init__(graphs)
        self.rows = np.arange(len(self)) if rows is None else rows

    @property
    def names(self) -> list[str]:
        """The name of each molecule."""
        return [graph.name for graph in self]

    @property
    def smiles(self) -> list[str]:
        """The SMILES of each molecule."""
        return [graph.smiles for graph in self]


def from_smiles(
    smiles: Iterable[Any],
    *,
    names: Iterable[Any] | None = None,
    labels: Sequence[str] = tuple(ATOM_LABELS),
    on_error: str = "raise",
    descriptors: bool | Sequence[str] | None = None,
) -> Molecules:
    """Molecules as graphs that metrics and classifiers take.

    Needs RDKit: `pip install graph-metric-learn[chem]`.

    Parameters
    ----------
    smiles : sequence of str or rdkit.Chem.Mol
        Hydrogens are nodes only where the molecule has them as atoms: in a SMILES hardly ever, in a `Mol` after
        `Chem.AddHs`. Salts and other molecules of several parts are one graph, single atoms are graphs with one node.
    names : sequence of str, optional
        A name for each row; by default its SMILES, also where a name is missing. Predictors keep the names of their
        reference graphs (`names_`), explanations show them.
    labels : sequence of str
        Which node labels atoms get, in this order: "element" (atomic number), "charge" (formal charge), "aromatic",
        "ring" (both 0 or 1) and "hydrogens" (those that are not nodes).
    on_error : {"raise", "skip"}
        What to do with a row that is no molecule: raise a `ValueError` that names it, or leave it out and name all
        such rows in one warning.
    descriptors : bool or list of str, optional
        RDKit's descriptors of each molecule as a vector of the whole graph, `u` float64 [1, q], which metrics read: all
        of them where True, else those that are named, as in ["MolLogP", "TPSA"]. NaN where a molecule has none. Many
        molecules are shared out among processes, one for each core or those that joblib was told to use.

    Returns
    -------
    Molecules
        A list of `torch_geometric.data.Data` with `node_labels` int64 [n, labels]; `edge_index` [2, e], both directions
        of every bond; `edge_type` int64 [e], the kind of bond as RDKit numbers them: 1 single, 2 double, 3 triple, 12
        aromatic, others for rare kinds; `atom_stereo` uint8 [n], 1 to 4 for the handedness R, S, r and s of an atom, 5
        and 6 for both atoms of a double bond that is E or Z, else 0; `atom_coarse` uint8 [n], what an atom is to other
        molecules, a bit for each of donor, acceptor, acid, base, halogen, aromatic and hydrophobe; and the strings
        `name` and `smiles`. Isotopes are left out.
        Its attribute `rows` [G] says which rows they are, for y: `y[graphs.rows]`.

    Examples
    --------
    >>> ethanol, benzene = from_smiles(["CCO", "c1ccccc1"], names=["ethanol", "benzene"])
    >>> ethanol.node_labels.tolist()  # element, charge, aromatic, ring, hydrogens
    [[6, 0, 0, 0, 3], [6, 0, 0, 0, 2], [8, 0, 0, 0, 1]]
    >>> benzene.name, benzene.num_nodes, benzene.edge_type.unique().tolist()
    ('benzene', 6, [12])
    """
    from .descriptors import describe, descriptor_names

    rows = as_rows(smiles)
    listed_names = None if names is None else list(names)
    if listed_names is not None and len(listed_names) != len(rows):
        raise ValueError(f"{len(rows)} molecules and {len(listed_names)} names: give one name per molecule")
    wanted = descriptor_names(descriptors)
    graphs = read_molecules(
        rows, [f"row {i}" for i in range(len(rows))], names=listed_names, labels=labels, on_error=on_error
    )
    attach(graphs, describe([rows[i] for i in graphs.rows], wanted) if wanted else None)
    return graphs


def read_molecules(
    rows: Sequence[Any],
    places: Sequence[str],
    *,
    names: Sequence[Any] | None = None,
    labels: Sequence[str] = tuple(ATOM_LABELS),
    on_error: str = "raise",
    problems: dict[int, str] | None = None,
    source: str | None = None,
    plain: bool = False,
    stacklevel: int = 3,
) -> Molecules:
    """What `from_smiles` does, for rows that messages call by `places`, as in "line 7", of a `source`.

    Rows may have `problems` other than their SMILES, as in "has no target". `plain` makes `PlainData`, without
    PyTorch Geometric; `stacklevel` says whose line a warning names, as `warnings.warn` counts.
    """
    one_of("on_error", on_error, ("raise", "skip"))
    for label in labels:
        one_of("label", label, ATOM_LABELS)
    if not labels:
        raise ValueError(f"no labels for atoms: choose some of {', '.join(ATOM_LABELS)}")
    flat = _FlatMolecules(labels)
    bad = dict(problems or {})
    texts: list[str] = []
    kept: list[int] = []
    with quiet_rdkit():
        for i, row in enumerate(rows):
            if i not in bad:
                try:
                    molecule = parse(row)
                except ValueError as error:
                    bad[i] = str(error)
                else:
                    flat.add(molecule, row)
                    texts.append(row.strip() if isinstance(row, str) else str(rdkit_chem().MolToSmiles(molecule)))
                    kept.append(i)
                    continue
            if on_error == "raise":
                where = places[i] if source is None else f"{source}, {places[i]}"
                raise ValueError(f"{where}{quoted(row)} {bad[i]} (on_error='skip' leaves such rows out)")
    if bad:
        _warn_skipped(bad, rows, places, "" if source is None else f"{source}: ", stacklevel + 1)
    titles = texts
    if names is not None:
        titles = [text if _is_missing(names[i]) else str(names[i]) for i, text in zip(kept, texts, strict=True)]
    return Molecules(flat.graphs(titles, texts, plain), np.array(kept, dtype=np.int64))


def parse(row: Any) -> Any:
    """The RDKit molecule of a SMILES string or `Mol`, or a `ValueError` that says what is wrong with it."""
    chem = rdkit_chem()
    if isinstance(row, chem.Mol):
        molecule = row
        if molecule.NeedsUpdatePropertyCache() or not _knows_rings(molecule):
            check_molecule(row)
            molecule = chem.Mol(row)  # the caller's own stays as it is
            try:
                chem.SanitizeMol(molecule)
            except ValueError as error:  # what RDKit raises here is one
                raise ValueError(f"is no possible molecule: {_one_line(error)}") from None
    elif isinstance(row, str):
        check_rings(row)
        molecule = chem.MolFromSmiles(row) if row.strip() else None
        if molecule is None:
            raise ValueError(_why_not(row, chem))
    elif _is_missing(row):
        raise ValueError("has no SMILES")
    else:
        raise ValueError(f"is a {type(row).__name__}, expected a SMILES string or an RDKit molecule")
    if molecule.GetNumAtoms() == 0:
        raise ValueError("has no atoms")
    return molecule


def as_rows(smiles: Any) -> list[Any]:
    """SMILES or molecules as a list, in the order given."""
    if isinstance(smiles, str) or not isinstance(smiles, Iterable):
        what = "a single SMILES" if isinstance(smiles, str) else f"a {type(smiles).__name__}"
        raise ValueError(f"got {what}: pass a list of SMILES strings or RDKit molecules")  # noqa: TRY004
    rows = list(smiles)
    if not rows:
        raise ValueError("no molecules were given: pass a list with at least one SMILES")
    return rows


def rdkit_chem() -> Any:
    """The module `rdkit.Chem`, or an error that says how to install it."""
    try:
        from rdkit import Chem
    except ImportError:
        raise ImportError("molecules need RDKit: pip install graph-metric-learn[chem]") from None
    return Chem


def quiet_rdkit() -> Any:
    """A context in which RDKit does not write to its log: what is wrong stands in our own messages."""
    rdkit_chem()
    from rdkit import rdBase

    return rdBase.BlockLogs()


class _FlatMolecules:
    """Atoms and bonds of many molecules in flat arrays: one tensor for all is many times faster than one for each."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.columns = [list(ATOM_LABELS).index(label) for label in labels]
        self.atoms, self.bonds = array("q"), array("q")  # [S, 5] all labels; [B, 3]: two ends and the kind
        self.stereo = array("B")  # [S]
        self.sizes: list[int] = []
        self.counts: list[int] = []

    def add(self, molecule: Any, row: Any) -> None:
        for atom in molecule.GetAtoms():
            self.atoms.extend([label(atom) for label in ATOM_LABELS.values()])
        self.stereo.extend(stereo_codes(molecule, row))
        for bond in molecule.GetBonds():
            self.bonds.extend((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), int(bond.GetBondType())))
        self.sizes.append(molecule.GetNumAtoms())
        self.counts.append(2 * molecule.GetNumBonds())

    def graphs(self, names: Sequence[str], smiles: Sequence[str], plain: bool) -> list[Any]:
        """One `Data` for each molecule, or a `PlainData`."""
        import torch

        kind: Any = PlainData
        if not plain:
            from torch_geometric.data import Data

            kind = Data
        atoms = np.array(self.atoms, dtype=np.int64).reshape(-1, len(ATOM_LABELS))
        start, end, bond = np.array(self.bonds, dtype=np.int64).reshape(-1, 3).T
        both = np.stack([np.stack([start, end], 1), np.stack([end, start], 1)], 1).reshape(-1, 2)  # [2 B, 2]
        shift = np.repeat(offsets(np.array(self.sizes, dtype=np.int64))[:-1], self.counts)
        coarse = coarse_codes(atoms, (both + shift[:, None]).T, np.repeat(bond, 2))
        labels = torch.from_numpy(atoms[:, self.columns]).split(self.sizes)
        stereo = torch.from_numpy(np.array(self.stereo, dtype=np.uint8)).split(self.sizes)
        coarse_parts = torch.from_numpy(coarse).split(self.sizes)
        edges = torch.from_numpy(both).split(self.counts)
        kinds = torch.from_numpy(np.repeat(bond, 2)).split(self.counts)
        graphs = []
        for g, n in enumerate(self.sizes):  # copies, because a pickled view contains all molecules
            ends = edges[g].t().clone(memory_format=torch.contiguous_format)
            arrays = {"edge_index": ends, "edge_type": kinds[g].clone(), "node_labels": labels[g].clone()}
            arrays |= {ATOM_STEREO: stereo[g].clone(), ATOM_COARSE: coarse_parts[g].clone()}
            graphs.append(kind(**arrays, num_nodes=n, name=names[g], smiles=smiles[g]))
        return graphs


def _is_missing(value: Any) -> bool:
    """Whether a cell of a table is empty: no text in it, None, NaN or the NA of pandas."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def _knows_rings(molecule: Any) -> bool:
    try:
        return molecule.GetRingInfo().NumRings() >= 0
    except RuntimeError:
        return False


def _why_not(text: str, chem: Any) -> str:
    """Why RDKit did not take a SMILES string."""
    if not text.strip():
        return "has no SMILES"
    raw = chem.MolFromSmiles(text, sanitize=False)
    problems = [] if raw is None else list(chem.DetectChemistryProblems(raw))
    return f"is no possible molecule: {_one_line(problems[0].Message())}" if problems else "is not a valid SMILES"


def _one_line(text: Any) -> str:
    return " ".join(str(text).split())


def quoted(row: Any) -> str:
    """A SMILES in brackets, for messages; nothing for a molecule of RDKit."""
    return f" ({row!r})" if isinstance(row, str) and row.strip() else ""


def _warn_skipped(
    bad: dict[int, str], rows: Sequence[Any], places: Sequence[str], source: str, stacklevel: int
) -> None:
    """One warning that names the rows that were left out; an error where none is left."""
    order = sorted(bad)
    first = f"the first{quoted(rows[order[0]])} {bad[order[0]]}"
    if len(order) == len(rows):
        raise NothingReadError(f"{source}none of the {len(rows)} rows can be read; {first}")
    listed = first_few([places[i] for i in order], _MOST_LISTED)
    warnings.warn(f"{source}{len(order)} of {len(rows)} rows left out: {listed}; {first}", stacklevel=stacklevel)
