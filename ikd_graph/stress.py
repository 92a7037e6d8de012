r"""Stress refinement: the distances that the correlations ask for, each by its precision.

A correlation r from N columns has variance (1 - r^2)^2 / N, so that the squared
distance d = f^-1(r) has variance (1 - r^2)^2 / (N f'(d)^2) and the distance sqrt(d) a precision of

    w = 4 d N f'(d)^2 / (1 - r^2)^2,

which is the paper's Eq. 11 to first order in the error of r. Weighted SMACOF minimizes
sum w (|z_i - z_j| - sqrt(d))^2: each step goes nearly twice as far as the minimum of a quadratic
that lies above the stress and touches it. There the quadratic is still no higher than at the start,
so the stress never rises. A wrong scale, which such steps only turn round, ends in the first, to
the minimum.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import cg

from . import _jit, geodesics
from ._base.threads import block_rows, map_blocks, single_threaded_blas
from ._base.types import Floats, Integers
from ._base.validation import numbers, observations, one_of, table, validate
from .graph import CsrGraph, check_graph, distance_variance
from .kernels import StationaryKernel, as_kernel

__all__ = ["StressFit", "distance_precision", "stress"]

WEIGHTS = ("precision", "uniform", "elastic")

_STRIDE = 1.9  # up to 2 the stress cannot rise, at 2 it need not fall
_TOLERANCE = 3e-6  # fraction of the stress that a last step takes off
MAX_ITER = 60  # until a step takes off no more than the tolerance
_CG_STEPS = 3  # of the solution of a sparse system


class StressFit(NamedTuple):
    """A latent of less stress and the way there."""

    latent: Floats  # (n, m), centered where the start was
    history: Floats  # stress before every step and after the last, never rising
    n_iter: int
    converged: bool


Counts: TypeAlias = int | NDArray[np.integer]
Noise = Any
"""Standard errors of distances: a number, (n, n) numbers or a sparse matrix of some, or None."""

_FAINT = 1e-3  # weight of a pair without an edge, relative to the median edge ("precision")
_HEAVIEST = 1e4  # largest weight relative to the median: beyond it equations lose their digits


class Pairs(NamedTuple):
    """What each point sees: its edges, and landmarks, its anchors, that do not see it in return.

    Where every pair has a distance all points are anchors and edges are among these pairs.
    """

    edges: CsrGraph | None  # weights are lengths
    edge_weights: Floats  # one for each entry of the edges
    anchors: Integers  # (a,)
    targets: NDArray[np.float32]  # (n, a) distances
    weights: NDArray[np.float32]  # (n, a), 0 where there is no path; (1, a) if alike for all points


@validate(corr=numbers, kernel=as_kernel, n_observed=observations)
def distance_precision(corr: Floats, kernel: StationaryKernel, n_observed: Counts = 1) -> Floats:
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
    return 1.0 / distance_variance(values, kernel, n_observed)


def noise_of_pairs(
    first: NDArray[np.integer], second: NDArray[np.integer], n: int, noise: Noise
) -> Floats:
    """Return the standard errors of the distances of pairs among n points, (m,)."""
    matrix = sp.csr_array(noise) if sp.issparse(noise) else np.asarray(noise, dtype=np.float64)
    if matrix.ndim == 0:
        return np.full(second.size, float(noise))
    if matrix.shape != (n, n):
        raise ValueError(
            f"noise must be a number or have shape {(n, n)}, got shape {matrix.shape}; give one "
            "standard error for all distances, or one for each pair"
        )
    # What is stored one way round is the same both ways, as in distances.
    there, back = matrix[first, second], matrix[second, first]
    errors = np.maximum(np.asarray(there).ravel(), np.asarray(back).ravel())
    wrong = np.flatnonzero(~((errors > 0.0) & np.isfinite(errors)))
    if wrong.size:
        a, b = first[wrong[0]], second[wrong[0]]
        raise ValueError(
            f"noise must be positive and finite for every edge of the graph, got "
            f"{errors[wrong[0]]:g} for points {a} and {b}, and {wrong.size // 2} such edges of "
            f"{errors.size // 2}; give the standard error of each distance"
        )
    return errors


def _by_noise(errors: Floats) -> Floats:
    """Weights of distances, in units of the median, so that a stress does not depend on theirs."""
    return np.minimum((np.median(errors) / errors) ** 2, _HEAVIEST)


@validate(
    latent=table,
    g=check_graph,
    kernel=as_kernel,
    n_observed=observations,
    weights=one_of(WEIGHTS),
    path=one_of(("distance", "covariance")),
)
def stress(
    latent: Floats,
    g: CsrGraph,
    kernel: StationaryKernel,
    n_observed: Counts = 1,
    *,
    weights: str = "precision",
    path: str = "distance",
    noise: Noise = None,
    max_iter: int = MAX_ITER,
) -> StressFit:
    """Move an embedding to the distances that the correlations of a graph ask for.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Start, in the units of the kernel.
    g : CsrGraph
        Connected graph of correlations. Pairs without an edge aim at their geodesic distance; of
        more than 2000 points each sees its edges and landmarks that stand for all points.
    kernel : str or StationaryKernel
        Kernel that turns correlations into distances.
    n_observed : int or (m,) array_like of int
        Number N of columns, which scales all precisions alike and leaves the latent; or that of
        each entry of the graph, where pairs of rows share different columns.
    weights : {"precision", "uniform", "elastic"}
        Every edge counts by the sampling precision of its distance and other pairs next to
        nothing, or all pairs count alike, or also the edges of a point, together as much as all
        pairs, pull it to the mean of its neighbors, which have not its errors
        (docs/decisions/019-elastic-edges.md).
    path : {"distance", "covariance"}
        Geodesics that pairs without an edge aim at: smallest sums of distances, or largest
        products of covariances.
    noise : float or (n, n) array_like or sparse matrix, optional
        Standard error of the distance of every edge, or of each, in the unit of the distances.
        Edges weigh 1 / noise², over that of the median edge, and other pairs nothing.
    max_iter : int
        Largest number of steps.

    Returns
    -------
    StressFit
        The latent and the stress of every step.

    Raises
    ------
    ValueError
        If an edge has no standard error above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph, kernels, refine
    >>> z = np.linspace(0.0, 3.0, 10)[:, None]
    >>> kernel = kernels.SquaredExponential()
    >>> g = graph.threshold(kernel.covariance((z - z.T) ** 2), 0.5)
    >>> fit = refine.stress(z + 0.1 * np.sin(9.0 * z), g, kernel)
    >>> bool(fit.history[-1] < 1e-3 * fit.history[0])
    True
    """
    points = np.array(latent, dtype=np.float64, order="C")
    if len(points) != g.n_nodes:
        raise ValueError(
            f"latent must have one row per node of the graph, got shape {points.shape} for "
            f"{g.n_nodes} nodes; fit both to the same points"
        )
    count = geodesics.auto_landmarks(*points.shape)
    paths = geodesics.best_paths(g, kernel, path, count)
    return stress_of_paths(points, g, kernel, n_observed, paths, weights, noise, max_iter)


def stress_of_paths(
    latent: Floats,
    g: CsrGraph,
    kernel: StationaryKernel,
    n_observed: Counts,
    paths: geodesics.Paths,
    weights: str,
    noise: Noise = None,
    max_iter: int = MAX_ITER,
) -> StressFit:
    """Return an embedding moved as by `stress`, to distances that were measured before.

    Pairs with an edge aim at the distance of their correlation, others at that of the paths.
    """
    # Targets are of single precision.
    n, unit = g.n_nodes, _power_of_two(kernel.length_scale)
    kernel = replace(kernel, length_scale=kernel.length_scale / unit)
    lengths = geodesics.distance_lengths(g, kernel)
    usable = np.isfinite(lengths.weights)
    near, far = np.where(usable, 1.0, 0.0), 1.0
    if noise is not None:
        near[usable] = _by_noise(noise_of_pairs(g.rows, g.indices, n, noise)[usable])
        far = 0.0
    elif weights == "precision":
        counts = n_observed if np.ndim(n_observed) == 0 else np.asarray(n_observed)[usable]
        near[usable] = distance_precision(g.weights[usable], kernel, counts)
        typical = float(np.median(near[usable])) if usable.any() else 1.0
        np.minimum(near, _HEAVIEST * typical, out=near)
        far = _FAINT * typical
    elif weights == "elastic":
        # An error of its own that the distances leave a point, the mean of its neighbors has not.
        near *= n * n / max(near.size, 1)
        lengths = lengths._replace(weights=np.where(usable, 0.0, np.inf))
    squares, landmarks, stand_for = paths
    anchors = np.arange(n) if landmarks is None else landmarks
    targets = np.empty((n, anchors.size), dtype=np.float32)

    def aim(start: int, stop: int) -> None:
        targets[start:stop] = np.sqrt(squares[:, start:stop].T / unit**2)

    map_blocks(aim, n, block_rows(anchors.size))
    counts, edges = (far * stand_for).astype(np.float32)[None], None
    known = np.isfinite(targets)
    if landmarks is None or not known.all():
        counts = counts * known
        targets[~known] = 0.0
    if landmarks is None:
        ends = g.rows[usable], g.indices[usable]
        targets[ends], counts[ends] = lengths.weights[usable], near[usable]
        np.fill_diagonal(counts, 0.0)
    else:
        edges = lengths._replace(weights=np.where(usable, lengths.weights, 0.0))
    pairs = Pairs(edges, near, anchors, targets, counts)
    return _majorize(pairs, latent, unit, max_iter)


def _power_of_two(size: float) -> float:
    """Power of two near a size: a unit that changes no bits."""
    return float(np.exp2(np.round(np.log2(size))))


def stress_of_distances(latent: Floats, distances: Floats, noise: Noise = None) -> StressFit:
    """Return an embedding moved to the distances of all pairs, (n, n)."""
    unit, n = _power_of_two(distances.mean() or 1.0), len(distances)
    weights = np.ones((n, n), dtype=np.float32)
    np.fill_diagonal(weights, 0.0)
    if noise is not None:
        first, second = np.nonzero(weights)
        weights[first, second] = _by_noise(noise_of_pairs(first, second, n, noise))
    targets = (distances / unit).astype(np.float32)
    pairs = Pairs(None, np.empty(0), np.arange(n), targets, weights)
    return _majorize(pairs, latent, unit)


def noise_ratio(latent: Floats, pairs: tuple[Integers, Integers, Floats], noise: Noise) -> float:
    """Root mean square of the residuals of distances over their noise: 1 where that explains all.

    Pairs come with their distances. The sum of squares has as many degrees of freedom as there are
    pairs, less one for each coordinate that no rigid motion changes; infinite where there are no
    more pairs than that.
    """
    (first, second, given), (n, m) = pairs, latent.shape
    apart = np.sqrt(np.square(latent[first] - latent[second]).sum(axis=1))
    ratios = (apart - given) / noise_of_pairs(first, second, n, noise)
    free = given.size - (n * m - m * (m + 1) // 2)
    return float(np.sqrt(np.sum(ratios**2) / free)) if free > 0 else np.inf


@single_threaded_blas()
def _majorize(pairs: Pairs, latent: Floats, unit: float, max_iter: int = MAX_ITER) -> StressFit:
    """Majorize step by step until a step takes off next to nothing; pairs are in a unit."""
    points = np.ascontiguousarray(latent / unit)
    center = points.mean(axis=0)
    points, solve = points - center, _solver(pairs)
    force, value = _forces(pairs, points)
    # Distances that are met to the rounding of the targets are left alone.
    size = float(np.einsum("ij,ij,ij->", pairs.weights, *2 * (pairs.targets,), dtype=np.float64))
    history, converged = [value], value <= float(np.finfo(np.float32).eps) ** 2 * size
    while not converged and len(history) <= max_iter:
        stride = _STRIDE if len(history) > 1 else 1.0
        moved = points + stride * (solve(force, points) - points)
        force, value = _forces(pairs, moved)
        converged = history[-1] - value <= _TOLERANCE * history[-1]
        # Rounding may raise the last bits of a stress that has nowhere to go.
        if value > history[-1]:
            break
        points = moved
        history.append(value)
    points = (points + center) * unit
    return StressFit(points, np.array(history) * unit**2, len(history) - 1, converged)


def _forces(pairs: Pairs, points: Floats) -> tuple[Floats, float]:
    """Return what anchors and edges pull at every point, and the stress."""
    force, by_row, g = np.empty_like(points), np.empty(len(points)), pairs.edges
    # Beyond a few thousand points a pass waits for memory: single precision is enough there.
    single = points.astype(np.float64 if g is None else np.float32)
    columns = np.ascontiguousarray(single[pairs.anchors].T)
    _jit.stress.majorize(
        columns, pairs.targets, pairs.weights, g is not None, single, force, by_row
    )
    if g is not None:
        _jit.stress.add_edges(
            g.indptr, g.indices, g.weights, pairs.edge_weights, points, force, by_row
        )
    return force, 0.5 * float(by_row.sum())


def _solver(pairs: Pairs) -> Callable[[Floats, Floats], Floats]:
    """V Z = force for the weighted Laplacian V of the pairs, as a function of the force and Z.

    Of anchors, which do not move with a point, the force includes where they are.
    """
    n = len(pairs.targets)
    far = np.broadcast_to(pairs.weights.sum(axis=1, dtype=np.float64), n)
    if pairs.edges is None:
        if far.min() == (n - 1) * pairs.weights.max():  # all pairs alike
            return lambda force, points: force / n
        # Weights may have more magnitudes than a double: a quadratic that is steeper by rounding
        # still lies above the stress.
        steeper = 4.0 * n * float(np.finfo(np.float64).eps) * far
        # The constant vector spans the null space of V; V + c 1 1^T is regular, the rest the same.
        dense = far.mean() / n - pairs.weights.astype(np.float64)
        dense.flat[:: n + 1] += far + steeper
        factor = cho_factor(dense, lower=True, check_finite=False)
        return lambda force, points: np.ascontiguousarray(
            cho_solve(factor, force + steeper[:, None] * points, check_finite=False)
        )
    g = pairs.edges
    near = sp.csr_array((pairs.edge_weights, g.indices, g.indptr), shape=(n, n))
    degree = far + np.asarray(near.sum(axis=1)).ravel()
    degree[degree == 0.0] = 1.0
    matrix = sp.csr_array(sp.diags_array(degree) - near)
    precondition = sp.diags_array(1.0 / degree)

    def improve(force: Floats, points: Floats) -> Floats:
        # Conjugate gradients from Z lower the quadratic however early they end.
        limits = {"rtol": 0.0, "maxiter": _CG_STEPS, "M": precondition}
        pulls = zip(force.T, points.T, strict=True)
        return np.column_stack([cg(matrix, pull, start, **limits)[0] for pull, start in pulls])

    return improve
