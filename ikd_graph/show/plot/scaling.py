"""Counts of boxes or pairs against their size, whose slope is a dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...study.dimension import ScalingFit
from .. import colors
from .style import SMALL, drawing_axes, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scaling(fit: ScalingFit, *, xlabel: str = "size", ax: Axes | None = None) -> Axes:
    """Counts against sizes on logarithmic axes, with the line that was fitted and its range.

    Parameters
    ----------
    fit : ScalingFit
        What `ikd_graph.study.dimension` found.
    xlabel : str
        What sizes are: side of a box, or radius.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    ax = drawing_axes(ax, 5.6, 4.0)
    low, high = fit.fit_range
    shown = fit.counts > 0.0
    sizes, counts = fit.sizes[shown], fit.counts[shown]
    used = (sizes >= low) & (sizes <= high)
    ax.axvspan(low, high, color=colors.RULE, alpha=0.35, linewidth=0)
    ax.plot(sizes[~used], counts[~used], "o", color=colors.MUTED, markersize=4)
    ax.plot(sizes[used], counts[used], "o", color=colors.ACCENT, markersize=5)
    # Boxes grow fewer with their size, pairs within a radius more.
    slope = fit.dimension if counts[0] > counts[-1] else -fit.dimension
    ends = np.array([low, high])
    line = np.exp(fit.intercept) * ends**slope
    ax.plot(ends, line, color=colors.SECOND, linewidth=2)
    # In the corner that the points leave free.
    side, align = (0.97, "right") if slope < 0.0 else (0.03, "left")
    ax.text(side, 0.96, f"dimension {fit.dimension:.2f}", transform=ax.transAxes, ha=align,
            va="top", fontsize=SMALL, color=colors.INK)  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    quiet(ax)
    ax.set_xlabel(xlabel)
    return ax
