import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

import graph_metric_learn as gml
from graph_metric_learn.cli import main, parser


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


@pytest.mark.parametrize("command", ["reproduce", "bench"])
@pytest.mark.parametrize("arguments", [[], ["--help"], ["table1", "--runs", "3"], ["--quick", "transport"]])
def test_commands_that_are_not_installed_say_what_to_install(command, arguments, monkeypatch, capsys):
    monkeypatch.setattr(parser, "entry_points", lambda **_: ())
    assert main([command, *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"graph-metric-learn {command}: this command comes with another distribution: install ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("installed", [True, False])
def test_help_lists_all_commands(installed, monkeypatch, capsys):
    if not installed:
        monkeypatch.setattr(parser, "entry_points", lambda **_: ())
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    said = capsys.readouterr().out
    for command in (*parser.COMMANDS, *parser.ELSEWHERE):
        assert f"\n    {command}" in said


def test_a_distribution_whose_files_are_gone_breaks_no_other_command(monkeypatch, capsys):
    gone = EntryPoint("bench", "a_package_that_is_gone.command", "graph_metric_learn.commands")
    monkeypatch.setattr(parser, "entry_points", lambda **_: (gone,))
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert main(["bench", "transport"]) == 2
    assert "install graph-metric-learn-benchmarks" in capsys.readouterr().err
