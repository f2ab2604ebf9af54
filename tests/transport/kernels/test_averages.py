import numpy as np
import pytest

from graph_metric_learn.transport.kernels.averages import cell_averages, cell_averages_weighted
from helpers import integrate


def averages_by_definition(values, ends, n):
    """n ∫ over each of n cells of the step function with values [m, …] that change at the ends [m]."""

    def at(t):
        return values[min(int(np.searchsorted(ends, t)), len(values) - 1)]

    breaks = np.concatenate([ends, np.arange(n) / n])
    return np.array([n * integrate(lambda t, i=i: at(t) * (i < t * n <= i + 1), breaks) for i in range(n)])


@pytest.mark.parametrize("n", [1, 3, 4, 9])
@pytest.mark.parametrize("threads", [False, True])
def test_equal_steps(rng, n, threads):
    sizes = np.array([1, 3, 4, 7, 300])  # of the last, each cell takes many steps
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    values = rng.normal(size=(sizes.sum(), 2))
    out = np.empty((5, n * 2))
    cell_averages(values, starts, sizes, n, out, threads=threads)
    for g, m in enumerate(sizes):
        own = values[starts[g] : starts[g] + m]
        np.testing.assert_allclose(
            out[g].reshape(n, 2), averages_by_definition(own, np.arange(1, m + 1) / m, n), atol=1e-12
        )


def test_many_float32_steps_are_added_up_in_double_precision():
    values = (np.arange(200_000) % 1000).astype(np.float32)[:, None] + 1000
    out = np.empty((1, 2), np.float32)
    cell_averages(values, np.array([0]), np.array([200_000]), 2, out)
    np.testing.assert_allclose(out[0], values.astype(float).reshape(2, -1).mean(1), rtol=1e-6)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_steps_of_any_length(rng, n):
    sizes = np.array([1, 4, 6])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    values = rng.normal(size=(sizes.sum(), 2, 3))
    ends = np.concatenate([np.cumsum(rng.dirichlet(np.ones(m), 2).T, axis=0) for m in sizes])
    ends[starts + sizes - 1] = 1.0
    out = np.zeros((3, n, 2, 3))
    cell_averages_weighted(values, ends, starts, sizes, n, out)
    for g, m in enumerate(sizes):
        own = slice(starts[g], starts[g] + m)
        for k in range(2):
            np.testing.assert_allclose(
                out[g, :, k], averages_by_definition(values[own, k], ends[own, k], n), atol=1e-12
            )
