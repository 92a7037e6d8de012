"""A comparison in one picture: every embedding at every noise level, and the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...study.compare import SCORES, Comparison
from .. import colors
from ..charts import Bars, Chart
from .draw import chart, small_multiples
from .style import drawing_axes, figure_of, subplot_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def size(result: Comparison) -> tuple[float, float]:
    """Width and height in inches."""
    bars = max(1.2 + 0.16 * len(result.titles) * (1 + len(result.levels)), 2.8)
    return max(7.0, 2.4 * len(result.titles)), 2.4 * len(result.levels) + bars


def comparison(result: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw a comparison: methods across, noise downwards, and the scores below.

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
    figure, above = figure_of(ax), 2.4 * len(result.levels)
    halves = subplot_of(ax).subgridspec(2, 1, height_ratios=[above, height - above])
    hole = np.full((result.data.n_samples, 2), np.nan)
    panels = {
        title + (f", noise {level:g}" if len(result.levels) > 1 else ""): result.embeddings.get(
            (title, level), hole
        )
        for level in result.levels
        for title in result.titles
    }
    labels = result.data.y if result.data.labels is None else result.data.labels
    paint = colors.paint(labels, title=result.data.label_title)
    upper = figure.add_subplot(halves[0])
    small_multiples(panels, paint, n_columns=len(result.titles), ax=upper)
    return chart(scores(result), ax=figure.add_subplot(halves[1]))


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
