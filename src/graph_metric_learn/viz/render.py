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
    from markupsafe import Markup

PACKAGE = "graph_metric_learn.viz"


def render_html(template: str, package: str = PACKAGE, **values: Any) -> str:
    """A page from a template.

    Parameters
    ----------
    template : str
        A file in the folder `templates` of the package, such as "demo.html".
    package : str
        Templates of other packages may extend "base.html" and import "pieces.html" of this one.
    **values
        What the template calls for; a missing one is an error.
    """
    return html_environment(package).get_template(template).render(values)


@cache
def html_environment(package: str = PACKAGE) -> Environment:
    """Templates of a package, and behind them those of this one, with the filters `data_uri` and `percent`."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, PACKAGE))]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["stylesheet"] = stylesheet
    environment.filters |= {"data_uri": data_uri, "percent": percent}
    return environment


def static_text(name: str) -> str:
    """The text of a style sheet or script in `viz/static`."""
    return files(PACKAGE).joinpath("static", name).read_text(encoding="utf-8")


def stylesheet(name: str) -> Markup:
    """A style sheet as it stands inside a page."""
    from markupsafe import Markup

    return Markup(static_text(name))


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
