import numpy as np
import pytest

import graph_metric_learn as gml
from element_graphs import element_graphs
from graph_metric_learn.metrics.automatic.contributions import Parts, mean_gradient, pair_of
from graph_metric_learn.metrics.automatic.mixture import graphs_sizes
from graph_metric_learn.metrics.automatic.views import View

FAMILIES = ["trees", "pairs", "size", "nodes, mean", "nodes, density", "nodes, reference", "codes, mean"]


@pytest.fixture(scope="module")
def metric():
    """All of these families, as they come without targets or chosen one by one."""
    return {
        name: gml.GraphMetric(label="element", families=[name], random_state=0).fit(element_graphs()[0][:40])
        for name in FAMILIES
    }


def pair_by(metric):
    """Two new graphs as the only family of a metric sees them, and their kernels to the landmarks [2, M]."""
    graphs = metric.as_fitted(metric.read(element_graphs()[0][50:52]))
    describer = metric.mixture_.describer
    (family,) = describer.families.values()
    views = []
    for graph in (graphs[:1], graphs[1:]):
        sizes = {cloud: int(counts[0]) for cloud, counts in graphs_sizes(describer.blocks, graph).items()}
        views.append(View(graph, describer.read(graph), describer.describe(graph), sizes))
    return pair_of(family, *views), family.kernel(describer.describe(graphs)[family.name]).astype(float)


@pytest.mark.parametrize("name", FAMILIES)
def test_apart_is_one_less_the_kernel(metric, name):
    pair, _ = pair_by(metric[name])
    one, two = (view.described[name] for view in (pair.one, pair.two))
    assert pair.apart() == pytest.approx(1 - pair.family.refer_to(one).kernel(two)[0, 0], abs=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_parts_add_up_in_each_way(metric, name, rng):
    pair, kernels = pair_by(metric[name])
    weights = rng.normal(size=(kernels.shape[1], 2))
    whole = (kernels[0] - kernels[1]) @ weights + np.array([3.0 * pair.apart(), 0.0])
    loose = 1e-3 * np.abs(weights).sum()
    for parts, expected in zip(pair.parts(3.0, weights), whole, strict=True):
        for way in (parts.source, parts.target, np.array(list(parts.blocks.values()))):
            assert way.sum() == pytest.approx(expected, abs=loose)
    (alone,) = pair.parts(3.0, None)
    assert alone.source.sum() == pytest.approx(3.0 * pair.apart(), rel=1e-5)
    assert alone.target.sum() == pytest.approx(3.0 * pair.apart(), rel=1e-5)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "pairs"])
def test_plans_have_the_masses_of_both_graphs(metric, name):
    plan = pair_by(metric[name])[0].plan()
    np.testing.assert_allclose(plan.sum(1), 1 / len(plan), atol=1e-9)
    np.testing.assert_allclose(plan.sum(0), 1 / plan.shape[1], atol=1e-9)


def test_what_is_missing_is_added_in_proportion():
    parts = Parts(np.array([1.0, -3.0]), np.zeros(4), {"a": 1.0, "b": 0.0}).completed(2.0)
    np.testing.assert_allclose(parts.source, [2.0, 0.0])
    np.testing.assert_allclose(parts.target, 0.5)
    assert parts.blocks == {"a": 2.0, "b": 0.0}


def test_gradients_are_complete():
    rng = np.random.default_rng(0)
    references, first, second, weights = rng.normal(size=(9, 4)), *rng.normal(size=(2, 4)), rng.normal(size=(9, 2))
    kernels = [np.exp(-((references - end) ** 2).sum(1) / 3.0) for end in (first, second)]
    gradients = mean_gradient(references, 3.0, first, second, weights)
    np.testing.assert_allclose((first - second) @ gradients, (kernels[0] - kernels[1]) @ weights, rtol=1e-9)
