"""Formulas as MathML, which browsers draw by themselves: no script and nothing from elsewhere."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(writer, node):
    """Write a formula within a line."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def display(writer, node):
    """Write a formula in a line of its own, as an aligned block where it has several.

    What quads keep apart stands below one another where a page is narrow; a formula that is too
    long even then scrolls, not the page.
    """
    text = node.astext()
    if "\\\\" in text and "\\begin" not in text:
        text = f"\\begin{{align*}}{text}\\end{{align*}}"
    writer.body.append('<div class="formulas">')
    for part in text.split("\\qquad"):
        writer.body.append(f"<div>{tex2mathml(part.strip(), as_block=True)}</div>")
    writer.body.append("</div>")
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
