"""Labelled graphs: the TU collection (local or downloaded), molecules, scikit-learn's digits, folders of files."""

from .digits import load_digits
from .graph_dataset import GraphDataset
from .molecule_csv import MoleculeDataset, load_smiles, scaffolds
from .tu import load_tu

__all__ = ["GraphDataset", "MoleculeDataset", "load_digits", "load_smiles", "load_tu", "scaffolds"]
