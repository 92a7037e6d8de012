"""Pictures of points: one embedding, or many of the same points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import colors
from ..colors import Paint
from .style import (
    SMALL,
    TEXT,
    bare,
    class_legend,
    color_map,
    drawing_axes,
    figure_of,
    quiet,
    shortened,
    subplot_of,
    write,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_MOST_ELLIPSES = 400
_MOST_ON_MAP = 12
# More points than this make a vector file that no reader opens.
_MOST_VECTORS = 5000


def embedding(
    Z: ArrayLike,
    labels: Any = None,
    *,
    errors: ArrayLike | None = None,
    points: Mapping[int, str] | Iterable[int] = (),
    names: Any = None,
    shares: ArrayLike | None = None,
    label_title: str = "",
    legend: bool = True,
    palette: Sequence[str] = (),
    period: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scatter of an embedding, coloured by labels, by a quantity or by an angle.

    One coordinate is drawn against the row order; of more than two the first two are drawn. Few
    classes that lie apart are named where they lie, others in a legend.

    Parameters
    ----------
    Z : array-like of shape (n, m)
        Coordinates.
    labels : array-like of shape (n,), optional
        Classes (whole numbers or text) or a quantity (other numbers).
    errors : array-like of shape (n, m), optional
        Standard errors of the coordinates, in their units, NaN where unknown: ellipses of one
        standard error around up to 400 points; of more, those that are uncertain are pale.
    points : mapping of int to str, or iterable of int
        Rows to name in the picture and their names, or rows to number.
    names : sequence of str, optional
        Names of the classes, when labels are their positions in this sequence.
    shares : array-like of shape (m,), optional
        Explained variance ratio of each coordinate, written beside its axis.
    label_title : str
        What the labels are: title of the legend or of the colour scale.
    legend : bool
        Whether to explain the colours.
    palette : sequence of str
        Colours of the classes, in their order; classes beyond it have the package's own.
    period : float, optional
        Length of the circle that a quantity runs around, such as 360: its colours have no seam.
        Numbers that fill one turn in radians or degrees are taken for angles by themselves.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.

    Raises
    ------
    ValueError
        If ``errors`` and ``Z`` differ in shape.

    Examples
    --------
    >>> from ikd_graph.show import plot
    >>> ax = plot.embedding([[0, 0], [1, 2], [2, 1]], labels=["a", "b", "b"], ax=plot.axes())
    >>> ax.get_xlabel()
    'dimension 1'
    """
    coordinates = _columns(Z)
    paint = colors.paint(labels, names, title=label_title, palette=palette, period=period)
    known = paint.values if paint.groups is None else paint.groups.codes
    if known is not None and known.shape != coordinates.shape[:1]:
        raise ValueError(
            f"labels must be one for each of the {len(coordinates)} rows of Z, got an array of "
            f"shape {known.shape}"
        )
    spread = None if errors is None else _columns(errors)
    if spread is not None and spread.shape != coordinates.shape:
        raise ValueError(
            f"errors must have the shape of Z, {coordinates.shape}, got {spread.shape}; pass "
            "model.standard_errors_"
        )
    ax = drawing_axes(ax)
    at = _plane(coordinates)
    _scatter(ax, at, paint, _marker_size(len(at)), _opacity(spread))
    if spread is not None and len(at) <= _MOST_ELLIPSES:
        _ellipses(ax, at, spread, paint)
    ax.set_xlabel("row" if coordinates.shape[1] == 1 else _axis_name(0, shares))
    ax.set_ylabel(_axis_name(min(1, coordinates.shape[1] - 1), shares))
    _frame(ax, at, coordinates.shape[1])
    rows = points if isinstance(points, Mapping) else {row: str(row) for row in points}
    for row, name in rows.items():
        write(ax, name, at[row], offset=(5, 5))
    if legend and paint.values is not None:
        _color_bar(ax, paint)
    elif legend and paint.groups is not None and not _name_classes(ax, at, paint):
        class_legend(ax, paint.groups, paint.title, markers=True)
    return ax


def small_multiples(
    panels: Mapping[str, ArrayLike],
    labels: Any = None,
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
    figure, grid = figure_of(ax), subplot_of(ax).subgridspec(n_rows, n_columns)
    paint = colors.paint(labels)
    drawn = []
    for k, (name, Z) in enumerate(panels.items()):
        one = figure.add_subplot(grid[k // n_columns, k % n_columns])
        panel(one, Z, paint)
        one.set_title(name, loc="left", fontsize=TEXT, color=colors.INK)
        one.set_xlabel((captions or {}).get(name, ""), fontsize=SMALL, loc="left")
        drawn.append(one)
    return drawn[0]


def panel(ax: Axes, Z: ArrayLike, paint: Paint) -> None:
    """Draw points in their colours, small and without axes."""
    coordinates = _columns(Z)
    at = _plane(coordinates)
    _scatter(ax, at, paint, 0.4 * _marker_size(len(at)))
    bare(ax)
    if coordinates.shape[1] > 1:
        ax.set_aspect("equal", adjustable="datalim")


def _columns(Z: ArrayLike) -> Floats:
    """Coordinates as (n, m); a flat list is one coordinate."""
    coordinates = np.asarray(Z, dtype=np.float64)
    return coordinates[:, None] if coordinates.ndim == 1 else coordinates


def _plane(coordinates: Floats) -> Floats:
    """Place of each point in the picture, (n, 2)."""
    if coordinates.shape[1] == 1:
        return np.column_stack([np.arange(len(coordinates)), coordinates])
    return coordinates[:, :2]


def _marker_size(n_points: int) -> float:
    """Area of a marker in square points: small enough that many points stay points."""
    return float(np.clip(16_000.0 / max(n_points, 1), 1.2, 34.0))


def _axis_name(dim: int, shares: ArrayLike | None) -> str:
    """Name of a coordinate, with its explained share where it is known."""
    name = f"dimension {dim + 1}"
    values = [] if shares is None else np.asarray(shares, dtype=float).tolist()
    return f"{name}  ({values[dim]:.0%} of the embedding's spread)" if dim < len(values) else name


def _opacity(errors: Floats | None) -> Any:
    """Opacity of points, (n,) or one for all: those with large errors are pale."""
    if errors is None or len(errors) <= _MOST_ELLIPSES:
        return 0.85
    size = np.linalg.norm(errors, axis=1)
    known = np.isfinite(size)
    typical = np.median(size[known]) if known.any() else 1.0
    pale = np.clip(0.85 * typical / np.maximum(size, 1e-300), 0.1, 0.85)
    return np.where(known, pale, 0.85 if not known.any() else 0.1)


def _scatter(ax: Axes, at: Floats, paint: Paint, size: float, alpha: Any = 0.85) -> None:
    """Draw points in mixed order, so that no class covers another."""
    look: dict[str, Any] = {"s": size, "linewidths": 0, "rasterized": len(at) > _MOST_VECTORS}
    alpha, (x, y) = np.broadcast_to(alpha, len(at)), at.T
    if paint.values is not None:
        known, (low, high) = np.isfinite(paint.values), paint.ends
        scale: dict[str, Any] = {"cmap": color_map(paint), "vmin": low, "vmax": high}
        scale["c"] = paint.values[known]
        for rows, shade in ((~known, {"color": colors.MUTED}), (known, scale)):
            if rows.any():
                ax.scatter(x[rows], y[rows], alpha=alpha[rows], **look, **shade)
        return
    order = np.random.default_rng(0).permutation(len(at))
    codes = np.zeros(len(at), np.intp) if paint.groups is None else paint.groups.codes
    shades = np.array(paint.groups.shades if paint.groups else [colors.ACCENT] * len(at))
    markers = np.array([colors.class_marker(code) for code in codes])
    for marker in dict.fromkeys(markers.tolist()):
        these = order[markers[order] == marker]
        ax.scatter(x[these], y[these], c=shades[these], marker=marker, alpha=alpha[these], **look)


def _ellipses(ax: Axes, at: Floats, errors: Floats, paint: Paint) -> None:
    """Ellipses of one standard error around points, below them."""
    from matplotlib.collections import EllipseCollection

    known = np.isfinite(errors).all(axis=1)
    edges = np.array(paint.groups.shades if paint.groups else [colors.MUTED] * len(at))
    wide = np.zeros(len(at)) if errors.shape[1] == 1 else 2.0 * errors[:, 0]
    tall = 2.0 * errors[:, min(1, errors.shape[1] - 1)]
    ax.add_collection(
        EllipseCollection(
            wide[known], tall[known], np.zeros(known.sum()), units="xy", offsets=at[known],
            offset_transform=ax.transData, edgecolors=edges[known],
            facecolors="none", linewidths=0.6, alpha=0.6, zorder=0.9,
        )
    )  # fmt: skip


def _frame(ax: Axes, at: Floats, n_dims: int) -> None:
    """Axes around points; of two coordinates both have one scale and no unit."""
    if n_dims == 1:
        quiet(ax, grid="y")
        ax.margins(0.04)
        return
    bare(ax)
    finite = at[np.isfinite(at).all(axis=1)]
    if not finite.size:
        return
    low, high = finite.min(axis=0), finite.max(axis=0)
    # A narrow latent keeps a third of the height, and room for its names.
    half = 0.54 * np.maximum(high - low, np.max(high - low) / 3.0)
    half = np.where(half > 0.0, half, 1.0)
    centre = 0.5 * (low + high)
    ax.set_xlim(centre[0] - half[0], centre[0] + half[0])
    ax.set_ylim(centre[1] - half[1], centre[1] + half[1])
    ax.set_aspect("equal", adjustable="box")


def _name_classes(ax: Axes, at: Floats, paint: Paint) -> bool:
    """Name classes where they lie, if each has a place of its own; whether this was done."""
    groups = paint.groups
    present = [] if groups is None else np.unique(groups.codes).tolist()
    if groups is None or not 2 <= len(present) <= _MOST_ON_MAP or present[0] < 0:
        return False
    if ax.get_aspect() == "auto":
        return False
    places = np.array([_heart(at, groups.codes, code) for code in present])
    words = [shortened(groups.names[code]) for code in present]
    # Points of the page for a unit of the data, and the size of letters.
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    width, height = 72.0 * np.array(figure_of(ax).get_size_inches()) * ax.get_position().size
    scale = min(width / (right - left), height / (high - low))
    sizes = np.array([[0.65 * TEXT * len(word) + 4.0, 1.5 * TEXT] for word in words]) / scale
    apart = np.abs(places[:, None] - places) - 0.5 * (sizes[:, None] + sizes)
    free = (apart > 0.0).any(axis=2) | np.eye(len(places), dtype=bool)
    inside = (np.abs(places - [(left + right) / 2, (low + high) / 2]) + sizes / 2
              <= [(right - left) / 2, (high - low) / 2])  # fmt: skip
    if not (np.isfinite(places).all() and free.all() and inside.all()):
        return False
    for code, place, word in zip(present, places, words, strict=True):
        write(ax, word, place, color=groups.color(code), weight="bold", halo=True)
    if paint.title:
        ax.set_title(shortened(paint.title), loc="left", fontsize=SMALL, color=colors.INK)
    return True


def _heart(at: Floats, codes: NDArray[np.intp], code: int) -> Floats:
    """Middle of a class; NaN where most points around it are of others."""
    own = at[codes == code]
    middle = np.median(own, axis=0)
    middle = own[np.argmin(np.linalg.norm(own - middle, axis=1))]
    nearest = np.argsort(np.linalg.norm(at - middle, axis=1), kind="stable")[
        : max(5, len(own) // 4)
    ]
    mine = np.mean(codes[nearest] == code)
    return middle if mine > 0.5 else np.full(2, np.nan)


def _color_bar(ax: Axes, paint: Paint) -> None:
    """Slim colour scale beside the picture."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(*paint.ends), color_map(paint))
    bar = figure_of(ax).colorbar(scale, ax=ax, fraction=0.035, pad=0.03, aspect=28)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=SMALL, labelcolor=colors.INK)
    if paint.title:
        bar.set_label(shortened(paint.title), size=TEXT, color=colors.INK, parse_math=False)
