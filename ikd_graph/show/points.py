"""Points as pages hold them: coordinates, names, labels and the colours of these."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..study.datasets import Dataset, Labels
from ..study.label_scores import label_quantity
from . import colors
from .colors import Paint
from .figures import color_scale, packed

MOST_POINTS = 100_000
"""Points of one picture: WebGL draws so many without a stutter, and a page stays below 10 MB."""

# More than these are drawn by the graphics card, fewer by pictures that printers like better.
_MANY = 4000

_SYMBOLS = dict(
    zip(
        colors.MARKERS,
        ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross"),
        strict=True,
    )
)


def paint(labels: Labels) -> Paint:
    """Choose how a column of labels colours points."""
    # More classes than can be told apart are better on a scale, where they are numbers.
    many = label_quantity(labels) if len(labels.names) > colors.MAX_CLASSES else None
    y, names = (labels.y, labels.names or None) if many is None else (many, None)
    return colors.paint(y, names, title=labels.title, palette=labels.palette, period=labels.period)


def paint_points(data: Dataset) -> Paint:
    """Choose the colours of the points of a data set, by its first column of labels."""
    return paint(data.all_labels[0]) if data.all_labels else Paint()


def sample_rows(codes: NDArray[np.intp], most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Rows to draw: all while they are few, else a sample that keeps every class in proportion.

    Returns at most ``most`` row numbers, ascending.
    """
    if codes.size <= most:
        return np.arange(codes.size)
    shuffled = np.random.default_rng(0).permutation(codes.size)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return np.sort(by_class[np.linspace(0, codes.size - 1, most).astype(np.intp)])


def rows_to_draw(data: Dataset, most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Rows of a data set that a picture shows, classes of the first labels in proportion."""
    groups = paint_points(data).groups
    return sample_rows(np.zeros(data.n_samples, np.intp) if groups is None else groups.codes, most)


def drawn_note(rows: NDArray[np.intp], n_points: int) -> str:
    """Sentence that says how many points a picture leaves out; empty where it shows all."""
    if rows.size == n_points:
        return ""
    return f" {rows.size:,} of {n_points:,} points are drawn, every class in proportion."


def table(
    data: Dataset,
    columns: Sequence[Paint],
    rows: NDArray[np.intp],
    errors: ArrayLike | None = None,
) -> dict[str, Any]:
    """What a page knows of its points: names, columns of labels, uncertainty; ``rows`` of them."""
    found: dict[str, Any] = {
        "n": int(rows.size),
        "many": bool(rows.size > _MANY),
        "title": data.row_title or "row",
        "columns": [_column(one, rows) for one in columns],
    }
    if data.row_names:
        found["names"] = [str(data.row_names[row]) for row in rows]
    if rows.size < data.n_samples:
        found["index"] = packed(rows, "i4")
    if errors is not None:
        found["errors"] = packed(np.asarray(errors, dtype=float)[rows])
    return found


def _column(one: Paint, rows: NDArray[np.intp]) -> dict[str, Any]:
    """One column of labels as the page's script reads it."""
    if one.groups is None and one.values is None:
        scale = [[k, colors.ACCENT] for k in range(2)]
        return {"title": one.title, "data": packed(np.zeros(rows.size)), "scale": scale}
    if one.groups is None:
        (low, high), values = one.ends, np.asarray(one.values)[rows]
        ends = {"cmin": low, "cmax": high}
        return {"title": one.title, "data": packed(values), "scale": color_scale(one), "ends": ends}
    names = one.groups.names
    found: dict[str, Any] = {
        "title": one.title,
        "data": packed(one.groups.codes[rows], "i2"),
        "classes": list(names),
        "colors": [*(one.groups.color(code) for code in range(len(names))), colors.MUTED],
    }
    markers = [_SYMBOLS[colors.class_marker(code)] for code in range(len(names))]
    if len(set(markers)) > 1:
        found["symbols"] = markers
    return found


def variance_shares(latent: ArrayLike) -> NDArray[np.float64]:
    """Share of each coordinate in the variance of a latent: what a picture of it shows.

    Examples
    --------
    >>> variance_shares([[-3.0, 1.0], [3.0, 1.0], [-3.0, -1.0], [3.0, -1.0]])
    array([0.9, 0.1])
    """
    spread = np.var(np.asarray(latent, dtype=np.float64), axis=0)
    return np.asarray(spread / (spread.sum() or 1.0))


def picture(
    Z: ArrayLike,
    rows: NDArray[np.intp],
    shares: ArrayLike = (),
    *,
    column: int = 0,
    main: bool = True,
    **more: Any,
) -> dict[str, Any]:
    """One picture of the points of a page: their coordinates, and the column that colours them.

    ``shares`` are of the variance, see `variance_shares`. ``more`` are ``links``, pairs of
    positions among ``rows``, and ``places``, the cliques of each point and where they put it.
    """
    points = np.asarray(Z, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    dims = [
        {"title": f"dimension {k + 1}", "data": packed(points[rows, k])}
        for k in range(points.shape[1])
    ]
    for dim, share in zip(dims, np.asarray(shares, dtype=float).tolist(), strict=False):
        dim["note"] = f" ({share:.0%} of the embedding's spread)"
    return {"dims": dims, "column": column, "main": main, **more}


def legend(one: Paint) -> dict[str, Any]:
    """What explains the colours of a column: entries of classes, or the ends of a scale."""
    if one.groups is not None:
        present = [int(code) for code in np.unique(one.groups.codes)]
        shown = [code for code in present if code >= 0] + [code for code in present if code < 0]
        return {
            "title": one.title,
            "entries": [
                (
                    code,
                    one.groups.names[code] if code >= 0 else "no label",
                    one.groups.color(code),
                )
                for code in shown
            ],
        }
    if one.values is None:
        return {"title": one.title, "entries": []}
    ends = [f"{end:.3g}" for end in one.ends]
    return {"title": one.title, "ends": ends, "stops": colors.sequence(one.period is not None)}


def in_order(data: Dataset, Z: NDArray[np.float64]) -> bool:
    """Whether rows follow one another: by their names, or because neighbours in order are near.

    Rows of a sequence are on average nearer to the next than half the distance of random pairs.
    """
    if len(Z) < 3:
        return False
    with suppress(ValueError):
        # Texts that are no numbers name rows, and are not in order.
        if data.row_names and np.all(np.diff([float(name) for name in data.row_names]) > 0):
            return True
    steps = np.linalg.norm(np.diff(Z, axis=0), axis=1).mean()
    mixed = Z[np.random.default_rng(0).permutation(len(Z))]
    return bool(steps < 0.5 * np.linalg.norm(Z - mixed, axis=1).mean())
