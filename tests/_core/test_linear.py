import numpy as np
import pytest

from graph_metric_learn._core.linear import one_thread_for_products, principal_axes, principal_components


def test_axes_are_those_of_the_singular_value_decomposition(rng):
    points = rng.normal(size=(30, 4)) * [1, 9, 3, 5]
    centred = points - points.mean(0)
    scatter, axes = principal_axes(centred.T @ centred)
    _, lengths, rows = np.linalg.svd(centred)
    np.testing.assert_allclose(scatter, lengths**2, rtol=1e-6)
    np.testing.assert_allclose(np.abs(rows @ axes), np.eye(4), atol=1e-6)


def test_components_are_the_axes_of_largest_scatter(rng):
    centred = (rng.normal(size=(200, 120)) * np.linspace(9, 1, 120)).astype(np.float32)
    basis = principal_components(centred)
    assert basis.shape == (120, 96)
    _, _, rows = np.linalg.svd(centred.astype(float))
    np.testing.assert_allclose(np.abs(np.sum(rows[:5].T * basis[:, :5], axis=0)), 1, atol=1e-2)


def test_products_have_one_thread_inside_and_theirs_again_after(blas_threads):
    with one_thread_for_products(), one_thread_for_products():
        assert blas_threads() == {1}
    assert blas_threads() == {3}
    one, other = one_thread_for_products(), one_thread_for_products()
    one.__enter__()
    other.__enter__()  # as another thread of Python may
    one.__exit__(None, None, None)
    assert blas_threads() == {1}
    other.__exit__(None, None, None)
    assert blas_threads() == {3}
    with pytest.raises(ZeroDivisionError), one_thread_for_products():
        1 / 0  # noqa: B018
    assert blas_threads() == {3}
