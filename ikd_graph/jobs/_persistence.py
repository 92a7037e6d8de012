"""Persistent homology of the clique complex of a dissimilarity, and what its features are worth.

A dissimilarity is an (n, n) array with a zero diagonal, infinite where a pair is never joined.
Cliques enter as their longest edge does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial.distance import squareform
from scipy.special import betaln

from .._base.types import Floats, Integers

PAIRS = 100_000
"""Pairs that loops are sought in, the nearest ones: all of 447 points. .8 s of 1000 points on a
ring, where all pairs take 2 to 14 s."""

PAIRS_OF_VOIDS = 20_000
"""Pairs that voids are sought in, the nearest ones: all of 200 points. Half a second."""

_NEAR, _CROWDED = 10, 3
"""Nearest pairs for each point by which loops are counted first, and loops for each point that only
points like unrelated ones have: 5 and 3 to 6 of noise, at most 1.3 of shapes below noise of their
own variance. To fill in those of 500 points takes minutes, and none stands out."""

_DRAWS = 9_999
"""Samples of the universal null: the least p value of a test is 1 / 10 000."""

_FEW = 10
"""Features below which their mean is not known: fewer are filled up with typical ones."""

_TYPICAL = {1: -2.2, 2: -3.5}
"""Mean of log log(death / birth) by degree, of points at random in as few dimensions as have such
features: -2.2 of loops in the plane and -2.4 in space, -3.5 of voids in space, whatever the number
of points; in more dimensions it is less (docs/decisions/026-topology.md)."""

_PRIME = 47
"""Field of the coefficients: cocycles with small numbers are lifted from it to whole numbers."""

_PIECE, _FRACTION = 5, 0.05
"""Points, and fraction of them, that a piece has at least: an outlying row is none."""

_STEPS, _SMOOTH = 360, 0.15
"""Steps of the way around a loop, and radians over which it is smoothed: .3 cut corners."""


class Feature(NamedTuple):
    """A piece, loop or void of a clique complex."""

    degree: int
    birth: float
    death: float  # where it is filled in at the latest; infinite where it never is
    p_value: float  # NaN where it is never filled in
    points: Integers | None = None  # of a piece
    cocycle: Integers | None = None  # (k, 3) of a loop: two ends of each edge, and its coefficient


def ripser(dissimilarity: Floats, **options: Any) -> dict[str, Any]:
    """Return what ripser says of a dissimilarity, or say how to install it."""
    try:
        from ripser import ripser as library
    except ImportError as error:
        raise ImportError(
            'topology needs ripser, which is not installed; pip install "ikd_graph[topology]"'
        ) from error
    result: dict[str, Any] = library(dissimilarity, distance_matrix=True, **options)
    return result


def loops_or_voids(
    dissimilarity: Floats, degree: int, most: int, n_tests: int = 1
) -> list[Feature]:
    """Return features of degree 1 or 2 of the complex of the nearest pairs, least p value first.

    What these leave open counts as filled in where the next pair would enter, which errs towards
    a large p value. What all pairs that are ever joined leave open has an infinite death. Of points
    with more loops than unrelated ones have, few pairs are looked at, and p values are 1.
    """
    n, lengths = len(dissimilarity), squareform(dissimilarity, checks=False)
    known = np.sort(lengths[np.isfinite(lengths)])
    if not known.size:
        return []
    is_crowded = False
    if degree == 1 and _NEAR * n < min(known.size, most):
        first = ripser(dissimilarity, maxdim=1, thresh=float(known[_NEAR * n]))["dgms"][1]
        is_crowded = len(first) > _CROWDED * n
        most = _NEAR * n if is_crowded else most
    last = float(known[most]) if known.size > most else np.inf
    # An infinite threshold stands for all pairs, and for less where one point is near to all.
    limit = min(last, float(known[-1])) if known.size < lengths.size else last
    loops = degree == 1
    field = _PRIME if loops else 2
    found = ripser(dissimilarity, maxdim=degree, thresh=limit, coeff=field, do_cocycles=loops)
    births, deaths = found["dgms"][degree].astype(np.float64).T
    deaths[np.isinf(deaths)] = last
    p_values = np.minimum(n_tests * universal_p_values(births, deaths, degree), 1.0)
    p_values = np.ones(births.size) if is_crowded else p_values
    order = np.lexsort((births, np.nan_to_num(p_values))).tolist()
    cocycles = found["cocycles"][1] if loops else [None] * births.size
    values = [each.tolist() for each in (births, deaths, p_values)]
    each = [Feature(degree, *numbers) for numbers in zip(*values, strict=True)]
    return [each[k]._replace(cocycle=cocycles[k]) for k in order]


def universal_p_values(births: Floats, deaths: Floats, degree: int) -> Floats:
    """Return the p value of each feature of degree 1 or 2, NaN of what is never filled in.

    Of points without features ``l = log log(death / birth)``, less its mean, has the distribution
    of ``log E``, less its mean, of exponential E, whatever the points are (Bobrowski and Skraba,
    Scientific Reports 2023). A p value is the probability that the largest of as many is as large.
    Fewer than 10 features are taken for some of 10, the others typical ones.
    """
    known = (births > 0.0) & np.isfinite(deaths)
    p_values = np.where(np.isinf(deaths), np.nan, 1.0)
    if known.any():
        size = np.log(np.log(deaths[known] / births[known]))
        n_typical = max(_FEW - size.size, 0)
        mean = (size.sum() + n_typical * _TYPICAL[degree]) / (size.size + n_typical)
        largest = _largest_of(size.size + n_typical)
        n_smaller = np.searchsorted(largest, size - mean)
        p_values[known] = (1.0 + largest.size - n_smaller) / (1.0 + largest.size)
    return p_values


@lru_cache(maxsize=16)
def _largest_of(m: int) -> Floats:
    """Return the largest of m log exponentials less their mean, of many samples, ascending."""
    rng = np.random.default_rng(0)
    drawn = (np.log(rng.exponential(size=m)) for _ in range(_DRAWS))
    return np.sort([each.max() - each.mean() for each in drawn])


def pieces(dissimilarity: Floats, n_tests: int = 1) -> list[Feature]:
    """Return the connected components of points, and where large parts of these are joined.

    Parts are two where the gap between them is wider than all within either by more than chance
    leaves of one connected curve. Gaps of m points along a curve are exponential; the largest is
    r times the second with probability ``m (m - 1) B(1 + r, m - 1)``. A component is never joined;
    the points of two parts are those of the smaller one.
    """
    n = len(dissimilarity)
    labels = connected_components(np.isfinite(dissimilarity), directed=False)[1]
    found = [
        Feature(0, 0.0, np.inf, np.nan, np.flatnonzero(labels == k))
        for k in np.argsort(-np.bincount(labels), kind="stable")
    ]
    if n < 3:
        return found
    lengths = squareform(dissimilarity, checks=False)
    never = ~np.isfinite(lengths)
    lengths = np.where(never, 1.0 + 2.0 * lengths[~never].max(initial=0.0), lengths)
    members, inside = [*np.arange(n)[:, None]], [0.0] * n
    least, parted = max(_PIECE, _FRACTION * n), list[Feature]()
    for first, second, height, _ in linkage(lengths, "single").tolist():
        few, many = sorted((members[int(first)], members[int(second)]), key=len)
        widest = max(inside[int(first)], inside[int(second)])
        if few.size >= least and labels[few[0]] == labels[many[0]]:
            ratio, m = height / widest if widest else np.inf, few.size + many.size - 1.0
            p_value = float(np.exp(np.log(m * (m - 1.0)) + betaln(1.0 + ratio, m - 1.0)))
            parted.append(Feature(0, 0.0, height, p_value, np.sort(few)))
        members.append(np.append(few, many))
        inside.append(height)
    parted.sort(key=lambda part: part.p_value)
    n_tests *= len(parted)
    return found + [part._replace(p_value=min(n_tests * part.p_value, 1.0)) for part in parted]


def cycle(dissimilarity: Floats, loop: Feature) -> Integers:
    """Return points around a loop, in order.

    They are the shortest way between the ends of an edge of its cocycle that is there when it is
    born, across no other such edge.
    """
    assert loop.cocycle is not None
    ends = loop.cocycle[:, :2]
    ends = ends[np.argsort(dissimilarity[ends[:, 0], ends[:, 1]], kind="stable")]
    there = dissimilarity <= _next(loop.birth)
    lengths = np.where(there, np.maximum(dissimilarity, np.finfo(np.float64).tiny), 0.0)
    across = ends[there[ends[:, 0], ends[:, 1]]]
    # To cross one of the others costs more than all the way around.
    lengths[tuple(across.T)] += lengths.sum()
    lengths = np.maximum(lengths, lengths.T)
    start, stop = ends[0]
    lengths[start, stop] = lengths[stop, start] = 0.0
    before = shortest_path(sp.csr_array(lengths), indices=start, return_predecessors=True)[1]
    way = [stop]
    while way[-1] != start:
        way.append(before[way[-1]])
    return np.array(way[::-1], dtype=np.int64)


def _next(value: float) -> float:
    """Return the next larger number of single precision."""
    return float(np.nextafter(np.float32(value), np.float32(np.inf)))


def circular_coordinate(dissimilarity: Floats, loop: Feature) -> Floats:
    """Return the angle of each point around a loop, (n,) in [0, 2 pi).

    The cocycle of the loop, halfway between birth and death, is made harmonic by least squares (de
    Silva, Morozov and Vejdemo-Johansson 2011). An edge weighs as in diffusion maps without the
    density of the points (Coifman and Lafon 2006): otherwise few points take most of the angle.
    Points that are joined to none of the loop get that of the nearest one that is, or NaN.
    """
    assert loop.cocycle is not None
    n, finite = len(dissimilarity), dissimilarity[np.isfinite(dissimilarity)]
    # ripser rounds to single precision.
    scale = _next(0.5 * (loop.birth + min(loop.death, float(finite.max()))))
    low, high = np.nonzero(np.triu(dissimilarity <= scale, 1))
    first, second, value = loop.cocycle.T
    turns = np.zeros((n, n))
    value = np.where(2 * value > _PRIME, value - _PRIME, value)
    turns[first, second], turns[second, first] = value, -value
    weight = np.exp(-2.0 * (dissimilarity[low, high] / scale) ** 2)
    near = np.bincount(np.append(low, high), np.append(weight, weight), n)
    weight /= near[low] * near[high]
    graph = sp.csr_array((weight, (low, high)), shape=(n, n))
    graph = graph + graph.T
    flow = np.bincount(high, weight * turns[low, high], n)
    flow -= np.bincount(low, weight * turns[low, high], n)
    laplacian = (sp.diags_array(graph.sum(axis=1)) - graph).toarray()
    # The angle of one point is free, and those of points that are joined to nothing are.
    angle = np.linalg.lstsq(laplacian, flow)[0]
    labels = connected_components(graph, directed=False)[1]
    outside = np.flatnonzero(labels != labels[first[0]])
    away = np.where(labels == labels[first[0]], dissimilarity[outside], np.inf)
    angle[outside] = np.where(np.isfinite(away.min(axis=1)), angle[away.argmin(axis=1)], np.nan)
    return 2.0 * np.pi * (angle % 1.0)


def at_even_speed(angle: Floats, points: Floats) -> Floats:
    """Return angles that grow with the length of the way around a loop, (n,) in [0, 2 pi).

    The way is the mean of the points (n, m) near each angle, by a kernel around the circle. Angles
    stay as they are where points of one angle scatter as far as the way is wide: the map has cut
    the loop open, or lacks it.
    """
    known = np.isfinite(angle)
    grid = np.linspace(0.0, 2.0 * np.pi, _STEPS + 1)
    weight = np.exp((np.cos(grid[:, None] - angle[known]) - 1.0) / _SMOOTH**2)
    weight /= weight.sum(axis=1, keepdims=True)
    way = weight @ points[known]
    scatter = weight @ (points[known] ** 2).sum(axis=1) - (way**2).sum(axis=1)
    if not scatter.max() < way.var(axis=0).sum():
        return angle
    length = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1)))
    return np.interp(angle, grid, length) * (2.0 * np.pi / length[-1]) % (2.0 * np.pi)
