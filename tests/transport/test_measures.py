import numpy as np
import pytest
import torch

from graph_metric_learn.transport.measures import as_measures, in_common


def test_points_are_stored_one_after_the_other(rng):
    clouds = [rng.normal(size=(n, 3)) for n in (2, 5, 1)]
    measures = as_measures(clouds)
    assert measures.sizes.tolist() == [2, 5, 1]
    np.testing.assert_array_equal(measures.points.numpy(), np.concatenate(clouds))


@pytest.mark.parametrize(
    ("given", "stored"),
    [("float32", "float32"), ("float64", "float64"), ("float16", "float32"), ("int64", "float64"), ("bool", "float64")],
)
def test_numbers_become_floats(given, stored):
    measures = as_measures([np.ones((2, 2), dtype=given)])
    assert measures.points.dtype == getattr(torch, stored)
    tensor = as_measures([torch.ones(2, 2, dtype=getattr(torch, given))])
    assert tensor.points.dtype == getattr(torch, stored)


def test_read_only_reversed_and_nested_input_is_taken():
    x = np.arange(6.0).reshape(3, 2)
    frozen = x.copy()
    frozen.flags.writeable = False
    for given in (frozen, x[::-1], x.tolist(), x.T.copy().T):
        np.testing.assert_array_equal(as_measures([given]).points.numpy(), np.asarray(given))


def test_the_callers_array_is_not_changed(rng):
    x = rng.normal(size=(4, 2))
    kept = x.copy()
    as_measures([x])
    np.testing.assert_array_equal(x, kept)


def test_uniform_weights_are_recognised():
    assert as_measures([np.zeros((4, 1))], [np.full(4, 0.25)]).weights is None
    assert as_measures([np.zeros((2, 1))], [np.array([0.25, 0.75])]).weights is not None


@pytest.mark.parametrize(
    ("clouds", "weights", "words"),
    [
        ([], None, "no measures"),
        ("abc", None, "list"),
        (3, None, "list"),
        ([np.zeros((2, 2)), np.zeros((0, 2))], None, "measure 1 is empty"),
        ([np.zeros((2, 0))], None, "measure 0 is empty"),
        ([np.zeros(3)], None, r"reshape a cloud of scalars to \(3, 1\)"),
        ([np.zeros((2, 2, 2))], None, r"measure 0 has shape \(2, 2, 2\)"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], None, "measure 1 has points in dimension 3"),
        ([np.zeros((2, 2)), np.array([[0, np.nan]])], None, "measure 1 holds NaN"),
        ([np.array([[np.inf, 0]])], None, "measure 0 holds NaN or infinite"),
        ([np.array([["a", "b"]])], None, "expected real numbers"),
        ([np.zeros((2, 2), dtype=complex)], None, "expected real numbers"),
        ([[[1.0, 2.0], [3.0]]], None, "measure 0 is not an"),
        ([torch.zeros(2, 2), np.zeros((2, 2))], None, "use one kind"),
        ([np.zeros((2, 2))], [np.array([0.5, 0.6])], "add up to 1.1"),
        ([np.zeros((2, 2))], [np.array([1.5, -0.5])], "not negative"),
        ([np.zeros((2, 2))], [np.array([np.nan, 1.0])], "finite"),
        ([np.zeros((2, 2))], [np.ones(3) / 3], r"shape \(3,\), expected \(2,\)"),
        ([np.zeros((2, 2))], [], "0 weight vectors for 1 measures"),
    ],
)
def test_bad_input_gets_one_clear_error(clouds, weights, words):
    with pytest.raises(ValueError, match=words):
        as_measures(clouds, weights)


def test_two_sides_get_the_larger_type():
    single, double = as_measures([np.zeros((2, 2), np.float32)]), as_measures([np.zeros((3, 2))])
    for pair in ((single, double), (double, single)):
        assert {side.points.dtype for side in in_common(*pair, "one", "other")} == {torch.float64}
    same = in_common(single, single, "one", "other")
    assert same[0] is same[1] is single


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ([np.zeros((2, 3))], "one has points in dimension 2, other in dimension 3"),
        ([torch.zeros(2, 2)], "one and other must both be NumPy arrays or both be torch tensors"),
    ],
)
def test_two_sides_that_do_not_fit_are_named(other, words):
    with pytest.raises(ValueError, match=words):
        in_common(as_measures([np.zeros((2, 2))]), as_measures(other), "one", "other")


def test_coordinates_that_cannot_be_squared_are_refused():
    with pytest.raises(ValueError, match=r"measure 1 holds coordinates beyond 1e.18"):
        as_measures([np.ones((2, 1), np.float32), np.full((3, 1), 1e19, np.float32)])
