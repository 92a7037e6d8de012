"""Charts of numbers, described once: `plot` draws them for papers, `figures` for pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from .. import eigen
from ..dimension import DimensionEstimate
from . import colors
from .words import say_seconds

if TYPE_CHECKING:
    from ..study.diagnosis import Diagnosis

Floats = NDArray[np.float64]

# A drop by less is none to speak of.
_GAP = 1.1
_MOST_BARS = 40


class Curve(NamedTuple):
    """Values over places; NaN leaves a hole."""

    name: str
    x: Floats  # (k,)
    y: Floats  # (k,)
    color: str
    half: Floats | None = None  # (k,) half the height of the band around it
    dots: bool = False
    line: bool = True


class Bars(NamedTuple):
    """Upright bars, evenly spaced."""

    at: Floats  # (k,) their middles
    heights: Floats  # (k,)
    kept: int  # so many are in colour, the rest are grey


class Level(NamedTuple):
    """One lying bar."""

    name: str
    share: float  # of the longest bar, 0 to 1
    text: str


class Chart(NamedTuple):
    """What a chart shows, whatever draws it."""

    title: str  # what a screen reader says
    xlabel: str = ""
    ylabel: str = ""
    curves: tuple[Curve, ...] = ()
    bars: Bars | None = None
    mark: tuple[float, str] | None = None  # dashed upright line with its text
    log_x: bool = False
    log_y: bool = False
    ceiling: float | None = None  # height that no value can exceed, and so no band
    named: str = ""  # "left" or "right": names stand there beside the curves; else in a legend


def spectrum(eigenvalues: ArrayLike, n_components: int | None = None, name: str = "") -> Chart:
    """Eigenvalues as bars, those kept in colour, with the gap that ends the dimensions marked."""
    values = np.asarray(eigenvalues, dtype=float)
    kept = values.size if n_components is None else n_components
    gap = spectrum_gap(values)
    return Chart(
        f"spectrum of {name}" if name else "spectrum",
        "eigenvalue",
        bars=Bars(np.arange(1.0, values.size + 1), values, kept),
        mark=(gap + 0.5, f"gap after {gap}") if gap else None,
    )


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
    return eigen.eigengap(values) if eigen.gap_ratios(values).max() > _GAP else 0


def counts(values: ArrayLike, xlabel: str, ylabel: str) -> Chart:
    """Histogram of whole numbers: a bar for each while they are few, in bins beyond."""
    numbers = np.asarray(values, dtype=np.int64)
    if not numbers.size:
        return Chart(xlabel, xlabel, ylabel)
    low, high = int(numbers.min()), int(numbers.max())
    step = max(1, int(np.ceil((high - low + 1) / _MOST_BARS)))
    edges = np.arange(low, high + step + 1, step) - 0.5
    heights, _ = np.histogram(numbers, edges)
    bars = Bars(0.5 * (edges[1:] + edges[:-1]), heights.astype(float), heights.size)
    return Chart(xlabel, xlabel, ylabel, bars=bars)


def threshold_counts(levels: Mapping[str, Any], used: float | None = None) -> Chart:
    """Edges, components and cliques over the threshold, on a logarithmic scale.

    ``levels`` holds ``threshold`` and any of the three, NaN where unknown; ``used`` is marked.
    """
    at = np.asarray(levels["threshold"], dtype=float)
    curves = []
    for name, code in (("edges", 0), ("components", 2), ("cliques", 3)):
        if name in levels:
            values = np.asarray(levels[name], dtype=float)
            values = np.where(values > 0, values, np.nan)
            curves.append(Curve(name, at, values, colors.class_color(code)))
    return Chart(
        "edges, components and cliques against the threshold", "threshold on the similarity",
        "count", tuple(curves), mark=_used(at, used), log_y=True, named="left",
    )  # fmt: skip


def threshold_shares(levels: Mapping[str, Any], used: float | None = None) -> Chart:
    """Per cent of the points that are covered, and in the largest component, over the threshold.

    ``levels`` holds ``threshold``, ``covered`` and ``largest component``, shares.
    """
    at = np.asarray(levels["threshold"], dtype=float)
    curves = tuple(
        Curve(name, at, 100.0 * np.asarray(levels[name], dtype=float), colors.class_color(code))
        for name, code in (("covered", 1), ("largest component", 2))
    )
    return Chart(
        "coverage against the threshold", "threshold on the similarity", "% of points", curves,
        mark=_used(at, used), ceiling=100.0,
    )  # fmt: skip


def _used(at: Floats, used: float | None) -> tuple[float, str] | None:
    """Mark of the threshold in use, where it is among those looked at."""
    inside = used is not None and at.size and at[0] <= used <= at[-1]
    return (float(used), f"used: {used:.3g}") if inside and used is not None else None


def noise_curves(
    levels: ArrayLike,
    scores: Mapping[str, ArrayLike],
    ylabel: str,
    xlabel: str = "noise",
    palette: Mapping[str, str] | None = None,
    ceiling: float | None = None,
) -> Chart:
    """Several methods against noise: the mean over seeds in a band of one deviation.

    ``scores`` has (k,) or (k, n_seeds) values for each method, NaN where a run failed.
    """
    at = np.asarray(levels, dtype=float)
    curves = []
    for code, (name, runs) in enumerate(scores.items()):
        mean, spread = mean_and_spread(runs)
        color = (palette or {}).get(name, colors.class_color(code))
        curves.append(Curve(name, at, mean, color, spread, dots=True))
    return Chart(
        f"{ylabel} against {xlabel}", xlabel, ylabel, tuple(curves), ceiling=ceiling, named="right"
    )


def dimensions(result: DimensionEstimate) -> Chart:
    """Scores on held-out columns over the number of dimensions, with two standard errors."""
    at = np.arange(1.0, result.scores.size + 1)
    curve = Curve("", at, result.scores, colors.ACCENT, 2.0 * result.errors, dots=True)
    return Chart(
        str(result), "dimensions", "log density of a held-out column, less the best", (curve,),
        mark=(float(result.dimension), str(result)),
    )  # fmt: skip


def mean_and_spread(runs: ArrayLike) -> tuple[Floats, Floats]:
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


def diagnosis(found: Diagnosis) -> tuple[Chart, Chart]:
    """Correlations of all pairs against chance, and expected R² over the number of features."""
    edges = np.asarray(found.correlation_edges)
    counts = np.asarray(found.correlation_counts, dtype=float)
    free = max(found.n_effective - 2.0, 1.0)
    inside = np.clip(edges, -1.0 + 1e-9, 1.0 - 1e-9)
    by_chance = np.diff(stdtr(free, inside * np.sqrt(free / (1.0 - inside**2)))) * counts.sum()
    drawn = np.flatnonzero((counts > 0.0) | (by_chance >= 0.5))
    drawn = np.arange(drawn[0], drawn[-1] + 1)
    at = 0.5 * (edges[1:] + edges[:-1])[drawn]
    expected = np.where(by_chance >= 0.5, by_chance, np.nan)[drawn]
    least = float(found.trusted_correlations[-1]) if found.n_trusted else None
    pairs = Chart(
        "correlations of all pairs of points, and what chance makes (line)",
        "correlation", "pairs",
        (Curve("chance", at, expected, colors.SECOND),),
        Bars(at, counts[drawn], drawn.size),
        None if least is None else (least, f"significant from {least:.2g}"),
        log_y=True,
    )  # fmt: skip
    width = found.n_observed
    sizes = np.geomspace(max(width / 8.0, 1.0), 8.0 * width, 60)
    halves = np.array([np.mean(found.halves_r2)])
    measured = Curve("measured", np.array([width / 2.0]), halves, colors.INK, dots=True)
    accuracy = Chart(
        "expected R² over the number of features: from halves (dot), and from more (line)",
        "features", "expected R²",
        (Curve("expected", sizes, found.expected_r2(sizes), colors.ACCENT), measured),
        mark=(float(width), f"now: {width}"), log_x=True, ceiling=1.0,
    )  # fmt: skip
    return pairs, accuracy


def levels(
    values: Mapping[str, float], say: Callable[[float], str] = say_seconds
) -> tuple[Level, ...]:
    """Lying bars with their values as text, in the order given.

    A value of 0 or less has no bar, and neither has NaN, which did not finish.

    Examples
    --------
    >>> levels({"graph": 0.5, "solve": 1.0})[0]
    Level(name='graph', share=0.5, text='500 ms')
    """
    longest = max((value for value in values.values() if 0.0 < value < np.inf), default=1.0)
    return tuple(
        Level(name, max(float(value), 0.0) / longest, say(value))
        if np.isfinite(value)
        else Level(name, 0.0, "did not finish")
        for name, value in values.items()
    )
