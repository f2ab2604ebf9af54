"""Distances between point clouds: measures → curves → distances. Knows nothing of graphs or classes."""

from .curves import Curves, as_curves
from .distances import pw_distance, rpw_distance, sw_distance
from .embedded import Embedded, Vectors
from .grids import curve_vectors
from .means import mean_curve
from .pairwise import iter_distances, iter_pairs, kneighbors, pairwise_distances

__all__ = [
    "Curves",
    "Embedded",
    "Vectors",
    "as_curves",
    "curve_vectors",
    "iter_distances",
    "iter_pairs",
    "kneighbors",
    "mean_curve",
    "pairwise_distances",
    "pw_distance",
    "rpw_distance",
    "sw_distance",
]
