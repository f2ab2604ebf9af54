"""What an atom is to other molecules: a donor, an acceptor, an acid, …; several of them may hold at once."""

from __future__ import annotations

import numpy as np

# A bit for each role; an atom's code is the sum of its own.
ROLES = {"donor": 1, "acceptor": 2, "acid": 4, "base": 8, "halogen": 16, "aromatic": 32, "hydrophobe": 64}
_H, _C, _N, _O, _P, _S = 1, 6, 7, 8, 15, 16
_HALOGENS = (9, 17, 35, 53)
_DOUBLE, _TRIPLE = 2, 3


def coarse_codes(labels: np.ndarray, ends: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Roles of atoms [S], uint8, by simple rules that look at an atom and its neighbours.

    Parameters
    ----------
    labels : ndarray [S, 5]
        Element, charge, aromatic, ring, hydrogens, as `ATOM_LABELS` lists them.
    ends : ndarray [2, E]
        Bonds in both directions.
    kinds : ndarray [E]
        As RDKit numbers them.

    Notes
    -----
    A donor is nitrogen or oxygen with hydrogen. An acid is oxygen with hydrogen or a negative charge at carbon, sulfur
    or phosphorus that has another oxygen by a double bond. A base is an amine that is not at an aromatic ring or beside
    C=O, S=O and the like, the nitrogen of C=N whose carbon has another nitrogen, or nitrogen with a positive charge and
    no negative neighbour. An acceptor is oxygen that is not aromatic, a base without charge, or nitrogen of C=N, C≡N or
    an aromatic ring, with a free pair. A hydrophobe is carbon, sulfur or halogen bonded only to such atoms.
    """
    element, charge, aromatic, _, hydrogens = labels.T
    tails, heads = ends
    aromatic = aromatic != 0

    def any_neighbour(holds: np.ndarray) -> np.ndarray:
        """Whether this holds of any of the bonds [E] of each atom [S]."""
        return np.bincount(tails[holds], minlength=len(labels)) > 0

    nitrogen, oxygen = element == _N, element == _O
    double = kinds == _DOUBLE
    holds_oxygen = any_neighbour(double & oxygen[heads]) & np.isin(element, (_C, _P, _S))
    acid = oxygen & ((hydrogens > 0) | (charge < 0)) & any_neighbour(holds_oxygen[heads])
    plain = nitrogen & ~aromatic & (charge == 0)
    unsaturated = any_neighbour(double | (kinds == _TRIPLE))
    withdrawn = any_neighbour((unsaturated & ~nitrogen)[heads] | aromatic[heads] | ~np.isin(element[heads], (_H, _C)))
    nitrogens = np.bincount(tails[nitrogen[heads]], minlength=len(labels))
    amidine = plain & any_neighbour(double & ((element == _C) & ~aromatic & (nitrogens > 1))[heads])
    cation = nitrogen & (charge > 0) & ~any_neighbour((charge < 0)[heads])
    base = (plain & ~unsaturated & ~withdrawn) | amidine | cation
    degree = np.bincount(tails, minlength=len(labels))
    free_pair = np.where(aromatic, (hydrogens == 0) & (degree == 2), unsaturated | base) & nitrogen & (charge <= 0)
    acceptor = (oxygen & ~aromatic & (charge <= 0)) | free_pair
    halogen = np.isin(element, _HALOGENS)
    greasy = (halogen | (element == _C) | (element == _S)) & (charge == 0)
    hydrophobe = greasy & ~any_neighbour(~greasy[heads] & (element[heads] != _H))
    donor = (nitrogen | oxygen) & ((hydrogens > 0) | any_neighbour(element[heads] == _H))
    roles = dict(zip(ROLES, (donor, acceptor, acid, base, halogen, aromatic, hydrophobe), strict=True))
    return sum(ROLES[name] * holds.astype(np.uint8) for name, holds in roles.items())  # type: ignore[return-value]
