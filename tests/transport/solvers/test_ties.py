import sys

import numpy as np
import ot
import pytest
import torch
from hypothesis import given

import graph_metric_learn as gml
from helpers import KINDS, cloud_lists, least_plan_by_linear_programme, make_cloud, make_weights


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1.5, 2.0])
def test_least_cost_against_a_linear_programme(rng, kind, weighted, order):
    for n, m in ((4, 4), (6, 4), (5, 7), (1, 3)):
        x, y = make_cloud(rng, n, 3, kind), make_cloud(rng, m, 3, kind)
        a, b = make_weights(rng, [x, y]) if weighted else (np.full(n, 1 / n), np.full(m, 1 / m))
        wanted = np.mean([least_plan_by_linear_programme(x, y, a, b, e, order) for e in np.eye(3)])
        got, log = gml.rpw_distance(x, y, a, b, ties="optimal", order=order, log=True)
        assert got**order == pytest.approx(wanted, abs=1e-5)  # the programme has slack
        np.testing.assert_allclose(log["plan"].sum(1), a, atol=1e-12)
        np.testing.assert_allclose(log["plan"].sum(0), b, atol=1e-12)


@given(cloud_lists())
def test_canonical_is_never_below_optimal_nor_optimal_below_w2(drawn):
    (x, y), _ = drawn
    w2 = np.sqrt(max(0.0, ot.emd2(np.full(len(x), 1 / len(x)), np.full(len(y), 1 / len(y)), ot.dist(x, y))))
    optimal = gml.rpw_distance(x, y, ties="optimal")
    assert gml.rpw_distance(x, y) >= optimal - 1e-9
    assert optimal >= w2 - 1e-7


@given(cloud_lists(count=3, kinds=("relu", "grid")))
def test_optimal_ties_make_a_metric(drawn):
    (x, y, z), rng = drawn
    d = lambda u, v: gml.rpw_distance(u, v, ties="optimal")  # noqa: E731
    assert d(x, x[rng.permutation(len(x))]) == pytest.approx(0, abs=1e-7)
    assert d(x, y) == pytest.approx(d(y, x), abs=1e-9)
    assert d(x, z) <= d(x, y) + d(y, z) + 1e-7


def test_without_ties_all_rules_agree(rng):
    x, y = rng.normal(size=(9, 3)), rng.normal(size=(6, 3))
    values = [gml.rpw_distance(x, y, ties=rule) for rule in ("canonical", "optimal", "first")]
    np.testing.assert_allclose(values, values[0])


def test_first_depends_on_the_numbering_and_the_others_do_not(rng):
    x, y = make_cloud(rng, 12, 3, "relu"), make_cloud(rng, 12, 3, "relu")
    shuffled = x[rng.permutation(12)]
    assert gml.rpw_distance(x, y, ties="first") != pytest.approx(gml.rpw_distance(shuffled, y, ties="first"))
    for rule in ("canonical", "optimal"):
        assert gml.rpw_distance(x, y, ties=rule) == pytest.approx(gml.rpw_distance(shuffled, y, ties=rule))


def test_first_is_the_order_of_the_rows():
    x, y = np.array([[0.0, 5.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 5.0]])
    along_first_axis = gml.pw_distance(x, y, projections=[[1.0], [0.0]], ties="first", squared=True)
    assert along_first_axis == pytest.approx(16.0)
    assert gml.pw_distance(x, y, projections=[[1.0], [0.0]], squared=True) == 0.0


def test_gradient_with_optimal_ties(rng):
    x, y = (torch.from_numpy(make_cloud(rng, n, 2)).requires_grad_() for n in (4, 5))
    assert torch.autograd.gradcheck(lambda x, y: gml.rpw_distance(x, y, ties="optimal"), (x, y))


def test_no_gradient_to_weights_is_said_clearly(rng):
    x = torch.from_numpy(rng.normal(size=(2, 2)))
    a = torch.tensor([0.4, 0.6], dtype=torch.float64, requires_grad=True)
    with pytest.raises(ValueError, match="no gradient with respect to the weights"):
        gml.rpw_distance(x, x, a, ties="optimal")


def test_without_pot_it_is_said_what_to_install(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)  # as where it is not installed
    x, y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    for call in (gml.rpw_distance, lambda x, y, **options: gml.pairwise_distances([x, y], **options)):
        with pytest.raises(ImportError, match=r'ties="optimal" needs POT: pip install graph-metric-learn\[optimal\]'):
            call(x, y, ties="optimal")
    assert gml.rpw_distance(x, y) > 0
