import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graph_metric_learn._core.ragged import by_size, concatenated_ranges, groups, offsets

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
