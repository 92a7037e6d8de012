r"""Which columns change where on a map, in which direction, and how surely.

With the features g and coefficients c of `_posterior` the slopes of a column at a point z of a map
are (∂g/∂z)^T c, and the variance of each is

    v (-2 f'(0) - Σ e_j (∂g_j/∂z)²),    k = f(\|z - z'\|²).

The points of a map have errors δ of their own, of mean covariance Σ. If they are as smooth as
columns are, with the covariance k Σ, the map is turned and stretched by ∂δ, whose variance is
-2 f'(0) Σ. A slope s then errs by ∂δ^T s, which adds -2 f'(0) s^T Σ s to its variance. That a row
is displaced does not count: what is known of it moves with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from scipy.stats import chi2

from .._base import validation as check
from .._base.as_table import row_names, rows_by_name
from .._base.format import count, listed
from .._base.table import evenly_spaced
from .._base.threads import batches, block_rows, single_threaded_blas
from .._base.types import Floats, Integers
from ..kernels import RationalQuadratic, StationaryKernel, differentiable
from ..plotting import charts, plot
from ._posterior import ColumnPosterior
from ._smoother import bayes_factors, half_median, smoother
from .columns import NAMED, WIDTH, OnMap, check_map, place_of, read_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Loadings", "loadings"]

_ROWS = 300  # and 256 columns that a kernel is chosen by


class _Block(NamedTuple):
    rows: Integers  # (k,) points
    columns: Integers  # (b,)
    values: Floats  # (k, b, m) derivatives
    variances: Floats  # (k, b, m) given the map
    bent: Floats  # (k, b, 1) variance for the errors of the map, or one number


@dataclass(frozen=True, repr=False)
class Loadings:
    """Derivatives of columns at points of a map; see `ikd_graph.loadings`.

    Attributes
    ----------
    points : (n, m) ndarray of float64
        Points of the map.
    names : tuple of str
        Names of the p columns.
    sd : (p,) ndarray of float64
        Standard deviations of the columns.
    values : (n, p, m) ndarray of float64
        Derivative of the posterior mean of each column at each point along each axis, in the unit
        of the column per unit of the map. Computed when asked for, as are the next two.
    standard_errors : (n, p, m) ndarray of float64
        Standard errors of the derivatives. They take in the errors of the coordinates where a model
        of samples of a Gaussian process has some (``standard_errors_``), else the map is taken as
        it is.
    fitted : (n, p) ndarray of float64
        Posterior means of the columns at the points.
    """

    points: Floats
    names: tuple[str, ...]
    posteriors: Sequence[ColumnPosterior]
    spread: Floats | None = None  # (m, m) mean error covariance of the points of the fit
    _row_names: Sequence[Any] = ()

    def __len__(self) -> int:
        """Count the columns."""
        return len(self.names)

    def __repr__(self) -> str:
        """Say how many derivatives are sure, and name the columns that change most."""
        m, n_sure = self.points.shape[1], 0
        for _, _, values, variances, _ in self._slopes(np.arange(len(self.points))):
            n_sure += int(np.count_nonzero(charts.beyond_errors(values, np.sqrt(variances))))
        sure, chance = n_sure / (len(self.points) * len(self)), float(chi2.sf(4 * m, m))
        most = ", ".join(self.top(NAMED)["column"]) if sure > 2.0 * chance else "none can be told"
        return (
            f"derivatives of {count(len(self), 'column')} at {count(len(self.points), 'point')}, "
            f"{sure:.0%} beyond two standard errors on this map (by chance {chance:.0%})\n"
            f"change most, in standard deviations: {most}"
        )

    @property
    def values(self) -> Floats:
        """Derivatives, (n, p, m)."""
        return self._arrays[0]

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the derivatives, (n, p, m)."""
        return self._arrays[1]

    @cached_property
    def sd(self) -> Floats:
        """Standard deviations of the columns, (p,)."""
        out = np.full(len(self), np.nan)
        for one in self.posteriors:
            out[one.columns] = one.sd
        return out

    @cached_property
    def fitted(self) -> Floats:
        """Posterior means of the columns, (n, p)."""
        out = np.full((len(self.points), len(self)), np.nan)
        for one in self.posteriors:
            out[:, one.columns] = one.means + one.features.values_at(self.points) @ one.coefficients
        return out

    def top(self, n: int = 10, where: Any = None) -> pd.DataFrame:
        """List the columns that change most, in their standard deviations.

        The size of a change is the root of what its square, the squared length of a gradient, has
        beyond the squares of its standard errors on this map: 0 where it is not longer than these.
        Columns of size 0 are not listed; one whose change is within two standard errors may be
        there by chance.

        Parameters
        ----------
        n : int
            Largest number of columns.
        where : int, (n,) array_like of bool or two points, optional
            Where to look: a point, by its number; a region, as True or False for each point; a path
            between two points, by their numbers or as a (2, m) array of coordinates. By default all
            points.

        Returns
        -------
        pandas.DataFrame
            A row for each column, the largest first, by its position: ``column``, ``size`` in its
            standard deviations (per unit of the map, the mean over the points); of a path
            ``change`` and ``change_se`` from its beginning to its end; else ``ikd0``, ``ikd0_se``,
            ``ikd1`` and so on, the mean derivative and the root mean square of its standard errors,
            which is at least that of the mean.

        Examples
        --------
        >>> import numpy as np
        >>> import ikd_graph
        >>> import pandas as pd
        >>> Z = pd.DataFrame(np.random.default_rng(0).uniform(size=(99, 2)), columns=[*"xy"])
        >>> found = ikd_graph.loadings(Z, Z)
        >>> found.top(where=[[0.1, 0.5], [0.9, 0.5]])["column"].tolist()
        ['x']
        """
        check.whole(1)("n", n)
        ends, rows = place_of(where, self.points)
        shape = (len(self), 1 if ends is not None else self.points.shape[1])
        mean, variance, size = np.zeros(shape), np.zeros(shape), np.zeros(len(self))
        parts = self._slopes(rows) if ends is None else self._changes(ends)
        for _, at, values, variances, bent in parts:
            mean[at] += values.sum(axis=0)
            variance[at] += (variances + bent).sum(axis=0)
            # A map that is bent bends all columns alike.
            beyond = np.sum(values**2 - variances, axis=2)
            size[at] += np.sqrt(np.maximum(beyond, 0.0)).sum(axis=0)
        n_points = 1 if ends is not None else max(rows.size, 1)
        mean, error = mean / n_points, np.sqrt(variance / n_points)
        size = np.divide(size / n_points, self.sd, out=np.zeros_like(size), where=self.sd > 0.0)
        order = np.argsort(-size, kind="stable")[:n]
        order = order[size[order] > 0.0]
        names = np.array(self.names, dtype=object)
        table: dict[str, Any] = {"column": names[order], "size": size[order]}
        for axis in range(shape[1]):
            name = "change" if ends is not None else f"ikd{axis}"
            table |= {name: mean[order, axis], f"{name}_se": error[order, axis]}
        return pd.DataFrame(table, index=order)

    def to_pandas(self) -> pd.DataFrame:
        """Make a table, a row for each point and column.

        Returns
        -------
        pandas.DataFrame
            Columns ``point``, ``column``, ``ikd0``, ``ikd0_se``, ``ikd1`` and so on.
        """
        n, p, m = self.values.shape
        table: dict[str, Any] = {"point": np.repeat(np.arange(n), p), "column": self.names * n}
        for axis in range(m):
            table[f"ikd{axis}"] = self.values[:, :, axis].ravel()
            table[f"ikd{axis}_se"] = self.standard_errors[:, :, axis].ravel()
        return pd.DataFrame(table)

    @plot.labels_are_color
    def plot(self, kind: str = "arrows", *, n: int = 6, color: Any = None, ax: Any = None) -> Axes:
        """Draw which columns change where on the map, at a point of each cell of a grid.

        Parameters
        ----------
        kind : {"arrows", "surfaces"}
            "arrows" draws the map with arrows: the gradient of the column that changes most there,
            in its standard deviations. "surfaces" draws a small map for each of the columns that
            `top` lists: its posterior mean in colors, with its gradient. Only gradients longer than
            two standard errors have arrows. A map of one coordinate has curves in either case: the
            derivatives against it, in bands of two standard errors.
        n : int
            Largest number of columns that have a color and a name, or a map.
        color : (n_points,) array_like, optional
            Classes, numbers or times that color the points of the map with arrows; ``labels=`` is
            another name of it.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            With the map, or the first of the small ones.

        Examples
        --------
        >>> import numpy as np
        >>> import ikd_graph
        >>> from ikd_graph.plotting import plot
        >>> Z = np.random.default_rng(0).uniform(-1.0, 1.0, size=(100, 2))
        >>> found = ikd_graph.loadings(Z, Z, names=["east", "north"], columns=["east"])
        >>> found.plot("surfaces", ax=plot.axes()).get_title(loc="left")
        'east'
        """
        check.one_of(("arrows", "surfaces"))("kind", kind)
        few = replace(self, points=self.points[plot.grid(self.points)[0]], spread=None)
        sd = np.where(self.sd > 0.0, self.sd, np.inf)[:, None]
        slopes, errors = few.values / sd, few.standard_errors / sd
        most = self.top(n).index.tolist() if kind == "surfaces" else []
        if not most or self.points.shape[1] == 1:
            look = {"n": n, "color": color, "ax": ax}
            return plot.gradients(self.points, slopes, errors, self.names, **look)
        beyond = charts.beyond_errors(slopes, errors)[:, most, None]
        fitted, names = self.fitted[:, most], [self.names[k] for k in most]
        slopes = np.where(beyond > 0.0, slopes[:, most], np.nan)
        return plot.surfaces(self.points, None, fitted, names, slopes=slopes, ax=ax)

    @cached_property
    def _arrays(self) -> tuple[Floats, Floats]:
        """Values and standard errors, NaN of a column that no row has."""
        shape = (len(self.points), len(self), self.points.shape[1])
        values, errors = np.full(shape, np.nan), np.full(shape, np.nan)
        for rows, columns, slopes, variances, bent in self._slopes(np.arange(shape[0])):
            at = np.ix_(rows, columns)
            values[at], errors[at] = slopes, np.sqrt(variances + bent)
        return values, errors

    def _slopes(self, rows: Integers) -> Iterator[_Block]:
        """Yield derivatives at some points."""
        for one in self.posteriors:
            steepness = -2.0 * float(one.features.kernel.derivative(0.0))
            for batch in batches(rows.size, block_rows(one.columns.size)):
                at = rows[batch]
                prior = np.full(at.size, steepness)
                parts = [one.of(axis, prior) for axis in one.features.slopes_at(self.points[at])]
                values, variances = (np.stack(part, axis=-1) for part in zip(*parts, strict=True))
                bent: Floats = np.zeros(1)
                if self.spread is not None:
                    along = np.sum(values @ self.spread * values, axis=-1, keepdims=True)
                    bent = steepness * along
                yield _Block(at, one.columns, values, variances, bent)

    def _changes(self, ends: Floats) -> Iterator[_Block]:
        """Yield changes between two points, as slopes at one point of one axis."""
        for one in self.posteriors:
            step = np.diff(one.features.values_at(ends), axis=0)
            alike = one.features.kernel.covariance(pdist(ends, "sqeuclidean"))
            values, variances = one.of(step, 2.0 - 2.0 * alike)
            at = np.zeros(1, np.int64)
            yield _Block(at, one.columns, values[..., None], variances[..., None], np.zeros(1))


@check.validate(
    kernel=check.optional(differentiable),
)
def loadings(
    Z: ArrayLike,
    X: Any,
    *,
    points: ArrayLike | None = None,
    columns: Sequence[str | int] | None = None,
    names: Sequence[str] | None = None,
    kernel: str | StationaryKernel | None = None,
) -> Loadings:
    """Find which columns of a table change where on a map, in which direction, and how surely.

    Every column is a sample of one Gaussian process over the map plus noise of its own, as for
    `columns`: the derivative of its posterior mean is exact, and so is that of the variance
    (Rasmussen and Williams 2006, section 9.4), weighted over noise ratios by their likelihood. The
    map may be of any method, such as UMAP or t-SNE, or coordinates in space; it is taken as it is.
    `IKD.loadings` are those of the fitted model.

    Parameters
    ----------
    Z : (n_samples, n_components) array_like of float64
        Coordinates of the rows, at least ten different ones.
    X : (n_samples, n_features) array_like, data frame or scipy sparse matrix of float64
        The table; its rows go with those of Z by name where both have names.
    points : (n_points, n_components) array_like of float64, optional
        Where to differentiate; by default at the rows.
    columns : sequence of str or int, optional
        Names or positions of the columns, a name as it is or as text; by default all.
    names : sequence of str, optional
        Names of all columns of X; by default those of the data frame, else "x0", "x1", ...
    kernel : str or StationaryKernel, optional
        Kernel of the process, differentiable at 0; by default the rational quadratic with a
        length-scale of a quarter, a half or all of the median distance, under which the columns are
        most likely.

    Returns
    -------
    Loadings
        Derivatives and standard errors.

    Raises
    ------
    ValueError
        If rows, points, names or columns do not fit, or X holds NaN.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import ikd_graph
    >>> Z = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, 2))
    >>> X = pd.DataFrame({"rises east": Z[:, 0], "hill": -Z[:, 0] ** 2 - Z[:, 1] ** 2})
    >>> found = ikd_graph.loadings(Z, X, points=[[0.5, 0.0], [0.0, 0.0]])
    >>> abs(found.values[:, 1, 0]).round(1)
    array([1., 0.])
    >>> found.top(where=1)["column"].tolist()
    ['rises east']
    """
    known: Any = np.asarray(check.table("Z", Z), dtype=np.float64)
    X = rows_by_name("X", X, row_names(Z), "Z")
    values, _, labels = read_columns(X, len(known), names)
    check_map(known)
    where: Any = known if points is None else np.asarray(check.table("points", points), float)
    if where.shape[1] != known.shape[1]:
        raise ValueError(
            f"points must have the {known.shape[1]} coordinates of Z, got {where.shape[1]}; pass "
            "points of the same map"
        )
    chosen, every = chosen_columns(columns, labels), np.arange(len(known))
    with single_threaded_blas():
        if kernel is None:
            few = evenly_spaced(len(known), _ROWS)
            some = OnMap(values, None, chosen, few, smoother(known[few]))
            kernel = _likely_kernel(
                known[few], some.take(chosen[evenly_spaced(chosen.size, WIDTH)])
            )
        smooth = smoother(known, cast("StationaryKernel", kernel))
        table = OnMap(values, None, chosen, every, smooth)
        parts = [smooth.posterior(table.take(chosen[at])) for at in batches(chosen.size, WIDTH)]
    posteriors, rows = [ColumnPosterior.joined(parts)], row_names(Z if points is None else points)
    return Loadings(where, tuple(labels[chosen]), posteriors, _row_names=rows)


def _likely_kernel(points: Floats, columns: Floats) -> StationaryKernel:
    """Rational quadratic of a quarter, half or all of the median distance that columns prefer."""
    Y, scales = columns - columns.mean(axis=0), half_median(points) * np.array([0.5, 1.0, 2.0])
    # Of many scales at once: clusters are small next to the map.
    tried = [smoother(points, RationalQuadratic(length_scale=float(scale))) for scale in scales]
    rng = np.random.default_rng(0)
    return max(tried, key=lambda one: bayes_factors(Y, one, 0, "shift", rng).sum()).kernel


def chosen_columns(columns: Any, names: Any) -> Integers:
    """Positions of columns that are given by names or positions; all without any."""
    if columns is None:
        return np.arange(len(names))
    where = pd.Series(range(len(names))).groupby([*map(str, names)]).indices
    given, positions = [*np.atleast_1d(np.asarray(columns, dtype=object))], range(len(names))
    at = [{each} if check.is_whole(each) and each in positions else set() for each in given]
    fits = [fit.union(where.get(str(each), ())) for each, fit in zip(given, at, strict=True)]
    got = [(repr(each), len(fit)) for each, fit in zip(given, fits, strict=True) if len(fit) != 1]
    if got or not fits:
        each, fitting = got[0] if got else ("none", 0)
        raise ValueError(
            f"columns must be names of columns of X or positions from 0 to {len(names) - 1}, got "
            f"{each}{f', which fits {fitting} columns' if fitting else ''}; the names are "
            f"{listed(names, NAMED)}"
        )
    return np.array([*map(min, fits)], dtype=np.int64)
