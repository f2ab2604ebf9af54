import numpy as np
import pytest
import torch

from graph_metric_learn.transport.directions import check_projections, near_origin, project, sphere
from graph_metric_learn.transport.measures import as_measures


def test_directions_are_uniform_on_the_sphere():
    drawn = sphere(3, 20_000, seed=0)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=0), 1)
    np.testing.assert_allclose(drawn @ drawn.T / 20_000, np.eye(3) / 3, atol=0.01)


def test_a_seed_fixes_them_and_none_does_not():
    np.testing.assert_array_equal(sphere(4, 5, seed=1), sphere(4, 5, seed=1))
    assert not np.array_equal(sphere(4, 5), sphere(4, 5))


def test_projection_of_a_row_does_not_depend_on_its_place(rng):
    x, directions = torch.from_numpy(rng.normal(size=(37, 7))), torch.from_numpy(sphere(7, 11, seed=0))
    perm = torch.from_numpy(rng.permutation(37))
    assert torch.equal(project(x, directions)[perm], project(x[perm], directions))
    torch.testing.assert_close(project(x, directions), x @ directions)


@pytest.mark.parametrize("bad", [np.eye(3), np.ones(2), np.empty((2, 0)), np.full((2, 1), np.nan)])
def test_bad_projections(bad):
    with pytest.raises(ValueError, match="projections"):
        check_projections(bad, 2, torch.zeros(1))


@pytest.mark.parametrize("bad", [0, -1, 2.5])
def test_bad_count(bad):
    with pytest.raises(ValueError, match="n_projections"):
        sphere(2, bad)


def test_clouds_far_from_the_origin_are_moved_by_one_shift(rng):
    x, y = rng.normal(size=(9, 3)), rng.normal(size=(5, 3))
    far = [as_measures([points + np.array([1e6, 0.0, -3.0])]) for points in (x, y)]
    one, other = (side.points.numpy() for side in near_origin(*far))
    assert np.abs(one).max() < 10
    np.testing.assert_allclose(one[:5] - other, x[:5] - y, atol=1e-8)
    kept = [as_measures([points]) for points in (x, y + 100)]
    assert all(one is other for one, other in zip(kept, near_origin(*kept), strict=True))


def test_the_shift_has_no_gradient(rng):
    points = (torch.from_numpy(rng.normal(size=(6, 2))) + 1e7).requires_grad_()
    (moved,) = near_origin(as_measures([points]))
    moved.points.sum().backward()
    assert torch.equal(points.grad, torch.ones_like(points))
