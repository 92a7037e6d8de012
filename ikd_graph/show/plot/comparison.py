"""A comparison in one picture: every embedding at every noise level, scores, disagreement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...study.compare import SCORES, Comparison
from .. import colors
from .points import embedding, panel
from .style import SMALL, as_word, drawing_axes, figure_of, quiet, shortened, subplot_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def size(result: Comparison) -> tuple[float, float]:
    """Width and height in inches."""
    bars = 1.2 + 0.16 * len(result.titles) * (1 + len(result.levels))
    return max(7.0, 2.1 * len(result.titles)), 2.1 * len(result.levels) + max(bars, 2.8)


def comparison(result: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw a comparison: methods across, noise downwards; below scores, and where methods differ.

    Parameters
    ----------
    result : Comparison
        What `ikd_graph.compare` returned.
    ax : matplotlib.axes.Axes, optional
        Axes whose place the pictures take; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Of the scores.
    """
    width, height = size(result)
    ax = drawing_axes(ax, width, height)
    figure, place = figure_of(ax), subplot_of(ax)
    above = 2.1 * len(result.levels)
    halves = place.subgridspec(2, 1, height_ratios=[above, height - above])
    labels = result.data.y if result.data.labels is None else result.data.labels
    paint = colors.paint(labels, title=result.data.label_title)
    grid = halves[0].subgridspec(len(result.levels), len(result.titles))
    for down, level in enumerate(result.levels):
        for across, title in enumerate(result.titles):
            small = figure.add_subplot(grid[down, across])
            hole = np.full((result.data.n_samples, 2), np.nan)
            panel(small, result.embeddings.get((title, level), hole), paint)
            small.set_title("" if down else title, loc="left", fontsize=SMALL)
            if not across and len(result.levels) > 1:
                small.set_ylabel(f"noise {level:g}", fontsize=SMALL)
    if paint.groups is not None:
        _legend(figure, paint.groups, paint.title)
    gaps = result.disagreement
    parts = halves[1].subgridspec(1, 1 if gaps is None else 2)
    if gaps is not None and result.pair is not None:
        where = figure.add_subplot(parts[0, 1])
        embedding(result.embeddings[result.pair[0], result.levels[0]], gaps, ax=where)
        where.set(xlabel="", ylabel="")
        text = f"distance of a point between\n{result.pair[0]} and {result.pair[1]}"
        where.set_title(text, loc="left", fontsize=SMALL)
    return _bars(result, figure.add_subplot(parts[0, 0]))


def _legend(figure: Any, groups: colors.Groups, title: str) -> None:
    """Classes below all pictures."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker="o", color=groups.color(code), label=shortened(name))
        for code, name in enumerate(groups.names[: colors.MAX_CLASSES])
    ]
    made = figure.legend(handles=handles, title=shortened(title) or None, ncols=6, frameon=False,
                         loc="outside lower center", fontsize=SMALL,
                         handletextpad=0.1)  # fmt: skip
    for text in (*made.get_texts(), made.get_title()):
        as_word(text)


def _bars(result: Comparison, ax: Axes) -> Axes:
    """Scores as lying bars with their standard errors, noise levels side by side."""
    height = 0.8 / len(result.levels)
    for k, level in enumerate(result.levels):
        rows = [result.row(title, level) for title in result.titles]
        at = np.arange(len(rows)) + (k - 0.5 * (len(result.levels) - 1)) * height
        ax.barh(at, [row.score for row in rows], 0.9 * height, color=colors.class_color(k),
                xerr=[row.error for row in rows], error_kw={"ecolor": colors.INK, "elinewidth": 1},
                label=f"noise {level:g}")  # fmt: skip
    quiet(ax, grid="x")
    ax.set_yticks(range(len(result.titles)), result.titles)
    ax.invert_yaxis()
    ax.set_xlabel(SCORES[result.measure])
    if len(result.levels) > 1:
        ax.legend(frameon=False, fontsize=SMALL, loc="lower center", ncols=len(result.levels),
                  bbox_to_anchor=(0.5, 1.0))  # fmt: skip
    return ax
