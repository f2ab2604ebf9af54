import numpy as np
from scipy import sparse

from graph_metric_learn.viz.layout import map_layout


def test_a_map_keeps_neighbours_together_and_fits_the_square(rng):
    centres = rng.normal(size=(4, 30)) * 10
    vectors = np.repeat(centres, 25, axis=0) + rng.normal(size=(100, 30))
    places = map_layout(vectors.astype(np.float32))
    assert places.min() >= -1e-9
    assert places.max() <= 1 + 1e-9
    away = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(100)
    assert (away.argmin(1) // 25 == np.arange(100) // 25).all()
    assert np.array_equal(places, map_layout(vectors.astype(np.float32)))
    sparse_places = map_layout(sparse.csr_array(np.abs(vectors)))
    assert sparse_places.shape == (100, 2)
    for count in (1, 2, 5):
        assert np.isfinite(map_layout(np.ones((count, 1), dtype=np.float32))).all()
