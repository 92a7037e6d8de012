"""Self-contained pages: one HTML file each, which needs no network and no other file."""

from .embed import embed_page

__all__ = ["embed_page"]
