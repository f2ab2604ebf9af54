"""The explorer's page: template, style and scripts in one file, under a policy that lets nothing else run or load."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from ..render import PACKAGE, render_html

STYLES = ("explorer.css",)
SCRIPTS = ("explorer_data.js", "explorer_draw.js", "explorer_map.js", "explorer_compare.js", "explorer.js")


def render_explorer(title: str, data: str, *, served: bool = False) -> str:
    """The page as HTML.

    Parameters
    ----------
    title : str
    data : str
        JSON for the scripts, safe inside a script element (see :func:`safe_json`).
    served : bool
        Whether the page may ask the server that it came from; otherwise it can reach nothing.
    """
    style = "\n".join(_static(name) for name in STYLES)
    script = "(() => {\n'use strict';\n" + "\n".join(_static(name) for name in SCRIPTS) + "\n})();"
    rules = [
        "default-src 'none'",
        f"script-src '{_digest(script)}'",
        f"style-src '{_digest(style)}'",
        "img-src data:",
        f"connect-src {chr(39)}self{chr(39)}" if served else "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return render_html("explorer.html", title=title, policy="; ".join(rules), style=style, script=script, data=data)


def _static(name: str) -> str:
    return files(PACKAGE).joinpath("static", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """How a policy names one script or style sheet: by the hash of its text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
