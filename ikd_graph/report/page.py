"""One HTML file that needs nothing else: what pages show, their template, plotly and script."""

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.format import format_number, versions
from ..datasets import Dataset
from ..plotting import charts
from ..plotting.charts import Chart
from ..plotting.colors import Paint, paint, paint_points
from ..plotting.figures import escape, figure
from ..plotting.plot import shortened

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
    heads, errors = heads or {name: name for name in frame}, errors or {}
    columns = []
    for name in heads:
        values = frame[name].tolist()
        spreads = frame[errors[name]].tolist() if name in errors else [None] * len(values)
        columns.append([_cell(*pair, write) for pair in zip(values, spreads, strict=True)])
    rows = list(zip(*columns, strict=True))
    return block("table", rows) | {"heads": list(zip(heads.values(), *rows[:1], strict=True))}


def _cell(value: Any, error: Any, write: Callable[[Any], str]) -> tuple[str, str | None]:
    """Text of a cell, and what a number is sorted by."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return ("" if value is None else format_number(value)), None
    if not isfinite(value):
        return "–", ""
    return write(value) + ("" if error is None else f" ± {write(error)}"), repr(value)


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


MOST_POINTS = 50_000
"""Points of one picture of a page, which stays below 10 MB and does not stutter."""


@dataclass(frozen=True)
class DrawnPoints:
    """Points of a data set that a page draws.

    Attributes
    ----------
    data : Dataset
        Names and labels of all points.
    most : int
        Largest number of points of a picture; of more each class is drawn in proportion.
    """

    data: Dataset
    most: int = MOST_POINTS

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """Rows that are drawn, ascending."""
        n = self.data.n_samples
        n_drawn, codes = min(n, self.most), paint_points(self.data).codes(n)
        shuffled = np.random.default_rng(0).permutation(n)
        by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
        return np.sort(by_class[np.arange(n_drawn) * n // n_drawn])

    @cached_property
    def paints(self) -> list[Paint]:
        """Colors of the points drawn, by each column of labels, or else by a clock of the rows."""
        paints = [paint(labels) for labels in self.data.labels] or [paint_points(self.data)]
        return [each.take(self.rows) for each in paints if each.y is not None]

    @property
    def note(self) -> str:
        """Sentence that says how many points are left out; empty where all are drawn."""
        n, drawn = self.data.n_samples, self.rows.size
        text = f" {drawn:,} of {n:,} points are drawn, every class in proportion."
        return text if drawn < n else ""

    def quantity(self, title: str, values: NDArray[np.float64]) -> Paint:
        """Return the colors of the points drawn by a quantity of all points."""
        return Paint(title, values).take(self.rows)

    def scatter(self, Z: NDArray[np.float64], *paints: Paint, **options: Any) -> Chart:
        """Return the chart of the points drawn, of which the page says what they are."""
        options = {"fractions": charts.variance_fractions(Z), **options}
        return charts.scatter(Z[self.rows], *paints, **options)

    def described(self, more: Mapping[str, Any] | None = None, columns: bool = False) -> Block:
        """Names of the points drawn, and what a page says of each: labels and ``more``, by row.

        With ``columns``, also values of columns, of as many points as are not drawn as pixels.
        """
        names = self.data.names
        texts: dict[str, Any] = {each.title or "label": each.texts for each in self.data.labels}
        texts |= more or {}
        title = "" if self.data.row_names else "row "
        said = [
            [title + _short(names[row])]
            + [f"{_short(name)}: {_short(text[row])}" for name, text in texts.items()]
            for row in self.rows
        ]
        if columns and len(said) <= charts.MANY:
            for text, far in zip(said, self._farthest(), strict=True):
                text += far
        return {"names": [names[row] for row in self.rows], "hover": ["<br>".join(s) for s in said]}

    def _farthest(self) -> Iterator[list[str]]:
        """Values of the five columns of each row that are farthest from their means, in sd."""
        X, names = self.data.X, self.data.feature_names
        mean, sd = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
        sd[sd == 0.0] = np.inf
        for row in X[self.rows]:
            z = np.nan_to_num((row - mean) / sd)
            far = np.argpartition(-np.abs(z), min(4, z.size - 1))[:5]
            yield [
                f"{_short(names[k]) if names else f'column {k}'}: {row[k]:.3g} ({z[k]:+.1f} sd)"
                for k in far[np.argsort(-np.abs(z[far]), kind="stable")].tolist()
                if z[k]
            ]


def _short(text: Any) -> str:
    """Text that is no markup and not too long to read."""
    return escape(shortened(str(text), 80))
