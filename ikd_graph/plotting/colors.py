"""One palette for pictures and pages, the colors of labels in it, and what describes points."""

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape as _escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.dataset import NO_LABEL, Dataset, Labels, encode_labels, label_quantity

# Chosen one after another, each as far as possible in OKLab from all before it, for full color
# vision and for simulated protanopia and deuteranopia, within the lightness that reads on white
# and on near black: the first k are good for k classes.
CLASSES = (
    *("#2e70b2", "#e68f2e", "#af3b51", "#249e78", "#cb96fd", "#9acdba", "#9d7402", "#7f97c0"),
    *("#74427f", "#416402", "#d2c347", "#9973db", "#40c47c", "#886c84", "#db665a", "#b3bcef"),
    *("#19bfc3", "#4a4baa", "#db69a1", "#196d60", "#f59d8f", "#9e4b9d", "#cb96a5", "#738d4d"),
)
ACCENT = CLASSES[0]
SECOND = CLASSES[1]
MUTED = "#8b95a1"
INK = "#2b3138"
RULE = "#d9dde2"
# A circle of hues in OKLab whose lightness rises and falls once, so that it has no seam.
_CYCLE = (
    *("#b05a77", "#cf7668", "#de975b", "#d4b45b", "#b0c56d", "#76c387", "#28b09b"),
    *("#0092a6", "#1171a5", "#44589e", "#664a92", "#8a4b85", "#b05a77"),
)
# Lightness rises evenly, so that it reads in gray as well.
_SEQUENCE = ("#2c3172", "#2e5c9c", "#25859c", "#41aa8a", "#8fc774", "#e2d76f")

MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
}
"""Markers in matplotlib's letters, and plotly's names of the same."""
MAX_CLASSES = 60
"""More distinct numbers than this are a quantity, not classes."""


class Groups(NamedTuple):
    """Labels as classes: their names in order, and the class of each point."""

    names: tuple[str, ...]  # in natural order
    codes: NDArray[np.intp]  # (n,) position in names, -1 where the label is missing
    palette: tuple[str, ...] = ()  # colors of the first classes, where they came with the labels

    def color(self, code: int) -> str:
        """Color of a class: its own, or one of ours; gray for what is missing (-1)."""
        return self.palette[code] if 0 <= code < len(self.palette) else class_color(code)

    @property
    def shades(self) -> list[str]:
        """Color of each point."""
        return [self.color(code) for code in self.codes.tolist()]

    def items(self) -> list[tuple[int, str]]:
        """Code and name of each class that has points, the missing one last."""
        present = sorted(np.unique(self.codes).tolist(), key=lambda code: (code < 0, code))
        return [(code, self.names[code] if code >= 0 else "no label") for code in present]


class Paint(NamedTuple):
    """How points look: by class, by a quantity, or all the same."""

    title: str = ""
    groups: Groups | None = None
    values: NDArray[np.float64] | None = None  # (n,) quantity
    period: float | None = None  # of a quantity that runs around a circle

    @property
    def ends(self) -> tuple[float, float]:
        """Values at the ends of the scale of a quantity."""
        if self.period is not None:
            return 0.0, self.period
        finite = np.zeros(0) if self.values is None else self.values[np.isfinite(self.values)]
        return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def paint(
    labels: Any,
    names: Any = None,
    *,
    title: str = "",
    palette: Sequence[str] = (),
    period: float | None = None,
) -> Paint:
    """Choose how labels color points: numbers that are no classes as a quantity, or an angle.

    With ``names``, labels are positions among them; without, a missing label is what it is in files
    (`datasets.read_file`). Without ``period``, numbers that fill one turn in radians or
    degrees, from 0 or around it, are angles.

    Examples
    --------
    >>> paint(["b", "a"]).groups.names, paint([0.5, 1.5]).values
    (('a', 'b'), array([0.5, 1.5]))
    """
    if labels is None or isinstance(labels, Paint):
        return labels or Paint(title)
    y = np.asarray(labels)
    if names is None and period is None and not is_quantity(y):
        y, names = encode_labels(y)
    if names is not None and len(names):
        names = tuple(map(str, names))
        codes = np.where(np.isfinite(y), y, -1).astype(np.intp)
        if NO_LABEL in names:
            codes[codes == names.index(NO_LABEL)] = -1
        return Paint(title, Groups(names, codes, tuple(palette)))
    values = np.asarray(y, dtype=np.float64)
    period = _turn(values) if period is None else period
    return Paint(title, None, values if period is None else values % period, period)


def _turn(values: NDArray[np.float64]) -> float | None:
    """Period of numbers that fill one turn and no more, None of others."""
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    for turn in (2.0 * np.pi, 360.0):
        for start in (0.0, -0.5 * turn):
            if start <= low and high <= start + turn and high - low > 0.97 * turn:
                return turn
    return None


def is_quantity(labels: Any) -> bool:
    """Whether labels are numbers that are not whole, or of more than ``MAX_CLASSES`` values."""
    values = np.asarray(labels)
    if values.dtype.kind not in "fiu":
        return False
    finite = values[np.isfinite(values)]
    return bool(np.any(finite != np.round(finite))) or np.unique(finite).size > MAX_CLASSES


def class_color(code: int) -> str:
    """Color of a class as ``#rrggbb``; the missing class (-1) is gray."""
    return MUTED if code < 0 else CLASSES[code % len(CLASSES)]


def class_marker(code: int) -> str:
    """Marker of a class in matplotlib's letters: beyond 12 classes color alone is not enough."""
    return tuple(MARKERS)[max(code, 0) // 12 % len(MARKERS)]


def sequence(cyclic: bool = False) -> list[str]:
    """Return the stops of the continuous scale, least first; of a circle the last is the first."""
    return list(_CYCLE if cyclic else _SEQUENCE)


MOST_POINTS = 50_000
"""Points of one picture of a page, which stays below 10 MB and does not stutter."""


def paint_labels(labels: Labels) -> Paint:
    """Choose how a column of labels colors points."""
    # More classes than can be told apart are better on a scale, where they are numbers.
    many = label_quantity(labels) if len(labels.names) > MAX_CLASSES else None
    y, names = (labels.y, labels.names or None) if many is None else (many, None)
    return paint(y, names, title=labels.title, palette=labels.palette, period=labels.period)


def paint_points(data: Dataset) -> Paint:
    """Choose the colors of the points of a data set, by its first column of labels."""
    return paint_labels(data.all_labels[0]) if data.all_labels else Paint()


def rows_to_draw(data: Dataset, most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Rows that a picture shows, ascending: all if they are few, else each class in proportion."""
    groups = paint_points(data).groups
    codes = np.zeros(data.n_samples, np.intp) if groups is None else groups.codes
    if codes.size <= most:
        return np.arange(codes.size)
    shuffled = np.random.default_rng(0).permutation(codes.size)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return np.sort(by_class[np.linspace(0, codes.size - 1, most).astype(np.intp)])


def drawn_note(rows: NDArray[np.intp], n_points: int) -> str:
    """Sentence that says how many points a picture leaves out; empty where it shows all."""
    if rows.size == n_points:
        return ""
    return f" {rows.size:,} of {n_points:,} points are drawn, every class in proportion."


def described(
    data: Dataset, rows: NDArray[np.intp], more: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Names of the rows drawn, and what a page says of each: its labels and ``more``, by row."""
    names = [str(name) for name in data.row_names or range(data.n_samples)]
    texts = {labels.title or "label": labels.texts for labels in data.all_labels} | dict(more or {})
    title = "" if data.row_names else "row "
    hover = [
        "<br>".join(
            [title + short(names[row]), *(f"{short(k)}: {short(t[row])}" for k, t in texts.items())]
        )
        for row in rows
    ]
    return {"names": [names[row] for row in rows], "hover": hover}


escape = partial(_escape, quote=False)
"""Text that plotly takes for no markup; it shows quotes as they are."""


def short(text: Any, longest: int = 80) -> str:
    """Text that is no markup and not too long to read."""
    text = str(text)
    return escape(text if len(text) <= longest else text[: longest - 1] + "…")


def paint_of(paint: Paint, rows: NDArray[np.intp]) -> Paint:
    """Return the colors of some of the points."""
    groups = None if paint.groups is None else paint.groups._replace(codes=paint.groups.codes[rows])
    return paint._replace(
        groups=groups, values=None if paint.values is None else paint.values[rows]
    )


def variance_fractions(latent: ArrayLike) -> NDArray[np.float64]:
    """Fraction of each coordinate in the variance of an embedding: what a picture of it shows.

    Examples
    --------
    >>> variance_fractions([[-3.0, 1.0], [3.0, 1.0], [-3.0, -1.0], [3.0, -1.0]])
    array([0.9, 0.1])
    """
    spread = np.var(np.asarray(latent, dtype=np.float64), axis=0)
    return np.asarray(spread / (spread.sum() or 1.0))
