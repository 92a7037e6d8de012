"""A comparison in one picture: every embedding at every noise level, scores, disagreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...study.compare import SCORES, Comparison
from .. import colors
from ..charts import Bars, Chart
from .draw import chart, embedding, panel
from .style import SMALL, class_legend, drawing_axes, figure_of, subplot_of

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
        Axes whose position the pictures take; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Of the scores.
    """
    width, height = size(result)
    ax = drawing_axes(ax, width, height)
    figure, above = figure_of(ax), 2.1 * len(result.levels)
    halves = subplot_of(ax).subgridspec(2, 1, height_ratios=[above, height - above])
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
        class_legend(figure, paint.groups, paint.title, loc="outside lower center", ncols=6)
    gaps = result.disagreement
    below = halves[1].subgridspec(1, 1 if gaps is None else 2)
    if gaps is not None and result.pair is not None:
        where = figure.add_subplot(below[0, 1])
        embedding(result.embeddings[result.pair[0], result.levels[0]], gaps, ax=where)
        where.set(xlabel="", ylabel="")
        text = f"distance of a point between\n{result.pair[0]} and {result.pair[1]}"
        where.set_title(text, loc="left", fontsize=SMALL)
    return chart(scores(result), ax=figure.add_subplot(below[0, 0]))


def scores(result: Comparison) -> Chart:
    """Scores as lying bars with their standard errors, noise levels side by side."""
    n = len(result.levels)
    bars = []
    for k, level in enumerate(result.levels):
        rows = [result.row(title, level) for title in result.titles]
        at = np.arange(float(len(rows))) + (k - 0.5 * (n - 1)) * 0.8 / n
        lengths, errors = np.array([(row.score, row.error) for row in rows], np.float64).T
        name = f"noise {level:g}" if n > 1 else ""
        bars.append(Bars(at, lengths, colors.class_color(k), name, 0.72 / n, errors))
    label = SCORES[result.measure]
    return Chart(f"{label} of each method", label, bars=tuple(bars), rows=tuple(result.titles))
