"""How well an embedding of some columns predicts the others."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from .. import covariance
from .._base import limits
from .._base import validation as check
from .._base.table import are_counts, dense_rows, random_rows, some_columns, some_rows
from .._base.types import Floats
from .._base.validation import validate
from ..similarity import are_ordered

Mask = NDArray[np.bool_]

FOLDS = 4
RUNS = 16
"""Runs of autocorrelated columns, so that few are next to columns of another fold."""

NEAREST = 10
"""Rows whose mean predicts a row."""

_NUMBERS = (
    5,
    10,
    20,
)  # rows that the score averages over: few see what is near, many average noise
_MOST_DIRECTIONS = 60  # beyond these there is noise in all tables that were looked at


def sampled(n: int) -> NDArray[np.int64]:
    """Numbers of the rows that are compared: all of them, or 400 at random."""
    return random_rows(n, limits.COMPARED)


def sample(rows: Any) -> Floats:
    """Rows and columns that are compared, dense."""
    which = sampled(rows.shape[0])
    chosen = rows if which.size == rows.shape[0] else some_rows(rows, which)
    return np.asarray(dense_rows(some_columns(chosen)))


def predicted_values(table: Floats, X: Any) -> Floats:
    """Values that held-out columns are predicted by: roots where the whole table holds counts."""
    return np.sqrt(table) if are_counts(X) else table


def folds(table: Floats) -> list[Mask]:
    """Columns of each of four folds; of fewer than eight different columns all are in the one.

    Folds are of equal size. Which a column is in depends on the values of the columns, not on
    their units, nor on the order of columns or rows; equal columns are in one fold. Columns that
    follow one another are taken in runs: a column would know the one before it.
    """
    columns = np.sort(table.T.astype(np.float64), axis=1)
    extent = columns[:, -1:] - columns[:, :1]
    columns = (columns - columns[:, :1]) / np.where(extent > 0.0, extent, 1.0)
    digests = [hashlib.blake2b(column.round(6).tobytes(), digest_size=8) for column in columns]
    keys = np.array([int.from_bytes(each.digest(), "little") for each in digests], dtype=np.uint64)
    different, number = np.unique(keys, return_inverse=True)
    if different.size < 2 * FOLDS:
        return [np.ones(number.size, dtype=np.bool_)]
    if number.size >= 2 * RUNS and are_ordered(table):
        order = np.random.default_rng(0).permutation(RUNS)
        number = order[np.arange(number.size) * RUNS // number.size]
    return [number % FOLDS == fold for fold in range(FOLDS)]


def principal_directions(X: NDArray[np.floating]) -> Floats:
    """Principal coordinates of the columns scaled to one variance, each of unit length.

    Returns
    -------
    (n, r) ndarray of float64
        Directions with the most variance, at most 60; none where no column varies.
    """
    units = covariance.column_units(X)
    columns = X[:, np.isfinite(units)] / units[np.isfinite(units)]
    columns = (columns - columns.mean(axis=0, dtype=np.float64)) / np.sqrt(max(len(X), 1))
    n, width = columns.shape
    if width == 0:
        return np.empty((n, 0))
    if width < n:
        values, vectors = np.linalg.eigh(columns.T @ columns)
        directions = columns @ vectors
    else:
        values, directions = np.linalg.eigh(columns @ columns.T)
    keep = np.flatnonzero(values > np.sqrt(np.finfo(np.float64).eps) * values[-1])[
        -_MOST_DIRECTIONS:
    ]
    directions = directions[:, keep]
    return np.ascontiguousarray(directions / np.linalg.norm(directions, axis=0))


def direction_score(points: Floats, directions: Floats) -> Floats:
    """Score each point by what it adds to the mean R² over directions, predicted by its nearest.

    A direction counts by its R², averaged over 5, 10 and 20 nearest points, or as nothing where
    that is below zero. All count alike, however little variance they have: what is large in a
    table, such as levels, is often no structure.
    """
    n, width = directions.shape
    counts = sorted({max(1, min(k, (n - 1) // 4)) for k in _NUMBERS})
    near = _nearest(points, counts[-1])
    error, total = np.zeros((n, width)), np.zeros((n, width))
    for k in range(counts[-1]):
        total += directions[near[:, k]]
        if k + 1 in counts:
            error += (directions - total / (k + 1)) ** 2
    error /= len(counts)
    better = error.sum(axis=0) < 1.0
    by_point = np.count_nonzero(better) / n - error[:, better].sum(axis=1)
    return np.asarray(by_point / width)


@validate(k=check.count)
def held_out_r2(points: Floats, columns: NDArray[np.floating], k: int = NEAREST) -> Floats:
    """Score each point by what it adds to the R² of columns that its nearest points predict.

    Their sum is 1 - residual / deviation from the mean of each column, both summed over all
    columns: a column counts by its variance. NaN where none varies.
    """
    n = len(points)
    values = columns.astype(np.float64) / (float(np.abs(columns).max(initial=0.0)) or 1.0)
    predicted = values[_nearest(points, min(k, n - 1))].mean(axis=1)
    total = float(((values - values.mean(axis=0)) ** 2).sum())
    if not total > 0.0:
        return np.full(n, np.nan)
    return np.asarray(1.0 / n - ((values - predicted) ** 2).sum(axis=1) / total)


def _nearest(points: Floats, k: int) -> NDArray[np.intp]:
    """Nearest other points of every point, (n, k)."""
    near = KDTree(points).query(points, k + 1)[1]
    # A point is the first of its own list, but among equal ones any of them may be.
    distinct = near != np.arange(len(points))[:, None]
    distinct[:, -1] &= ~distinct.all(axis=1)
    return np.asarray(near[distinct].reshape(-1, k))


def standard_error(by_point: Floats) -> float:
    """Compute the standard error of a sum over points."""
    return float(by_point.std() * np.sqrt(by_point.size))
