import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist

import graph_metric_learn as gml
from graph_metric_learn.transport import Vectors


@pytest.fixture
def sides(rng):
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(11, 4))
    x[7] = x[3]  # a copy, and a near one
    x[8] = x[3] + 1e-9
    return x, y


def vectors(x):
    return Vectors(torch.from_numpy(x), numpy=True)


def one_step_curves(x):
    return gml.Curves(torch.from_numpy(x)[:, None, :], np.ones(len(x), dtype=np.int64), None, numpy=True)


def test_distances_are_euclidean(sides):
    x, y = sides
    within = gml.pairwise_distances(vectors(x))
    np.testing.assert_allclose(within, cdist(x, x), atol=1e-12)
    assert within[3, 7] == 0
    assert within[3, 8] == pytest.approx(2e-9)
    np.testing.assert_allclose(gml.pairwise_distances(vectors(x), vectors(y)), cdist(x, y), atol=1e-12)
    squares = gml.pairwise_distances(vectors(x), vectors(y), squared=True)
    np.testing.assert_allclose(squares, cdist(x, y, "sqeuclidean"), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block_bytes", [None, 500])
def test_results_are_bit_by_bit_those_of_curves_of_one_step(sides, dtype, block_bytes):
    def results(make):
        x, y = (make(side.astype(dtype)) for side in sides)
        for other in (None, y):
            yield gml.pairwise_distances(x, other)
            yield from gml.kneighbors(x, other, n_neighbors=3, block_bytes=block_bytes)
            for block in gml.iter_distances(x, other, block_bytes=block_bytes):
                yield from block
            for block in gml.iter_pairs(x, other, block_bytes=block_bytes):
                yield from block
        yield gml.pairwise_distances(x[:2], y)
        yield gml.curve_vectors(x, 3)
        yield gml.mean_curve(x).values.numpy().reshape(-1)

    for got, wanted in zip(results(vectors), results(one_step_curves), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_gradients_go_through(rng):
    x = torch.from_numpy(rng.normal(size=(4, 3))).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: gml.pairwise_distances(Vectors(x), squared=True), x)


def test_the_mean_is_a_vector(sides):
    x, _ = sides
    mean = gml.mean_curve(vectors(x))
    assert isinstance(mean, Vectors)
    assert mean.numpy
    np.testing.assert_allclose(mean.values.numpy(), x.mean(0, keepdims=True), atol=1e-14)
    shares = np.arange(30.0) / np.arange(30.0).sum()
    np.testing.assert_allclose(gml.mean_curve(vectors(x), shares).values[0].numpy(), shares @ x, atol=1e-14)


def test_bad_input_gets_one_clear_error(sides):
    x, y = sides
    for bad in (torch.zeros(3), torch.zeros(2, 3, 1), torch.zeros(2, 0)):
        with pytest.raises(ValueError, match=r"values has shape .*, expected \[N, d\]"):
            Vectors(bad)
    with pytest.raises(ValueError, match=r"vectors of shape \(4,\) and \(3,\) cannot be compared"):
        gml.pairwise_distances(vectors(x), vectors(y[:, :3]))
    with pytest.raises(ValueError, match="no vectors were given"):
        gml.pairwise_distances(vectors(x[:0]))
    with pytest.raises(ValueError, match="both sides"):
        gml.pairwise_distances(vectors(x), [y])
    with pytest.raises(ValueError, match="part of vectors already"):
        gml.pairwise_distances(vectors(x), projections=np.eye(4))
    with pytest.raises(ValueError, match="part of vectors already"):
        gml.curve_vectors(vectors(x), metric="sw")
    with pytest.raises(ValueError, match="give the clouds, not their vectors"):
        gml.pairwise_distances(vectors(x), ties="optimal")
