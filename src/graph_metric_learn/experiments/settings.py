"""What the paper ran, cell by cell: datasets, features, grids, variants of the model, and the numbers it published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RATE = 0.999e-2


@dataclass(frozen=True)
class Task:
    """A dataset with the features and the grid of one column of a table.

    Attributes
    ----------
    dataset, features : str
        As `load_tu` takes them.
    depths, epochs : tuple of int
        What is searched, by mean validation accuracy.
    learning_rate, batch_size
        Of the training.
    """

    dataset: str
    features: str
    depths: tuple[int, ...] = (1, 2, 3, 4)
    epochs: tuple[int, ...] = (10,)
    learning_rate: float = RATE
    batch_size: int = 8

    @property
    def name(self) -> str:
        return f"{self.dataset} ({self.features})"

    def settings(self) -> list[dict[str, Any]]:
        """All points of the grid."""
        return [
            {
                "depth": depth,
                "n_epochs": epochs,
                "learning_rate": self.learning_rate,
                "batch_size": self.batch_size,
            }
            for depth in self.depths
            for epochs in self.epochs
        ]


TASKS = {
    task.name: task
    for task in (
        Task("MUTAG", "degree", depths=(1, 2, 3, 4, 5, 6, 7)),
        Task("NCI1", "labels"),
        Task("PROTEINS", "labels"),
        Task("ENZYMES", "labels", epochs=(10, 20), learning_rate=RATE / 10),
        Task("IMDB-MULTI", "degree"),
        Task("IMDB-BINARY", "degree"),
        Task("BZR", "attributes"),
        Task("COX2", "attributes"),
        Task("PROTEINS", "fuse", epochs=(10, 20), learning_rate=RATE / 100),
        Task("ENZYMES", "fuse", epochs=(10, 20), learning_rate=RATE / 10),
        Task("Cuneiform", "fuse", batch_size=64),
    )
}

TABLES = {
    "table1": [
        "MUTAG (degree)",
        "NCI1 (labels)",
        "PROTEINS (labels)",
        "ENZYMES (labels)",
        "IMDB-MULTI (degree)",
        "IMDB-BINARY (degree)",
    ],
    "table2": ["BZR (attributes)", "COX2 (attributes)", "PROTEINS (fuse)", "ENZYMES (fuse)", "Cuneiform (fuse)"],
    "table3": [
        "BZR (attributes)",
        "COX2 (attributes)",
        "MUTAG (degree)",
        "NCI1 (labels)",
        "PROTEINS (labels)",
        "IMDB-BINARY (degree)",
        "IMDB-MULTI (degree)",
        "ENZYMES (labels)",
    ],
}

# Ways to read the paper: what its authors' code does, what its formulas say, and what SGML() does.
PRESETS: dict[str, dict[str, Any]] = {
    "authors": {
        "propagation": "symmetric", "loss": "nccml", "ties": "first", "restart_optimizer": True,
        "batching": "shuffled", "activation": "relu",
    },
    "paper": {
        "propagation": "sum", "loss": "nccml-paper", "ties": "canonical", "restart_optimizer": False,
        "batching": "shuffled", "activation": "relu",
    },
    "default": {
        "propagation": "symmetric", "loss": "nccml", "ties": "canonical", "restart_optimizer": True,
        "batching": "covered", "activation": "relu",
    },
}  # fmt: skip

# Variants of the model, by what they change.
METHODS: dict[str, dict[str, Any]] = {
    "rpw": {"distance": "rpw"},
    "sw": {"distance": "sw"},
    "nca": {"loss": "nca"},
    "pw": {"distance": "pw"},
    "random": {"n_epochs": 0},
}


def variant(method: str, preset: str, **changes: Any) -> dict[str, Any]:
    """All choices of a model: those of the preset, what the method changes, and what the caller changes.

    >>> variant("nca", "authors")["loss"], variant("rpw", "authors", ties="canonical")["ties"]
    ('nca', 'canonical')
    """
    return {"distance": "rpw", **PRESETS[preset], **METHODS[method], **changes}


# Published accuracies in percent: (mean, standard deviation or None). Tables 1 and 2 by classifier, table 3 by variant.
PUBLISHED: dict[tuple[str, str, str], tuple[float, float | None]] = {
    ("MUTAG (degree)", "rpw", "knn"): (90.00, 7.60),
    ("NCI1 (labels)", "rpw", "knn"): (72.12, 1.65),
    ("PROTEINS (labels)", "rpw", "knn"): (70.18, 4.01),
    ("ENZYMES (labels)", "rpw", "knn"): (49.00, 8.17),
    ("IMDB-MULTI (degree)", "rpw", "knn"): (45.00, 5.46),
    ("IMDB-BINARY (degree)", "rpw", "knn"): (68.90, 5.45),
    ("BZR (attributes)", "rpw", "knn"): (85.61, 2.98),
    ("COX2 (attributes)", "rpw", "knn"): (79.79, 2.18),
    ("PROTEINS (fuse)", "rpw", "knn"): (71.79, 4.47),
    ("ENZYMES (fuse)", "rpw", "knn"): (51.66, 5.16),
    ("Cuneiform (fuse)", "rpw", "knn"): (54.81, 12.26),
    ("MUTAG (degree)", "rpw", "svm"): (88.95, 7.61),
    ("NCI1 (labels)", "rpw", "svm"): (74.84, 1.81),
    ("PROTEINS (labels)", "rpw", "svm"): (74.55, 4.19),
    ("ENZYMES (labels)", "rpw", "svm"): (54.00, 7.07),
    ("IMDB-MULTI (degree)", "rpw", "svm"): (51.00, 5.44),
    ("IMDB-BINARY (degree)", "rpw", "svm"): (72.00, 3.16),
    ("BZR (attributes)", "rpw", "svm"): (84.39, 3.81),
    ("COX2 (attributes)", "rpw", "svm"): (78.51, 0.01),
    ("PROTEINS (fuse)", "rpw", "svm"): (74.29, 4.11),
    ("ENZYMES (fuse)", "rpw", "svm"): (48.83, 4.78),
    ("Cuneiform (fuse)", "rpw", "svm"): (64.44, 10.50),
    ("BZR (attributes)", "sw", "knn"): (82.93, None),
    ("COX2 (attributes)", "sw", "knn"): (78.30, None),
    ("MUTAG (degree)", "sw", "knn"): (86.84, None),
    ("NCI1 (labels)", "sw", "knn"): (69.03, None),
    ("PROTEINS (labels)", "sw", "knn"): (71.34, None),
    ("IMDB-BINARY (degree)", "sw", "knn"): (68.20, None),
    ("IMDB-MULTI (degree)", "sw", "knn"): (42.33, None),
    ("ENZYMES (labels)", "sw", "knn"): (44.33, None),
    ("BZR (attributes)", "nca", "knn"): (83.41, None),
    ("COX2 (attributes)", "nca", "knn"): (77.66, None),
    ("MUTAG (degree)", "nca", "knn"): (87.37, None),
    ("NCI1 (labels)", "nca", "knn"): (69.66, None),
    ("PROTEINS (labels)", "nca", "knn"): (71.70, None),
    ("IMDB-BINARY (degree)", "nca", "knn"): (67.40, None),
    ("IMDB-MULTI (degree)", "nca", "knn"): (42.73, None),
    ("ENZYMES (labels)", "nca", "knn"): (55.33, None),
    ("BZR (attributes)", "pw", "knn"): (84.39, None),
    ("COX2 (attributes)", "pw", "knn"): (78.94, None),
    ("MUTAG (degree)", "pw", "knn"): (90.00, None),
    ("NCI1 (labels)", "pw", "knn"): (72.90, None),
    ("PROTEINS (labels)", "pw", "knn"): (70.54, None),
    ("IMDB-BINARY (degree)", "pw", "knn"): (68.80, None),
    ("IMDB-MULTI (degree)", "pw", "knn"): (44.13, None),
    ("ENZYMES (labels)", "pw", "knn"): (44.83, None),
}


def task_for(dataset: str, features: str | None = None) -> Task:
    """The paper's task for a dataset, or a plain one for a dataset it does not name."""
    for task in TASKS.values():
        if task.dataset == dataset and (features is None or task.features == features):
            return task
    return Task(dataset, features or "auto")
