"""Renders HTML pages from jinja2 templates.

A page is one file: style sheets and images stand inside it, and it fetches nothing. Every value is escaped.
"""

from __future__ import annotations

import base64
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

PACKAGE = "graph_metric_learn.viz"


def render_html(template: str, **values: Any) -> str:
    """A page from a file in `viz/templates`, such as "demo.html"; a missing value is an error."""
    return html_environment().get_template(template).render(values)


@cache
def html_environment(package: str = PACKAGE) -> Environment:
    """Templates of a package, and behind them those of this one, with the filters `data_uri` and `percent`.

    So templates of other packages may extend "base.html" and import "pieces.html" of this one.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, PACKAGE))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["stylesheet"] = lambda name: Markup(static_text(name))
    environment.filters |= {"data_uri": data_uri, "percent": percent}
    return environment


def static_text(name: str) -> str:
    """The text of a style sheet or script in `viz/static`."""
    return files(PACKAGE).joinpath("static", name).read_text(encoding="utf-8")


def data_uri(png: bytes) -> str:
    """A PNG as the address of an image, so that a page needs no other file.

    >>> data_uri(b"abc")
    'data:image/png;base64,YWJj'
    """
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def cut(text: str, most: int) -> str:
    """The text, or its beginning if it has more characters.

    >>> cut("ethanol", 7), cut("ethanol", 5)
    ('ethanol', 'etha…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def percent(share: float, decimals: int = 0) -> str:
    """A share between 0 and 1 in percent.

    >>> percent(0.5), percent(0.9531, 1)
    ('50 %', '95.3 %')
    """
    return f"{100 * share:.{decimals}f} %"
