from dataclasses import replace

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport import walks
from graph_metric_learn.transport.walks import distances_from_squares, power
from helpers import KINDS, make_cloud, make_weights, rpw_by_definition


def uniform(clouds):
    return [np.full(len(x), 1 / len(x)) for x in clouds]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("engine", ["compiled", "torch"])
def test_two_curves_against_the_definition(rng, kind, weighted, order, engine):
    for n, m in ((5, 5), (3, 7), (6, 4), (1, 5), (1, 1)):
        clouds = [make_cloud(rng, n, 3, kind), make_cloud(rng, m, 3, kind)]
        weights = make_weights(rng, clouds) if weighted else None
        walked = gml.as_curves(clouds, weights=weights)
        u, v = walked[:1], walked[1:]
        if engine == "compiled":
            costs = walks.walk_one(u, v, order)
        else:
            costs = walks._walk_torch(u, v, np.zeros(1, int), np.zeros(1, int), order)[0]
        wanted = rpw_by_definition(*clouds, *(weights or uniform(clouds)), order)
        assert float(costs.mean()) ** (1 / order) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_listed_pairs_in_both_engines(rng, weighted, monkeypatch):
    clouds = [make_cloud(rng, int(n), 3, "relu") for n in rng.integers(1, 12, 9)]
    walked = gml.as_curves(clouds, weights=make_weights(rng, clouds) if weighted else None)
    u, v = walked[:4], walked[4:]
    first, second = np.array([0, 3, 1, 1, 2]), np.array([4, 0, 1, 2, 2])
    wanted = [float(walks.walk_one(u[i : i + 1], v[j : j + 1]).mean()) for i, j in zip(first, second, strict=True)]
    np.testing.assert_allclose(walks.walk_pairs(u, v, first, second).numpy(), wanted, rtol=1e-12)
    monkeypatch.setattr(walks, "_CHUNK", 100)  # several chunks
    u = replace(u, values=u.values.clone().requires_grad_())  # not compiled
    squares = walks.walk_pairs(u, v, first, second).detach().numpy()
    np.testing.assert_allclose(squares, wanted, rtol=1e-9, atol=1e-12)
    assert len(walks.walk_pairs(u, v, first[:0], second[:0])) == 0


def test_a_curve_walked_with_itself_costs_exactly_nothing(rng):
    clouds = [make_cloud(rng, 30, 4, "relu").astype(np.float32)] * 2
    for weights in (None, make_weights(rng, clouds[:1]) * 2):
        walked = gml.as_curves(clouds, weights=weights)
        assert (walks.walk_one(walked[:1], walked[1:]) == 0).all()
        assert (walks._walk_torch(walked, walked, np.array([0]), np.array([1])) == 0).all()


def test_points_without_mass_do_not_count(rng):
    x, y = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    a = np.array([0.5, 0.0, 0.25, 0.25, 0.0])
    with_zeros = gml.rpw_distance(x, y, a=a)
    assert with_zeros == pytest.approx(gml.rpw_distance(x[a > 0], y, a=a[a > 0]), rel=1e-12)
    tensors = [torch.from_numpy(z).requires_grad_() for z in (x, y)]
    assert gml.rpw_distance(*tensors, a=torch.from_numpy(a)).item() == pytest.approx(with_zeros, rel=1e-12)


def test_walks_listed_on_the_device(rng, device, monkeypatch):
    monkeypatch.setattr(walks, "_CHUNK", 1000)
    curves = gml.as_curves([make_cloud(rng, int(n), 3, "relu").astype(np.float32) for n in rng.integers(1, 30, 12)])
    first, second = rng.integers(0, 12, (2, 50))
    wanted = walks.walk_pairs(curves, curves, first, second)
    there = curves.to(device)
    got = walks.walk_uniform(there, there, *(torch.from_numpy(side).to(device) for side in (first, second)))
    np.testing.assert_allclose(got.cpu().numpy(), wanted.numpy(), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("count", [1, 9])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_those_of_listed_pairs(rng, count, weighted):
    clouds = [make_cloud(rng, int(n), 3, "relu") for n in rng.integers(1, 12, 9)]
    curves = gml.as_curves(clouds, weights=make_weights(rng, clouds) if weighted else None)
    first, second = np.indices((9, 9)).reshape(2, -1)
    wanted = walks.walk_pairs(curves, curves, first, second).view(9, 9).numpy()
    rows, out = np.arange(9)[-count:], np.zeros((9, 9))
    walks.walk_rows(curves, curves, rows, out)
    np.testing.assert_allclose(out[rows], wanted[rows], rtol=1e-12)
    assert (np.delete(out, rows, axis=0) == 0).all()


COSTS = [0.0, 0.25, 1.0, 9.0]


@pytest.mark.parametrize("exponent", [0.5, 1.0, 1.5])
@pytest.mark.parametrize("grad", [False, True])
def test_powers_and_their_gradients(exponent, grad):
    costs = torch.tensor(COSTS, dtype=torch.float64, requires_grad=grad)
    raised = power(costs, exponent)
    torch.testing.assert_close(raised.detach(), torch.tensor([c**exponent for c in COSTS], dtype=torch.float64))
    if grad:
        raised.sum().backward()
        wanted = [exponent * c ** (exponent - 1) if c else float(exponent == 1) for c in COSTS]
        torch.testing.assert_close(costs.grad, torch.tensor(wanted, dtype=torch.float64))


def test_distances_are_made_in_place_unless_they_need_gradients():
    squares = torch.tensor(COSTS)
    assert distances_from_squares(squares, squared=True) is squares
    assert squares.tolist() == COSTS
    assert distances_from_squares(squares, squared=False) is squares
    assert squares.tolist() == [0.0, 0.5, 1.0, 3.0]
    squares = torch.tensor(COSTS, requires_grad=True)
    roots = distances_from_squares(squares, squared=False)
    assert squares.tolist() == COSTS
    roots.sum().backward()
    assert squares.grad[0] == 0
