import numpy as np

from graph_metric_learn.report.layout import tsne_layout


def test_a_layout_keeps_groups_together_and_is_reproducible():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 20)
    points = rng.normal(size=(40, 3)) + 20 * groups[:, None]
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    places = tsne_layout(distances)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + np.diag(np.full(40, np.inf))
    assert (groups[apart.argmin(1)] == groups).all()
    assert np.array_equal(places, tsne_layout(distances))
