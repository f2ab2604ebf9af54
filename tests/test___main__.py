import subprocess
import sys

import graph_metric_learn as gml


def test_the_package_is_a_command():
    command = [sys.executable, "-m", "graph_metric_learn", "--version"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said == f"graph-metric-learn {gml.__version__}\n"
