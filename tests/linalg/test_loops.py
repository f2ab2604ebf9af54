import numpy as np
import pytest

from graph_metric_learn.linalg.loops import mirror, squares_from_products, subtract_near
from made_up_vectors import squares_of


@pytest.mark.parametrize("triangle", [-10, 1, 3])
def test_products_become_squared_distances(rng, triangle):
    """The last rows are nearly equal to the first, and so subtracted."""
    x = rng.normal(size=(5, 7))
    y = np.concatenate([rng.normal(size=(4, 7)), x[:2] + 1e-9])
    block, lost = x @ y.T, np.empty(5, dtype=np.int64)
    kept, known = block.copy(), (triangle, (x**2).sum(1), (y**2).sum(1), lost)
    squares_from_products(block, 1e-6, 2.0, 1, *known)
    subtract_near(block, 1e-6, *known, x, y)
    needed = np.arange(6)[None] >= np.arange(5)[:, None] + triangle
    np.testing.assert_allclose(block[needed], squares_of(x, y)[needed], rtol=1e-9)  # also those of 1e-18
    np.testing.assert_array_equal(block[~needed], kept[~needed])
    assert lost.tolist() == [needed[0, 4], needed[1, 5], 0, 0, 0]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_the_right_half_is_mirrored(rng, n):
    matrix = rng.normal(size=(n, n))
    wanted = np.triu(matrix, 1) + np.triu(matrix, 1).T
    mirror(matrix)
    np.testing.assert_array_equal(matrix, wanted)
