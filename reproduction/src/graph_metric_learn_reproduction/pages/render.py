"""Renders prose to Markdown, and a Markdown document to a self-contained HTML page.

HTML templates escape every value; Markdown templates do not, because :mod:`.markdown` escapes their text when it
becomes HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from graph_metric_learn.viz.render import html_environment

from .markdown import cell_parts, literal, parse, table

_PACKAGE = "graph_metric_learn_reproduction.pages"


def render_markdown(template: str, **values: Any) -> str:
    """Markdown from a template in the folder `prose`.

    Templates have two filters: `table` writes rows of plain text as a Markdown table, `literal` escapes plain text so
    that Markdown shows it as it is.
    """
    text = _prose().get_template(template).render(values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"  # parts left out leave empty lines


def render_sentence(template: str, **values: Any) -> str:
    """One paragraph of Markdown as a single line, from a template whose lines are wrapped."""
    return " ".join(render_markdown(template, **values).split())


def render_page(title: str, text: str, images: Mapping[str, bytes]) -> str:
    """A Markdown document as one HTML file; `images` has the PNG of each of its images by address."""
    templates = html_environment(_PACKAGE)
    templates.filters["cell_parts"] = cell_parts
    return templates.get_template("document.html").render(title=title, document=parse(text), images=images)


@cache
def _prose() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE, "prose"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"literal": literal, "table": table}
    return environment
