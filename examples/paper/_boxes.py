"""Box-counting dimension, which a published study of faces chose its dimensions by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

Floats = NDArray[np.float64]


class ScalingFit(NamedTuple):
    """A dimension read as the slope of a log-log line, with all that is needed to draw it."""

    dimension: float
    sizes: Floats  # (n_sizes,) box sizes, falling
    counts: Floats  # (n_sizes,) boxes that hold a point
    fit_range: tuple[float, float]  # smallest and largest size used for the slope
    intercept: float  # of log count against log size
    residual: float  # root mean square of log count about the line


def box_counting_dimension(X, *, method: str = "auto") -> ScalingFit:
    r"""Box-counting dimension: -slope of log N(ε) against log ε.

    N(ε) is the least number of boxes of side ε that hold all points. With few points N saturates
    at their number, so the line is fitted where N lies between 4 boxes (2 if there is no
    more) and a tenth of the points: there a box still holds several. Beyond three or four
    dimensions thousands of points are too few, and the answer is too low.

    Parameters
    ----------
    X : (n, n_features) float64
        Points.
    method : {"auto", "grid", "cover"}
        How boxes are laid. "grid": a lattice, the best of eight random shifts, in 24 sizes from the
        extent of the data down by factors of 2^(1/3); in many columns it parts every point from
        every other at any size. "cover": boxes centered on points, each next one where the points
        are farthest from all boxes so far. "auto": a grid up to five columns.

    Returns
    -------
    ScalingFit
        The dimension with sizes, counts and the range of the fit.

    Examples
    --------
    >>> line = np.linspace(0.0, 1.0, 2000)[:, None] * [1.0, 2.0, 3.0]
    >>> round(box_counting_dimension(line).dimension)
    1
    """
    points = np.asarray(X, dtype=np.float64)
    extent = float(np.ptp(points, axis=0).max())
    if extent == 0.0:
        return ScalingFit(0.0, np.ones(1), np.ones(1), (1.0, 1.0), 0.0, 0.0)
    if method == "cover" or (method == "auto" and points.shape[1] > 5):
        sides, counts = _cover_counts(points)
    else:
        sides = extent * 2.0 ** (-np.arange(24) / 3.0)
        counts = _grid_counts(points, sides, np.random.default_rng(0))
    usable = (counts >= 4.0) & (counts <= points.shape[0] / 10.0)
    if np.count_nonzero(usable) < 3:
        usable = (counts >= 2.0) & (counts <= points.shape[0] / 2.0)
    return _fit(sides, counts, usable, sign=-1.0)


def q_dimension(X, q: float) -> float:
    r"""Slope D_q of log C_q(r) against log r, with C_q = mean(p_i(r)^(q - 1))^(1 / (q - 1)).

    p_i(r) is the fraction of points within r of point i, itself with it, a ball in place of a box;
    q = 1 is the limit, mean log p_i. The line is fitted where a ball holds 1 to 10 % of the points.

    Examples
    --------
    >>> line = np.linspace(0.0, 1.0, 1000)[:, None] * [1.0, 2.0, 3.0]
    >>> [round(q_dimension(line, q)) for q in (0, 1, 2)]
    [1, 1, 1]
    """
    gaps = np.sort(squareform(pdist(np.asarray(X, dtype=np.float64))), axis=1)
    steps = np.geomspace(*np.quantile(gaps, (0.01, 0.1)), 20)
    p = np.array([np.searchsorted(row, steps, side="right") for row in gaps]) / len(gaps)
    if q == 1:
        log_sum = np.log(p).mean(axis=0)
    else:
        log_sum = np.log((p ** (q - 1.0)).mean(axis=0)) / (q - 1.0)
    return float(np.polyfit(np.log(steps), log_sum, 1)[0])


def _grid_counts(points: Floats, sides: Floats, rng: np.random.Generator) -> Floats:
    """Boxes of a lattice that hold a point, the least over eight shifts, (n_sizes,)."""
    # Boxes are told apart by a random number each, the sum of a random number for each index.
    keys = rng.integers(1, 2**62, size=points.shape[1], dtype=np.int64)
    low = points.min(axis=0)
    counts = np.full(sides.size, np.inf)
    for i, side in enumerate(sides):
        for _ in range(8):
            shift = rng.uniform(0.0, side, size=points.shape[1])
            boxes = np.floor((points - low + shift) / side).astype(np.int64)
            counts[i] = min(counts[i], np.unique(boxes @ keys).size)
    return counts


def _cover_counts(points: Floats) -> tuple[Floats, Floats]:
    """Sides and numbers of boxes of farthest-first covers, down to a fifth of the points."""
    first = int(np.abs(points - np.median(points, axis=0)).max(axis=1).argmin())
    gap = np.abs(points - points[first]).max(axis=1)
    sides = []
    for _ in range(max(points.shape[0] // 5, 4)):
        farthest = int(gap.argmax())
        if gap[farthest] == 0.0:
            break
        sides.append(2.0 * gap[farthest])
        np.minimum(gap, np.abs(points - points[farthest]).max(axis=1), out=gap)
    # Equal steps of log count: else the many small boxes would rule the fit.
    picked = np.unique(np.geomspace(1, len(sides), 40).round().astype(np.int64)) - 1
    return np.asarray(sides)[picked], (picked + 1).astype(np.float64)


def _fit(sizes: Floats, counts: Floats, usable: NDArray[np.bool_], sign: float) -> ScalingFit:
    """Line through log counts against log sizes."""
    if np.count_nonzero(usable) < 2:
        usable = counts > 0.0
    x, y = np.log(sizes[usable]), np.log(counts[usable])
    slope, intercept = np.polyfit(x, y, 1)
    residual = float(np.sqrt(np.mean((y - slope * x - intercept) ** 2)))
    used = sizes[usable]
    span = (float(used.min()), float(used.max()))
    return ScalingFit(float(sign * slope), sizes, counts, span, float(intercept), residual)
