"""What a fit knows of its table before anything is chosen.

Does it look like samples of the model, and are its rows correlated at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from .. import covariance, missing
from .._base import limits
from .._base.rounding import COMPUTED
from .._base.table import are_counts, dense_rows, random_rows, some_columns, some_rows
from .._base.types import Booleans, Floats, Integers, Reals
from ..chance import LEVEL
from ..covariance import doubly_centered_rows
from ..gplvm import likelihood_of_entries
from ..graph import sure_threshold
from ..similarity import AFFINITIES, folds

ENOUGH_COLUMNS = 100
"""Columns from which correlations are trusted where nothing speaks against the model."""

_WIDE = 2.0  # spread of the row variances beyond which rows differ in length by more than chance
_BY_RARE_CHANCE = 0.001  # samples of the model whose row variances scatter more than that
_KURTOSIS_ERRORS, _LEAST_ERROR = 4.0, 0.08
_NEAR = 0.9  # of a limit: what a table that hardly differs may have on its other side


@dataclass(frozen=True)
class Facts:
    """A table, or values between points, and what it says about itself."""

    rows: Any  # (n, p) table, NaN where a value stays unknown, or (n, n) values between points
    has_rows: bool = True
    least: int | None = None  # columns that a known pair of rows shares, where there are holes

    @property
    def has_holes(self) -> bool:
        """Whether rows are compared over the columns that they share."""
        return self.least is not None

    @cached_property
    def knows_all_pairs(self) -> bool:
        """Whether every two rows share columns enough to be compared."""
        if self.least is None:
            return True
        known = np.isfinite(self.rows).astype(np.float32)
        return bool((known @ known.T).min() >= self.least)

    @property
    def is_mostly_known(self) -> bool:
        """Whether holes are fewer than values."""
        return not self.has_holes or 2 * np.count_nonzero(np.isfinite(self.rows)) > self.rows.size

    @property
    def whole(self) -> Any:
        """The table; of one with holes its sample, filled in."""
        return self.sample if self.has_holes else self.rows

    @cached_property
    def moments(self) -> Moments:
        """How well the columns fit the model."""
        return moments(self.rows)

    def fit_the_model(self, fewest: int = ENOUGH_COLUMNS) -> bool:
        """Whether so many columns are independent, and look like samples of the model."""
        # No more are independent than there are.
        enough = self.rows.shape[1] >= fewest and not self.are_counts
        return enough and self.moments.is_plausible and self.moments.n_effective >= fewest

    def is_near_the_model(self) -> bool:
        """Whether a tenth of what decides about it, more or less, would decide otherwise."""
        if self.are_counts or self.rows.shape[1] < _NEAR * ENOUGH_COLUMNS:
            return False
        n_columns = min(self.rows.shape[1], self.moments.n_effective)
        most = max(ENOUGH_COLUMNS / n_columns, self.moments.strain)
        return _NEAR < most < 1.0 / _NEAR

    def has_a_block_of_the_model(self) -> bool:
        """Whether the largest part without holes looks like samples of the model."""
        return moments(self.rows[np.ix_(*complete_block(self.rows))]).fit_the_model

    def have_a_likelihood_of_entries(self, affinity: str) -> bool:
        """Whether that of the known entries can be maximized in seconds; distances have none."""
        return not AFFINITIES[affinity].euclidean and likelihood_of_entries(self.rows)

    @cached_property
    def are_counts(self) -> bool:
        """Whether the table holds small counts."""
        return are_counts(self.rows)

    @cached_property
    def sample(self) -> Floats:
        """Rows and columns that candidates are compared on, dense and without holes."""
        rows = some_columns(self.rows)
        chosen = dense_rows(some_rows(rows, sampled(rows.shape[0])))
        return np.asarray(missing.fill(chosen, rows), np.float64) if self.has_holes else chosen

    @cached_property
    def folds(self) -> list[Booleans]:
        """Which columns of the sample each fold holds out."""
        return folds(self.sample)

    @property
    def predicted(self) -> Floats:
        """The same as it is predicted where it was held out: roots of counts."""
        return np.sqrt(self.sample) if self.are_counts else self.sample


class Moments(NamedTuple):
    """What a table says about being samples of a Gaussian process over its rows.

    Under the model (Li & Wu 2024, Eq. 1) the columns are independent Gaussian samples, so that the
    variances of rows scatter like a chi-square of N, less as the rows are correlated, and each row
    has a normal kurtosis, as it is and about the mean of all rows.
    """

    n_observed: int  # number N of columns
    spread_ratio: float  # scatter of the row variances over its expectation
    kurtosis_gap: float  # mean kurtosis of rows less its expectation, the more unlikely of the two
    n_effective: float  # independent columns, see `covariance.effective_columns`
    kurtosis_error: float  # standard error of that mean, at least .08
    are_counts: bool  # whether the table holds small counts
    spread_limit: float = _WIDE  # what chance leaves of the first, more where few rows differ

    @property
    def fit_the_model(self) -> bool:
        """Whether the table looks like samples of the model, with columns enough."""
        return self.is_plausible and self.n_effective >= ENOUGH_COLUMNS

    @property
    def strain(self) -> float:
        """Largest of what speaks against the model, over what chance leaves of it."""
        kurtosis = abs(self.kurtosis_gap) / (_KURTOSIS_ERRORS * self.kurtosis_error)
        return max(self.spread_ratio / self.spread_limit, kurtosis)

    @property
    def is_plausible(self) -> bool:
        """Whether nothing speaks against samples of the model, in however few columns."""
        enough = self.n_effective >= limits.FEWEST_COLUMNS
        return enough and self.strain <= 1.0 and not self.are_counts


def moments(X: Any) -> Moments:
    """Compare a table, or a random sample of 2000 rows, with samples of a Gaussian process.

    Missing values, NaN, count for nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import model_selection
    >>> model_selection.moments(np.random.default_rng(0).normal(size=(50, 200))).fit_the_model
    True
    """
    n_observed, counts = X.shape[1], are_counts(X)
    centered, holes = _centered(X)
    if not len(centered):
        return Moments(n_observed, 0.0, 0.0, n_observed, _LEAST_ERROR, counts)
    effective = covariance.effective_columns(centered)
    # Of the columns each row has its own.
    own, known = effective * (1.0 - float(holes.mean())), np.count_nonzero(~holes, axis=1)
    squares = np.einsum("ij,ij->i", centered, centered)
    rows = centered / np.sqrt(squares)[:, None]
    squares /= known
    # Variances of two rows have the squared correlation of the rows.
    related = (rows @ rows.T) ** 2
    related -= related.mean(axis=0)
    related -= related.mean(axis=1, keepdims=True)
    scatter = max(float(np.trace(related)), COMPUTED * len(rows))
    expected = float(np.sqrt(2.0 / own * scatter / len(rows)))
    spread = float(squares.std() / squares.mean()) / expected
    # Satterthwaite: the square of that is about a chi-square of so many degrees of freedom.
    free = scatter**2 / max(float(np.einsum("ij,ij->", related, related)), COMPUTED)
    limit = max(_WIDE, float(np.sqrt(special.chdtri(free, _BY_RARE_CHANCE) / free)))
    # Levels of columns have a kurtosis of their own, and hide that of the rows.
    about_mean = doubly_centered_rows(_with_levels(centered, holes))
    gaps = [_kurtosis(each, known, own) for each in (rows, about_mean) if each.any()]
    gap, error = max(gaps, key=lambda each: abs(each[0]) / each[1])
    return Moments(n_observed, spread, gap, effective, error, counts, limit)


def _kurtosis(rows: Floats, known: Integers, effective: float) -> tuple[float, float]:
    """Mean kurtosis of unit rows less that of normal ones, and its standard error.

    ``known`` (n,) are the values of each row, ``effective`` how many of them are independent.
    """
    varying = rows.any(axis=1)
    rows, known = rows[varying], known[varying]
    n, width = rows.shape
    small = rows.T @ rows if width < n else rows @ rows.T
    # Correlated rows repeat one another: 1 / shared of them count as independent.
    shared = float(np.einsum("ij,ij->", small, small)) / n**2
    kurtosis = float(np.einsum("i,ij,ij->", known, rows**2, rows**2)) / n
    error = max(_LEAST_ERROR, float(np.sqrt(24.0 * shared / effective)))
    return kurtosis - 3.0 * (effective - 1.0) / (effective + 1.0), error


def has_significant_correlation(X: Any) -> bool:
    """Whether rows are correlated more than unrelated ones are by chance, two of them or all.

    Columns are standardized before: their levels make all rows correlate, and are no structure.
    Two by the largest correlation of all pairs, all by the largest eigenvalue of their
    correlations, which of unrelated rows follows the law of Tracy and Widom (Johnstone, Annals of
    Statistics 2001), at a level of 5 % for each. Missing values, NaN, count for nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import model_selection
    >>> noise = np.random.default_rng(0).normal(size=(50, 200))
    >>> model_selection.has_significant_correlation(noise)
    False
    >>> model_selection.has_significant_correlation(noise.cumsum(axis=0))
    True
    """
    centered, holes = _centered(X)
    rows = doubly_centered_rows(_with_levels(centered, holes), scaled=True)
    rows = rows[rows.any(axis=1)]
    n = len(rows)
    # Two rows are each other's opposite about their mean.
    if n < 3:
        return False
    effective, known = covariance.effective_columns(rows), 1.0 - float(holes.mean())
    width = known * effective
    corr = rows @ rows.T
    np.fill_diagonal(corr, -1.0)
    # Unrelated rows correlate by -1 / (n - 1) about their mean: as differences of Fisher's z.
    largest = float(corr.max())
    largest = (largest + 1.0 / (n - 1)) / (1.0 + largest / (n - 1))
    if largest > sure_threshold(width, LEVEL / (n * (n - 1) / 2.0)):
        return True
    if effective < rows.shape[1]:
        # The law is that of independent columns.
        return False
    # The mean of each row and that of all rows are taken off: a degree of freedom less, either way.
    free, others = width - 1.0, n - 1.0
    value = float(np.linalg.norm(rows, 2)) ** 2 * free * others / n
    return value > covariance.largest_eigenvalue_of_noise(others, free, covariance.ONE_IN_TWENTY)


def _centered(X: Any) -> tuple[Floats, Booleans]:
    """Rows that vary, of at most 2000 at random, less their means, and what of them is missing.

    They are divided by the largest value, so that no square overflows; what is missing is zero.
    """
    if X.shape[0] > limits.SAMPLED:
        X = X[np.random.default_rng(0).choice(X.shape[0], limits.SAMPLED, replace=False)]
    X = dense_rows(some_columns(X))
    holes = np.isnan(X)
    centered = np.where(holes, 0.0, X)
    centered /= float(np.abs(centered).max(initial=0.0)) or 1.0
    n_known = X.shape[1] - np.count_nonzero(holes, axis=1)
    centered -= (centered.sum(axis=1) / np.maximum(n_known, 1))[:, None]
    centered[holes] = 0.0
    varying = np.einsum("ij,ij->i", centered, centered) > 1e-20 * X.shape[1]
    return centered[varying], holes[varying]


def _with_levels(centered: Floats, holes: Booleans) -> Floats:
    """Centered rows with the mean of its column where a value is missing: none about the mean."""
    n_known = len(centered) - np.count_nonzero(holes, axis=0)
    return np.where(holes, centered.sum(axis=0) / np.maximum(n_known, 1), centered)


def complete_block(rows: Reals) -> tuple[Integers, Integers]:
    """Rows and columns of a large block without holes.

    What has the largest fraction of holes, a row or a column, is left out until there are none.
    """
    known = np.isfinite(rows)
    n = len(known)
    left = np.ones(sum(known.shape), dtype=np.bool_)
    holes = np.concatenate([(~known).sum(axis=1), (~known).sum(axis=0)])
    while holes[left].any():
        n_rows, n_columns = left[:n].sum(), left[n:].sum()
        sizes = np.repeat([n_columns, n_rows], known.shape)
        worst = np.argmax(np.where(left, holes / sizes, -1.0))
        left[worst] = False
        if worst < n:
            holes[n:] -= ~known[worst]
        else:
            holes[:n] -= ~known[:, worst - n]
    return np.flatnonzero(left[:n]), np.flatnonzero(left[n:])


def sampled(n: int) -> Integers:
    """Numbers of the rows that are compared: all of them, or 400 at random."""
    return random_rows(n, limits.COMPARED)
