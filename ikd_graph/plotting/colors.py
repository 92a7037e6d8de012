"""One palette for pictures and pages, and the colors of labels in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.dataset import MOST_CLASSES, NO_LABEL, Labels, encode_labels

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

MARKERS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "P": "cross"}
"""Markers in matplotlib's letters, and plotly's names of the same."""


class Paint(NamedTuple):
    """How points look: by class, by a quantity, or all the same."""

    title: str = ""
    y: NDArray[Any] | None = None  # (n,) quantity, or positions in names, -1 where missing
    names: tuple[str, ...] = ()  # of classes, in natural order; none for a quantity
    palette: tuple[str, ...] = ()  # colors of the first classes, where they came with the labels
    period: float | None = None  # of a quantity that runs around a circle

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
) -> Paint:
    """Choose how labels color points: numbers that are no classes as a quantity.

    ``labels`` are values, a column of a data set (`datasets.Labels`), or a Paint, which is left as
    it is. With ``names``, they are positions among them; without, a missing label is what it is in
    files (`datasets.read_file`). With ``period``, they run around a circle of that length.

    Examples
    --------
    >>> paint(["b", "a"]).names, paint([0.5, 1.5]).y
    (('a', 'b'), array([0.5, 1.5]))
    """
    if labels is None or isinstance(labels, Paint):
        return labels or Paint()
    if not isinstance(labels, Labels):
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


def class_color(code: int) -> str:
    """Color of a class as ``#rrggbb``; the missing class (-1) is gray."""
    return MUTED if code < 0 else CLASSES[code % len(CLASSES)]


def class_marker(code: int) -> str:
    """Marker of a class in matplotlib's letters: beyond 12 classes color alone is not enough."""
    return tuple(MARKERS)[max(code, 0) // (len(CLASSES) // 2) % len(MARKERS)]
