"""Settings of the site: everything is made here, nothing is fetched, when it is built or read."""

import re
import shutil
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

from sphinx_gallery.scrapers import figure_rst

import ikd_graph

project = "ikd_graph"
author = "The ikd_graph developers"
version = release = ikd_graph.__version__
extensions = [
    "full_text",
    "mathml",
    "plain_docstrings",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["templates"]
exclude_patterns = ["_build", "tutorials", "extensions", "templates", "paper", "skill"]
nitpicky = False  # Words such as "array_like" in docstrings are no links.

html_theme = "furo"
html_title = "ikd_graph"
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
autodoc_default_options = {"members": True}
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def saved_picture(block, variables, settings):
    """Move the picture that a numbered example has saved next to itself into the gallery."""
    picture = Path(variables["src_file"]).with_suffix(".png")
    if not picture.exists():
        return ""
    target = next(variables["image_path_iterator"])
    shutil.move(picture, target)
    return figure_rst([target], settings["src_dir"])


# Tutorials on tables that a package brings, which has to be installed.
tables_of = {"plot_3_states": "libpysal", "plot_5_regions": "nitime", "plot_6_genes": "scanpy"}
without_table = [name for name, package in tables_of.items() if find_spec(package) is None]

sphinx_gallery_conf = {
    "examples_dirs": ["tutorials", "../examples"],
    "gallery_dirs": ["gallery/tutorials", "gallery/examples"],
    "filename_pattern": r"/(plot_\d|\d\d)_\w+\.py$",
    "ignore_pattern": "|".join([r"^(?!plot_\d|\d\d_)", *without_table]),
    "image_scrapers": ["matplotlib", saved_picture],
    "doc_module": ("ikd_graph",),
    "backreferences_dir": "generated/examples",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    # What ends a block is printed where it says something.
    "capture_repr": (),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
}
# The gallery keeps functions in its settings, which cannot be stored for the next build.
suppress_warnings = ["config.cache"]


def adapted(app, path, parent, content):
    """Break no mean from its spread, and no power of ten; name files that are no pages."""
    text = content[0].replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
    text = re.sub(r"(?<=\de)-(?=\d\d\b)", "\N{NON-BREAKING HYPHEN}", text)
    if Path(path).parts[-2:] == ("results", "README.md"):
        # Files beside it are no pages: they are named.
        text = re.sub(r"\[([^][]+)\]\([^)]+\)", r"\1", text)
    content[0] = text


def leave_out_of_search(app, page, source):
    """Keep decisions and the changelog out of the search, which finds what helps a user."""
    if page.startswith("decisions/") or page == "changelog":
        app.env.metadata[page]["no-search"] = ""


def on_the_site(link):
    """Where a link of a page goes on the site: a script to its page of the gallery."""
    text, folder, script, tail = link[1], link[2], link[3], link[4]
    if folder not in ("tutorials", "../examples") or tail:
        # What is no page of the site, such as a table of measurements, is named.
        return text
    page = "index" if script in (None, *(f"{name}.py" for name in without_table)) else script[:-3]
    return f"[{text}](gallery/{folder.removeprefix('../')}/{page}.rst)"


OUTSIDE = re.compile(
    r"(?<!!)\[([^][]+)\]\((tutorials|\.\./(?:examples|benchmarks))(?:/(\w+\.py))?(/?[^)]*)\)"
)
"""A link that works among the sources: to a tutorial, an example or a file beside the pages."""


def translate_links(app, page, source):
    """Have links to sources, which work in the repository, lead to what the site makes of them."""
    source[0] = OUTSIDE.sub(on_the_site, source[0])


def setup(app):
    """Register what is done to the sources of pages."""
    app.connect("source-read", translate_links)
    app.connect("include-read", adapted)
    app.connect("source-read", leave_out_of_search)


warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")
