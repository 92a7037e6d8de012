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
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._base import limits
from .._base import validation as check
from .._base.as_table import as_table, check_known, row_names, rows_by_name
from .._base.format import count
from .._base.table import (
    SparseTable,
    are_counts,
    dense_rows,
    evenly_spaced,
    rows_of,
    some_rows,
    take_columns,
)
from .._base.threads import batches, block_rows, single_threaded_blas
from .._base.types import Booleans, Floats, Integers
from ..chance import LEVEL, ChanceTest
from ..covariance import column_moments, column_units
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
"""Neighbors whose mean predicts a row, or a quarter of the rows where these are fewer. Half as many
more are looked at on the map, so that a misplaced row does not make its neighbors dubious."""

_COMPONENTS = 5
"""Principal components of half of the columns, by which data neighbors are near: 8 find the same,
and take six times as long to search among 100 000 rows (docs/decisions/026-dubious-rows.md)."""

_OTHERS = 200
"""Rows that tell how far those of a map are from their neighbors: a quantile within a twentieth."""

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
        """Whether the map as a whole explains less than half of what neighbors in the data do."""
        return self.r2_data > 2.0 * self.r2_error and self.r2_map < 0.5 * self.r2_data

    @property
    def sentence(self) -> str:
        """How many rows are dubious, or that the map as a whole is."""
        rows = count(len(self), "row")
        told = f"none of {rows} can be shown to be dubious"
        if self.n_dubious:
            told = (
                f"{self.n_dubious} of {rows} are dubious: their neighbors on the map leave "
                f"{self.excess[self.mask].mean():.0%} more of the variance of columns that did not "
                "choose neighbors than those in the data do"
            )
        if not self.is_contradicted:
            return told
        return (
            "the map as a whole is dubious: its neighbors explain "
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
        return [told, f"The table has {self.chance}."] if self.chance else [told]

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
    affinity=check.one_of(("auto", *AFFINITIES)), null=check.one_of(("shift", "permute"))
)
def dubious(
    Z: ArrayLike | Callable[[Any], ArrayLike],
    X: Any,
    *,
    affinity: str = "auto",
    new: tuple[ArrayLike, Any] | None = None,
    null: str = "shift",
) -> DubiousRows:
    r"""Find rows that lie among the wrong neighbors on a map.

    Half of the columns choose ten neighbors of a row in the data, by their principal components,
    and ten of its fifteen neighbors on the map. The other columns did not: if the mean of the
    neighbors on the map leaves more of them than that of neighbors in the data, the map is wrong
    about the row. Halves change parts, and three splits are averaged. A column counts by its R², as
    far as it follows from others at all. The error of the sum over columns is the larger of that of
    independent columns (so that a few of them decide nothing) and of three quarters of all rows in
    the same direction: noise that follows itself along the columns, and factors that the map lacks
    for all rows, make no row dubious. Scores are those beyond the median row and its spread (Efron
    2004), where these exceed a standard normal; the false discovery rate is that of Benjamini and
    Hochberg (1995). The map has seen all columns: that errs towards not flagging. The word is that
    of scDEED (Xia, Lee and Li 2024), which compares distances to permuted rows.

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
    points, values = _points("Z", Z(X) if callable(Z) else Z, given.values), given.values
    n, names = len(points), given.row_names if len(given.row_names) else row_names(Z)
    if new is not None:
        other = as_table(new[1], "X_new")
        wanted = given.column_names or [*map(str, range(values.shape[1]))]
        other = other.by_name(wanted, "X", "X_new")
        points = np.vstack([points, _points("Z_new", new[0], other.values)])
        values = (sp.vstack if sp.issparse(values) else np.vstack)([values, other.values])
        names = other.row_names
    with single_threaded_blas(), check.naming_rows(given.row_names):
        rows = _comparable(values, n, affinity)
        halves = _halves(rows, n)
        near = _nearest(points, n, _n_neighbors(n) * 3 // 2)
        tests = [_held_out(rows, own, near, n) for half in halves for own in (half, ~half)]
    score, excess = _scores(tests, n)
    r2, judged = np.array([test.r2 for test in tests]), slice(0 if new is None else n, None)
    agreements = [_agreement(Z, X, given.values, half) for half in halves if callable(Z)]
    return DubiousRows(
        norm.sf(score[judged]),
        excess[judged],
        points[judged],
        float(r2[:, 0].mean()),
        float(r2[:, 1].mean()),
        float(r2[:, 1].std(ddof=1)),
        tuple(agreements) or (np.nan,),
        given.values.shape[1],
        some_rows(rows_of(given.values), evenly_spaced(n, limits.TESTED)),
        null,
        names,
    )


def _points(name: str, Z: Any, table: Any) -> Floats:
    """Return coordinates, one for each row of a table."""
    known = check.finite("leave out rows that are not on the map, from the table as well")
    points = np.asarray(check.table(name, known(name, check.as_real(name, Z))), np.float64)
    if len(points) != table.shape[0]:
        raise ValueError(
            f"{name} must have a row for each of the {table.shape[0]} rows of the table, got "
            f"{len(points)}; pass the table that the map was made from"
        )
    return points


def _agreement(make: Any, X: Any, values: Any, half: Booleans) -> float:
    """Return the Procrustes R² between maps of two halves of the columns, 0 without a map."""
    sides = [np.flatnonzero(half), np.flatnonzero(~half)]
    tables = [X.iloc[:, at] if hasattr(X, "iloc") else values[:, at] for at in sides]
    first, second = (_points("Z", make(table), values) for table in tables)
    flat = not (np.ptp(first, axis=0).any() and np.ptp(second, axis=0).any())
    return 0.0 if flat else float(1.0 - procrustes(first, second)[2])


# Rows and halves of their columns -----------------------------------------------------------------


def _comparable(values: Any, n: int, affinity: str) -> Any:
    """Return rows as an affinity compares them, columns of one variance among the first n."""
    check_known(values, "X", "drop those rows or columns", holes=True)
    check.magnitude()("X", values.data if sp.issparse(values) else values)
    rows = rows_of(values)
    if affinity == "auto":
        affinity = "hellinger" if are_counts(some_rows(rows, np.arange(n))) else "euclidean"
    if isinstance(rows, np.ndarray):
        check_holes(rows)
        holes, rows = np.isnan(rows), np.asarray(rows, np.float64)
        seen = rows_on_map(np.where(holes, column_moments(rows[:n])[0], rows), AFFINITIES[affinity])
        if isinstance(seen, ScaledRows):
            level = seen.level[:, None] - seen.level[:n].mean()
            own = level[:n].T @ seen.values[:n] / (float((level[:n] ** 2).sum()) or 1.0)
            seen = seen.values - level * own
        seen = np.where(holes, np.nan, seen)
        return (seen - column_moments(seen[:n])[0]) / column_units(seen[:n])
    seen = rows_on_map(rows, AFFINITIES[affinity])
    table = SparseTable(seen.values if isinstance(seen, ScaledRows) else seen)
    variance = mean_variance_axis(table.stored[:n], axis=0)[1]
    scale = np.sqrt(np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0.0))
    # Zeros stay zeros: nothing depends on the means of columns.
    return SparseTable((table.stored @ sp.diags_array(scale)).tocsr())


def _halves(rows: Any, n: int) -> list[Booleans]:
    """Return halves of the columns, of each of three splits."""
    parts = folds(dense_rows(some_rows(rows, evenly_spaced(n, limits.SAMPLED))))
    if len(parts) == 1:
        raise ValueError(
            f"X must have at least {_FEWEST_COLUMNS} different columns that vary, got fewer of "
            f"{rows.shape[1]}; pass the columns that the map was made from"
        )
    return [parts[0] | part for part in parts[1:]]


def _n_neighbors(n: int) -> int:
    """Return the number of neighbors whose mean predicts a row."""
    return min(_NEAREST, n // 4)


def _nearest(points: Floats, n: int, k: int) -> Integers:
    """Return the nearest of the first n points to every point, but for itself."""
    near = KDTree(points[:n]).query(points, k + 1)[1]
    other = near != np.arange(len(points))[:, None]
    # Among equal points any may be the first.
    other[:, -1] &= ~other.all(axis=1)
    return near[other].reshape(-1, k)


def _components(rows: Any, n: int) -> Floats:
    """Return principal components of rows, holes filled in with what these say of them."""
    width = min(_COMPONENTS, rows.shape[1] - 1)
    model = PCA(width, svd_solver="arpack", random_state=0)
    if isinstance(rows, SparseTable):
        return np.asarray(model.fit(rows.stored[:n]).transform(rows.stored))
    holes, rows = np.isnan(rows), np.nan_to_num(rows)
    for _ in range(4 if holes.any() else 1):
        points = model.fit(rows[:n]).transform(rows)
        if holes.any():
            rows = np.where(holes, model.inverse_transform(points), rows)
    return np.asarray(points)


class _Columns(NamedTuple):
    """Held-out columns of rows, and of those that may be neighbors."""

    values: Any  # (N, p) dense, 0 where unknown, or sparse
    known: Floats | None  # (N, p) 1 where known; None of sparse ones
    n: int  # the first of them are neighbors

    def residuals(self, at: Any, weights: Any) -> Floats:
        """Return what means of neighbors leave of some rows, (b, p), NaN where unknown."""
        means = weights[at] @ self.values[: self.n]
        if self.known is None:
            return np.asarray(self.values[at].toarray() - means.toarray())
        with np.errstate(invalid="ignore"):
            means = means / (weights[at] @ self.known[: self.n])
        return np.where(self.known[at] > 0.0, self.values[at] - means, np.nan)


class _Test(NamedTuple):
    """What half of the columns say of rows whose neighbors the other half chose."""

    excess: Floats  # (N,) sum over columns
    variance: Floats  # (N,) of it, by chance
    total: Floats  # (N,) weights of the columns that a row has
    r2: tuple[float, float]  # by neighbors on the map and in the data


def _held_out(rows: Any, own: Booleans, near: Integers, n: int) -> _Test:
    """Compare neighbors on the map and in the data, of half of the columns, on the others."""
    k = _n_neighbors(n)
    points = _components(take_columns(rows, np.flatnonzero(own)), n)
    apart = ((points[near] - points[:, None]) ** 2).sum(axis=2)
    closest = np.argsort(apart, axis=1, kind="stable")[:, :k]
    chosen = np.take_along_axis(near, closest, axis=1), _nearest(points, n, k)
    on_map, in_data = (_means(each, n) for each in chosen)
    held = take_columns(rows, np.flatnonzero(~own))
    if isinstance(held, SparseTable):
        columns = _Columns(held.stored, None, n)
    else:
        columns = _Columns(np.nan_to_num(held), 1.0 - np.isnan(held), n)
    # In the order of their first component, which does not depend on that of the table.
    order = np.argsort(points[:n, 0], kind="stable")
    some, others = (order[evenly_spaced(n, most)] for most in (limits.SAMPLED, _OTHERS))
    left = [np.nanmean(columns.residuals(some, each) ** 2, axis=0) for each in (on_map, in_data)]
    # A mean of k neighbors has a kth of their noise.
    r2 = np.nan_to_num(1.0 - np.array(left) / (1.0 + 1.0 / k))
    weights = np.clip(r2[1], 0.0, 1.0)
    away = np.nan_to_num(columns.residuals(others, on_map)) * weights
    known = 1.0 if columns.known is None else max(float(columns.known[others].mean()), LEVEL)
    excess, variance, total = np.zeros((3, len(points)))
    for batch in batches(len(points), block_rows(rows.shape[1])):
        by_map, by_data = (columns.residuals(batch, each) for each in (on_map, in_data))
        gains = weights * np.nan_to_num(by_map**2 - by_data**2)
        along = np.nan_to_num(by_map - by_data) @ away.T
        usual = np.quantile(along**2, _MOST, axis=1) / chi2.ppf(_MOST, 1) / known
        excess[batch] = gains.sum(axis=1)
        variance[batch] = np.maximum((gains**2).sum(axis=1), 4.0 * usual)
        total[batch] = np.where(np.isnan(by_map), 0.0, weights).sum(axis=1)
    return _Test(excess, variance, total, (float(r2[0].mean()), float(r2[1].mean())))


def _means(near: Integers, n: int) -> Any:
    """Return the sparse matrix (N, n) that takes means of neighbors."""
    count, k = near.shape
    weights = np.full(near.size, 1.0 / k)
    return sp.csr_array((weights, near.ravel(), np.arange(count + 1) * k), shape=(count, n))


def _scores(tests: list[_Test], n: int) -> tuple[Floats, Floats]:
    """Return standard normal scores of rows, beyond what most of the first n have, and excess."""
    excess, variance, total = (sum(each) for each in zip(*(t[:3] for t in tests), strict=True))
    # The halves of a split are independent, splits are not.
    error = np.sqrt(0.5 * len(tests) * variance)
    score = np.divide(excess, error, out=np.zeros_like(excess), where=error > 0.0)
    center = max(float(np.median(score[:n])), 0.0)
    spread = (np.quantile(score[:n], _MOST) - center) / norm.ppf(_MOST)
    fraction = np.divide(excess, total, out=np.zeros_like(excess), where=total > 0.0)
    return (score - center) / max(spread, 1.0), fraction
