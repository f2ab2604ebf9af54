import re

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from graph_metric_learn.viz.render import data_uri, render_html
from graph_metric_learn_reproduction.experiments.settings import PACKAGE
from graph_metric_learn_reproduction.markdown import (
    Document,
    Image,
    Prose,
    Section,
    Table,
    cell_parts,
    literal,
    parse,
    render_markdown,
    render_sentence,
    table,
)
from page_reader import Page

HOSTILE = "</script><b>bold</b> & \"quoted\" 'text'"

TEXT = """# A & B

First `code`.

## Part one: 1-NN

| name | value | text |
|---|---:|---|
| x, k-NN | 1.5 (2 runs) | say *so* |

![what it shows](figures/a.png)

- one
- two

## Part two

Last ![inside](figures/b.png) paragraph.
"""


def test_a_document_is_taken_apart():
    document = parse(TEXT)
    assert document.title == "A & B"
    assert [block.html for block in document.lead] == ["<p>First <code>code</code>.</p>\n"]
    assert [(section.name, section.heading) for section in document.sections] == [
        ("part-one-1-nn", "Part one: 1-NN"),
        ("part-two", "Part two"),
    ]
    first, picture, items = document.sections[0].blocks
    assert isinstance(first, Table)
    assert first.head == ["name", "value", "text"]
    assert first.numeric == [False, True, False]
    assert first.rows == [['x, <span class="unbroken">k-NN</span>', "1.5 (2 runs)", "say <em>so</em>"]]
    assert picture == Image("figures/a.png", "what it shows")
    assert isinstance(items, Prose)
    assert items.html.count("<li>") == 2


def test_images_within_text_are_shown_as_their_description():
    (last,) = parse(TEXT).sections[1].blocks
    assert last.html == "<p>Last inside paragraph.</p>\n"


@pytest.mark.parametrize(
    "text", ["<b>bold</b>", "</script><script>alert(1)</script>", "<img src=x onerror=y>", "&lt;b>"]
)
def test_html_is_shown_as_text(text):
    blocks = parse(f"{text}\n\n| a |\n|---|\n| {text} |\n").lead
    for html in (blocks[0].html, blocks[1].rows[0][0]):
        assert "<b" not in html
        assert "<script" not in html
        assert "<img" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<b>",
        "a|b",
        "*a* _b_ `c`",
        "[a](http://b)",
        "![a](http://b)",
        "\\|",
        "&lt;",
        "~~a~~",
        "> 1 h (3.2 h)",
        "# a",
        "—",
    ],
)
def test_plain_text_survives_the_way_through_a_table(text):
    (back,) = parse(table([["name", "n"], [text, "1"]])).lead
    assert back.rows[0][0].striptags() == text
    assert back.rows[0][0].unescape() == text  # no element was made of it


def test_escaped_text_stays_on_one_line():
    assert "\n" not in literal("a\nb")


def test_columns_of_numbers_are_aligned_right():
    rows = [
        ["40 models", "value", "limit", "text that starts with a number", "empty", "sign"],
        ["3 models", "1.5", "≤ 3", "21 % " + "of much " * 10, "", "-1.0"],
    ]
    assert table(rows).splitlines()[1] == "|---|---:|---|---|---|---:|"
    assert table([["a", "b"]]) == "| a | b |\n|---|---|"


def test_parts_do_not_cut_elements():
    assert cell_parts("1, <em>a, b</em>") == ["1, <em>a, b</em>"]
    assert cell_parts('1, <span class="unbroken">k-NN</span>') == ["1,", '<span class="unbroken">k-NN</span>']
    assert cell_parts("85.8 ± 4.7") == ["85.8 ± 4.7"]
    markup = parse("| a |\n|---|\n| 1 (&lt;b) |\n").lead[0].rows[0][0]
    assert all(type(part) is type(markup) for part in cell_parts(markup))  # or it would be escaped twice


def page(*blocks, heading="Result", **images):
    document = Document("ignored", [Prose(Markup("<p>lead</p>"))], [Section("result", heading, list(blocks))])
    return render_html("document.html", PACKAGE, title=HOSTILE, document=document, images=images, cell_parts=cell_parts)


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


def test_a_missing_value_is_an_error():
    with pytest.raises(UndefinedError, match="n_measured"):
        render_markdown(PACKAGE, "sgml.md")


def test_sentences_are_one_line():
    values = {"n_measured": 2, "n_tasks": 11, "mean": "+1.0", "median": "+0.5", "below": ["a", "b"]}
    assert render_sentence(PACKAGE, "sgml.md", **values) == (
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
    assert render_markdown(PACKAGE, "summary.md", **values) == "| a |\n|---|\n\nSGML: first\n\nlast\n"
