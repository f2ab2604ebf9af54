import numpy as np

from embedding_clouds import clouds
from graph_metric_learn.embeddings import Mean


def test_mean(rng):
    points, sizes = clouds(rng)
    vectors = Mean().vectors(points, sizes)
    np.testing.assert_allclose(vectors[1, 0], points[5:14].mean(0), rtol=1e-5)
