"""Similarity of points whose covariances or distances were given, and checks of such values."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._base.format import setting
from .._base.rounding import DECIMALS, SINGLE
from .._base.table import evenly_spaced
from .._base.types import Floats, Indices, Integers
from .._base.validation import few_rows, is_triangle, numbers, symmetric, well_formed
from .._base.warn import warn
from ._base import Affinity, Similarity
from ._correlations import standard_deviations, to_correlation

COVARIANCES = Affinity(
    "precomputed", "the covariances that were given, over the standard deviations of both points"
)
DISTANCES = Affinity("precomputed_distance", "the distances that were given", euclidean=True)

_SOURCES = 100  # points from which the mean squared distance on a graph is measured


class Correlations(Similarity):
    """Similarities of every pair of points, (n, n), as they are."""

    _values: Any

    def __init__(self, values: Any, affinity: Affinity = COVARIANCES) -> None:
        super().__init__(affinity, values.shape[0], None)
        self._values = values

    def block(self, points: Integers, first: int = 0) -> Floats:
        """See `Similarity.block`."""
        values = self._values[points, first:]
        return values.toarray() if sp.issparse(values) else values

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        return values_at(self._values, first, second)

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
        return self._values.toarray() if sparse else self._values


def as_similarity(name: str, value: Any) -> Similarity:
    """Rule of arguments that are similarities, or a symmetric matrix of correlations."""
    return value if isinstance(value, Similarity) else Correlations(symmetric(name, value))


class Precomputed(Correlations):
    """Covariances of every pair over both standard deviations, or squared distances as 1 - d^2 / s.

    ``s`` is the mean squared distance of two points, as for Euclidean rows. Where X holds
    similarities that were made before, ``scale`` is what values were divided by.
    """

    def __init__(self, X: Any, *, distances: bool = False, scale: Any = None) -> None:
        X = _both_ways(X, 1.0 if scale is not None else 0.0 if distances else X.diagonal())
        self._scale = scale
        if scale is None:
            self._scale = _mean_square(X) if distances else standard_deviations(X)
            X = _near(X, self._scale) if distances else to_correlation(X)
        super().__init__(X, DISTANCES if distances else COVARIANCES)
        self.least_neighbor = -np.inf if distances else 0.0
        if distances:
            self.unit = float(np.sqrt(0.5 * self._scale))

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
        """Values of new points with all; the standard deviation of a new point is not known."""
        if not self.affinity.euclidean:
            values = X.toarray() if sp.issparse(X) else X
            return values / (self._scale * np.sqrt(np.mean(self._scale**2)))
        near = _near(X, self._scale)
        if not sp.issparse(X):
            return near
        # What is not stored is as far as two points are in the mean.
        near = near.tocoo()
        values = np.zeros(X.shape)
        values[near.row, near.col] = near.data
        return values


class SparsePrecomputed(Precomputed):
    """Values of some pairs: what is stored is the graph, and what is not is not known.

    A covariance of 0 or below is known, and no edge.
    """

    is_graph = True

    def edges(self) -> tuple[Integers, Integers, Floats]:
        """Pairs that are edges, the smaller point first, and their weights."""
        pairs = sp.triu(self._values, 1)
        there = pairs.data > self.least_neighbor
        weights = pairs.data[there]
        if self.affinity.euclidean:
            weights = self.weights(weights)
        return pairs.row[there], pairs.col[there], weights


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


def values_at(matrix: Any, first: Integers, second: Integers) -> Floats:
    """Return the values of pairs in a matrix, dense or sparse, (m,)."""
    values = matrix[first, second]
    # Of no pairs scipy makes a sparse array.
    return np.asarray(values.toarray() if sp.issparse(values) else values).ravel()


def check_pairs(X: Any, affinity: str) -> None:
    """Raise where values between points are not those of an affinity; warn where all are 1."""
    # A covariance is at most as large as both variances.
    if sparse := sp.issparse(X):
        stored = X.tocoo()
        values, diagonal = stored.data, stored.data[stored.row == stored.col]
    else:
        values, diagonal = symmetric("a precomputed X", X), X.diagonal()
    largest, least = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    # What rounding leaves on the diagonal, in float32, of roots.
    rounding = 2.0 * float(np.sqrt(float(np.finfo(np.float32).eps))) * max(largest, -least)
    zeros = diagonal.size > 0 and bool(np.abs(diagonal).max() <= rounding)
    if affinity == "precomputed_distance":
        if (diagonal.size and not zeros) or least < -rounding:
            raise ValueError(
                "X must hold distances, with zeros on the diagonal and no negative values, for "
                f"{setting('affinity', affinity)}; got at most {diagonal.max(initial=0.0):.3g} on "
                f"the diagonal and at least {least:.3g} elsewhere; "
                f"{setting('affinity', 'precomputed')} takes covariances, and a scipy sparse X "
                "leaves out pairs that are not known"
            )
        return
    if zeros and diagonal.size == X.shape[0] and rounding > 0.0:
        distances = f"{setting('affinity', 'precomputed_distance')} takes distances, and "
        raise ValueError(
            "X must hold covariances, with variances on the diagonal, for "
            f"{setting('affinity', affinity)}, got a diagonal of zeros; "
            f"{distances * (least >= -rounding)}X + numpy.eye(X.shape[0]) is one of correlations"
        )
    flat = np.flatnonzero(X.diagonal() <= 1e-28 * diagonal.max(initial=0.0))
    if diagonal.size and flat.size:
        none = "store no diagonal (of networkx: G.remove_edges_from(list(nx.selfloop_edges(G))))"
        raise ValueError(
            f"X must hold covariances with a variance above 0 for every point, got none for "
            f"points {few_rows(flat, X.shape[0])}, as of constant series; leave them out of both "
            f"axes, or, of correlations, {none if sparse else 'put 1 on all of the diagonal'}"
        )
    if _are_all_one(X):
        warn(
            "all correlations of X that are above 0 are 1, which puts their points on one place: "
            "IKD(graph=G).fit(X) weighs the edges of a graph of rows X, S / S.max() makes "
            "correlations of counts in a sparse S, and a matrix is compared row by row without "
            f"{setting('affinity', affinity)}"
        )


def _are_all_one(X: Any) -> bool:
    """Whether all correlations above 0 of pairs are 1, those beyond it too, and there are some."""
    spread, rows = standard_deviations(X), range(X.shape[0])
    if sp.issparse(X):
        pairs = X.tocoo()
        parts: Any = [pairs.data / (spread[pairs.row] * spread[pairs.col])]
    else:
        # Of most matrices the first row tells.
        parts = (X[row] / (spread[row] * spread) for row in rows)
    if any(((part > 0.0) & (part < 1.0 - SINGLE)).any() for part in parts):
        return False
    positive = (X > 0.0).sum()
    return positive > np.count_nonzero(X.diagonal())


def warn_of_pairs(X: Any) -> None:
    """Warn where rows of a table look like values between points, or one triangle of these."""
    if not isinstance(X, np.ndarray) or X.shape[0] != X.shape[1]:
        return
    what, both = "a symmetric matrix", X
    if is_triangle(X == 0.0):
        what, both = "one triangle of a symmetric matrix", X + X.T - np.diag(X.diagonal())
    largest = float(np.abs(both).max())
    if not np.abs(both - both.T).max() <= SINGLE * largest:
        return
    kinds = {
        ("correlations", 1, "precomputed"): largest <= 1.0 + SINGLE,
        # In a graph of neighbors most pairs are 0.
        ("distances", 0, "precomputed_distance"): both.min() >= 0.0 and (both > 0.0).mean() > 0.5,
    }
    for (kind, diagonal, affinity), fits in kinds.items():
        if fits and np.abs(both.diagonal() - diagonal).max() <= SINGLE * largest:
            warn(
                f"X looks like {kind} between its rows, {what} with {diagonal} on the diagonal, "
                f"and is taken for a table of rows; pass {setting('affinity', affinity)} to embed "
                f"it as {kind}"
            )
