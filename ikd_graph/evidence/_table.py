"""What a table says about the Gaussian-process model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _limits
from .._table import dense_rows, stored_values
from ..graph import sure_threshold

Floats = NDArray[np.float64]

ENOUGH_DIMENSIONS = 100
"""Columns from which correlations are trusted where nothing speaks against the model."""

WIDE = 2.0
"""Spread ratio beyond which rows differ in length by more than chance."""

# At two, one or two in a hundred samples of the model were taken for none.
_KURTOSIS_ERRORS = 2.5
# One of 356 samples of the model lay just outside those, and lost .6 of R2 by being taken for none:
# who is in doubt up to four errors is taken for one.
_BENEFIT = 1.6

_ROWS = 512  # that are looked at together

_BY_CHANCE = 0.05  # share of the tables of unrelated rows of which two look related
_TRACY_WIDOM = 0.9793  # what the law of the first order exceeds as often


class Evidence(NamedTuple):
    """What a table says about being samples of a Gaussian process over its rows.

    Under the model (Li & Wu 2024, Eq. 1) the columns are independent Gaussian samples, so that the
    variances of rows scatter like a chi-square of N, and each row has a normal kurtosis.
    """

    n_observed: int  # number N of columns
    spread_ratio: float  # scatter of the row variances over its expectation, sqrt(2 / N)
    kurtosis_gap: float  # mean kurtosis of rows less its expectation, 3 (N - 1) / (N + 1)
    kurtosis_error: float  # 2.5 standard errors of that mean, 0.2 at least
    are_counts: bool = False  # whether all values are whole numbers, none negative, some above 1

    @property
    def is_model(self) -> bool:
        """Whether hardly anything speaks against the model, and there are dimensions enough."""
        close = abs(self.kurtosis_gap) <= _BENEFIT * self.kurtosis_error
        return self.spread_ratio <= WIDE and close and self.n_observed >= ENOUGH_DIMENSIONS

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the model."""
        return self.spread_ratio <= WIDE and abs(self.kurtosis_gap) <= self.kurtosis_error


def examine(X: Any, *, ignore_columns: bool = False) -> Evidence:
    """Compare a table, or a random sample of 2000 rows, with samples of a Gaussian process.

    The statistics do not depend on the order of rows or columns. ``ignore_columns`` takes the mean
    row off first.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import evidence
    >>> evidence.examine(np.random.default_rng(0).normal(size=(50, 200))).holds
    True
    """
    are_counts = not ignore_columns and _are_counts(stored_values(X))
    mean_row = X.mean(axis=0) if ignore_columns else None
    n_observed = X.shape[1]
    centred, squares = _centred(X, mean_row)
    if not squares.size:
        return Evidence(n_observed, 0.0, 0.0, 0.2, are_counts)
    spread = float(squares.std() / squares.mean()) / np.sqrt(2.0 / n_observed)
    kurtosis = n_observed * float(
        np.mean(np.einsum("ij,ij->i", centred**2, centred**2) / squares**2)
    )
    rows = centred / np.sqrt(squares)[:, None]
    small = rows.T @ rows if n_observed < rows.shape[0] else rows @ rows.T
    # Correlated rows repeat one another: so many count as independent.
    independent = rows.shape[0] ** 2 / float(np.einsum("ij,ij->", small, small))
    error = max(0.2, float(_KURTOSIS_ERRORS * np.sqrt(24.0 / (n_observed * independent))))
    expected = 3.0 * (n_observed - 1.0) / (n_observed + 1.0)
    return Evidence(n_observed, spread, kurtosis - expected, error, are_counts)


def _centred(X: Any, origin: Floats | None = None) -> tuple[Floats, Floats]:
    """Rows that vary, of at most 2000 at random, less their means, and their sums of squares.

    They are divided by the largest value, so that no square overflows.
    """
    if X.shape[0] > _limits.EXAMINED:
        X = X[np.random.default_rng(0).choice(X.shape[0], _limits.EXAMINED, replace=False)]
    X = dense_rows(X)
    if origin is not None:
        X = X - origin
    scale = float(np.abs(X).max(initial=0.0)) or 1.0
    centred = X / scale
    centred -= centred.mean(axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", centred, centred)
    varying = squares > 1e-20 * X.shape[1]
    return centred[varying], squares[varying]


def some_are_related(X: Any) -> bool:
    """Whether rows are correlated more than unrelated ones are by chance, two of them or all.

    Two are by the largest correlation of all pairs, all by the largest eigenvalue of their
    correlations, which of unrelated rows follows the law of Tracy and Widom (Johnstone, Annals of
    Statistics 2001). Of samples of a Gaussian process of which neither is, the columns tell no
    distance: there is no latent to be found.

    Parameters
    ----------
    X : (n, p) table of numbers
        Measurements; of more than 2000 rows a random sample is looked at.

    Returns
    -------
    bool
        Whether either is larger than by chance, at a level of 5 % for each.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import evidence
    >>> noise = np.random.default_rng(0).normal(size=(50, 200))
    >>> evidence.some_are_related(noise), evidence.some_are_related(noise.cumsum(axis=0))
    (False, True)
    """
    rows, squares = _centred(X)
    rows = rows / np.sqrt(squares)[:, None]
    n, width = rows.shape
    if n < 2:
        return False
    corr = rows @ rows.T
    np.fill_diagonal(corr, -1.0)
    if corr.max() > sure_threshold(width, _BY_CHANCE / (n * (n - 1) / 2.0)):
        return True
    # Their mean is taken off: one less is free.
    free = width - 1.0
    largest = float(np.linalg.norm(rows, 2)) ** 2 * free
    roots = np.sqrt([n - 0.5, free - 0.5])
    spread = roots.sum() * (1.0 / roots).sum() ** (1.0 / 3.0)
    return bool(largest > roots.sum() ** 2 + _TRACY_WIDOM * spread)


def _are_counts(X: NDArray[np.floating]) -> bool:
    """Whether a table can be one of counts; zeros and ones are their own square roots."""
    if X.min(initial=0.0) < 0.0 or X.max(initial=0.0) <= 1.0:
        return False
    # Most tables of measurements are told by the first row.
    blocks = (X[:1], *(X[start : start + _ROWS] for start in range(0, len(X), _ROWS)))
    return all(bool(np.all(block == np.rint(block))) for block in blocks)
