"""Vectors that describe the shape of a graph; node features do not count."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graphs import Graphs
from .base import DescriptorSystem, positive
from .structure import adjacencies, laplacian

LAPLACIANS = ("combinatorial", "normalized")


class NetLSD(DescriptorSystem):
    """Trace of the heat kernel exp(−t L) at 250 times t from 0.01 to 100, L the normalised Laplacian [1]_.

    Parameters
    ----------
    normalization : {"empty", "complete", None}
        What the trace is divided by: its value for the empty graph (the number of nodes), for the complete graph, or
        nothing.

    References
    ----------
    .. [1] A. Tsitsulin, D. Mottin, P. Karras, A. Bronstein, E. Müller. NetLSD: Hearing the Shape of a Graph. KDD 2018.
    """

    name = "netlsd"
    needs = ("netlsd",)

    def __init__(self, *, normalization: str | None = "empty") -> None:
        self.normalization = normalization

    def describe(self, graphs: Graphs) -> np.ndarray:
        """Traces [N, 250]."""
        import netlsd

        # Eigenvalues are computed here: netlsd's own Laplacian divides by the degree of isolated nodes.
        spectra = (np.linalg.eigvalsh(laplacian(a, normalized=True)) for a in adjacencies(graphs))
        return np.stack([netlsd.heat(spectrum, normalization=self.normalization) for spectrum in spectra])


class FGSD(DescriptorSystem):
    """Histogram of the harmonic spectral distances S_ij = L⁺_ii + L⁺_jj − 2 L⁺_ij of all pairs of nodes [1]_.

    Parameters
    ----------
    bins : int
        Number of bins.
    largest : float
        Where the last bin ends; larger distances are not counted.
    laplacian : {"combinatorial", "normalized"}
        With the first, S_ij is the resistance between i and j.

    References
    ----------
    .. [1] S. Verma, Z.-L. Zhang. Hunt For The Unique, Stable, Sparse And Fast Feature Learning On Graphs. NIPS 2017.
    """

    name = "fgsd"

    def __init__(self, *, bins: int = 200, largest: float = 20.0, laplacian: str = "combinatorial") -> None:
        self.bins, self.largest, self.laplacian = bins, largest, laplacian

    @classmethod
    def grid(cls, task_features: str, dataset: str) -> list[dict[str, Any]]:
        return [{"laplacian": kind} for kind in LAPLACIANS]

    def describe(self, graphs: Graphs) -> np.ndarray:
        """Counts [N, bins]."""
        if self.laplacian not in LAPLACIANS:
            raise ValueError(f"unknown laplacian {self.laplacian!r}: use one of {', '.join(map(repr, LAPLACIANS))}")
        positive(bins=self.bins, largest=self.largest)
        return np.stack([self._histogram(adjacency) for adjacency in adjacencies(graphs)])

    def _histogram(self, adjacency: np.ndarray) -> np.ndarray:
        # One eigenvalue per component is 0 up to rounding, which must not be inverted; the others are far above 1e-10.
        matrix = laplacian(adjacency, normalized=self.laplacian == "normalized")
        inverse = np.linalg.pinv(matrix, rcond=1e-10, hermitian=True)
        diagonal = np.diag(inverse)
        spectral = diagonal[:, None] + diagonal[None, :] - 2 * inverse
        # Resistances along a tree are whole numbers, the ends of bins: without the nudge, rounding errors, and with
        # them the numbering of the nodes, would decide on which side of an end they fall.
        place = np.floor((spectral.ravel() + 1e-9) / (self.largest / self.bins)).astype(np.int64)
        return np.bincount(place[place < self.bins], minlength=self.bins)


class NetSimile(DescriptorSystem):
    """Five statistics of seven numbers per node, compared by the Canberra distance [1]_.

    Of each node: degree, clustering, their averages over its neighbours, edges inside its egonet (itself, its
    neighbours and all edges between them), edges that leave the egonet, nodes next to the egonet. Of each of these,
    over the nodes: median, mean, standard deviation, skewness, excess kurtosis (0 where all nodes are equal).

    References
    ----------
    .. [1] M. Berlingerio, D. Koutra, T. Eliassi-Rad, C. Faloutsos. Network similarity via multiple social theories.
       ASONAM 2013.
    """

    name = "netsimile"
    metric = "canberra"

    def describe(self, graphs: Graphs) -> np.ndarray:
        """Statistics [N, 35]: the medians of the seven numbers, then their means, and so on."""
        # Rounded, because the Canberra distance of 0 and a rounding error is 1.
        return np.stack([_statistics(node_numbers(adjacency)).round(9) + 0.0 for adjacency in adjacencies(graphs)])


def node_numbers(adjacency: np.ndarray) -> np.ndarray:
    """NetSimile's seven numbers of each node [n, 7].

    >>> node_numbers(np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])).round(2)
    array([[3.  , 0.33, 1.67, 0.67, 4.  , 0.  , 0.  ],
           [2.  , 1.  , 2.5 , 0.67, 3.  , 1.  , 1.  ],
           [2.  , 1.  , 2.5 , 0.67, 3.  , 1.  , 1.  ],
           [1.  , 0.  , 3.  , 0.33, 1.  , 2.  , 2.  ]])
    """
    degree = adjacency.sum(1)
    triangles = ((adjacency @ adjacency) * adjacency).sum(1) / 2
    possible = degree * (degree - 1) / 2
    clustering = np.divide(triangles, possible, out=np.zeros(len(degree)), where=possible > 0)
    neighbours = np.maximum(degree, 1)
    inside = degree + triangles
    ego = adjacency + np.eye(len(adjacency))
    leaving = ego @ degree - 2 * inside
    beside = ((ego @ adjacency > 0) & (ego == 0)).sum(1)
    around = adjacency @ np.column_stack([degree, clustering]) / neighbours[:, None]
    return np.column_stack([degree, clustering, around, inside, leaving, beside])


def _statistics(numbers: np.ndarray) -> np.ndarray:
    mean = numbers.mean(0)
    centred = numbers - mean
    spread = np.sqrt((centred**2).mean(0))
    varies = spread > 1e-9 * (1 + np.abs(mean))
    unit = centred / np.where(varies, spread, 1.0)
    skewness = np.where(varies, (unit**3).mean(0), 0.0)
    kurtosis = np.where(varies, (unit**4).mean(0) - 3.0, 0.0)
    return np.concatenate([np.median(numbers, axis=0), mean, np.where(varies, spread, 0.0), skewness, kurtosis])
