"""Charts, described once: `plot` draws them for papers, `figures` for pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import spatial

from .._base.types import Floats
from . import colors
from .colors import Paint

MANY = 4000
"""More points are drawn as pixels, by the graphics card on pages; fewer print better."""
MOST_BARS = 40
"""Bars of a histogram."""
MOST_ELLIPSES = 400
"""Points around which ellipses can still be told apart; of more the uncertain ones are pale."""


OPACITY = 0.8
"""Of points, so that those below others are seen."""
BAR = 0.8
"""Width of a bar, as a fraction of the step from one to the next."""


class Points(NamedTuple):
    """Points in colors."""

    at: Floats  # (n, 2), or (n, 3) to be turned
    paints: tuple[Paint, ...] = (Paint(),)  # the first is drawn, a page offers the others
    size: float | Floats = 4.0  # diameter in points, of all or (n,) of each
    opacity: float | Floats = OPACITY  # of all or (n,) of each
    hover: Sequence[str] = ()  # what is said of each, where a page does not describe it


class Curve(NamedTuple):
    """Values over positions; NaN leaves a gap."""

    name: str
    x: Floats  # (k,)
    y: Floats  # (k,)
    color: str
    errors: Floats | None = None  # (k,) standard errors or deviations
    dots: bool = False
    width: float = 2.0  # 0 for no line
    opacity: float = 1.0


class Bars(NamedTuple):
    """Bars, standing or lying."""

    at: Floats  # (k,) their middles
    lengths: Floats  # (k,)
    color: str = colors.ACCENT
    name: str = ""
    width: float = BAR
    errors: Floats | None = None  # (k,) standard errors
    texts: tuple[str, ...] = ()  # at the ends


class Names(NamedTuple):
    """Names of positions: written on paper where there is room, said on pages at a small dot."""

    at: Floats  # (k, 2)
    texts: Sequence[str]  # k
    dots: bool = False  # where no point of the chart stands


class Chart(NamedTuple):
    """What a chart shows, whatever draws it."""

    title: str  # what a screen reader says
    xlabel: str = ""
    ylabel: str = ""
    points: Points | None = None
    curves: tuple[Curve, ...] = ()
    bars: tuple[Bars, ...] = ()
    rows: tuple[str, ...] = ()  # names of rows of lying bars; without them bars stand
    mark: tuple[float, str] | None = None  # dashed upright line with its name
    log_y: bool = False
    equal: bool = False  # both axes have one scale and no unit
    names: Names | None = None


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

    ``errors`` are standard errors of the coordinates, (n, m), NaN where unknown; ``fractions`` are
    written next to the axes; ``points`` are further fields of `Points`. One coordinate is drawn
    against the rows.
    """
    at = columns(Z)
    axes = [axis_name(dim, fractions) for dim in dims if dim < at.shape[1]]
    sd = np.zeros_like(at) if errors is None else columns(errors)
    if at.shape[1] == 1:
        at, axes, sd = plane(at), ["row", *axes], np.pad(sd, ((0, 0), (1, 0)))
    at, sd = at[:, dims], sd[:, dims]
    looks: dict[str, Any] = {"size": float(np.clip(126.0 / np.sqrt(len(at) + 1), 1.0, 6.0))}
    curves: tuple[Curve, ...] = ()
    if errors is not None and len(at) > MOST_ELLIPSES:
        looks["opacity"], curves = _faded(at, np.sqrt((sd**2).mean(axis=1)))
    elif errors is not None and len(dims) == 2:
        curves = (_ellipses(at, sd),)
    drawn = Points(at, paints or (Paint(),), **looks | points)
    if drawn.paints[0].is_path and at.shape[1] == 2:
        curves += (lines(at[None], 0.5, 1.0, "consecutive rows are joined"),)
    return Chart(title, axes[0], axes[1], drawn, curves, equal=axes[0] != "row")


def columns(Z: ArrayLike) -> Floats:
    """Coordinates as (n, m); a flat list is one coordinate."""
    coordinates = np.asarray(Z, dtype=np.float64)
    return coordinates[:, None] if coordinates.ndim == 1 else coordinates


def plane(Z: ArrayLike) -> Floats:
    """Where points are drawn, (n, 2): the first two coordinates, or a single one against the rows.

    Examples
    --------
    >>> plane([5.0, 7.0]).tolist()
    [[0.0, 5.0], [1.0, 7.0]]
    """
    at = columns(Z)
    return at[:, :2] if at.shape[1] > 1 else np.column_stack([np.arange(len(at)), at])


def axis_name(dim: int, fractions: ArrayLike | None = None) -> str:
    """Name of a coordinate, with its fraction of the embedding's spread where that is known."""
    values = [] if fractions is None else np.asarray(fractions, dtype=float).tolist()
    fraction = f" ({values[dim]:.0%} of the embedding's spread)" if dim < len(values) else ""
    return f"dimension {dim + 1}{fraction}"


def variance_fractions(latent: ArrayLike) -> Floats:
    """Fraction of each coordinate in the variance of an embedding: what a picture of it shows.

    Examples
    --------
    >>> variance_fractions([[-3.0, 1.0], [3.0, 1.0], [-3.0, -1.0], [3.0, -1.0]])
    array([0.9, 0.1])
    """
    spread = np.var(columns(latent), axis=0)
    return np.asarray(spread / (spread.sum() or 1.0))


def beyond_errors(gradients: Floats, errors: Floats) -> Floats:
    """Squared length of gradients (n, p, m) less the squares of their standard errors, (n, p).

    It is 0 where a gradient is not longer than two standard errors.
    """
    length, error = (np.sum(each**2, axis=2) for each in (gradients, errors))
    return np.where(length > 4.0 * error, length - error, 0.0)


def _faded(at: Floats, errors: Floats) -> tuple[Floats, tuple[Curve, ...]]:
    """Opacity of points, (n,), and a bar below them of twice their median error, if it fits.

    Points with large or unknown errors are pale, if any are known.
    """
    known = np.isfinite(errors)
    if not known.any():
        return np.full(errors.shape, OPACITY), ()
    half = np.median(errors[known])
    opacity = OPACITY * np.clip(half / np.where(known, errors, np.inf), 0.1, 1.0)
    low, extent = np.nanmin(at, axis=0), np.ptp(at, axis=0)
    if at.shape[1] != 2 or not 2.0 * half < extent[0]:
        return opacity, ()
    x, y = low[0] + half * np.arange(3.0), np.full(3, low[1] - 0.05 * extent[1])
    return opacity, (Curve("± 1 standard error", x, y, colors.MUTED, dots=True),)


_BEYOND = 0.3
"""Fraction of the longer side of all points up to which ellipses around them are drawn."""


def _ellipses(at: Floats, errors: Floats) -> Curve:
    """Ellipses of one standard error around points, as one curve with gaps."""
    turns = np.linspace(0.0, 2.0 * np.pi, 25)
    around = at[:, None] + errors[:, None] * np.column_stack([np.cos(turns), np.sin(turns)])
    # Error bars much larger than the map would leave nothing to be seen of it.
    finite = at[np.isfinite(at).all(axis=1)]
    low, high = finite.min(axis=0, initial=np.inf), finite.max(axis=0, initial=-np.inf)
    reach = _BEYOND * (high - low).max() or np.inf
    around[((around < low - reach) | (around > high + reach)).any(axis=2)] = np.nan
    # Many that overlap leave the points to be seen.
    strong = min(OPACITY, 70.0 / (len(at) + 1))
    return lines(around, strong, strong, "± 1 standard error")


def lines(paths: Floats, width: float, opacity: float, name: str = "") -> Curve:
    """Paths, (k, n, 2), as one curve with a gap after each."""
    gaps = np.pad(paths, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
    x, y = gaps.reshape(-1, 2).T
    return Curve(name, x, y, colors.MUTED, width=width, opacity=opacity)


def network(
    graph: Any, positions: ArrayLike, *paints: Paint, names: Names | None = None, **points: Any
) -> Chart:
    """Cliques as discs joined where they share points.

    Nodes of the NetworkX graph have ``size``, the area of a disc; edges have ``overlap``, in three
    strengths, of which the strongest are drawn, five for each node. Discs stand at ``positions``
    (the first two columns), those that would hide one another moved apart; ``names`` are those of
    other positions, and ``points`` further fields of `Points`.
    """
    at = np.asarray(positions, dtype=float)[:, :2]
    sizes = np.array([float(size) for _, size in graph.nodes.data("size", default=1)])
    widest = float(np.clip(110.0 / np.sqrt(len(at) + 1), 4.0, 20.0))
    diameters = np.maximum(widest * np.sqrt(sizes / sizes.max(initial=1.0)), 3.0)
    every = at if names is None else np.vstack([at, names.at])
    extent = float(np.ptp(every, axis=0).max()) if len(every) else 0.0
    at = _discs_apart(at, diameters, (extent or 1.0) / _LONGER_SIDE)
    row_of = {node: row for row, node in enumerate(graph)}
    edges = sorted(graph.edges.data("overlap", default=1), key=lambda edge: edge[2])[-5 * len(at) :]
    ends = np.array([(row_of[a], row_of[b]) for a, b, _ in edges], dtype=np.intp).reshape(-1, 2)
    shared = np.array([float(weight) for *_, weight in edges])
    strength = np.ceil(3.0 * shared / shared.max(initial=1.0))
    curves = tuple(
        lines(at[ends[strength == level]], level - 0.5, 0.2 * level) for level in (1, 2, 3)
    )
    drawn = Points(at, paints or (Paint(),), **{"size": diameters, **points})
    return Chart("graph of cliques", points=drawn, curves=curves, equal=True, names=names)


_LONGER_SIDE = 330.0
"""Points of the page on which the longer side of a picture of discs is drawn at least."""


def _discs_apart(at: Floats, diameters: Floats, unit: float) -> Floats:
    """Middles of discs, (n, 2), moved apart until none hides another.

    ``diameters``, (n,), are in points of the page; ``unit`` is how much of the axes one is.
    """
    # Discs in one place need some way to go.
    middles = at / unit + 1e-3 * np.random.default_rng(0).normal(size=at.shape)
    for _ in range(300):
        tree = spatial.cKDTree(middles)
        first, second = tree.query_pairs(diameters.max(initial=1.0), output_type="ndarray").T
        gap = middles[first] - middles[second]
        distance = np.linalg.norm(gap, axis=1)
        overlap = np.maximum(0.5 * (diameters[first] + diameters[second]) - distance, 0.0)
        push = (0.25 * overlap / distance)[:, None] * gap
        np.add.at(middles, first, push)
        np.add.at(middles, second, -push)
    moved = np.linalg.norm(middles - at / unit, axis=1) > 0.1
    return np.where(moved[:, None], middles * unit, at)


def counts(values: ArrayLike, xlabel: str, ylabel: str) -> Chart:
    """Histogram of whole numbers: a bar for each while they are few, in bins beyond."""
    numbers = np.asarray(values, dtype=np.int64)
    if not numbers.size:
        return Chart(xlabel, xlabel, ylabel)
    low, high = int(numbers.min()), int(numbers.max())
    step = -(-(high - low + 1) // MOST_BARS)
    edges = np.arange(low, high + step + 1, step) - 0.5
    heights = np.histogram(numbers, edges)[0].astype(float)
    bars = Bars(0.5 * (edges[1:] + edges[:-1]), heights, width=BAR * step)
    return Chart(xlabel, xlabel, ylabel, bars=(bars,))


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
    levels: ArrayLike, scores: Mapping[str, Any], ylabel: str = "R² after affine alignment"
) -> Chart:
    """Several methods against noise: the mean over seeds with its standard deviation.

    ``scores`` has a value or several for each of the levels, by method; NaN where a run failed.
    """
    import pandas as pd

    at, curves = np.asarray(levels, dtype=float), []
    for code, (name, runs) in enumerate(scores.items()):
        values = {k: pd.Series(np.ravel(run), dtype=float) for k, run in enumerate(runs)}
        table = pd.DataFrame(values)
        mean, sd = table.mean().to_numpy(), table.std(ddof=0).fillna(0.0).to_numpy()
        curves.append(Curve(name, at, mean, colors.class_color(code), sd, dots=True))
    return Chart(f"{ylabel} against noise", "noise", ylabel, curves=tuple(curves))
