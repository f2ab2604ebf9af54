import re
from importlib.resources import files
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from graph_metric_learn.viz import render
from graph_metric_learn.viz.drawings import GraphDrawing
from graph_metric_learn.viz.markdown import Document, Image, Prose, Section, Table
from graph_metric_learn.viz.render import data_uri, percent, render_html, render_markdown, render_sentence
from page_reader import Page

HOSTILE = "</script><b>bold</b> & \"quoted\" 'text'"
EXPERIMENTS = "graph_metric_learn_reproduction.experiments"


def page(*blocks, heading="Result", **images):
    document = Document("ignored", [Prose(Markup("<p>lead</p>"))], [Section("result", heading, list(blocks))])
    return render_html("document.html", title=HOSTILE, document=document, images=images)


def test_package_data_has_templates_and_style_sheets():
    here = files("graph_metric_learn.viz")
    for name in ("templates/base.html", "templates/pieces.html", "templates/demo.html", "templates/document.html"):
        assert here.joinpath(name).read_text(encoding="utf-8").strip()
    for name in ("page.css", "pieces.css", "drawings.css"):
        text = here.joinpath("static", name).read_text(encoding="utf-8")
        assert text.count("{") == text.count("}") > 0
        assert "url(" not in text
        assert "@import" not in text
        assert "</style" not in text


def test_package_data_is_declared():
    tomllib = pytest.importorskip("tomllib")  # Python 3.11
    root = Path(__file__).parents[2]
    data = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    for package, folders in (("report", ("templates", "static")), ("experiments", ("prose",))):
        folder = root / "src" / "graph_metric_learn" / package
        declared = {path for pattern in data[f"graph_metric_learn.{package}"] for path in folder.glob(pattern)}
        assert declared >= {path for name in folders for path in (folder / name).iterdir()}


def test_a_page_is_one_file_light_and_dark():
    source = page(Image("figures/a.png", "a plot"), **{"figures/a.png": b"\x89PNG"})
    read = Page(source)
    read.assert_fetches_nothing()
    assert [image["src"] for image in read.images] == [data_uri(b"\x89PNG")]
    assert [image["alt"] for image in read.images] == ["a plot"]
    assert "prefers-color-scheme: dark" in source
    assert "lead" in read.text
    assert read.links[0] == "#result"  # in the list of sections


def test_values_are_escaped():
    read = Page(page(Image("a", HOSTILE), heading=HOSTILE, a=b""))
    assert read.text.count(HOSTILE) == 4  # title, heading of the page, link, heading of the section
    assert read.images[0]["alt"] == HOSTILE
    assert "b" not in read.tags


def test_number_columns_break_only_between_parts():
    table = Table([Markup(""), Markup("a (b)"), Markup("text")], [[Markup("— published")] * 3], [False, True, False])
    table.rows.append([Markup("name"), Markup("1.0 ± 2.0 (3 runs)"), Markup("long " * 20)])
    source = page(table)
    Page(source)
    assert '<th class="number parts"><span>a</span> <span>(b)</span></th>' in source
    assert '<td class="number parts"><span>1.0 ± 2.0</span> <span>(3 runs)</span></td>' in source
    assert '<td class="long">long long' in source
    assert source.count('<tr class="published">') == 1
    style = re.search("<style>.*?</style>", source, flags=re.S).group()
    assert re.search(r"\.number \{[^}]*nowrap", style)
    assert not re.search(r"(?:^|\s)td(?:, th)? \{[^}]*nowrap", style)


def test_bars_facts_and_drawings_escape_names():
    pieces = (
        '{% import "pieces.html" as pieces %}'
        "{{ pieces.bars([(text, 0.5, true)]) }}{{ pieces.facts([(text, text)]) }}{{ pieces.share_bar(text, 0.25) }}"
        "{{ pieces.graph(drawing) }}"
        "{% call pieces.section('s', text) %}{% call pieces.figure(text) %}{% endcall %}{% endcall %}"
    )
    environment = render._environment(render.PACKAGE, "templates", autoescape=True)
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
    with pytest.raises(UndefinedError, match="n_measured"):
        render_markdown(EXPERIMENTS, "sgml.md")


def test_sentences_are_one_line():
    values = {"n_measured": 2, "n_tasks": 11, "mean": "+1.0", "median": "+0.5", "below": ["a", "b"]}
    assert render_sentence(EXPERIMENTS, "sgml.md", **values) == (
        "k-NN, 2 of 11 cells measured: on average +1.0 points against the paper, the median +0.5. "
        "Below the paper by more than its own standard deviation: a, b."
    )


def test_markdown_ends_in_one_newline_without_gaps():
    values = {
        "accuracies": [["a"]],
        "sgml_judgement": "first",
        "graph_metric_judgement": "\n\nlast\n\n",
        "edge_judgement": "",
        "outlook_judgement": "",
        "unlabelled_judgement": "",
    }
    assert render_markdown(EXPERIMENTS, "summary.md", **values) == "| a |\n|---|\n\nSGML: first\n\nlast\n"


def test_percent_rounds():
    assert percent(0.1266, 1) == "12.7 %"
    assert percent(1) == "100 %"
