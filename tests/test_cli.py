import json
import subprocess
import sys

import pytest

from graph_metric_learn.cli import main


def test_the_bench_writes_numbers_and_a_picture_once(tmp_path, capsys):
    out = tmp_path / "bench"
    assert main(["bench", "transport", "--quick", "--out", str(out)]) == 0
    report = json.loads((out / "transport.json").read_text())
    assert report["numbers"]["quick"] is True
    assert {t["met"] for t in report["targets"]} <= {True, False}
    assert set(report["numbers"]["figure"]) >= {"RPW2", "SW2 (POT)", "W2 (POT)"}
    assert (out / "transport.png").read_bytes().startswith(b"\x89PNG")
    assert main(["bench", "transport", "--quick", "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_bad_commands_exit_with_one_clear_line():
    with pytest.raises(SystemExit) as stopped:
        main(["nonsense"])
    assert stopped.value.code == 2


def test_help_imports_nothing_heavy():
    code = "import sys; from graph_metric_learn.cli import _parser; _parser().format_help();"
    code += "assert not {'torch', 'numpy', 'numba'} & set(sys.modules), 'heavy import'"
    subprocess.run([sys.executable, "-c", code], check=True)
