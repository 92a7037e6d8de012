"""Similarity of points whose covariances or distances were given, and checks of such values."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .._base.format import setting
from .._base.rounding import DECIMALS, SINGLE, TINY
from .._base.table import evenly_spaced
from .._base.types import Floats, Indices, Integers
from .._base.validation import few_rows, is_triangle, numbers, symmetric, well_formed
from .._base.warn import warn
from ..covariance import standard_deviations, to_correlation
from ._affinity import GIVEN, Affinity, DistanceAffinity
from ._similarity import Similarity

_SOURCES = 100  # points from which the mean squared distance on a graph is measured


class _GivenCovariances(Affinity):
    """Covariances over the standard deviations of both points."""

    least_neighbor: ClassVar[float] = 0.0

    def scaled(self, X: Any) -> tuple[Any, Any]:
        """Similarities of all points, (n, n), and what new values are divided by."""
        X = _both_ways(X, X.diagonal())
        return to_correlation(X), standard_deviations(X)

    def scaled_new(self, X: Any, deviations: Any) -> Any:
        """Values of new points with all; the standard deviation of a new point is not known."""
        return _dense(X) / (deviations * np.sqrt(np.mean(deviations**2)))


class _GivenDistances(DistanceAffinity):
    """Squared distances over their mean."""

    least_neighbor: ClassVar[float] = -np.inf

    def scaled(self, X: Any) -> tuple[Any, Any]:
        """See `_GivenCovariances.scaled`."""
        X = _both_ways(X, 0.0)
        mean_square = _mean_square(X)
        return _near(X, mean_square), mean_square

    def scaled_new(self, X: Any, mean_square: Any) -> Any:
        """Values of new points with all; where none is stored that of the mean squared distance."""
        return _dense(_near(X, mean_square))


COVARIANCES = _GivenCovariances(
    "precomputed", "the covariances that were given, over the standard deviations of both points"
)
DISTANCES = _GivenDistances("precomputed_distance", "the distances that were given")


class Correlations(Similarity):
    """Similarities of every pair of points, (n, n), as they are."""

    _values: Any

    def __init__(self, values: Any, affinity: Affinity = COVARIANCES) -> None:
        super().__init__(affinity, values.shape[0], None)
        self._values = values

    def block(self, points: Integers, first: int = 0) -> Floats:
        """See `Similarity.block`."""
        return _dense(self._values[points, first:])

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        # Of no pairs scipy makes a sparse array.
        return np.asarray(_dense(self._values[first, second])).ravel()

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        sparse, every = sp.issparse(self._values), self.n_samples**2
        known = self._values.nnz if sparse else np.count_nonzero(np.isfinite(self._values))
        if known < every:
            raise ValueError(
                f"{setting('strategy', 'eigen')} must know every pair of points, got "
                f"{(every - known) // 2} pairs that are not known; use "
                f"{setting('strategy', 'geodesic')} or 'blockwise'"
            )
        return _dense(self._values)


def as_similarity(name: str, value: Any) -> Similarity:
    """Rule of arguments that are similarities, or a symmetric matrix of correlations."""
    return value if isinstance(value, Similarity) else Correlations(symmetric(name, value))


class Precomputed(Correlations):
    """Covariances of every pair over both standard deviations, or squared distances as 1 - d^2 / s.

    ``s`` is the mean squared distance of two points, as for Euclidean rows. Where X holds
    similarities that were made before, ``scale`` is what values were divided by.
    """

    affinity: _GivenCovariances | _GivenDistances

    def __init__(self, X: Any, *, distances: bool = False, scale: Any = None) -> None:
        affinity = DISTANCES if distances else COVARIANCES
        values, self._scale = affinity.scaled(X) if scale is None else (_both_ways(X, 1.0), scale)
        super().__init__(values, affinity)
        self.least_neighbor, self.unit = affinity.least_neighbor, affinity.unit_of(self._scale)

    def neighbors(self, k: int) -> Indices:
        """See `Similarity.neighbors`; ties that only the order of the points decides are told."""
        near, every = super().neighbors(k + 1).astype(np.int64), np.arange(self.n_samples)
        if near.shape[1] > k:
            last, next_one = (self.between(every, near[:, at]).round(DECIMALS) for at in (k - 1, k))
            tied = np.count_nonzero((last == next_one) & (next_one > 0.0))
            if tied:
                warn(
                    f"{tied} of {every.size} points have several points as near as their neighbor "
                    f"number {k}: which of them is taken depends on the order of the points; "
                    "another number of neighbors or a threshold may not cut through ties"
                )
        return super().neighbors(k)

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        return self.affinity.scaled_new(X, self._scale)


class SparsePrecomputed(Precomputed):
    """Values of some pairs: what is stored is the graph, and what is not is not known.

    A covariance of 0 or below is known, and no edge.
    """

    is_graph = True

    def least_edge(self, first: Integers, second: Integers, s0: float) -> float | Floats:
        """See `Similarity.least_edge`; of 0 all that is stored is an edge."""
        return s0 or -np.inf

    def edges(self) -> tuple[Integers, Integers, Floats]:
        """Pairs that are edges, the smaller point first, and their weights."""
        pairs = sp.triu(self._values, 1)
        there = pairs.data > self.least_neighbor
        weights = np.maximum(self.affinity.edge_weights(pairs.data[there]), TINY)
        return pairs.row[there], pairs.col[there], weights


def _dense(values: Any) -> Any:
    """Return values that may be sparse as an array."""
    return values.toarray() if sp.issparse(values) else values


def _both_ways(X: Any, diagonal: Any) -> Any:
    """Return values of pairs, dense or sparse, that are the same both ways to the last bit."""
    if not sp.issparse(X):
        values = 0.5 * (X + symmetric("X", X).T)
        np.fill_diagonal(values, diagonal)
        return values
    first, second, values = stored_pairs(X)
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    # Older searches for paths take no wider numbers.
    places = tuple(each.astype(np.int32) for each in ends)
    both = sp.coo_array((np.tile(values, 2), places), shape=X.shape)
    both.setdiag(diagonal)
    return both.tocsr()


def _near(distances: Any, mean_square: float) -> Any:
    """Return similarities of points at given distances, sparse ones sparse."""
    if not sp.issparse(distances):
        return 1.0 - np.square(distances) / mean_square
    near = sp.csr_array(distances, copy=True)
    near.data = 1.0 - near.data**2 / mean_square
    return near


def _mean_square(distances: Any) -> float:
    """Mean squared distance of two points, along the shortest paths where few are known."""
    n = distances.shape[0]
    if not sp.issparse(distances):
        return float(np.square(distances).sum()) / max(n * (n - 1), 1) or 1.0
    sources = evenly_spaced(n, _SOURCES)
    squares = sp.csgraph.dijkstra(distances, indices=sources) ** 2
    squares = squares[np.isfinite(squares)]
    return float(squares.sum()) / max(squares.size - sources.size, 1) or 1.0


def stored_pairs(matrix: Any) -> tuple[Integers, Integers, Floats]:
    """Pairs of points that a sparse matrix has a value for, zeros among them, each once.

    Parameters
    ----------
    matrix : (n, n) scipy sparse array or matrix
        Values of pairs, the same both ways up to rounding, or stored one way round only, as in a
        graph of nearest neighbors. It is not changed.

    Returns
    -------
    low, high : (m,) int64
        The points, ``low < high``.
    values : (m,) float64
        Their values, the mean of both ways round.

    Raises
    ------
    ValueError
        If the matrix is not square, not symmetric or not finite.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from ikd_graph.similarity import stored_pairs
    >>> low, high, values = stored_pairs(sp.csr_array([[4.0, 1.0], [1.0, 1.0]]))
    >>> low.tolist(), high.tolist(), values.tolist()
    ([0], [1], [1.0])
    """
    well_formed("matrix", matrix)
    n = matrix.shape[0]
    if n != matrix.shape[-1]:
        raise ValueError(
            f"a matrix of pairs must be square, got shape {tuple(matrix.shape)}; entry (i, j) "
            "belongs to points i and j"
        )
    entries = sp.coo_array(matrix, copy=True)
    entries.sum_duplicates()
    entries.data = numbers("the entries of a matrix of pairs", entries.data)
    off = entries.row != entries.col
    row, column, data = (x[off] for x in (entries.row, entries.col, entries.data))
    low, high = np.minimum(row, column).astype(np.int64), np.maximum(row, column)
    keys, position, counts = np.unique(low * n + high, return_inverse=True, return_counts=True)
    sums = np.bincount(position, data, minlength=keys.size).astype(np.float64)
    values = sums / counts
    worst = 2.0 * float(np.abs(data - values[position]).max(initial=0.0))
    if worst > SINGLE * float(np.abs(data).max(initial=0.0)):
        raise ValueError(
            "a matrix of pairs must be symmetric, got entries that differ from their mirror image "
            f"by up to {worst:.3g}; store each pair once, or both ways with one value"
        )
    return keys // n, keys % n, values


def check_pairs(X: Any, affinity: str) -> None:
    """Raise where values between points are not those of an affinity."""
    sparse, own = sp.issparse(X), X.diagonal()
    values = X.data if sparse else symmetric("a precomputed X", X)
    largest, least = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    # What rounding leaves on the diagonal, in float32, of roots.
    rounding = 2.0 * float(np.sqrt(float(np.finfo(np.float32).eps))) * max(largest, -least)
    has_zeros = bool(np.abs(own).max() <= rounding)
    covariances, distances = (setting("affinity", each) for each in GIVEN)
    if affinity == "precomputed_distance":
        if not has_zeros or least < -rounding:
            raise ValueError(
                f"X must hold distances, with zeros on the diagonal and no negative values, for "
                f"{distances}; got at most {own.max():.3g} on the diagonal and at least "
                f"{least:.3g} elsewhere; {covariances} takes covariances, and a scipy sparse X "
                "leaves out pairs that are not known"
            )
    # A sparse matrix of correlations needs no diagonal.
    elif has_zeros and rounding > 0.0 and (not sparse or (X.tocoo().row == X.tocoo().col).any()):
        others = f"{distances} takes distances, and " * (least >= -rounding)
        eye = "scipy.sparse.eye_array" if sparse else "numpy.eye"
        raise ValueError(
            f"X must hold covariances, with variances on the diagonal, for {covariances}, got a "
            f"diagonal of zeros; {others}X + {eye}(X.shape[0]) is one of correlations"
        )
    elif (own.any() or not sparse) and (flat := np.flatnonzero(own <= 1e-28 * own.max())).size:
        none = "store no diagonal (of networkx: G.remove_edges_from(list(nx.selfloop_edges(G))))"
        raise ValueError(
            "X must hold covariances with a variance above 0 for every point, got none for points "
            f"{few_rows(flat, X.shape[0])}, as of constant series; leave them out of both axes or, "
            f"of correlations, {none if sparse else 'put 1 on all of the diagonal'}"
        )


def warn_of_pairs(X: Any) -> None:
    """Warn where rows of a table look like values between points, or one triangle of these."""
    if not isinstance(X, np.ndarray) or X.shape[0] != X.shape[1]:
        return
    is_half = is_triangle(X == 0.0)
    whole = X + X.T - np.diag(X.diagonal()) if is_half else X
    largest = float(np.abs(whole).max())
    if not np.abs(whole - whole.T).max() <= SINGLE * largest:
        return
    # In a graph of neighbors most pairs are 0.
    far = whole.min() >= 0.0 and np.count_nonzero(whole) > 0.5 * whole.size
    for kind, own, affinity, fits in (
        ("correlations", 1, "precomputed", largest <= 1.0 + SINGLE),
        ("distances", 0, "precomputed_distance", far),
    ):
        if fits and np.abs(whole.diagonal() - own).max() <= SINGLE * largest:
            warn(
                f"X looks like {'one triangle of ' * is_half}{kind} between its rows, symmetric "
                f"with {own} on the diagonal, and is taken for a table of rows; pass "
                f"{setting('affinity', affinity)} to embed it as {kind}"
            )
