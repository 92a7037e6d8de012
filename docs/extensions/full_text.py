"""What programs read of the site: llms.txt, a line a page, and llms-full.txt, their text."""

import re
from pathlib import Path

from docutils import nodes

FOR_PROGRAMS = re.compile(r"(?!decisions/|changelog$)")


def first_sentence(text):
    r"""Return the first sentence of a paragraph, on one line.

    Examples
    --------
    >>> first_sentence("Rows are points, 0.5 cm\napart (or more). Columns are not.")
    'Rows are points, 0.5 cm apart (or more).'
    """
    return re.split(r"(?<=[.?!]) (?=[A-Z`])", " ".join(text.split()), maxsplit=1)[0]


def described(app, page):
    """Line of a page in a list: its title, its address, and what it says first."""
    opening = next(app.env.get_doctree(page).findall(nodes.paragraph), None)
    said = f": {first_sentence(opening.astext())}" if opening is not None else ""
    return f"- [{app.env.titles[page].astext()}]({page}.html){said}\n"


def write_for_programs(app, error):
    """Write both files, of the pages in the order of the table of contents."""
    if error or app.builder.format != "html":
        return
    pages = [page for page in app.env.toctree_includes["index"] if FOR_PROGRAMS.match(page)]
    head = (Path(app.srcdir) / "llms.txt").read_text(encoding="utf-8").rstrip()
    listed = "".join(described(app, page) for page in pages)
    listed = f"{head}\n\n## Pages\n\n- [All pages as one text](llms-full.txt)\n{listed}"
    (Path(app.outdir) / "llms.txt").write_text(listed, encoding="utf-8")
    sources = {page: Path(app.env.doc2path(page)) for page in ["index", *pages]}
    texts = [
        f"<!-- {page}.html -->\n\n{source.read_text(encoding='utf-8').strip()}\n"
        for page, source in sources.items()
        if source.suffix == ".md"
    ]
    (Path(app.outdir) / "llms-full.txt").write_text("\n".join(texts), encoding="utf-8")


def setup(app):
    """Hook into the end of a build."""
    app.connect("build-finished", write_for_programs)
    return {"parallel_read_safe": True}
