"""Which columns make a map: prediction, significance, and the axes along which each varies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import orthogonal_procrustes
from scipy.stats import false_discovery_control, norm

from .._base import validation as check
from .._base.as_table import as_table, check_known, row_names, rows_by_name
from .._base.format import count, format_number, setting
from .._base.table import SparseTable, evenly_spaced
from .._base.threads import batches, single_threaded_blas
from .._base.types import Floats, Integers
from .._base.warn import warn
from ..chance import LEVEL, NULLS
from ..covariance import unit_rows
from ..kernels import StationaryKernel, differentiable
from ..missing import has_holes
from ..plotting import charts, plot
from ..similarity import Affinity
from ._smoother import Smoother, bayes_factors, n_draws, p_values, row_noise, smoother, standardized

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ColumnRelevance", "columns"]

NAMED = 5
"""Columns that are named in a sentence."""

WIDTH = 256
"""Columns that are worked on together."""

_SHOWN = 12
"""Columns whose values are kept for pictures."""

_IMPUTATIONS = 5
"""Maps that are drawn within their standard errors."""

_ROWS_RELATED = 3.0
"""Mean log Bayes factor of shifted columns above which the order of the rows alone makes it."""

_FEWEST = 10
"""Points of a map, below which their shifts are too few to estimate a tail from; and values of a
column that differ from its most frequent one, below which its tail is its own."""


@dataclass(frozen=True, repr=False)
class ColumnRelevance:
    """Columns of a table by how well a map predicts them; see `ikd_graph.columns`.

    Attributes
    ----------
    names : tuple of str
        Names of the p columns, the best predicted first.
    position : (p,) ndarray of int64
        Where each stands in the table.
    r2 : (p,) ndarray of float64
        R² of rows that were left out, one at a time, at most 1; below 0 where the mean is better.
    p_value : (p,) ndarray of float64
        Of being related to the map, against shifted columns.
    q_value : (p,) ndarray of float64
        Least false discovery rate at which the column is found.
    fraction : (p, m) ndarray of float64
        Fraction of the mean squared gradient along each axis; NaN for a column without a slope.
    fraction_se : (p, m) ndarray of float64
        Standard errors of the fractions.
    slope : (p, m) ndarray of float64
        Change of the column, in its unit, per unit of each axis at the center of the map.
    sd : (p,) ndarray of float64
        Standard deviation of the column.
    change, change_se, change_q : (p,) ndarray of float64 or None
        Between the two points of ``where``: change in the unit of the column, its standard error,
        and the least false discovery rate at which it is found.
    ordered : bool
        Whether shifted columns are predicted, too: rows that follow one another lie together.
    embedding : (n, m) ndarray of float64
        The map that was looked at.
    values, fitted : (n, k) ndarray of float64
        The first k columns, and their posterior means.
    kernel : StationaryKernel
        Kernel of the process.
    """

    names: tuple[str, ...]
    position: NDArray[np.int64]
    r2: Floats
    p_value: Floats
    q_value: Floats
    fraction: Floats
    fraction_se: Floats
    slope: Floats
    sd: Floats
    ordered: bool
    embedding: Floats
    values: Floats
    fitted: Floats
    kernel: StationaryKernel
    change: Floats | None = None
    change_se: Floats | None = None
    change_q: Floats | None = None
    _row_names: Sequence[Any] = ()

    @property
    def n_significant(self) -> int:
        """Number of columns found at a false discovery rate of 5 %, and predicted by the map."""
        return int(np.count_nonzero((self.q_value <= LEVEL) & (self.r2 > 0.0)))

    @property
    def summary(self) -> str:
        """How many columns are related to the map, or that it cannot be told."""
        columns = count(len(self), "column")
        if not self.n_significant:
            return f"none of {columns} can be shown to be related to the map"
        return f"{format_number(self.n_significant)} of {columns} are related to the map"

    def __len__(self) -> int:
        """Count the columns."""
        return len(self.names)

    def __repr__(self) -> str:
        """Say how many columns make the map, and the first along each axis."""
        return "\n".join([self.summary, *self.sentences()])

    def top(self, axis: int, n: int = NAMED) -> list[str]:
        """Name the significant columns that vary most along an axis.

        Parameters
        ----------
        axis : int
            Number of the axis, from 0.
        n : int
            Largest number of names.

        Returns
        -------
        list of str
            The names, those with the largest ``r2 * fraction`` first; none where no column is
            significant.
        """
        check.whole(0, self.fraction.shape[1] - 1)("axis", axis)
        weight = np.nan_to_num(self.r2 * self.fraction[:, axis])
        # A column counts for an axis that makes a fair part of it.
        fair = self.fraction[:, axis] * self.fraction.shape[1] >= 1.0
        weight = np.where((self.q_value <= LEVEL) & fair, weight, 0.0)
        order = np.argsort(-weight, kind="stable")[: check.whole(1)("n", n)]
        return [self.names[k] for k in order if weight[k] > 0.0]

    def sentences(self) -> list[str]:
        """Name the columns of each axis in a sentence, and say if the order of rows leaves it open.

        Returns
        -------
        list of str
            None for axes where no column is significant.
        """
        axes = range(self.fraction.shape[1] if self.n_significant else 0)
        lines = [
            f"dimension {axis + 1}: {', '.join(self.top(axis)) or 'no column'}" for axis in axes
        ]
        if self.ordered and self.n_significant < len(self):
            of_others = "of others " * bool(self.n_significant)
            lines.append(
                f"{of_others}it cannot be told: shifted columns are predicted nearly as well, "
                "since rows that follow one another lie together; "
                f"{setting('null', 'permute')} takes rows as independent"
            )
        return lines

    def to_pandas(self) -> pd.DataFrame:
        """Make a table, a row for each column, the best predicted first.

        Returns
        -------
        pandas.DataFrame
            Columns ``column``, ``position``, ``r2``, ``p_value``, ``q_value``, and for each axis k
            from 0 ``fraction_ikd{k}``, ``fraction_ikd{k}_se`` and ``slope_ikd{k}``; with two
            points also ``change``, ``change_se`` and ``change_q``.
        """
        parts: dict[str, Any] = {"column": self.names}
        parts |= {name: getattr(self, name) for name in ("position", "r2", "p_value", "q_value")}
        for axis, slope in enumerate(self.slope.T):
            parts[f"fraction_ikd{axis}"] = self.fraction[:, axis]
            parts[f"fraction_ikd{axis}_se"] = self.fraction_se[:, axis]
            parts[f"slope_ikd{axis}"] = slope
        if self.change is not None:
            parts |= {name: getattr(self, name) for name in ("change", "change_se", "change_q")}
        return pd.DataFrame(parts)

    @plot.labels_are_color
    def plot(self, kind: str = "arrows", *, color: Any = None, n: int = 6, ax: Any = None) -> Axes:
        """Draw the columns on the map.

        Parameters
        ----------
        kind : {"arrows", "surfaces"}
            "arrows" draws the map with an arrow from its center for each of the first significant
            columns: the way in which it rises there, the longer the steeper, in its standard
            deviations. "surfaces" draws small maps: the posterior mean of each of the first
            columns, and below it what that leaves of the values.
        color : (n_samples,) array_like, optional
            Classes, numbers or times that color the points of the map with arrows; ``labels=`` is
            another name of it.
        n : int
            Largest number of columns.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            With the map, or the first of the small ones.
        """
        check.one_of(("arrows", "surfaces"))("kind", kind)
        check.whole(1)("n", n)
        if kind == "surfaces":
            values, fitted = self.values[:, :n], self.fitted[:, :n]
            names = self.names[: values.shape[1]]
            return plot.surfaces(self.embedding, values, fitted, names, ax=ax)
        found = np.flatnonzero(self.q_value <= LEVEL)[:n]
        steepness = self.slope[found] / self.sd[found, None]
        ax = plot.embedding(self.embedding, color, ax=ax)
        found_names = [self.names[k] for k in found]
        return plot.arrows(ax, charts.columns(self.embedding), steepness, found_names)


class ScaledRows(NamedTuple):
    """Rows as a map of correlations sees them.

    What a column has of their level is taken off it. To subtract the level itself, as correlations
    do, would put the mean of the related columns into all others.
    """

    values: Any  # (n, p) rows of one length, dense or sparse
    level: Floats  # (n,) mean of each row


def rows_on_map(rows: Any, affinity: Affinity) -> Any:
    """Return rows as a map sees them: of one length, and without a level, where it does not."""
    if has_holes(rows):
        raise ValueError(
            f"columns must have a value in every row, got {int(np.isnan(rows).sum())} missing "
            f"values, which {setting('missing', 'pairwise')} left unknown; pass those columns "
            f"that have no holes, or fit with {setting('missing', 'impute')}"
        )
    sparse = isinstance(rows, SparseTable)
    if affinity.euclidean:
        return rows.stored if sparse else rows
    table = affinity.modeled(rows)
    unit = unit_rows(table if sparse else SparseTable(table), affinity.over_pairs, allow_flat=True)
    values = np.sqrt(rows.shape[1]) * unit.stored
    if not sparse:
        values = values.toarray()
        # What is the same in all rows says nothing of them, whatever they are divided by.
        values[:, np.ptp(rows, axis=0) == 0.0] = 0.0
    return ScaledRows(values, unit.shift)


class OnMap(NamedTuple):
    """Columns of a table, and the map that they are judged on."""

    values: Any  # (n, p) the table, dense or sparse by columns
    level: Floats | None  # (n,) level of its rows, of which columns keep nothing
    columns: Integers  # (k,) that are judged
    rows: Integers  # (r,) that are on the map
    smooth: Smoother

    def take(self, which: Integers) -> Floats:
        """Return some columns, (r, b)."""
        some = self.values[:, which]
        some = np.asarray(some.toarray() if sp.issparse(some) else some, dtype=np.float64)
        if self.level is not None:
            some = some - np.outer(self.level, self.level @ some / (self.level @ self.level or 1.0))
        return some if self.rows.size == len(some) else some[self.rows]

    def batches(self, width: int = WIDTH) -> Iterator[tuple[Integers, Floats]]:
        """Centered columns with their positions, ``width`` at a time."""
        for batch in batches(self.columns.size, width):
            at = self.columns[batch]
            Y = self.take(at)
            yield at, Y - Y.mean(axis=0)

    def turned(self, columns: Integers, other: Floats, kernel: StationaryKernel | None) -> OnMap:
        """Return columns on a map made without them, which is turned onto this and keeps its size.

        Rows of ``other``, (n, m), that are NaN are not on it.
        """
        on = np.isfinite(other[self.rows]).all(axis=1)
        Z, points = other[self.rows[on]], self.smooth.points[on]
        Z = Z - Z.mean(axis=0)
        turn = orthogonal_procrustes(Z, points - points.mean(axis=0))[0]
        smooth = smoother(Z @ turn, kernel)
        return self._replace(columns=columns, rows=self.rows[on], smooth=smooth)


@check.validate(
    kernel=check.optional(differentiable),
    null=check.one_of(NULLS),
    random_state=check.seed,
)
def columns(
    Z: ArrayLike,
    X: Any,
    *,
    names: Sequence[str] | None = None,
    where: ArrayLike | None = None,
    kernel: str | StationaryKernel | None = None,
    errors: ArrayLike | None = None,
    maps: Sequence[tuple[ArrayLike, ArrayLike]] = (),
    null: str = "shift",
    random_state: int | None = 0,
) -> ColumnRelevance:
    r"""Find the columns of a table that make a map, and the axes along which each of them varies.

    Every column is a sample of one Gaussian process over the map plus noise of its own, which is
    the one of largest likelihood (Rasmussen and Williams 2006, equation 2.30). The hat matrix gives
    the prediction of each row from the others, and R². Its Bayes factor against pure noise is
    compared with those of the same column shifted along the rows, around the end, so that rows
    which follow one another in time do not make a column significant (unless they drift without
    bound, as random walks do: take differences first). Bayes factors are those of rows in units of
    their noise, which all columns tell, so that noisy rows make none significant either. The false
    discovery rate is that of Benjamini and Hochberg (1995). The mean squared gradient of the
    posterior mean says which axes a column varies along. The map may be of any method, such as UMAP
    or PCA.

    A map that was made from the same columns has fitted some of their noise: more columns than
    stated are found that are not related to the truth, and unrelated columns have significant ones
    on their own map. Give ``maps`` that were made without the columns that are judged on them, as
    `IKD.columns` does.

    Parameters
    ----------
    Z : (n_samples, n_components) array_like of float64
        Coordinates of the rows, at least ten different ones.
    X : (n_samples, n_features) array_like, data frame or scipy sparse matrix of float64
        The table: those columns that the map was made from, or others of the same rows, which go
        with those of Z by name where both have names.
    names : sequence of str, optional
        Names of the columns; by default those of the data frame, else "x0", "x1", ...
    where : (n_samples,) array_like of bool, or two points, optional
        Rows to look at alone, such as a region. Or where a path begins and ends, as two numbers of
        rows or a (2, n_components) array of coordinates: how much each column changes between.
    kernel : str or StationaryKernel, optional
        Kernel of the process, differentiable at 0; by default the squared exponential with half the
        median distance as its length-scale.
    errors : (n_samples, n_components) array_like of float64, optional
        Standard errors of the coordinates (``model.standard_errors_``); those of the fractions
        take them in.
    maps : sequence of (columns, coordinates), optional
        Maps of the same rows that were made without some columns, and the positions of these
        columns, each in one map: R² and significance are those on that map. Rows whose coordinates
        are NaN are not on it. What the fractions differ by between the maps, rigidly aligned, goes
        into their standard errors (the jackknife, Efron and Stein 1981).
    null : {"shift", "permute", "permute_all"}
        What a column is compared with. Rows that are sorted, as by class, are related to the next
        ones whatever a column does: shifts then find nothing, and "permute" is right if the rows
        are independent. Below 30 rows there are too few shifts, and columns of no relation are
        found too often.
    random_state : int or None
        Seed of the shifts.

    Returns
    -------
    ColumnRelevance
        A row for each column, the best predicted first.

    Raises
    ------
    ValueError
        If rows, names or errors do not fit, or X holds NaN.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006.
    Y. Benjamini and Y. Hochberg, Journal of the Royal Statistical Society B 57, 1995.
    B. Efron and C. Stein, The jackknife estimate of variance, Annals of Statistics 9, 1981.

    Examples
    --------
    >>> import numpy as np
    >>> import ikd_graph
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.uniform(-1.0, 1.0, size=(200, 2))
    >>> X = rng.normal(size=(200, 30))
    >>> X[:, 7] += 3.0 * Z[:, 0]
    >>> found = ikd_graph.columns(Z, X)
    >>> found.names[0], found.n_significant, found.fraction[0].round(1)
    ('x7', 1, array([1., 0.]))
    """
    points, on_map = np.asarray(check.table("Z", Z), dtype=np.float64), row_names(Z)
    errors = 0.0 * points if errors is None else rows_by_name("errors", errors, on_map, "Z")
    spread = check.quantities("errors", errors)
    check.like("Z", points)("errors", spread)
    spread = np.where(np.isfinite(spread).all(axis=1, keepdims=True), spread, 0.0)
    X = rows_by_name("X", X, on_map, "Z")
    values, level, labels = read_columns(X, len(points), names)
    every = np.arange(labels.size)
    maps = [(which, rows_by_name("maps", other, on_map, "Z")) for which, other in maps]
    held_out = _checked_maps(maps, points, every)
    ends, rows = place_of(rows_by_name("where", where, on_map, "Z"), points)
    points, spread = points[rows], spread[rows]
    check_map(points)
    rng, smooth = np.random.default_rng(random_state), cast("StationaryKernel | None", kernel)
    with single_threaded_blas():
        itself = OnMap(values, level, every, rows, smoother(points, smooth))
        judges = [itself.turned(which, other, smooth) for which, other in held_out]
        found, noise = _described(itself, ends)
        found["r2"], found["p_value"], ordered = _judged(
            judges or [itself], found["sd"] > 0.0, noise, null, rng
        )
        others, factor = judges, (len(judges) - 1.0) ** 2 / max(len(judges), 1)
        if not judges and spread.any():
            drawn = points + spread * rng.standard_normal((_IMPUTATIONS, *spread.shape))
            others = [itself._replace(smooth=smoother(Z, itself.smooth.kernel)) for Z in drawn]
            # Rubin 1987.
            factor = 1.0 + 1.0 / _IMPUTATIONS
        if len(others) > 1:
            variance = factor * _variance_of_fractions(others, every)
            found["fraction_se"] = np.hypot(found["fraction_se"], np.sqrt(variance))
    names = [on_map[row] for row in rows] if len(on_map) else []
    return replace(_sorted(found, ordered, itself, labels), _row_names=names)


def _described(itself: OnMap, ends: Floats | None) -> tuple[dict[str, Any], Floats]:
    """Axes along which all columns vary, in the order of the table, and the noise of the rows."""
    smooth, every = itself.smooth, itself.columns
    center = smooth.points.mean(axis=0, keepdims=True)
    at_center = smooth.slopes_at(center)[:, 0]
    path = None if ends is None else np.diff(smooth.values_at(ends), axis=0)[0]
    some = itself._replace(columns=every[evenly_spaced(every.size, WIDTH)])
    noise = np.ones(itself.values.shape[0])
    noise[itself.rows] = row_noise(smooth.fit(next(some.batches())[1]).residual)
    parts = []
    for _, Y in itself.batches():
        fits = smooth.fit(Y)
        fraction, error = smooth.fractions(fits)
        part = {"sd": Y.std(axis=0), "fraction": fraction, "fraction_se": error}
        part["slope"] = fits.coefficients @ at_center.T
        if path is not None:
            posterior = fits.noise / (smooth.eigenvalues + fits.ratio)
            part["change"] = fits.coefficients @ path
            part["change_se"] = np.sqrt(posterior @ path**2)
        parts.append(part)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, noise


def _judged(
    judges: Sequence[OnMap],
    varying: NDArray[np.bool_],
    noise: Floats,
    null: str,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, bool]:
    """R² and p value of every column on the map that judges it, and whether rows are related."""
    p, n_moves = varying.size, n_draws(varying.size)
    r2, rare, factors = np.zeros(p), np.zeros(p), np.zeros((1 + n_moves, p))
    for judge in judges:
        smooth, of_rows = judge.smooth, noise[judge.rows]
        even = smoother(smooth.points, smooth.kernel, of_rows)
        # Columns of a batch are shifted together.
        for at, Y in judge.batches(int(np.clip(p // 8, 16, WIDTH))):
            r2[at] = smooth.fit(Y).r2
            # The median is the most frequent value of a column that has few others.
            rare[at] = (np.median(Y, axis=0) != Y).sum(axis=0)
            factors[:, at] = bayes_factors(standardized(Y, of_rows), even, n_moves, null, rng)
    if not varying.all():
        warn(
            f"{int((~varying).sum())} of {p} columns of X are constant: they have "
            "R² = 0, p = 1 and no fractions (NaN)"
        )
    p_value, ordered = np.ones(p), False
    if varying.any():
        few = rare[varying] < _FEWEST
        observed, moved = factors[0, varying], factors[1:, varying]
        p_value[varying] = p_values(observed, moved, few & ~few.all())
        ordered = null == "shift" and float(np.median(moved)) > _ROWS_RELATED
    if ordered:
        warn(
            "columns that were shifted along the rows are predicted by the map, too, because "
            "neighboring rows lie together on it; if the order of the rows means nothing, as of "
            f"rows that are sorted by class, pass {setting('null', 'permute')}"
        )
    return r2, p_value, ordered


def _variance_of_fractions(others: Sequence[OnMap], every: Integers) -> Floats:
    """Variance of the fractions of all columns between other maps, (p, m)."""
    drawn: Any = []
    for other in others:
        fits = (other.smooth.fit(Y) for _, Y in other._replace(columns=every).batches())
        drawn.append(np.vstack([other.smooth.fractions(each)[0] for each in fits]))
    # Where a column has no slope, all axes are as likely.
    drawn = np.array(drawn)
    drawn = np.where(np.isfinite(drawn), drawn, 1.0 / drawn.shape[-1])
    return np.asarray(drawn.var(axis=0, ddof=1))


def _sorted(
    found: dict[str, Any], ordered: bool, itself: OnMap, labels: NDArray[np.str_]
) -> ColumnRelevance:
    """Columns in order, with the values of the first of them for pictures."""
    order, smooth = np.argsort(-found["r2"], kind="stable"), itself.smooth
    found["q_value"] = false_discovery_control(found["p_value"])
    values = itself.take(order[:_SHOWN])
    means = values.mean(axis=0)
    weights = smooth.fit(values - means).coefficients
    fitted = means + smooth.basis @ (np.sqrt(smooth.eigenvalues) * weights).T
    if "change" in found:
        spread = np.where(found["change_se"] > 0.0, found["change_se"], np.inf)
        found["change_q"] = false_discovery_control(2.0 * norm.sf(np.abs(found["change"]) / spread))
    return ColumnRelevance(
        names=tuple(labels[order].tolist()),
        position=order,
        ordered=ordered,
        embedding=smooth.points,
        values=values,
        fitted=fitted,
        kernel=smooth.kernel,
        **{name: each[order] for name, each in found.items()},
    )


# What was given -----------------------------------------------------------------------------------


def read_columns(X: Any, n_rows: int, names: Any) -> tuple[Any, Floats | None, NDArray[np.str_]]:
    """Table that was given, the level of its rows where it is none of the columns', and names."""
    level = X.level - X.level.mean() if isinstance(X, ScaledRows) else None
    given = as_table(X.values if isinstance(X, ScaledRows) else X, accept_sparse="csc")
    values, p = given.values, given.values.shape[1]
    with check.naming_rows(given.row_names):
        check_known(values, "X", "fill them in, or drop those rows or columns")
    check.magnitude()("X", values.data if sp.issparse(values) else values)
    if values.shape[0] != n_rows:
        raise ValueError(
            f"X must have a row for each of the {n_rows} rows of Z, got {values.shape[0]}; pass "
            "the table that Z is the map of"
        )
    if names is None:
        names = given.column_names or [f"x{k}" for k in range(p)]
    called = [*map(str, names)] if np.iterable(names) else []
    check.one_each("names", called, p, "columns of X")
    return values, level, np.array(called, dtype=object)


def place_of(where: Any, points: Floats) -> tuple[Floats | None, Integers]:
    """Return ends of a path, if there is one, and the rows to look at."""
    every = np.arange(len(points))
    if where is None:
        return None, every
    given = check.as_array("where", where)
    if given.dtype == bool and given.shape == (len(points),):
        if not given.any():
            raise ValueError("where must be True for at least one row, got False for all")
        return None, np.flatnonzero(given)
    if given.shape in ((), (2,)) and given.dtype.kind in "iu":
        at = check.nodes_of(len(points))("where", np.atleast_1d(given))
        return (points[at], every) if given.shape else (None, at)
    if given.shape == (2, points.shape[1]) and given.dtype.kind in "iuf":
        check.finite("pass where the path begins and ends")("where", given)
        return np.asarray(given, dtype=np.float64), every
    raise ValueError(
        f"where must be True or False for each of the {len(points)} rows, one or two numbers of "
        f"rows, or two points of shape {(2, points.shape[1])}; got shape {given.shape} of "
        f"{given.dtype}"
    )


def _checked_maps(maps: Any, points: Floats, every: Integers) -> list[tuple[Integers, Floats]]:
    """Return maps without some columns, every column in one of them."""
    found = []
    for which, other in maps:
        place = check.quantities("coordinates of maps", other)
        check.like("Z", points)("coordinates of maps", place)
        at = check.as_array("columns of maps", which)
        at = np.flatnonzero(at) if at.dtype == bool else at
        found.append((check.nodes_of(every.size)("columns of maps", at), place))
    held_out = np.concatenate([which for which, _ in found]) if found else every
    if not np.array_equal(np.sort(held_out), every):
        raise ValueError(
            f"maps must hold out each of the {every.size} columns once, got {held_out.size} "
            f"positions of {np.unique(held_out).size} columns"
        )
    return found


def check_map(points: Floats) -> None:
    """Raise unless there is a map."""
    if (distinct := len(np.unique(points, axis=0))) < _FEWEST:
        raise ValueError(
            f"Z must hold at least {_FEWEST} different points, got {distinct} in {len(points)} "
            "rows; fewer do not tell columns that are related to a map from others"
        )
    check.magnitude()("Z", points)
