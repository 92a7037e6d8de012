"""Which rows of a map are contradicted by columns that did not choose their neighbors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.spatial import procrustes
from scipy.stats import false_discovery_control, norm

from .._base import limits
from .._base import validation as check
from .._base.as_table import Table, as_table, row_names, rows_by_name
from .._base.format import count, listed
from .._base.table import evenly_spaced, rows_of, some_rows
from .._base.threads import single_threaded_blas
from .._base.types import Booleans, Floats, Integers
from ..chance import LEVEL, NULLS, ChanceTest
from ..plotting import plot
from ..similarity import AFFINITIES
from ..trust import Trust, chance_of
from ._held_out import FEWEST_COLUMNS, comparable, halves_of, judged

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DubiousRows", "dubious"]

_FEWEST_ROWS = 20
"""Five neighbors are a quarter of them."""


@dataclass(frozen=True, repr=False, eq=False)
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
            names = listed(self.to_pandas().index[self.mask])
            told = (
                f"{self.n_dubious} of {rows} {'is' if self.n_dubious == 1 else 'are'} dubious "
                f"({names}): of held-out columns, neighbors on the map leave "
                f"{self.excess[self.mask].mean():.0%} of the variance more than those in the data"
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
            The first ten rows are named.
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


NEW_ROWS = check.optional(
    check.rule("be a pair (Z_new, X_new)", lambda v: type(v) is tuple and len(v) == 2)
)


@check.validate(
    affinity=check.one_of(("auto", *AFFINITIES)),
    new=NEW_ROWS,
    null=check.one_of(NULLS),
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
    nor factors that the map lacks for all rows make rows dubious. A row must be dubious among all
    rows, and among those that are not. Scores are those beyond the
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
    null : {"shift", "permute", "permute_all"}
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
    check.enough(_FEWEST_ROWS, FEWEST_COLUMNS)("X", given.values)
    made = rows_by_name("Z", Z(X), row_names(X)) if callable(Z) else Z
    points, table = _points("Z", made, given.values), given
    n, names = len(points), given.row_names if len(given.row_names) else row_names(Z)
    if new is not None:
        points, table, names = _with_new(points, given, *new)
    with single_threaded_blas(), check.naming_rows(table.row_names):
        rows, varying = comparable(table.values, n, affinity)
        halves = halves_of(rows)
        score, excess, r2 = judged(points, rows, halves)
    which = slice(0 if new is None else n, None)
    maps = [(varying[half], varying[~half]) for half in halves if callable(Z)]
    return DubiousRows(
        norm.sf(score[which]),
        excess[which],
        points[which],
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
    check.magnitude()(name, points)
    if len(points) != table.shape[0]:
        raise ValueError(
            f"{name} must have a row for each of the {table.shape[0]} rows of the table, got "
            f"{len(points)}; pass the table that the map was made from"
        )
    return points


def _with_new(points: Floats, given: Table, Z: Any, X: Any) -> tuple[Floats, Table, Sequence[Any]]:
    """Return coordinates and rows with new ones behind them, and the names of these."""
    X = rows_by_name("X_new", X, row_names(Z), "Z_new")
    if sp.issparse(X) and not sp.issparse(given.values):
        X = X.toarray()
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
    names = row_names(X)
    maps = [_points("Z", rows_by_name("Z", make(table), names), values) for table in tables]
    return float(1.0 - procrustes(*maps)[2]) if all(np.ptp(each) for each in maps) else 0.0
