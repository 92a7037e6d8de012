"""Which rows of a map are contradicted by columns that did not choose their neighbors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.spatial import KDTree, procrustes
from scipy.stats import chi2, false_discovery_control, norm
from sklearn.decomposition import PCA

from .._base import limits
from .._base import validation as check
from .._base.as_table import Table, as_table, check_known, row_names, rows_by_name
from .._base.format import count
from .._base.rounding import rounding
from .._base.table import SparseTable, are_counts, evenly_spaced, rows_of, some_rows
from .._base.threads import batches, block_rows, single_threaded_blas
from .._base.types import Booleans, Floats, Integers
from ..chance import LEVEL, ChanceTest
from ..covariance import column_moments
from ..missing import check_holes
from ..model_selection import folds
from ..plotting import plot
from ..similarity import AFFINITIES
from ..trust import Trust, chance_of
from .columns import ScaledRows, rows_on_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DubiousRows", "dubious"]

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

_FEWEST_ROWS, _FEWEST_COLUMNS = 20, 8
"""Five neighbors are a quarter of the rows; two columns are the least of a fold of four."""


@dataclass(frozen=True, repr=False)
class DubiousRows:
    """Rows of a map whose neighbors there are contradicted by the table; see `ikd_graph.dubious`.

    Attributes
    ----------
    p_values : (n,) ndarray of float64
        Of neighbors on the map being no worse than those in the data.
    excess : (n,) ndarray of float64
        Fraction of the variance of a row that its neighbors on the map leave beyond what its
        neighbors in the data leave, below 0 where they leave less. Columns count as far as they
        follow from others.
    embedding : (n, m) ndarray of float64
        The map that was looked at.
    r2_map, r2_data : float
        Fraction of the variance of held-out columns that neighbors on the map, and in the data,
        explain, in the mean over columns and rows.
    r2_error : float
        Standard deviation of ``r2_data`` between halves of the columns.
    agreements : tuple of float
        Procrustes R² between maps of two halves of the columns, of each of three splits; NaN of a
        map that was given.
    n_columns : int
        Columns of the table that vary.
    """

    p_values: Floats
    excess: Floats
    embedding: Floats
    r2_map: float
    r2_data: float
    r2_error: float
    agreements: tuple[float, ...]
    n_columns: int
    _rows: Any
    _null: str = "shift"
    _row_names: Sequence[Any] = ()

    @cached_property
    def q_values(self) -> Floats:
        """Least false discovery rates at which the rows are found, (n,)."""
        return np.asarray(false_discovery_control(self.p_values))

    @cached_property
    def mask(self) -> Booleans:
        """Whether each row is dubious, at a false discovery rate of 5 %, (n,)."""
        return self.q_values <= LEVEL

    @property
    def n_dubious(self) -> int:
        """Number of dubious rows."""
        return int(np.count_nonzero(self.mask))

    @property
    def is_contradicted(self) -> bool:
        """Whether most rows are in excess, on a map that explains not half of what the data do."""
        in_excess = min(float(np.median(self.excess)), self.r2_data) > 2.0 * self.r2_error
        return in_excess and self.r2_map < 0.5 * self.r2_data

    @property
    def sentence(self) -> str:
        """How many rows are dubious, and first of all whether the map as a whole is."""
        rows = count(len(self), "row")
        told = f"none of {rows} can be shown to be dubious"
        if self.n_dubious:
            told = (
                f"{self.n_dubious} of {rows} are dubious: beyond what neighbors in the data leave "
                "of columns that did not choose them, their neighbors on the map leave "
                f"{self.excess[self.mask].mean():.0%} of the variance"
            )
        if not self.is_contradicted:
            return told
        return (
            "the map as a whole lacks most of what columns share: its neighbors explain "
            f"{max(self.r2_map, 0.0):.0%} of the variance of held-out columns, those in the data "
            f"{self.r2_data:.0%}; of single rows, compared with the others, {told}"
        )

    @cached_property
    def chance(self) -> ChanceTest | None:
        """Whether there is more structure in the table than by chance, tested when asked for."""
        return chance_of(self._rows, self._null)

    @property
    def trust(self) -> Trust:
        """What can be read on the map: the p value, and the agreement of halves of its method."""
        return Trust(self.chance, self.agreements, np.nan, self.n_columns)

    def sentences(self) -> list[str]:
        """Tell of dubious rows, and how far to trust the map: a test, or `trust` of a method.

        Returns
        -------
        list of str
            Sentences without names.
        """
        told = f"{self.sentence[0].upper()}{self.sentence[1:]}."
        if np.isfinite(self.agreements).all():
            return [told, *self.trust.sentences()]
        return [told, f"Is there anything in the table: {self.chance}."] if self.chance else [told]

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.p_values)

    def __repr__(self) -> str:
        """Return the sentences."""
        return "\n".join(self.sentences())

    def to_pandas(self) -> pd.DataFrame:
        """Make a table, a row for each row of the map.

        Returns
        -------
        pandas.DataFrame
            Columns ``p_value``, ``q_value``, ``excess`` and ``dubious``, by the names of the rows.
        """
        table = {"p_value": self.p_values, "q_value": self.q_values, "excess": self.excess}
        names = list(self._row_names) if len(self._row_names) else None
        return pd.DataFrame(table | {"dubious": self.mask}, index=names)

    @plot.labels_are_color
    def plot(self, color: Any = None, *, ax: Any = None) -> Axes:
        """Draw the map with an open circle around its dubious rows.

        Parameters
        ----------
        color : (n,) array_like, optional
            Classes, numbers or times that color the points; ``labels=`` is another name of it.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            With the map.
        """
        ax = plot.embedding(self.embedding, color, ax=ax)
        plot.mark_open(ax, self.embedding, self.mask, label="dubious")
        return ax


@check.validate(
    affinity=check.one_of(("auto", *AFFINITIES)),
    new=check.optional(
        check.rule("be a pair (Z_new, X_new)", lambda v: type(v) is tuple and len(v) == 2)
    ),
    null=check.one_of(("shift", "permute")),
)
def dubious(
    Z: ArrayLike | Callable[[Any], ArrayLike],
    X: Any,
    *,
    affinity: str = "auto",
    new: tuple[ArrayLike, Any] | None = None,
    null: str = "shift",
) -> DubiousRows:
    """Find rows that lie among the wrong neighbors on a map.

    Half of the columns choose ten neighbors of a row in the data, by their principal components,
    and ten of its twelve neighbors on the map. The other columns did not: where the mean of the
    neighbors on the map leaves more of them than that of the neighbors in the data, the map is
    wrong about the row. Halves change parts, and three splits are averaged. A column counts by
    the root of its R², as far as it follows from others at all.

    The error of the sum over columns is the larger of two: what neighbors in the data leave of the
    row, column by column, and what neighbors on the map leave of three quarters of all rows, in the
    direction in which the two means differ. So neither noise that follows itself along the columns
    nor factors that the map lacks for all rows make rows dubious. Scores are those beyond the
    median row and the spread of most rows where these exceed a standard normal (Efron 2004); the
    false discovery rate is that of Benjamini and Hochberg (1995). A map that was made from the
    columns has seen them all, which errs towards not flagging. The word is that of scDEED (Xia, Lee
    and Li 2024), which compares distances with those of permuted columns.

    Parameters
    ----------
    Z : (n_samples, n_components) array_like of float64, or callable
        Coordinates of the rows, of any method. Or the method itself, a function that makes a map of
        a table, such as ``umap.UMAP().fit_transform``: it is called with X, and with halves of the
        columns of X for three splits.
    X : (n_samples, n_features) array_like, data frame or scipy sparse matrix of float64
        The table that the map was made from; its rows go with those of Z by name where both have
        names. Missing values are NaN. At least 20 rows, and 8 columns that vary.
    affinity : str
        How rows are compared, an affinity of `IKD`: those between rows of length one scale rows so,
        "hellinger" after taking roots. "auto" is "hellinger" for counts, else "euclidean". Columns
        have one variance.
    new : (Z_new, X_new), optional
        Coordinates and measurements of other rows that were put on the map: the result is about
        these, each compared with the rows of Z alone.
    null : {"shift", "permute"}
        What the p value of the table compares with, see `ikd_graph.chance.chance_test`.

    Returns
    -------
    DubiousRows
        p values, which rows are dubious, and by how much.

    Raises
    ------
    ValueError
        If rows do not fit, Z has NaN, or there are fewer than 20 rows or 8 different columns.

    References
    ----------
    B. Efron, Large-scale simultaneous hypothesis testing, Journal of the American Statistical
    Association 99, 2004.
    Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical Society B 57, 1995.
    L. Xia, C. Lee and J. J. Li, Statistical method scDEED for detecting dubious 2D single-cell
    embeddings, Nature Communications 15, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> import ikd_graph
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.uniform(-2.0, 2.0, size=(200, 2))
    >>> X = np.sin(Z @ rng.normal(size=(2, 60))) + 0.3 * rng.normal(size=(200, 60))
    >>> ikd_graph.dubious(Z, X).n_dubious
    0
    >>> Z[[0, 1]] = [[2.0, -2.0], [-2.0, 2.0]]
    >>> np.flatnonzero(ikd_graph.dubious(Z, X).mask)
    array([0, 1])
    """
    X = X if callable(Z) else rows_by_name("X", X, row_names(Z), "Z")
    given = as_table(X)
    # Before a method runs for minutes.
    check.enough(_FEWEST_ROWS, _FEWEST_COLUMNS)("X", given.values)
    points, table = _points("Z", Z(X) if callable(Z) else Z, given.values), given
    n, names = len(points), given.row_names if len(given.row_names) else row_names(Z)
    if new is not None:
        points, table, names = _with_new(points, given, *new)
    with single_threaded_blas(), check.naming_rows(table.row_names):
        rows, varying = _comparable(table.values, n, affinity)
        halves = _halves(rows)
        near = _nearest(points, n, rows.k * 6 // 5)
        tests = [_held_out(rows, own, near) for half in halves for own in (half, ~half)]
    score, excess = _scores(tests, n)
    r2, judged = np.array([test.r2 for test in tests]), slice(0 if new is None else n, None)
    maps = [(varying[half], varying[~half]) for half in halves if callable(Z)]
    return DubiousRows(
        norm.sf(score[judged]),
        excess[judged],
        points[judged],
        float(r2[:, 0].mean()),
        float(r2[:, 1].mean()),
        float(r2[:, 1].std(ddof=1)),
        tuple(_agreement(Z, X, given.values, sides) for sides in maps) or (np.nan,),
        varying.size,
        some_rows(rows_of(given.values), evenly_spaced(n, limits.TESTED)),
        null,
        names,
    )


def _points(name: str, Z: Any, table: Any) -> Floats:
    """Return coordinates, one for each row of a table."""
    known = check.finite("leave out rows that are not on the map, from the table as well")
    points = np.asarray(check.table(name, known(name, check.as_real(name, Z))), np.float64)
    check.magnitude(0.0)(name, points)
    if len(points) != table.shape[0]:
        raise ValueError(
            f"{name} must have a row for each of the {table.shape[0]} rows of the table, got "
            f"{len(points)}; pass the table that the map was made from"
        )
    return points


def _with_new(points: Floats, given: Table, Z: Any, X: Any) -> tuple[Floats, Table, Sequence[Any]]:
    """Return coordinates and rows with new ones behind them, and the names of these."""
    other = as_table(X, "X_new")
    wanted = given.column_names or [*map(str, range(given.values.shape[1]))]
    values = given.values, other.by_name(wanted, "X", "X_new").values
    places = _points("Z_new", Z, values[1])
    if places.shape[1] != points.shape[1]:
        raise ValueError(
            f"Z_new must have the {points.shape[1]} coordinates of Z, got {places.shape[1]}; pass "
            "points of the same map"
        )
    both = len(given.row_names) and len(other.row_names)
    names = (*given.row_names, *other.row_names) if both else ()
    stack = sp.vstack if sp.issparse(given.values) else np.vstack
    return np.vstack([points, places]), Table(stack(values), names, ()), other.row_names


def _agreement(make: Any, X: Any, values: Any, sides: tuple[Integers, Integers]) -> float:
    """Return the Procrustes R² between maps of two halves of the columns, 0 without a map."""
    tables = (X.iloc[:, at] if isinstance(X, pd.DataFrame) else values[:, at] for at in sides)
    maps = [_points("Z", make(table), values) for table in tables]
    return float(1.0 - procrustes(*maps)[2]) if all(np.ptp(each) for each in maps) else 0.0


# Rows and halves of their columns -----------------------------------------------------------------


class _Table(NamedTuple):
    """Rows as a map compares them: what columns of one variance have beyond levels of the rows."""

    values: Any  # (N, p) dense, NaN where unknown, or sparse
    level: Floats  # (N,)
    slopes: Floats  # (p,) of the columns along the level
    n: int  # the first of the rows are those of the map

    @property
    def k(self) -> int:
        """Number of neighbors whose mean predicts a row."""
        return min(_NEAREST, self.n // 4)

    def take(self, columns: Any) -> _Table:
        """Return some columns."""
        return self._replace(values=self.values[:, columns], slopes=self.slopes[columns])


def _comparable(values: Any, n: int, affinity: str) -> tuple[_Table, Integers]:
    """Return rows as an affinity compares them, and which columns vary among the first n."""
    check_known(values, "X", "drop those rows or columns", holes=True)
    check.magnitude()("X", values.data if sp.issparse(values) else values)
    rows, known = rows_of(values), np.arange(n)
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
    return _Table(scaled, level, slopes[varying] * scale, n), varying


def _filled(values: Any) -> Any:
    """Return values with zeros where they are not known."""
    return values if sp.issparse(values) else np.nan_to_num(values)


def _halves(rows: _Table) -> list[Booleans]:
    """Return halves of the columns, of each of three splits."""
    some, parts = evenly_spaced(rows.n, limits.SAMPLED), []
    if rows.slopes.size >= _FEWEST_COLUMNS:
        sample = _filled(rows.values[some])
        sample = sample.toarray() if sp.issparse(sample) else sample
        parts = folds(sample - np.outer(rows.level[some], rows.slopes))
    if len(parts) < 2:
        raise ValueError(
            f"X must have at least {_FEWEST_COLUMNS} different columns that vary, got fewer among "
            f"{rows.slopes.size} that vary; pass the columns that the map was made from"
        )
    return [parts[0] | part for part in parts[1:]]


def _nearest(points: Floats, n: int, k: int) -> Integers:
    """Return the nearest of the first n points to every point, but for itself."""
    near = KDTree(points[:n]).query(points, k + 1)[1]
    other = near != np.arange(len(points))[:, None]
    # Among equal points any may be the first.
    other[:, -1] &= ~other.all(axis=1)
    return near[other].reshape(-1, k)


def _components(rows: _Table) -> Floats:
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

    def __init__(self, rows: _Table) -> None:
        self.rows, self.values, self.known = rows, _filled(rows.values), None
        if not sp.issparse(self.values):
            self.known = 1.0 - np.isnan(rows.values)

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


def _held_out(rows: _Table, own: Booleans, near: Integers) -> _Test:
    """Compare neighbors on the map and in the data, of half of the columns, on the others."""
    n, k, points, columns = rows.n, rows.k, _components(rows.take(own)), _Columns(rows.take(~own))
    apart = ((points[near] - points[:, None]) ** 2).sum(axis=2)
    closest = np.argsort(apart, axis=1, kind="stable")[:, :k]
    on_map = _means(np.take_along_axis(near, closest, axis=1), n)
    in_data = _means(_nearest(points, n, k), n)
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
