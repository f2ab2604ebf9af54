import subprocess
import sys

import pytest

import graph_metric_learn as gml


def test_they_are_those_of_the_reproduction():
    reproduction = pytest.importorskip("graph_metric_learn_reproduction.baselines")
    from graph_metric_learn.baselines import BASELINES, WWL

    assert gml.baselines.BASELINES is BASELINES is reproduction.BASELINES
    assert WWL is reproduction.WWL
    assert gml.baselines.__all__ == reproduction.__all__
    assert "baselines" in dir(gml)


def test_without_the_reproduction_it_is_said_what_to_install():
    code = """
import sys
sys.modules["graph_metric_learn_reproduction"] = None  # as where it is not installed
import inspect
import graph_metric_learn as gml
assert "baselines" not in [name for name, _ in inspect.getmembers(gml)]
from graph_metric_learn import *
for work in (lambda: gml.baselines, lambda: __import__("graph_metric_learn.baselines")):
    try:
        work()
    except ImportError as error:
        assert "pip install graph-metric-learn-reproduction" in str(error)
    else:
        raise AssertionError("no error")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
