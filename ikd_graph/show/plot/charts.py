"""Charts of numbers on Axes: spectra, counts, curves against a threshold or a noise level, times.

What each shows is described in `ikd_graph.show.charts`, for papers and pages alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...dimension import DimensionEstimate
from .. import charts, colors
from ..charts import Chart
from .style import SMALL, drawing_axes, figure_of, quiet, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def chart(what: Chart, *, ax: Axes | None = None) -> Axes:
    """Draw a chart that is described.

    Parameters
    ----------
    what : Chart
        Description, see `ikd_graph.show.charts`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    ax = drawing_axes(ax, 6.4 if what.curves else 5.6, 4.2 if what.curves else 3.6)
    ends = []
    for curve in what.curves:
        if curve.half is not None:
            most = np.inf if what.ceiling is None else what.ceiling
            above = np.minimum(curve.y + curve.half, most)
            ax.fill_between(curve.x, curve.y - curve.half, above, color=curve.color,
                            alpha=0.16, linewidth=0)  # fmt: skip
        ax.plot(curve.x, curve.y, color=curve.color, linewidth=2.0 if curve.line else 0.0,
                marker="o" if curve.dots else "", markersize=4)  # fmt: skip
        known = np.flatnonzero(np.isfinite(curve.y))
        if known.size and what.named:
            at = known[0 if what.named == "left" else -1]
            ends.append((curve.y[at], curve.x[at], curve.name, curve.color))
    if what.bars is not None:
        _draw_bars(ax, what.bars)
    elif not what.curves:
        ax.text(0.5, 0.5, "none", transform=ax.transAxes, ha="center", color=colors.MUTED)
    quiet(ax)
    for axis, log in (("x", what.log_x), ("y", what.log_y)):
        if log:
            ax.set(**{f"{axis}scale": "log"})
    if what.bars is not None:
        whole_ticks(ax.xaxis)
    _label_ends(ax, ends, side=what.named)
    if what.mark is not None:
        _draw_mark(ax, *what.mark)
    ax.set_xlabel(what.xlabel)
    ax.set_ylabel(what.ylabel)
    return ax


def _draw_bars(ax: Axes, bars: charts.Bars) -> None:
    """Upright bars on a line at zero."""
    step = float(bars.at[1] - bars.at[0]) if bars.at.size > 1 else 1.0
    fill = [colors.ACCENT if k < bars.kept else colors.RULE for k in range(bars.at.size)]
    ax.bar(bars.at, bars.heights, width=0.8 * step, color=fill)
    ax.axhline(0.0, color=colors.RULE, linewidth=1.0)


def _draw_mark(ax: Axes, at: float, text: str) -> None:
    """Dashed upright line with its text above."""
    ax.axvline(at, color=colors.SECOND, linewidth=1.4, linestyle=(0, (4, 3)))
    ax.annotate(text, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(5, 2),
                textcoords="offset points", va="bottom", fontsize=SMALL,
                color=colors.INK)  # fmt: skip


def spectrum(
    eigenvalues: ArrayLike, n_components: int | None = None, *, ax: Axes | None = None
) -> Axes:
    """Eigenvalues as bars, those kept in colour, with the gap that ends the dimensions marked.

    Parameters
    ----------
    eigenvalues : array-like of shape (k,)
        Eigenvalues, descending; negative ones are drawn below the line.
    n_components : int, optional
        Number of eigenvalues that became coordinates.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    return chart(charts.spectrum(eigenvalues, n_components), ax=ax)


def noise_curves(
    levels: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    ylabel: str = "R² after affine alignment",
    xlabel: str = "noise",
    ax: Axes | None = None,
) -> Axes:
    """Accuracy of several methods against noise: the mean over seeds in a band of one deviation.

    Parameters
    ----------
    levels : array-like of shape (k,)
        Noise levels, ascending.
    scores : mapping of str to array-like of shape (k,) or (k, n_seeds)
        Scores of each method; NaN where a run failed.
    ylabel : str
        Name of the score.
    xlabel : str
        Name of what varies.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    return chart(charts.noise_curves(levels, scores, ylabel, xlabel), ax=ax)


def level_bars(
    values: Mapping[str, float],
    say: Callable[[float], str] = "{:.3g}".format,
    *,
    xlabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Lying bars, each with its name and value, in the order given.

    Parameters
    ----------
    values : mapping of str to float
        Name and length; NaN is written as such and has no bar.
    say : callable
        Writes a finite value.
    xlabel : str
        What the values are.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    ax = drawing_axes(ax, 5.6, 0.9 + 0.34 * len(values))
    bars = charts.levels(values, say)
    ax.barh(range(len(bars)), [bar.share for bar in bars], height=0.62, color=colors.ACCENT)
    for row, bar in enumerate(bars):
        ax.annotate(bar.text, (bar.share, row), xytext=(5, 0), va="center",
                    textcoords="offset points", fontsize=SMALL, color=colors.INK)  # fmt: skip
    quiet(ax, grid=None)
    ax.set_yticks(range(len(bars)), [bar.name for bar in bars])
    ax.set_xticks([])
    ax.set_xlabel(xlabel)
    ax.spines["bottom"].set_visible(False)
    ax.invert_yaxis()
    ax.margins(x=0.16)
    return ax


def dimensions(result: DimensionEstimate, *, ax: Axes | None = None) -> Axes:
    """Scores on held-out columns over the number of dimensions, in a band of two standard errors.

    Parameters
    ----------
    result : DimensionEstimate
        Of `ikd_graph.dimension.estimate`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    ax = chart(charts.dimensions(result), ax=ax)
    whole_ticks(ax.xaxis)
    return ax


def _label_ends(ax: Axes, ends: list[tuple[float, float, str, str]], side: str) -> None:
    """Write names beside the (y, x, name, colour) ends of lines, apart where they would touch."""
    if not ends:
        return
    ax.autoscale_view()
    figure = figure_of(ax)
    to_share = ax.transScale + ax.transLimits
    order = sorted(ends)
    shares = [to_share.transform((x, y))[1] for y, x, *_ in order]
    height = ax.get_position().height * figure.get_figheight() * 72
    apart = 1.35 * SMALL / max(height, 1.0)
    for k in range(1, len(shares)):
        shares[k] = max(shares[k], shares[k - 1] + apart)
    slip = max(0.0, shares[-1] - 1.0)
    for (_, x, name, color), share in zip(order, shares, strict=True):
        ax.annotate(
            name, (x, share - slip), xycoords=("data", "axes fraction"),
            xytext=(8 if side == "right" else 6, 0 if side == "right" else 7),
            textcoords="offset points", va="center", ha="left", fontsize=SMALL + 0.5,
            color=color, fontweight="bold", annotation_clip=False,
        )  # fmt: skip
