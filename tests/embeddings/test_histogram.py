import numpy as np
import pytest
from scipy import sparse

from embedding_clouds import columns
from graph_metric_learn.embeddings import Histogram


def test_histogram_is_the_distance_of_hellinger(rng):
    points = columns(rng, (5, 9))
    one, two = Histogram().vectors(points, np.array([5, 9]))[:, 0].astype(float)
    p, q = points[:5].toarray().mean(0), points[5:].toarray().mean(0)
    assert np.sum((one - two) ** 2) == pytest.approx(2 * 2 - 2 * np.sum(np.sqrt(p * q)), rel=1e-5)


def test_a_histogram_blames_what_only_one_has(rng):
    x = sparse.csr_array(np.eye(3)[[0, 0, 1]])
    z = sparse.csr_array(np.eye(3)[[0, 0, 2]])
    plan, source, target = Histogram().compare(x, z, np.ones(3))
    assert source.argmax() == 2
    assert target.argmax() == 2
    assert plan[2, 2] == pytest.approx(1 / 3)  # nothing else is left for it
    np.testing.assert_allclose(plan[:2, :2], 1 / 6)
