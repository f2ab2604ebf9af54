import pytest

from graph_metric_learn._core import progress
from graph_metric_learn._core.progress import progress_bar


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_a_bar_is_shown_when_asked_for(progress, shown, capsys):
    """Without a word from the caller only on a terminal, which this is not."""
    with progress_bar(progress, "work", total=3, unit="step") as bar:
        for _ in range(3):
            bar.update()
    assert ("work: 100%" in capsys.readouterr().err) == shown


def test_no_bars_hides_those_that_nobody_asked_for(monkeypatch):
    shown = []
    monkeypatch.setattr(progress, "tqdm", lambda **options: shown.append(options["disable"]))
    with progress.no_bars():
        for asked in (None, True, False):
            progress_bar(asked, total=3, unit="step")
    progress_bar(None, total=3, unit="step")
    assert shown == [True, False, True, None]
