from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn.graphs.arcs import DIRECTED, UNDIRECTED, UNKNOWN, Listed, combine, without_directions

KINDS = ("labels", "x", "weights")


def listed(edges, orientation=UNKNOWN, **data):
    """Listed edges, all of one orientation."""
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return Listed(ends, np.full(ends.shape[1], orientation), **{key: np.array(value) for key, value in data.items()})


def rows(part, count):
    """What each edge carries of one kind, as tuples of numbers."""
    if part is None:
        return [()] * count
    return [tuple(np.atleast_1d(row).tolist()) for row in part]


def as_counter(ends, labels, x, weights):
    """How often each arc occurs, with all it carries."""
    count = ends.shape[1]
    parts = (rows(part, count) for part in (labels, x, weights))
    return Counter(zip(map(tuple, ends.T.tolist()), *parts, strict=True))


def by_hand(given, directed):
    """Neighbours, arcs (None: edges carry nothing), whether they are directed, and whether every edge came once."""
    weights = given.weights
    keep = [i for i, (u, v) in enumerate(given.ends.T.tolist()) if u != v]
    if weights is not None and all(weights[i] == 1 for i in keep):
        weights = None
    bare = given.labels is None and given.x is None and weights is None
    count = given.ends.shape[1]
    data = list(zip(*(rows(part, count) for part in (given.labels, given.x, weights)), strict=True))
    arcs, unknown, any_directed = Counter(), set(), False
    for i in keep:
        u, v = given.ends[:, i].tolist()
        arcs[(u, v), data[i]] += 1
        if given.orientation[i] == UNDIRECTED:
            arcs[(v, u), data[i]] += 1
        if given.orientation[i] == UNKNOWN:
            unknown.add(((u, v), data[i]))
        any_directed |= given.orientation[i] == DIRECTED
    if bare:
        arcs = Counter(dict.fromkeys(arcs, 1))
    pairs = {ends for ends, _ in arcs}
    neighbours = sorted(pairs | {(v, u) for u, v in pairs})
    once = bool(unknown) and not any((v, u) in pairs for (u, v), _ in unknown)
    if directed == "auto":
        mirrored = all(arcs[(v, u), carried] >= arcs[(u, v), carried] for (u, v), carried in unknown)
        directed = any_directed or (bool(unknown) and not once and not mirrored)
    if directed:
        return neighbours, arcs, True, once
    if bare:
        return neighbours, None, False, once
    both = Counter()
    for ((u, v), carried), times in arcs.items():
        most = max(times, arcs[(v, u), carried])
        both[(u, v), carried] = both[(v, u), carried] = most
    return neighbours, both, False, once


@st.composite
def lists_of_edges(draw):
    """Up to three graphs of up to four nodes, each with edges of one orientation, with data of few values."""
    orientation, ends = [], []
    for graph in range(draw(st.integers(1, 3))):
        n, kind = draw(st.integers(1, 4)), draw(st.sampled_from([UNDIRECTED, DIRECTED, UNKNOWN, UNKNOWN]))
        node = st.integers(4 * graph, 4 * graph + n - 1)
        edges = draw(st.lists(st.tuples(node, node), max_size=7))
        if draw(st.booleans()):
            edges += [edge[::-1] for edge in edges]
        ends += edges
        orientation += [kind] * len(edges)
    count = len(ends)
    values = {
        "labels": st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=count, max_size=count),
        "x": st.lists(st.tuples(st.sampled_from([0.0, 0.5])), min_size=count, max_size=count),
        "weights": st.lists(st.sampled_from([1.0, 1.0, 2.0, -1.0]), min_size=count, max_size=count),
    }
    data = {}
    for key in draw(st.sets(st.sampled_from(KINDS))):
        found = draw(values[key])
        if draw(st.booleans()):  # an edge and its reverse, however often, carry the same
            first = {}
            found = [first.setdefault(frozenset(edge), value) for edge, value in zip(ends, found, strict=True)]
        width = () if key == "weights" else (2 if key == "labels" else 1,)
        data[key] = np.array(found, dtype=np.int64 if key == "labels" else float).reshape(count, *width)
    order = draw(st.permutations(range(count)))
    array = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return Listed(array, np.array(orientation, dtype=np.int64), **data).some(np.array(order, dtype=np.int64))


@given(lists_of_edges(), st.sampled_from(["auto", True, False]))
def test_the_oracle(given_edges, directed):
    edges, data, once = combine(given_edges, 12, directed)
    neighbours, arcs, is_directed, is_once = by_hand(given_edges, directed)
    assert list(map(tuple, edges.T.tolist())) == neighbours
    assert (data is None) == (arcs is None)
    if data is not None:
        wanted = Counter({(ends, *carried): times for (ends, carried), times in arcs.items() if times})
        assert as_counter(data.ends, data.labels, data.x, data.weights) == wanted
        assert data.directed == is_directed
        assert (np.diff(data.ends[0] * 12 + data.ends[1]) >= 0).all()  # graph after graph, and in order
        data.check(np.array([4, 4, 4]))
    if not is_directed:
        assert once == is_once


def test_repeats_without_data_count_once_and_loops_are_dropped():
    edges, data, once = combine(listed([(0, 1), (1, 0), (0, 1), (1, 0), (2, 2)]), 3)
    assert edges.tolist() == [[0, 1], [1, 0]]
    assert data is None
    assert not once


def test_parallel_edges_with_data_stay_apart():
    _, data, _ = combine(listed([(0, 1), (0, 1), (0, 1)], UNDIRECTED, weights=[2.0, 3.0, 2.0]), 2)
    assert not data.directed
    assert as_counter(data.ends, None, None, data.weights) == Counter(
        {
            ((0, 1), (), (), (2.0,)): 2,
            ((1, 0), (), (), (2.0,)): 2,
            ((0, 1), (), (), (3.0,)): 1,
            ((1, 0), (), (), (3.0,)): 1,
        }
    )


def test_weights_that_are_all_one_are_none():
    assert combine(listed([(0, 1), (1, 0)], weights=[1.0, 1.0]), 2).data is None
    assert combine(listed([(0, 1), (1, 0), (2, 2)], weights=[1.0, 1.0, 5.0]), 3).data is None  # but for a loop
    assert combine(listed([(0, 1), (1, 0)], weights=[2.0, 2.0]), 2).data.weights.tolist() == [2, 2]
    labelled = combine(listed([(0, 1), (1, 0)], weights=[1.0, 1.0], labels=[[7], [7]]), 2).data
    assert labelled.weights is None
    assert labelled.labels.tolist() == [[7], [7]]


@pytest.mark.parametrize(
    ("edges", "labels", "directed", "once"),
    [
        ([(0, 1), (1, 0), (1, 2), (2, 1)], None, False, False),  # all have their reverse
        ([(0, 1), (1, 0), (1, 2)], None, True, False),  # some have, some have not
        ([(0, 1), (1, 2)], None, False, True),  # none has
        ([(0, 1), (1, 0)], [[3], [4]], True, False),  # the reverse carries something else
        ([(0, 1), (1, 0)], [[3], [3]], False, False),
        ([(0, 1), (0, 1), (1, 0), (1, 0)], [[3], [4], [4], [3]], False, False),  # parallel edges, both ways
        ([(0, 1), (0, 1), (1, 0)], [[3], [3], [3]], True, False),  # two there, one back
        ([(0, 1), (1, 2)], [[3], [4]], False, True),
    ],
)
def test_when_edges_are_directed(edges, labels, directed, once):
    found = combine(listed(edges, **({} if labels is None else {"labels": labels})), 3)
    assert (found.data is not None and found.data.directed) == directed
    assert found.listed_once == once


@pytest.mark.parametrize("shape", [{"weights": (2,)}, {"x": (2, 1)}])
def test_a_reverse_that_differs_by_rounding_is_the_same(shape):
    ((key, form),) = shape.items()
    nearly = np.array([0.1 + 0.2, 0.3])
    assert nearly[0] != nearly[1]
    assert not combine(listed([(0, 1), (1, 0)], **{key: nearly.reshape(form)}), 2).data.directed
    assert combine(listed([(0, 1), (1, 0)], **{key: np.array([0.3, 0.3001]).reshape(form)}), 2).data.directed


def test_rounding_makes_no_difference_among_parallel_edges():
    ends = [(0, 1), (0, 1), (1, 0), (1, 0)]
    assert not combine(listed(ends, weights=[0.1 + 0.2, 5.0, 5.0, 0.3]), 2).data.directed
    assert combine(listed(ends, weights=[0.3, 5.0, 5.0, 0.3001]), 2).data.directed


def test_names_of_columns_stay_without_directions():
    data = combine(listed([(0, 1), (1, 0)], DIRECTED, x=[[1.0], [2.0]]), 2).data
    assert without_directions(replace(data, columns=("length",)), 2).columns == ("length",)


def test_directed_decides():
    one_way = listed([(0, 1), (1, 2)], weights=[2.0, 3.0])
    assert combine(one_way, 3, directed=True).data.ends.tolist() == [[0, 1], [1, 2]]
    undirected = combine(one_way, 3, directed=False).data
    assert undirected.ends.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert undirected.weights.tolist() == [2, 2, 3, 3]
    arcs = listed([(0, 1), (1, 0)], DIRECTED, labels=[[1], [2]])  # read as two undirected edges
    both = combine(arcs, 2, directed=False).data
    assert as_counter(both.ends, both.labels, None, None) == Counter(
        (ends, (label,), (), ()) for ends in ((0, 1), (1, 0)) for label in (1, 2)
    )
    symmetric = combine(listed([(0, 1), (1, 0)]), 2, directed=True)
    assert symmetric.data.directed
    assert symmetric.data.ends.tolist() == [[0, 1], [1, 0]]


def test_nothing_listed():
    for directed in ("auto", False):
        edges, data, once = combine(listed([]), 3, directed)
        assert edges.shape == (2, 0)
        assert data is None
        assert not once
