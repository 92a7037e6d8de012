"""`columns`: which columns of a table make a map."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import orthogonal_procrustes
from scipy.stats import norm

from .._base import validation as check
from .._base.as_table import as_table, check_known
from .._base.table import evenly_spaced
from .._base.threads import single_threaded_blas
from .._base.types import Floats, Integers
from .._base.validation import check_finite, naming_rows, validate
from .._base.warn import warn
from ..kernels import StationaryKernel, as_kernel
from ._fit import Fits, fit_columns, row_noise
from ._fractions import fractions, gradients
from ._result import MOST_SHOWN, ColumnRelevance
from ._significance import FEWEST_VALUES, NULLS, bayes_factors, draws, p_values, q_values
from ._smoother import NOISE_RATIOS, Smoother, smoother, standardized

_BATCH = 256
_IMPUTATIONS = 5
"""Maps that are drawn within their standard errors."""

_ROWS_RELATED = 3.0
"""Mean log Bayes factor of shifted columns above which the order of the rows alone makes it."""

_FEWEST_ROWS = 10
"""Rows below which their shifts are too few to estimate a tail from."""


class Table(NamedTuple):
    """Columns of X, some at a time, dense and centered."""

    shape: tuple[int, int]
    take: Callable[[Integers], Floats]

    def batches(
        self, width: int, which: Integers | None = None
    ) -> Iterator[tuple[Integers, Floats]]:
        """Yield centered columns with their positions, all of them or some."""
        which = np.arange(self.shape[1]) if which is None else which
        for start in range(0, which.size, width):
            at = which[start : start + width]
            Y = self.take(at)
            yield at, Y - Y.mean(axis=0)

    def of_rows(self, rows: Integers) -> Table:
        """Return the table of some rows."""
        return Table((rows.size, self.shape[1]), lambda which: self.take(which)[rows])


class ScaledRows(NamedTuple):
    """Rows as a map of correlations sees them.

    What a column has of their level is taken off it. To subtract the level itself, as correlations
    do, would put the mean of the related columns into all others.
    """

    values: Any  # (n, p) rows of one length, dense or sparse
    level: Floats  # (n,) mean of each row


class HeldOut(NamedTuple):
    """A map that was made without some of the columns, which are judged on it."""

    columns: Integers  # (k,) their positions
    smooth: Smoother
    table: Table  # of the rows on the map
    rows: Integers | slice = slice(None)  # on the map


def _check_errors(name: str, value: Any) -> Floats:
    errors = np.asarray(check.quantities(name, value))
    if (errors < 0.0).any():
        raise ValueError(
            f"{name} must not be negative, got {np.nanmin(errors):.3g}; pass model.standard_errors_"
        )
    return errors


@validate(
    Z=check.table,
    kernel=check.optional(as_kernel),
    errors=check.optional(_check_errors),
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
        Coordinates of the rows, at least four rows.
    X : (n_samples, n_features) array_like, data frame or scipy sparse matrix of float64
        The table: those columns that the map was made from, or others of the same rows.
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
    null : {"shift", "permute"}
        What a column is compared with. Rows that are sorted, as by class, are related to the next
        ones whatever a column does: shifts then find nothing, and "permute" is right if the rows
        are independent. Below 30 rows there are too few shifts, and columns of no relation are
        found too often; below 10 no p value is smaller than one over the number of rows.
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
    points = np.asarray(Z, dtype=np.float64)
    table, labels = _read(X, len(points), names)
    ends, rows = _place_of(where, points)
    spread = None if errors is None else _fitting_errors(np.asarray(errors), points)
    others = _fitting_maps(maps, points, table.shape[1])
    if rows is not None:
        points, spread = points[rows], None if spread is None else spread[rows]
        others = [(which, other[rows]) for which, other in others]
        table = table.of_rows(rows)
    _check_map(points)
    rng = np.random.default_rng(random_state)
    with single_threaded_blas():
        given = _smooth_kernel(kernel)
        smooth = smoother(points, given)
        judges = [_held_out(which, other, points, table, given) for which, other in others]
        itself = HeldOut(np.arange(table.shape[1]), smooth, table)
        found = _describe(table, smooth, ends)
        _judge(found, judges or [itself], null, rng)
        if judges:
            k = len(judges)
            _widen(found, judges, (k - 1.0) ** 2 / k)
        elif spread is not None:
            drawn = [itself._replace(smooth=moved) for moved in _imputed(smooth, spread, rng)]
            _widen(found, drawn, 1.0 + 1.0 / _IMPUTATIONS)
    return _sorted(found, table, labels, smooth, ends)


def _describe(table: Table, smooth: Smoother, ends: Floats | None) -> dict[str, Any]:
    """Find the axes along which all columns vary, in the order of the table, and noise of rows."""
    p, m = table.shape[1], smooth.points.shape[1]
    grads, leverages = gradients(smooth), smooth.leverages()
    center = smooth.points.mean(axis=0, keepdims=True)
    at_center = smooth.slopes_at(center)[:, 0]
    path = None if ends is None else np.diff(smooth.values_at(ends), axis=0)[0]
    found = {
        "sd": np.zeros(p), "rare": np.zeros(p), "change": np.zeros(p), "change_se": np.zeros(p),
        "fraction": np.zeros((p, m)), "fraction_se": np.zeros((p, m)), "slope": np.zeros((p, m)),
    }  # fmt: skip
    sample = next(table.batches(_BATCH, evenly_spaced(p, _BATCH)))[1]
    found["noise"] = row_noise(fit_columns(sample, smooth, leverages).residual)
    for at, Y in table.batches(_BATCH):
        fits = fit_columns(Y, smooth, leverages)
        found["sd"][at] = Y.std(axis=0)
        found["rare"][at] = _n_rare(Y)
        found["fraction"][at], found["fraction_se"][at] = fractions(fits, smooth, grads)
        found["slope"][at] = fits.coefficients @ at_center.T
        if path is not None:
            found["change"][at], found["change_se"][at] = _change(fits, smooth, path)
    return found


def _judge(
    found: dict[str, Any], judges: Sequence[HeldOut], null: str, rng: np.random.Generator
) -> None:
    """Add R² and p value of every column, on the map that judges it."""
    p = found["sd"].size
    n_draws = draws(p)
    found["r2"] = np.zeros(p)
    values = np.zeros((1 + n_draws, p))
    for which, smooth, table, rows in judges:
        leverages = smooth.leverages()
        noise = found["noise"][rows]
        even = smoother(smooth.points, smooth.kernel, noise)
        # Columns of a batch are shifted together.
        for at, Y in table.batches(int(np.clip(p // 8, 16, _BATCH)), which):
            found["r2"][at] = fit_columns(Y, smooth, leverages).r2
            values[:, at] = bayes_factors(standardized(Y, noise), even, n_draws, null, rng)
    found["evidence"], null_values = values[0], values[1:]
    fewest = min(len(judge.smooth.points) for judge in judges)
    found["p_value"] = _tested(found, null_values, null, fewest)
    found["ordered"] = _rows_related(null_values, null)


def _tested(found: dict[str, Any], null_values: Floats, null: str, n_rows: int) -> Floats:
    """Compute the p values, 1 for constant columns, and say what spoils them."""
    constant = found["sd"] == 0.0
    if constant.any():
        warn(
            f"{int(constant.sum())} of {constant.size} columns of X are constant: they have "
            "R² = 0, p = 1 and no fractions (NaN)"
        )
    p = np.ones(constant.size)
    varying = np.flatnonzero(~constant)
    if not varying.size:
        return p
    few: Any = found["rare"][varying] < FEWEST_VALUES
    if few.all():
        few = np.zeros_like(few)
    if _rows_related(null_values[:, varying], null):
        warn(
            "columns that were shifted along the rows are predicted by the map, too, because "
            "neighboring rows lie together on it; if the order of the rows means nothing, as of "
            "rows that are sorted by class, pass null='permute'"
        )
    p[varying] = p_values(found["evidence"][varying], null_values[:, varying], few)
    if null == "shift" and n_rows < _FEWEST_ROWS:
        warn(
            f"{n_rows} rows have {n_rows - 1} shifts, too few to tell columns that are related to "
            f"the map from others: no p value is below 1/{n_rows}; bring {_FEWEST_ROWS} rows or "
            "more, or pass null='permute' in Python if the rows are independent"
        )
        p = np.maximum(p, 1.0 / n_rows)
    return p


def _rows_related(null_values: Floats, null: str) -> bool:
    """Whether shifted columns are predicted by the map, too."""
    return null == "shift" and float(np.median(null_values)) > _ROWS_RELATED


def _change(fits: Fits, smooth: Smoother, path: Floats) -> tuple[Floats, Floats]:
    """How much columns change along a path, with the posterior standard deviation."""
    ratio = NOISE_RATIOS[fits.choice][:, None]
    spread = fits.noise[:, None] / (smooth.eigenvalues + ratio)
    return fits.coefficients @ path, np.sqrt(spread @ path**2)


def _imputed(smooth: Smoother, spread: Floats, rng: np.random.Generator) -> list[Smoother]:
    """Draw maps within the errors of one (Rubin 1987)."""
    known = np.asarray(np.isfinite(spread).all(axis=1))
    spread = np.where(known[:, None], spread, 0.0)
    drawn = (
        smooth.points + spread * rng.standard_normal(spread.shape) for _ in range(_IMPUTATIONS)
    )
    return [smoother(moved, smooth.kernel) for moved in drawn]


def _widen(found: dict[str, Any], others: Sequence[HeldOut], factor: float) -> None:
    """Add to the variance of fractions that between other maps, times a factor."""
    drawn = np.empty((len(others), *found["fraction"].shape))
    for k, (_, smooth, table, _) in enumerate(others):
        grads, leverages = gradients(smooth), smooth.leverages()
        for at, Y in table.batches(_BATCH):
            drawn[k, at] = fractions(fit_columns(Y, smooth, leverages), smooth, grads)[0]
    # Where a column has no slope, all axes are as likely.
    drawn = np.where(np.isfinite(drawn), drawn, 1.0 / drawn.shape[-1])
    spread = drawn.var(axis=0, ddof=1) if len(others) > 1 else np.zeros_like(drawn[0])
    found["fraction_se"] = np.sqrt(found["fraction_se"] ** 2 + factor * spread)


def _sorted(
    found: dict[str, Any],
    table: Table,
    labels: NDArray[np.str_],
    smooth: Smoother,
    ends: Floats | None,
) -> ColumnRelevance:
    """Put the result in order, with the values of the first columns for its pictures."""
    order = np.argsort(-found["r2"], kind="stable")
    q = q_values(found["p_value"])
    shown = order[:MOST_SHOWN]
    values = table.take(shown)
    means = values.mean(axis=0)
    fits = fit_columns(values - means, smooth, smooth.leverages())
    fitted = means + smooth.basis @ (np.sqrt(smooth.eigenvalues) * fits.coefficients).T
    change = change_q = change_se = None
    if ends is not None:
        change, change_se = found["change"][order], found["change_se"][order]
        distance = np.abs(change) / np.where(change_se > 0.0, change_se, np.inf)
        change_q = q_values(np.minimum(2.0 * norm.sf(distance), 1.0))
    return ColumnRelevance(
        names=tuple(labels[order].tolist()),
        position=order,
        r2=found["r2"][order],
        p_value=found["p_value"][order],
        q_value=q[order],
        fraction=found["fraction"][order],
        fraction_se=found["fraction_se"][order],
        slope=found["slope"][order],
        sd=found["sd"][order],
        change=change,
        change_se=change_se,
        change_q=change_q,
        ordered=bool(found["ordered"]),
        embedding=smooth.points,
        values=values,
        fitted=fitted,
        kernel=smooth.kernel,
    )


# What was given -----------------------------------------------------------------------------------


def _read(X: Any, n_rows: int, names: Sequence[str] | None) -> tuple[Table, NDArray[np.str_]]:
    """Columns of what was given, and their names."""
    if isinstance(X, ScaledRows):
        table, labels = _read(X.values, n_rows, names)
        level = X.level - X.level.mean()
        weights = level / (level @ level or 1.0)

        def without_level(which: Integers) -> Floats:
            values = table.take(which)
            return np.asarray(values - np.outer(level, weights @ values))

        return Table(table.shape, without_level), labels
    given = as_table(X, accept_sparse="csc")
    names = given.column_names or None if names is None else names
    if names is not None and not np.iterable(names):
        raise ValueError(f"names must be a sequence of names, got {type(names).__name__}")
    values, shape = given.values, given.values.shape
    with naming_rows(given.row_names):
        check_known(values, "X", "fill them in, or drop those rows or columns")
    check.check_magnitude("X", values.data if sp.issparse(values) else values)

    def take(which: Integers) -> Floats:
        some = values[:, which]
        return np.asarray(some.toarray() if sp.issparse(some) else some, dtype=np.float64)

    if shape[0] != n_rows:
        raise ValueError(
            f"X must have a row for each of the {n_rows} rows of Z, got {shape[0]}; pass the table "
            "that Z is the map of"
        )
    called = [f"x{k}" for k in range(shape[1])] if names is None else [*map(str, names)]
    if len(called) != shape[1]:
        raise ValueError(
            f"names must be one for each of the {shape[1]} columns of X, got {len(called)}"
        )
    return Table(shape, take), np.array(called, dtype=object)


def _place_of(where: Any, points: Floats) -> tuple[Floats | None, NDArray[np.intp] | None]:
    """Return the ends of a path, or the rows of a region; neither without ``where``."""
    if where is None:
        return None, None
    given = check.as_array("where", where)
    if given.dtype == bool and given.shape == (len(points),):
        rows = np.flatnonzero(given)
        if rows.size < 4:
            raise ValueError(f"where must leave at least 4 rows, got {rows.size}; widen the region")
        return None, rows
    if given.shape == (2,) and given.dtype.kind in "iu":
        check.check_nodes("where", given.astype(np.int64), len(points))
        return points[given], None
    if given.shape == (2, points.shape[1]) and given.dtype.kind in "iuf":
        check_finite("where", given, "pass where the path begins and ends")
        return np.asarray(given, dtype=np.float64), None
    raise ValueError(
        f"where must be True or False for each of the {len(points)} rows, two numbers of rows, or "
        f"two points of shape {(2, points.shape[1])}; got shape {given.shape} of {given.dtype}"
    )


def _fitting_errors(errors: Floats, points: Floats) -> Floats | None:
    """Return standard errors as given; None where none is known."""
    if errors.shape != points.shape:
        raise ValueError(
            f"errors must have the shape of Z, {points.shape}, got {errors.shape}; pass "
            "model.standard_errors_"
        )
    return errors if np.isfinite(errors).any() else None


def _fitting_maps(maps: Any, points: Floats, n_columns: int) -> list[tuple[Integers, Floats]]:
    """Return maps without some columns, every column in one of them."""
    found = []
    for pair in maps:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(
                "maps must be pairs of columns and coordinates, got an item of type "
                f"{type(pair).__name__}; pass [(columns, coordinates), ...]"
            )
        which, other = pair
        at = check.as_array("columns of maps", which)
        at = np.flatnonzero(at) if at.dtype == bool else at
        place = check.quantities("coordinates of maps", other)
        if place.shape != points.shape:
            raise ValueError(
                f"coordinates of maps must have the shape of Z, {points.shape}, got {place.shape}; "
                "make them from the same rows"
            )
        _check_map(place[np.isfinite(place).all(axis=1)])
        found.append((check.check_nodes("columns of maps", at, n_columns), place))
    if found:
        every = np.sort(np.concatenate([which for which, _ in found]))
        if not np.array_equal(every, np.arange(n_columns)):
            raise ValueError(
                f"maps must hold out each of the {n_columns} columns once, got {every.size} "
                f"positions of {np.unique(every).size} columns"
            )
    return found


def _held_out(
    which: Integers, other: Floats, points: Floats, table: Table, kernel: StationaryKernel | None
) -> HeldOut:
    """Turn another map onto the points, whose axes it gets, its size its own."""
    rows = np.flatnonzero(np.isfinite(other).all(axis=1))
    other, points = other[rows], points[rows]
    other = other - other.mean(axis=0)
    turn = orthogonal_procrustes(other, points - points.mean(axis=0))[0]
    return HeldOut(which, smoother(other @ turn, kernel), table.of_rows(rows), rows)


def _check_map(points: Floats) -> None:
    """Raise unless there is a map."""
    if len(points) < 4:
        raise ValueError(
            f"Z must have at least 4 rows, got {len(points)}; fewer say nothing of a surface"
        )
    if not np.ptp(points, axis=0).any():
        raise ValueError("Z must hold different points, got one place for all rows; pass a map")
    check.check_magnitude("Z", points)


def _smooth_kernel(kernel: Any) -> StationaryKernel | None:
    """Return a kernel whose samples have a gradient."""
    if kernel is None:
        return None
    if not np.isfinite(kernel.derivative(0.0)):
        raise ValueError(
            f"kernel must be differentiable at distance 0, got {kernel!r}, whose samples have no "
            "gradient; None takes the squared exponential"
        )
    return kernel


def _n_rare(Y: Floats) -> Floats:
    """Count the values of each column that differ from its median, which is its most frequent."""
    return np.asarray((np.median(Y, axis=0) != Y).sum(axis=0), dtype=np.float64)
