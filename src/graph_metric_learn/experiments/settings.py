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
TABLES["fgw"] = [*TABLES["table3"], "ENZYMES (fuse)"]  # the paper compares with its SGML of the last
TABLES["beyond"] = [*TABLES["table1"], *TABLES["table2"]]

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


# Variants of GraphMetric: as it is, not learned, the best candidate alone, and one embedding alone.
CHOSEN: dict[str, dict[str, Any]] = {
    "graphmetric": {},
    "graphmetric-unlearned": {"learn": False},
    "graphmetric-single": {"learn": False, "n_steps": 1},
    "graphmetric-mean": {"learn": False, "embedding": "mean"},
    "graphmetric-reference": {"learn": False, "embedding": "reference"},
    "graphmetric-axes": {"learn": False, "embedding": "axes"},
    "graphmetric-histogram": {"learn": False, "embedding": "histogram"},
}

# Other systems and controls: the paper has some of these in its Table 1 alone, some in its Table 2 alone.
_ALL_SYSTEMS = [
    *((method, "knn") for method in ("rpw", "netlsd", "fgsd", "netsimile", "w2", "w2-entropic", "mean-pool", "random")),
    *((method, "svm") for method in ("rpw", "wwl", "fgw", "fgw-wl", "wl-oa", "propak", "hgk-sp")),
    ("pscn", "own"),
    ("largest-class", "own"),
]

# Rows of the tables: method and classifier.
ROWS: dict[str, list[tuple[str, str]]] = {
    "table1": [*_ALL_SYSTEMS, *((method, "1-nn") for method in ("netlsd", "fgsd", "netsimile"))],
    "table2": _ALL_SYSTEMS,
    "table3": [(method, "knn") for method in ("rpw", "wwl-last", "sw", "nca", "pw", "random", "mean-pool", "w2")],
    "fgw": [("rpw", "knn"), ("fgw", "knn")],
    "beyond": [
        *(("graphmetric", classifier) for classifier in ("knn-weighted", "knn-loo", "knn", "svm")),
        *((method, "knn-loo") for method in CHOSEN if method != "graphmetric"),
        ("rpw", "knn"), ("rpw", "svm"), ("random", "knn"), ("mean-pool", "knn"),
    ],
}  # fmt: skip

# Names of the methods and classifiers in tables.
TITLES = {
    "rpw": "SGML, RPW2", "sw": "SGML, SW2", "nca": "SGML, NCA", "pw": "SGML, PW2", "random": "SGML, untrained",
    "netlsd": "NetLSD (heat)", "fgsd": "FGSD", "netsimile": "NetSimile", "wwl": "WWL", "wwl-last": "WWL, last level",
    "fgw": "FGW", "fgw-wl": "FGW-WL", "wl-oa": "WL-OA", "propak": "PROPAK", "hgk-sp": "HGK-SP",
    "pscn": "PSCN, its own classifier", "largest-class": "always the largest class",
    "mean-pool": "mean of the node features", "w2": "exact W2, node features", "w2-entropic": "entropic W2",
    "graphmetric": "GraphMetric", "graphmetric-unlearned": "GraphMetric, nothing learned",
    "graphmetric-single": "GraphMetric, best candidate alone", "graphmetric-histogram": "GraphMetric, histograms only",
    "graphmetric-mean": "GraphMetric, means only", "graphmetric-reference": "GraphMetric, reference transport only",
    "graphmetric-axes": "GraphMetric, projected transport only",
    "knn": "k-NN", "1-nn": "1-NN", "knn-loo": "k-NN, k by leave-one-out",
    "knn-weighted": "k-NN, votes by distance, k by leave-one-out", "svm": "SVM", "own": "",
}  # fmt: skip

# What the rows are: name, description, what is read of the nodes.
_GIVEN, _NOTHING = "what the brackets say", "nothing: edges only"
SYSTEMS = [
    ("SGML", "the paper's model: a learned linear map of averaged node features, then transport along the axes (RPW2), "
     "along 50 random directions (PW2), or of the projections on these (SW2); trained with NCCML, or NCA", _GIVEN),
    ("GraphMetric", "a sum of vector distances, chosen on the training graphs", "all there is"),
    ("NetLSD", "trace of the heat kernel at 250 times (Tsitsulin et al. 2018)", _NOTHING),
    ("FGSD", "histogram of spectral distances between nodes (Verma, Zhang 2017)", _NOTHING),
    ("NetSimile", "statistics of the nodes' surroundings (Berlingerio et al. 2013)", _NOTHING),
    ("W2, entropic W2", "optimal transport between node features, exact or by Sinkhorn's iteration; edges do not count",
     _GIVEN),
    ("WWL", "optimal transport between Weisfeiler-Lehman features (Togninalli et al. 2019)", _GIVEN),
    ("FGW", "fused Gromov-Wasserstein: transport that matches features and shortest paths (Vayer et al. 2019)", _GIVEN),
    ("FGW-WL", "the same with Weisfeiler-Lehman labels as features", "degree or labels"),
    ("WL-OA", "optimal assignment of Weisfeiler-Lehman labels (Kriege et al. 2016)", "degree or labels"),
    ("PROPAK", "propagation kernel: features spread along edges, hashed and counted (Neumann et al. 2016)", _GIVEN),
    ("HGK-SP", "hash graph kernel: shortest paths between hashed features (Morris et al. 2016)", _GIVEN),
    ("PSCN", "PATCHY-SAN: a 1-D convolutional network on ordered neighbourhoods, K = 10 (Niepert et al. 2016)", _GIVEN),
]  # fmt: skip


def title(method: str, classifier: str) -> str:
    """The name of a row.

    >>> title("wl-oa", "svm"), title("pscn", "own")
    ('WL-OA, SVM', 'PSCN, its own classifier')
    """
    return ", ".join(filter(None, (TITLES.get(method, method), TITLES[classifier])))


# Accuracies in percent as the paper gives them, "mean±standard deviation", in the order of the columns of TABLES.
_PUBLISHED = {
    "table1": {
        ("rpw", "knn"): "90.00±7.60 72.12±1.65 70.18±4.01 49.00±8.17 45.00±5.46 68.90±5.45",
        ("netlsd", "knn"): "84.90 65.89 64.89 31.99 40.51 68.04",
        ("fgsd", "knn"): "86.47 75.77 65.30 41.58 41.14 69.54",
        ("netsimile", "knn"): "84.09 66.56 62.45 33.23 40.97 69.20",
        ("rpw", "svm"): "88.95±7.61 74.84±1.81 74.55±4.19 54.00±7.07 51.00±5.44 72.00±3.16",
        ("wwl", "svm"): "87.27±1.50 85.75±0.25 74.28±0.56 59.13±0.80 - -",
        ("fgw", "svm"): "83.26±10.30 72.82±1.46 - - 48.00±3.22 63.80±3.49",
        ("fgw-wl", "svm"): "88.42±5.67 86.42±1.63 - - - -",
        ("wl-oa", "svm"): "87.15±1.82 86.08±0.27 76.37±0.30 58.97±0.82 - -",
        ("pscn", "own"): "83.47±10.26 70.65±2.58 58.34±7.71 - - -",
    },
    "table2": {
        ("rpw", "knn"): "85.61±2.98 79.79±2.18 71.79±4.47 51.66±5.16 54.81±12.26",
        ("rpw", "svm"): "84.39±3.81 78.51±0.01 74.29±4.11 48.83±4.78 64.44±10.50",
        ("wwl", "svm"): "84.42±2.03 78.29±0.47 77.91±0.80 73.25±0.87 -",
        ("fgw", "svm"): "85.12±4.15 77.23±4.86 74.55±2.74 71.00±6.76 76.67±7.04",
        ("propak", "svm"): "79.51±5.02 77.66±3.95 61.34±4.38 71.67±5.63 12.59±6.67",
        ("hgk-sp", "svm"): "76.42±0.72 72.57±1.18 75.78±0.17 66.36±0.37 -",
        ("pscn", "own"): "80.00±4.47 71.70±3.57 67.95±11.28 26.67±4.77 25.19±7.73",
    },
    "table3": {
        ("wwl-last", "knn"): "78.05 78.51 83.68 80.43 71.60 68.20 48.73 56.00",
        ("sw", "knn"): "82.93 78.30 86.84 69.03 71.34 68.20 42.33 44.33",
        ("nca", "knn"): "83.41 77.66 87.37 69.66 71.70 67.40 42.73 55.33",
        ("pw", "knn"): "84.39 78.94 90.00 72.90 70.54 68.80 44.13 44.83",
    },
    "fgw": {("fgw", "knn"): "81.70 78.51 83.16 - - 80.80 - - 70.83"},
}


def _read(number: str) -> tuple[float, float | None]:
    mean, _, spread = number.partition("±")
    return float(mean), float(spread) if spread else None


# (task, method, classifier) -> (mean, standard deviation or None), in percent.
PUBLISHED: dict[tuple[str, str, str], tuple[float, float | None]] = {
    (task, *row): _read(number)
    for table, rows in _PUBLISHED.items()
    for row, numbers in rows.items()
    for task, number in zip(TABLES[table], numbers.split(), strict=True)
    if number != "-"
}


def task_for(dataset: str, features: str | None = None) -> Task:
    """The paper's task for a dataset, or a plain one for a dataset it does not name."""
    for task in TASKS.values():
        if task.dataset == dataset and (features is None or task.features == features):
            return task
    return Task(dataset, features or "auto")
