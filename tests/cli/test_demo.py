from pathlib import Path

from graph_metric_learn.cli import main


def test_the_demo_writes_where_it_is_told(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("graph_metric_learn.viz.demo.run_demo", lambda out, **options: asked.append((out, options)))
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert main(["demo"]) == 0
    assert asked == [(tmp_path, {"overwrite": True}), (Path("demo-report"), {"overwrite": True})]
