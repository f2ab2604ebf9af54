"""Formulas as MathML, made while the site is built: browsers draw them without a script from elsewhere."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def inline(translator, node):
    translator.body.append(convert(node.astext()))
    raise SkipNode  # the text of the node is the LaTeX


def block(translator, node):
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
