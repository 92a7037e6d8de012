"""Pictures of points: the embedding, and how badly each point is placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import colors
from .style import SMALL, TEXT, bare, class_legend, drawing_axes, figure_of, quiet, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def embedding(
    Z: ArrayLike,
    labels: Any = None,
    *,
    names: Any = None,
    shares: ArrayLike | None = None,
    label_title: str = "",
    legend: bool = True,
    palette: Sequence[str] = (),
    quantity: bool | None = None,
    period: float | None = None,
    points: Mapping[int, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Scatter of an embedding, coloured by labels or by a quantity.

    One coordinate is drawn against the row order; of more than two the first two are drawn.

    Parameters
    ----------
    Z : array-like of shape (n, m)
        Coordinates.
    labels : array-like of shape (n,), optional
        Classes (whole numbers or text) or a quantity (other numbers).
    names : sequence of str, optional
        Names of the classes, when labels are their positions in this sequence.
    shares : array-like of shape (m,), optional
        Explained variance ratio of each coordinate, written beside its axis.
    label_title : str
        What the labels are: title of the legend or of the colour scale.
    legend : bool
        Whether to explain the colours beside the picture.
    palette : sequence of str
        Colours of the classes, in their order; classes beyond it have the package's own.
    quantity : bool, optional
        Whether labels are a quantity; None tells it from their values.
    period : float, optional
        Length of the circle that a quantity runs around: its colours have no seam.
    points : dict of int to str, optional
        Rows to name in the picture, and their names.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.

    Examples
    --------
    >>> from ikd_graph.show import plot
    >>> ax = plot.embedding([[0, 0], [1, 2], [2, 1]], labels=["a", "b", "b"], ax=plot.axes())
    >>> ax.get_xlabel()
    'dimension 1'
    """
    coordinates = _as_columns(Z)
    n_points, n_dims = coordinates.shape
    ax = drawing_axes(ax)
    x, y = _plane(coordinates)
    size = _marker_size(n_points)
    if labels is None:
        ax.scatter(x, y, s=size, c=colors.ACCENT, alpha=0.75, linewidths=0, rasterized=True)
    elif quantity or (quantity is None and names is None and colors.is_quantity(labels)):
        values = np.asarray(labels, dtype=float)
        _draw_quantity(ax, x, y, values, size, label_title, legend, period)
    else:
        groups = colors.group(labels, names)._replace(palette=tuple(palette))
        _draw_classes(ax, x, y, groups, size, label_title, legend)
    if n_dims == 1:
        quiet(ax, grid="y")
        ax.set_xlabel("row")
        ax.set_ylabel(_axis_name(0, shares))
    else:
        bare(ax)
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_xlabel(_axis_name(0, shares))
        ax.set_ylabel(_axis_name(1, shares))
    ax.margins(0.04)
    _name_points(ax, x, y, points or {})
    return ax


def _name_points(
    ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64], names: Mapping[int, str]
) -> None:
    """Write names beside points."""
    for row, name in names.items():
        ax.annotate(
            shortened(name), (x[row], y[row]), xytext=(5, 5), textcoords="offset points",
            fontsize=SMALL, color=colors.INK,
        )  # fmt: skip


def _as_columns(Z: ArrayLike) -> NDArray[np.float64]:
    """Coordinates as (n, m); a flat list is one coordinate."""
    coordinates = np.asarray(Z, dtype=np.float64)
    return coordinates[:, None] if coordinates.ndim == 1 else coordinates


def _plane(coordinates: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Horizontal and vertical place of each point."""
    if coordinates.shape[1] == 1:
        return np.arange(coordinates.shape[0], dtype=float), coordinates[:, 0]
    return coordinates[:, 0], coordinates[:, 1]


def _marker_size(n_points: int) -> float:
    """Area of a marker in square points: small enough that many points stay points."""
    return float(np.clip(16_000.0 / max(n_points, 1), 1.2, 34.0))


def _axis_name(dim: int, shares: ArrayLike | None) -> str:
    """Name of a coordinate, with its explained share where it is known."""
    name = f"dimension {dim + 1}"
    values = [] if shares is None else np.asarray(shares, dtype=float).tolist()
    return f"{name}  ({values[dim]:.0%} of the embedding's spread)" if dim < len(values) else name


def _draw_classes(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    groups: colors.Groups,
    size: float,
    label_title: str,
    legend: bool,
) -> None:
    """Draw classes in mixed order, so that the last class does not cover the others."""
    order = np.random.default_rng(0).permutation(x.size)
    markers = np.array([colors.class_marker(code) for code in groups.codes])
    shades = np.array([groups.color(code) for code in groups.codes])
    for marker in dict.fromkeys(markers.tolist()):
        at = order[markers[order] == marker]
        ax.scatter(
            x[at], y[at], s=size, c=shades[at], marker=marker, alpha=0.8, linewidths=0,
            rasterized=True,
        )  # fmt: skip
    if legend:
        class_legend(ax, groups, label_title, markers=True)


def _draw_quantity(
    ax: Axes,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    values: NDArray[np.float64],
    size: float,
    label_title: str,
    legend: bool,
    period: float | None = None,
) -> None:
    """Draw points coloured by a quantity; points without one are grey."""
    known = np.isfinite(values)
    values = values if period is None else values % period
    if not known.all():
        ax.scatter(x[~known], y[~known], s=size, c=colors.MUTED, alpha=0.5, linewidths=0)
    drawn = ax.scatter(
        x[known], y[known], s=size, c=values[known], cmap=_scale(period is not None), alpha=0.85,
        linewidths=0, rasterized=True, vmin=None if period is None else 0.0, vmax=period,
    )  # fmt: skip
    if legend:
        _color_bar(ax, drawn, label_title)


def _scale(cyclic: bool = False) -> Any:
    """The continuous colour scale as matplotlib wants it."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("ikd_graph", colors.sequence(cyclic))


def _color_bar(ax: Axes, drawn: Any, label: str) -> None:
    """Slim colour scale beside the picture."""
    bar = figure_of(ax).colorbar(drawn, ax=ax, fraction=0.035, pad=0.03, aspect=28)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=SMALL, labelcolor=colors.INK)
    if label:
        bar.set_label(shortened(label), size=TEXT, color=colors.INK)
