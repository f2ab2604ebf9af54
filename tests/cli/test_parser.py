import subprocess
import sys

import pytest

import graph_metric_learn as gml
from graph_metric_learn.cli import main


def test_the_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"graph-metric-learn {gml.__version__}\n"


def test_unknown_commands_exit_with_a_code():
    with pytest.raises(SystemExit) as stopped:
        main(["nonsense"])
    assert stopped.value.code == 2


def test_help_imports_nothing_heavy():
    code = "import sys; from graph_metric_learn.cli.parser import command_parser; command_parser().format_help();"
    code += "assert not {'torch', 'numpy', 'numba', 'sklearn'} & set(sys.modules), 'heavy import'"
    subprocess.run([sys.executable, "-c", code], check=True)
