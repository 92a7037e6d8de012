"""Many embeddings of the same points, one small picture each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import colors
from .points import _marker_size
from .style import SMALL, TEXT, bare, drawing_axes, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def small_multiples(
    panels: Mapping[str, ArrayLike],
    labels: ArrayLike | None = None,
    *,
    captions: Mapping[str, str] | None = None,
    n_columns: int = 3,
    ax: Axes | None = None,
) -> Axes:
    """Small scatters of the same points, each with its name above, in the same colours.

    Parameters
    ----------
    panels : mapping of str to array-like of shape (n, m)
        Coordinates of each picture; the first two are drawn, a single one against the row order.
    labels : array-like of shape (n,), optional
        Classes, or numbers with fractions, which become a continuous scale.
    captions : mapping of str to str, optional
        What is written under a picture.
    n_columns : int
        Pictures in a row.
    ax : matplotlib.axes.Axes, optional
        Axes whose place the pictures take.

    Returns
    -------
    matplotlib.axes.Axes
        The first picture.
    """
    n_rows = -(-len(panels) // n_columns)
    ax = drawing_axes(ax, 3.0 * n_columns, 2.9 * n_rows)
    place = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax must be a subplot, got free Axes; make it with figure.add_subplot()")
    figure = figure_of(ax)
    # Not removed: whoever made it may still ask it for its figure.
    ax.set_axis_off()
    grid = place.subgridspec(n_rows, n_columns)
    count = max((len(np.asarray(Z)) for Z in panels.values()), default=0)
    paint = colors.point_colors(labels, count=count)
    drawn = []
    for at, (name, Z) in enumerate(panels.items()):
        one = figure.add_subplot(grid[at // n_columns, at % n_columns])
        panel(one, Z, paint)
        one.set_title(name, loc="left", fontsize=TEXT, color=colors.INK)
        one.set_xlabel((captions or {}).get(name, ""), fontsize=SMALL, loc="left")
        drawn.append(one)
    return drawn[0]


def panel(ax: Axes, Z: ArrayLike, paint: Sequence[str]) -> None:
    """Draw points in their colours, small and without axes."""
    points = np.asarray(Z, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    across, up = points[:, 0], points[:, 1 % points.shape[1]]
    if points.shape[1] == 1:
        across = np.arange(len(points), dtype=np.float64)
    else:
        ax.set_aspect("equal", adjustable="datalim")
    ax.scatter(across, up, s=0.4 * _marker_size(len(points)), c=paint, linewidths=0)
    bare(ax)
