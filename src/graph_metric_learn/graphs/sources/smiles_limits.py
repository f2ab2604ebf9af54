"""How entangled the rings of a molecule may be: the work of finding them grows exponentially with some short SMILES."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

MOST_RINGS = 5000  # smallest rings of a molecule: RDKit lists them all; [12]cycloparaphenylene has 4,108
MOST_FUSED = 250  # independent rings that share bonds, as in a sheet of graphene
MOST_FLAT = 36  # fused rings that may be aromatic but are no benzene rings: RDKit tries all sets of up to six of them
_FEW = 5  # so many independent rings make at most 2**5 - 1 rings of any size, fewer than MOST_FLAT
_SOME = 12  # so many make fewer than MOST_RINGS
_COUNTED = 31  # RDKit counts rings modulo 2**32: a family of more independent rings could have more of them
_LARGEST_FUSED = 24  # atoms of a ring that RDKit tries with others
_ATOM = re.compile(r"\[[^\]]*\]")
_CLOSURE = re.compile(r"%\(\d+\)|%\d\d|\d")


def check_rings(smiles: str) -> None:
    """Refuses a SMILES whose rings would take too long to find, before RDKit looks for them.

    A necklace of k cyclobutanes, each joined to the next in one atom, has 2^k rings around it, all of one size: 156
    characters are enough for 22 s and 5 GB. Most SMILES are passed by the number of digits in them.

    >>> check_rings("C1CCC2(CC1)CCCCC2")
    """
    closures = len(_CLOSURE.findall(_ATOM.sub("", smiles))) // 2
    if closures <= _FEW and "|" not in smiles:  # what stands between bars may change bonds
        return
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(smiles, sanitize=False)
    if molecule is not None:
        check_molecule(molecule)


def check_molecule(molecule: Any) -> None:
    """The same for an RDKit molecule, which need not be sanitized."""
    from rdkit import Chem

    independent = molecule.GetNumBonds() - molecule.GetNumAtoms() + len(Chem.GetMolFrags(molecule))
    if independent <= _FEW:
        return
    if independent > _SOME:
        _check_number(molecule)
    copy = Chem.Mol(molecule)
    rings = Chem.GetSymmSSSR(copy)
    if len(rings) > MOST_FLAT:
        _check_flat(copy, [list(ring) for ring in rings])


def _check_number(molecule: Any) -> None:
    """Refuses more than `MOST_RINGS` smallest rings, without listing them."""
    import networkx as nx

    graph = nx.Graph([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()])
    few = [_are_few(list(bonds)) for bonds in nx.biconnected_component_edges(graph)]
    if not all(few) and _count_rings(molecule) > MOST_RINGS:
        raise ValueError(f"has more than {MOST_RINGS} rings: no molecule with so many can be read")


def _are_few(bonds: list[tuple[int, int]]) -> bool:
    """Whether rings that share bonds are few, by their number alone; refuses those that cannot be counted quickly."""
    near: dict[int, set[int]] = {}
    for one, other in bonds:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    independent = len(bonds) - len(near) + 1
    if independent > MOST_FUSED:
        raise ValueError(f"has {independent} rings that share bonds: at most {MOST_FUSED} can be read")
    if independent <= _SOME:
        return True
    common = [len(near[one] & near[other]) for one in near for other in near if one < other]
    if sum(paths * (paths - 1) // 2 for paths in common) // 2 > MOST_RINGS:
        raise ValueError(f"has more than {MOST_RINGS} rings of four atoms: no molecule with so many can be read")
    return False


def _count_rings(molecule: Any) -> int:
    """How many smallest rings there are, without listing them; more than `MOST_RINGS` where that cannot be told."""
    from rdkit import Chem

    copy = Chem.Mol(molecule)
    Chem.FindRingFamilies(copy)
    info = copy.GetRingInfo()
    families = zip(info.BondRingFamilies(), info.AtomRingFamilies(), strict=True)
    if any(len(bonds) - len(atoms) + 1 > _COUNTED for bonds, atoms in families):
        return MOST_RINGS + 1
    return info.NumRelevantCycles()


def _check_flat(molecule: Any, rings: list[list[int]]) -> None:
    """Refuses more than `MOST_FLAT` fused rings of which some may be aromatic together, but are not by themselves.

    Benzene rings are recognised one by one: if all atoms are in such, as in graphene, no sets of rings are tried.
    """
    molecule.UpdatePropertyCache(strict=False)
    atoms = list(molecule.GetAtoms())
    flat = {atom.GetIdx() for atom in atoms if atom.GetTotalDegree() <= 3 or atom.GetAtomicNum() == 0}
    rings = [ring for ring in rings if len(ring) <= _LARGEST_FUSED and flat.issuperset(ring)]
    double = {
        bond.GetBeginAtomIdx(): bond.GetEndAtomIdx() for bond in molecule.GetBonds() if bond.GetBondTypeAsDouble() > 1
    }
    double |= {end: start for start, end in double.items()}
    carbon = {i for i in flat if atoms[i].GetAtomicNum() == 6 and double.get(i) in flat}
    plain = {i for ring in rings if len(ring) == 6 and carbon.issuperset(ring) for i in ring}
    for system in _fused(rings):
        if len(system) > MOST_FLAT and not plain.issuperset(atom for ring in system for atom in ring):
            raise ValueError(f"has {len(system)} fused rings that may be aromatic: at most {MOST_FLAT} can be read")


def _fused(rings: list[list[int]]) -> Iterable[list[list[int]]]:
    """Rings that share bonds, together."""
    leader = list(range(len(rings)))

    def first(ring: int) -> int:
        while leader[ring] != ring:
            leader[ring] = ring = leader[leader[ring]]
        return ring

    seen: dict[frozenset[int], int] = {}
    for number, ring in enumerate(rings):
        for bond in zip(ring, [*ring[1:], ring[0]], strict=True):
            leader[first(number)] = first(seen.setdefault(frozenset(bond), number))
    systems: dict[int, list[list[int]]] = {}
    for number, ring in enumerate(rings):
        systems.setdefault(first(number), []).append(ring)
    return systems.values()
