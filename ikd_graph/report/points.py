"""The points of a data set on a page: which are drawn, their colors, what is said of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..datasets import Dataset
from ..plotting import charts
from ..plotting.charts import Chart
from ..plotting.colors import Paint, paint
from ..plotting.figures import escape
from ..plotting.plot import shortened

MOST_POINTS = 50_000
"""Points of one picture of a page, which stays below 10 MB and does not stutter."""


def paint_points(data: Dataset) -> Paint:
    """Choose the colors of the points of a data set, by its first column of labels."""
    return paint(data.labels[0]) if data.labels else Paint()


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
        n, groups = self.data.n_samples, paint_points(self.data).groups
        if n <= self.most:
            return np.arange(n)
        codes = np.zeros(n, dtype=np.intp) if groups is None else groups.codes
        shuffled = np.random.default_rng(0).permutation(n)
        by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
        return np.sort(by_class[np.linspace(0, n - 1, self.most).astype(np.intp)])

    @cached_property
    def paints(self) -> list[Paint]:
        """Colors of the points drawn, by each column of labels."""
        return [paint(labels).take(self.rows) for labels in self.data.labels]

    @property
    def note(self) -> str:
        """Sentence that says how many points are left out; empty where all are drawn."""
        if self.rows.size == self.data.n_samples:
            return ""
        drawn = f" {self.rows.size:,} of {self.data.n_samples:,} points are drawn"
        return f"{drawn}, every class in proportion."

    def quantity(self, title: str, values: NDArray[np.float64]) -> Paint:
        """Return the colors of the points drawn by a quantity of all points."""
        return Paint(title, None, values).take(self.rows)

    def scatter(self, Z: NDArray[np.float64], *paints: Paint, **options: Any) -> Chart:
        """Return the chart of the points drawn, of which the page says what they are."""
        options = {"fractions": charts.variance_fractions(Z), **options}
        return charts.scatter(Z[self.rows], *paints, rows=np.arange(self.rows.size), **options)

    def described(self, more: Mapping[str, Sequence[str]] | None = None) -> dict[str, Any]:
        """Names of the points drawn, and what a page says of each: labels and ``more``, by row."""
        names = self.data.names
        labeled = {labels.title or "label": labels.texts for labels in self.data.labels}
        texts: dict[str, Sequence[Any]] = {**labeled, **(more or {})}
        title = "" if self.data.row_names else "row "
        said = [
            [title + _short(names[row])]
            + [f"{_short(name)}: {_short(text[row])}" for name, text in texts.items()]
            for row in self.rows
        ]
        return {"names": [names[row] for row in self.rows], "hover": ["<br>".join(s) for s in said]}


def _short(text: Any) -> str:
    """Text that is no markup and not too long to read."""
    return escape(shortened(str(text), 80))
