import numpy as np
import pytest

from graph_metric_learn.linalg import loops
from graph_metric_learn.transport.kernels import matrices
from graph_metric_learn.transport.kernels.matrices import smallest


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-6)])
def test_norms_are_sums_of_squares_over_the_steps(rng, dtype, tolerance):
    sizes = np.array([3, 1, 4])
    starts = np.array([0, 3, 4])
    values = rng.normal(size=(8, 2, 3)).astype(dtype)
    out = np.empty(3)
    matrices.squared_norms(values, starts, sizes, out)
    wanted = [(values[s : s + n].astype(float) ** 2).sum() / n for s, n in zip(starts, sizes, strict=True)]
    np.testing.assert_allclose(out, wanted, rtol=tolerance)


@pytest.mark.parametrize("triangle", [-10, 1, 3])
def test_products_become_squared_distances(rng, triangle):
    """Curves of 4 steps against each other; the last ones are nearly equal to the first, and so walked."""
    u = rng.normal(size=(5, 4, 2, 3))
    v = np.concatenate([rng.normal(size=(4, 4, 2, 3)), u[:2] + 1e-9])
    sides = []
    for values in (u, v):
        rows, sizes = values.reshape(-1, 2, 3), np.full(len(values), 4)
        norms = (values**2).sum((1, 2, 3)) / 4
        sides.append((rows, np.arange(len(values)) * 4, sizes, norms))
    block = u.reshape(5, -1) @ v.reshape(6, -1).T
    kept = block.copy()
    (values, starts, counts, norms), (values2, starts2, counts2, norms2) = sides
    known = triangle, norms, norms2, np.empty(5, dtype=np.int64)
    loops.squares_from_products(block, 1e-6, 2.0 / 4, 2, *known)
    matrices.walk_near(block, 1e-6, *known, values, starts, counts, values2, starts2, counts2)
    wanted = ((u[:, None] - v[None]) ** 2).sum(4).mean((2, 3))
    needed = np.arange(6)[None] >= np.arange(5)[:, None] + triangle
    np.testing.assert_allclose(block[needed], wanted[needed], rtol=1e-9)  # also those of 1e-18
    np.testing.assert_array_equal(block[~needed], kept[~needed])


@pytest.mark.parametrize("threads", [False, True])
def test_rows_and_columns_are_permuted_in_place(rng, threads):
    matrix, rows, cols = rng.normal(size=(13, 29)), rng.permutation(13), rng.permutation(29)
    wanted = matrix[rows][:, cols]
    matrices.permute(matrix, rows, cols, threads=threads)
    np.testing.assert_array_equal(matrix, wanted)


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
