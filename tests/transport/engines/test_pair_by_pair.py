from dataclasses import replace

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.engines import pair_by_pair
from graph_metric_learn.transport.engines.base import Run
from helpers import KINDS, make_cloud, make_weights, rpw_by_definition


def differentiable(curves):
    return replace(curves, values=curves.values.clone().requires_grad_())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_matrix_against_the_definition(rng, kind, weighted, compiled, monkeypatch):
    monkeypatch.setattr(pair_by_pair, "_PAIRS", 8)  # a few rows at a time
    clouds = [make_cloud(rng, n, 2, kind) for n in (3, 1, 5, 4, 2, 3)]
    weights = make_weights(rng, clouds) if weighted else [np.full(len(x), 1 / len(x)) for x in clouds]
    curves = gml.as_curves(clouds, weights=weights if weighted else None)
    if not compiled:
        curves = differentiable(curves)
    wanted = np.array(
        [[rpw_by_definition(x, y, a, b) ** 2 for y, b in zip(clouds, weights, strict=True)]
         for x, a in zip(clouds, weights, strict=True)]
    )  # fmt: skip
    engine = pair_by_pair.WalkedEngine()
    within = engine.matrix(curves, None, Run()).detach().numpy()
    np.testing.assert_allclose(within, wanted, atol=1e-12)
    assert (within == within.T).all()
    assert (np.diag(within) == 0).all()
    between = engine.matrix(curves[:4], curves, Run()).detach().numpy()
    np.testing.assert_allclose(between, wanted[:4], atol=1e-12)


def test_few_rows_are_walked_by_compiled_loops_only(rng):
    curves = gml.as_curves([make_cloud(rng, 3, 2) for _ in range(9)])
    assert pair_by_pair.is_few_rows(curves[:4], curves)
    assert pair_by_pair.is_few_rows(curves, curves[:4])
    assert not pair_by_pair.is_few_rows(curves[:5], curves)
    assert not pair_by_pair.is_few_rows(curves[:2], None)
    assert not pair_by_pair.is_few_rows(curves[:4], differentiable(curves))


def test_gradients_go_through(rng):
    clouds = [torch.from_numpy(rng.normal(size=(n, 2))).requires_grad_() for n in (3, 4)]
    weights = [torch.from_numpy(w) for w in make_weights(rng, clouds)]

    def squares(*clouds):
        return pair_by_pair.WalkedEngine().matrix(gml.as_curves(list(clouds), weights=weights), None, Run())

    assert torch.autograd.gradcheck(squares, clouds)
