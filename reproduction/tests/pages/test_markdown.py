import pytest

from graph_metric_learn_reproduction.pages.markdown import Image, Prose, Table, cell_parts, literal, parse, table

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
