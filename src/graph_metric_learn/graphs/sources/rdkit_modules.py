"""RDKit, which is imported when molecules are read, and not before."""

from __future__ import annotations

from typing import Any


def rdkit_chem() -> Any:
    """The module `rdkit.Chem`, or an error that says how to install it."""
    try:
        from rdkit import Chem
    except ImportError:
        raise ImportError("molecules need RDKit: pip install graph-metric-learn[chem]") from None
    return Chem
