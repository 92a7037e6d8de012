"""Neighbors on a map and in the data, compared on columns that did not choose them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import KDTree
from scipy.stats import chi2, false_discovery_control, norm
from sklearn.decomposition import PCA

from .._base import limits
from .._base import validation as check
from .._base.as_table import check_known
from .._base.rounding import rounding
from .._base.table import SparseTable, are_counts, evenly_spaced, rows_of, some_rows
from .._base.threads import batches, block_rows
from .._base.types import Booleans, Floats, Integers
from ..chance import LEVEL
from ..covariance import column_moments
from ..missing import check_holes
from ..model_selection import folds
from ..similarity import AFFINITIES
from .columns import ScaledRows, rows_on_map

FEWEST_COLUMNS = 8
"""Two columns are the least of a fold of four."""

_NEAREST = 10
"""Neighbors whose mean predicts a row, or a quarter of the rows where these are fewer. A fifth more
are looked at on the map, so that a misplaced row does not make its neighbors dubious."""

_COMPONENTS = 5
"""Principal components of half of the columns, by which data neighbors are near: 8 find the same,
and take six times as long to search among 100 000 rows (docs/decisions/025-dubious-rows.md)."""

_OTHERS = 200
"""Rows that tell how far those of a map are from their neighbors: a quantile within a twentieth."""

_NEGLIGIBLE = 0.05
"""Excess, in what neighbors in the data explain of a row, that no row is dubious for: without noise
the curvature of a surface would suffice."""

_MOST = 0.75
"""Fraction of the rows that are taken as not dubious."""


class Rows(NamedTuple):
    """Rows as a map compares them: what columns of one variance have beyond levels of the rows."""

    values: Any  # (N, p) dense, NaN where unknown, or sparse
    level: Floats  # (N,)
    slopes: Floats  # (p,) of the columns along the level
    n: int  # the first of the rows are those of the map

    @property
    def k(self) -> int:
        """Number of neighbors whose mean predicts a row."""
        return min(_NEAREST, self.n // 4)

    def take(self, columns: Any) -> Rows:
        """Return some columns."""
        return self._replace(values=self.values[:, columns], slopes=self.slopes[columns])


def comparable(values: Any, n: int, affinity: str) -> tuple[Rows, Integers]:
    """Return rows as an affinity compares them, and which columns vary among the first n."""
    check_known(values, "X", "drop those rows or columns", holes=True)
    check.magnitude()("X", values.data if sp.issparse(values) else values)
    rows, known = rows_of(values), np.arange(n)
    # The bits of a product depend on how a row lies in memory.
    rows = np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows
    if affinity == "auto":
        affinity = "hellinger" if are_counts(some_rows(rows, known)) else "euclidean"
    holes = isinstance(rows, np.ndarray) and np.isnan(rows)
    if np.any(holes):
        check_holes(rows)
        rows = np.where(holes, column_moments(rows[:n])[0], rows)
    seen, level = rows_on_map(rows, AFFINITIES[affinity]), np.zeros(values.shape[0])
    if isinstance(seen, ScaledRows):
        seen, level = seen.values, seen.level - seen.level[:n].mean()
    if not sp.issparse(seen):
        seen = np.where(holes, np.nan, seen - column_moments(seen[:n])[0])
    table = SparseTable(seen[:n]) if sp.issparse(seen) else seen[:n]
    _, deviation, largest = column_moments(table)
    slopes = level[:n] @ _filled(seen[:n]) / (float(level[:n] @ level[:n]) or 1.0)
    deviation = np.sqrt(np.maximum(deviation**2 - slopes**2 * level[:n].var(), 0.0))
    varying = np.flatnonzero(deviation > rounding(largest))
    scale = 1.0 / deviation[varying]
    seen = seen[:, varying]
    scaled = (seen @ sp.diags_array(scale)).tocsr() if sp.issparse(seen) else seen * scale
    return Rows(scaled, level, slopes[varying] * scale, n), varying


def _filled(values: Any) -> Any:
    """Return values with zeros where they are not known."""
    return values if sp.issparse(values) else np.nan_to_num(values)


def halves_of(rows: Rows) -> list[Booleans]:
    """Return halves of the columns, of each of three splits."""
    some, parts = evenly_spaced(rows.n, limits.SAMPLED), []
    if rows.slopes.size >= FEWEST_COLUMNS:
        sample = _filled(rows.values[some])
        sample = sample.toarray() if sp.issparse(sample) else sample
        parts = folds(sample - np.outer(rows.level[some], rows.slopes))
    if len(parts) < 2:
        raise ValueError(
            f"X must have at least {FEWEST_COLUMNS} different columns that vary, got fewer among "
            f"{rows.slopes.size} that vary; pass the columns that the map was made from"
        )
    return [parts[0] | part for part in parts[1:]]


def judged(points: Floats, rows: Rows, halves: list[Booleans]) -> tuple[Floats, Floats, Floats]:
    """Return scores and excess of rows, (N,), and R² of both kinds of neighbors, (tests, 2).

    Rows that are dubious are nobody's neighbors on the map when all are judged again, and the lower
    score counts: they make no row dubious that they were put next to.
    """
    every, k = np.arange(rows.n), rows.k * 6 // 5
    chosen = [_choice(rows, own) for half in halves for own in (half, ~half)]
    score, excess, r2 = _judged(_nearest(points, every, k), rows, chosen)
    right = false_discovery_control(norm.sf(score[: rows.n])) > LEVEL
    if rows.n // 2 <= np.count_nonzero(right) < rows.n:
        again, excess, r2 = _judged(_nearest(points, every[right], k), rows, chosen)
        score = np.minimum(score, again)
    return score, excess, r2


def _judged(near: Integers, rows: Rows, chosen: list[_Choice]) -> tuple[Floats, Floats, Floats]:
    """Return what `judged` does of neighbors on the map."""
    tests = [_held_out(rows, choice, near) for choice in chosen]
    return *_scores(tests, rows.n), np.array([test.r2 for test in tests])


def _nearest(points: Floats, among: Integers, k: int) -> Integers:
    """Return the nearest of some points to every point, but for itself."""
    near = among[KDTree(points[among]).query(points, k + 1)[1]]
    other = near != np.arange(len(points))[:, None]
    # Among equal points any may be the first.
    other[:, -1] &= ~other.all(axis=1)
    return near[other].reshape(-1, k)


class _Choice(NamedTuple):
    """Half of the columns, and the neighbors in the data that it chooses."""

    own: Booleans  # (p,)
    points: Floats  # (N, m) principal components
    near: Integers  # (N, k)


def _choice(rows: Rows, own: Booleans) -> _Choice:
    """Return neighbors in the data by half of the columns."""
    points = _components(rows.take(own))
    return _Choice(own, points, _nearest(points, np.arange(rows.n), rows.k))


def _components(rows: Rows) -> Floats:
    """Return principal components of rows, holes filled in with what these say of them."""
    model = PCA(min(_COMPONENTS, rows.slopes.size - 1), svd_solver="arpack", random_state=0)
    values, n = _filled(rows.values), rows.n
    holes = not sp.issparse(values) and np.isnan(rows.values)
    points = model.fit(values[:n]).transform(values)
    for _ in range(3 * bool(np.any(holes))):
        values = np.where(holes, model.inverse_transform(points), values)
        points = model.fit(values[:n]).transform(values)
    slopes = rows.level[:n] @ points[:n] / (float(rows.level[:n] @ rows.level[:n]) or 1.0)
    return np.asarray(points - np.outer(rows.level, slopes))


class _Columns:
    """Held-out columns of rows, and what means of neighbors leave of them."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.values, self.known = rows, _filled(rows.values), None
        if not sp.issparse(self.values):
            # Some columns come out in an order of which each product would make a copy.
            self.values = np.ascontiguousarray(self.values)
            self.known = np.ascontiguousarray(1.0 - np.isnan(rows.values))

    def residuals(self, at: Any, weights: Any) -> Floats:
        """Return what means of neighbors leave of some rows, (b, p), NaN where unknown."""
        n, level, some = self.rows.n, self.rows.level, weights[at]
        away = np.outer(level[at] - some @ level[:n], self.rows.slopes)
        if self.known is None:
            return np.asarray((self.values[at] - some @ self.values[:n]).toarray() - away)
        with np.errstate(invalid="ignore"):
            means = (some @ self.values[:n]) / (some @ self.known[:n])
        return np.where(self.known[at] > 0.0, self.values[at] - means - away, np.nan)


class _Test(NamedTuple):
    """What half of the columns say of rows whose neighbors the other half chose."""

    excess: Floats  # (N,) sum over columns
    variance: Floats  # (N,) of it, by chance
    total: Floats  # (N,) weights of the columns that a row has
    explained: Floats  # (N,) of these, what neighbors in the data explain
    r2: tuple[float, float]  # by neighbors on the map and in the data


def _held_out(rows: Rows, choice: _Choice, near: Integers) -> _Test:
    """Compare neighbors on the map and in the data on the columns that did not choose these."""
    n, k, points, columns = rows.n, rows.k, choice.points, _Columns(rows.take(~choice.own))
    apart = ((points[near] - points[:, None]) ** 2).sum(axis=2)
    closest = np.argsort(apart, axis=1, kind="stable")[:, :k]
    on_map = _means(np.take_along_axis(near, closest, axis=1), n)
    in_data = _means(choice.near, n)
    # In the order of their first component, which does not depend on that of the table.
    order = np.argsort(points[:n, 0], kind="stable")
    some, others = (order[evenly_spaced(n, most)] for most in (limits.SAMPLED, _OTHERS))
    nearest = _means(near[:, :k], n)
    left = np.array([columns.residuals(some, each) ** 2 for each in (nearest, in_data)])
    # A mean of k neighbors has a kth of their noise; nothing is known of a column without values.
    observed = np.isfinite(left).sum(axis=1)
    noise = np.nansum(left, axis=1) / np.maximum(observed, 1) / (1.0 + 1.0 / k)
    r2 = np.where(observed > 0, 1.0 - noise, 0.0)
    weights = np.sqrt(np.clip(r2[1], 0.0, 1.0))
    away = columns.residuals(others, on_map)
    known, away = max(float(np.isfinite(away).mean()), LEVEL), np.nan_to_num(away) * weights
    excess, variance, total, explained = np.zeros((4, len(points)))
    for batch in batches(len(points), block_rows(weights.size)):
        by_map, by_data = (columns.residuals(batch, each) for each in (on_map, in_data))
        gains = weights * np.nan_to_num(by_map**2 - by_data**2)
        steps = np.nan_to_num(by_map - by_data)
        usual = np.quantile((steps @ away.T) ** 2, _MOST, axis=1) / chi2.ppf(_MOST, 1) / known
        own_noise = ((weights * steps * np.nan_to_num(by_data)) ** 2).sum(axis=1)
        excess[batch] = gains.sum(axis=1)
        variance[batch] = 4.0 * np.maximum(own_noise, usual)
        total[batch], explained[batch] = (np.isfinite(by_map) @ np.array([weights, weights**3]).T).T
    return _Test(excess, variance, total, explained, (float(r2[0].mean()), float(r2[1].mean())))


def _means(near: Integers, n: int) -> Any:
    """Return the sparse matrix (N, n) that takes means of neighbors."""
    starts = np.arange(len(near) + 1) * near.shape[1]
    weights = np.full(near.size, 1.0 / near.shape[1])
    return sp.csr_array((weights, near.ravel(), starts), shape=(len(near), n))


def _scores(tests: list[_Test], n: int) -> tuple[Floats, Floats]:
    """Return standard normal scores of rows, beyond what most of the first n have, and excess."""
    excess, variance, total, explained = np.sum([test[:4] for test in tests], axis=0)
    # The halves of a split are independent, splits are not.
    error = np.sqrt(0.5 * len(tests) * variance)
    score = np.divide(
        excess - _NEGLIGIBLE * explained, error, out=np.zeros_like(excess), where=error > 0.0
    )
    center = max(float(np.median(score[:n])), 0.0)
    spread = (np.quantile(score[:n], _MOST) - center) / norm.ppf(_MOST)
    fraction = np.divide(excess, total, out=np.zeros_like(excess), where=total > 0.0)
    return (score - center) / max(spread, 1.0), fraction
