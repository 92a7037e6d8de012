"""Pictures: functions that draw data into an Axes (their own if none is given) and return it."""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from .._base import validation as check
from .._base.as_table import row_names, rows_by_name
from .._base.files import write_whole
from .._base.types import Floats
from .._base.warn import warn
from . import charts, colors
from .charts import Bars, Chart, Names, Points
from .colors import INK, MUTED, RULE, Paint

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = [
    "arrows", "axes", "chart", "embedding", "gradients", "grid", "image", "quiet",
    "save", "small_multiples", "surfaces",
]  # fmt: skip

WIDTH, HEIGHT = 6.4, 4.6
RESOLUTION = check.whole(10, 2400)
_DPI = 160
MOST_NAMED = 100
"""Points that are named one by one in a picture."""


_Plot = TypeVar("_Plot", bound=Callable[..., Any])


def labels_are_color(plot: _Plot) -> _Plot:
    """Return a function that draws, with the colors of ``color=`` or ``labels=`` by names of rows.

    The rows are those of its first argument, a table of coordinates or a result.
    """

    @wraps(plot)
    def drawn(*args: Any, **options: Any) -> Any:
        if "labels" in options and "color" not in options:
            options["color"] = options.pop("labels")
        bound = inspect.signature(plot).bind(*args, **options)
        color, rows = bound.arguments.get("color"), row_names(bound.args[0])
        if color is not None:
            bound.arguments["color"] = rows_by_name("color", color, rows, "the map")
        return plot(*bound.args, **bound.kwargs)

    return drawn  # type: ignore[return-value]


def axes(width: float = WIDTH, height: float = HEIGHT) -> Axes:
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


@check.validate(dpi=RESOLUTION)
def save(ax: Axes, path: str | os.PathLike[str], dpi: int = _DPI) -> Path:
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
    return write_whole(path, image(ax, dpi, form))


@check.validate(dpi=RESOLUTION)
def image(ax: Axes, dpi: int = _DPI, form: str = "png") -> bytes:
    """Draw the figure of an Axes as PNG, or in another format, in memory.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Any Axes of the figure.
    dpi : int
        Resolution of pixel formats.
    form : str
        "png", "svg" or "pdf".

    Returns
    -------
    bytes
        What a file of that format holds.
    """
    out = BytesIO()
    # Which letters no font has is said in one line.
    with warnings.catch_warnings(record=True) as heard:
        warnings.filterwarnings("always", "Glyph")
        figure_of(ax).savefig(out, format=form, dpi=dpi, facecolor="white", bbox_inches="tight")
    said = {str(warning.message) for warning in heard}
    if missing := [text for text in said if "Glyph" in text]:
        warn(
            f"the picture lacks {len(missing)} letters of some names, because no font that "
            "matplotlib knows has them; install one, such as Noto Sans CJK"
        )
    return out.getvalue()


def drawing_axes(ax: Axes | None, *size: float) -> Axes:
    """Return the Axes given, or one in a new pyplot figure, which notebooks show by themselves."""
    return _axes_of_new("pyplot", "figure", *size) if ax is None else ax


def _axes_of_new(module: str, make: str, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Axes of a new figure, with white space around it, that a module of matplotlib makes."""
    try:
        import_module("matplotlib")
        made_by = import_module(f"matplotlib.{module}")
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib, which is not installed; pip install "ikd_graph[plot]"'
        ) from error
    figure = getattr(made_by, make)(figsize=(width, height), layout="constrained")
    return figure.add_subplot()


def quiet(ax: Axes, grid: Literal["x", "y"] | None = "y") -> None:
    """Take away what carries no data: box, tick marks, heavy lines; ``grid`` keeps faint lines."""
    ax.set_facecolor("none")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(RULE)
    ax.tick_params(which="both", length=0, labelcolor=INK)
    if grid:
        ax.grid(axis=grid, color=RULE)
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


def _as_word(text: Any) -> Any:
    """Text whose dollars are dollars, in fonts that have its letters."""
    text.set(parse_math=False, fontfamily=_families())
    return text


@cache
def _families() -> list[str]:
    """Return the usual font and fonts of this machine with the letters of Asia."""
    from matplotlib import font_manager, rcParams

    asian = [name for name in font_manager.get_font_names() if re.search(_ASIAN, name)]
    return [*rcParams["font.family"], *sorted(asian)[:4]]


_ASIAN = "CJK|Hei|Gothic|Ming|YaHei|Unicode MS"


def subplot_of(ax: Axes) -> Any:
    """Position of an Axes in the grid of its figure, which pictures are to take; it is hidden."""
    position = ax.get_subplotspec()
    if position is None:
        raise ValueError("ax must be a subplot, got free Axes; make it with figure.add_subplot()")
    # Not removed: whoever made it may still ask it for its figure.
    ax.set_axis_off()
    return position


def shortened(name: str, longest: int = 32) -> str:
    """Return a name that leaves space for the picture, its end cut off where it is long.

    Examples
    --------
    >>> len(shortened("x" * 400))
    32
    """
    return name if len(name) <= longest else name[: longest - 1] + "…"


def names_of_points(names: Sequence[str]) -> dict[int, str]:
    """Names to write next to points, by row; none of more than fit into a picture.

    Examples
    --------
    >>> names_of_points(("a", "b")), names_of_points(("a",) * 101)
    ({0: 'a', 1: 'b'}, {})
    """
    return dict(enumerate(names)) if 0 < len(names) <= MOST_NAMED else {}


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
    ax = drawing_axes(ax)
    ax.set_axis_on()
    for bars in what.bars:
        _draw_bars(ax, bars, lying=bool(what.rows))
    for curve in what.curves:
        ax.errorbar(
            curve.x, curve.y, curve.errors, color=curve.color, linewidth=curve.width, elinewidth=1,
            marker="o" if curve.dots else "", markersize=4, alpha=curve.opacity,
            label=shortened(curve.name) if curve.name and curve.opacity == 1.0 else "_",
        )  # fmt: skip
    (bare if what.equal else quiet)(ax, *(["x"] if what.rows else []))
    ax.set(xlabel=what.xlabel, ylabel=what.ylabel)
    if what.log_y:
        ax.set_yscale("log")
    if what.rows:
        ax.set_yticks(range(len(what.rows)), [shortened(name) for name in what.rows])
        ax.invert_yaxis()
        ax.margins(x=0.16)
    if what.equal:
        # A line would be a strip: it has all of its panel, and names have.
        ax.set_aspect("equal", adjustable="datalim" if _is_narrow(what) else "box")
    if what.mark is not None:
        at, name = what.mark
        ax.axvline(at, color=colors.SECOND, linestyle="--", label=name)
    if what.points is not None:
        _draw_points(ax, what.points)
    if legend:
        _explain(ax, Paint() if what.points is None else what.points.paints[0])
    if what.names is not None:
        if what.names.dots:
            x, y = what.names.at.T
            ax.scatter(x, y, 4, color=INK, linewidths=0, zorder=3)
        _write_names(ax, what.names, None if what.points is None else what.points.at)
    return ax


def _make_square(ax: Axes) -> None:
    """Widen the shorter side of what an Axes shows, so that panels side by side are alike."""
    ends = np.array([ax.get_xlim(), ax.get_ylim()])
    middle, half = ends.mean(axis=1), 0.5 * np.ptp(ends, axis=1).max()
    ax.set(xlim=middle[0] + [-half, half], ylim=middle[1] + [-half, half])


def _is_narrow(what: Chart) -> bool:
    """Whether points are much longer than wide, or have names beside them."""
    assert what.points is not None
    sides = np.ptp(what.points.at[:, :2], axis=0) if len(what.points.at) else np.ones(2)
    return what.names is not None or bool(3.0 * sides.min() < sides.max())


def _draw_bars(ax: Axes, bars: Bars, lying: bool) -> None:
    """Bars with their errors and texts, upright or lying."""
    look: dict[str, Any] = {"xerr" if lying else "yerr": bars.errors}
    drawn = (ax.barh if lying else ax.bar)(
        bars.at, bars.lengths, bars.width, color=bars.color, label=bars.name or "_",
        error_kw={"ecolor": INK, "elinewidth": 1}, **look,
    )  # fmt: skip
    if bars.texts:
        ax.bar_label(drawn, bars.texts, padding=4, color=INK)


def _draw_points(ax: Axes, points: Points) -> None:
    """Draw points in mixed order, so that no class covers another."""
    paint, n = points.paints[0], len(points.at)
    alpha, sizes = (np.broadcast_to(value, n) for value in (points.opacity, points.size))
    # More points than this make a vector file that no reader opens.
    look: dict[str, Any] = {"linewidths": 0, "rasterized": n > charts.MANY, "zorder": 3}
    if np.ndim(points.size):
        # Discs at the edge are drawn whole.
        look |= {"linewidths": 0.5, "edgecolors": "white", "clip_on": False}
    codes = paint.codes(n).tolist()
    markers = np.array([colors.class_marker(code) for code in codes])
    shades = np.array([paint.color(code) for code in codes])
    if paint.is_quantity:
        shades = _color_scale(paint).to_rgba(paint.y)
    order = np.random.default_rng(0).permutation(n)
    for marker in dict.fromkeys(markers.tolist()):
        rows = order[markers[order] == marker]
        x, y = points.at[rows, :2].T
        shape = {"s": sizes[rows] ** 2, "marker": marker}
        ax.scatter(x, y, c=shades[rows], alpha=alpha[rows], **shape, **look)


def _color_scale(paint: Paint) -> Any:
    """Return the scale of a quantity; unknown values are gray."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    shades = LinearSegmentedColormap.from_list("ikd_graph", paint.stops)
    return ScalarMappable(Normalize(*paint.ends), shades.with_extremes(bad=MUTED))


def _explain(ax: Axes, paint: Paint) -> None:
    """Explain a quantity by a scale, and classes, lines and bars that have names by a legend."""
    if paint.is_quantity:
        scale = _color_scale(paint)
        bar = figure_of(ax).colorbar(scale, ax=ax)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelcolor=INK)
        if ticks := paint.ticks:
            bar.set_ticks(ticks[0], labels=ticks[1])
        bar.set_label(shortened(paint.title), color=INK, parse_math=False)
    handles, classes = ax.get_legend_handles_labels()[0], _class_handles(paint)
    if classes:
        n_columns = 1 + (len(classes) - 1) // 20
        beside = {"loc": "upper left", "bbox_to_anchor": (1, 1), "ncols": n_columns}
        _legend(ax, classes + handles, paint.title, **beside)
    elif handles:
        _legend(ax, handles, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)


def _class_handles(paint: Paint) -> list[Any]:
    """Return a marker for each class that has a name and points."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], linestyle="", marker=colors.class_marker(code), color=paint.color(code),
               label=shortened(name))
        for code, name in paint.classes() if name
    ]  # fmt: skip


def _legend(ax: Any, handles: list[Any], title: str = "", **where: Any) -> None:
    """Draw a legend of an Axes or of a figure."""
    legend = ax.legend(
        handles=handles, title=shortened(title) or None, frameon=False,
        labelcolor=INK, alignment="left", **where,
    )  # fmt: skip
    for text in (*legend.get_texts(), legend.get_title()):
        _as_word(text)


def _write_names(ax: Axes, names: Names, others: Floats | None = None) -> None:
    """Write names next to positions, with a line to each, where nothing else is written.

    A name that finds no room near its position is left out. ``others`` are positions that names
    should not cover either.
    """
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    if ax.get_aspect() != "auto":
        ax.set_adjustable("datalim")
    # Names stay apart in the size that the picture has: it is laid out first.
    figure = figure_of(ax)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    point, panel = figure.dpi / 72.0, ax.get_window_extent()
    at = ax.transData.transform(names.at)
    dots = at if others is None else np.vstack([at, ax.transData.transform(others[:, :2])])
    taken = [*np.stack([dots - 2.0 * point, dots + 2.0 * point], axis=1)]
    look: dict[str, Any] = {
        # Many names are small.
        "fontsize": "small" if len(names.texts) <= 25 else "x-small",
        "color": INK, "ha": "center", "va": "center", "zorder": 4, "annotation_clip": False,
        "path_effects": [withStroke(linewidth=2, foreground="white")],
        "xytext": (0, 0), "textcoords": "offset points",
        "arrowprops": {"arrowstyle": "-", "lw": 0.5, "color": MUTED, "shrinkA": 0, "shrinkB": 2},
    }  # fmt: skip
    # Those with the fewest neighbors choose first, the nearest room.
    n_near = np.count_nonzero(cdist(at, at) < _FARTHEST * point, axis=1)
    for row in np.argsort(n_near, kind="stable").tolist():
        text = _as_word(ax.annotate(shortened(names.texts[row]), names.at[row], **look))
        half = 0.5 * np.array(Text.get_window_extent(text).size) + point
        for distance, side in product(np.arange(3.0, _FARTHEST, 10.0), _SIDES):
            shift = np.multiply(side, half + distance * point)
            box = Bbox([at[row] + shift - half, at[row] + shift + half])
            inside = np.all(box.min >= panel.min) and np.all(box.max <= panel.max)
            if inside and not box.count_overlaps(np.array(taken)):
                text.xyann = tuple(shift / point)
                taken.append(box.get_points())
                break
        else:
            text.remove()


_FARTHEST = 45.0
"""Points of the page by which the edge of a name may lie away from its point."""
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), *product((1, -1), repeat=2))


@labels_are_color
def embedding(
    Z: ArrayLike,
    color: Any = None,
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
    """Scatter of an embedding, colored by labels, by a quantity, by times or by an angle.

    One coordinate is drawn against the row order; of more than two the first two are drawn.

    Parameters
    ----------
    Z : array-like of shape (n, m)
        Coordinates.
    color : array-like of shape (n,), optional
        Classes (whole numbers, text, a Categorical), a quantity (other numbers) or times;
        ``labels=`` is another name of it.
    errors : array-like of shape (n, m), optional
        Standard errors of the coordinates, in their units; NaN where unknown. Ellipses of one
        standard error around up to 400 points; of more, the uncertain are pale, and a bar below
        them is twice as long as the median point is uncertain.
    points : mapping of int to str, or iterable of int
        Rows to name in the picture and their names, or rows to number.
    names : sequence of str, optional
        Names of the classes, when ``color`` has their positions in this sequence.
    fractions : array-like of shape (m,), optional
        Fraction of each coordinate in the spread of the embedding, written next to its axis.
    label_title : str
        What the colors are: title of the legend or of the color scale.
    legend : bool
        Whether to explain the colors.
    palette : sequence of str
        Colors of the classes, in their order; classes beyond it have the package's own.
    period : float, optional
        Length of the circle that a quantity runs around, such as 360: its colors have no seam.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.

    Raises
    ------
    ValueError
        If ``errors`` or ``color`` do not fit ``Z``.

    Examples
    --------
    >>> from ikd_graph.plotting import plot
    >>> ax = plot.embedding([[0, 0], [1, 2], [2, 1]], color=["a", "b", "b"], ax=plot.axes())
    >>> ax.get_xlabel()
    'dimension 1'
    """
    coordinates = charts.columns(Z)
    paint = colors.paint(
        color, names, title=label_title, palette=palette, period=period, n=len(coordinates)
    )
    if errors is not None and charts.columns(errors).shape != coordinates.shape:
        raise ValueError(
            f"errors must have the shape of Z, {coordinates.shape}, got {np.shape(errors)}; pass "
            "model.standard_errors_"
        )
    what = charts.scatter(coordinates, paint, fractions=fractions, errors=errors)
    return chart(what._replace(names=_names_of(Z, points)), ax=ax, legend=legend)


def _names_of(Z: ArrayLike, points: Mapping[int, str] | Iterable[int] | None) -> Names | None:
    """Names of the rows that are to be named, or their numbers."""
    if not points:
        return None
    named = points if isinstance(points, Mapping) else {row: str(row) for row in points}
    return Names(charts.plane(Z)[[*named]], [*named.values()])


@labels_are_color
@check.validate(n_columns=check.count)
def small_multiples(
    panels: Mapping[str, ArrayLike],
    color: Any = None,
    *,
    captions: Mapping[str, str] | None = None,
    errors: Mapping[str, ArrayLike | None] | None = None,
    points: Mapping[int, str] | None = None,
    n_columns: int = 3,
    ax: Axes | None = None,
) -> Axes:
    """Small scatters of the same points, each with its name above, in the same colors.

    The classes are named below all of them.

    Parameters
    ----------
    panels : mapping of str to array-like of shape (n, m)
        Coordinates of each picture; the first two are drawn, a single one against the row order.
    color : array-like of shape (n,), optional
        As in `embedding`; a mapping has those of each picture, by its name. ``labels=`` is another
        name of it.
    captions : mapping of str to str, optional
        What is written under a picture.
    errors : mapping of str to array-like of shape (n, m), optional
        Standard errors of the coordinates of a picture, as in `embedding`.
    points : mapping of int to str, optional
        Names of points, by row, to write next to them in every picture where there is room.
    n_columns : int
        Pictures in a row.
    ax : matplotlib.axes.Axes, optional
        Axes whose position the pictures take.

    Returns
    -------
    matplotlib.axes.Axes
        The first picture.
    """
    n_rows = -(-len(panels) // n_columns)
    ax = drawing_axes(ax, 3.0 * n_columns, 3.0 * n_rows)
    grid, captions, paint = subplot_of(ax).subgridspec(n_rows, n_columns), captions or {}, Paint()
    drawn = []
    for cell, (name, Z) in zip(grid, panels.items(), strict=False):
        values = color[name] if isinstance(color, Mapping) else color
        paint = colors.paint(values, n=len(charts.columns(Z)))
        what = charts.scatter(Z, paint, errors=(errors or {}).get(name))
        panel = figure_of(ax).add_subplot(cell)
        assert what.points is not None
        points_of_it = what.points._replace(size=0.5 * what.points.size)
        what = what._replace(points=points_of_it, xlabel=captions.get(name, ""), ylabel="")
        bare(chart(what, ax=panel, legend=False))
        if what.equal and not _is_narrow(what):
            _make_square(panel)
        _as_word(panel.set_title(shortened(name), loc="left", fontsize="medium", color=INK))
        drawn.append((panel, Z))
    if classes := _class_handles(paint):
        _legend(figure_of(ax), classes, paint.title, loc="outside lower center", ncols=6)
    for panel, Z in drawn:
        names = _names_of(Z, points)
        if names is not None and np.isfinite(names.at).all():
            _write_names(panel, names)
    return drawn[0][0]


def surfaces(
    Z: ArrayLike,
    values: ArrayLike | None,
    fitted: ArrayLike,
    names: Sequence[str],
    *,
    slopes: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw quantities over a map: what is smooth of each, and below it what is left.

    Parameters
    ----------
    Z : array-like of shape (n, m)
        The map; its first two coordinates are drawn, a single one against the row order.
    values : array-like of shape (n, k), or None
        The quantities; None draws nothing of what is left of them.
    fitted : array-like of shape (n, k)
        Smooth parts of them.
    names : sequence of str
        Their k names.
    slopes : array-like of shape (r, k, m), optional
        Gradients of the smooth parts at the rows of `grid`, drawn as arrows, the longest of a
        quantity as long as a cell is wide; none where they are NaN.
    ax : matplotlib.axes.Axes, optional
        Axes whose position the pictures take.

    Returns
    -------
    matplotlib.axes.Axes
        The first picture.
    """
    titles, parts, n_columns = [*names], np.asarray(fitted, dtype=np.float64).T, 3
    if values is not None:
        titles, n_columns = [*names, *(f"{name}, residual" for name in names)], len(names)
        parts = np.vstack([parts, np.transpose(values) - parts])
    paints = {title: Paint(title, part) for title, part in zip(titles, parts, strict=True)}
    first = small_multiples(dict.fromkeys(titles, Z), paints, n_columns=n_columns, ax=ax)
    if slopes is not None:
        (rows, width), panels = grid(Z), figure_of(first).axes
        ways = np.asarray(slopes, dtype=np.float64)[:, :, :2]
        for k, panel in enumerate(panels[panels.index(first) :][: len(names)]):
            _draw_arrows(panel, charts.plane(Z)[rows], _to_length(ways[:, k], width))
    return first


_CELLS = 8
"""Cells of a grid along the longer side of a map: as many arrows as can be told apart."""


def grid(Z: ArrayLike) -> tuple[NDArray[np.intp], float]:
    """Return rows that stand for a map, one in each square of a grid that has some, and its width.

    Of one coordinate all rows stand for themselves, in order.
    """
    at = charts.columns(Z)[:, :2]
    width = float(np.ptp(at, axis=0).max()) / _CELLS or 1.0
    if at.shape[1] == 1:
        return np.argsort(at[:, 0], kind="stable"), width
    squares = np.minimum(np.floor((at - at.min(axis=0)) / width), _CELLS - 1)
    cell = np.unique(squares, axis=0, return_inverse=True)[1].ravel()
    middles = np.array([np.bincount(cell, axis) for axis in at.T]) / np.bincount(cell)
    order = np.argsort(np.linalg.norm(at - middles.T[cell], axis=1), kind="stable")
    return order[np.unique(cell[order], return_index=True)[1]], width


def _to_length(steps: Floats, longest: float) -> Floats:
    """Displacements (k, m) in proportion, the longest of a length."""
    found = float(np.nanmax(np.linalg.norm(steps, axis=1), initial=0.0))
    return steps * (longest / found) if found else steps


def _draw_arrows(ax: Axes, at: Floats, ways: Floats, color: str = INK, label: str = "_") -> None:
    """Draw arrows from positions (k, 2) by displacements (k, 2), whole."""
    # As thick in small panels as in large ones.
    look: dict[str, Any] = {"scale_units": "xy", "scale": 1, "units": "inches", "width": 0.02}
    look |= {"angles": "xy", "label": label, "zorder": 4}
    ax.quiver(*at.T, *ways.T, color=color, **look)
    ax.update_datalim((at + ways)[np.isfinite(ways).all(axis=1)])


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
    at, ways = charts.plane(Z), np.asarray(directions, dtype=np.float64)[:, :2]
    if charts.columns(Z).shape[1] == 1:
        ways = np.column_stack([np.zeros(len(ways)), ways])
    if not ways.any():
        return ax
    center = at.mean(axis=0)
    tips = center + _to_length(ways, 0.4 * float(np.ptp(at, axis=0).max()))
    _draw_arrows(ax, np.broadcast_to(center, tips.shape), tips - center)
    _write_names(ax, Names(tips, names))
    return ax


@labels_are_color
@check.validate(n=check.count)
def gradients(
    Z: ArrayLike,
    values: ArrayLike,
    standard_errors: ArrayLike,
    names: Sequence[str],
    *,
    n: int = 6,
    color: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which of many quantities rises most where on a map, and in which direction.

    One point of each cell of a `grid` has an arrow: the gradient of the quantity whose squared
    length has most beyond the squares of its standard errors; none where no gradient is longer than
    two standard errors. The arrows are drawn to one scale, the longest as long as a cell is wide.
    On a map of one coordinate the derivatives of these quantities are drawn against it, in bands of
    two standard errors.

    Parameters
    ----------
    Z : array-like of shape (n_points, m)
        The map; its first two coordinates are drawn.
    values, standard_errors : array-like of shape (r, p, m)
        Gradients at the r rows of `grid`, in standard deviations of the quantities, and their
        standard errors.
    names : sequence of str
        Names of the p quantities.
    n : int
        Quantities with colors and names, those with most arrows; others are gray.
    color : array-like of shape (n_points,), optional
        What colors the points, as in `embedding`; ``labels=`` is another name of it.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With the map.

    Examples
    --------
    >>> from ikd_graph.plotting import plot
    >>> rises = [[[2.0, 0.0], [0.0, 1.0]]] * 3
    >>> errors = [[[0.1, 0.1], [0.1, 0.1]]] * 3
    >>> ax = plot.gradients([[0, 0], [1, 2], [2, 1]], rises, errors, ["a", "b"], ax=plot.axes())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a']
    """
    at, (rows, width) = charts.columns(Z), grid(Z)
    slopes, errors = (np.asarray(each)[:, :, :2] for each in (values, standard_errors))
    beyond = charts.beyond_errors(slopes, errors)
    sure = np.flatnonzero(beyond.any(axis=1))
    most = beyond[sure].argmax(axis=1)
    found, times = np.unique(most, return_counts=True)
    named = found[np.argsort(-times, kind="stable")][:n].tolist()
    paint = Paint(palette=(MUTED,)) if color is None else colors.paint(color, n=len(at))
    ax = drawing_axes(ax)
    # Other colors than those of the classes of points.
    shades = {k: colors.class_color(len(paint.names) + j) for j, k in enumerate(named)}
    if at.shape[1] == 1:
        for k, shade in shades.items():
            y, error = slopes[:, k, 0], 2.0 * errors[:, k, 0]
            ax.plot(at[rows, 0], y, color=shade, label=shortened(names[k]))
            # Many that overlap leave the curves to be seen.
            pale: dict[str, Any] = {"alpha": 1.0 / (1.0 + len(shades)), "linewidth": 0}
            ax.fill_between(at[rows, 0], y - error, y + error, color=shade, **pale)
        return chart(Chart("", "dimension 1", "derivative, in standard deviations"), ax=ax)
    tails, ways = at[rows[sure], :2], _to_length(slopes[sure, most], width)
    for k, shade in {**shades, None: MUTED}.items():
        these = ~np.isin(most, named) if k is None else most == k
        label = "others" if k is None else shortened(names[k])
        if these.any():
            _draw_arrows(ax, tails[these], ways[these], shade, label)
    return chart(charts.scatter(at, paint, opacity=0.5 * charts.OPACITY), ax=ax)


def mark_open(
    ax: Axes, points: ArrayLike, is_open: NDArray[np.bool_], label: str = "not fixed"
) -> None:
    """Draw an open circle around points that nothing fixes, or that something else is said of."""
    if is_open.any():
        x, y = charts.plane(points)[is_open].T
        ring: dict[str, Any] = {"facecolors": "none", "edgecolors": "#b3261e"}
        ax.scatter(x, y, 70, label=label, zorder=4, **ring)
