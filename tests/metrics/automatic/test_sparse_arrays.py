import numpy as np
import pytest
from scipy import sparse

from graph_metric_learn.metrics.automatic.sparse_arrays import from_sparse_arrays, sparse_arrays


def rows(rng, count, density):
    """Sparse rows; `density` by column, so that some columns are common and others rare or empty."""
    dense = rng.normal(size=(count, len(density))) * (rng.random((count, len(density))) < density)
    return sparse.csr_array(dense), dense


DENSITIES = {
    "both": np.concatenate([np.full(10, 0.7), np.full(300, 0.005), np.zeros(5)]),
    "common": np.full(10, 0.7),
    "rare": np.full(300, 0.005),
    "empty": np.zeros(4),
}


def test_sparse_rows_come_back_from_files(rng):
    vectors, dense = rows(rng, 30, DENSITIES["both"])
    again = from_sparse_arrays(sparse_arrays(vectors))
    assert again.shape == vectors.shape
    np.testing.assert_array_equal(again.toarray(), dense)
    with pytest.raises(ValueError, match="width is 315, expected 61"):
        from_sparse_arrays(sparse_arrays(vectors), 61)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("data", lambda a: a[:-1]),
        ("columns", lambda a: a[:-1]),
        ("columns", lambda a: a + 1000),
        ("columns", lambda a: a - 1000),
        ("starts", lambda a: a[:0]),
        ("starts", lambda a: a[1:]),
        ("starts", lambda a: a[:-1]),
        ("starts", lambda a: np.concatenate([a[:1], a[2:3], a[1:2], a[3:]])),
        ("width", lambda a: a - 200),
    ],
)
def test_damaged_arrays_are_refused(rng, name, damage):
    vectors, _ = rows(rng, 30, DENSITIES["common"])
    arrays = sparse_arrays(vectors)
    arrays[name] = damage(arrays[name])
    with pytest.raises(ValueError, match=r"data|columns|starts|width"):
        from_sparse_arrays(arrays)
