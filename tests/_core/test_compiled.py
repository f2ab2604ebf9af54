import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numba import TypingError

import graph_metric_learn as gml
from graph_metric_learn._core import compiled
from graph_metric_learn._core.compiled import parallel, prange, share_of, shared


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


@parallel
def _doubled(values, out):
    for i in prange(len(values)):
        out[i] = 2 * values[i]


def test_both_forms_have_a_name_in_the_cache():
    """numba's cache goes by the name alone: with one name, the form with threads was loaded in place of the other."""
    names = {c.cell_contents.py_func.__qualname__ for c in _doubled.__closure__ if hasattr(c.cell_contents, "py_func")}
    assert names == {"_doubled_one_thread", "_doubled_threads"}


@shared
def shared_double(part, parts, values, out):
    for i in share_of(len(values), part, parts):
        out[i] = 2.0 * values[i]
    return part


@pytest.mark.parametrize("count", [0, 1, 7, 1000])
@pytest.mark.parametrize("parts", [1, 3, 16])
def test_parts_have_each_round_once(count, parts):
    rounds = [i for part in range(parts) for i in share_of.py_func(count, part, parts)]
    assert rounds == list(range(count))


def test_what_parts_return_comes_in_their_order(monkeypatch):
    monkeypatch.setattr(compiled, "thread_count", lambda: 3)
    found = shared_double(np.zeros(100), np.zeros(100))
    assert found == list(range(len(found)))
    assert len(found) > 3
    assert shared_double(np.zeros(100), np.zeros(100), threads=False) == [0]


def test_a_loop_that_fails_says_so(monkeypatch):
    """Also where a helping thread meets the error."""
    monkeypatch.setattr(compiled, "thread_count", lambda: 2)
    with pytest.raises(TypingError):
        shared_double(1.0, np.zeros(3))
    out = np.zeros(3)
    shared_double(np.ones(3), out)
    assert (out == 2).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_uses_no_threads():
    values, out, out2 = np.arange(8.0), np.zeros(8), np.zeros(8)
    _doubled(values, out)
    shared_double(values, out2)
    child = os.fork()
    if child == 0:
        out[:] = out2[:] = 0
        _doubled(values, out)
        parts = shared_double(values, out2)
        right = (out == 2 * values).all() and (out2 == 2 * values).all()
        os._exit(0 if compiled._forked and parts == [0] and right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not compiled._forked


def test_without_a_home_and_beside_a_package_that_cannot_be_written(tmp_path):
    """As in a container: the package is read-only, there is no home, and there may be no temporary folder."""
    package = tmp_path / "site" / "graph_metric_learn"
    shutil.copytree(Path(gml.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import warnings; warnings.simplefilter('error', RuntimeWarning)\n"
        "from numba.core import caching\n"
        "def refuse(self): raise OSError('read-only')\n"
        "for name, kind in vars(caching).items():\n"
        "    if 'InTree' in name or 'UserWide' in name: kind.ensure_cache_path = refuse\n"
        "import numpy as np, graph_metric_learn as gml\n"
        "print(gml.__file__, gml.rpw_distance(np.eye(3), np.ones((2, 3))))\n"
    )
    for place in (tmp_path / "tmp", tmp_path / "none"):
        if place.name == "tmp":
            place.mkdir()
        environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
        environment |= {"PYTHONPATH": str(package.parent), "TMPDIR": str(place), "HOME": "/nonexistent"}
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        assert str(package) in ran.stdout
        assert ran.stderr.count("compiled loops cannot be kept") == 1
    assert any((tmp_path / "tmp").rglob("*.nbc"))
