"""Measures → curves → distances. Knows nothing of graphs or labels."""

from .curves import Curves, as_curves
from .distances import pw_distance, rpw_distance, sw_distance
from .means import mean_curve
from .pairwise import iter_distances, iter_pairs, kneighbors, pairwise_distances
from .vectors import curve_vectors

__all__ = [
    "Curves",
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
