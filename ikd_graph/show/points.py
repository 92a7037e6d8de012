"""Points of a data set as pictures show them: which, in what colours, and what describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..study.datasets import Dataset, Labels
from ..study.label_scores import label_quantity
from . import colors
from .colors import Paint

MOST_POINTS = 50_000
"""Points of one picture of a page, which stays below 10 MB and does not stutter."""


def paint(labels: Labels) -> Paint:
    """Choose how a column of labels colours points."""
    # More classes than can be told apart are better on a scale, where they are numbers.
    many = label_quantity(labels) if len(labels.names) > colors.MAX_CLASSES else None
    y, names = (labels.y, labels.names or None) if many is None else (many, None)
    return colors.paint(y, names, title=labels.title, palette=labels.palette, period=labels.period)


def paint_points(data: Dataset) -> Paint:
    """Choose the colours of the points of a data set, by its first column of labels."""
    return paint(data.all_labels[0]) if data.all_labels else Paint()


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


def short(text: Any, longest: int = 80) -> str:
    """Text that is no markup and not too long to read."""
    text = str(text)
    return escape(text if len(text) <= longest else text[: longest - 1] + "…")


def paint_of(paint: Paint, rows: NDArray[np.intp]) -> Paint:
    """The colours of some of the points."""
    groups = None if paint.groups is None else paint.groups._replace(codes=paint.groups.codes[rows])
    return paint._replace(
        groups=groups, values=None if paint.values is None else paint.values[rows]
    )


def variance_shares(latent: ArrayLike) -> NDArray[np.float64]:
    """Share of each coordinate in the variance of a latent: what a picture of it shows.

    Examples
    --------
    >>> variance_shares([[-3.0, 1.0], [3.0, 1.0], [-3.0, -1.0], [3.0, -1.0]])
    array([0.9, 0.1])
    """
    spread = np.var(np.asarray(latent, dtype=np.float64), axis=0)
    return np.asarray(spread / (spread.sum() or 1.0))
