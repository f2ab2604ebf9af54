from graph_metric_learn.cli import main
from graph_metric_learn.viz.demo import run_demo


def test_the_demo_writes_where_it_is_told_and_replaces_what_is_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(run_demo.__kwdefaults__, "max_graphs", 120)
    monkeypatch.setitem(run_demo.__kwdefaults__, "explanations", 4)
    (tmp_path / "index.html").write_text("old")
    assert main(["demo", "--out", str(tmp_path), "--quiet"]) == 0
    assert f"open {tmp_path / 'index.html'}" in capsys.readouterr().out
    assert "digits.html" in (tmp_path / "index.html").read_text(encoding="utf-8")
