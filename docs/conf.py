"""Settings of the documentation site: `make docs` builds it."""

import os
import re
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # examples are small: more threads would cost more than they give

sys.path.insert(0, str(Path(__file__).parent))  # for formulas and gallery_order

import gallery_order

import graph_metric_learn as gml

project = "graph-metric-learn"
author = "The graph-metric-learn developers"
project_copyright = author
version = release = gml.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "formulas",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5", "gallery/**/*.zip"]
root_doc = "index"
default_role = "code"
templates_path = ["templates"]

# Markdown
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
suppress_warnings = ["ref.python"]  # attributes of several classes share a name, such as y_

# API pages
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
strip_signature_backslash = True  # so that names keep their last underscore

# Gallery: scripts of examples/ run; those that need files from elsewhere are only shown.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [f"../examples/{theme}" for theme in gallery_order.THEMES],
    "filename_pattern": r"/(?!tu_collection)\w+\.py$",
    "within_subsection_order": "gallery_order.Ordered",
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 10_000,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "capture_repr": ("_repr_html_",),
    "default_thumb_file": str(Path(__file__).parent / "images" / "explorer-digits.png"),
}

# Pages
html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"{project} {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False


def links_outside(text):
    """Links of Markdown pages that lead out of docs/: to the gallery for examples, else to a name in the repository."""
    text = re.sub(r"\]\(\.\./examples/(\w+/\w+)\.py\)", r"](gallery/\1.rst)", text)
    return re.sub(r"\[([^\]]*)\]\(\.\./([^)#\s]*)(?:#[^)]*)?\)", r"\1 (`\2` in the repository)", text)


def skip_member(app, what, name, thing, skip, options):
    """Whether a member is no part of ours: methods that scikit-learn makes for its routing of metadata."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing", name) else None


def plain_footnotes(app, what, name, thing, options, lines):
    """References of docstrings as plain text, `[1]`: several docstrings on a page may have a first one."""
    lines[:] = [re.sub(r"^(\s*)\.\. \[(\d+)\] ", r"\1[\2] ", re.sub(r"\[(\d+)\]_", r"[\1]", line)) for line in lines]


def setup(app):
    app.connect("autodoc-process-docstring", plain_footnotes, priority=1)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("source-read", lambda app, page, source: source.__setitem__(0, links_outside(source[0])))
