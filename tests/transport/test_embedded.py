"""What all kinds of embedded measures have in common."""

import numpy as np
import pytest
import torch

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


def test_numbers_are_looked_at_once(values, monkeypatch):
    items = Vectors(values)
    gml.pairwise_distances(items)
    monkeypatch.setattr(Vectors, "_check_numbers", lambda self: pytest.fail("again"))
    gml.pairwise_distances(items)
