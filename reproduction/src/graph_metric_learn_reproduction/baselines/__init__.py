"""Baselines, the other systems of the tables: `distances(graphs)`, `kernel(graphs)`, or `fit` and `predict`.

Each is a small class with its parameters, a `grid` of settings to search and the packages it `needs`, which are
imported when they are used. Node features are the graphs' x (see `datasets.load_tu`); a system that compares discrete
labels takes the distinct rows of x as labels. Those for molecules take SMILES, RDKit molecules, or graphs that
`from_smiles` made of them.

>>> BASELINES["wwl"](depth=3)
WWL(depth=3, last_only=False, kind='auto', solver='tree')
"""

from graph_metric_learn._core.registry import Registry

from .base import DescriptorSystem, KernelSystem, SolverFailure, System, kernel_distances
from .controls import LargestClass, MeanPool
from .descriptors import FGSD, NetLSD, NetSimile
from .fgw import FGW, FGWWL
from .gin import GIN, GINE
from .kernels import HGKSP, PROPAK, WLOA
from .message_passing import Chemprop
from .molecules import MoleculeSystem
from .morgan import MorganForest, MorganRidge
from .networks import GraphNetwork, TooLong
from .pairs import PairwiseSystem
from .pscn import PSCN
from .templates import TFGW, TW
from .wasserstein import W2, EntropicW2
from .wwl import WWL

BASELINES: Registry[type[System]] = Registry("baseline")
for _system in (
    W2, EntropicW2, FGW, FGWWL, WWL, WLOA, PROPAK, HGKSP, NetLSD, FGSD, NetSimile, PSCN, MeanPool, LargestClass,
    GIN, GINE, TFGW, TW, MorganForest, MorganRidge, Chemprop,
):  # fmt: skip
    BASELINES[_system.name] = _system

__all__ = [
    "BASELINES", "FGSD", "FGW", "FGWWL", "GIN", "GINE", "HGKSP", "PROPAK", "PSCN", "TFGW", "TW", "W2", "WLOA", "WWL",
    "Chemprop", "DescriptorSystem", "EntropicW2", "GraphNetwork", "KernelSystem", "LargestClass", "MeanPool",
    "MoleculeSystem", "MorganForest", "MorganRidge", "NetLSD", "NetSimile", "PairwiseSystem", "SolverFailure",
    "System", "TooLong", "kernel_distances",
]  # fmt: skip
