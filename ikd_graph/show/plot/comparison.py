"""A comparison in one picture: every embedding at every noise level, scores, disagreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...study.compare import SCORES, Comparison
from .. import colors
from .points import embedding, panel
from .style import SMALL, drawing_axes, figure_of, quiet, subplot_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def size(found: Comparison) -> tuple[float, float]:
    """Width and height in inches."""
    bars = 1.2 + 0.16 * len(found.titles) * (1 + len(found.levels))
    return max(7.0, 2.1 * len(found.titles)), 2.1 * len(found.levels) + max(bars, 2.8)


def comparison(found: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw a comparison: methods across, noise downwards; below scores, and where methods differ.

    Parameters
    ----------
    found : Comparison
        What `ikd_graph.compare` returned.
    ax : matplotlib.axes.Axes, optional
        Axes whose place the pictures take; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Of the scores.
    """
    width, height = size(found)
    ax = drawing_axes(ax, width, height)
    figure, place = figure_of(ax), subplot_of(ax)
    above = 2.1 * len(found.levels)
    halves = place.subgridspec(2, 1, height_ratios=[above, height - above])
    labels = found.data.y if found.data.labels is None else found.data.labels
    paint = colors.paint(labels)
    grid = halves[0].subgridspec(len(found.levels), len(found.titles))
    for down, level in enumerate(found.levels):
        for across, title in enumerate(found.titles):
            small = figure.add_subplot(grid[down, across])
            hole = np.full((found.data.n_samples, 2), np.nan)
            panel(small, found.embeddings.get((title, level), hole), paint)
            small.set_title("" if down else title, loc="left", fontsize=SMALL)
            if not across and len(found.levels) > 1:
                small.set_ylabel(f"noise {level:g}", fontsize=SMALL)
    gaps = found.disagreement
    parts = halves[1].subgridspec(1, 1 if gaps is None else 2)
    if gaps is not None and found.pair is not None:
        where = figure.add_subplot(parts[0, 1])
        embedding(found.embeddings[found.pair[0], found.levels[0]], gaps, ax=where)
        where.set(xlabel="", ylabel="")
        text = f"distance of a point between\n{found.pair[0]} and {found.pair[1]}"
        where.set_title(text, loc="left", fontsize=SMALL)
    return _bars(found, figure.add_subplot(parts[0, 0]))


def _bars(found: Comparison, ax: Axes) -> Axes:
    """Scores as lying bars with their standard errors, noise levels side by side."""
    height = 0.8 / len(found.levels)
    for k, level in enumerate(found.levels):
        rows = [found.row(title, level) for title in found.titles]
        at = np.arange(len(rows)) + (k - 0.5 * (len(found.levels) - 1)) * height
        ax.barh(at, [row.score for row in rows], 0.9 * height, color=colors.class_color(k),
                xerr=[row.error for row in rows], error_kw={"ecolor": colors.INK, "elinewidth": 1},
                label=f"noise {level:g}")  # fmt: skip
    quiet(ax, grid="x")
    ax.set_yticks(range(len(found.titles)), found.titles)
    ax.invert_yaxis()
    ax.set_xlabel(SCORES[found.measure])
    if len(found.levels) > 1:
        ax.legend(frameon=False, fontsize=SMALL, loc="lower center", ncols=len(found.levels),
                  bbox_to_anchor=(0.5, 1.0))  # fmt: skip
    return ax
