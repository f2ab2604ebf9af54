"""Descriptors of molecules, as RDKit computes them from their formulas: numbers that describe whole graphs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from multiprocessing import parent_process
from typing import Any

import numpy as np

from ..._core.parallel import in_parallel, is_parallel
from ..._core.validation import first_few
from ..graph_vectors import GraphVectors
from .smiles import parse, quiet_rdkit, rdkit_chem

_FEW = 400  # molecules that take less time than processes take to start
_AT_ONCE = 100  # molecules that a process describes at once
_MOST_LISTED = 5  # names in a message


def descriptor_names(descriptors: Any) -> tuple[str, ...]:
    """Names of descriptors: all of RDKit's where True, none where None or False, else those that are listed.

    >>> len(descriptor_names(True)) > 200, descriptor_names(None), descriptor_names(["MolLogP", "TPSA"])
    (True, (), ('MolLogP', 'TPSA'))
    """
    if descriptors is None or descriptors is False:
        return ()
    known = _functions()
    if descriptors is True:
        return tuple(known)
    if isinstance(descriptors, str) or not all(isinstance(name, str) for name in descriptors):
        raise ValueError(f"descriptors must be True, None or a list of names, got {descriptors!r}")
    names = tuple(descriptors)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"descriptors must name one of RDKit's descriptors or several, each once, got {descriptors!r}")
    if unknown := [name for name in names if name not in known]:
        listed = first_few([*map(repr, unknown)], _MOST_LISTED)
        raise ValueError(f"RDKit has no descriptor {listed}: rdkit.Chem.Descriptors.descList lists them")
    return names


def describe(molecules: Sequence[Any], names: Sequence[str]) -> GraphVectors:
    """Descriptors [G, q] of molecules, SMILES or `Mol`; NaN where one has no finite value.

    Many molecules are shared out among processes: those that joblib was told to use, else one for each core.

    >>> describe(["CCO", "[Na+]"], ["HeavyAtomCount", "MaxPartialCharge"]).values.round(2)
    array([[3.  , 0.04],
           [1.  , 1.  ]])
    """
    from joblib import cpu_count, parallel_config

    parts = [molecules[start : start + _AT_ONCE] for start in range(0, len(molecules), _AT_ONCE)]
    alone = len(molecules) <= _FEW or cpu_count() == 1 or parent_process() is not None or is_parallel()
    with nullcontext() if alone else parallel_config("loky", n_jobs=cpu_count()):
        values = list(in_parallel(_described, parts, tuple(names)))
    return GraphVectors(np.concatenate(values) if values else np.zeros((0, len(names))), tuple(names))


def _described(names: tuple[str, ...], molecules: Sequence[Any]) -> np.ndarray:
    """Descriptors of some molecules [g, q]."""
    functions = _functions()
    values = np.full((len(molecules), len(names)), np.nan)
    with quiet_rdkit():
        for row, one in zip(values, molecules, strict=True):
            molecule = parse(one)
            for i, name in enumerate(names):
                try:
                    row[i] = functions[name](molecule)
                except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):  # has none of this molecule
                    continue
    values[~np.isfinite(values)] = np.nan
    return values


def _functions() -> dict[str, Any]:
    """RDKit's functions by name."""
    rdkit_chem()
    from rdkit.Chem import Descriptors

    return dict(Descriptors.descList)
