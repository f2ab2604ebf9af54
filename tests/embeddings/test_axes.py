import numpy as np

from embedding_clouds import clouds, fitted
from graph_metric_learn.embeddings import Axes


def test_axes_are_averages_along_the_walk(rng):
    points, sizes = clouds(rng, zeros=False)
    embedding = Axes(2, 4).fit(points, sizes, np.random.default_rng(0))
    vectors = embedding.vectors(points, sizes)
    x = points[5:14].astype(float)
    for k in range(2):
        walk = x[np.argsort(x @ embedding.axes[:, k])]
        wanted = np.repeat(walk, 4, axis=0).reshape(4, 9, 3).mean(1)
        np.testing.assert_allclose(vectors[1].reshape(2, 4, 3)[k], wanted / np.sqrt(8), atol=1e-5)


def test_axes_along_which_nothing_varies_are_left_out(rng):
    points = rng.normal(size=(100, 2)).astype(np.float32)
    flat = np.concatenate([points, -points.sum(1, keepdims=True)], axis=1)  # in a plane, up to rounding
    assert fitted("axes", flat).axes.shape == (3, 2)
