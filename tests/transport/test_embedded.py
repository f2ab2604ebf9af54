"""What all kinds of embedded measures have in common, and vectors."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist

import graph_metric_learn as gml
from graph_metric_learn.transport import Embedded, Vectors
from graph_metric_learn.transport.embedded import check_one_kind, check_values


def curves_of(values, numpy=False):
    """As many curves as vectors, of one, two, three … steps."""
    sizes = np.arange(1, len(values) + 1)
    return gml.Curves(values.repeat_interleave(torch.from_numpy(sizes), 0)[:, None], sizes, None, numpy)


KINDS = pytest.mark.parametrize("make", [Vectors, curves_of])


@pytest.fixture
def values(rng):
    return torch.from_numpy(rng.normal(size=(5, 3)))


@KINDS
def test_items_are_chosen_by_index_slice_and_array(values, make):
    items = make(values)
    assert isinstance(items, Embedded)
    for which in (2, -1, slice(1, 4), slice(None, None, 2), slice(3, 3), np.array([4, 0, 0]), np.arange(5) > 2):
        wanted = np.atleast_1d(np.arange(5)[which])
        chosen = items[which]
        assert type(chosen) is type(items)
        assert len(chosen) == len(wanted)
        parts = [items[i : i + 1].values for i in wanted]
        assert torch.equal(chosen.values, torch.cat(parts) if parts else items.values[:0])
    assert [len(item) for item in items] == [1] * 5
    assert torch.equal(torch.cat([item.values for item in items]), items.values)


@KINDS
def test_parts_are_put_together(values, make):
    items = make(values, numpy=True)
    for concatenate in (type(items).concatenate, Embedded.concatenate):
        again = concatenate([items[3:], items[:3]])
        assert type(again) is type(items)
        assert again.numpy
        assert torch.equal(again.values, items[np.array([3, 4, 0, 1, 2])].values)


def test_kinds_are_not_mixed(values):
    for combine in (
        lambda a, b: Embedded.concatenate([a, b]),
        lambda a, b: check_one_kind([a, b]),
        gml.pairwise_distances,
        gml.kneighbors,
        lambda a, b: list(gml.iter_distances(a, b)),
        lambda a, b: list(gml.iter_pairs(a, b)),
    ):
        with pytest.raises(ValueError, match="curves and vectors cannot be compared or put together"):
            combine(Vectors(values), curves_of(values))


@KINDS
def test_device_gradient_and_kind_of_result(values, make, device):
    items = make(values).to(device)
    assert items.device.type == device
    assert not items.wants_grad
    differentiable = make(values.clone().requires_grad_())
    assert differentiable.wants_grad
    with torch.no_grad():
        assert not differentiable.wants_grad
    assert make(values).wrap(values) is values
    wrapped = make(values, numpy=True).wrap(values.clone().requires_grad_())
    np.testing.assert_array_equal(wrapped, values.numpy())


@KINDS
def test_step_functions_have_the_same_distances(values, make):
    items = make(values)
    walked = items.as_step_functions()
    assert isinstance(walked, gml.Curves)
    wanted = torch.cdist(values, values)  # the curves are constant
    torch.testing.assert_close(gml.pairwise_distances(walked), wanted, atol=1e-12, rtol=0)
    torch.testing.assert_close(gml.pairwise_distances(items), wanted, atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.zeros((2, 2)), "values must be a tensor of float32 or float64 numbers, got ndarray"),
        (torch.zeros(2, 2, dtype=torch.int64), "got a tensor of torch.int64"),
        (torch.zeros(2), r"values has shape \(2,\), expected rows"),
        (torch.zeros(2, 0), r"values has shape \(2, 0\)"),
    ],
)
def test_bad_values_are_named(bad, words):
    with pytest.raises(ValueError, match=words):
        check_values(bad, 2, "rows")


@KINDS
@pytest.mark.parametrize(("value", "dtype"), [(np.nan, torch.float32), (1e19, torch.float32), (1e160, torch.float64)])
def test_numbers_that_cannot_be_squared_are_refused(values, make, value, dtype):
    bad = values.to(dtype).clone()
    bad[3, 1] = value
    for use in (gml.pairwise_distances, gml.mean_curve, lambda items: gml.kneighbors(items, n_neighbors=1)):
        with pytest.raises(ValueError, match="NaN, infinite or beyond"):
            use(make(bad))


def test_numbers_are_looked_at_once(values):
    items = Vectors(values)
    gml.pairwise_distances(items)
    values[0, 0] = np.nan
    assert gml.pairwise_distances(items)[0, 1:].isnan().all()
    with pytest.raises(ValueError, match="row 0"):
        gml.pairwise_distances(Vectors(values))


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
