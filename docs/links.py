"""Names links of the built site that lead nowhere, and searches that do not find their page."""

import json
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


SEARCHED = {
    "different results on another computer": "large",
    "new data": "files",
    "which genes": "columns",
    "error bars": "trust",
    "blockwise or geodesic": "compare",
    "umap": "peers",
    "batch effect": "weak",
    "missing values": "files",
    "time": "weak",
    "ring": "topology",
}
"""What people type into the search, and the page that must come first."""


def lost(site):
    """Searches whose page is found neither by a title, as the search compares, nor by an entry."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    for query, page in SEARCHED.items():
        places = [
            place
            for listed in (index["alltitles"], index["indexentries"])
            for title, of_title in listed.items()
            if query in title.lower() and 2 * len(query) >= len(title)
            for place in of_title
            # Of the entries of an index only main ones (!) come before what pages contain.
            if listed is index["alltitles"] or place[2]
        ]
        if page not in {index["docnames"][place[0]] for place in places}:
            yield f"{query}: {page}"


if __name__ == "__main__":
    site = Path(sys.argv[1])
    wrong = [*broken(site), *(f"search for {each}" for each in lost(site))]
    sys.exit("\n".join(["what leads nowhere:", *wrong]) if wrong else 0)
