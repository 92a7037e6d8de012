"""Charts, described once: `plot` draws them for papers, `figures` for pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import spatial

from .._base.types import Floats
from . import colors
from .colors import Paint

MOST_ELLIPSES = 400
"""Points around which ellipses can still be told apart; of more the uncertain ones are pale."""


class Points(NamedTuple):
    """Points in colors."""

    at: Floats  # (n, 2), or (n, 3) to be turned
    paints: tuple[Paint, ...] = (Paint(),)  # the first is drawn, a page offers the others
    size: float | Floats = 4.0  # diameter in points, of all or (n,) of each
    opacity: float | Floats = 0.85  # of all or (n,) of each
    rows: NDArray[np.intp] | None = None  # (n,) which of the points that a page describes
    hover: Sequence[str] = ()  # what is said of each, where the page does not describe it
    mixed: bool = True  # whether paper shows them in mixed order, else the last on top


class Curve(NamedTuple):
    """Values over positions; NaN leaves a gap."""

    name: str
    x: Floats  # (k,)
    y: Floats  # (k,)
    color: str
    half: Floats | None = None  # (k,) half the height of the band around it
    dots: bool = False
    width: float = 2.0  # 0 for no line
    opacity: float = 1.0


class Bars(NamedTuple):
    """Bars at evenly spaced positions."""

    at: Floats  # (k,) their middles
    lengths: Floats  # (k,)
    color: str | list[str] = colors.ACCENT
    name: str = ""
    width: float = 0.8
    errors: Floats | None = None  # (k,) standard errors
    texts: tuple[str, ...] = ()  # at the ends


class Names(NamedTuple):
    """Names of positions, which a picture on paper writes where there is room."""

    at: Floats  # (k, 2)
    texts: Sequence[str]  # k
    dots: bool = True  # whether there is a small dot at each


class Chart(NamedTuple):
    """What a chart shows, whatever draws it."""

    title: str  # what a screen reader says
    xlabel: str = ""
    ylabel: str = ""
    points: Points | None = None
    curves: tuple[Curve, ...] = ()
    bars: tuple[Bars, ...] = ()
    rows: tuple[str, ...] = ()  # names of rows of lying bars; without them bars stand
    mark: tuple[float, str] | None = None  # dashed upright line with its text
    log_x: bool = False
    log_y: bool = False
    ceiling: float | None = None  # height that no value can exceed, and so no band
    equal: bool = False  # both axes have one scale and no unit
    names: Names | None = None  # of points, or of other positions


def scatter(
    Z: ArrayLike,
    *paints: Paint,
    title: str = "embedding",
    dims: Sequence[int] = (0, 1),
    fractions: ArrayLike | None = None,
    errors: ArrayLike | None = None,
    **points: Any,
) -> Chart:
    """Points of an embedding in two or three of its dimensions, with their error bars.

    ``errors`` are standard errors, (n, m), or covariances, (n, m, m), of the coordinates, NaN where
    unknown; ``fractions`` are written next to the axes; ``points`` are further fields of `Points`.
    One coordinate is drawn against the rows.
    """
    at, spread = columns(Z), None
    axes = [axis_name(dim, fractions) for dim in dims if dim < at.shape[1]]
    if errors is not None:
        spread = columns(errors)
        if spread.ndim == 2:
            spread = spread[:, :, None] ** 2 * np.eye(at.shape[1])
    if at.shape[1] == 1:
        at, axes = np.column_stack([np.arange(len(at)), at]), ["row", *axes]
        spread = None if spread is None else np.pad(spread, ((0, 0), (1, 0), (1, 0)))
    pairs = None if spread is None else spread[:, dims][:, :, dims]
    opacity: float | Floats = 0.85
    curves: tuple[Curve, ...] = ()
    if pairs is not None and len(at) > MOST_ELLIPSES:
        opacity = _fade(np.sqrt(np.einsum("nkk->n", pairs)))
    elif pairs is not None and len(dims) == 2 and np.isfinite(pairs).any():
        curves = (_ellipses(at[:, dims], pairs),)
    size = float(np.clip(126.0 / np.sqrt(max(len(at), 1)), 1.1, 5.8))
    drawn = Points(
        at[:, dims], paints or (Paint(),), **{"size": size, "opacity": opacity, **points}
    )
    return Chart(title, axes[0], axes[1], drawn, curves, equal=axes[0] != "row")


def columns(Z: ArrayLike) -> Floats:
    """Coordinates as (n, m); a flat list is one coordinate."""
    coordinates = np.asarray(Z, dtype=np.float64)
    return coordinates[:, None] if coordinates.ndim == 1 else coordinates


def axis_name(dim: int, fractions: ArrayLike | None = None) -> str:
    """Name of a coordinate, with its fraction of the embedding's spread where that is known."""
    values = [] if fractions is None else np.asarray(fractions, dtype=float).tolist()
    fraction = f" ({values[dim]:.0%} of the embedding's spread)" if dim < len(values) else ""
    return f"dimension {dim + 1}{fraction}"


def _fade(errors: Floats) -> Floats:
    """Opacity of points, (n,): those with large errors are pale."""
    finite = np.isfinite(errors)
    typical = np.median(errors[finite]) if finite.any() else 1.0
    pale = np.clip(0.85 * typical / np.maximum(errors, 1e-300), 0.1, 0.85)
    return np.where(finite, pale, 0.1 if finite.any() else 0.85)


def _ellipses(at: Floats, covariances: Floats) -> Curve:
    """Ellipses of one standard error around points, as one curve with gaps."""
    values, axes = np.linalg.eigh(np.nan_to_num(covariances))
    turns = np.linspace(0.0, 2.0 * np.pi, 25)
    circle = np.column_stack([np.cos(turns), np.sin(turns)])
    around = circle @ np.swapaxes(axes * np.sqrt(np.maximum(values, 0.0))[:, None], 1, 2)
    around[~np.isfinite(covariances).all(axis=(1, 2))] = np.nan
    x, y = with_gaps(at[:, None] + around)
    # Many that overlap leave the points to be seen.
    strong = float(np.clip(100.0 / max(len(at), 1), 0.25, 1.0))
    width, opacity = 0.3 + 0.4 * strong, 0.2 + 0.5 * strong
    return Curve("± 1 standard error", x, y, colors.MUTED, width=width, opacity=opacity)


_BEYOND = 0.3
"""Fraction of the longer side of all points by which a picture goes on for lines around them."""


def limits(chart: Chart) -> Floats | None:
    """Lower left and upper right corner, (2, 2), of what a chart of points is to show.

    Error bars much larger than the map leave the picture. None where nothing is finite.
    """
    assert chart.points is not None
    named = [] if chart.names is None else [chart.names.at[:, :2]]
    at = np.vstack([chart.points.at[:, :2], *named])
    at = at[np.isfinite(at).all(axis=1)]
    if not at.size:
        return None
    low, high = at.min(axis=0), at.max(axis=0)
    # A single point has no side.
    most = _BEYOND * float((high - low).max()) or np.inf
    lines = np.vstack([at, *(np.column_stack([line.x, line.y]) for line in chart.curves)])
    lines = lines[np.isfinite(lines).all(axis=1)]
    return np.array([
        np.maximum(lines.min(axis=0), low - most), np.minimum(lines.max(axis=0), high + most)
    ])  # fmt: skip


def with_gaps(paths: Floats) -> Floats:
    """Paths, (k, n, 2), as one line of (2, k (n + 1)) with a gap after each."""
    return np.pad(paths, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, 2).T


def network(
    graph: Any, positions: ArrayLike, *paints: Paint, names: Names | None = None, **points: Any
) -> Chart:
    """Cliques as discs joined where they share points.

    Nodes of the NetworkX graph have ``size``, the area of a disc; edges have ``overlap``, in three
    strengths, of which the strongest are drawn, five for each node. Discs stand at ``positions``
    (the first two columns), those that would hide one another moved apart; ``names`` are those of
    other positions, and ``points`` further fields of `Points`.
    """
    sizes = np.array([float(size) for _, size in graph.nodes.data("size", default=1)])
    widest = float(np.clip(110.0 / np.sqrt(max(sizes.size, 1)), 4.5, 20.0))
    diameters = np.maximum(widest * np.sqrt(sizes / sizes.max(initial=1.0)), 3.3)
    at = np.asarray(positions, dtype=float)[:, :2]
    every = at if names is None else np.vstack([at, names.at[:, :2]])
    extent = float(np.ptp(every, axis=0).max()) if len(every) else 0.0
    at = _discs_apart(at, diameters, (extent or 1.0) / _LONGER_SIDE)
    row_of = {node: row for row, node in enumerate(graph)}
    edges = sorted(graph.edges.data("overlap", default=1), key=lambda edge: edge[2])[-5 * len(at) :]
    ends = np.array([(row_of[a], row_of[b]) for a, b, _ in edges], dtype=np.intp).reshape(-1, 2)
    shared = np.array([float(weight) for *_, weight in edges])
    strength = np.clip(3.0 * shared / shared.max(initial=1.0), 0.0, 2.0).astype(int)
    fade = float(np.clip(6.0 * len(at) / max(len(ends), 1), 0.16, 1.0)) ** 0.5
    lines = [with_gaps(at[ends[strength == level]]) for level in range(3)]
    curves = tuple(
        Curve("", x, y, colors.MUTED, width=0.6 + 0.9 * level, opacity=fade * (0.25 + 0.2 * level))
        for level, (x, y) in enumerate(lines)
    )
    points = {"size": diameters, "opacity": 0.8, **points}
    drawn = Points(at, paints or (Paint(),), **points)
    return Chart("graph of cliques", points=drawn, curves=curves, equal=True, names=names)


_LONGER_SIDE = 330.0
"""Points of the page on which the longer side of a picture of discs is drawn at least."""


def _discs_apart(at: Floats, diameters: Floats, unit: float, n_rounds: int = 300) -> Floats:
    """Middles of discs, (n, 2), moved apart until none hides another.

    ``diameters``, (n,), are in points of the page; ``unit`` is how much of the axes one is.
    """
    # Discs in one place need some way to go.
    middles = at / unit + 1e-3 * np.random.default_rng(0).normal(size=at.shape)
    for _ in range(n_rounds):
        pairs = spatial.cKDTree(middles).query_pairs(
            diameters.max(initial=1.0), output_type="ndarray"
        )
        first, second = pairs.T
        gap = middles[first] - middles[second]
        distance = np.linalg.norm(gap, axis=1)
        overlap = 0.5 * (diameters[first] + diameters[second]) - distance
        close = overlap > 1e-2
        if not close.any():
            break
        push = (0.25 * overlap / np.maximum(distance, 1e-9))[close, None] * gap[close]
        np.add.at(middles, first[close], push)
        np.add.at(middles, second[close], -push)
    moved = np.linalg.norm(middles - at / unit, axis=1) > 0.1
    return np.where(moved[:, None], middles * unit, at)


def counts(values: ArrayLike, xlabel: str, ylabel: str, most_bars: int = 40) -> Chart:
    """Histogram of whole numbers: a bar for each while they are few, in bins beyond."""
    numbers = np.asarray(values, dtype=np.int64)
    if not numbers.size:
        return Chart(xlabel, xlabel, ylabel)
    low, high = int(numbers.min()), int(numbers.max())
    step = max(1, int(np.ceil((high - low + 1) / most_bars)))
    edges = np.arange(low, high + step + 1, step) - 0.5
    heights = np.histogram(numbers, edges)[0].astype(float)
    return Chart(xlabel, xlabel, ylabel, bars=(Bars(0.5 * (edges[1:] + edges[:-1]), heights),))


def level_bars(
    values: Mapping[str, float], write: Callable[[float], str] = "{:.3g}".format, xlabel: str = ""
) -> Chart:
    """Lying bars with their values as text, in the order given; NaN is written as not finished.

    Examples
    --------
    >>> level_bars({"graph": 0.5, "solve": float("nan")}).bars[0].texts
    ('0.5', 'did not finish')
    """
    numbers = np.array([*values.values()], dtype=float)
    texts = tuple(write(v) if np.isfinite(v) else "did not finish" for v in numbers.tolist())
    bars = Bars(np.arange(float(numbers.size)), np.nan_to_num(numbers), texts=texts)
    return Chart(xlabel or "values", xlabel, bars=(bars,), rows=tuple(values))


def noise_curves(
    levels: ArrayLike,
    scores: Mapping[str, Any],
    ylabel: str = "R² after affine alignment",
    xlabel: str = "noise",
    ceiling: float | None = None,
) -> Chart:
    """Several methods against noise: the mean over seeds in a band of one deviation.

    ``scores`` has a value or several for each of the levels, by method; NaN where a run failed.
    """
    curves = []
    for code, (name, runs) in enumerate(scores.items()):
        finite = [values[np.isfinite(values)] for values in map(np.ravel, runs)]
        mean = np.array([values.mean() if values.size else np.nan for values in finite])
        spread = np.array([values.std() if values.size else 0.0 for values in finite])
        color = colors.class_color(code)
        curves.append(Curve(name, np.asarray(levels, float), mean, color, spread, dots=True))
    title = f"{ylabel} against {xlabel}"
    return Chart(title, xlabel, ylabel, curves=tuple(curves), ceiling=ceiling)
