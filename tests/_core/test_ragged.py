import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn._core.ragged import GrowingArray, by_size, concatenated_ranges, groups, offsets

sizes = st.lists(st.integers(0, 6), min_size=1, max_size=8)


@given(sizes)
def test_offsets_are_where_pieces_start_and_end(sizes):
    found = offsets(np.array(sizes))
    assert found.tolist() == [sum(sizes[:i]) for i in range(len(sizes) + 1)]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), min_size=1, max_size=8))
def test_ranges_follow_each_other(ranges):
    starts, lengths = np.array(ranges).T
    wanted = [i for start, length in ranges for i in range(start, start + length)]
    assert concatenated_ranges(starts, lengths).tolist() == wanted


@given(st.lists(st.sampled_from([1, 2, 3, 70_000]), min_size=1, max_size=12))
def test_the_order_of_size_is_stable(sizes):
    assert by_size(np.array(sizes)).tolist() == sorted(range(len(sizes)), key=lambda i: sizes[i])


@given(st.lists(st.integers(0, 4), max_size=12))
def test_groups_are_runs_of_equal_values(values):
    values = sorted(values)
    found = list(groups(np.array(values)))
    assert [value for value, lo, hi in found for _ in range(hi - lo)] == values
    assert len({value for value, _, _ in found}) == len(found)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_growth_is_concatenation_and_leaves_what_was_read(rng, shape):
    parts = [rng.normal(size=(n, *shape)) for n in (2, 1, 30, 0, 5)]
    grown = [GrowingArray(parts[0])]
    for part in parts[1:]:
        grown.append(grown[-1].grown(part))
    for count, found in enumerate(grown, start=1):
        np.testing.assert_array_equal(found.rows, np.concatenate(parts[:count]))
        assert len(found) == len(found.rows)


def test_rows_are_copied_only_when_the_buffer_is_full():
    found = GrowingArray(np.arange(100))
    buffers = set()
    for i in range(100):
        found = found.grown(np.array([i]))
        buffers.add(found.rows.ctypes.data)
    assert len(buffers) <= 3


def test_two_ways_to_grow_do_not_meet():
    start = GrowingArray(np.arange(4)).grown(np.array([4]))
    one, other = start.grown(np.array([10])), start.grown(np.array([20]))
    assert one.rows.tolist() == [0, 1, 2, 3, 4, 10]
    assert other.rows.tolist() == [0, 1, 2, 3, 4, 20]


def test_entries_get_wider_types():
    assert GrowingArray(np.array(["a"])).grown(np.array(["long"])).rows.tolist() == ["a", "long"]
    assert GrowingArray(np.array([1])).grown(np.array([0.5])).rows.tolist() == [1.0, 0.5]
