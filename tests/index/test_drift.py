import numpy as np
import pytest

from graph_metric_learn.index import Drift


def test_more_far_graphs_than_by_chance(rng):
    usual = rng.random(500)
    same, shifted = Drift(rng.random(200), usual), Drift(rng.random(200) + 0.2, usual)
    assert 0.01 < same.far < 0.12
    assert not same.differs
    assert shifted.far == pytest.approx(np.mean(shifted.distances > np.quantile(usual, 0.95)), abs=0.02)
    assert shifted.differs
    assert "they differ" in str(shifted)
    assert "no more than by chance" in str(same)
    assert shifted.is_far.sum() == round(shifted.far * 200)


def test_few_graphs_are_no_evidence(rng):
    usual = rng.random(500)
    assert not Drift(np.array([0.99]), usual).differs
    assert Drift(np.full(5, 2.0), usual).differs


def test_copies(rng):
    """Where all distances are 0, any other is far; those of copies are not."""
    assert not Drift(np.zeros(50), np.zeros(50)).differs
    assert Drift(np.full(50, 1e-3), np.zeros(50)).differs


def test_too_few(rng):
    with pytest.raises(ValueError, match="19 graphs do not say what distances are usual: 20 are needed"):
        Drift(np.ones(5), np.ones(19))
    with pytest.raises(ValueError, match="there are no graphs"):
        Drift(np.ones(0), np.ones(20))
