"""Markdown both ways: plain text and tables written as Markdown, and a Markdown document taken apart for a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode
    from markupsafe import Markup

_SPECIAL = re.compile(r"([\\`*_\[\]<|&~])")
_NUMBER_START = tuple("+-0123456789")
_LONGEST_NUMBER = 60  # characters; a column with a longer cell is text, whatever it starts with


def literal(text: str) -> str:
    r"""Plain text, escaped so that Markdown shows it as it is, on one line.

    >>> print(literal("<b> a*b | c"))
    \<b> a\*b \| c
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split("\n")))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of plain text as a Markdown table; columns of numbers are aligned to the right.

    The first row is the head and the first column names the rows.

    >>> print(table([["method", "MUTAG", "features"], ["SGML", "86.3", "degree"]]))
    | method | MUTAG | features |
    |---|---:|---|
    | SGML | 86.3 | degree |
    """
    head, *rest = (f"| {' | '.join(map(literal, row))} |" for row in rows)
    body = list(zip(*rows[1:], strict=True)) or [()] * len(rows[0])
    sides = ["---", *("---:" if _is_numeric(column) else "---" for column in body[1:])]
    return "\n".join([head, f"|{'|'.join(sides)}|", *rest])


def _is_numeric(cells: Sequence[str]) -> bool:
    return any(cell.startswith(_NUMBER_START) for cell in cells) and max(map(len, cells)) <= _LONGEST_NUMBER


def cell_parts(cell: str) -> list[str]:
    """A number with its remarks, split where a line may break: after commas and before brackets.

    >>> cell_parts("85.8 ± 4.7 (2 runs, 1 of 7 settings)")
    ['85.8 ± 4.7', '(2 runs,', '1 of 7 settings)']
    """
    parts = [type(cell)(part) for part in re.split(r"(?<=,) | (?=\()", cell)]
    whole = all(part.count("<") == 2 * part.count("</") for part in parts)  # no HTML element is cut
    return parts if whole else [cell]


@dataclass(frozen=True)
class Prose:
    """Paragraphs, lists or code, as HTML."""

    kind: ClassVar[str] = "prose"
    html: Markup


@dataclass(frozen=True)
class Table:
    """A table whose cells are HTML: `head` [columns], `rows` [rows][columns], and `numeric` [columns]."""

    kind: ClassVar[str] = "table"
    head: list[Markup]
    rows: list[list[Markup]]
    numeric: list[bool]


@dataclass(frozen=True)
class Image:
    """A paragraph that is one image: the address of its file and its description in words."""

    kind: ClassVar[str] = "image"
    source: str
    alt: str


Block = Prose | Table | Image


@dataclass(frozen=True)
class Section:
    """A heading of the second level and what follows it; `name` is where links lead to."""

    name: str
    heading: str
    blocks: list[Block] = field(default_factory=list)


@dataclass(frozen=True)
class Document:
    """A Markdown document: its title (the heading of the first level), what comes first, and its sections."""

    title: str
    lead: list[Block]
    sections: list[Section]


def parse(text: str) -> Document:
    """Takes a Markdown document apart. HTML in it is shown as text, and images within a paragraph as their description.

    >>> document = parse("# Rings & stars\\n\\nTwo kinds.\\n\\n## Result\\n\\n<b>fine</b>")
    >>> document.title, [section.name for section in document.sections]
    ('Rings & stars', ['result'])
    >>> document.sections[0].blocks[0].html
    Markup('<p>&lt;b&gt;fine&lt;/b&gt;</p>\\n')
    """
    from markdown_it import MarkdownIt
    from markdown_it.common.utils import escapeHtml
    from markdown_it.tree import SyntaxTreeNode
    from markupsafe import Markup

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("text", lambda _, tokens, i, options, env: _unbroken(escapeHtml(tokens[i].content)))
    reader.add_render_rule("image", lambda _, tokens, i, options, env: escapeHtml(tokens[i].content))

    def html(node: SyntaxTreeNode) -> Markup:
        return Markup(reader.renderer.render(node.to_tokens(), reader.options, {}))

    def block(node: SyntaxTreeNode) -> Block:
        if node.type == "table":
            head, *rows = ([html(cell.children[0]) for cell in row.children] for row in _rows(node))
            return Table(head, rows, ["right" in str(cell.attrs.get("style")) for cell in _rows(node)[0].children])
        inside = node.children[0].children if node.type == "paragraph" else []
        if len(inside) == 1 and inside[0].type == "image":
            return Image(str(inside[0].attrs["src"]), inside[0].content)
        return Prose(html(node))

    title = ""
    lead: list[Block] = []
    sections: list[Section] = []
    for node in SyntaxTreeNode(reader.parse(text)).children:
        if node.type == "heading" and node.tag in ("h1", "h2"):
            heading = html(node.children[0]).striptags()
            if node.tag == "h1":
                title = heading
            else:
                sections.append(Section(_slug(heading), heading))
        else:
            (sections[-1].blocks if sections else lead).append(block(node))
    return Document(title, lead, sections)


def _unbroken(html: str) -> str:
    """Keeps words like k-NN on one line: a hyphen after a single letter is no place to break.

    >>> _unbroken("k-NN, leave-one-out")
    '<span class="unbroken">k-NN</span>, leave-one-out'
    """
    return re.sub(r"(?<![\w&;-])(\w-\w+)(?![\w-])", r'<span class="unbroken">\1</span>', html)


def _rows(table: SyntaxTreeNode) -> list[SyntaxTreeNode]:
    return [row for part in table.children for row in part.children]


def _slug(heading: str) -> str:
    """A heading as the name of a link.

    >>> _slug("Table 1: discrete node features")
    'table-1-discrete-node-features'
    """
    return "-".join(re.findall(r"\w+", heading.lower()))
