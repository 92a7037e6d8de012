"""The distance that every pair of points should have, and how much it counts."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import geodesics
from .._base import validation as check
from .._base.threads import block_rows
from .._base.types import Floats
from .._base.validation import validate
from ..covariance import sampling_variance
from ..graph import CsrGraph
from ..kernels import StationaryKernel, as_kernel

Noise = Any
"""Standard errors of distances: a number, (n, n) numbers or a sparse matrix of some, or None."""

DENSE = 4000
"""Points up to which every pair has a distance: 130 MB. Beyond, a point has its edges and anchors
that stand for all points, at most so many that the memory stays the same."""

ANCHORS = 1000
"""Most anchors: each is the start of shortest paths through the whole graph."""

_FAINT = 1e-3  # weight of a pair without an edge, relative to the median edge ("precision")
_HEAVIEST = 1e4  # largest weight relative to the median: beyond it equations lose their digits


class Pairs(NamedTuple):
    """What each point sees: its edges, and anchors that do not see it in return.

    Of a few thousand points all are anchors and edges are among these pairs.
    """

    edges: CsrGraph | None  # weights are lengths
    edge_weights: Floats  # one for each entry of the edges
    anchors: NDArray[np.int64]  # (a,) sorted
    targets: NDArray[np.float32]  # (n, a) distances
    weights: NDArray[np.float32]  # (n, a), 0 where there is no path, and for the point itself


@validate(corr=check.numbers, kernel=as_kernel, n_observed=check.observations)
def distance_precision(
    corr: Floats, kernel: StationaryKernel, n_observed: int | NDArray[np.integer] = 1
) -> Floats:
    """Inverse sampling variance of the distances that correlations stand for (paper, Eq. 11).

    Parameters
    ----------
    corr : array_like of float64
        Correlations in (0, 1], any shape.
    kernel : str or StationaryKernel
        Kernel that turns them into distances.
    n_observed : int or array_like of int
        Number N of columns, or that of each correlation.

    Returns
    -------
    ndarray of float64
        Precisions 4 d N f'(d)^2 / (1 - r^2)^2, the same shape; r = 1 counts as 1 - 1.5e-8.

    Examples
    --------
    >>> from ikd_graph import refine
    >>> far, near = refine.distance_precision([0.1, 0.9], "squared_exponential", 100)
    >>> bool(near > 50.0 * far)
    True
    """
    values = np.asarray(corr, dtype=np.float64)
    values = np.minimum(values, 1.0 - np.sqrt(np.finfo(np.float64).eps))
    sq_dist = kernel.sq_distance(values)
    return 4.0 * sq_dist * kernel.derivative(sq_dist) ** 2 / sampling_variance(values, n_observed)


def noise_of_pairs(
    first: NDArray[np.integer], second: NDArray[np.integer], n: int, noise: Noise
) -> Floats:
    """Return the standard errors of the distances of pairs among n points, (m,)."""
    if not sp.issparse(noise):
        noise = np.asarray(noise, dtype=np.float64)
    if noise.ndim == 0:
        return np.full(second.size, float(noise))
    if noise.shape != (n, n):
        raise ValueError(
            f"noise must be a number or have shape {(n, n)}, got shape {noise.shape}; give one "
            "standard error for all distances, or one for each pair"
        )
    # What is stored one way round is the same both ways, as in distances.
    ways = (np.asarray(sp.csr_array(noise)[a, b]).ravel() if sp.issparse(noise) else noise[a, b]
            for a, b in ((first, second), (second, first)))  # fmt: skip
    errors = np.maximum(*ways)
    wrong = np.flatnonzero(~((errors > 0.0) & np.isfinite(errors)))
    if wrong.size:
        a, b = first[wrong[0]], second[wrong[0]]
        raise ValueError(
            f"noise must be positive and finite for every edge of the graph, got "
            f"{errors[wrong[0]]:g} for points {a} and {b}, and {wrong.size // 2} such edges of "
            f"{errors.size // 2}; give the standard error of each distance"
        )
    return np.asarray(errors)


def _by_noise(errors: Floats) -> Floats:
    """Weights of distances, in units of the median, so that a stress does not depend on theirs."""
    return np.minimum((np.median(errors) / errors) ** 2, _HEAVIEST)


def pairs_of_distances(distances: Floats, noise: Noise = None) -> Pairs:
    """Targets and weights of all pairs, whose distances (n, n) are known."""
    n = len(distances)
    weights = np.ones((n, n), dtype=np.float32)
    np.fill_diagonal(weights, 0.0)
    if noise is not None:
        first, second = np.nonzero(weights)
        weights[first, second] = _by_noise(noise_of_pairs(first, second, n, noise))
    return Pairs(None, np.empty(0), np.arange(n), distances.astype(np.float32), weights)


def pairs_of(
    g: CsrGraph,
    kernel: StationaryKernel,
    n_observed: int | NDArray[np.integer],
    weights: str,
    path: str,
    noise: Noise = None,
) -> Pairs:
    """Targets and weights of a connected graph.

    Parameters
    ----------
    g : CsrGraph
        Correlations.
    kernel : StationaryKernel
        Kernel that turns them into distances.
    n_observed : int or (m,) int
        Number N of columns, or that of each entry of the graph.
    weights : {"precision", "uniform"}
        Edges by their sampling precision and other pairs next to nothing, or all pairs alike.
    path : {"distance", "covariance"}
        Which paths pairs without an edge aim at.
    noise : float, (n, n) array or sparse matrix, optional
        Standard errors of the distances. With them edges weigh 1 / noise², and other pairs nothing.

    Returns
    -------
    Pairs
        All pairs, or edges and anchors.
    """
    n = g.n_nodes
    lengths = geodesics.distance_lengths(g, kernel)
    usable = np.isfinite(lengths.weights)
    near, far = np.where(usable, 1.0, 0.0), 1.0
    if noise is not None:
        ends = np.repeat(np.arange(n), np.diff(g.indptr)), g.indices
        near[usable] = _by_noise(noise_of_pairs(*ends, n, noise)[usable])
        far = 0.0
    elif weights == "precision":
        counts = n_observed if np.ndim(n_observed) == 0 else np.asarray(n_observed)[usable]
        near[usable] = distance_precision(g.weights[usable], kernel, counts)
        typical = float(np.median(near[usable])) if usable.any() else 1.0
        np.minimum(near, _HEAVIEST * typical, out=near)
        far = _FAINT * typical
    anchors = np.arange(n) if n <= DENSE else _draw_anchors(g)
    targets = _path_distances(g, kernel, path, anchors)
    counts = np.full(targets.shape, far * n / anchors.size, dtype=np.float32)
    counts[~np.isfinite(targets)] = 0.0
    edges = None
    if anchors.size == n:
        rows = np.repeat(np.arange(n), np.diff(g.indptr))[usable]
        targets[rows, g.indices[usable]] = lengths.weights[usable]
        counts[rows, g.indices[usable]] = near[usable]
    else:
        walked = np.where(usable, lengths.weights, 0.0)
        edges = CsrGraph.trusted(lengths.indptr, lengths.indices, walked)
    counts[anchors, np.arange(anchors.size)] = 0.0
    targets[counts == 0.0] = 0.0
    return Pairs(edges, near, anchors, targets, counts)


def _path_distances(
    g: CsrGraph, kernel: StationaryKernel, path: str, anchors: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Distances (n, a) along the best paths, infinite where there is no path."""
    n = g.n_nodes
    out = np.empty((n, anchors.size), dtype=np.float32)
    edges = geodesics.path_lengths(g, kernel, path)
    step = block_rows(n)
    for start in range(0, anchors.size, step):
        block = slice(start, start + step)
        lengths = geodesics.shortest_distances(edges, anchors[block])
        distances = np.sqrt(geodesics.squares_of_lengths(kernel, path, lengths))
        distances[~np.isfinite(lengths)] = np.inf
        out[:, block] = distances.T
    if anchors.size == n:
        # A path has one length, whichever end it is measured from, but for its last bits.
        out = np.float32(0.5) * (out + out.T)
    return out


def _draw_anchors(g: CsrGraph) -> NDArray[np.int64]:
    """Random anchors, the same whatever order the points come in."""
    n = g.n_nodes
    total = np.add.reduceat(np.append(g.weights, 0.0), g.indptr[:-1])
    order = np.argsort(np.where(np.diff(g.indptr) > 0, total, 0.0), kind="stable")
    count = max(min(ANCHORS, DENSE**2 // n), 1)
    return np.sort(order[np.random.default_rng(0).permutation(n)[:count]])
