"""Handedness of atoms and sides of double bonds, as one code for each atom."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

# By the labels of Cahn, Ingold and Prelog; "r" and "s" are centres that mirrors leave as they are.
ATOM_CODES = {"R": 1, "S": 2, "r": 3, "s": 4}
BOND_CODES = {"E": 5, "Z": 6, "STEREOE": 5, "STEREOZ": 6}  # of both atoms of a double bond
_MOST_STEPS = 100_000  # of naming the atoms of one molecule: a fraction of a second


def stereo_codes(molecule: Any, row: Any) -> list[int]:
    """A code for each atom [n], 0 where the molecule, or the SMILES `row` that it came from, says nothing of it.

    >>> from rdkit import Chem
    >>> [stereo_codes(Chem.MolFromSmiles(one), one) for one in ("C[C@H](N)F", "F/C=C/F", "FC=CF")]
    [[0, 1, 0, 0], [0, 5, 5, 0], [0, 0, 0, 0]]
    """
    codes = [0] * molecule.GetNumAtoms()
    if not _says_something(molecule, row):
        return codes
    from rdkit.Chem import Mol, rdCIPLabeler

    molecule = Mol(molecule)  # the caller's own stays as it is
    with suppress(RuntimeError):  # where it gives up, those stand that reading the SMILES has found
        rdCIPLabeler.AssignCIPLabels(molecule, maxRecursiveIterations=_MOST_STEPS)
    for atom in molecule.GetAtoms():
        if atom.HasProp("_CIPCode"):
            codes[atom.GetIdx()] = ATOM_CODES.get(atom.GetProp("_CIPCode"), 0)
    for bond in molecule.GetBonds():
        label = bond.GetProp("_CIPCode") if bond.HasProp("_CIPCode") else str(bond.GetStereo())
        if label.upper() in BOND_CODES:
            codes[bond.GetBeginAtomIdx()] = codes[bond.GetEndAtomIdx()] = BOND_CODES[label.upper()]
    return codes


def _says_something(molecule: Any, row: Any) -> bool:
    """Whether any atom or bond has a side; told from the SMILES, which is quicker, where there is one."""
    if isinstance(row, str):
        return any(mark in row for mark in "@/\\")
    from rdkit.Chem import BondStereo, ChiralType

    handed = any(atom.GetChiralTag() != ChiralType.CHI_UNSPECIFIED for atom in molecule.GetAtoms())
    return handed or any(bond.GetStereo() != BondStereo.STEREONONE for bond in molecule.GetBonds())
