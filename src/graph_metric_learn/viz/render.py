"""Renders jinja2 templates: self-contained HTML pages, and Markdown prose of any package.

An HTML page is one file: style sheets and images stand inside it, it has no script and fetches nothing. HTML templates
escape every value; Markdown templates do not, because :mod:`.markdown` escapes their text when it becomes HTML.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from .markdown import cell_parts, literal, table

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PACKAGE = "graph_metric_learn.viz"


def render_html(template: str, **values: Any) -> str:
    """A page from a template of this package.

    Parameters
    ----------
    template : str
        A file in `report/templates`, such as "demo.html".
    **values
        What the template calls for; a missing one is an error.
    """
    return _environment(PACKAGE, "templates", autoescape=True).get_template(template).render(values)


def render_markdown(package: str, template: str, **values: Any) -> str:
    """Markdown from a template in the folder `prose` of a package.

    Templates have two filters: `table` writes rows of plain text as a Markdown table, `literal` escapes plain text so
    that Markdown shows it as it is.
    """
    text = _environment(package, "prose", autoescape=False).get_template(template).render(values)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"  # parts left out leave empty lines


def render_sentence(package: str, template: str, **values: Any) -> str:
    """One paragraph of Markdown as a single line, from a template whose lines are wrapped."""
    return " ".join(render_markdown(package, template, **values).split())


@cache
def _environment(package: str, folder: str, *, autoescape: bool) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package, folder),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["stylesheet"] = stylesheet
    environment.filters |= {
        "data_uri": data_uri,
        "cell_parts": cell_parts,
        "literal": literal,
        "percent": percent,
        "table": table,
    }
    return environment


def stylesheet(name: str) -> Markup:
    """The text of a style sheet in `report/static`, to stand inside a page."""
    from markupsafe import Markup

    return Markup(files(PACKAGE).joinpath("static", name).read_text(encoding="utf-8"))


def data_uri(png: bytes) -> str:
    """A PNG as the address of an image, so that a page needs no other file.

    >>> data_uri(b"abc")
    'data:image/png;base64,YWJj'
    """
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def percent(share: float, decimals: int = 0) -> str:
    """A share between 0 and 1 in percent.

    >>> percent(0.5), percent(0.9531, 1)
    ('50 %', '95.3 %')
    """
    return f"{100 * share:.{decimals}f} %"
