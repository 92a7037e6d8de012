"""Formulas as MathML, which browsers draw by themselves: no script and nothing from elsewhere."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(writer, node):
    """Write a formula within a line."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def display(writer, node):
    """Write a formula in a line of its own, as an aligned block where it has several."""
    text = node.astext()
    if "\\\\" in text and "\\begin" not in text:
        text = f"\\begin{{align*}}{text}\\end{{align*}}"
    # A phone scrolls within a long formula rather than along the page.
    writer.body.append('<div style="overflow-x: auto; text-align: center">')
    writer.body.append(tex2mathml(text, as_block=True))
    writer.body.append("</div>")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
