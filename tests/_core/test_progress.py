import io

import pytest

from graph_metric_learn._core.progress import no_bars, progress_bar


@pytest.mark.parametrize(("progress", "shown"), [(True, True), (False, False), (None, False)])
def test_a_bar_is_shown_when_asked_for(progress, shown, capsys):
    """Without a word from the caller only on a terminal, which this is not."""
    with progress_bar(progress, "work", total=3, unit="step") as bar:
        for _ in range(3):
            bar.update()
    assert ("work: 100%" in capsys.readouterr().err) == shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_no_bars_hides_those_that_nobody_asked_for():
    def shown(asked):
        with progress_bar(asked, total=3, unit="step", file=Terminal()) as bar:
            return not bar.disable

    with no_bars():
        assert [shown(asked) for asked in (None, True, False)] == [False, True, False]
    assert shown(None)
