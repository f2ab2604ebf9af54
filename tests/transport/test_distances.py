import numpy as np
import ot
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import graph_metric_learn as gml
from graph_metric_learn.transport import distances, plans
from graph_metric_learn.transport.directions import sphere
from helpers import KINDS, cloud_lists, make_cloud, make_weights, rpw_by_definition

SIZES = ((1, 1), (1, 6), (7, 7), (5, 8), (40, 31), (300, 300), (300, 257))
METRICS = {
    "rpw": gml.rpw_distance,
    "pw": lambda *args, **options: gml.pw_distance(*args, n_projections=7, seed=0, **options),
    "sw": lambda *args, **options: gml.sw_distance(*args, n_projections=7, seed=0, **options),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_rpw_against_pot(rng, n, m, weighted):
    x, y = rng.normal(size=(n, 4)), rng.normal(size=(m, 4))
    a, b = make_weights(rng, [x, y]) if weighted else (None, None)
    got = gml.rpw_distance(x, y, a, b)
    plan, cost = ot.sliced.expected_sliced_plan(x, y, a, b, projections=np.eye(4))
    assert got == pytest.approx(np.sqrt(cost), rel=1e-9)
    same, log = gml.rpw_distance(x, y, a, b, log=True)
    assert same == got
    np.testing.assert_allclose(log["plan"], plan, atol=1e-12)
    assert np.sqrt(log["costs"].mean()) == pytest.approx(got)
    np.testing.assert_array_equal(log["projections"], np.eye(4))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_pw_and_sw_against_pot(rng, n, m, weighted):
    x, y, directions = rng.normal(size=(n, 3)), rng.normal(size=(m, 3)), sphere(3, 20, seed=3)
    a, b = make_weights(rng, [x, y]) if weighted else (None, None)
    plan, cost = ot.sliced.expected_sliced_plan(x, y, a, b, projections=directions)
    got, log = gml.pw_distance(x, y, a, b, projections=directions, log=True)
    assert got == pytest.approx(np.sqrt(cost), rel=1e-9)
    np.testing.assert_allclose(log["plan"], plan, atol=1e-12)
    sliced = ot.sliced_wasserstein_distance(x, y, a, b, projections=directions)
    assert gml.sw_distance(x, y, a, b, projections=directions) == pytest.approx(sliced, rel=1e-9)
    sliced_1 = ot.sliced_wasserstein_distance(x, y, a, b, projections=directions, p=1)
    assert gml.sw_distance(x, y, a, b, projections=directions, order=1) == pytest.approx(sliced_1, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 4.0])
def test_ties_and_orders_against_the_definition(rng, kind, order):
    for n, m in ((6, 6), (5, 8)):
        x, y = make_cloud(rng, n, 3, kind), make_cloud(rng, m, 3, kind)
        a, b = make_weights(rng, [x, y])
        assert gml.rpw_distance(x, y, a, b, order=order) == pytest.approx(rpw_by_definition(x, y, a, b, order))
        uniform = np.full(n, 1 / n), np.full(m, 1 / m)
        assert gml.rpw_distance(x, y, order=order) == pytest.approx(rpw_by_definition(x, y, *uniform, order))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", METRICS)
def test_one_dimension_is_exact_wasserstein(rng, name, weighted):
    x, y = rng.normal(size=(9, 1)), rng.normal(size=(13, 1))
    a, b = make_weights(rng, [x, y]) if weighted else (None, None)
    for order in (1, 2):
        wanted = ot.wasserstein_1d(x[:, 0], y[:, 0], a, b, p=order) ** (1 / order)
        assert METRICS[name](x, y, a, b, order=order) == pytest.approx(wanted, rel=1e-9)


@given(cloud_lists(), st.sampled_from(list(METRICS)), st.booleans())
def test_symmetry_renumbering_and_splitting(drawn, name, weighted):
    (x, y), rng = drawn
    d = METRICS[name]
    a, b = make_weights(rng, [x, y]) if weighted else (None, None)
    value = d(x, y, a, b)
    assert d(y, x, b, a) == pytest.approx(value, abs=1e-9)
    perm = rng.permutation(len(x))
    assert d(x[perm], y, None if a is None else a[perm], b) == pytest.approx(value, abs=1e-9)
    split = np.concatenate([x, x[:1]])
    masses = np.full(len(x), 1 / len(x)) if a is None else a
    halved = np.concatenate([[masses[0] / 2], masses[1:], [masses[0] / 2]])
    assert d(split, y, halved, b) == pytest.approx(value, abs=1e-9)


@given(cloud_lists(count=3), st.sampled_from(list(METRICS)), st.sampled_from([1.0, 2.0, 3.0]))
def test_triangle_inequality_and_identity(drawn, name, order):
    (x, y, z), rng = drawn
    d = lambda u, v: METRICS[name](u, v, order=order)  # noqa: E731
    assert d(x, z) <= d(x, y) + d(y, z) + 1e-9
    assert d(x, x) == 0
    assert d(x, x[rng.permutation(len(x))]) == 0
    moved = x + 1.0
    assert d(x, moved) > 0.1


@given(cloud_lists(), st.floats(-3, 3), st.floats(0.1, 10))
def test_translation_and_scaling(drawn, shift, factor):
    (x, y), _ = drawn
    x, y = np.round(x, 2), np.round(y, 2)  # rounding in the shift must not make new ties
    shift = np.round(shift)
    value = gml.rpw_distance(x, y)
    assert gml.rpw_distance(x + shift, y + shift, ties="canonical") == pytest.approx(value, abs=1e-6)
    assert gml.rpw_distance(x * factor, y * factor) == pytest.approx(factor * value, rel=1e-6, abs=1e-9)
    assert gml.rpw_distance(x, x + shift) == pytest.approx(abs(shift) * np.sqrt(x.shape[1]), abs=1e-9)


@given(cloud_lists(max_points=12))
def test_never_below_wasserstein_nor_sliced_above_it(drawn):
    (x, y), rng = drawn
    a, b = make_weights(rng, [x, y])
    w2 = np.sqrt(max(0.0, ot.emd2(a, b, ot.dist(x, y))))
    assert gml.rpw_distance(x, y, a, b) >= w2 - 1e-7
    assert gml.pw_distance(x, y, a, b, seed=0) >= w2 - 1e-7
    assert gml.sw_distance(x, y, a, b, seed=0) <= w2 + 1e-7


@pytest.mark.parametrize("name", METRICS)
def test_kinds_and_types_go_through(rng, name, device):
    x, y = rng.normal(size=(6, 3)), rng.normal(size=(9, 3))
    exact = METRICS[name](x, y)
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        one, two = x.astype(dtype), y.astype(dtype)
        got = METRICS[name](one, two)
        assert isinstance(got, dtype)
        assert got == pytest.approx(exact, rel=tolerance)
        tensors = torch.from_numpy(one).to(device), torch.from_numpy(two).to(device)
        value, log = METRICS[name](*tensors, log=True)
        assert value.dtype == tensors[0].dtype
        assert value.device == log["plan"].device == log["projections"].device == tensors[0].device
        assert float(value) == pytest.approx(exact, rel=tolerance)
    assert METRICS[name](x.astype(np.float32), y).dtype == np.float64
    assert METRICS[name](x, y, squared=True) == pytest.approx(exact**2)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
@pytest.mark.parametrize(("n", "m"), [(4, 4), (3, 5)])
def test_gradients_by_finite_differences(rng, name, order, n, m):
    x, y = (torch.from_numpy(rng.normal(size=(k, 2))).requires_grad_() for k in (n, m))
    a, b = (torch.from_numpy(w).requires_grad_() for w in make_weights(rng, [x, y]))
    assert torch.autograd.gradcheck(lambda x, y: METRICS[name](x, y, order=order), (x, y))

    def weighted(x, y, a, b):
        return METRICS[name](x, y, a / a.sum(), b / b.sum(), order=order, squared=True)

    assert torch.autograd.gradcheck(weighted, (x, y, a, b))


def test_gradient_with_exact_zeros_matches_the_plan(rng):
    x, y = (np.maximum(rng.normal(size=(n, 3)), 0) for n in (8, 5))
    u = torch.from_numpy(x).requires_grad_()
    value, log = gml.rpw_distance(u, torch.from_numpy(y), squared=True, log=True)
    value.backward()
    plan = log["plan"].numpy()
    wanted = 2 * (plan.sum(1, keepdims=True) * x - plan @ y)
    np.testing.assert_allclose(u.grad.numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize("order", [1.0, 2.0])
def test_gradient_at_distance_zero_is_zero_not_nan(rng, order):
    x = torch.from_numpy(rng.normal(size=(4, 2))).requires_grad_()
    gml.rpw_distance(x, x.detach().clone(), order=order).backward()
    assert (x.grad == 0).all()


def test_a_hundred_thousand_points(rng, monkeypatch):
    x, y = (make_cloud(rng, n, 2, "relu") for n in (100_000, 99_999))
    whole = gml.rpw_distance(x, y)
    monkeypatch.setattr(distances, "_CHUNK", 1000)  # one direction at a time
    assert gml.rpw_distance(x, y) == pytest.approx(whole, rel=1e-12)
    z = np.sort(rng.normal(size=(100_000, 1)), axis=0)
    assert gml.rpw_distance(z, z + 3.0) == pytest.approx(3.0, rel=1e-12)


def test_float32_keeps_its_digits_for_large_near_duplicates(rng):
    x = rng.normal(size=(50_000, 3)).astype(np.float32) + 100
    y = x[rng.permutation(len(x))]
    assert gml.rpw_distance(x, y) == 0
    y[:, 0] += np.float32(0.125)
    exact = gml.rpw_distance(x.astype(float), y.astype(float))
    assert gml.rpw_distance(x, y) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((np.ones((2, 3)), np.ones((2, 2))), {}, "X_s has points in dimension 3, X_t in dimension 2"),
        ((np.ones((2, 3)), np.ones((0, 3))), {}, "X_t is empty"),
        ((np.full((2, 3), np.nan), np.ones((2, 3))), {}, "X_s holds NaN"),
        ((np.ones((2, 3)), torch.ones(2, 3)), {}, "both be NumPy arrays or both be torch"),
        ((np.ones((2, 3)), np.ones((2, 3)), [0.5, 0.6]), {}, "weights of X_s add up to 1.1"),
        ((np.ones((2, 3)), np.ones((2, 3)), None, [-0.5, 1.5]), {}, "weights of X_t must be finite and not negative"),
        ((np.ones((2, 3)), np.ones((2, 3))), {"ties": "nonsense"}, "nonsense"),
        ((np.ones((2, 3)), np.ones((2, 3))), {"order": 0.5}, "order must be a number >= 1"),
    ],
)
def test_bad_input_gets_one_clear_error(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        gml.rpw_distance(*arguments, **options)


def test_a_plan_too_large_to_hold_is_refused(monkeypatch):
    monkeypatch.setattr(plans, "_LARGEST_PLAN", 10)
    with pytest.raises(ValueError, match="call without log=True"):
        gml.rpw_distance(np.ones((4, 1)), np.ones((4, 1)), log=True)


@pytest.mark.parametrize("distance", [gml.pw_distance, gml.sw_distance])
@pytest.mark.parametrize(("kind", "offset"), [(np.float32, 1e4), (np.float64, 1e9)])
def test_an_offset_of_both_clouds_costs_no_digits(rng, distance, kind, offset):
    x, y = ((rng.normal(size=(n, 4)) + offset).astype(kind) for n in (30, 25))
    directions = sphere(4, 20, seed=0)
    exact = distance(*(points.astype(np.float64) - offset for points in (x, y)), projections=directions)
    np.testing.assert_allclose(
        distance(x, y, projections=directions), exact, rtol=1e-6 if kind is np.float32 else 1e-12
    )
