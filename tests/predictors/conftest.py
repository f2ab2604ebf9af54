import numpy as np
import pytest

from graph_zoo import zoo


@pytest.fixture(scope="module")
def data():
    """Graphs and classes to train on, and others to test with."""
    pairs, y = zoo(np.random.default_rng(1), 60)
    return pairs[:40], y[:40], pairs[40:], y[40:]
