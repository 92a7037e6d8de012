"""Does a table look like samples of the model, and are its rows correlated at all."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _limits, covariance
from .._table import dense_rows, stored_values
from ..graph import sure_threshold

Floats = NDArray[np.float64]

ENOUGH_COLUMNS = 100
"""Columns from which correlations are trusted where nothing speaks against the model."""

_WIDE = 2.0  # spread of the row variances beyond which rows differ in length by more than chance
_KURTOSIS_ERRORS = 4.0
_BY_CHANCE = 0.05  # share of tables of unrelated rows in which two seem related
_TRACY_WIDOM = 0.9793  # what the law of the first order exceeds as often


class Moments(NamedTuple):
    """What a table says about being samples of a Gaussian process over its rows.

    Under the model (Li & Wu 2024, Eq. 1) the columns are independent Gaussian samples, so that the
    variances of rows scatter like a chi-square of N, and each row has a normal kurtosis.
    """

    n_observed: int  # number N of columns
    spread_ratio: float  # scatter of the row variances over its expectation, sqrt(2 / N)
    kurtosis_gap: float  # mean kurtosis of rows less its expectation, 3 (N - 1) / (N + 1)
    n_effective: float  # independent columns, see `covariance.effective_columns`
    kurtosis_error: float  # standard error of that mean, at least .08
    are_counts: bool  # whether all values are whole numbers, none negative, some above 1

    @property
    def fit_the_model(self) -> bool:
        """Whether the table looks like samples of the model, with columns enough."""
        normal = abs(self.kurtosis_gap) <= _KURTOSIS_ERRORS * self.kurtosis_error
        return self.spread_ratio <= _WIDE and normal and self.n_effective >= ENOUGH_COLUMNS


def moments(X: Any) -> Moments:
    """Compare a table, or a random sample of 2000 rows, with samples of a Gaussian process.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import model_selection
    >>> model_selection.moments(np.random.default_rng(0).normal(size=(50, 200))).fit_the_model
    True
    """
    n_observed, values = X.shape[1], stored_values(X)
    # Zeros and ones are their own square roots.
    whole = values.min(initial=0.0) >= 0.0 and values.max(initial=0.0) > 1.0
    are_counts = bool(whole and np.all(values == np.rint(values)))
    centred, squares = _centred(X)
    if not squares.size:
        return Moments(n_observed, 0.0, 0.0, n_observed, 0.08, are_counts)
    effective = covariance.effective_columns.unchecked(centred)
    spread = float(squares.std() / squares.mean()) / np.sqrt(2.0 / effective)
    fourth = np.einsum("ij,ij->i", centred**2, centred**2)
    kurtosis = n_observed * float(np.mean(fourth / squares**2))
    rows = centred / np.sqrt(squares)[:, None]
    small = rows.T @ rows if n_observed < len(rows) else rows @ rows.T
    # Correlated rows repeat one another: so many count as independent.
    independent = len(rows) ** 2 / float(np.einsum("ij,ij->", small, small))
    error = max(0.08, float(np.sqrt(24.0 / (effective * independent))))
    expected = 3.0 * (effective - 1.0) / (effective + 1.0)
    return Moments(n_observed, spread, kurtosis - expected, effective, error, are_counts)


def has_significant_correlation(X: Any) -> bool:
    """Whether rows are correlated more than unrelated ones are by chance, two of them or all.

    Two by the largest correlation of all pairs, all by the largest eigenvalue of their
    correlations, which of unrelated rows follows the law of Tracy and Widom (Johnstone, Annals of
    Statistics 2001), at a level of 5 % for each.

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
    rows, squares = _centred(X)
    rows = rows / np.sqrt(squares)[:, None]
    n = len(rows)
    if n < 2:
        return False
    width = covariance.effective_columns.unchecked(rows)
    corr = rows @ rows.T
    np.fill_diagonal(corr, -1.0)
    if corr.max() > sure_threshold.unchecked(width, _BY_CHANCE / (n * (n - 1) / 2.0)):
        return True
    if width < rows.shape[1]:
        # The law is that of independent columns.
        return False
    # Their mean is taken off: one degree of freedom less.
    free = width - 1.0
    largest = float(np.linalg.norm(rows, 2)) ** 2 * free
    roots = np.sqrt([n - 0.5, free - 0.5])
    spread = roots.sum() * (1.0 / roots).sum() ** (1.0 / 3.0)
    return bool(largest > roots.sum() ** 2 + _TRACY_WIDOM * spread)


def _centred(X: Any) -> tuple[Floats, Floats]:
    """Rows that vary, of at most 2000 at random, less their means, and their sums of squares.

    They are divided by the largest value, so that no square overflows.
    """
    if X.shape[0] > _limits.SAMPLED:
        X = X[np.random.default_rng(0).choice(X.shape[0], _limits.SAMPLED, replace=False)]
    X = dense_rows(X)
    scale = float(np.abs(X).max(initial=0.0)) or 1.0
    centred = X / scale
    centred -= centred.mean(axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", centred, centred)
    varying = squares > 1e-20 * X.shape[1]
    return centred[varying], squares[varying]
