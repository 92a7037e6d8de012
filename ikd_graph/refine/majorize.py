r"""Stress refine: the distances that the covariances ask for, each as precisely as it is known.

A correlation r from N observed dimensions has variance (1 - r^2)^2 / N, so that the squared
distance d = f^-1(r) has variance (1 - r^2)^2 / (N f'(d)^2) and the distance sqrt(d) a precision of

    w = 4 d N f'(d)^2 / (1 - r^2)^2,

which is the paper's Eq. 11 made exact. Weighted SMACOF minimises sum w (|z_i - z_j| - sqrt(d))^2:
each step goes nearly twice as far as the minimum of a quadratic that lies above the stress and
touches it. There the quadratic is still no higher than at the start, so the stress never rises, and
half as many steps come as far as those to the minimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from .. import _jit, geodesics, solve
from .._records import CsrGraph
from .._validation import check_choice, check_integer, check_positive
from ..covariance import sampling_variance
from ..kernels import StationaryKernel, get

Floats = NDArray[np.float64]

DENSE_LIMIT = 2000
"""Number of points up to which every pair has a weight; beyond it edges and landmark pairs have."""

WHOLE_LIMIT = 4000
"""The same where far pairs count: they cannot be left to a few landmarks as easily."""

WEIGHTS = ("precision", "path", "uniform", "component")

N_LANDMARKS = 32
"""Points whose geodesic distances to all others keep a large latent unfolded."""

FAINT = 1e-3
"""Weight of a pair that is not an edge, relative to the median edge."""

ACROSS = 0.3
"""Weight of a pair in two components of a graph, whose path hangs on a bridge ("component")."""

_HEAVIEST = 1e4  # largest weight relative to the median: beyond it the equations lose their digits
_CLOSEST, _FARTHEST = 1.0 - 1e-9, 1e-3
_SHORTEST = 1e-2  # path relative to the median one whose weight is the largest
_CG_STEPS = 8  # thirty end in the same stress
_STRIDE = 1.9  # up to 2 the stress cannot rise, at 2 it need not fall
_PARALLEL_FROM = 200_000  # pairs; a pass over fewer is over before threads have met


class StressFit(NamedTuple):
    """A latent of less stress and the way there."""

    latent: Floats  # (n, m), centred where the start was
    history: Floats  # (n_iter + 1,) stress before every step and after the last, never rising
    n_iter: int
    converged: bool


class _Rule(NamedTuple):
    """What pairs aim at, and how much each counts."""

    kernel: StationaryKernel
    n_observed: int
    weights: str
    path: str
    faint: float = FAINT
    known_at: Floats | None = None  # (n, m)
    labels: NDArray[np.int64] | None = None  # (n,)


class _Pairs(NamedTuple):
    """Pairs with the distance each should have, every pair stored from both ends."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (p,)
    targets: Floats  # (p,)
    weights: Floats  # (p,)

    def majorise(self, points: Floats, force: Floats, by_row: Floats) -> None:
        """Fill the force on every point, and the stress of its pairs."""
        serial = self.indices.size < _PARALLEL_FROM
        run = _jit.stress.majorise.serial if serial else _jit.stress.majorise
        run(*self, points, force, by_row)

    def links(self) -> sp.csr_array:
        """Weights as a sparse matrix."""
        n = self.indptr.size - 1
        return sp.csr_array((self.weights, self.indices, self.indptr), shape=(n, n))


class _Table(NamedTuple):
    """The same for all pairs of a few thousand points; what is no pair weighs nothing."""

    targets: Floats  # (n, n)
    weights: Floats  # (n, n)

    def majorise(self, points: Floats, force: Floats, by_row: Floats) -> None:
        """Fill the force on every point, and the stress of its pairs."""
        serial = self.targets.size < _PARALLEL_FROM
        run = _jit.stress.majorise_table.serial if serial else _jit.stress.majorise_table
        run(*self, np.ascontiguousarray(points.T), force, by_row)


def stress(
    latent: ArrayLike,
    g: CsrGraph,
    kernel: str | StationaryKernel,
    n_observed: int = 1,
    *,
    weights: str = "precision",
    path: str = "distance",
    also: Sequence[ArrayLike] = (),
    faint: float = FAINT,
    known_at: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    max_iter: int = 60,
    tolerance: float = 1e-6,
) -> StressFit:
    """Move a latent to the distances that the covariances of a graph ask for.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Start, in the units of the kernel.
    g : CsrGraph
        Connected graph of correlations. Pairs without an edge aim at their geodesic distance.
    kernel : str or StationaryKernel
        Kernel that turns correlations into distances.
    n_observed : int
        Number N of observed dimensions. It scales all precisions alike and leaves the latent.
    weights : {"precision", "path", "uniform", "component"}
        "precision" counts every edge by the sampling precision of its distance and other pairs
        next to nothing; "path" counts every pair by one over its geodesic distance, the precision
        of a sum of steps with independent errors; "uniform" counts all pairs alike (metric
        scaling of geodesics); "component" does so within a component of ``labels``, and pairs
        across, whose paths hang on a bridge, count 0.3 of that.
    path : {"distance", "covariance"}
        Geodesics that pairs without an edge aim at: smallest sums of distances, or largest
        products of covariances.
    also : sequence of (n, m) array_like of float64
        Other starts. The latent that ends with the least stress is taken.
    faint : float
        Weight of a pair without an edge, relative to that of the median edge ("precision").
    known_at : (n, m) array_like of float64, optional
        Latent whose distances say how precisely each edge is known ("precision"). Without it the
        correlations themselves do, whose errors are then in the weights too.
    labels : (n,) array_like of int, optional
        Component of every point before any were joined ("component").
    max_iter : int
        Largest number of steps from each start.
    tolerance : float
        Stop once a step takes off less than this share of the stress.

    Returns
    -------
    StressFit
        The latent and the stress of every step.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph, kernels, refine
    >>> z = np.linspace(0.0, 3.0, 10)[:, None]
    >>> kernel = kernels.SquaredExponential()
    >>> g = graph.threshold_graph(kernel.covariance((z - z.T) ** 2), 0.5)
    >>> fit = refine.stress(z + 0.1 * np.sin(9.0 * z), g, kernel)
    >>> bool(fit.history[-1] < 1e-3 * fit.history[0])
    True
    """
    check_choice("weights", weights, WEIGHTS)
    check_choice("path", path, ("distance", "covariance"))
    check_integer("max_iter", max_iter, 0)
    check_positive("faint", faint)
    starts = [np.array(start, dtype=np.float64, order="C") for start in (latent, *also)]
    for points in starts:
        if points.ndim != 2 or len(points) != g.n_nodes:
            raise ValueError(
                f"latent must have one row per node of the graph, got shape {points.shape} for "
                f"{g.n_nodes} nodes; fit both to the same points"
            )
    at = None if known_at is None else np.asarray(known_at, dtype=np.float64)
    if at is not None and at.shape != starts[0].shape:
        raise ValueError(
            f"known_at must have the shape of latent, {starts[0].shape}, got {at.shape}; "
            "it is another latent of the same points"
        )
    groups = None if labels is None else np.asarray(labels, dtype=np.int64)
    if weights == "component" and (groups is None or groups.shape != (g.n_nodes,)):
        found_shape = None if groups is None else groups.shape
        raise ValueError(
            f"labels must have shape {(g.n_nodes,)} for weights='component', got {found_shape}; "
            "graph.component_labels of the graph before it was joined has them"
        )
    rule = _Rule(get(kernel), n_observed, weights, path, faint, at, groups)
    pairs = _pairs(g, rule)
    solve = _Solver(pairs)
    found = [_descend(pairs, solve, points, max_iter, tolerance) for points in starts]
    return min(found, key=lambda fit: float(fit.history[-1]))


def _descend(
    pairs: _Pairs | _Table, solve: _Solver, points: Floats, max_iter: int, tolerance: float
) -> StressFit:
    """Steps from one start."""
    centre = points.mean(axis=0)
    points = points - centre
    force, by_row = np.empty_like(points), np.empty(len(points))
    before = points
    history: list[float] = []
    converged = False
    while True:
        pairs.majorise(points, force, by_row)
        history.append(0.5 * float(by_row.sum()))
        if len(history) > 1 and history[-2] - history[-1] <= tolerance * history[-2]:
            converged = True
            # Rounding may raise the last bits of a stress that has nowhere to go.
            if history[-1] > history[-2]:
                history[-1], points = history[-2], before
            break
        if len(history) > max_iter:
            break
        before, points = points, points + _STRIDE * (solve(force, points) - points)
    return StressFit(points + centre, np.array(history), len(history) - 1, converged)


def distance_precision(
    corr: ArrayLike, kernel: str | StationaryKernel, n_observed: int = 1
) -> Floats:
    """Inverse sampling variance of the distances that correlations stand for (paper, Eq. 11).

    Parameters
    ----------
    corr : array_like of float64
        Correlations in (0, 1], any shape.
    kernel : str or StationaryKernel
        Kernel that turns them into distances.
    n_observed : int
        Number N of observed dimensions.

    Returns
    -------
    ndarray of float64
        Precisions 4 d N f'(d)^2 / (1 - r^2)^2, the same shape; r = 1 counts as 1 - 1e-9.

    Examples
    --------
    >>> from ikd_graph import refine
    >>> far, near = refine.distance_precision([0.1, 0.9], "squared_exponential", 100)
    >>> bool(near > 50.0 * far)
    True
    """
    kernel = get(kernel)
    values = np.minimum(np.asarray(corr, dtype=np.float64), _CLOSEST)
    sq_dist = kernel.sq_distance(values)
    return 4.0 * sq_dist * kernel.derivative(sq_dist) ** 2 / sampling_variance(values, n_observed)


def _pairs(g: CsrGraph, rule: _Rule) -> _Pairs | _Table:
    """Every pair that counts: edges, and geodesics between all points or from landmarks."""
    n = g.n_nodes
    if n <= (DENSE_LIMIT if rule.weights == "precision" else WHOLE_LIMIT):
        return _all_pairs(g, rule)
    lengths, precision, far_weight = _edges(g, rule)
    near = np.repeat(np.arange(n), np.diff(g.indptr))
    sources = _landmarks(lengths, min(N_LANDMARKS, n))
    ways = _path_distances(g, rule.kernel, rule.path, sources)
    reached = np.isfinite(ways) & (np.arange(n) != sources[:, None])
    source, far = np.nonzero(reached)
    left, right, target = sources[source], far, ways[reached]
    # Edges come first, so that unique keeps their own distance rather than a path's; pairs from
    # landmarks are met from one end only and are mirrored here.
    keys = np.concatenate([near * n + g.indices, left * n + right, right * n + left])
    targets = np.concatenate([lengths.weights, target, target])
    counts = np.concatenate([precision, np.full(2 * target.size, far_weight)])
    usable = np.isfinite(targets)
    keys, first = np.unique(keys[usable], return_index=True)
    indptr = np.searchsorted(keys, np.arange(n + 1) * n).astype(np.int64)
    indices = (keys % n).astype(np.int32)
    targets, counts = targets[usable][first], counts[usable][first]
    if rule.weights == "path":
        counts = _path_precision(targets)
    elif rule.weights == "component" and rule.labels is not None:
        counts[rule.labels[keys // n] != rule.labels[indices]] *= ACROSS
    return _Pairs(indptr, indices, targets, counts)


def _all_pairs(g: CsrGraph, rule: _Rule) -> _Table:
    """Every pair with its geodesic distance; a pair of a point and itself weighs nothing."""
    n = g.n_nodes
    lengths, precision, far_weight = _edges(g, rule)
    near = np.repeat(np.arange(n), np.diff(g.indptr))
    targets = _path_distances(g, rule.kernel, rule.path, np.arange(n))
    known = np.isfinite(lengths.weights)
    edge = near[known], g.indices[known]
    targets[edge] = lengths.weights[known]
    measured = np.isfinite(targets)
    if rule.weights == "path":
        counts = _path_precision(targets)
    else:
        counts = np.full((n, n), far_weight)
        counts[edge] = precision[known]
    if rule.weights == "component" and rule.labels is not None:
        counts[rule.labels[:, None] != rule.labels] *= ACROSS
    targets[~measured] = counts[~measured] = 0.0
    counts.flat[:: n + 1] = 0.0
    return _Table(targets, counts)


def _edges(g: CsrGraph, rule: _Rule) -> tuple[CsrGraph, Floats, float]:
    """Lengths of the edges, how much each counts, and how much a pair counts that is none."""
    lengths = geodesics.distance_lengths(g, rule.kernel)
    precision = np.zeros_like(g.weights)
    walkable = g.weights > 0.0
    if rule.weights == "precision":
        known = g.weights
        if rule.known_at is not None:
            left = np.repeat(np.arange(g.n_nodes), np.diff(g.indptr))
            apart = ((rule.known_at[left] - rule.known_at[g.indices]) ** 2).sum(axis=1)
            known = np.maximum(rule.kernel.covariance(apart), _FARTHEST)
        precision[walkable] = distance_precision(known[walkable], rule.kernel, rule.n_observed)
    else:
        precision[walkable] = 1.0
    typical = float(np.median(precision[walkable])) if walkable.any() else 1.0
    np.minimum(precision, _HEAVIEST * typical, out=precision)
    return lengths, precision, rule.faint * typical if rule.weights == "precision" else typical


def _path_distances(
    g: CsrGraph, kernel: StationaryKernel, path: str, sources: NDArray[np.int64]
) -> Floats:
    """Distances along the best paths from some points, infinite where there is no path."""
    whole = sources.size == g.n_nodes
    ways = solve.path_lengths(g, kernel, path)
    lengths = geodesics.shortest_distances(ways, None if whole else sources)
    found = np.sqrt(solve.squares_of_lengths(kernel, path, lengths))
    found[~np.isfinite(lengths)] = np.inf
    return found


def _path_precision(targets: Floats) -> Floats:
    """One over the length of a path; the errors of its independent steps add up."""
    measured = targets[np.isfinite(targets) & (targets > 0.0)]
    typical = float(np.median(measured)) if measured.size else 1.0
    return typical / np.maximum(targets, _SHORTEST * typical)


def _landmarks(lengths: CsrGraph, count: int) -> NDArray[np.int64]:
    """Points far from one another: each the farthest from those before it, along the graph."""
    chosen = [int(np.argmax(np.diff(lengths.indptr)))]
    gap = geodesics.shortest_distances(lengths, chosen)[0]
    while len(chosen) < count:
        chosen.append(int(np.argmax(np.where(np.isfinite(gap), gap, -1.0))))
        gap = np.minimum(gap, geodesics.shortest_distances(lengths, chosen[-1:])[0])
    return np.unique(np.array(chosen, dtype=np.int64))


class _Solver:
    """V Z = force for the weighted Laplacian V: factorised where small, else improved from Z.

    Conjugate gradients that start at Z lower the quadratic above the stress with every step, so
    that the stress cannot rise however early they end.
    """

    def __init__(self, pairs: _Pairs | _Table) -> None:
        self._factor = None
        if isinstance(pairs, _Table):
            n = len(pairs.weights)
            degree = pairs.weights.sum(axis=1)
            # The constant vector spans the null space; V + c 1 1^T is regular, the rest the same.
            dense = degree.mean() / n - pairs.weights
            dense.flat[:: n + 1] += degree
            self._factor = cho_factor(dense, lower=True, overwrite_a=True, check_finite=False)
            return
        links = pairs.links()
        degree = np.asarray(links.sum(axis=1)).ravel()
        self._degree = np.where(degree > 0.0, degree, 1.0)
        self._laplacian = sp.csr_array(sp.diags_array(degree) - links)

    def __call__(self, force: Floats, points: Floats) -> Floats:
        """Solve exactly, or take some steps towards the solution."""
        if self._factor is not None:
            return np.ascontiguousarray(cho_solve(self._factor, force, check_finite=False))
        moved = points.copy()
        residual = force - self._laplacian @ moved
        scaled = residual / self._degree[:, None]
        direction = scaled.copy()
        energy = (residual * scaled).sum(axis=0)
        for _ in range(_CG_STEPS):
            if not (energy > 0.0).any():
                break
            image = self._laplacian @ direction
            curvature = (direction * image).sum(axis=0)
            step = np.divide(energy, curvature, out=np.zeros_like(energy), where=curvature > 0.0)
            moved += step * direction
            residual -= step * image
            scaled = residual / self._degree[:, None]
            fresh = (residual * scaled).sum(axis=0)
            ratio = np.divide(fresh, energy, out=np.zeros_like(energy), where=energy > 0.0)
            direction = scaled + ratio * direction
            energy = fresh
        return moved
