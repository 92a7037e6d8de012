"""One HTML file that needs nothing else: templates, plotly and the page's own script in it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from .words import say_number

if TYPE_CHECKING:
    from jinja2 import Environment

PLOTLY = "plotly.min.js"
CURE = 'pages need plotly and jinja2; pip install "ikd_graph[plot]"'


def render(template: str, **found: Any) -> str:
    """Page made of a template and what was found; text in it is escaped.

    Raises
    ------
    ImportError
        With the cure, where plotly or jinja2 is not installed.
    """
    return _templates().get_template(template).render(**found)


@cache
def _templates() -> Environment:
    """Templates of this package, with what they call."""
    try:
        from jinja2 import Environment, PackageLoader
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(CURE) from error
    made = Environment(
        loader=PackageLoader("ikd_graph.show"), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    # Escapes < > & ' as well: no label ends the element that holds it.
    made.policies["json.dumps_function"] = _dumps
    made.filters |= {"number": say_number, "source": lambda name: _source(made, name)}
    made.filters["flags"] = _flags
    made.globals |= {"library": _library(get_plotlyjs()), "fingerprint": _fingerprint}
    return made


def _library(text: str) -> str:
    """Plotly as a page holds it: browsers read line ends as line feeds, and so the fingerprint."""
    return text.replace("\r\n", "\n").replace("</script", "<\\/script")


def share_plotly(files: Mapping[str, str | bytes | None]) -> dict[str, str | bytes | None]:
    """Files whose pages read plotly from one more file beside them, which browsers keep."""
    library = str(_templates().globals["library"])
    shared: dict[str, str | bytes | None] = dict(files)
    for name, text in files.items():
        if isinstance(text, str) and name.endswith(".html") and library in text:
            text = text.replace(f"<script>{library}</script>", f'<script src="{PLOTLY}"></script>')
            shared[name] = text.replace(f"'{_fingerprint(library)}'", "file: 'self'")
            shared[PLOTLY] = library
    return shared


def _flags(text: str) -> Any:
    """Sentence whose flags are not broken at the end of a line."""
    from markupsafe import Markup, escape

    return Markup(
        re.sub(r"(?<!\w)--[a-z][a-z-]*", r'<span class="flag">\g<0></span>', str(escape(text)))
    )


def _source(made: Environment, name: str) -> str:
    """Text of a file beside the templates, taken as it is."""
    assert made.loader is not None
    return made.loader.get_source(made, name)[0]


def _fingerprint(script: str) -> str:
    """What lets a script run: the policy of a page names those that are ours."""
    return "sha256-" + b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")


def _dumps(value: Any, **options: Any) -> str:
    """JSON in ASCII, without NaN."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=str)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    sortable: bool = False,
    best: Sequence[int] = (),
    say: Callable[[Any], str] = say_number,
) -> dict[str, Any]:
    """Table of text and numbers; numbers stand right and sort by value.

    Cells are text, numbers, numbers with a text of their own (a pair), or None for nothing. With
    ``sortable`` a click on a head sorts; the rows ``best`` are set in bold; ``say`` writes a
    number.
    """
    cells = [list(row) for row in rows]
    numeric = [
        any(_is_number(row[k]) for row in cells)
        and all(row[k] is None or _is_number(row[k]) for row in cells)
        for k in range(len(columns))
    ]
    return {
        "heads": list(zip(columns, numeric, strict=True)),
        "rows": [
            (at in best, [_cell(value, numeric[k], say) for k, value in enumerate(row)])
            for at, row in enumerate(cells)
        ],
        "sortable": sortable,
    }


def _is_number(value: Any) -> bool:
    """Whether a cell holds a number."""
    value = value[0] if isinstance(value, tuple) else value
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _cell(value: Any, numeric: bool, say: Callable[[Any], str]) -> tuple[str, str | None]:
    """Text of a cell, and the value a number sorts by."""
    if not numeric:
        return "" if value is None else say_number(value), None
    text = None
    if isinstance(value, tuple):
        value, text = value
    if value is None or not np.isfinite(value):
        return "–", ""
    return text or say(value), repr(float(value))


def image(png: bytes | None) -> str:
    """Address that holds a picture itself; empty for none."""
    return "" if png is None else "data:image/png;base64," + b64encode(png).decode("ascii")
