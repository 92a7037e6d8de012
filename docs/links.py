"""Names links between pages of the built site, and to anchors in them, that lead nowhere."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class Page(HTMLParser):
    """Anchors of a page, and what it links to."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = {""}, set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        """Keep what a tag names and links to."""
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            if name in ("href", "src") and value is not None:
                self.links.add(value)


def broken(site):
    """Broken links, each as "page: link"; what lies on other hosts is not asked for."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(page.links):
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            file, anchor = urldefrag(link)
            target = (path.parent / unquote(urlsplit(file).path)).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            anchors = pages[target].anchors if target in pages else None
            if not target.exists() or (anchors is not None and unquote(anchor) not in anchors):
                yield f"{path.relative_to(site.resolve())}: {link}"


if __name__ == "__main__":
    wrong = list(broken(Path(sys.argv[1])))
    sys.exit("\n".join(["links that lead nowhere:", *wrong]) if wrong else 0)
