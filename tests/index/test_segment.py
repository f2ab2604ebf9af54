import numpy as np
import pytest

from graph_metric_learn.index.ids import id_hashes
from graph_metric_learn.index.segment import Segment, merge_from, tier_of

NOTES = [{"n": 0}, None, "two", 3]


def segment(ids, notes=None, seed=0, curves=False):
    rng = np.random.default_rng(seed)
    n = len(ids)
    arrays = None
    if curves:
        ends = np.cumsum(rng.integers(1, 4, n))
        arrays = {"curves": rng.normal(size=(ends[-1], 2, 3)), "curve_ends": ends}
    heads, vectors = rng.normal(size=(n, 20)).astype(np.float32), rng.normal(size=(n, 5)).astype(np.float32)
    return Segment.of(heads, vectors, ids, notes, arrays)


def rows_of(part):
    """What a segment says about each row, one by one."""
    every = np.arange(len(part))
    curves = [None] * len(part)
    if "curves" in part.arrays:
        curves = [c.tolist() for c in np.split(part.arrays["curves"], part.arrays["curve_ends"])[:-1]]
    vectors = part.arrays["vectors"].tolist()
    heads = np.concatenate([part.arrays["heads"], part.arrays["middles"]], axis=1).tolist()
    return list(zip(part.ids.at(every), part.metadata(every), vectors, heads, curves, strict=True))


PARTS = {
    "numbers": segment([1, 2, 3, 4]),
    "text": segment(["a", "b", "c", ""], NOTES, 1),
    "mixed": segment([5, "e", 7, "h"], None, 2),
    "objects": segment([(1, 2), "x", 8, "y"], NOTES, 3),
}


@pytest.mark.parametrize("names", [["numbers", "text"], ["text", "mixed"], ["numbers"], ["objects", "numbers", "text"]])
def test_merging_keeps_every_row(names):
    parts = [PARTS[name] for name in names]
    merged = Segment.merged(parts)
    assert rows_of(merged) == [row for part in parts for row in rows_of(part)]
    ids = [row[0] for row in rows_of(merged)]
    assert list(merged.find(ids, id_hashes(ids))) == list(range(len(ids)))


def test_curves_are_merged_and_taken():
    parts = [segment([1, 2, 3], None, 4, curves=True), segment([4, 5], None, 5, curves=True)]
    merged = Segment.merged(parts)
    assert rows_of(merged) == rows_of(parts[0]) + rows_of(parts[1])
    assert rows_of(merged.taken(np.array([3, 0]))) == [rows_of(merged)[3], rows_of(merged)[0]]


@pytest.mark.parametrize("name", PARTS)
def test_taking_rows(name):
    part = PARTS[name].without(np.array([2]))
    taken = part.taken(np.array([3, 1]))
    assert rows_of(taken) == [rows_of(part)[3], rows_of(part)[1]]
    ids = taken.ids.at(np.arange(2))
    assert list(taken.find(ids, id_hashes(ids))) == [0, 1]
    assert rows_of(part.taken(np.array([0, 1, 3]))) == [rows_of(part)[i] for i in (0, 1, 3)]


def test_removed_rows_leave_the_segment_as_it_is():
    part = PARTS["text"]
    less = part.without(np.array([1])).without(np.array([3]))
    assert (part.alive, less.alive, len(less)) == (4, 2, 4)
    assert list(less.find(["a", "b", "c"], id_hashes(["a", "b", "c"]))) == [0, -1, 2]
    assert list(part.find(["b"], id_hashes(["b"]))) == [1]
    merged = Segment.merged([PARTS["numbers"], less])
    assert list(np.flatnonzero(merged.dead)) == [5, 7]


def test_tiers_are_powers_of_eight():
    assert [tier_of(n) for n in (0, 1, 7, 8, 63, 64, 4095, 4096)] == [0, 0, 0, 1, 1, 2, 3, 4]


class Sized:
    def __init__(self, size):
        self.size, self.tier = size, tier_of(size)

    def __len__(self):
        return self.size


def test_eight_segments_of_a_size_become_one():
    assert merge_from([Sized(1)] * 7) == 6
    assert merge_from([Sized(1)] * 8) == 0
    assert merge_from([Sized(100)] + [Sized(1)] * 8) == 1
    assert merge_from([Sized(8)] * 7 + [Sized(1)] * 8) == 0  # and what they make, once more
    assert merge_from([Sized(1)] * 3 + [Sized(5000)]) == 3  # a large one is left alone
    assert merge_from([Sized(5000)] * 20) == 19


def test_few_segments_stay_and_rows_are_copied_a_few_times():
    segments, copied = [], 0
    for _ in range(20_000):
        segments.append(Sized(1))
        start = merge_from(segments)
        if start < len(segments) - 1:
            total = sum(map(len, segments[start:]))
            copied += total
            segments = [*segments[:start], Sized(total)]
    assert len(segments) < 40
    assert copied < 6 * 20_000
