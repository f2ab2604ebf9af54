import numpy as np
import pytest

from graph_metric_learn.transport.kernels.selection import smallest


@pytest.mark.parametrize("k", [1, 3, 11])
@pytest.mark.parametrize("left_out", [False, True])
@pytest.mark.parametrize("threads", [False, True])
def test_smallest_entries_like_a_stable_sort(rng, k, left_out, threads):
    distances = rng.integers(0, 5, size=(9, 12)).astype(float)  # many equal ones
    skip = rng.integers(0, 12, 9) if left_out else np.full(9, -1)
    best, where = np.empty((9, k)), np.empty((9, k), np.int64)
    smallest(distances, skip, best, where, threads=threads)
    visible = distances.copy()
    if left_out:
        visible[np.arange(9), skip] = np.inf
    wanted = np.argsort(visible, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(where, wanted)
    np.testing.assert_array_equal(best, np.take_along_axis(distances, wanted, 1))
