"""Graphs one after the other: read in chunks, sampled, or without those that cannot be read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from .._core.validation import as_iterated, as_listed
from .collection import Graphs
from .convert import as_graphs, iterate

CHUNK = 1000  # graphs that are read and embedded at once
_END = object()  # in place of an entry, where there is none left


def is_stream(graphs: Any) -> bool:
    """Whether graphs come one after the other, nobody knows how many: generators, `DataLoader`, iterable datasets.

    >>> is_stream(iter([])), is_stream([])
    (True, False)
    """
    if isinstance(graphs, Graphs) or hasattr(graphs, "graphs"):
        return False
    loads = hasattr(graphs, "batch_size") and hasattr(graphs, "dataset")  # its length counts batches
    return loads or (isinstance(graphs, Iterable) and not isinstance(graphs, Sized))


def read_chunks(graphs: Any, read: Callable[[Any], Graphs] = as_graphs, size: int | None = None) -> Iterator[Graphs]:
    """Graphs of any supported kind, at most `size` at once, or 1000; a bad one is named by its index among all.

    `read` makes one collection of a list of graphs.
    """
    size = CHUNK if size is None else size
    if isinstance(graphs, Graphs):
        collection = read(graphs)
        for start in range(0, len(collection), size):
            yield collection[start : start + size] if len(collection) > size else collection
        return
    each, start = iterate(graphs), 0
    while listed := list(islice(each, size)):
        try:
            chunk = read(listed)
        except ValueError as error:
            raise _renumbered(error, listed, read, start) from None
        yield chunk
        start += len(listed)
    if start == 0:
        read([])  # says what is wrong with no graphs


def reservoir(parts: Iterable[Any], count: int, seed: int | None) -> tuple[list[Any], list[int]]:
    """At most `count` of the things that come along, each as likely as any other, in their order; and their indices.

    Examples
    --------
    >>> reservoir("abcdef", 3, seed=0)
    (['a', 'b', 'c'], [0, 1, 2])
    """
    rng = np.random.default_rng(seed)
    kept: list[tuple[int, Any]] = []
    for index, item in enumerate(parts):
        if index < count:
            kept.append((index, item))
        elif (slot := int(rng.integers(index + 1))) < count:
            kept[slot] = (index, item)
    kept.sort(key=lambda entry: entry[0])
    return [item for _, item in kept], [index for index, _ in kept]


def sampled(graphs: Any, y: Any, groups: Any, most: int, seed: int | None) -> tuple[Any, Any, Any, np.ndarray | None]:
    """At most `most` of the graphs, drawn at random, in their order, with their targets, groups and indices [G].

    Indices are None where all graphs were taken. Graphs that come one after the other are looked at once, and forgotten
    unless drawn; y and groups may be iterables of as many entries.
    """
    if not is_stream(graphs):
        y, groups = as_listed("targets", y), as_listed("groups", groups)
        count = len(graphs) if isinstance(graphs, Sized) else 0
        if count <= most:
            return graphs, y, groups, None
        chosen = np.sort(np.random.default_rng(seed).permutation(count)[:most])
        listed = getattr(graphs, "graphs", graphs)
        if y is None and getattr(graphs, "y", None) is not None and not isinstance(graphs, Graphs):
            y = graphs.y
        part = listed[chosen] if isinstance(listed, Graphs) else [listed[i] for i in chosen]
        return part, _chosen(y, chosen, count, "targets"), _chosen(groups, chosen, count, "groups"), chosen
    beside = {what: values for what, values in (("targets", y), ("groups", groups)) if values is not None}
    kept, indices = reservoir(_together(graphs, beside), most, seed)
    parts = [list(part) for part in zip(*kept, strict=True)] or [[]]
    rest = iter(parts[1:])
    targets, together = (None if one is None else next(rest) for one in (y, groups))
    return parts[0], targets, together, np.array(indices)


def _together(graphs: Any, beside: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Each graph with its targets and groups; an error that says how many there are, where these are not as many."""
    columns = [iterate(graphs), *(as_iterated(what, values) for what, values in beside.items())]
    for count, row in enumerate(zip_longest(*columns, fillvalue=_END)):
        ended = [entry is _END for entry in row]
        if any(ended):
            graph_count, *counts = (
                str(count) if over else str(len(values)) if isinstance(values, Sized) else f"more than {count}"
                for over, values in zip(ended, (None, *beside.values()), strict=True)
            )
            other = next(which for which, over in enumerate(ended[1:]) if over != ended[0])
            raise ValueError(f"{graph_count} graphs, but {counts[other]} {list(beside)[other]}: give one per graph")
        yield row


def _chosen(values: Any, which: np.ndarray, count: int, what: str) -> Any:
    if values is None:
        return None
    if len(values) != count:
        raise ValueError(f"{len(values)} {what} for {count} graphs")
    return [values[i] for i in which] if isinstance(values, (list, tuple)) else np.asarray(values)[which]


def skip_bad(graphs: Any, **options: Any) -> Iterator[Any]:
    """The graphs that can be read, one after the other; others are left out, each with a warning that says why.

    Parameters
    ----------
    graphs : list or iterable of graphs
    **options
        Of :func:`as_graphs`.

    Examples
    --------
    >>> import networkx as nx, warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     readable = list(skip_bad([nx.path_graph(3), nx.Graph(), nx.path_graph(2)]))
    >>> len(readable), str(said[0].message)
    (2, 'left out: graph 1 has no nodes: drop it or give it one')
    """
    for index, graph in enumerate(iterate(graphs)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                as_graphs([graph], **options)
        except ValueError as error:
            warnings.warn(f"left out: {_with_number(str(error), index)}", stacklevel=2)
        else:
            yield graph


def _renumbered(error: ValueError, graphs: list[Any], read: Callable[[Any], Graphs], start: int) -> ValueError:
    """The error of a chunk that starts with graph number `start`, with the number of the bad graph among all."""
    if start == 0:
        return error
    for i, graph in enumerate(graphs):
        try:
            read([graph])
        except ValueError as own:
            return ValueError(_with_number(str(own), start + i))
    return ValueError(f"in graphs {start} to {start + len(graphs) - 1}, counted from {start}: {error}")


def _with_number(message: str, index: int) -> str:
    return re.sub(r"\bgraph 0\b", f"graph {index}", message)
