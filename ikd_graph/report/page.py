"""One HTML file that needs nothing else: a template, plotly and the page's own script in it."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from math import isfinite
from typing import Any

from .._base.format import format_number, versions
from ..plotting.charts import Chart
from ..plotting.figures import figure

PLOTLY = "plotly.min.js"
Block = dict[str, Any]
"""One thing below a heading: its kind and what the template shows of it."""


def render(
    kind: str,
    title: str,
    lead: str,
    sections: Iterable[tuple[str, Sequence[Block | None]]],
    *,
    command: str = "",
    warnings: Sequence[str] = (),
    steps: Sequence[tuple[str, str]] = (),
    picture: bytes | None = None,
    described: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Page of a kind with its sections, of which empty ones are left out; text is escaped.

    ``command`` makes the page again, ``steps`` are sentences with the commands to type next, and
    ``picture`` is a PNG for browsers that run no script; ``described`` are the names of the points
    that figures refer to, and what is said of each.

    Raises
    ------
    ImportError
        With the cure, where plotly or jinja2 is not installed.
    """
    every = [
        *sections,
        ("What to do next", [{"kind": "commands", "items": steps}]),
        ("Run this again", [{"kind": "commands", "items": [("", command)] if command else []}]),
    ]
    image = "" if picture is None else "data:image/png;base64," + b64encode(picture).decode("ascii")
    filled = [(name, [b for b in blocks if b and b["items"]]) for name, blocks in every]
    return _templates().render(
        kind=kind, title=title, lead=lead, warnings=warnings, picture=image, versions=versions(),
        sections=[section for section in filled if section[1]], described=described,
    )  # fmt: skip


def block(kind: str, items: Any) -> Block:
    """Describe a "list" of sentences, a "note", or "pairs" or "facts" of names with values."""
    return {"kind": kind, "items": items}


def figures(*drawings: Block, linked: bool = False) -> Block:
    """Figures side by side; in those that are ``linked`` each trace is of the same points."""
    return {"kind": "figures", "items": drawings, "linked": linked}


def drawing(chart: Chart | None, heading: str = "", caption: str = "", size: str = "") -> Block:
    """Return a chart, if there is one, with its heading and its caption.

    Its size is "main", "small" or "key" (only the legend), or what is left beside another.
    """
    spec = None if chart is None else figure(chart)
    title = "" if chart is None else chart.title
    return {"spec": spec, "title": title, "heading": heading, "caption": caption, "size": size}


def table(
    frame: Any,
    heads: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    write: Callable[[Any], str] = format_number,
) -> Block:
    """Table of a data frame; numbers stand right, and a click on a head sorts by value.

    ``heads`` are the columns that are shown, with the words above them; ``errors`` are those with
    the standard errors of others. ``write`` writes a number; what is not finite is a dash.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    heads, errors = heads or {name: name for name in frame}, errors or {}
    columns: list[list[tuple[str, str | None]]] = []
    numeric: list[bool] = []
    for name in heads:
        values = frame[name].tolist()
        numeric.append(is_numeric_dtype(frame[name]) and not is_bool_dtype(frame[name]))
        if not numeric[-1]:
            columns.append([("" if v is None else format_number(v), None) for v in values])
            continue
        texts = [write(value) if isfinite(value) else "–" for value in values]
        if name in errors:
            spreads = map(write, frame[errors[name]])
            texts = [f"{text} ± {spread}" for text, spread in zip(texts, spreads, strict=True)]
        sorted_by: list[str | None] = [repr(value) if isfinite(value) else "" for value in values]
        columns.append(list(zip(texts, sorted_by, strict=True)))
    words = list(zip(heads.values(), numeric, strict=True))
    return {"kind": "table", "heads": words, "items": list(zip(*columns, strict=True))}


@cache
def _templates() -> Any:
    """Return the template of this package, with what it calls."""
    try:
        from jinja2 import Environment, PackageLoader
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError('pages need plotly and jinja2; pip install "ikd_graph[plot]"') from error
    engine = Environment(
        loader=PackageLoader("ikd_graph.report"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    assert engine.loader is not None
    # Escapes < > & ' as well: no label ends the element that holds it.
    compact = {"allow_nan": False, "separators": (",", ":"), "default": str}
    engine.policies["json.dumps_kwargs"] = compact
    engine.filters["number"] = format_number
    # Browsers read line ends as line feeds, and so does the fingerprint.
    plotly = get_plotlyjs().replace("\r\n", "\n").replace("</script", "<\\/script")
    style, script = (engine.loader.get_source(engine, f"page.{kind}")[0] for kind in ("css", "js"))
    engine.globals |= {"plotly": plotly, "style": style, "script": f"\n{script}\n"}
    engine.globals["fingerprint"] = _fingerprint
    return engine.get_template("page.html")


def share_plotly(files: Mapping[str, str | bytes | None]) -> dict[str, str | bytes | None]:
    """Files whose pages read plotly from one more file next to them, which browsers keep."""
    library = str(_templates().globals["plotly"])
    shared: dict[str, str | bytes | None] = dict(files)
    for name, text in files.items():
        if isinstance(text, str) and library in text:
            text = text.replace(f"<script>{library}</script>", f'<script src="{PLOTLY}"></script>')
            shared[name] = text.replace(f"'{_fingerprint(library)}'", "file: 'self'")
            shared[PLOTLY] = library
    return shared


def _fingerprint(script: str) -> str:
    """Return what lets a script run: the policy of a page names those that are ours."""
    return "sha256-" + b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
