"""Docstrings are written to be read as they are: their bars and final underscores are no markup."""

import re

_QUOTED = re.compile(r"(``.*?``|`.*?`_*)")
_MARKUP = re.compile(r"(?<!\\)\||(?<=\w)_(?!\w)")


def escape(lines):
    r"""Lines with markup escaped, but for examples, literal blocks and what is quoted.

    Examples
    --------
    >>> escape(["|x| of `embedding_` and embedding_"])
    ['\\|x\\| of `embedding_` and embedding\\_']
    >>> escape([">>> a | b", "", "so::", "", "    a_", "b_"])
    ['>>> a | b', '', 'so::', '', '    a_', 'b\\_']
    """
    escaped, example, literal = [], False, None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if example or literal is not None:
            escaped.append(line)
        else:
            pieces = _QUOTED.split(line)
            pieces[::2] = [_MARKUP.sub(r"\\\g<0>", text) for text in pieces[::2]]
            escaped.append("".join(pieces))
        if literal is None and line.rstrip().endswith("::"):
            literal = indent
    return escaped


def process(app, what, name, obj, options, lines):
    """Escape the docstring of an object, in place."""
    lines[:] = escape(lines)


def setup(app):
    """Come after numpydoc, which makes sections of the plain text."""
    app.setup_extension("numpydoc")
    app.connect("autodoc-process-docstring", process, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
