from graph_metric_learn import warming
from graph_metric_learn.cli.entry import main


def test_it_says_how_long_it_took(capsys, monkeypatch):
    monkeypatch.setattr(warming, "warm_up", lambda: 1.25)
    assert main(["warm-up"]) == 0
    assert "in 1.2 s" in capsys.readouterr().out
