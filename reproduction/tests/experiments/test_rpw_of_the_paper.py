import numpy as np
import ot
import pytest

from graph_metric_learn_reproduction.experiments.rpw_of_the_paper import rpw_quadratic, rpw_sequential


@pytest.mark.parametrize("weighted", [False, True])
def test_both_agree_with_pot(weighted):
    rng = np.random.default_rng(0)
    for n, m in ((6, 6), (5, 8), (1, 3)):
        x, y = rng.normal(size=(n, 3)), rng.normal(size=(m, 3))
        a, b = [rng.dirichlet(np.ones(len(z))) for z in (x, y)] if weighted else (None, None)
        _, cost = ot.sliced.expected_sliced_plan(x, y, a, b, projections=np.eye(3))
        assert rpw_sequential(x, y, a, b) == pytest.approx(np.sqrt(cost), rel=1e-10)
        assert rpw_quadratic(x, y, a, b) == pytest.approx(np.sqrt(cost), rel=1e-10)
