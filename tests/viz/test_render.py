from importlib.resources import files

import pytest
from jinja2 import UndefinedError

from graph_metric_learn.viz.demo.page import GraphDrawing
from graph_metric_learn.viz.render import html_environment, percent, render_html
from page_reader import Page

HOSTILE = "</script><b>bold</b> & \"quoted\" 'text'"
PIECES = """{% import "pieces.html" as pieces %}
{{ pieces.bars([(text, 0.5, true)]) }}{{ pieces.facts([(text, text)]) }}{{ pieces.share_bar(text, 0.25) }}
{{ pieces.graph(drawing) }}
{% call pieces.section('s', text) %}{% call pieces.figure(text) %}{% endcall %}{% endcall %}"""


def test_style_sheets_fetch_nothing_and_stay_inside_their_element():
    for name in ("page.css", "pieces.css", "drawings.css"):
        text = files("graph_metric_learn.viz").joinpath("static", name).read_text(encoding="utf-8")
        assert text.count("{") == text.count("}") > 0
        assert "url(" not in text
        assert "@import" not in text
        assert "</style" not in text


def test_bars_facts_and_drawings_escape_names():
    drawing = GraphDrawing("M0 0L1 1", [(0, 0, 1.0)], HOSTILE)
    source = html_environment().from_string(PIECES).render(text=HOSTILE, drawing=drawing)
    read = Page(source)
    assert read.text.count(HOSTILE) == 6
    assert [drawing["aria-label"] for drawing in read.drawings] == [HOSTILE]
    assert "width:50.0%" in source
    assert "25.0 %" in read.text
    assert "b" not in read.tags


def test_a_missing_value_is_an_error():
    with pytest.raises(UndefinedError, match="'policy' is undefined"):
        render_html("explorer.html")


def test_percent_rounds():
    assert percent(0.1266, 1) == "12.7 %"
    assert percent(1) == "100 %"
