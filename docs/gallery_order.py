"""The order of the themes in the gallery, and of the examples of each: from the first questions to the last."""

from pathlib import Path

THEMES = {
    "molecules": ["molecules_from_smiles", "learn_numbers", "explain_a_pair"],
    "networks": ["weighted_networks", "without_labels"],
    "search": ["search_many_graphs", "deploy"],
    "learning": ["which_metric", "reading_the_report", "tu_collection"],
    "extending": ["your_own_block", "your_own_encoder", "clouds_without_graphs"],
}


class Ordered:
    """The key by which sphinx-gallery sorts the files of a folder."""

    def __init__(self, folder):
        self.names = [name for names in THEMES.values() for name in names]

    def __call__(self, name):
        return self.names.index(Path(name).stem)

    def __repr__(self):
        return "<Ordered>"
