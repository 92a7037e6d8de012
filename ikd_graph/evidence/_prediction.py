r"""How many directions of the measurements a latent predicts: the judge of candidates.

A latent is there to tell what was measured. Each point is predicted by the mean of the points
nearest to it in the latent, itself left out. Nothing is asked of labels, and any two latents can be
compared, whatever made them. No column is held out: latents of half the columns chose no better.

Columns are scaled to one variance, so that no unit counts, and turned to principal directions that
count alike: otherwise what many columns share (the size of an animal, the light on an image) would
drown the rest.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _limits, covariance, similarity
from .._table import dense_rows

Floats = NDArray[np.float64]

NEAREST = (5, 10, 20)
"""Points whose mean predicts: few see what is near, many what is not noise."""

CHANCE = 1.645
"""Standard errors that a difference by chance exceeds one time in twenty."""

_MOST_DIRECTIONS, _TREE_COLUMNS = 60, 15
# Directions with less of the largest variance are rounding.
_ROUNDING = 1e-10


class Prediction(NamedTuple):
    """How well a latent predicts."""

    score: float  # number of directions that are predicted, each counted by its share
    by_point: Floats  # (n,) what each point adds to the score


def principal_directions(X: NDArray[np.floating]) -> Floats:
    """Principal coordinates of the columns scaled to one variance, each of unit length.

    Parameters
    ----------
    X : (n, p) ndarray of float
        Measurements.

    Returns
    -------
    (n, r) ndarray of float64
        Directions with the most variance, at most 60; none where no column varies.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import evidence
    >>> evidence.principal_directions(np.random.default_rng(0).normal(size=(50, 3))).shape
    (50, 3)
    """
    units = covariance.column_units(X)
    columns = X[:, np.isfinite(units)] / units[np.isfinite(units)]
    columns = (columns - columns.mean(axis=0, dtype=np.float64)) / np.sqrt(max(len(X), 1))
    n, width = columns.shape
    if width == 0:
        return np.empty((n, 0))
    if width < n:
        values, vectors = np.linalg.eigh(columns.T @ columns)
        found = columns @ vectors
    else:
        values, found = np.linalg.eigh(columns @ columns.T)
    keep = np.flatnonzero(values > _ROUNDING * values[-1])[-_MOST_DIRECTIONS:]
    return np.ascontiguousarray(found[:, keep] / np.linalg.norm(found[:, keep], axis=0))


def predict(latent: Floats, directions: Floats) -> Prediction:
    r"""Judge a latent by what the nearest points in it tell of each point.

    A direction counts by its R2, averaged over the numbers of nearest points, or as nothing where
    that is below zero.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        The latent.
    directions : (n, r) ndarray of float64
        What is to be predicted, from `principal_directions`.

    Returns
    -------
    Prediction
        The score, and what each point adds to it.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import evidence
    >>> z = np.linspace(0.0, 1.0, 200)[:, None]
    >>> wave = evidence.principal_directions(np.c_[np.sin(6 * z), np.cos(6 * z)])
    >>> round(evidence.predict(z, wave).score, 1)
    2.0
    """
    n, width = directions.shape
    counts = sorted({max(1, min(k, (n - 1) // 4)) for k in NEAREST})
    near = _nearest(latent, counts[-1])
    left = np.zeros((n, width))
    total = np.zeros((n, width))
    for k in range(counts[-1]):
        total += directions[near[:, k]]
        if k + 1 in counts:
            left += (directions - total / (k + 1)) ** 2
    left /= len(counts)
    told = left.sum(axis=0) < 1.0
    by_point = np.count_nonzero(told) / n - left[:, told].sum(axis=1)
    return Prediction(float(by_point.sum()), by_point)


def _nearest(points: Floats, k: int) -> NDArray[np.int32]:
    """Nearest other points of every point, (n, k).

    Trees are for few columns. The search of scikit-learn for many has threads that a child of a
    fork waits for in vain.
    """
    if points.shape[1] > _TREE_COLUMNS:
        return similarity.compare(points, "euclidean").neighbors(k)
    # Not for everybody who imports the package: it takes a while.
    from scipy.spatial import KDTree

    near = KDTree(points).query(points, k + 1)[1]
    # A point is the first of its own list, but among equal ones any of them may be.
    others = near != np.arange(len(points))[:, None]
    others[:, -1] &= ~others.all(axis=1)
    return near[others].reshape(-1, k).astype(np.int32)


class Judge:
    """A table whose rows tell latents apart by what they predict of it.

    Parameters
    ----------
    rows : (n, p) table of numbers
        Measurements; of more than 2000 rows a random sample is looked at.
    are_counts : bool
        Whether they are counts, of which the square roots have noise that is alike.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import evidence
    >>> z = np.linspace(0.0, 1.0, 200)[:, None]
    >>> judge = evidence.Judge(np.c_[np.sin(6 * z), np.cos(6 * z)])
    >>> straight, folded = judge.predict(z), judge.predict(np.abs(z - 0.5))
    >>> straight.score > folded.score + judge.error(straight, folded)
    True
    """

    def __init__(self, rows: Any, *, are_counts: bool = False) -> None:
        n = len(rows)
        self.some = np.arange(n)
        if n > _limits.EXAMINED:
            chosen = np.random.default_rng(0).choice(n, _limits.EXAMINED, replace=False)
            self.some = np.sort(chosen)
            rows = rows[self.some]
        self._rows, self._are_counts = rows, are_counts

    @cached_property
    def directions(self) -> Floats:
        """What latents are to predict."""
        rows = dense_rows(self._rows)
        return principal_directions(np.sqrt(rows) if self._are_counts else rows)

    def predict(self, latent: Floats) -> Prediction:
        """What a latent of all rows, (n, m), predicts of those that are looked at."""
        return predict(latent[self.some], self.directions)

    @staticmethod
    def error(one: Prediction, other: Prediction) -> float:
        """Standard error of the difference of two scores."""
        apart = other.by_point - one.by_point
        return float(apart.std() * np.sqrt(apart.size))
