"""The pairs that stress refine looks at: the distance each should have, and how much it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .. import _doors as door
from .. import _jit, _limits, geodesics
from .._records import CsrGraph, read_only
from ..covariance import sampling_variance
from ..kernels import StationaryKernel, get

Floats = NDArray[np.float64]

_Real = TypeVar("_Real", np.float64, np.float32)

RowDistances = Callable[[NDArray[np.int64]], Floats]

WEIGHTS = ("precision", "path", "uniform", "component")

N_LANDMARKS = 32
"""Points whose geodesic distances to all others keep a large latent unfolded."""

FAINT = 1e-3
"""Weight of a pair that is not an edge, relative to the median edge."""

ACROSS = 0.3
"""Weight of a pair in two components of a graph, whose path hangs on a bridge ("component")."""

ROWS = 0.25
"""Share that distances of rows have in the last targets, where they are known."""

_HEAVIEST = 1e4  # largest weight relative to the median: beyond it the equations lose their digits
_CLOSEST, _FARTHEST = 1.0 - 1e-9, 1e-3
_SHORTEST = 1e-2  # path relative to the median one whose weight is the largest
_PARALLEL_FROM = 200_000  # pairs; a pass over fewer is over before threads have met
_SHARES = 16  # of the work on a table, however many threads there are


class Weights(NamedTuple):
    """How much every pair of points counts in the stress.

    ``rule`` is one of

    - "precision": every edge counts by the sampling precision of its distance, other pairs next
      to nothing;
    - "path": every pair counts by one over its geodesic distance, the precision of a sum of steps
      with independent errors;
    - "uniform": all pairs count alike (metric scaling of geodesics);
    - "component": so do all pairs within a component of ``labels``, and pairs across, whose paths
      hang on a bridge, count 0.3 of that.

    A path around a bend is longer than the way across, in a plane all the more: what bounds the
    distance of a pair without an edge is known better from below. With ``slack`` below 1 the last
    steps let such pairs lie farther apart than their paths at so much of the price.

    Paths tell little of how far groups are from one another. With ``rows`` the first steps aim at
    the distances of rows, which arranges groups, the next at paths, and the last at a mean of both.
    """

    rule: str = "precision"
    faint: float = FAINT  # of a pair without an edge, relative to the median edge ("precision")
    known_at: Floats | None = None  # (n, m) latent whose distances say how precise each edge is
    labels: NDArray[np.int64] | None = None  # (n,) component of every point ("component")
    slack: float = 1.0  # price of a pair without an edge that is too far apart
    rows: RowDistances | None = None  # distances of the rows behind (b,) points to all, (b, n)
    squares: Floats | None = None  # (n, n) squared distances on best paths, if they are known


class Rule(NamedTuple):
    """What pairs aim at, and how much each counts."""

    kernel: StationaryKernel
    n_observed: int
    weights: Weights
    path: str


class Pairs(NamedTuple):
    """Pairs with the distance each should have, every pair stored from both ends."""

    indptr: NDArray[np.int64]  # (n + 1,)
    indices: NDArray[np.int32]  # (p,)
    targets: Floats  # (p,)
    weights: Floats  # (p,)
    leads: bool = False  # as in `Table`

    def majorise(self, points: Floats, force: Floats, by_row: Floats) -> None:
        """Fill the force on every point, and the stress of its pairs."""
        serial = self.indices.size < _PARALLEL_FROM
        run = _jit.stress.majorise.serial if serial else _jit.stress.majorise
        run(*self[:4], points, force, by_row)

    def links(self) -> sp.csr_array:
        """Weights as a sparse matrix."""
        n = self.indptr.size - 1
        return sp.csr_array((self.weights, self.indices, self.indptr), shape=(n, n))


class Table(NamedTuple):
    """The same for all pairs of a few thousand points; what is no pair weighs nothing.

    In single precision: a pass over thousands of points waits for memory.
    """

    targets: NDArray[np.float32]  # (n, n)
    weights: NDArray[np.float32]  # (n, n)
    loose: NDArray[np.bool_]  # (n, n) pairs whose price is less where they are too far apart
    slack: float = 1.0  # that price
    leads: bool = False  # whether it is solved for the start of another only

    def slope(self, points: Floats) -> tuple[float, Floats]:
        """Stress, and half its gradient."""
        serial = self.targets.size < _PARALLEL_FROM
        run = _jit.stress.table_slope.serial if serial else _jit.stress.table_slope
        columns = np.ascontiguousarray(points.T)
        slopes, by_row = np.empty((_SHARES, *columns.shape)), np.empty(len(points))
        run(*self[:4], columns, slopes, by_row)
        return float(by_row.sum()), np.ascontiguousarray(slopes.sum(axis=0).T)


@door.takes(corr=door.numbers, n_observed=door.count)
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


def pairs_of(g: CsrGraph, rule: Rule) -> Pairs | Table:
    """Every pair that counts: edges, and geodesics between all points or from landmarks.

    The latter stand for all pairs without an edge.
    """
    n = g.n_nodes
    if n <= _limits.STRESS_PRECISE or rule.weights.rule != "precision":
        return _allpairs_of(g, rule)
    lengths, precision, far_weight = _edges(g, rule)
    near = np.repeat(np.arange(n), np.diff(g.indptr))
    sources = np.unique(geodesics.farthest_nodes(lengths, min(N_LANDMARKS, n))[0])
    ways = path_distances(g, rule.kernel, rule.path, sources)
    reached = np.isfinite(ways) & (np.arange(n) != sources[:, None])
    source, far = np.nonzero(reached)
    left, right, target = sources[source], far, ways[reached]
    # Edges come first, so that unique keeps their own distance rather than a path's; pairs from
    # landmarks are met from one end only and are mirrored here.
    keys = np.concatenate([near * n + g.indices, left * n + right, right * n + left])
    targets = np.concatenate([lengths.weights, target, target])
    # A landmark stands for n / (number of landmarks) points, a pair of them from either end.
    seen = far_weight * n / (2.0 * sources.size) * (1.0 + np.isin(far, sources))
    counts = np.concatenate([precision, seen, seen])
    usable = np.isfinite(targets)
    keys, first = np.unique(keys[usable], return_index=True)
    indptr = np.searchsorted(keys, np.arange(n + 1) * n).astype(np.int64)
    # Read-only as those of a graph are, so that the steps are compiled once for both.
    places = read_only(indptr), read_only((keys % n).astype(np.int32))
    return Pairs(*places, targets[usable][first], counts[usable][first])


def _allpairs_of(g: CsrGraph, rule: Rule) -> Table:
    """Every pair with its geodesic distance; a pair of a point and itself weighs nothing."""
    n = g.n_nodes
    lengths, precision, far_weight = _edges(g, rule)
    near = np.repeat(np.arange(n), np.diff(g.indptr))
    targets = np.empty((n, n), dtype=np.float32)
    if rule.weights.squares is None:
        targets[:] = path_distances(g, rule.kernel, rule.path, np.arange(n))
    else:
        np.sqrt(rule.weights.squares, out=targets, casting="same_kind")
    known = np.isfinite(lengths.weights)
    edge = near[known], g.indices[known]
    targets[edge] = lengths.weights[known]
    measured = np.isfinite(targets)
    if rule.weights.rule == "path":
        counts = path_precision(targets, typical_length(targets))
    else:
        counts = np.full((n, n), far_weight, dtype=np.float32)
        counts[edge] = precision[known]
    if rule.weights.rule == "component" and rule.weights.labels is not None:
        counts[rule.weights.labels[:, None] != rule.weights.labels] *= ACROSS
    targets[~measured] = counts[~measured] = 0.0
    counts.flat[:: n + 1] = 0.0
    loose = np.ones((n, n), dtype=np.bool_)
    loose[edge] = False
    return Table(targets, counts, loose)


def stages(pairs: Pairs | Table, weights: Weights) -> Iterator[Pairs | Table]:
    """The problems that are solved in turn, each from where the one before it ended."""
    if not isinstance(pairs, Table):
        yield pairs
        return
    targets = pairs.targets
    rows = None
    if weights.rows is not None:
        rows = weights.rows(np.arange(len(targets))).astype(np.float32)
        # One scale: rows and paths are equally long on average.
        measured = pairs.weights > 0.0
        typical = float(rows.sum(where=measured, dtype=np.float64))
        scale = float(targets.sum(where=measured, dtype=np.float64))
        rows *= scale / (typical if typical > 0.0 else 1.0)
        rows[~measured] = 0.0
        yield pairs._replace(targets=rows, leads=True)
    more = rows is not None or weights.slack < 1.0
    yield pairs._replace(leads=more)
    if rows is not None:
        rows -= targets
        rows *= ROWS
        rows[~pairs.loose] = 0.0
        rows += targets
        pairs = pairs._replace(targets=rows)
    if more:
        yield pairs._replace(slack=weights.slack)


def _edges(g: CsrGraph, rule: Rule) -> tuple[CsrGraph, Floats, float]:
    """Lengths of the edges, how much each counts, and how much a pair counts that is none."""
    lengths = geodesics.distance_lengths(g, rule.kernel)
    precision = np.zeros_like(g.weights)
    walkable = g.weights > 0.0
    if rule.weights.rule == "precision":
        known = g.weights
        if rule.weights.known_at is not None:
            left = np.repeat(np.arange(g.n_nodes), np.diff(g.indptr))
            apart = ((rule.weights.known_at[left] - rule.weights.known_at[g.indices]) ** 2).sum(
                axis=1
            )
            known = np.maximum(rule.kernel.covariance(apart), _FARTHEST)
        precision[walkable] = distance_precision(known[walkable], rule.kernel, rule.n_observed)
    else:
        precision[walkable] = 1.0
    typical = float(np.median(precision[walkable])) if walkable.any() else 1.0
    np.minimum(precision, _HEAVIEST * typical, out=precision)
    return (
        lengths,
        precision,
        rule.weights.faint * typical if rule.weights.rule == "precision" else typical,
    )


def path_distances(
    g: CsrGraph, kernel: StationaryKernel, path: str, sources: NDArray[np.int64]
) -> Floats:
    """Distances along the best paths from some points, infinite where there is no path."""
    whole = sources.size == g.n_nodes
    ways = geodesics.path_lengths(g, kernel, path)
    lengths = geodesics.shortest_distances(ways, None if whole else sources)
    return distances_of_lengths(kernel, path, lengths)


def distances_of_lengths(
    kernel: StationaryKernel, path: str, lengths: NDArray[np.floating]
) -> Floats:
    """Distances that the lengths of best paths stand for, infinite where there is no path."""
    found = np.sqrt(geodesics.squares_of_lengths(kernel, path, lengths))
    found[~np.isfinite(lengths)] = np.inf
    return found


def typical_length(targets: NDArray[np.floating]) -> float:
    """Median of the paths that there are."""
    measured = targets[np.isfinite(targets) & (targets > 0.0)]
    return float(np.median(measured)) if measured.size else 1.0


def path_precision(targets: NDArray[_Real], typical: float) -> NDArray[_Real]:
    """One over the length of a path; the errors of its independent steps add up."""
    return (typical / np.maximum(targets, _SHORTEST * typical)).astype(targets.dtype, copy=False)
