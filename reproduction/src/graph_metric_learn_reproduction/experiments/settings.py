"""What is run for each table: datasets, node features, grids of settings, variants of the models, names of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RATE = 0.999e-2  # the learning rate of most tasks


@dataclass(frozen=True)
class Task:
    """One column of a table: a dataset, its node features, and the grid that SGML searches."""

    dataset: str  # as `load_tu` takes it
    features: str  # the same
    depths: tuple[int, ...] = (1, 2, 3, 4)  # the grid: depths and epochs, by mean validation accuracy
    epochs: tuple[int, ...] = (10,)
    learning_rate: float = RATE
    batch_size: int = 8

    @property
    def name(self) -> str:
        return f"{self.dataset} ({self.features})"

    def settings(self) -> list[dict[str, Any]]:
        """All points of the grid."""
        return [
            {"depth": depth, "n_epochs": epochs, "learning_rate": self.learning_rate, "batch_size": self.batch_size}
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
        "MUTAG (degree)", "NCI1 (labels)", "PROTEINS (labels)", "ENZYMES (labels)", "IMDB-MULTI (degree)",
        "IMDB-BINARY (degree)",
    ],
    "table2": ["BZR (attributes)", "COX2 (attributes)", "PROTEINS (fuse)", "ENZYMES (fuse)", "Cuneiform (fuse)"],
    "table3": [
        "BZR (attributes)", "COX2 (attributes)", "MUTAG (degree)", "NCI1 (labels)", "PROTEINS (labels)",
        "IMDB-BINARY (degree)", "IMDB-MULTI (degree)", "ENZYMES (labels)",
    ],
}  # fmt: skip
TABLES["fgw"] = [*TABLES["table3"], "ENZYMES (fuse)"]  # the paper compares with its SGML of the last
TABLES["beyond"] = [*TABLES["table1"], *TABLES["table2"]]

# Readings of the paper: what its authors' code does, what its formulas say, and the defaults of SGML().
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

# Variants of SGML: what each changes.
SGML_VARIANTS: dict[str, dict[str, Any]] = {
    "rpw": {"distance": "rpw"},
    "sw": {"distance": "sw"},
    "nca": {"loss": "nca"},
    "pw": {"distance": "pw"},
    "random": {"n_epochs": 0},
}


def variant(method: str, preset: str, **changes: Any) -> dict[str, Any]:
    """All settings of a variant of SGML: those of the preset, then what the variant changes, then `changes`.

    >>> variant("nca", "authors")["loss"], variant("rpw", "authors", ties="canonical")["ties"]
    ('nca', 'canonical')
    """
    return {"distance": "rpw", **PRESETS[preset], **SGML_VARIANTS[method], **changes}


# Variants of GraphMetric: as it is, with more coordinates, without learned scores, and one family alone.
GRAPHMETRIC_VARIANTS: dict[str, dict[str, Any]] = {
    "graphmetric": {},
    "graphmetric-512": {"n_components": 512},
    "graphmetric-unlearned": {"learn": False},
    "graphmetric-trees": {"families": ["trees"]},
    "graphmetric-pairs": {"families": ["pairs of trees"]},
}


def is_learned(method: str) -> bool:
    """Whether a method is a variant of SGML or GraphMetric, fitted anew in each run; baselines are not.

    >>> is_learned("rpw"), is_learned("wwl")
    (True, False)
    """
    return method in SGML_VARIANTS or method in GRAPHMETRIC_VARIANTS


# Baselines and controls; the paper has some of them in its Table 1 only, some in its Table 2 only.
_ALL_SYSTEMS = [
    *((method, "knn") for method in ("rpw", "netlsd", "fgsd", "netsimile", "w2", "w2-entropic", "mean-pool", "random")),
    *((method, "svm") for method in ("rpw", "wwl", "fgw", "fgw-wl", "wl-oa", "propak", "hgk-sp")),
    *((method, "own") for method in ("pscn", "gin", "tfgw", "tw", "largest-class")),
]

# Of the tasks here, those methods are run on these datasets alone: each step solves many transport problems.
SMALL_ONLY = dict.fromkeys(("tfgw", "tw"), ("MUTAG", "BZR", "COX2"))

# Predictors on GraphMetric as they come: the one it chooses by itself, and each on its own.
HEADS = ("head-auto", "head-knn", "head-ridge", "head-svc")

# Rows of the tables: (method, classifier).
ROWS: dict[str, list[tuple[str, str]]] = {
    "table1": [*_ALL_SYSTEMS, *((method, "1-nn") for method in ("netlsd", "fgsd", "netsimile"))],
    "table2": _ALL_SYSTEMS,
    "table3": [(method, "knn") for method in ("rpw", "wwl-last", "sw", "nca", "pw", "random", "mean-pool", "w2")],
    "fgw": [("rpw", "knn"), ("fgw", "knn")],
    "beyond": [
        *(("graphmetric", head) for head in HEADS),
        *((method, "head-knn") for method in GRAPHMETRIC_VARIANTS if method != "graphmetric"),
        ("rpw", "knn"), ("rpw", "svm"), ("random", "knn"), ("mean-pool", "knn"),
    ],
}  # fmt: skip

# Our row that is compared with others split by split, and these others.
OURS = ("graphmetric", "head-auto")
RIVALS = [
    ("rpw", "knn"), ("rpw", "svm"), ("wwl", "svm"), ("fgw", "svm"), ("fgw", "knn"), ("fgw-wl", "svm"),
    ("wl-oa", "svm"), ("propak", "svm"), ("hgk-sp", "svm"), ("netlsd", "knn"), ("fgsd", "knn"), ("netsimile", "knn"),
    ("w2", "knn"), ("w2-entropic", "knn"), ("mean-pool", "knn"), ("pscn", "own"), ("gin", "own"), ("tfgw", "own"),
    ("tw", "own"),
]  # fmt: skip

# What can be reproduced on its own.
PARTS = (*ROWS, "edges", "molecules", "fair", "outlook", "choices", "runtimes", "figure1")
# On distances, and on GraphMetric; "own" is a method's own classifier.
CLASSIFIERS = ("knn", "1-nn", "knn-loo", "knn-weighted", "svm", *HEADS)

# Names of the methods and classifiers in tables.
TITLES = {
    "rpw": "SGML, RPW2", "sw": "SGML, SW2", "nca": "SGML, NCA", "pw": "SGML, PW2", "random": "SGML, untrained",
    "netlsd": "NetLSD (heat)", "fgsd": "FGSD", "netsimile": "NetSimile", "wwl": "WWL", "wwl-last": "WWL, last level",
    "fgw": "FGW", "fgw-wl": "FGW-WL", "wl-oa": "WL-OA", "propak": "PROPAK", "hgk-sp": "HGK-SP",
    "pscn": "PSCN, its own classifier", "gin": "GIN", "gine": "GINE", "tfgw": "TFGW network", "tw": "TW network",
    "morgan-forest": "random forest, Morgan counts", "morgan-ridge": "kernel ridge, Morgan counts",
    "chemprop": "chemprop", "largest-class": "always the largest class",
    "mean-pool": "mean of the node features", "w2": "exact W2, node features", "w2-entropic": "entropic W2",
    "graphmetric": "GraphMetric", "graphmetric-unlearned": "GraphMetric, nothing learned",
    "graphmetric-trees": "GraphMetric, trees alone", "graphmetric-pairs": "GraphMetric, pairs of trees alone",
    "graphmetric-512": "GraphMetric, n_components=512",
    "knn": "k-NN", "1-nn": "1-NN", "knn-loo": "k-NN, k by leave-one-out",
    "knn-weighted": "k-NN, votes by distance, k by leave-one-out", "svm": "SVM", "own": "",
    "head-auto": "head chosen by itself", "head-knn": "its k-NN", "head-ridge": "its ridge", "head-svc": "its SVM",
}  # fmt: skip

# The systems of the rows: name, description, which node features they use.
_GIVEN, _NOTHING = "what the brackets say", "nothing: edges only"
SYSTEMS = [
    ("SGML", "the paper's model: a learned linear map of averaged node features, then transport along the axes (RPW2), "
     "along 50 random directions (PW2), or of the projections on these (SW2); trained with NCCML, or NCA", _GIVEN),
    ("GraphMetric", "a distance that is chosen on the training graphs, with the scores of a kernel ridge regression as "
     "further coordinates", "all there is"),
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
    ("GIN", "graph isomorphism network: 5 layers of 64 or 3 of 32, early stopping and size by a held-out tenth of the "
     "training graphs (Xu et al. 2019)", _GIVEN),
    ("GINE", "the same with edge features (Hu et al. 2020)", "all there is, in the table of edge data"),
    ("TFGW, TW network", "transport to learned templates as the readout of a network: fused Gromov-Wasserstein "
     "(Vincent-Cuaz et al. 2022) or Wasserstein (Bécigneul et al. 2020); on three small datasets, MUTAG, BZR and COX2",
     _GIVEN),
    ("Morgan counts", "how often each substructure of up to two bonds around an atom occurs (Rogers, Hahn 2010), "
     "hashed, with a random forest or kernel ridge regression", "molecules"),
    ("chemprop", "a network that passes messages along directed bonds (Yang et al. 2019), version 2 with its default "
     "settings, 50 epochs, the best of them on a held-out tenth of the training molecules", "molecules"),
    ("always the largest class", "predicts the class that most training graphs have. On Cuneiform it is right for no "
     "test graph: folds are drawn without regard to classes, of at most ten graphs each, and the largest class of the "
     "training part has few or none in the test part", "none"),
]  # fmt: skip


def title(method: str, classifier: str) -> str:
    """The name of a row.

    >>> title("wl-oa", "svm"), title("pscn", "own")
    ('WL-OA, SVM', 'PSCN, its own classifier')
    """
    return ", ".join(filter(None, (TITLES.get(method, method), TITLES[classifier])))


def task_for(dataset: str, features: str | None = None) -> Task:
    """The paper's task for a dataset and features; a task with the default grid if the paper has none."""
    for task in TASKS.values():
        if task.dataset == dataset and (features is None or task.features == features):
            return task
    return Task(dataset, features or "auto")
