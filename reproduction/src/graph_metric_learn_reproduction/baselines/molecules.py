"""What baselines of molecules share: molecules in, classes or numbers as targets, Morgan fingerprints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from graph_metric_learn._core.validation import one_of
from graph_metric_learn.graphs.sources.smiles import as_rows, parse, quiet_rdkit, quoted

from .base import System

TASKS = ("auto", "classes", "numbers")


class MoleculeSystem(System):
    """A baseline for molecules: SMILES, RDKit molecules, or the graphs of `from_smiles` and `load_smiles`.

    Parameters
    ----------
    task : {"auto", "classes", "numbers"}
        What the targets are. "auto": numbers where they are floats that are not all whole, else classes.

    Attributes
    ----------
    task_ : str
        What "auto" turned out to be.
    classes_ : ndarray [C]
        The labels seen in `fit`, if these are classes.
    """

    needs: ClassVar[tuple[str, ...]] = ("rdkit",)
    task: str

    def _targets(self, y: Any, count: int) -> np.ndarray:
        """Checks targets and sets `task_` and `classes_`; numbers [N], or the codes of classes [N]."""
        one_of("task", self.task, TASKS)
        y = np.asarray(y)
        if y.shape != (count,):
            raise ValueError(f"{count} molecules and targets of shape {y.shape}: give one target per molecule")
        missing = np.array([value is None or value != value for value in y.tolist()])
        if missing.any():
            raise ValueError(f"molecule {int(missing.argmax())} has no target")
        numeric = y.dtype.kind in "iufb"
        self.task_ = self.task
        if self.task == "auto":
            self.task_ = "numbers" if numeric and type_of_target(y).startswith("continuous") else "classes"
        if self.task_ == "classes":
            self.classes_, codes = np.unique(y, return_inverse=True)
            return codes
        if not numeric or not np.isfinite(y.astype(float)).all():
            raise ValueError("task='numbers', but the targets are not all finite numbers")
        return y.astype(float)

    def _fitted(self, attribute: str) -> Any:
        """A fitted attribute, or a clear error."""
        if not hasattr(self, attribute):
            raise ValueError(f"{type(self).__name__} is not fitted: call fit first")
        return getattr(self, attribute)


def as_molecules(rows: Iterable[Any]) -> list[Any]:
    """RDKit molecules of SMILES, of RDKit molecules, or of graphs that know their SMILES.

    >>> [molecule.GetNumAtoms() for molecule in as_molecules(["CCO", "c1ccccc1"])]
    [3, 6]
    """
    molecules = []
    with quiet_rdkit():
        for i, row in enumerate(as_rows(rows)):
            own = getattr(row, "smiles", row)
            try:
                molecules.append(parse(own))
            except ValueError as error:
                raise ValueError(f"molecule {i}{quoted(own)} {error}") from None
    return molecules


def morgan_counts(molecules: Iterable[Any], radius: int = 2, width: int = 2048) -> sparse.csr_array:
    """How often each circular substructure occurs, folded to `width` columns [N, width], int64.

    >>> morgan_counts(["C", "CC"], radius=0).sum(1).tolist()
    [1, 2]
    """
    molecules = as_molecules(molecules)
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

    generator = GetMorganGenerator(radius=radius, fpSize=width)
    columns, counts, ends = [], [], [0]
    for molecule in molecules:
        nonzero = generator.GetCountFingerprint(molecule).GetNonzeroElements()
        columns += nonzero.keys()
        counts += nonzero.values()
        ends.append(len(columns))
    return sparse.csr_array((np.array(counts, dtype=np.int64), columns, ends), shape=(len(molecules), width))


def minmax_kernel(one: sparse.csr_array, other: sparse.csr_array) -> np.ndarray:
    """Σ min(a, b) / Σ max(a, b) of rows of counts [N, M]: Tanimoto's coefficient of multisets; 1 for two empty rows.

    min(a, b) is the number of t with a ≥ t and b ≥ t, so the sums of minima are a product of 0/1 matrices.

    >>> minmax_kernel(sparse.csr_array([[2, 1]]), sparse.csr_array([[1, 3], [2, 1]])).round(3)
    array([[0.4, 1. ]])
    """
    highest = int(max(one.data.max(initial=0), other.data.max(initial=0)))
    minima = np.zeros((one.shape[0], other.shape[0]))
    for t in range(1, highest + 1):
        above = [(counts >= t).astype(np.float64) for counts in (one, other)]
        if above[0].nnz == 0 or above[1].nnz == 0:
            break
        minima += (above[0] @ above[1].T).toarray()
    maxima = one.sum(1)[:, None] + other.sum(1)[None, :] - minima
    return np.where(maxima > 0, minima / np.where(maxima > 0, maxima, 1.0), 1.0)
