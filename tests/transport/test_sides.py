import dataclasses
import inspect

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport import devices, sides
from graph_metric_learn.transport.sides import CurveOptions, PairOptions, both_sides, check_out
from helpers import make_cloud, make_weights


@pytest.mark.parametrize("function", [gml.pairwise_distances, gml.iter_distances, gml.iter_pairs, gml.kneighbors])
def test_options_and_defaults_are_those_of_the_public_functions(function):
    parameters = inspect.signature(function).parameters
    for field in dataclasses.fields(PairOptions):
        assert parameters[field.name].default == field.default
        assert parameters[field.name].kind is inspect.Parameter.KEYWORD_ONLY


def test_options_of_curves_are_those_of_as_curves():
    parameters = inspect.signature(gml.as_curves).parameters
    for field in dataclasses.fields(CurveOptions):
        assert parameters[field.name].default == field.default


@pytest.mark.parametrize(
    ("options", "words"), [({"metric": "w2"}, "'w2'"), ({"ties": "last"}, "'last'"), ({"precision": "bf16"}, "'bf16'")]
)
def test_unknown_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        PairOptions(**options)


def test_options_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PairOptions().metric = "sw"


def test_directions_and_what_is_carried():
    like = torch.zeros(1, dtype=torch.float32)
    assert CurveOptions().directions(3, like) == (None, "points")
    for metric, carry in (("pw", "points"), ("sw", "projections")):
        directions, carried = CurveOptions(metric=metric, n_projections=4, seed=0).directions(3, like)
        assert (tuple(directions.shape), directions.dtype, carried) == ((3, 4), torch.float32, carry)


def test_where_the_result_may_go():
    check_out(np.zeros((2, 3)), (2, 3))
    locked = np.zeros((2, 3))
    locked.flags.writeable = False
    for bad in (np.zeros((3, 2)), np.zeros((2, 3), int), locked, torch.zeros(2, 3)):
        with pytest.raises(ValueError, match=r"out must be a writeable NumPy array .* \(2, 3\)"):
            check_out(bad, (2, 3))


@pytest.fixture
def clouds(rng):
    return [make_cloud(rng, n, 2) for n in (3, 4, 2)]


def test_clouds_become_the_curves_of_as_curves(rng, clouds):
    weights = make_weights(rng, clouds)
    for options in ({}, {"metric": "pw", "projections": rng.normal(size=(2, 5))}, {"ties": "first"}):
        u, v = both_sides(clouds, clouds[:2], PairOptions(weights=weights, **options))
        for got, wanted in (
            (u, gml.as_curves(clouds, weights=weights, **options)),
            (v, gml.as_curves(clouds[:2], **options)),
        ):
            assert torch.equal(got.values, wanted.values)
            assert got.sizes.tolist() == wanted.sizes.tolist()
            assert (got.steps is None) == (wanted.steps is None)


def test_both_sides_get_the_same_drawn_directions(clouds):
    u, v = both_sides(clouds, clouds, PairOptions(metric="sw", seed=None, n_projections=3))
    assert torch.equal(u.values, v.values)


def test_curves_go_through_and_vectors_become_step_functions(clouds):
    curves = gml.as_curves(clouds)
    u, v = both_sides(curves, None, PairOptions())
    assert v is None
    assert torch.equal(u.values, curves.values)
    u, v = both_sides(gml.transport.Vectors(torch.ones(2, 3)), gml.transport.Vectors(torch.ones(4, 3)), PairOptions())
    assert (tuple(u.values.shape), tuple(v.values.shape)) == ((2, 1, 3), (4, 1, 3))
    assert v.sizes.tolist() == [1] * 4


def test_types_are_promoted(clouds):
    u, v = both_sides(clouds, [x.astype(np.float32) for x in clouds], PairOptions())
    assert u.values.dtype == v.values.dtype == torch.float64


def test_the_device_is_chosen_by_the_work(clouds, monkeypatch):
    asked = []
    monkeypatch.setattr(sides, "chosen_device", lambda *args: asked.append(args[-1]) or devices.chosen_device(*args))
    both_sides(clouds, None, PairOptions())
    both_sides(gml.as_curves(clouds), None, PairOptions())
    both_sides(clouds, clouds[:1], PairOptions(metric="sw", n_projections=7))
    assert asked == [3 * 3 * 3.0 * 4] * 2 + [3 * 1 * 3.0 * 7]  # pairs, mean size, numbers per step


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: both_sides(x, None, PairOptions(other_weights=x)), "without others"),
        (lambda x: both_sides(x, gml.as_curves(x), PairOptions()), "curves on both sides or clouds on both sides"),
        (lambda x: both_sides(x, None, PairOptions(ties="optimal")), "pairwise_distances and single pairs only"),
        (lambda x: both_sides(gml.as_curves(x)[:0], None, PairOptions()), "no curves were given"),
        (lambda x: both_sides(x, [np.full((2, 2), np.inf)], PairOptions()), r"others\[0\] holds NaN"),
        (lambda x: both_sides(x, [torch.zeros(2, 2)], PairOptions()), "both be NumPy arrays or both be torch"),
    ],
)
def test_bad_input_gets_one_clear_error(clouds, call, words):
    with pytest.raises(ValueError, match=words):
        call(clouds)


@pytest.mark.parametrize(("metric", "ties"), [("pw", "canonical"), ("sw", "canonical"), ("pw", "optimal")])
def test_all_pairs_far_from_the_origin_keep_their_digits(rng, metric, ties):
    clouds = [rng.normal(size=(n, 3)).astype(np.float32) for n in (5, 8, 6)]
    far = [cloud + np.float32(1e4) for cloud in clouds]
    exact = [cloud.astype(np.float64) - 1e4 for cloud in far]  # what float32 made of them
    options = {"metric": metric, "ties": ties, "n_projections": 20, "seed": 0}
    found, wanted = (gml.pairwise_distances(each, **options) for each in (far, exact))
    np.testing.assert_allclose(found, wanted, atol=1e-5)
