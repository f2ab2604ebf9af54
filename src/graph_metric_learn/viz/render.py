"""Renders jinja2 templates to self-contained HTML pages.

A page is one file: style sheets and images stand inside it, and it fetches nothing. Templates escape every value.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PACKAGE = "graph_metric_learn.viz"


def render_html(template: str, **values: Any) -> str:
    """A page from a template of this package.

    Parameters
    ----------
    template : str
        A file in `viz/templates`, such as "demo.html".
    **values
        What the template calls for; a missing one is an error.
    """
    return html_templates().get_template(template).render(values)


@cache
def html_templates(*packages: str) -> Environment:
    """The templates of this package, and those in the folders `templates` of other packages, which may extend them."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "templates") for package in (PACKAGE, *packages)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["stylesheet"] = stylesheet
    environment.filters["percent"] = percent
    return environment


def stylesheet(name: str) -> Markup:
    """The text of a style sheet in `viz/static`, to stand inside a page."""
    from markupsafe import Markup

    return Markup(files(PACKAGE).joinpath("static", name).read_text(encoding="utf-8"))


def percent(share: float, decimals: int = 0) -> str:
    """A share between 0 and 1 in percent.

    >>> percent(0.5), percent(0.9531, 1)
    ('50 %', '95.3 %')
    """
    return f"{100 * share:.{decimals}f} %"
