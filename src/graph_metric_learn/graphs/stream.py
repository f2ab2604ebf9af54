"""Graphs one after the other: read in chunks, sampled, or without those that cannot be read."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import islice, zip_longest
from typing import Any

from .._core.validation import as_iterated
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


def beside(graphs: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, ...]]:
    """Rows of each graph with its target and group, where there are some: graphs and these may be any iterables.

    An error says how many there are, where these are not as many.

    >>> list(beside(iter("ab"), [1, 2]))
    [('a', 1), ('b', 2)]
    """
    return _together(graphs, {what: one for what, one in (("targets", y), ("groups", groups)) if one is not None})


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
