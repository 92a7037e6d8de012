"""One palette for pictures and pages, and the colors of labels in it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .._base.dataset import MOST_CLASSES, NO_LABEL, Dataset, Labels, encode_labels
from .._base.validation import one_each

# Chosen one after another, each as far as possible in OKLab from all before it, for full color
# vision and for simulated protanopia and deuteranopia, among those whose contrast with white and
# with the dark pages is at least 3: the first k are good for k classes.
CLASSES = (
    *("#2e70b2", "#cc7818", "#c6006c", "#a878fc", "#54a284", "#663cfc", "#726600", "#d800c6"),
    *("#fc5a72", "#7e5a8a", "#9090ba", "#c05454", "#6c6ce4", "#de0000", "#428a9c", "#969054"),
    *("#368ade", "#a848ae", "#487e42", "#a26c84", "#f654ae", "#60666c", "#0060de", "#d2549c"),
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

_TIMES = (pd.DatetimeIndex, pd.PeriodIndex, pd.TimedeltaIndex)
MARKERS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "P": "cross"}
"""Markers in matplotlib's letters, and plotly's names of the same."""


class Paint(NamedTuple):
    """How points look: by class, by a quantity, or all the same."""

    title: str = ""
    y: NDArray[Any] | None = None  # (n,) quantity, or positions in names, -1 where missing
    names: tuple[str, ...] = ()  # of classes, in natural order; none for a quantity
    palette: tuple[str, ...] = ()  # colors of the first classes, where they came with the labels
    period: float | None = None  # of a quantity that runs around a circle
    start: pd.Timestamp | None = None  # of a clock, whose quantity is seconds from there
    is_path: bool = False  # whether rows follow one another along the quantity

    @property
    def is_quantity(self) -> bool:
        """Whether a scale explains the colors."""
        return self.y is not None and not self.names

    @property
    def ends(self) -> tuple[float, float]:
        """Values at the ends of the scale of a quantity."""
        if self.period is not None:
            return 0.0, self.period
        finite = np.zeros(0) if self.y is None else self.y[np.isfinite(self.y)]
        return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)

    @property
    def stops(self) -> tuple[str, ...]:
        """Colors of the scale, least first; of a circle the last is the first."""
        return _SEQUENCE if self.period is None else _CYCLE

    @property
    def ticks(self) -> tuple[list[float], list[str]] | None:
        """Where dates are written at the scale of a clock, and they; None of other quantities."""
        if self.start is None:
            return None
        marks = self.start + pd.to_timedelta(np.linspace(*self.ends, 4), unit="s")
        days = marks[-1] - marks[0] > pd.Timedelta(days=4)
        at, form = marks.floor("D" if days else "s"), "%Y-%m-%d" if days else "%Y-%m-%d %X"
        return np.maximum((at - self.start).total_seconds(), 0.0).tolist(), [*at.strftime(form)]

    def codes(self, n: int) -> NDArray[np.intp]:
        """Class of each of n points, (n,); one class where there are none."""
        return np.zeros(n, dtype=np.intp) if self.y is None or not self.names else self.y

    def classes(self) -> list[tuple[int, str]]:
        """Code and name of each class that has points, the missing one last."""
        present = sorted(set(self.codes(1).tolist()), key=lambda code: (code < 0, code))
        names = self.names or ("",)
        return [(code, names[code] if code >= 0 else "no label") for code in present]

    def color(self, code: int) -> str:
        """Color of a class: its own, or one of ours; gray for what is missing (-1)."""
        return self.palette[code] if 0 <= code < len(self.palette) else class_color(code)

    def take(self, rows: NDArray[np.intp]) -> Paint:
        """Return the colors of some of the points."""
        return self if self.y is None else self._replace(y=self.y[rows])


def paint(
    labels: Any,
    names: Any = None,
    *,
    title: str = "",
    palette: Sequence[str] = (),
    period: float | None = None,
    n: int | None = None,
) -> Paint:
    """Choose how labels color points: times and numbers that are no classes as a quantity.

    ``labels`` are values in any sequence, a Series or a Categorical of pandas, a column of a data
    set (`datasets.Labels`), or a Paint, which is left as it is. With ``names``, they are positions
    among them; without, a missing label is what it is in files (`datasets.read_file`). With
    ``period``, they run around a circle of that length. There must be ``n``, where that is given.

    Examples
    --------
    >>> paint(["b", "a"]).names, paint([0.5, 1.5]).y
    (('a', 'b'), array([0.5, 1.5]))
    """
    given: Any = labels.y if isinstance(labels, Labels | Paint) else labels
    if n is not None and given is not None:
        one_each("color, or labels,", np.asarray(given), n, "rows")
    if labels is None or isinstance(labels, Paint):
        return labels or Paint()
    if not isinstance(labels, Labels):
        title = title or str(getattr(labels, "name", None) or "")
        coded = getattr(labels, "cat", labels)
        if hasattr(coded, "categories"):
            labels, names = coded.codes, coded.categories
        elif names is None and isinstance(pd.Index(labels), _TIMES):
            return paint_index(labels, title)
        y = np.asarray(labels)
        if names is None:
            y, names = encode_labels(y) if period is None else (y, ())
        elif len(names):
            names = (*names, NO_LABEL)
            y = np.where(np.isfinite(y) & (y >= 0), y, len(names) - 1)
        labels = Labels(title, y, tuple(map(str, names)), period, tuple(palette))
    numbers = None if 0 < len(labels.names) <= MOST_CLASSES else labels.numbers
    if numbers is not None:
        values = numbers if labels.period is None else numbers % labels.period
        return Paint(labels.title, values, period=labels.period)
    codes = np.where(labels.known, labels.y, -1).astype(np.intp)
    return Paint(labels.title, codes, labels.names, labels.palette)


def paint_index(index: Any, title: str = "") -> Paint:
    """Choose the colors of rows by an index that is a clock or a number; other names give none.

    Texts are read as numbers, or as dates of ISO 8601. Numbers are taken where they rise or fall
    strictly and do not merely count the rows.

    Examples
    --------
    >>> paint_index(["2020-01-01", "2020-01-02"]).y, paint_index(["a", "b"]).y is None
    (array([    0., 86400.]), True)
    """
    values = pd.Index(index)
    title = title or str(values.name or "")
    for read in (pd.to_numeric, partial(pd.to_datetime, format="ISO8601")):
        if pd.api.types.is_string_dtype(values.dtype):
            with suppress(ValueError, TypeError):
                values = pd.Index(read(values))
    path = values.is_unique and (values.is_monotonic_increasing or values.is_monotonic_decreasing)
    if isinstance(values, pd.TimedeltaIndex):
        return Paint(f"{title or 'time'} (s)", np.array(values.total_seconds()), is_path=path)
    if isinstance(values, _TIMES):
        is_period = isinstance(values, pd.PeriodIndex)
        moments = values.to_timestamp() if is_period else values.tz_localize(None)
        seconds = np.array((moments - moments.min()).total_seconds())
        return Paint(title or "time", seconds, start=moments.min(), is_path=path)
    if not (path and pd.api.types.is_any_real_numeric_dtype(values.dtype)):
        return Paint()
    numbers = values.to_numpy(np.float64)
    counted = {*numbers[:1]} <= {0, 1} and bool((np.diff(numbers) == 1).all())
    return Paint() if counted else Paint(title or "index", numbers, is_path=True)


def paint_points(data: Dataset) -> Paint:
    """Choose the colors of points: their first labels, the truth where it is known, or a clock."""
    if data.labels:
        return paint(data.labels[0])
    if data.latent is not None:
        return Paint("truth", data.latent[:, 0])
    return paint_index(data.row_names, data.row_title)


def class_color(code: int) -> str:
    """Color of a class as ``#rrggbb``; the missing class (-1) is gray."""
    return MUTED if code < 0 else CLASSES[code % len(CLASSES)]


def class_marker(code: int) -> str:
    """Marker of a class in matplotlib's letters: beyond 12 classes color alone is not enough."""
    return tuple(MARKERS)[max(code, 0) // (len(CLASSES) // 2) % len(MARKERS)]
