"""Colours and names of the points of a data set, as every page shows them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...study.datasets import Dataset
from ...study.label_scores import label_quantity
from .. import colors, page, svg


class Paint(NamedTuple):
    """How the points of a data set look on a page."""

    groups: colors.Groups | None  # classes, if there are any
    values: NDArray[np.float64] | None  # (n,) quantity, if the labels are one
    colors: tuple[str, ...] | None  # (n,) colour of each point where there are no classes
    rows: NDArray[np.intp]  # rows that are drawn

    @property
    def names(self) -> dict[str, Any]:
        """What hovering a point says (`page.document`)."""
        if self.groups is not None:
            return {"codes": self.groups.codes.tolist(), "classes": list(self.groups.names)}
        if self.values is not None:
            return {"codes": [f"{value:.4g}" for value in self.values]}
        return {}


def paint_points(data: Dataset, most: int = svg.MOST_POINTS) -> Paint:
    """Choose the colours of the points of a data set, and the rows that are drawn."""
    everything = np.zeros(data.n_samples, dtype=np.intp)
    if data.y is None:
        rows = svg.sample_rows(everything, most)
        return Paint(None, None, (colors.ACCENT,) * data.n_samples, rows)
    many = label_quantity(data.all_labels[0]) if _are_many(data) else None
    if many is None and (data.label_names or not colors.is_quantity(data.y)):
        groups = colors.group(data.y, data.label_names or None)
        return Paint(groups, None, None, svg.sample_rows(groups.codes, most))
    values = np.asarray(data.y, dtype=np.float64) if many is None else many
    rows = svg.sample_rows(everything, most)
    return Paint(None, values, tuple(colors.ramp(values)), rows)


def _are_many(data: Dataset) -> bool:
    """Whether there are more classes than can be told apart: numbers are better on a scale."""
    return len(data.label_names) > colors.MAX_CLASSES


def draw(
    Z: NDArray[np.float64],
    paint: Paint,
    title: str,
    height: float = 460.0,
    radius: float | None = None,
) -> str:
    """Scatter of an embedding in these colours, see `svg.scatter`."""
    look = paint.groups if paint.groups is not None else paint.colors or ()
    return svg.scatter(Z, look, rows=paint.rows, title=title, height=height, radius=radius)


def legend(paint: Paint, title: str = "", row: bool = False) -> str:
    """Legend of these colours, or nothing where all points look the same."""
    if paint.groups is not None:
        return page.class_legend(paint.groups, row)
    return page.scale_legend(paint.values, title) if paint.values is not None else ""


def drawn_note(paint: Paint, n_points: int) -> str:
    """Sentence that says how many points a picture leaves out; empty where it shows all."""
    if paint.rows.size == n_points:
        return ""
    return f" {paint.rows.size:,} of {n_points:,} points are drawn, every class in proportion."
