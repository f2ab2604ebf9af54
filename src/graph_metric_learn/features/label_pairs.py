"""Pairs of nodes and the length of the shortest path between them, named by 64-bit hashes: what graphs have of each.

The name of a pair depends on the names of its two nodes and on the length alone, in no order, and on no other graph.
Paths follow edges in either direction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._core.compiled import njit, share_of, shared
from .._core.hashing import ODD, mix, mix_word
from .._core.ragged import offsets
from ..graphs.collection import Graphs
from .block_kind import Block
from .tree_hashes import hashed_rows, shared_hashes

MOST_PAIRS = 2_000_000  # of one graph: 16 MB of names
REACH = 8  # length of the longest paths that a block looks at
_SMALL = 1_000  # nodes up to which threads are not worth waking


def count_pairs(
    graphs: Graphs, names: np.ndarray, reach: int = 8, edge_names: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How many pairs of nodes of each name every graph has: the graph [E], the name [E], uint64, and the count [E].

    A pair is counted once, if the shortest path between its nodes has at most `reach` edges. Its name is a hash of the
    names of both nodes, in no order, and of the length of the path; with `edge_names` also of the edge between them, or
    of all shortest paths of two edges: the names of both edges, in no order, and of the node in the middle. Different
    pairs have different names, but for a collision of probability about 2^-64.

    A graph with more than 2,000,000 pairs has a smaller reach: the largest at which it has at most so many, 0 if its
    edges are more. That depends on the graph alone, and not on the order of its nodes.

    Parameters
    ----------
    graphs : Graphs
    names : ndarray [S], uint64
        Of the nodes: hashes of their labels (`tree_hashes.hashed_rows`), or the trees around them
        (`tree_hashes.shared_hashes`).
    reach : int
        The longest path that counts, at least 1.
    edge_names : ndarray [A], uint64, or None
        Of the arcs `graphs.edge_data.ends` [2, A], or of `graphs.edges` where there is no edge data. Names of parallel
        edges count together, as a multiset; the direction of an arc does not count.

    Returns
    -------
    graph, name, count : ndarray [E]
        Graphs ascend, and names within a graph. int64, uint64, int64.

    Examples
    --------
    >>> from graph_metric_learn.graphs import as_graphs
    >>> path = as_graphs([(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), None)])
    >>> graph, name, count = count_pairs(path, np.array([7, 7, 7], dtype=np.uint64))
    >>> graph, np.sort(count)  # two pairs at length 1, one at length 2
    (array([0, 0]), array([1, 2]))
    """
    net = _network(graphs, names, reach, edge_names)
    found = _count(graphs.offsets, net, MOST_PAIRS, threads=len(names) > _SMALL)
    graph, name, count = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return graph, name, count


def pair_rows(
    graph: Graphs, names: np.ndarray, reach: int = 8, edge_names: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs of nodes of one graph that :func:`count_pairs` counts: u [P] < v [P], ascending, and the name [P].

    >>> from graph_metric_learn.graphs import as_graphs
    >>> path = as_graphs([(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), None)])
    >>> u, v, name = pair_rows(path, np.array([7, 7, 7], dtype=np.uint64))
    >>> u, v, name[0] == name[2]
    (array([0, 0, 1]), array([1, 2, 2]), np.True_)
    """
    if len(graph) != 1:
        raise ValueError(f"expected one graph, got {len(graph)}: choose one, as in graphs[3:4]")
    u, v, name = _rows(_network(graph, names, reach, edge_names), MOST_PAIRS)
    order = np.lexsort([v, u])
    return u[order], v[order], name[order]


class Pairs(Block):
    """Pairs of nodes, each named by the trees of depth h around both and the length of the shortest path.

    There are too many pairs to list: `counts` says how often a graph has each name. With the view "edges", names tell
    the labels of edges along paths of one or two, too.
    """

    scaling = "none"
    categorical = True
    reads_labels = True
    cloud = "pairs"
    n_columns = 1

    @classmethod
    def worth_trying(cls, graphs: Graphs) -> bool:
        """Families of pairs stand in their registry by themselves."""
        return False

    @staticmethod
    def counts(graphs: Graphs, level: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What :func:`count_pairs` returns, of graphs as seen by the block."""
        return count_pairs(graphs, *_named(graphs, level))

    @staticmethod
    def rows(graph: Graphs, level: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What :func:`pair_rows` returns, of one graph as seen by the block."""
        return pair_rows(graph, *_named(graph, level))


def _named(graphs: Graphs, level: int) -> tuple[np.ndarray, int, np.ndarray | None]:
    """Names of nodes, the reach, and names of edges where they carry labels."""
    data = graphs.edge_data
    edge_names = None if data is None or data.labels is None else hashed_rows(data.labels)
    plain = graphs.without_edge_data()
    names = np.zeros(len(graphs.owner), np.uint64)
    if level > 0 or graphs.labels is not None:
        names = shared_hashes(plain, level, {})[level]
    return names, REACH, edge_names


class _Network(NamedTuple):
    """All graphs, for the compiled loops; edges are in the order of their tails."""

    starts: np.ndarray  # where the neighbours of each node start, and the end of the last [S + 1]
    heads: np.ndarray  # [E], rows of all nodes together
    bonds: np.ndarray  # hashes of the names of each edge, the same in both directions [E], uint64; [0] without names
    codes: np.ndarray  # hashes of the names of nodes [S], uint64
    lengths: np.ndarray  # hashes of the lengths of paths [R + 1], uint64, R the longest that counts


class _Scratch(NamedTuple):
    """Room for one search, with an entry for each node of a graph."""

    steps: np.ndarray  # length of the path to each node, -1 between searches
    between: np.ndarray  # what its paths of one or two edges are made of, uint64
    queue: np.ndarray  # nodes in the order in which they are found


def _network(graphs: Graphs, names: np.ndarray, reach: int, edge_names: np.ndarray | None) -> _Network:
    nodes, (tails, heads) = int(graphs.sizes.sum()), graphs.edges.astype(np.int64)
    _check_words("names", names, nodes, "nodes")
    if isinstance(reach, bool) or reach != int(reach) or reach < 1:
        raise ValueError(f"reach must be a whole number of at least 1, got {reach!r}")
    longest = min(int(reach), int(graphs.sizes.max(initial=1)))  # no shortest path is longer
    keys = tails * nodes + heads
    if (keys[1:] < keys[:-1]).any():
        keys = np.sort(keys)
    tails, heads = np.divmod(keys, max(nodes, 1))
    bonds = np.zeros(0, np.uint64) if edge_names is None else _bonds(graphs, edge_names, keys)
    with np.errstate(over="ignore"):
        codes, lengths = mix(names ^ ODD), mix(np.arange(longest + 1, dtype=np.uint64) * ODD)
    return _Network(offsets(np.bincount(tails, minlength=nodes)), heads, bonds, codes, lengths)


def _bonds(graphs: Graphs, edge_names: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Hashes of the names of edges [E], each with its reverse; the keys of edges [E] ascend."""
    ends = graphs.edges if graphs.edge_data is None else graphs.edge_data.ends
    nodes, (tails, heads) = len(graphs.owner), ends.astype(np.int64)
    _check_words("edge_names", edge_names, len(tails), "arcs")
    there, back = (np.zeros(len(keys), np.uint64) for _ in range(2))
    with np.errstate(over="ignore"):
        hashes = mix(edge_names ^ ODD)
        np.add.at(there, np.searchsorted(keys, tails * nodes + heads), hashes)
        np.add.at(back, np.searchsorted(keys, heads * nodes + tails), hashes)
        return mix(mix(np.minimum(there, back)) * ODD + np.maximum(there, back))


def _check_words(what: str, words: Any, count: int, of: str) -> None:
    """A `ValueError` unless there is a uint64 for each of the nodes or arcs."""
    if not isinstance(words, np.ndarray) or words.dtype != np.uint64 or words.shape != (count,):
        got = f"{words.dtype} {list(words.shape)}" if isinstance(words, np.ndarray) else type(words).__name__
        raise ValueError(f"{what} must be an array of uint64 [{count}], one for each of the {of}; got {got}")


@njit(inline="always")
def _scratch(size):
    return _Scratch(np.full(size, -1), np.empty(size, np.uint64), np.empty(size, np.int64))


@njit(error_model="numpy", inline="always")
def _ball(u, first, size, reach, net, scratch):
    """Finds the nodes within `reach` steps of u: how many they are, u among them, the first so many of the queue.

    Nodes are numbered within their graph, which starts at row `first` and has `size` of them.
    """
    steps, between, queue = scratch
    steps[u] = 0
    queue[0] = u
    low, found = 0, 1
    for step in range(1, reach + 1):
        high = found
        named = step <= 2 and len(net.bonds) > 0
        for i in range(low, high):
            if found == size and not named:  # nobody is left to be found
                break
            middle = queue[i]
            for e in range(net.starts[first + middle], net.starts[first + middle + 1]):
                v = net.heads[e] - first
                if steps[v] < 0:
                    steps[v] = step
                    between[v] = np.uint64(0)
                    queue[found] = v
                    found += 1
                if named and steps[v] == step:
                    if step == 1:
                        between[v] += net.bonds[e]
                    else:
                        between[v] += mix_word(between[middle] + net.bonds[e] + ODD * net.codes[first + middle])
        if found == high:
            break
        low = high
    return found


@njit(error_model="numpy")
def _room(first, size, net, most, scratch):
    """The reach of a graph, and for how many pairs there must be room.

    The reach shrinks as soon as the nodes seen so far have too many pairs, so never many more are counted.
    """
    reach = len(net.lengths) - 1
    if size * (size - 1) // 2 <= most:
        return reach, size * (size - 1) // 2
    counts = np.zeros(reach + 1, np.int64)
    total = 0
    for u in range(size):
        found = _ball(u, first, size, reach, net, scratch)
        for i in range(found):
            v = scratch.queue[i]
            if v > u:
                counts[scratch.steps[v]] += 1
                total += 1
            scratch.steps[v] = -1
        while total > most:
            total -= counts[reach]
            reach -= 1
    return reach, total


@njit(error_model="numpy")
def _name_pairs(first, size, reach, net, scratch, us, vs, names):
    """The names of the pairs of one graph; us and vs get their nodes, unless they are empty. How many there are."""
    count = 0
    for u in range(size if reach > 0 else 0):
        found = _ball(u, first, size, reach, net, scratch)
        for i in range(found):
            v = scratch.queue[i]
            step = scratch.steps[v]
            scratch.steps[v] = -1
            if v > u:
                word = net.codes[first + u] + net.codes[first + v] + net.lengths[step]
                if step <= 2 and len(net.bonds) > 0:
                    word += mix_word(scratch.between[v])
                names[count] = mix_word(word)
                if len(us) > 0:
                    us[count] = u
                    vs[count] = v
                count += 1
    return count


@njit(error_model="numpy")
def _rows(net, most):
    """The pairs of one graph and their names."""
    size = len(net.codes)
    scratch = _scratch(size)
    reach, room = _room(0, size, net, most, scratch)
    us, vs, names = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.uint64)
    count = _name_pairs(0, size, reach, net, scratch, us, vs, names)
    return us[:count], vs[:count], names[:count]


@njit(inline="always")
def _with_room(array, used, more):
    """The array, or a longer one with the same first entries, if there is no place for so many more."""
    if used + more <= len(array):
        return array
    longer = np.empty(2 * used + more, array.dtype)
    longer[:used] = array[:used]
    return longer


@shared
def _count(part, parts, graphs, net, most):
    """Graphs, names and counts of a share of the graphs."""
    own = share_of(len(graphs) - 1, part, parts)
    largest = 1
    for g in own:
        largest = max(largest, graphs[g + 1] - graphs[g])
    scratch = _scratch(largest)
    words, nodes = np.empty(0, np.uint64), np.empty(0, np.int64)
    graph, name, count = np.empty(0, np.int64), np.empty(0, np.uint64), np.empty(0, np.int64)
    used = 0
    for g in own:
        first, size = graphs[g], graphs[g + 1] - graphs[g]
        reach, room = _room(first, size, net, most, scratch)
        words = _with_room(words, 0, room)
        n = _name_pairs(first, size, reach, net, scratch, nodes, nodes, words)
        words[:n].sort()
        graph, name, count = _with_room(graph, used, n), _with_room(name, used, n), _with_room(count, used, n)
        for i in range(n):
            if i == 0 or words[i] != words[i - 1]:
                graph[used], name[used], count[used] = g, words[i], 0
                used += 1
            count[used - 1] += 1
    return graph[:used].copy(), name[:used].copy(), count[:used].copy()
