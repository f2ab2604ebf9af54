import numpy as np
import pytest

from graph_metric_learn._core.growing import GrowingArray


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
