import threading

import numpy as np

from graph_metric_learn._core.compiled import parallel, prange


@parallel
def double(values, out):
    """Twice the values."""
    for i in prange(len(values)):
        out[i] = 2.0 * values[i]


def test_with_and_without_threads_the_loop_is_the_same(rng):
    values = rng.normal(size=1000)
    for threads in (True, False):
        out = np.empty(1000)
        double(values, out, threads=threads)
        np.testing.assert_array_equal(out, 2 * values)
    assert double.__doc__ == "Twice the values."


def test_several_python_threads_may_call_it(rng):
    values = rng.normal(size=(8, 1000))
    out = np.empty_like(values)
    workers = [threading.Thread(target=double, args=(values[i], out[i])) for i in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    np.testing.assert_array_equal(out, 2 * values)
