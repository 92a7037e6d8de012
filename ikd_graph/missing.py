"""Missing values: pairs of rows compared over the columns that both have, or holes filled in.

`Pairwise` leaves unknown what is not known, for tables of which whole blocks were not measured,
such as sessions of a recording with other neurons each. `Impute` fills each hole with the mean of
it in the rows nearest over the known columns, for holes at random.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import KNNImputer

from ._base import limits
from ._base.types import Floats, Reals
from ._base.validation import few, few_rows, one_of, whole
from .covariance import column_moments
from .similarity import Similarity, compare

__all__ = ["Impute", "Pairwise"]


@dataclass(repr=False)
class Pairwise(BaseEstimator):
    """Compare every pair of rows over the columns that both have; fill in nothing.

    Parameters
    ----------
    min_columns : int
        Least number of shared columns. A pair with fewer is unknown: it is no edge, nobody's
        neighbor, and never filled in. Of tables with fewer columns a pair must share half.

    Examples
    --------
    >>> from ikd_graph import IKD, missing
    >>> IKD(missing=missing.Pairwise(min_columns=30)).missing
    Pairwise(min_columns=30)
    """

    min_columns: int = limits.FEWEST_COLUMNS

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        whole(1)("min_columns", self.min_columns)

    def least(self, n_columns: int) -> int:
        """Least number of shared columns of a known pair in a table of so many."""
        return self.min_columns if n_columns >= self.min_columns else max(n_columns // 2, 1)


@dataclass(repr=False)
class Impute(BaseEstimator):
    """Fill in every hole by the mean of it in the rows nearest over the known columns.

    For holes at random: rows that share few columns are made alike by what is filled in.
    """

    def check(self) -> None:
        """There is nothing to check."""


Rule: TypeAlias = Pairwise | Impute

RULES = {"pairwise": Pairwise, "impute": Impute}
"""Class of every rule for missing values, by the name that `IKD` calls it."""


def get(value: Any) -> Rule | None:
    """Rule that a name stands for, the checked rule itself, or None for "error"."""
    if isinstance(value, (Pairwise, Impute)):
        value.check()
        return value
    one_of(("error", *RULES), ", or an object from ikd_graph.missing")("missing", value)
    return None if value == "error" else RULES[value]()


def has_holes(X: Any) -> bool:
    """Whether a table has values that are not known; a sparse one with some was made dense."""
    return isinstance(X, np.ndarray) and bool(np.isnan(X).any())


def check_holes(X: Reals) -> None:
    """Raise if a row or a column has no value at all."""
    for name, axis in (("row", 1), ("column", 0)):
        empty = np.flatnonzero(np.isnan(X).all(axis=axis))
        if empty.size:
            which = few_rows(empty, len(X)) if axis else few(empty)
            raise ValueError(
                f"every {name} of X must hold a value, got {empty.size} empty: {which}; drop them"
            )


def fill(X: Reals, table: Reals, *, alone: bool = False) -> Reals:
    """Rows (b, p) with missing values filled in from the rows (n, p) of a table.

    Rows ``alone`` are filled each by itself: the bits of one do not depend on the others.

    Distances are those over the columns that both rows have, scaled to all columns
    (`sklearn.impute.KNNImputer`; docs/decisions/015-unknown-pairs.md). A row without a value
    stays as it is.
    """
    filled = np.array(X)
    holes = np.isnan(X)
    # Distances are differences of products: in double precision, without a level.
    level = column_moments(table)[0]
    imputer = KNNImputer(weights="distance", keep_empty_features=True).fit(table - level)
    rows = np.flatnonzero(holes.any(axis=1) & ~holes.all(axis=1))
    for batch in rows[:, None] if alone else rows[None][: rows.size]:
        complete = imputer.transform(X[batch] - level) + level
        filled[batch] = np.where(holes[batch], complete, X[batch])
    return filled


def fill_at_random(X: Floats) -> Floats:
    """Return rows with every hole filled in by a random value of its column: it relates no rows."""
    filled, rng = X.copy(), np.random.default_rng(0)
    for column in filled.T:
        empty = np.isnan(column)
        if empty.any() and not empty.all():
            column[empty] = rng.choice(column[~empty], np.count_nonzero(empty))
    return np.nan_to_num(filled, copy=False)


def filled_rows(X: Reals, affinity: str, model_based: bool) -> tuple[Floats, Similarity]:
    """Rows with holes filled in from one another, (n, p), and how they compare."""
    filled = np.asarray(fill(X, X), np.float64)
    return filled, compare(filled, affinity, counts=True, model_based=model_based)
