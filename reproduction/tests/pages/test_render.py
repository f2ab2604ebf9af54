import re

import pytest
from jinja2 import UndefinedError

from graph_metric_learn.viz.render import data_uri
from graph_metric_learn_reproduction.pages.markdown import literal, table
from graph_metric_learn_reproduction.pages.render import render_markdown, render_page, render_sentence
from page_reader import Page

HOSTILE = "</script><b>bold</b> & \"quoted\" 'text'"


def page(*blocks, heading="Result", images=None):
    """The page of a document whose section has these blocks of Markdown."""
    text = "\n\n".join(["# ignored", "lead", f"## {heading}", *blocks])
    return render_page(HOSTILE, text, images or {})


def test_a_page_is_one_file_light_and_dark():
    source = page("![a plot](figures/a.png)", images={"figures/a.png": b"\x89PNG"})
    read = Page(source)
    read.assert_fetches_nothing()
    assert [image["src"] for image in read.images] == [data_uri(b"\x89PNG")]
    assert [image["alt"] for image in read.images] == ["a plot"]
    assert "prefers-color-scheme: dark" in source
    assert "lead" in read.text
    assert read.links[0] == "#result"  # in the list of sections


def test_values_are_escaped():
    read = Page(page(f"![{literal(HOSTILE)}](a)", heading=literal(HOSTILE), images={"a": b""}))
    assert read.text.count(HOSTILE) == 4  # title, heading of the page, link, heading of the section
    assert read.images[0]["alt"] == literal(HOSTILE)
    assert "b" not in read.tags


def test_number_columns_break_only_between_parts():
    rows = [["", "a (b)", "text"], ["— published", "1.0", "short"], ["name", "1.0 ± 2.0 (3 runs)", "long " * 20]]
    source = page(table(rows))
    Page(source)
    assert '<th class="number parts"><span>a</span> <span>(b)</span></th>' in source
    assert '<td class="number parts"><span>1.0 ± 2.0</span> <span>(3 runs)</span></td>' in source
    assert '<td class="long">long long' in source
    assert source.count('<tr class="published">') == 1
    style = re.search("<style>.*?</style>", source, flags=re.DOTALL).group()
    assert re.search(r"\.number \{[^}]*nowrap", style)
    assert not re.search(r"(?:^|\s)td(?:, th)? \{[^}]*nowrap", style)


def test_a_missing_value_is_an_error():
    with pytest.raises(UndefinedError, match="n_measured"):
        render_markdown("sgml.md")


def test_sentences_are_one_line():
    values = {"n_measured": 2, "n_tasks": 11, "mean": "+1.0", "median": "+0.5", "below": ["a", "b"]}
    assert render_sentence("sgml.md", **values) == (
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
    assert render_markdown("summary.md", **values) == "| a |\n|---|\n\nSGML: first\n\nlast\n"
