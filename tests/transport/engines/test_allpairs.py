from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import ENGINES, Engine, allpairs, choose_engine
from helpers import make_cloud, make_weights


class Constant(Engine):
    """Every distance is 3; takes clouds in the plane only."""

    def __init__(self):
        self.calls = 0

    def takes(self, u, v):
        return u.values.shape[1:] == (2, 2)

    def matrix(self, u, v, run):
        self.calls += 1
        return torch.full((len(u), len(u if v is None else v)), 9.0, dtype=u.values.dtype)


@pytest.fixture
def constant():
    ENGINES["constant"] = engine = Constant()
    yield engine
    del ENGINES["constant"]


def test_an_engine_from_outside_is_used_end_to_end(rng, constant):
    clouds, others = ([make_cloud(rng, n, 2) for n in sizes] for sizes in ((3, 5, 4), (2, 6)))
    assert (gml.pairwise_distances(clouds, others) == 3.0).all()
    assert constant.calls == 1
    distances, indices = gml.kneighbors(clouds, others, n_neighbors=2)
    assert (distances == 3.0).all()
    assert indices.tolist() == [[0, 1]] * 3
    for _, block in gml.iter_distances(clouds, block_bytes=1):
        assert (block == 3.0).all()
    for rows, cols, block in gml.iter_pairs(clouds, block_bytes=1):
        assert block.shape == (len(rows), len(cols))
        assert (block == 3.0).all()
    assert (gml.pairwise_distances(clouds, out=np.empty((3, 3))) == 3.0).all()
    wide = [make_cloud(rng, n, 3) for n in (3, 5, 4)]  # these it does not take
    assert gml.pairwise_distances(wide)[0, 1] == pytest.approx(gml.rpw_distance(*wide[:2]))


def test_an_engine_that_was_removed_is_not_used(rng):
    clouds = [make_cloud(rng, n, 2) for n in (3, 5, 4)]
    assert gml.pairwise_distances(clouds)[0, 1] == pytest.approx(gml.rpw_distance(*clouds[:2]))
    assert list(ENGINES) == ["autograd", "tiled", "compiled", "walked"]


def name_of(engine):
    return next(name for name, known in ENGINES.items() if known is engine)


def elsewhere(curves):
    """The same on a device that is not the CPU: torch's "meta", which holds shapes only."""
    steps = None if curves.steps is None else curves.steps.to("meta")
    return replace(curves, values=curves.values.to("meta"), steps=steps)


def test_which_engine_is_chosen(rng):
    clouds = [make_cloud(rng, n, 2) for n in (3, 5, 4, 6, 2, 3)]
    curves, weighted = gml.as_curves(clouds), gml.as_curves(clouds, weights=make_weights(rng, clouds))
    grad = gml.as_curves([torch.from_numpy(x).requires_grad_() for x in clouds])
    assert name_of(choose_engine(curves)) == name_of(choose_engine(curves, curves)) == "compiled"
    assert name_of(choose_engine(curves[:4])) == "compiled"
    assert name_of(choose_engine(curves[:4], curves)) == name_of(choose_engine(curves, curves[:4])) == "walked"
    assert name_of(choose_engine(weighted)) == name_of(choose_engine(curves, weighted)) == "walked"
    assert name_of(choose_engine(grad)) == name_of(choose_engine(curves[:1], grad)) == "autograd"
    with torch.no_grad():
        assert name_of(choose_engine(grad)) == "compiled"
    curves, weighted, grad = (elsewhere(side) for side in (curves, weighted, grad))
    assert name_of(choose_engine(curves)) == name_of(choose_engine(curves[:4], curves)) == "tiled"
    assert name_of(choose_engine(grad)) == name_of(choose_engine(curves, grad)) == "autograd"
    assert name_of(choose_engine(weighted)) == "walked"


def test_no_engine_is_said(rng, monkeypatch):
    for name in reversed(list(ENGINES)):  # put back from the last to the first: in their order
        monkeypatch.delitem(ENGINES, name)
    with pytest.raises(ValueError, match="none of the engines"):
        choose_engine(gml.as_curves([make_cloud(rng, 3, 2)]))


def test_the_engine_is_chosen_once_per_call(rng, monkeypatch):
    class Asked(Engine):
        times = 0

        def takes(self, u, v):
            self.times += 1
            return False

        def matrix(self, u, v, run):
            raise AssertionError("it takes nothing")

    asked = Asked()
    monkeypatch.setitem(ENGINES, "asked", asked)
    clouds = [make_cloud(rng, int(n), 2) for n in rng.integers(1, 9, 12)]
    gml.pairwise_distances(clouds)
    list(gml.iter_distances(clouds, block_bytes=1))
    list(gml.iter_pairs(clouds, block_bytes=1))
    gml.kneighbors(clouds, n_neighbors=2, block_bytes=1)
    gml.pairwise_distances(clouds, out=np.empty((12, 12)))
    assert asked.times == 5


def test_neighbours_of_curves_with_gradients_have_none(rng):
    curves = gml.as_curves([torch.from_numpy(make_cloud(rng, 4, 2)).requires_grad_() for _ in range(5)])
    squares, _ = allpairs.nearest(curves, None, 2, 10**6)
    assert not squares.requires_grad


def test_distances_from_several_threads(rng):
    clouds = [make_cloud(rng, int(n), 3) for n in rng.integers(1, 15, 40)]
    wanted = gml.pairwise_distances(clouds)
    with ThreadPoolExecutor(4) as pool:
        for got in pool.map(lambda _: gml.pairwise_distances(clouds), range(8)):
            np.testing.assert_allclose(got, wanted, atol=1e-12)
