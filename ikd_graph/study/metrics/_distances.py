"""Distances between points and the order they put them in: found once, used by many measures."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from ..._checks import check_integer
from ._tables import Floats, as_table, check_same_points, within_reach

MOST_POINTS = 2000
"""Rows that distances are measured between, a random sample of more.

Time and memory grow with their square: 2000 of 64 columns take 0.3 s of one processor and 60 MB, of
784 columns 0.8 s.
"""

MOST_PAIRS = 200_000
"""Pairs whose distances are ranked: the standard error of a correlation is about 0.002."""


class Distances:
    """Distances between the points of a table, or between a random sample of them.

    Any measure takes it in place of the table, and then what it shares with others is worked out
    once: compare many embeddings with the same ``Distances`` of the data.

    Parameters
    ----------
    X : (n, n_features) float64
        Points in rows.
    max_points : int
        Beyond this many points, a random sample of them is measured.
    seed : int
        Seed of the sample, and of the order in which equal distances are ranked.
    rows : (n_measured,) int64 or None
        The points to measure, in place of a random sample.

    Attributes
    ----------
    table : (n, n_features) float64
        All the points.
    rows : (n_measured,) int64
        The points measured, in random order: were it the order of the table, points at equal
        distances would be ranked by it, and rows sorted by class would make a constant embedding
        look good.
    matrix : (n_measured, n_measured) float64
        Their distances.

    Examples
    --------
    >>> from ikd_graph.study.metrics import trustworthiness
    >>> data = Distances(np.random.default_rng(0).normal(size=(60, 3)))
    >>> trustworthiness(data, data.table[:, :2]) == trustworthiness(data.table, data.table[:, :2])
    True
    """

    def __init__(
        self,
        X: ArrayLike,
        *,
        max_points: int = MOST_POINTS,
        seed: int = 0,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        self.table = as_table("X", X)
        check_integer("max_points", max_points, 2)
        check_integer("the number of points", self.table.shape[0], 2)
        if rows is None:
            rows = np.random.default_rng(seed).permutation(self.table.shape[0])[:max_points]
        self.rows = rows
        measured = within_reach(self.table[rows])[0]
        unit = float(np.abs(self.table[rows]).max()) / (float(np.abs(measured).max()) or 1.0)
        self.matrix: Floats = (unit or 1.0) * cdist(measured, measured)

    @property
    def n_points(self) -> int:
        """Number of points measured."""
        return self.rows.size

    @cached_property
    def order(self) -> NDArray[np.int32]:
        """All points from the nearest to the farthest of each, (n, n); each is its own first."""
        own_first = self.matrix.copy()
        # A copy of a point is as near as the point itself, and must not stand before it.
        np.fill_diagonal(own_first, -1.0)
        return np.argsort(own_first, axis=1, kind="stable").astype(np.int32)

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """Rank of point j among those nearest to point i, (n, n); 0 for itself."""
        ranks = np.empty_like(self.order)
        places = np.arange(self.n_points, dtype=np.int32)
        np.put_along_axis(ranks, self.order, places[None, :], axis=1)
        return ranks

    @cached_property
    def pair_ranks(self) -> Floats:
        """Rank of each pair by its distance: all pairs, or a random sample of ``MOST_PAIRS``."""
        n = self.n_points
        if n * (n - 1) // 2 <= MOST_PAIRS:
            first, second = np.triu_indices(n, 1)
        else:
            rng = np.random.default_rng(0)
            first = rng.integers(n, size=MOST_PAIRS)
            # Any other point, all of them equally likely.
            second = (first + rng.integers(1, n, size=MOST_PAIRS)) % n
        return np.asarray(rankdata(self.matrix[first, second]), dtype=np.float64)


def both_distances(
    X: ArrayLike | Distances, Z: ArrayLike | Distances, max_points: int = MOST_POINTS
) -> tuple[Distances, Distances]:
    """Distances in the data and in the embedding, between the same points."""
    before, after = _table_of("X", X), _table_of("Z", Z)
    check_same_points(before.shape[0], after.shape[0], ("X", "Z"))
    if not isinstance(X, Distances):
        rows = Z.rows if isinstance(Z, Distances) else None
        X = Distances(before, max_points=max_points, rows=rows)
    if not isinstance(Z, Distances):
        Z = Distances(after, rows=X.rows)
    if not np.array_equal(X.rows, Z.rows):
        raise ValueError(
            "X and Z must be measured between the same points, got Distances of two samples; "
            "make the second with rows=first.rows"
        )
    return X, Z


def _table_of(name: str, values: ArrayLike | Distances) -> Floats:
    """The whole table behind what a measure was given."""
    return values.table if isinstance(values, Distances) else as_table(name, values)
