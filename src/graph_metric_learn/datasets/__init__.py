"""Labelled graphs: the TU collection (local or downloaded), molecules, scikit-learn's digits, folders of files.

And edit distances, which can be learned from.
"""

from .digits import load_digits
from .edit_costs import EditCosts
from .edit_pairs import EditDistances, edit_distances
from .graph_dataset import GraphDataset
from .molecule_csv import MoleculeDataset, load_smiles, scaffolds
from .tu import load_tu

__all__ = [
    "EditCosts",
    "EditDistances",
    "GraphDataset",
    "MoleculeDataset",
    "edit_distances",
    "load_digits",
    "load_smiles",
    "load_tu",
    "scaffolds",
]
