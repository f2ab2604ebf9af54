import numpy as np
import ot
import pytest
import torch

from graph_metric_learn.transport import plans
from graph_metric_learn.transport.measures import as_measures
from helpers import KINDS, make_cloud, make_weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "m"), [(1, 3), (4, 4), (6, 4)])
def test_the_averaged_plan_against_pot(rng, weighted, n, m):
    x, y, directions = rng.normal(size=(n, 3)), rng.normal(size=(m, 3)), rng.normal(size=(3, 5))
    a, b = make_weights(rng, [x, y]) if weighted else (None, None)
    source, target = (as_measures([z], None if w is None else [w]) for z, w in ((x, a), (y, b)))
    got = plans.averaged_plan(source, target, torch.from_numpy(directions), "canonical")
    wanted, _ = ot.sliced.expected_sliced_plan(x, y, a, b, projections=directions)
    np.testing.assert_allclose(got.numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_marginals_are_the_masses(rng, kind):
    x, y = make_cloud(rng, 7, 2, kind), make_cloud(rng, 5, 2, kind)
    a, b = make_weights(rng, [x, y])
    for ties in ("canonical", "first"):
        plan = plans.averaged_plan(as_measures([x], [a]), as_measures([y], [b]), None, ties).numpy()
        np.testing.assert_allclose(plan.sum(1), a, atol=1e-12)
        np.testing.assert_allclose(plan.sum(0), b, atol=1e-12)


def test_masses_without_gradient():
    uniform = as_measures([np.zeros((4, 1))])
    np.testing.assert_array_equal(plans.masses(uniform).numpy(), np.full(4, 0.25))
    a = torch.tensor([0.25, 0.75], dtype=torch.float64, requires_grad=True)
    weighted = as_measures([torch.zeros(2, 1)], [a])
    assert not plans.masses(weighted).requires_grad
    np.testing.assert_array_equal(plans.masses(weighted).numpy(), [0.25, 0.75])


def test_a_plan_too_large_to_hold_is_refused():
    plans.check_plan_size(2**15, 2**15)
    with pytest.raises(ValueError, match=r"a dense 65536 x 32768 plan would take 16 GiB: call without log=True"):
        plans.check_plan_size(2**16, 2**15)
