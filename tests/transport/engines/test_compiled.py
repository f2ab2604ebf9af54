import numpy as np
import pytest

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import compiled, products
from graph_metric_learn.transport.engines.base import Run
from graph_metric_learn.transport.walks import walk_pairs
from helpers import KINDS, make_cloud


def walked(u, v):
    first, second = np.indices((len(u), len(v))).reshape(2, -1)
    return walk_pairs(u, v, first, second).view(len(u), len(v)).numpy()


@pytest.fixture
def engine():
    return compiled.CompiledEngine()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("averages", [1, 100, 2**20])
@pytest.mark.parametrize("serial", [0, 2**16])
def test_the_matrix_against_walks(rng, engine, kind, averages, serial, monkeypatch):
    monkeypatch.setattr(products, "_AVERAGES", averages)
    monkeypatch.setattr(compiled, "_SERIAL", serial)
    u, v = (gml.as_curves([make_cloud(rng, int(n), 3, kind) for n in rng.integers(1, 12, count)]) for count in (14, 9))
    within = engine.matrix(*engine.prepared(u, None), Run()).numpy()
    np.testing.assert_allclose(within, walked(u, u), atol=1e-12)
    assert (within == within.T).all()
    assert (np.diag(within) == 0).all()
    np.testing.assert_allclose(engine.matrix(*engine.prepared(u, v), Run()).numpy(), walked(u, v), atol=1e-12)


def test_near_pairs_keep_their_digits(rng, engine):
    base = [make_cloud(rng, int(n), 3) + 100 for n in rng.integers(2, 12, 8)]
    curves = gml.as_curves([*base, *(x + 1e-7 for x in base)])
    squares = engine.matrix(*engine.prepared(curves, None), Run()).numpy()
    np.testing.assert_allclose(squares[np.arange(8), np.arange(8, 16)], 3e-14, rtol=1e-5)


def test_blocks_of_few_rows_are_walked(rng, engine, monkeypatch):
    curves = gml.as_curves([make_cloud(rng, 3, 2) for _ in range(9)])
    monkeypatch.setattr(compiled, "CompiledBlocks", None)
    np.testing.assert_allclose(engine.matrix(curves[:4], curves, Run()).numpy(), walked(curves[:4], curves))
    with pytest.raises(TypeError):
        engine.matrix(curves[:5], curves, Run())
