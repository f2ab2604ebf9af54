import numpy as np
import pytest

from graph_metric_learn.metrics.automatic import weights as module
from graph_metric_learn.metrics.automatic.weights import (
    centred,
    even_over,
    even_weights,
    likeliest_weights,
    mixed_weights,
)
from made_up_vectors import squares_of

COUNT, FAMILIES = 120, 8


@pytest.fixture
def kernels(rng):
    """Eight views of graphs that have nothing to do with each other."""
    views = [rng.normal(size=(COUNT, 3)) for _ in range(FAMILIES)]
    return np.stack([np.exp(-squares_of(view) / 6) for view in views]).astype(np.float32)


def drawn(kernel, noise, rng, targets=1):
    """Outputs of a Gaussian process with this kernel."""
    exact = kernel.astype(float) + noise * np.eye(len(kernel))
    return centred(np.linalg.cholesky(exact) @ rng.normal(size=(len(kernel), targets)))


EVEN = np.full(FAMILIES, 1 / FAMILIES)


def test_a_planted_kernel_is_found(kernels, rng):
    found = likeliest_weights(kernels, drawn(kernels[3], 0.1, rng, 3), EVEN)
    assert found.argmax() == 3
    assert found[3] > 0.8
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()


def test_two_planted_kernels_are_found(kernels, rng):
    outputs = drawn(0.5 * kernels[1] + 0.5 * kernels[6], 0.05, rng, 5)
    found = likeliest_weights(kernels, outputs, EVEN)
    assert set(np.argsort(found)[-2:]) == {1, 6}
    assert found[[1, 6]].min() > 0.2


def test_few_have_a_weight(kernels, rng):
    found = mixed_weights(likeliest_weights(kernels, drawn(kernels[3], 0.1, rng, 3), EVEN), EVEN, 0.0)
    assert np.count_nonzero(found) <= 3


def test_the_scale_of_outputs_does_not_matter(kernels, rng):
    outputs = drawn(kernels[3], 0.3, rng)
    one, two = (likeliest_weights(kernels, factor * outputs, EVEN) for factor in (1.0, 1e4))
    np.testing.assert_allclose(one, two, rtol=1e-6)


@pytest.mark.parametrize("targets", [1, 3])
def test_the_gradient_is_that_of_the_cost(kernels, rng, targets):
    """By finite differences along every kernel; the cost is that of a Gaussian, with the likeliest variance."""
    outputs, exact = drawn(kernels[3], 0.3, rng, targets), kernels.astype(float)
    mean, step = exact.mean(0), 1e-5

    def cost(kernel):
        covariance = kernel + 0.3 * np.eye(COUNT)
        scale = np.einsum("nt,nt->", outputs, np.linalg.solve(covariance, outputs)) / outputs.size
        return COUNT * np.log(scale) + np.linalg.slogdet(covariance)[1]

    fit = module._Fit.of(mean, 0.3, outputs)
    assert fit.cost == pytest.approx(cost(mean))
    for kernel in exact:
        slope = (cost(mean + step * kernel) - cost(mean - step * kernel)) / (2 * step)
        assert (fit.gradient() * kernel).sum() == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_a_kernel_that_cannot_be_factorised_is_never_the_likeliest(rng):
    assert module._Fit.of(-np.eye(5), 0.3, rng.normal(size=(5, 1))).cost == np.inf


def test_shares_of_the_even_weights():
    likeliest, even = np.array([1.0, 0.0, 0.0]), np.array([0.25, 0.25, 0.5])
    np.testing.assert_allclose(mixed_weights(likeliest, even, 0.0), [1, 0, 0])
    np.testing.assert_allclose(mixed_weights(likeliest, even, 0.5), [0.625, 0.125, 0.25])
    np.testing.assert_allclose(mixed_weights(likeliest, even, 1.0), even)
    small = mixed_weights(np.array([0.9, 0.098, 0.002]), even, 0.0)  # what has next to no weight is left out
    np.testing.assert_allclose(small, [0.9 / 0.998, 0.098 / 0.998, 0.0])


def test_even_weights_are_even_over_kinds_then_within():
    assert even_weights({"a": "x", "b": "x", "c": "y"}) == {"a": 0.25, "b": 0.25, "c": 0.5}
    names, kinds = ["a", "b", "c"], {"a": "x", "b": "x", "c": "y"}
    embeddings = {"a": "multiset", "b": "reference", "c": "mean"}
    np.testing.assert_allclose(even_over(names, kinds, embeddings, cheap=False), [0.25, 0.25, 0.5])
    np.testing.assert_allclose(even_over(names, kinds, embeddings, cheap=True), [0.5, 0, 0.5])
    for cheap in (True, False):
        dense, linear = dict.fromkeys(names, "density"), {**embeddings, "a": "linear"}
        np.testing.assert_allclose(even_over(names, kinds, dense, cheap=cheap), [0.25, 0.25, 0.5])
        assert even_over(names, kinds, linear, cheap=cheap)[0] == 0  # a kernel without a bound


def test_outputs_are_centred_and_gaps_are_means():
    outputs = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, 2.0], [5.0, 5.0, 4.0]])
    np.testing.assert_allclose(centred(outputs), [[-2, 0], [0, -1], [2, 1]])
    assert centred(np.ones((4, 2))).shape == (4, 0)
