import dataclasses
import inspect

import numpy as np
import pytest
import torch

import graph_metric_learn as gml
from graph_metric_learn.transport.options import CurveOptions, PairOptions, check_out


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
    ("options", "words"),
    [({"metric": "w2"}, "'w2'"), ({"ties": "last"}, "'last'"), ({"precision": "bf16"}, "'bf16'")],
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
