"""Vectors that describe the structure of a graph; node features are ignored."""

from __future__ import annotations

from typing import Any

import numpy as np

from graph_metric_learn._core.validation import one_of, whole_number
from graph_metric_learn.graphs import Graphs

from .base import DescriptorSystem, positive
from .structure import adjacencies, laplacian

LAPLACIANS = ("combinatorial", "normalized")


class NetLSD(DescriptorSystem):
    """Trace of the heat kernel exp(−t L) at 250 times t from 0.01 to 100, L the normalised Laplacian [1]_.

    Parameters
    ----------
    normalization : {"empty", "complete", None}
        What the trace is divided by: its value for the graph without edges (the number of nodes), for the complete
        graph, or nothing.

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

        # Eigenvalues are computed here because netlsd's own Laplacian divides by the degree, 0 for isolated nodes.
        spectra = (np.linalg.eigvalsh(laplacian(a, normalized=True)) for a in adjacencies(graphs))
        return np.stack([netlsd.heat(spectrum, normalization=self.normalization) for spectrum in spectra])


class FGSD(DescriptorSystem):
    """Histogram of the harmonic spectral distances S_ij = L⁺_ii + L⁺_jj − 2 L⁺_ij of all pairs of nodes [1]_.

    Parameters
    ----------
    bins : int
        Number of bins.
    largest : float
        End of the last bin; larger distances are not counted.
    laplacian : {"combinatorial", "normalized"}
        With the combinatorial one, S_ij is the resistance between i and j.

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
        one_of("laplacian", self.laplacian, LAPLACIANS)
        whole_number("bins", self.bins, 1)
        positive(largest=self.largest)
        return np.stack([self._histogram(adjacency) for adjacency in adjacencies(graphs)])

    def _histogram(self, adjacency: np.ndarray) -> np.ndarray:
        """Counts [bins] of one graph."""
        # One eigenvalue per component is 0 up to rounding and must not be inverted; the others are far above 1e-10.
        matrix = laplacian(adjacency, normalized=self.laplacian == "normalized")
        inverse = np.linalg.pinv(matrix, rcond=1e-10, hermitian=True)
        diagonal = np.diag(inverse)
        spectral = diagonal[:, None] + diagonal[None, :] - 2 * inverse
        # Resistances in a tree are whole numbers, which are bin edges. Without the offset of 1e-9, rounding, and so the
        # order of the nodes, would decide on which side of an edge they fall.
        bin_numbers = np.floor((spectral.ravel() + 1e-9) / (self.largest / self.bins)).astype(np.int64)
        return np.bincount(bin_numbers[bin_numbers < self.bins], minlength=self.bins)


class NetSimile(DescriptorSystem):
    """Five statistics of seven node features, compared by the Canberra distance [1]_.

    Features of a node: degree, clustering coefficient, the means of both over its neighbours, edges within its egonet
    (itself, its neighbours and all edges between them), edges that leave the egonet, nodes next to the egonet.
    Statistics over the nodes: median, mean, standard deviation, skewness, excess kurtosis (the last two 0 where all
    nodes are equal).

    References
    ----------
    .. [1] M. Berlingerio, D. Koutra, T. Eliassi-Rad, C. Faloutsos. Network similarity via multiple social theories.
       ASONAM 2013.
    """

    name = "netsimile"
    metric = "canberra"

    def describe(self, graphs: Graphs) -> np.ndarray:
        """Statistics [N, 35]: the medians of the seven features, then their means, and so on."""
        # Rounded, because the Canberra distance of 0 and a rounding error is 1.
        return np.stack(
            [_statistics(netsimile_features(adjacency)).round(9) + 0.0 for adjacency in adjacencies(graphs)]
        )


def netsimile_features(adjacency: np.ndarray) -> np.ndarray:
    """NetSimile's seven features of each node [n, 7].

    >>> netsimile_features(np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])).round(2)
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
    means = adjacency @ np.column_stack([degree, clustering]) / neighbours[:, None]
    inside = degree + triangles
    ego = adjacency + np.eye(len(adjacency))
    leaving = ego @ degree - 2 * inside
    next_to = ((ego @ adjacency > 0) & (ego == 0)).sum(1)
    return np.column_stack([degree, clustering, means, inside, leaving, next_to])


def _statistics(features: np.ndarray) -> np.ndarray:
    """Five statistics of each column [5 q], statistic by statistic."""
    mean = features.mean(0)
    centred = features - mean
    spread = np.sqrt((centred**2).mean(0))
    varies = spread > 1e-9 * (1 + np.abs(mean))
    unit = centred / np.where(varies, spread, 1.0)
    skewness = np.where(varies, (unit**3).mean(0), 0.0)
    kurtosis = np.where(varies, (unit**4).mean(0) - 3.0, 0.0)
    return np.concatenate([np.median(features, axis=0), mean, np.where(varies, spread, 0.0), skewness, kurtosis])
