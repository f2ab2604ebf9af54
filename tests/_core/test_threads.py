import pytest

from graph_metric_learn._core.threads import one_thread_for_products


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
