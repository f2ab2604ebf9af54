import importlib
import json

import pytest

from graph_metric_learn.cli import main


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("transport", {"quick": True}),
        ("training", {"quick": True, "root": None}),
        ("gpu", {"quick": True, "root": None}),
        ("scale", {"quick": True, "root": None, "molecules": None}),
    ],
)
def test_the_bench_writes_numbers_and_a_picture_once(tmp_path, capsys, monkeypatch, what, options):
    module = importlib.import_module(f"graph_metric_learn_benchmarks.{what}")
    asked = []

    def run(**options):
        asked.append(options)
        report = module.Report(what)
        report.target("speed", 2.0, 1.0, at_most=False)
        return report

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "draw", lambda report: b"a picture of " + report.name.encode())
    out = tmp_path / "bench"
    assert main(["bench", what, "--quick", "--out", str(out)]) == 0
    report = json.loads((out / f"{what}.json").read_text())
    assert report["targets"][0]["met"] is True
    assert (out / f"{what}.png").read_bytes() == b"a picture of " + what.encode()
    assert main(["bench", what, "--quick", "--out", str(out)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["bench", what, "--quick", "--out", str(out), "--overwrite"]) == 0
    assert asked == [options] * 2
