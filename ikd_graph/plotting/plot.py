"""Pictures: functions that draw data into an Axes (their own if none is given) and return it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import validation as check
from .._base.files import write_whole
from .._base.types import Floats
from .._base.validation import validate
from .._base.warn import warn
from . import charts, colors
from .charts import Bars, Chart, Points
from .colors import INK, RULE, Groups, Paint, class_marker

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = [
    "arrows", "axes", "chart", "embedding", "png", "quiet", "save",
    "small_multiples", "surfaces",
]  # fmt: skip

TEXT = 11.0
SMALL = 9.5
_ASIAN = ("CJK", "Hei", "Gothic", "Ming", "YaHei", "Unicode MS")


def axes(width: float = 6.4, height: float = 4.6) -> Axes:
    """Axes of a new figure that pyplot knows nothing of, for pictures that go to a file.

    Parameters
    ----------
    width : float
        Width in inches.
    height : float
        Height in inches.

    Returns
    -------
    matplotlib.axes.Axes
        The only Axes of the figure; the figure is its ``figure`` attribute.
    """
    return _axes_of_new("figure", "Figure", width, height)


@validate(dpi=check.whole(10, 2400))
def save(ax: Axes, path: str | os.PathLike[str], dpi: int = 160) -> Path:
    """Save the figure of an Axes, whole or not at all.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Any Axes of the figure.
    path : str or path
        File to write; its suffix is the format (.png, .svg, .pdf).
    dpi : int
        Resolution of pixel formats.

    Returns
    -------
    pathlib.Path
        The file written.
    """
    form = Path(path).suffix.lstrip(".").lower() or "png"
    return write_whole(path, partial(_draw, ax, form, dpi))


@validate(dpi=check.whole(10, 2400))
def png(ax: Axes, dpi: int = 160) -> bytes:
    """Draw the figure of an Axes as PNG in memory.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Any Axes of the figure.
    dpi : int
        Resolution.

    Returns
    -------
    bytes
        The PNG.
    """
    out = BytesIO()
    _draw(ax, "png", dpi, out)
    return out.getvalue()


def _draw(ax: Axes, form: str, dpi: int, out: Any) -> None:
    """Draw a figure without empty margins, and say in one line which letters no font has."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        figure_of(ax).savefig(
            out, format=form, dpi=dpi, facecolor="white", bbox_inches="tight", pad_inches=0.12
        )
    missing = {str(warning.message) for warning in heard if "Glyph" in str(warning.message)}
    for warning in heard:
        if "Glyph" not in str(warning.message):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if missing:
        warn(
            f"the picture lacks {len(missing)} letters of some names, because no font that "
            "matplotlib knows has them; install one, such as Noto Sans CJK"
        )


def drawing_axes(ax: Axes | None, width: float = 6.4, height: float = 4.6) -> Axes:
    """Return the Axes given, or one in a new pyplot figure, which notebooks show by themselves."""
    return _axes_of_new("pyplot", "figure", width, height) if ax is None else ax


def _axes_of_new(module: str, make: str, width: float, height: float) -> Axes:
    """Axes of a new figure, with white space around it, that a module of matplotlib makes."""
    try:
        import_module("matplotlib")
        made_by = import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib, which is not installed; pip install "ikd_graph[plot]"'
        ) from error
    figure = getattr(made_by, make)(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.14, h_pad=0.14)
    return figure.add_subplot()


def quiet(ax: Axes, grid: Literal["x", "y"] | None = "y") -> None:
    """Take away what carries no data: box, tick marks, heavy lines; ``grid`` keeps faint lines."""
    ax.set_facecolor("none")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(RULE)
    ax.tick_params(which="both", length=0, labelsize=SMALL, labelcolor=INK, pad=6)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set(fontsize=TEXT, color=INK)
    if grid:
        ax.grid(axis=grid, color=RULE, linewidth=0.8)
        ax.set_axisbelow(True)


def figure_of(ax: Axes) -> Any:
    """Figure that an Axes belongs to, the outermost one."""
    figure: Any = ax.figure
    return figure.canvas.figure


def bare(ax: Axes) -> None:
    """Leave only the drawing: for coordinates whose unit and origin mean nothing."""
    quiet(ax, grid=None)
    ax.spines["bottom"].set_visible(False)
    ax.set(xticks=[], yticks=[])


def class_legend(ax: Any, groups: Groups, title: str = "", **where: Any) -> None:
    """Classes that have points next to a picture, or where the options of a legend put them.

    ``ax`` is an Axes or a figure.
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=class_marker(code), color=groups.color(code),
               label=shortened(name))
        for code, name in groups.items()
    ]  # fmt: skip
    options = {
        "loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0,
        "ncols": 1 + (len(handles) - 1) // 20,
    }  # fmt: skip
    legend = ax.legend(
        handles=handles, title=shortened(title) or None, frameon=False, fontsize=SMALL,
        labelcolor=INK, handletextpad=0.1, alignment="left", **(where or options),
    )  # fmt: skip
    for text in (*legend.get_texts(), legend.get_title()):
        as_word(text)


def color_map(paint: Paint) -> Any:
    """Return the continuous color scale as matplotlib wants it, one without a seam for angles."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = colors.sequence(paint.period is not None)
    return LinearSegmentedColormap.from_list("ikd_graph", stops)


def as_word(text: Any) -> Any:
    """Text whose dollars are dollars, in fonts that have its letters."""
    text.set(parse_math=False, fontfamily=_families())
    return text


@cache
def _families() -> list[str]:
    """Return the usual font and fonts of this machine with the letters of Asia."""
    from matplotlib import font_manager, rcParams

    names = sorted({font.name for font in font_manager.fontManager.ttflist})
    asian = [name for name in names if any(word in name for word in _ASIAN)]
    return [*rcParams["font.family"], *asian[:4]]


def subplot_of(ax: Axes) -> Any:
    """Position of an Axes in the grid of its figure, which pictures are to take; it is hidden."""
    position = ax.get_subplotspec()
    if position is None:
        raise ValueError("ax must be a subplot, got free Axes; make it with figure.add_subplot()")
    # Not removed: whoever made it may still ask it for its figure.
    ax.set_axis_off()
    return position


def shortened(name: str, longest: int = 32) -> str:
    """Return a name that leaves workspace for the picture, its end cut off where it is long.

    Examples
    --------
    >>> len(shortened("x" * 400))
    32
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"


def chart(what: Chart, *, ax: Axes | None = None, legend: bool = True) -> Axes:
    """Draw a chart that is described.

    Parameters
    ----------
    what : Chart
        Description, such as `ikd_graph.plotting.charts.counts` gives.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    legend : bool
        Whether to explain the colors.

    Examples
    --------
    >>> from ikd_graph.plotting import charts, plot
    >>> plot.chart(charts.counts([3, 4, 4], "points", "cliques"), ax=plot.axes()).get_xlabel()
    'points'
    """
    ax = drawing_axes(ax, 6.4, 4.6 if what.points is not None else 4.0)
    ax.set_axis_on()
    for bars in what.bars:
        _draw_bars(ax, bars, lying=bool(what.rows))
    for curve in what.curves:
        if curve.half is not None:
            top = np.inf if what.ceiling is None else what.ceiling
            above = np.minimum(curve.y + curve.half, top)
            ax.fill_between(curve.x, curve.y - curve.half, above, color=curve.color,
                            alpha=0.16, linewidth=0)  # fmt: skip
        ax.plot(curve.x, curve.y, color=curve.color, linewidth=curve.width, markersize=4,
                marker="o" if curve.dots else "", alpha=curve.opacity, zorder=1.5,
                label=shortened(curve.name) or "_")  # fmt: skip
    if not (what.bars or what.curves or what.points):
        ax.text(0.5, 0.5, "none", transform=ax.transAxes, ha="center", color=colors.MUTED)
    (bare if what.equal else quiet)(ax, *(["x"] if what.rows else []))
    if what.log_x:
        ax.set_xscale("log")
    if what.log_y:
        ax.set_yscale("log")
    if what.rows:
        ax.set_yticks(range(len(what.rows)), [shortened(name) for name in what.rows])
        ax.invert_yaxis()
        ax.margins(x=0.16)
    if what.mark is not None:
        _draw_mark(ax, *what.mark)
    ax.set(xlabel=what.xlabel, ylabel=what.ylabel)
    if what.points is not None:
        _draw_points(ax, what, legend and not (what.names and what.points.paints[0].groups))
        if what.names is not None:
            _name_positions(ax, what, legend)
    elif legend and len(ax.get_legend_handles_labels()[1]) > 1:
        # Above what is drawn, and above the text of a mark.
        height = 1.0 if what.mark is None else 1.1
        ax.legend(frameon=False, fontsize=SMALL, labelcolor=colors.INK, loc="lower center",
                  bbox_to_anchor=(0.5, height), ncols=3, borderaxespad=0.1)  # fmt: skip
    return ax


def _draw_bars(ax: Axes, bars: Bars, lying: bool) -> None:
    """Bars with their errors and texts, upright or lying."""
    step = float(bars.at[1] - bars.at[0]) if bars.at.size > 1 else 1.0
    thick = bars.width * (1.0 if lying else step)
    draw: Any = ax.barh if lying else ax.bar
    errors = "xerr" if lying else "yerr"
    draw(bars.at, bars.lengths, thick, color=bars.color, label=bars.name or "_",
         error_kw={"ecolor": colors.INK, "elinewidth": 1}, **{errors: bars.errors})  # fmt: skip
    if not lying:
        ax.axhline(0.0, color=colors.RULE, linewidth=1.0)
    for text, length, at in zip(bars.texts, bars.lengths, bars.at, strict=False):
        ax.annotate(text, (length, at), xytext=(5, 0), va="center", fontsize=SMALL,
                    textcoords="offset points", color=colors.INK)  # fmt: skip


def _draw_mark(ax: Axes, at: float, text: str) -> None:
    """Dashed upright line with its text above."""
    ax.axvline(at, color=colors.SECOND, linewidth=1.4, linestyle=(0, (4, 3)))
    # On the side that has more room.
    left = ax.transData.transform((at, 1.0))[0] > ax.transAxes.transform((0.5, 0.0))[0]
    ax.annotate(text, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(-5 if left else 5, 2),
                textcoords="offset points", va="bottom", ha="right" if left else "left",
                fontsize=SMALL, color=colors.INK)  # fmt: skip


def mark_open(ax: Axes, points: NDArray[np.float64], is_open: NDArray[np.bool_]) -> None:
    """Draw an open circle around points that nothing fixes."""
    if not is_open.any():
        return
    first = np.flatnonzero(is_open) if points.shape[1] == 1 else points[is_open, 0]
    second = points[is_open, 0] if points.shape[1] == 1 else points[is_open, 1]
    ax.scatter(
        first, second, s=70, facecolors="none", edgecolors="#b3261e", linewidths=0.8,
        label="not fixed", zorder=4,
    )  # fmt: skip


def embedding(
    Z: ArrayLike,
    labels: Any = None,
    *,
    errors: ArrayLike | None = None,
    points: Mapping[int, str] | Iterable[int] = (),
    names: Any = None,
    fractions: ArrayLike | None = None,
    label_title: str = "",
    legend: bool = True,
    palette: Sequence[str] = (),
    period: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scatter of an embedding, colored by labels, by a quantity or by an angle.

    One coordinate is drawn against the row order; of more than two the first two are drawn. Few
    classes that lie apart are named where they lie, others in a legend.

    Parameters
    ----------
    Z : array-like of shape (n, m)
        Coordinates.
    labels : array-like of shape (n,), optional
        Classes (whole numbers or text) or a quantity (other numbers).
    errors : array-like of shape (n, m) or (n, m, m), optional
        Standard errors of the coordinates, in their units, or their covariances; NaN where unknown.
        Ellipses of one standard error around up to 400 points; of more, the uncertain are pale, and
        a bar below them is as long as the median point is uncertain.
    points : mapping of int to str, or iterable of int
        Rows to name in the picture and their names, or rows to number.
    names : sequence of str, optional
        Names of the classes, when labels are their positions in this sequence.
    fractions : array-like of shape (m,), optional
        Fraction of each coordinate in the spread of the embedding, written next to its axis.
    label_title : str
        What the labels are: title of the legend or of the color scale.
    legend : bool
        Whether to explain the colors.
    palette : sequence of str
        Colors of the classes, in their order; classes beyond it have the package's own.
    period : float, optional
        Length of the circle that a quantity runs around, such as 360: its colors have no seam.
        Numbers that fill one turn in radians or degrees are taken for angles by themselves.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.

    Raises
    ------
    ValueError
        If ``errors`` or ``labels`` do not fit ``Z``.

    Examples
    --------
    >>> from ikd_graph.plotting import plot
    >>> ax = plot.embedding([[0, 0], [1, 2], [2, 1]], labels=["a", "b", "b"], ax=plot.axes())
    >>> ax.get_xlabel()
    'dimension 1'
    """
    coordinates = charts.columns(Z)
    paint = colors.paint(labels, names, title=label_title, palette=palette, period=period)
    values = paint.values if paint.groups is None else paint.groups.codes
    if values is not None and values.shape != coordinates.shape[:1]:
        raise ValueError(
            f"labels must be one for each of the {len(coordinates)} rows of Z, got an array of "
            f"shape {values.shape}"
        )
    n, m = coordinates.shape
    shape = (n, m) if errors is None else charts.columns(errors).shape
    if shape not in ((n, m), (n, m, m)):
        raise ValueError(
            f"errors must have the shape of Z, {(n, m)}, or be covariances {(n, m, m)}, got "
            f"{shape}; pass model.standard_errors_"
        )
    what = charts.scatter(coordinates, paint, fractions=fractions, errors=errors)
    named = points if isinstance(points, Mapping) else {row: str(row) for row in points}
    if not named:
        ax = chart(what, ax=ax, legend=legend)
        _draw_typical_error(ax, coordinates, errors)
        return ax
    # Names of classes on the map would hide those of points.
    ax = chart(what, ax=ax, legend=False)
    assert what.points is not None
    if legend:
        _explain(ax, what.points, paint, on_map=False)
    _write_beside(ax, what.points.at[[*named]], [*named.values()])
    return ax


def _draw_typical_error(ax: Axes, Z: Floats, errors: ArrayLike | None) -> None:
    """Draw a bar of twice the median standard error below points that have no ellipses."""
    n, m = Z.shape
    if errors is None or n <= charts.MOST_ELLIPSES or m < 2:
        return
    spread = charts.columns(errors)
    variances = spread**2 if spread.ndim == 2 else np.diagonal(spread, axis1=1, axis2=2)
    sizes = np.sqrt(variances[:, :2].mean(axis=1))
    half = float(np.median(sizes[np.isfinite(sizes)])) if np.isfinite(sizes).any() else 0.0
    low, high = ax.get_xlim()
    if not 0.0 < 2.0 * half < high - low:
        return
    style: Any = {"transform": ax.get_xaxis_transform(), "color": colors.MUTED, "clip_on": False}
    ax.plot([low, low + half, low + 2.0 * half], [0.0] * 3, marker="|", linewidth=1.5, **style)
    ax.text(low + 2.0 * half, 0.0, "  ± 1 standard error", fontsize=SMALL, va="center", **style)


@validate(n_columns=check.count)
def small_multiples(
    panels: Mapping[str, ArrayLike],
    labels: Any = None,
    *,
    captions: Mapping[str, str] | None = None,
    points: Mapping[int, str] | None = None,
    n_columns: int = 3,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Small scatters of the same points, each with its name above, in the same colors.

    The classes are named below all of them.

    Parameters
    ----------
    panels : mapping of str to array-like of shape (n, m)
        Coordinates of each picture; the first two are drawn, a single one against the row order.
    labels : array-like of shape (n,), optional
        Classes, or numbers with fractions, which become a continuous scale.
    captions : mapping of str to str, optional
        What is written under a picture.
    points : mapping of int to str, optional
        Names of points, by row, to write next to them in every picture where there is room.
    n_columns : int
        Pictures in a row.
    legend : bool
        Whether to name the classes.
    ax : matplotlib.axes.Axes, optional
        Axes whose position the pictures take.

    Returns
    -------
    matplotlib.axes.Axes
        The first picture.
    """
    n_rows = -(-len(panels) // n_columns)
    ax = drawing_axes(ax, 3.0 * n_columns, 2.9 * n_rows)
    figure, grid = figure_of(ax), subplot_of(ax).subgridspec(n_rows, n_columns)
    paint, drawn, places = colors.paint(labels), [], []
    for k, (name, Z) in enumerate(panels.items()):
        what = charts.scatter(Z, paint)
        assert what.points is not None
        small = what.points._replace(size=0.63 * np.asarray(what.points.size))
        what = what._replace(points=small, xlabel=(captions or {}).get(name, ""), ylabel="")
        panel = figure.add_subplot(grid[k // n_columns, k % n_columns])
        chart(what, ax=panel, legend=False)
        bare(panel)
        panel.set_title(shortened(name), loc="left", fontsize=SMALL, color=colors.INK)
        drawn.append(panel)
        places.append(small.at)
    if paint.groups is not None and legend:
        class_legend(figure, paint.groups, paint.title, loc="outside lower center", ncols=6)
    for panel, at in zip(drawn, places, strict=True):
        if points and np.isfinite(at).all():
            _write_beside(panel, at[[*points]], [*points.values()])
    return drawn[0]


def surfaces(
    Z: ArrayLike,
    values: ArrayLike,
    fitted: ArrayLike,
    names: Sequence[str],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw quantities over a map: above what is smooth of each, below what is left.

    Parameters
    ----------
    Z : array-like of shape (n, m)
        The map; its first two coordinates are drawn, a single one against the row order.
    values : array-like of shape (n, k)
        The quantities.
    fitted : array-like of shape (n, k)
        Smooth parts of them.
    names : sequence of str
        Their k names.
    ax : matplotlib.axes.Axes, optional
        Axes whose position the pictures take.

    Returns
    -------
    matplotlib.axes.Axes
        The first picture.
    """
    smooth, left = np.asarray(fitted), np.asarray(values) - np.asarray(fitted)
    k = len(names)
    ax = drawing_axes(ax, 2.6 * k, 5.2)
    figure, grid = figure_of(ax), subplot_of(ax).subgridspec(2, k)
    drawn = []
    for row, part in enumerate((smooth, left)):
        for at, name in enumerate(names):
            what = charts.scatter(Z, Paint("", None, part[:, at]))
            assert what.points is not None
            small = what.points._replace(size=0.63 * np.asarray(what.points.size))
            panel = figure.add_subplot(grid[row, at])
            chart(what._replace(points=small, xlabel="", ylabel=""), ax=panel, legend=False)
            bare(panel)
            title = name if row == 0 else "residual"
            as_word(panel.set_title(shortened(title), loc="left", fontsize=SMALL, color=INK))
            drawn.append(panel)
    return drawn[0]


def arrows(ax: Axes, Z: ArrayLike, directions: ArrayLike, names: Sequence[str]) -> Axes:
    """Draw named arrows from the center of a map, the longest two fifths of its width.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes with the map, as `embedding` draws it.
    Z : array-like of shape (n, m)
        The map.
    directions : array-like of shape (k, m)
        Arrows; the first two coordinates are drawn.
    names : sequence of str
        Their names.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes given.
    """
    at, ways = charts.columns(Z), np.asarray(directions, dtype=np.float64)
    if at.shape[1] == 1:
        at = np.column_stack([np.arange(len(at)), at])
        ways = np.column_stack([np.zeros(len(ways)), ways])
    at, ways = at[:, :2], ways[:, :2]
    longest = float(np.linalg.norm(ways, axis=1).max(initial=0.0))
    if not len(ways) or longest == 0.0:
        return ax
    center = at.mean(axis=0)
    tips = center + ways * (0.4 * float(np.ptp(at, axis=0).max()) / longest)
    for tip in tips:
        ax.annotate(
            "", tuple(tip), xytext=tuple(center), zorder=3,
            arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.3, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
    ax.update_datalim(tips)
    _write_beside(ax, tips, names)
    return ax


def _draw_points(ax: Axes, what: Chart, legend: bool) -> None:
    """Draw points in mixed order, so that no class covers another, and explain their colors."""
    assert what.points is not None
    points, paint = what.points, what.points.paints[0]
    n = len(points.at)
    alpha, sizes = (np.broadcast_to(value, n) for value in (points.opacity, points.size))
    order = np.random.default_rng(0).permutation(n) if points.mixed else np.arange(n)
    # More points than this make a vector file that no reader opens.
    look: dict[str, Any] = {"linewidths": 0, "rasterized": n > 5000, "zorder": 2}
    if np.ndim(points.size):
        # Discs at the edge are drawn whole.
        look |= {"linewidths": 0.7, "edgecolors": "white", "clip_on": False}
    codes = np.zeros(n, np.intp) if paint.groups is None else paint.groups.codes
    shades = np.array([colors.ACCENT] * n if paint.groups is None else paint.groups.shades)
    markers = np.array([colors.class_marker(code) for code in codes.tolist()])
    scale: dict[str, Any] = {}
    if paint.values is not None:
        markers = np.where(np.isfinite(paint.values), markers, "missing")
        order, (low, high) = np.arange(n), paint.ends
        scale = {"cmap": color_map(paint), "vmin": low, "vmax": high}
    for marker in dict.fromkeys(markers.tolist()):
        rows = order[markers[order] == marker]
        color: dict[str, Any] = {"c": shades[rows], "marker": marker}
        if marker == "missing":
            color = {"color": colors.MUTED}
        elif paint.values is not None:
            color = {"c": paint.values[rows], **scale}
        x, y = points.at[rows, :2].T
        ax.scatter(x, y, s=sizes[rows] ** 2, alpha=alpha[rows], **look, **color)
    _frame(ax, what)
    if legend:
        _explain(ax, points, paint, on_map=True)


def _name_positions(ax: Axes, what: Chart, legend: bool) -> None:
    """Dots at named positions, with the names next to them, and the colors of the points."""
    assert what.names is not None
    assert what.points is not None
    x, y = what.names.at[:, :2].T
    if what.names.dots:
        ax.scatter(x, y, s=5.0, color=INK, linewidths=0, zorder=2.5)
    if legend:
        # Names of classes would hide those of points; a scale is there already.
        paint = what.points.paints[0]
        if paint.groups is not None:
            class_legend(ax, paint.groups, paint.title)
    _write_beside(ax, what.names.at[:, :2], what.names.texts, what.points.at[:, :2])


def _explain(ax: Axes, points: Points, paint: Paint, *, on_map: bool) -> None:
    """Explain colors by a scale, by names of classes where they lie, or by a legend."""
    if paint.values is not None:
        _color_bar(ax, paint)
    elif paint.groups is not None and not (on_map and _name_classes(ax, points, paint)):
        class_legend(ax, paint.groups, paint.title)


def _frame(ax: Axes, what: Chart) -> None:
    """Limits around everything; a narrow latent keeps a third of the height, for its names."""
    ax.margins(0.04)
    corners = charts.limits(what) if what.equal else None
    if corners is None:
        return
    low, high = corners
    half = 0.54 * np.maximum(high - low, np.max(high - low) / 3.0)
    half = np.where(half > 0.0, half, 1.0)
    center = 0.5 * (low + high)
    (left, bottom), (right, top) = center - half, center + half
    ax.set(xlim=(left, right), ylim=(bottom, top))
    ax.set_aspect("equal", adjustable="box")


def _name_classes(ax: Axes, points: Points, paint: Paint) -> bool:
    """Name classes where they lie, if each has a region of its own; whether this was done."""
    groups = paint.groups
    codes: list[int] = [] if groups is None else np.unique(groups.codes).tolist()
    if groups is None or not 2 <= len(codes) <= 12 or codes[0] < 0 or ax.get_aspect() == "auto":
        return False
    middles = np.array([_middle(points.at, groups.codes, code) for code in codes])
    if not np.isfinite(middles).all():
        return False
    names, shades = [groups.names[code] for code in codes], [groups.color(code) for code in codes]
    _write_at(ax, middles, names, shades)
    if paint.title:
        as_word(ax.set_title(shortened(paint.title), loc="left", fontsize=SMALL, color=colors.INK))
    return True


def _middle(at: Floats, codes: NDArray[np.intp], code: int) -> Floats:
    """Middle of a class; NaN where other classes are more frequent around it."""
    own = at[codes == code]
    middle = np.median(own, axis=0)
    middle = own[np.argmin(np.linalg.norm(own - middle, axis=1))]
    distances = np.linalg.norm(at - middle, axis=1)
    nearest = np.argsort(distances, kind="stable")[: max(5, len(own) // 4)]
    values, numbers = np.unique(codes[nearest], return_counts=True)
    return middle if values[numbers.argmax()] == code else np.full(2, np.nan)


def _write_at(ax: Axes, at: Floats, names: Sequence[str], shades: Sequence[str]) -> None:
    """Write names at positions, moved so that no two overlap."""
    words = [shortened(name) for name in names]
    scale, boxes = _scale(ax), _boxes(words, TEXT)
    shifts = _apart(at * scale, boxes) - at * scale
    _annotate(ax, at, shifts, words, shades, size=TEXT, fontweight="bold")


def _write_beside(ax: Axes, at: Floats, names: Sequence[str], others: Floats | None = None) -> None:
    """Write names next to positions, with a line to each, where nothing else is written.

    A name that finds no room near its point is left out. ``others`` are positions that names should
    not cover either.
    """
    # Many names are small.
    size = SMALL if len(names) <= 25 else 6.5
    words = [shortened(name) for name in names]
    # Names stay apart in the size that the picture has: it is laid out first.
    figure_of(ax).draw_without_rendering()
    figure_of(ax).set_layout_engine("none")
    if ax.get_aspect() != "auto":
        _fill_panel(ax)
    scale = _scale(ax)
    corners = np.sort([ax.get_xlim(), ax.get_ylim()], axis=1).T * scale
    dots = at if others is None else np.vstack([at, others])
    shifts = _room_beside(at * scale, _boxes(words, size), corners, dots * scale)
    found = np.flatnonzero(np.isfinite(shifts).all(axis=1))
    line = {"arrowstyle": "-", "lw": 0.5, "color": colors.MUTED, "shrinkA": 0, "shrinkB": 2}
    _annotate(
        ax, at[found], shifts[found], [words[row] for row in found], [colors.INK] * found.size,
        size=size, fontweight="normal", arrowprops=line,
    )  # fmt: skip


def _fill_panel(ax: Axes) -> None:
    """Widen the limits of an Axes of equal scales, so that names have all of its panel."""
    box = np.array(figure_of(ax).get_size_inches()) * ax.get_position(original=True).size
    ends = np.array([ax.get_xlim(), ax.get_ylim()])
    half = 0.5 * box * float((np.ptp(ends, axis=1) / box).max())
    (left, bottom), (right, top) = ends.mean(axis=1) - half, ends.mean(axis=1) + half
    ax.set(xlim=(left, right), ylim=(bottom, top))
    ax.apply_aspect()


def _annotate(
    ax: Axes, at: Floats, shifts: Floats, words: Sequence[str], shades: Sequence[str], size: float,
    **look: Any,
) -> None:  # fmt: skip
    """Write words at positions, shifted by points of the page, on a white edge."""
    from matplotlib.patheffects import withStroke

    for word, point, shift, color in zip(words, at, shifts, shades, strict=True):
        text = ax.annotate(
            word, tuple(point), xytext=tuple(shift), textcoords="offset points", ha="center",
            va="center", color=color, fontsize=size, annotation_clip=False, zorder=3, **look,
        )  # fmt: skip
        edge = 3.0 if size == TEXT else 1.8
        as_word(text).set_path_effects([withStroke(linewidth=edge, foreground="white")])


def _scale(ax: Axes) -> Floats:
    """Points of the page for a unit of the data, across and upwards."""
    inches = np.array(figure_of(ax).get_size_inches()) * ax.get_position().size
    scale = 72.0 * inches / np.abs(np.ptp([ax.get_xlim(), ax.get_ylim()], axis=1))
    return np.full(2, scale.min()) if ax.get_aspect() != "auto" else np.asarray(scale)


def _boxes(words: Sequence[str], size: float) -> Floats:
    """Width and height of words, (k, 2), in points of the page."""
    return np.array([[0.65 * size * len(word) + 4.0, 1.5 * size] for word in words]).reshape(-1, 2)


_DISTANCES = (3.0, 8.0, 14.0, 22.0, 32.0, 44.0)
"""Points of the page by which the edge of a name may lie away from its point."""
_SIDES = (
    *((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)),
    *((-1.0, -1.0), (1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5), (0.5, 1.0), (-0.5, 1.0)),
    *((0.5, -1.0), (-0.5, -1.0)),
)


def _room_beside(at: Floats, boxes: Floats, corners: Floats, dots: Floats) -> Floats:
    """Shifts of names from their points, (k, 2), so that no two overlap; NaN where no room is.

    ``boxes`` are widths and heights, (k, 2), and ``corners`` the lower left and the upper right one
    of the picture, (2, 2). Names whose points have the fewest neighbors choose first; each takes
    the side where it covers the fewest dots, then the nearest.
    """
    shifts = np.full(at.shape, np.nan)
    near = np.linalg.norm(at[:, None] - at, axis=2) < _DISTANCES[-1]
    taken = np.zeros((0, 2, 2))  # lower left and upper right corner of each name
    sides = np.array(_SIDES)
    for row in np.argsort(near.sum(axis=1), kind="stable"):
        half = 0.5 * boxes[row]
        tries = np.concatenate([sides * (half + distance) for distance in _DISTANCES])
        low, high = at[row] + tries - half, at[row] + tries + half
        free = ((low >= corners[0]) & (high <= corners[1])).all(axis=1)
        apart = (high[:, None] <= taken[:, 0]) | (low[:, None] >= taken[:, 1])
        free &= apart.any(axis=2).all(axis=1)
        if not free.any():
            continue
        inside = (dots > low[:, None] - 1.5) & (dots < high[:, None] + 1.5)
        covered = inside.all(axis=2).sum(axis=1)
        # A dot that is covered weighs as much as two steps away.
        cost = 2.0 * covered + np.repeat(np.arange(len(_DISTANCES)), len(sides))
        best = np.where(free, cost, np.inf).argmin()
        shifts[row] = tries[best]
        taken = np.concatenate([taken, [[low[best], high[best]]]])
    return shifts


def _apart(middles: Floats, boxes: Floats, n_rounds: int = 400) -> Floats:
    """Middles of boxes, those that overlap pushed apart the shorter way."""
    middles = middles.copy()
    first, second = np.triu_indices(len(middles), 1)
    reach = 0.5 * (boxes[first] + boxes[second])
    for _ in range(n_rounds):
        gap = middles[first] - middles[second]
        overlap = reach - np.abs(gap)
        pairs = np.flatnonzero((overlap > 1e-9).all(axis=1))
        if not pairs.size:
            break
        # Pairs that share a name are pushed by half each, so that none is pushed too far.
        axis = overlap[pairs].argmin(axis=1)
        push = 0.5 * overlap[pairs, axis] * np.where(gap[pairs, axis] >= 0.0, 1.0, -1.0)
        times = np.bincount(np.concatenate([first[pairs], second[pairs]]), minlength=len(middles))
        np.add.at(middles, (first[pairs], axis), push / np.sqrt(times[first[pairs]]))
        np.add.at(middles, (second[pairs], axis), -push / np.sqrt(times[second[pairs]]))
    return middles


def names_of_points(names: Sequence[str]) -> dict[int, str]:
    """Names to write next to points, by row; none of more than fit into a picture.

    Examples
    --------
    >>> names_of_points(("a", "b")), names_of_points(("a",) * 101)
    ({0: 'a', 1: 'b'}, {})
    """
    return dict(enumerate(names)) if 0 < len(names) <= MOST_NAMED else {}


MOST_NAMED = 100
"""Points that are named one by one in a picture."""


def _color_bar(ax: Axes, paint: Paint) -> None:
    """Slim color scale next to the picture."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(*paint.ends), color_map(paint))
    bar = figure_of(ax).colorbar(scale, ax=ax, fraction=0.035, pad=0.03, aspect=28)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=SMALL, labelcolor=colors.INK)
    if paint.title:
        bar.set_label(shortened(paint.title), size=TEXT, color=colors.INK, parse_math=False)
