import struct
import zlib

import numpy as np
import pytest

from graph_metric_learn.index import approximate_file
from graph_metric_learn.index.approximate_file import (
    OtherVersionError,
    check_graph,
    new_engine,
    read_graph,
    write_graph,
)
from vector_oracle import decaying

pytest.importorskip("usearch", reason="needs graph-metric-learn[index]")
OWN = approximate_file._OWN
COUNT = 3000


@pytest.fixture(scope="module")
def vectors():
    return decaying(np.random.default_rng(0), COUNT + 100, 12)


@pytest.fixture(scope="module")
def written(vectors, tmp_path_factory):
    """A graph of several levels, and the index that it is of."""
    index, path = new_engine(12), tmp_path_factory.mktemp("graph") / "approximate"
    index.add(np.arange(COUNT, dtype=np.uint64), vectors[:COUNT])
    write_graph(path, index)
    return path, index


def changed(written, tmp_path, change):
    """A copy with other bytes of usearch's part, and a checksum that fits."""
    data = bytearray(written[0].read_bytes())
    graph = data[OWN:]
    change(graph)
    (tmp_path / "approximate").write_bytes(data[: OWN - 4] + struct.pack("<I", zlib.crc32(graph)) + graph)
    return tmp_path / "approximate"


def test_what_was_written_searches_and_grows_alike(written, vectors):
    path, index = written
    again = new_engine(12)
    assert read_graph(path, again, vectors) == COUNT
    queries = vectors[COUNT:]
    np.testing.assert_array_equal(again.search(queries, 10).keys, index.search(queries, 10).keys)
    again.add(np.arange(COUNT, COUNT + 100, dtype=np.uint64), queries)
    assert (np.asarray(again.search(queries, 1).keys).ravel() == np.arange(COUNT, COUNT + 100)).mean() > 0.95
    check_graph(path, COUNT, 12)
    assert path.stat().st_size < COUNT * 300


def test_more_rows_than_vectors_are_not_read(written, vectors):
    index = new_engine(12)
    assert read_graph(written[0], index, vectors[: COUNT - 1]) == len(index) == 0
    with pytest.raises(ValueError, match="it has more rows than the index, 2999"):
        check_graph(written[0], COUNT - 1, 12)


def test_another_version_is_no_damage(written, vectors, tmp_path):
    def newer(graph):
        graph[9] += 1

    path = changed(written, tmp_path, newer)
    with pytest.raises(OtherVersionError, match="of another version of usearch"):
        read_graph(path, new_engine(12), vectors)
    with pytest.raises(OtherVersionError):
        read_graph(written[0], new_engine(13), vectors)
    check_graph(path, COUNT, 12)


NODES = 104 + 2 * COUNT
LEVELS = slice(104, NODES)


def put(kind, place, value):
    def change(graph):
        struct.pack_into(kind, graph, place, value)

    return change


def high_row(graph):
    """A row that is on level 1, and where its links on that level begin."""
    levels = np.frombuffer(graph[LEVELS], "<i2").astype(int)
    row = int(np.flatnonzero(levels)[0])
    return row, NODES + 270 * row + 132 * int(levels[:row].sum()) + 270


def link_above(graph):
    _, place = high_row(graph)
    low = int(np.flatnonzero(np.frombuffer(graph[LEVELS], "<i2") == 0)[0])
    struct.pack_into("<II", graph, place, 1, low)


def count_above(graph):
    struct.pack_into("<I", graph, high_row(graph)[1], 33)


def raise_levels(graph):
    struct.pack_into("<h", graph, 104, 1)
    graph += bytes(132)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("<I", NODES + 14, COUNT), "a link leads nowhere"),
        (put("<I", NODES + 10, 65), "a link leads nowhere"),
        (count_above, "a link leads nowhere"),
        (link_above, "a link leads to a node that is not on its level"),
        (put("<Q", NODES, 5), "its nodes are not the rows of the index"),
        (put("<Q", NODES, 2**64 - 1), "its nodes are not the rows of the index"),
        (put("<h", NODES + 8, 3), "its levels do not fit"),
        (put("<h", 104, -1), "its levels do not make sense"),
        (put("<h", 104, 1), "its size does not fit to its levels"),
        (raise_levels, "its levels do not fit"),
        (put("<Q", 96, COUNT), "search would begin nowhere"),
        (put("<Q", 88, 7), "search would begin nowhere"),
        (put("<Q", 64, 2**62), "its sizes do not fit"),
        (lambda graph: graph.clear(), "it is too short"),
        (lambda graph: graph.pop(), "its size does not fit"),
    ],
)
def test_a_graph_that_was_made_up_is_not_followed(written, vectors, tmp_path, change, message):
    path = changed(written, tmp_path, change)
    with pytest.raises(ValueError, match=f"approximate is damaged: {message}"):
        read_graph(path, new_engine(12), vectors)
    with pytest.raises(ValueError, match=message):
        check_graph(path, COUNT, 12)


def test_other_bytes_are_damage(written, vectors, tmp_path):
    data = bytearray(written[0].read_bytes())
    data[-1] ^= 1
    for some in (bytes(data), b"", b"text"):
        (tmp_path / "approximate").write_bytes(some)
        with pytest.raises(ValueError, match="it is not what was written"):
            read_graph(tmp_path / "approximate", new_engine(12), vectors)


def test_fields_at_random(written, vectors, tmp_path):
    """Refused, or searched without a crash."""
    rng = np.random.default_rng(1)
    for _ in range(60):

        def change(graph):
            place = int(rng.integers(120)) if rng.random() < 0.3 else int(rng.integers(len(graph) - 8))
            value = int(rng.choice([0, 1, 2, 63, 64, 255, COUNT - 1, COUNT, 2**31, 2**32 - 1]))
            struct.pack_into("<I", graph, place, value)

        index = new_engine(12)
        try:
            read_graph(changed(written, tmp_path, change), index, vectors)
        except ValueError:
            continue
        found = np.asarray(index.search(vectors[COUNT:], 10).keys)
        assert found.max() < COUNT
