"""Self-contained pages: one HTML file each, which needs no network and no other file."""

from .cliques import cliques_page
from .compare import compare_page
from .demo import demo_page
from .diagnose import diagnosis_page
from .embed import embed_page

__all__ = ["cliques_page", "compare_page", "demo_page", "diagnosis_page", "embed_page"]
