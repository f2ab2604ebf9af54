"""Learn a distance between attributed graphs.

Names are loaded when they are first used: importing the package costs nothing, and the command line answers at once.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "GraphKNNClassifier": "classify",
    "GraphKNNRegressor": "classify",
    "GraphMetric": "metric",
    "GraphSVC": "classify",
    "NodeFeatures": "graphs",
    "SGCN": "encoders",
    "SGML": "learner",
    "as_graphs": "graphs",
    "fit_many": "many",
    "load": "classify",
    "nca": "losses",
    "nccml": "losses",
    "Curves": "transport",
    "curve_vectors": "transport",
    "as_curves": "transport",
    "iter_distances": "transport",
    "iter_pairs": "transport",
    "kneighbors": "transport",
    "mean_curve": "transport",
    "pairwise_distances": "transport",
    "pw_distance": "transport",
    "rpw_distance": "transport",
    "sw_distance": "transport",
}
_ROOMS = ("baselines", "datasets", "graphs", "transport")

if TYPE_CHECKING:
    from . import baselines, datasets, graphs, transport
    from .classify import GraphKNNClassifier, GraphKNNRegressor, GraphSVC, load
    from .encoders import SGCN
    from .graphs import NodeFeatures, as_graphs
    from .learner import SGML
    from .losses import nca, nccml
    from .many import fit_many
    from .metric import GraphMetric
    from .transport import (
        Curves,
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

__all__ = [
    "SGCN",
    "SGML",
    "Curves",
    "GraphKNNClassifier",
    "GraphKNNRegressor",
    "GraphMetric",
    "GraphSVC",
    "NodeFeatures",
    "as_curves",
    "as_graphs",
    "baselines",
    "curve_vectors",
    "datasets",
    "fit_many",
    "graphs",
    "iter_distances",
    "iter_pairs",
    "kneighbors",
    "load",
    "mean_curve",
    "nca",
    "nccml",
    "pairwise_distances",
    "pw_distance",
    "rpw_distance",
    "sw_distance",
    "transport",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f".{name}", __name__)
    if name in _HOME:
        value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_ROOMS})
