"""The order of the examples in the gallery: from the first questions to the last."""

from pathlib import Path

ORDER = [
    "which_metric",
    "reading_the_report",
    "molecules_from_smiles",
    "learn_numbers",
    "weighted_networks",
    "without_labels",
    "explain_a_pair",
    "search_many_graphs",
    "deploy",
    "clouds_without_graphs",
    "your_own_block",
    "your_own_encoder",
    "tu_collection",
]


class Ordered:
    """The key by which sphinx-gallery sorts files."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name):
        return ORDER.index(Path(name).stem)

    def __repr__(self):
        return "<Ordered>"
