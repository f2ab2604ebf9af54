import numpy as np
import torch

from graph_metric_learn.metrics.sgml.masses import softmax_within


def test_a_softmax_in_each_graph(rng):
    sizes = np.array([3, 1, 6, 2])
    scores = rng.normal(size=12) * 3
    got = softmax_within(torch.from_numpy(scores), sizes)
    wanted = [np.exp(part) / np.exp(part).sum() for part in np.split(scores, np.cumsum(sizes)[:-1])]
    np.testing.assert_allclose(got, np.concatenate(wanted), atol=1e-11)
    assert got.dtype == torch.float64


def test_gradients(rng):
    sizes = np.array([3, 1, 4])
    scores = torch.from_numpy(rng.normal(size=8)).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: softmax_within(s, sizes), scores, eps=1e-5)


def test_far_scores_give_small_masses_that_are_positive():
    for scores in ([0.0, 900.0], [1e30, 0.0], [-1e30, 1e30, 0.0]):
        masses = softmax_within(torch.tensor(scores), np.array([len(scores)]))
        assert (masses > 0).all()
        assert float(masses.sum()) - 1 < 1e-11


def test_sums_do_not_depend_on_the_order(rng):
    """Not even by a rounding error: the ends of steps are such sums."""
    scores = torch.from_numpy(rng.normal(size=1000) * 4)
    masses = softmax_within(scores, np.array([1000]))
    for _ in range(20):
        order = torch.from_numpy(rng.permutation(1000))
        assert torch.equal(softmax_within(scores[order], np.array([1000])), masses[order])
        some = masses[:500][torch.from_numpy(rng.permutation(500))]
        assert float(some.cumsum(0)[-1]) == float(masses[:500].cumsum(0)[-1])
