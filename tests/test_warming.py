import os
import subprocess
import sys

import pytest

import graph_metric_learn as gml
from graph_metric_learn import warming
from graph_metric_learn.features import propagation
from graph_metric_learn.linalg import multiset_changes
from graph_metric_learn.transport.kernels import walks


def test_loops_are_compiled_afterwards():
    assert gml.warm_up() >= 0
    assert propagation._mix.signatures
    assert walks.small_pair.signatures
    assert multiset_changes._add_slopes.signatures


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_another_process_fills_the_cache_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    helper = warming._helper()
    assert helper.wait() == 0
    assert list(tmp_path.rglob("*train_steps*.nbc"))


def test_it_may_be_called_by_a_script_without_a_guard(tmp_path):
    """A process started as multiprocessing does would run the script again."""
    script = tmp_path / "script.py"
    script.write_text("import graph_metric_learn as gml\nprint('once')\ngml.warm_up()\n")
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert ran.stdout.count("once") == 1
