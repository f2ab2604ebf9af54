"""Learn a distance between attributed graphs.

Names are loaded when they are first used: importing the package costs nothing, and the command line answers at once.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOME = {
    "GraphClassifier": "predictors",
    "GraphIndex": "index",
    "GraphKMeans": "predictors",
    "GraphKNNClassifier": "predictors",
    "GraphKNNRegressor": "predictors",
    "GraphMetric": "metrics.automatic",
    "GraphRegressor": "predictors",
    "GraphRidge": "predictors",
    "GraphRidgeClassifier": "predictors",
    "GraphSVC": "predictors",
    "NearestClassMean": "predictors",
    "NodeFeatures": "features",
    "SGCN": "metrics.sgml.encoders",
    "SGML": "metrics.sgml",
    "as_graphs": "graphs",
    "explore": "viz.explorer",
    "fit_many": "metrics.sgml.fit_many",
    "from_smiles": "graphs.sources.smiles",
    "load": "predictors",
    "mlkr": "metrics.sgml.losses",
    "nca": "metrics.sgml.losses",
    "nccml": "metrics.sgml.losses",
    "Curves": "transport",
    "Vectors": "transport",
    "curve_vectors": "transport",
    "as_curves": "transport",
    "iter_distances": "transport",
    "iter_pairs": "transport",
    "kneighbors": "transport",
    "mean_curve": "transport",
    "pairwise_distances": "transport",
    "skip_bad": "graphs",
    "pw_distance": "transport",
    "ranking_scores": "objectives.ranking",
    "retrieval_scores": "objectives.retrieval",
    "rpw_distance": "transport",
    "sw_distance": "transport",
    "warm_up": "warming",
}
_ROOMS = ("baselines", "datasets", "graphs", "transport")

if TYPE_CHECKING:
    from . import baselines, datasets, graphs, transport
    from .features import NodeFeatures
    from .graphs import as_graphs, skip_bad
    from .graphs.sources.smiles import from_smiles
    from .index import GraphIndex
    from .metrics.automatic import GraphMetric
    from .metrics.sgml import SGML
    from .metrics.sgml.encoders import SGCN
    from .metrics.sgml.fit_many import fit_many
    from .metrics.sgml.losses import mlkr, nca, nccml
    from .objectives.ranking import ranking_scores
    from .objectives.retrieval import retrieval_scores
    from .predictors import (
        GraphClassifier,
        GraphKMeans,
        GraphKNNClassifier,
        GraphKNNRegressor,
        GraphRegressor,
        GraphRidge,
        GraphRidgeClassifier,
        GraphSVC,
        NearestClassMean,
        load,
    )
    from .transport import (
        Curves,
        Vectors,
        as_curves,
        curve_vectors,
        iter_distances,
        iter_pairs,
        kneighbors,
        mean_curve,
        pairwise_distances,
        pw_distance,
        rpw_distance,
        sw_distance,
    )
    from .viz.explorer import explore
    from .warming import warm_up

__all__ = [
    "SGCN",
    "SGML",
    "Curves",
    "GraphClassifier",
    "GraphIndex",
    "GraphKMeans",
    "GraphKNNClassifier",
    "GraphKNNRegressor",
    "GraphMetric",
    "GraphRegressor",
    "GraphRidge",
    "GraphRidgeClassifier",
    "GraphSVC",
    "NearestClassMean",
    "NodeFeatures",
    "Vectors",
    "as_curves",
    "as_graphs",
    "baselines",
    "curve_vectors",
    "datasets",
    "explore",
    "fit_many",
    "from_smiles",
    "graphs",
    "iter_distances",
    "iter_pairs",
    "kneighbors",
    "load",
    "mean_curve",
    "mlkr",
    "nca",
    "nccml",
    "pairwise_distances",
    "pw_distance",
    "ranking_scores",
    "retrieval_scores",
    "rpw_distance",
    "skip_bad",
    "sw_distance",
    "transport",
    "warm_up",
]
if find_spec("graph_metric_learn_reproduction") is None:  # whose baselines they are
    __all__.remove("baselines")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
