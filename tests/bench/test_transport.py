import numpy as np

from graph_metric_learn.bench import transport


def test_sizes_are_nci1s():
    sizes = transport.nci1_sizes(np.random.default_rng(0))
    assert len(sizes) == 4110
    assert (sizes.min(), sizes.max()) == (3, 111)
    assert abs(sizes.mean() - 29.87) < 0.01
