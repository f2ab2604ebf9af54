import numpy as np

from graph_metric_learn_reproduction.baselines import LargestClass, MeanPool
from small_graphs import random_graphs


def test_means_are_compared_by_the_euclidean_distance(rng):
    graphs = random_graphs(rng, 5)
    means = [x.astype(np.float32).astype(float).mean(0) for _, x in graphs]
    expected = [[np.linalg.norm(a - b) for b in means] for a in means]
    np.testing.assert_allclose(MeanPool().distances(graphs), expected, atol=1e-12)


def test_the_largest_class_is_that_of_training():
    system = LargestClass().fit([None] * 5, np.array([2, 0, 2, 0, 1]))
    np.testing.assert_array_equal(system.predict([None] * 3), [0, 0, 0])  # of equals the first
