from dataclasses import replace

import numpy as np
import pytest
import torch

from graph_metric_learn.index import verification
from graph_metric_learn.index.rows import Axes, Batch, State, appended
from graph_metric_learn.index.search import curve_arrays
from graph_metric_learn.index.verification import check_arrays
from graph_metric_learn.transport import Curves, curve_vectors
from vector_oracle import decaying, state_of


def with_array(state, name, row, value):
    """The state with another number in a row of an array."""
    array = state.arrays[name].copy()
    array[(row, *(0,) * (array.ndim - 1))] = value
    return replace(state, arrays={**state.arrays, name: array})


@pytest.fixture(params=[3, 20, 60])
def state(request, rng, monkeypatch):
    """Vectors far from 0, some rows at a time."""
    monkeypatch.setattr(verification, "_ROWS", 30)
    return state_of(decaying(rng, 100, request.param) + np.float32(100))


@pytest.fixture(params=[False, True], ids=["equal", "unequal"])
def of_curves(request, rng):
    sizes = rng.integers(1, 5, 40)
    steps = np.concatenate([rng.dirichlet(np.ones(n), 2).T for n in sizes]) if request.param else None
    values = torch.from_numpy(rng.normal(size=(sizes.sum(), 2, 3)).astype(np.float32))
    curves = Curves(values, sizes, None if steps is None else torch.from_numpy(steps), True)
    vectors = np.asarray(curve_vectors(curves, 4), dtype=np.float32)
    return appended(State(), Batch(vectors, list(range(40)), None, curve_arrays(curves)))


def test_what_was_written_is_sound(state, of_curves):
    check_arrays(State())
    check_arrays(state)
    check_arrays(of_curves)
    check_arrays(state_of(decaying(np.random.default_rng(0), 50, 8) * np.float32(1e15)))


@pytest.mark.parametrize("name", ["coarse", "fine"])
@pytest.mark.parametrize("share", [1e-4, -1.0])
def test_coordinates_are_those_of_the_vectors(state, name, share):
    if not state.arrays[name].shape[1]:
        pytest.skip("there are only coarse coordinates")
    size = np.linalg.norm(state.arrays["coarse"][77])
    with pytest.raises(ValueError, match=f"{name} of row 77 is not that of its vector along the axes"):
        check_arrays(with_array(state, name, 77, state.arrays[name][77, 0] + share * size))


def test_axes_that_were_changed(state):
    axes = state.axes
    for directions in (axes.directions * 1.001, np.zeros_like(axes.directions)):
        with pytest.raises(ValueError, match="axes are not orthonormal"):
            check_arrays(replace(state, axes=Axes(axes.centre, directions, axes.fitted_to)))
    for centre, directions in ((axes.centre + 1, axes.directions), (axes.centre, -axes.directions)):
        with pytest.raises(ValueError, match="coarse of row 0"):
            check_arrays(replace(state, axes=Axes(centre, directions, axes.fitted_to)))


def test_vectors_are_averages_of_the_curves(of_curves):
    curve = int(of_curves.arrays["curve_ends"][6])
    with pytest.raises(ValueError, match="vectors of row 7 are not the averages of its curve"):
        check_arrays(with_array(of_curves, "curves", curve, 5.0))
    if "steps" in of_curves.arrays:
        with pytest.raises(ValueError, match="curves do not make sense: the steps of curve 7 add up to 5"):
            check_arrays(with_array(of_curves, "steps", curve, 5.0))
    arrays = {**of_curves.arrays, "curves": of_curves.arrays["curves"][:, :, :1].repeat(5, 2)}
    with pytest.raises(ValueError, match="of width 24 are no averages of curves"):
        check_arrays(replace(of_curves, arrays=arrays))
