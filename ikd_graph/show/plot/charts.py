"""Charts of numbers: spectra, counts, curves against a threshold or a noise level, times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...study.dimension import eigengap
from .. import colors
from ..words import say_seconds
from .style import SMALL, drawing_axes, figure_of, quiet, whole_ticks

# A drop by less is none to speak of.
_GAP = 1.1

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    values = np.asarray(eigenvalues, dtype=float)
    ax = drawing_axes(ax, 5.6, 3.6)
    rank = np.arange(1, values.size + 1)
    kept = values.size if n_components is None else n_components
    fill = [colors.ACCENT if r <= kept else colors.RULE for r in rank]
    ax.bar(rank, values, width=0.72, color=fill)
    gap = spectrum_gap(values)
    if gap:
        middle = 0.5 * (values[gap - 1] + values[gap])
        ax.axvline(gap + 0.5, color=colors.SECOND, linewidth=1.4, linestyle=(0, (4, 3)))
        ax.annotate(
            f"gap after {gap}",
            (gap + 0.5, max(middle, 0.6 * values[0])),
            xytext=(7, 0),
            textcoords="offset points",
            fontsize=SMALL,
            color=colors.INK,
            va="center",
        )
    ax.axhline(0.0, color=colors.RULE, linewidth=1.0)
    quiet(ax)
    ax.set_xlabel("eigenvalue")
    whole_ticks(ax.xaxis)
    return ax


def spectrum_gap(eigenvalues: ArrayLike) -> int:
    """Number of eigenvalues before the gap that ends the dimensions (`eigen.eigengap`), 0 without.

    Examples
    --------
    >>> spectrum_gap([9.0, 8.0, 1.0, 0.5])
    2
    """
    values = np.asarray(eigenvalues, dtype=float)
    if values.size < 2 or values.max(initial=0.0) <= 0.0:
        return 0
    found = eigengap(values)
    return found.n_components if found.ratios.max() > _GAP else 0


def degrees(degree: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """How many neighbours the points of a graph have.

    Parameters
    ----------
    degree : array-like of shape (n,)
        Number of neighbours of each point.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    values = np.asarray(degree, dtype=np.int64)
    ax = _counts(drawing_axes(ax, 5.6, 3.4), values)
    ax.set_xlabel("neighbours of a point")
    ax.set_ylabel("points")
    lone = int(np.sum(values == 0))
    if lone:
        ax.text(1.0, 0.97, f"{lone} without any", transform=ax.transAxes, ha="right", va="top",
                fontsize=SMALL, color=colors.INK)  # fmt: skip
    return ax


def clique_sizes(sizes: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """How many points the cliques have.

    Parameters
    ----------
    sizes : array-like of shape (n_cliques,)
        Number of points of each clique.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    ax = _counts(drawing_axes(ax, 5.6, 3.4), np.asarray(sizes, dtype=np.int64))
    ax.set_xlabel("points in a clique")
    ax.set_ylabel("cliques")
    return ax


def threshold_curve(
    levels: Mapping[str, Any], chosen: float | None = None, *, ax: Axes | None = None
) -> Axes:
    """What a threshold does: edges, components and cliques (log scale), coverage behind them.

    Parameters
    ----------
    levels : mapping
        ``threshold`` and any of ``edges``, ``components``, ``cliques`` (counts; NaN where unknown)
        and ``coverage`` (share of points in a clique that can be placed), each of shape (k,).
    chosen : float, optional
        Threshold to mark.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes of the counts; coverage has a twin of its own.
    """
    ax = drawing_axes(ax, 6.4, 4.0)
    at = np.asarray(levels["threshold"], dtype=float)
    quiet(ax)
    if "coverage" in levels:
        behind = ax.twinx()
        quiet(behind, grid=None)
        behind.fill_between(at, 100 * np.asarray(levels["coverage"], float), color=colors.RULE,
                            alpha=0.55, linewidth=0)  # fmt: skip
        behind.set_ylim(0, 105)
        behind.set_ylabel("points covered, % (grey)")
        ax.set_zorder(behind.get_zorder() + 1)
    ends = []
    for code, name in enumerate(("edges", "components", "cliques")):
        if name in levels:
            values = np.asarray(levels[name], dtype=float)
            values = np.where(values > 0, values, np.nan)
            color = colors.class_color((0, 2, 3)[code])
            ax.plot(at, values, color=color, linewidth=2.0)
            known = np.flatnonzero(np.isfinite(values))
            if known.size:
                ends.append((values[known[0]], at[known[0]], name, color))
    ax.set_yscale("log")
    _label_ends(ax, ends, side="left")
    if chosen is not None:
        ax.axvline(chosen, color=colors.SECOND, linewidth=1.4, linestyle=(0, (4, 3)))
        ax.annotate(f"used: {chosen:.3g}", (chosen, 1.0), xycoords=("data", "axes fraction"),
                    xytext=(5, 2), textcoords="offset points", va="bottom", fontsize=SMALL,
                    color=colors.INK)  # fmt: skip
    ax.set_xlabel("threshold on the correlation")
    ax.set_ylabel("count")
    return ax


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
    ax = drawing_axes(ax, 6.4, 4.2)
    at = np.asarray(levels, dtype=float)
    ends = []
    for code, (name, runs) in enumerate(scores.items()):
        mean, spread = mean_and_spread(runs)
        color = colors.class_color(code)
        ax.fill_between(at, mean - spread, mean + spread, color=color, alpha=0.16, linewidth=0)
        ax.plot(at, mean, color=color, linewidth=2.0, marker="o", markersize=4)
        known = np.flatnonzero(np.isfinite(mean))
        if known.size:
            ends.append((mean[known[-1]], at[known[-1]], name, color))
    quiet(ax)
    _label_ends(ax, ends, side="right")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def mean_and_spread(runs: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation over the last axis, without the runs that failed.

    NaN is a failed run; without any other the mean is NaN, the deviation of a single one is 0.
    """
    table = np.asarray(runs, dtype=float)
    table = table[:, None] if table.ndim == 1 else table
    good = np.isfinite(table)
    count = np.maximum(good.sum(axis=1), 1)
    mean = np.where(good, table, 0.0).sum(axis=1) / count
    spread = np.sqrt(np.where(good, (table - mean[:, None]) ** 2, 0.0).sum(axis=1) / count)
    mean = np.where(good.any(axis=1), mean, np.nan)
    return mean, spread


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
    lengths = np.array([float(value) for value in values.values()])
    place = np.arange(lengths.size)
    ax.barh(place, np.nan_to_num(lengths), height=0.62, color=colors.ACCENT)
    for row, value in zip(place, lengths, strict=True):
        text = say(value) if np.isfinite(value) else "did not finish"
        ax.annotate(text, (max(np.nan_to_num(value), 0.0), row), xytext=(5, 0), va="center",
                    textcoords="offset points", fontsize=SMALL, color=colors.INK)  # fmt: skip
    quiet(ax, grid=None)
    ax.set_yticks(place, list(values))
    ax.set_xticks([])
    ax.set_xlabel(xlabel)
    ax.spines["bottom"].set_visible(False)
    ax.invert_yaxis()
    ax.margins(x=0.16)
    return ax


def named_points(
    points: Mapping[str, tuple[float, float]],
    *,
    xlabel: str = "",
    ylabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Few points, each with its name beside it: methods by two measures.

    Parameters
    ----------
    points : mapping of str to (float, float)
        Name and place; what is NaN is left out.
    xlabel, ylabel : str
        What the places are.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    ax = drawing_axes(ax, 6.4, 4.6)
    known = {name: at for name, at in points.items() if np.isfinite(at).all()}
    ends = []
    for code, (name, (x, y)) in enumerate(known.items()):
        color = colors.class_color(code)
        ax.plot([x], [y], "o", color=color, markersize=8)
        ends.append((y, x, name, color))
    quiet(ax)
    ax.margins(x=0.18, y=0.1)
    _label_ends(ax, ends, side="right")
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    return ax


def time_bars(seconds: Mapping[str, float], *, ax: Axes | None = None) -> Axes:
    """Seconds as lying bars, each with its name and value, in the order given.

    Parameters
    ----------
    seconds : mapping of str to float
        Name of a stage or method and its time; NaN where it did not finish.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    return level_bars(seconds, say_seconds, ax=ax)


def _counts(ax: Axes, values: NDArray[np.int64]) -> Axes:
    """Histogram of whole numbers: a bar for each while they are few, in bins beyond."""
    if values.size == 0:
        ax.text(0.5, 0.5, "none", transform=ax.transAxes, ha="center", color=colors.MUTED)
        quiet(ax)
        return ax
    low, high = int(values.min()), int(values.max())
    step = max(1, int(np.ceil((high - low + 1) / 40)))
    edges = np.arange(low, high + step + 1, step) - 0.5
    heights, _ = np.histogram(values, edges)
    ax.bar(0.5 * (edges[1:] + edges[:-1]), heights, width=0.86 * step, color=colors.ACCENT)
    quiet(ax)
    whole_ticks(ax.xaxis)
    whole_ticks(ax.yaxis)
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
