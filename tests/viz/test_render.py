from importlib.resources import files

import pytest
from jinja2 import UndefinedError

from graph_metric_learn.viz.drawings import GraphDrawing
from graph_metric_learn.viz.render import html_templates, percent, render_html
from page_reader import Page

HOSTILE = "</script><b>bold</b> & \"quoted\" 'text'"


def test_package_data_has_templates_and_style_sheets():
    here = files("graph_metric_learn.viz")
    for name in ("templates/base.html", "templates/pieces.html", "templates/demo.html"):
        assert here.joinpath(name).read_text(encoding="utf-8").strip()
    for name in ("page.css", "pieces.css", "drawings.css"):
        text = here.joinpath("static", name).read_text(encoding="utf-8")
        assert text.count("{") == text.count("}") > 0
        assert "url(" not in text
        assert "@import" not in text
        assert "</style" not in text


def test_bars_facts_and_drawings_escape_names():
    pieces = (
        '{% import "pieces.html" as pieces %}'
        "{{ pieces.bars([(text, 0.5, true)]) }}{{ pieces.facts([(text, text)]) }}{{ pieces.share_bar(text, 0.25) }}"
        "{{ pieces.graph(drawing) }}"
        "{% call pieces.section('s', text) %}{% call pieces.figure(text) %}{% endcall %}{% endcall %}"
    )
    environment = html_templates()
    source = environment.from_string(pieces).render(
        text=HOSTILE, drawing=GraphDrawing("M0 0L1 1", [(0, 0, 1.0)], HOSTILE)
    )
    read = Page(source)
    assert read.text.count(HOSTILE) == 6
    assert [drawing["aria-label"] for drawing in read.drawings] == [HOSTILE]
    assert "width:50.0%" in source
    assert "25.0 %" in read.text
    assert "b" not in read.tags


def test_a_missing_value_is_an_error():
    with pytest.raises(UndefinedError):
        render_html("demo.html")


def test_percent_rounds():
    assert percent(0.1266, 1) == "12.7 %"
    assert percent(1) == "100 %"
