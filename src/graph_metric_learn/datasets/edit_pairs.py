"""Edit distances of many pairs of graphs: exact where time allows, else between bounds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._core.parallel import in_parallel
from .._core.progress import progress_bar
from ..graphs import Graphs, as_graphs
from .edit_bounds import edit_distance
from .edit_costs import EditCosts, EditGraph, edit_graphs
from .edit_record import EditRecord, Known, Pair

_TOGETHER = 4  # pairs that are sent to a worker, and written to the file, at once


@dataclass(frozen=True, eq=False, repr=False)
class EditDistances:
    """Edit distances of P pairs, and what is known where they are not.

    Attributes
    ----------
    pairs : ndarray [P, 2]
        Indices of graphs.
    lower, upper : ndarray [P]
        Bounds; equal where the distance is known.
    """

    pairs: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def exact(self) -> np.ndarray:
        """Whether the distance is known [P], bool."""
        return self.lower == self.upper

    @property
    def values(self) -> np.ndarray:
        """The distances [P], NaN where only bounds are known."""
        return np.where(self.exact, self.upper, np.nan)

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        text = f"{len(self)} pairs, {int(self.exact.sum())} exact"
        if not self.exact.all():
            text += f", bounds of the others {(self.upper - self.lower)[~self.exact].mean():.3g} apart on average"
        return f"EditDistances({text})"


def edit_distances(
    graphs: Any, pairs: Any, *, costs: EditCosts | None = None, timeout: float = 10.0,
    path: str | Path | None = None, progress: bool | None = None,
) -> EditDistances:  # fmt: skip
    """Graph edit distances of pairs of graphs, by networkx, in bounded time for each pair.

    The edit distance is the least cost of inserting, deleting and changing nodes and edges that makes one graph of the
    other. Finding it takes a time that grows exponentially with the graphs: seconds with ten nodes, minutes or hours
    with a few more. Each pair first gets a lower and an upper bound from an assignment of nodes; where they differ,
    networkx searches between them. Inside ``joblib.parallel_config("loky", n_jobs=8)`` pairs are computed by its
    workers.

    Parameters
    ----------
    graphs : list of graphs, or Graphs
        All that they carry counts: labels, vectors and weights. Name attributes by :func:`as_graphs`.
    pairs : array [P, 2]
        Indices of graphs. A pair that is there twice, or the other way round, is computed once.
    costs : EditCosts, optional
        What each operation costs; by default 1.
    timeout : float
        Seconds for which networkx may search, for each pair; 0 for bounds alone, infinite for no limit. Graphs with
        more than 400 nodes or edges together only get bounds.
    path : str or Path, optional
        A file to which results are added as they come. The next call, after an interruption or with more pairs, goes on
        from it: what is exact, or was searched for as long, is not computed again. Graphs are recognised by what they
        are, whatever their place in the list.
    progress : bool, optional
        Whether to show how far it is; by default on a terminal.

    Examples
    --------
    >>> import networkx as nx
    >>> import graph_metric_learn as gml
    >>> graphs = [nx.cycle_graph(5), nx.path_graph(5), nx.star_graph(3)]
    >>> found = gml.datasets.edit_distances(graphs, [[0, 1], [0, 2]])
    >>> found, found.values
    (EditDistances(2 pairs, 2 exact), array([1., 5.]))
    """
    collection = as_graphs(graphs)
    if collection.unused:
        warnings.warn(
            f"edit distances do not count {', '.join(collection.unused)}: as_graphs(graphs, label=…) names attributes",
            UserWarning,
            stacklevel=2,
        )
    checked, costs = _checked_pairs(pairs, len(collection)), EditCosts() if costs is None else costs
    timeout = _checked_timeout(timeout)
    by_index = _graphs_of_pairs(collection, checked)
    with EditRecord.opened(path, costs) as record:
        keys = [_key(by_index[a], by_index[b]) for a, b in checked.tolist()]
        by_digest = {graph.digest: graph for graph in by_index.values()}
        todo = [key for key in dict.fromkeys(keys) if not _settled(record.known.get(key), timeout)]
        with progress_bar(progress, "edit distances", total=len(todo), unit="pair", delay=2.0) as bar:
            tasks = ([(by_digest[a], by_digest[b]) for a, b in part] for part in _parts(todo))
            for part, found in zip(_parts(todo), in_parallel(_computed, tasks, (costs, timeout)), strict=True):
                record.add(zip(part, found, strict=True))
                bar.update(len(part))
        results = [record.known[key] for key in keys]
    lower, upper = (np.array([getattr(one, name) for one in results]) for name in ("lower", "upper"))
    return EditDistances(checked, lower, upper)


def _computed(options: tuple[EditCosts, float], pairs: list[tuple[EditGraph, EditGraph]]) -> list[Known]:
    """What is found of some pairs."""
    costs, timeout = options
    return [Known(*edit_distance(graph, other, costs, timeout), timeout) for graph, other in pairs]


def _settled(known: Known | None, timeout: float) -> bool:
    """Whether nothing is to be found by searching for so long."""
    return known is not None and (known.lower == known.upper or known.timeout >= timeout)


def _parts(keys: list[Pair]) -> Iterator[list[Pair]]:
    return (keys[start : start + _TOGETHER] for start in range(0, len(keys), _TOGETHER))


def _key(graph: EditGraph, other: EditGraph) -> Pair:
    first, second = sorted((graph.digest, other.digest))
    return first, second


def _graphs_of_pairs(collection: Graphs, pairs: np.ndarray) -> dict[int, EditGraph]:
    """The graphs that occur in pairs, by index."""
    wanted = set(pairs.reshape(-1).tolist())
    return {i: graph for i, graph in enumerate(edit_graphs(collection)) if i in wanted}


def _checked_pairs(pairs: Any, count: int) -> np.ndarray:
    checked = np.asarray(pairs)
    if checked.ndim != 2 or checked.shape[1] != 2 or not len(checked):
        raise ValueError(f"pairs must be rows of two indices [P, 2], got the shape {checked.shape}")
    if checked.dtype.kind not in "iu":
        raise ValueError(f"pairs must be whole numbers, got {checked.dtype}")
    outside = ((checked < 0) | (checked >= count)).any(1)
    if outside.any():
        row = int(outside.argmax())
        raise ValueError(f"pair {row} is {checked[row].tolist()}: there are graphs 0 to {count - 1}")
    return checked.astype(np.int64)


def _checked_timeout(timeout: Any) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float, np.number)) or not timeout >= 0:
        raise ValueError(f"timeout must be a number of seconds >= 0, got {timeout!r}")
    return float(timeout)
