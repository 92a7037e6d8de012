"""All pages as one text, for programs that read the site: llms-full.txt."""

from pathlib import Path


def write_full_text(app, error):
    """Write the sources of all pages in Markdown, in the order of their names, into one file."""
    if error or app.builder.format != "html":
        return
    pages = [name for name in sorted(app.env.found_docs) if not name.startswith("decisions/")]
    sources = [Path(app.env.doc2path(name)) for name in pages]
    texts = [
        f"<!-- {page}.html -->\n\n{source.read_text(encoding='utf-8').strip()}\n"
        for page, source in zip(pages, sources, strict=True)
        if source.suffix == ".md"
    ]
    (Path(app.outdir) / "llms-full.txt").write_text("\n".join(texts), encoding="utf-8")


def setup(app):
    """Hook into the end of a build."""
    app.connect("build-finished", write_full_text)
    return {"parallel_read_safe": True}
