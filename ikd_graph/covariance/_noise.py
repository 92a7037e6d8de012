"""How many independent columns a table is worth, its mean row taken off, and its noise."""

import numpy as np
from numpy.typing import ArrayLike

from .._base import validation as check
from .._base.rounding import rounding
from .._base.table import evenly_spaced
from .._base.types import Floats
from ._scaled import centered_rows

_MOST_ROWS = 1000
_ERRORS = 4.0  # standard errors by which columns must follow one another to count as fewer
ONE_IN_TWENTY, ONE_IN_A_THOUSAND = 0.9793, 3.27
"""What the law of Tracy and Widom of the first order exceeds in so many tables."""

_GRID = 2000  # points of the density of Marchenko and Pastur
_PASSES = 2  # after which units of columns that differ by a hundred make no rows correlate


@check.validate(X=check.table)
def effective_columns(X: ArrayLike, *, n_removed: int = 0) -> float:
    r"""Estimate how many independent columns have correlations that scatter as those of X do.

    The correlation of two unrelated rows of N columns with autocorrelations ρ and ρ' has the
    variance (1 + 2 Σ_k (1 - k/N) ρ_k ρ'_k) / N (Bartlett, Journal of the Royal Statistical Society
    98, 1935), and that of columns with scales s the variance Σ s⁴ / (Σ s²)². The sum over lags is
    the sum over frequencies of the product of two periodograms, the sum over columns that of the
    product of two squared rows, here in the mean over all pairs of rows. Those of related rows are
    related by their squared correlation, which is divided out.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows; columns in order, where they follow in time or along a line.
    n_removed : int
        Rows that were regressed out of X (`regress_out`), each a degree of freedom less.

    Returns
    -------
    float
        N less ``n_removed``, and fewer where columns follow one another or differ in scale, each by
        more than four standard errors; at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> noise = np.random.default_rng(0).normal(size=(50, 1000))
    >>> covariance.effective_columns(noise)
    1000.0
    >>> smooth = noise[:, 1:] + noise[:, :-1]  # autocorrelation 1/2 at lag 1: N / (1 + 2/4)
    >>> int(round(covariance.effective_columns(smooth), -1))
    670
    """
    by_order, by_scale = _inflations(X)
    return max(max(float(np.shape(X)[1] - n_removed), 1.0) / (by_order * by_scale), 1.0)


def are_ordered(X: ArrayLike) -> bool:
    """Whether columns follow one another in time or along a line, see `effective_columns`."""
    return _inflations(X)[0] > 1.0


def _inflations(X: ArrayLike) -> tuple[float, float]:
    """How far order and scales of columns raise the variance of correlations; 1 within chance."""
    table = np.asarray(X)
    rows = doubly_centered_rows(table[evenly_spaced(len(table), _MOST_ROWS)])
    rows = rows[rows.any(axis=1)]
    n, width = rows.shape
    if n < 2 or width < 4:
        return 1.0, 1.0
    power = np.abs(np.fft.fft(rows, axis=1)[:, 1:]) ** 2 / width
    corr = rows @ rows.T
    squared = float((corr**2).sum() - n) / (n * (n - 1))
    independent = n / (1.0 + (n - 1) * squared)
    by_chance = 1.0 + _ERRORS * np.sqrt(8.0 / (independent * width))
    by_order = (width - 1) * _mean_product(power) / (1.0 + squared)
    unrelated = _mean_product(rows**2)
    by_scale = width * unrelated / (1.0 + 2.0 * max(squared - unrelated, 0.0))
    return (
        by_order if by_order >= by_chance else 1.0,
        by_scale if by_scale >= by_chance else 1.0,
    )


def _mean_product(rows: Floats) -> float:
    """Mean inner product of two different rows."""
    n = len(rows)
    return float((rows.sum(axis=0) ** 2 - (rows**2).sum(axis=0)).sum()) / (n * (n - 1))


@check.validate(X=check.table, nuisance=check.table)
def regress_out(X: ArrayLike, nuisance: ArrayLike) -> Floats:
    """Rows less what other rows explain of them, by least squares with an intercept.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.
    nuisance : (k, n_features) array_like of float64
        Rows to take off, such as a market, a season or the motion of a head.

    Returns
    -------
    (n_samples, n_features) ndarray of float64
        What is left, each row with mean 0. It has k degrees of freedom less:
        ``effective_columns(left, n_removed=k)``.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> season = np.sin(np.arange(8.0))
    >>> covariance.regress_out([3.0 * season + 1.0], [season]).round(12).any()
    np.False_
    """
    rows, basis = np.asarray(X, dtype=np.float64), np.asarray(nuisance, dtype=np.float64)
    if basis.shape[1] != rows.shape[1]:
        raise ValueError(
            f"nuisance must have the {rows.shape[1]} columns of X, got {basis.shape[1]}; one value "
            "for each column"
        )
    rows = rows - rows.mean(axis=1, keepdims=True)
    _, sizes, basis = np.linalg.svd(basis - basis.mean(axis=1, keepdims=True), full_matrices=False)
    basis = basis[sizes > rounding(sizes.max(initial=0.0), basis.size)]
    return rows - (rows @ basis.T) @ basis


@check.validate(X=check.table)
def remove_mean_row(X: ArrayLike) -> Floats:
    """Rows less what their mean explains of them: a market, a season, a global signal.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows. The mean is that of rows of one length, so that none counts more.

    Returns
    -------
    (n_samples, n_features) ndarray of float64
        What is left, see `regress_out`.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> rng = np.random.default_rng(0)
    >>> market = rng.normal(size=500)
    >>> X = market + rng.normal(size=(20, 500))
    >>> left = covariance.remove_mean_row(X)
    >>> [round(float(np.corrcoef(rows)[0, 1]), 1) for rows in (X, left)]
    [0.5, -0.1]
    """
    rows, lengths = centered_rows(X, "correlation")
    varying = lengths > 0.0
    unit = rows[varying] / lengths[varying, None]
    return regress_out(X, unit.sum(axis=0, keepdims=True))


def doubly_centered_rows(X: ArrayLike, *, scaled: bool = False) -> Floats:
    """Return unit rows less their mean row, of unit length again, (n, p).

    What all rows share, such as levels of columns, makes all of them correlate, and is no structure
    among them. Neither are units of columns: ``scaled`` ones have one variance, as the rows have
    (Olshen and Rajaratnam, Annals of Statistics 38, 2010). Rows without spread, or without any
    left, are rows of zeros and count for nothing.
    """
    rows, lengths = centered_rows(X, "correlation")
    varying = lengths > 0.0
    for _ in range(_PASSES if scaled else 1):
        rows /= np.where(varying, lengths, np.inf)[:, None]
        rows[varying] -= rows.sum(axis=0) / max(np.count_nonzero(varying), 1)
        if scaled:
            spread = np.sqrt(np.einsum("ij,ij->j", rows, rows))
            units = 1.0 / np.where(spread > rounding(n=len(rows)), spread, np.inf)
            rows *= units
            # A level that was taken off a row has the units of the columns now.
            rows -= np.outer(rows @ units, units / (float(units @ units) or 1.0))
            # Columns keep their means of zero, since those of the rows add up to zero.
            rows[varying] -= rows[varying].mean(axis=1, keepdims=True)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        # What is left of equal rows is rounding, not spread.
        varying = lengths > rounding(n=rows.shape[1])
    rows /= np.where(varying, lengths, np.inf)[:, None]
    return rows


def spectral_noise(eigenvalues: Floats, n_observed: float) -> float:
    """Estimate the variance of independent noise from the eigenvalues of a sample covariance.

    Parameters
    ----------
    eigenvalues : (n,) ndarray of float64
        Of S = X X^T / N, in any order. Those that are 0 to working precision are left out: they
        belong to means that were removed, or to more points than columns.
    n_observed : float
        Number N of independent columns.

    Returns
    -------
    float
        In the units of S; 0 where every eigenvalue is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> rows = 0.5 * np.random.default_rng(0).standard_normal((50, 400))
    >>> eigenvalues = np.linalg.eigvalsh(rows @ rows.T / 400)
    >>> round(covariance.spectral_noise(eigenvalues, 400), 2)
    0.25
    """
    values = n_observed * np.sort(eigenvalues)[::-1]
    n = len(values)
    rank = int(np.count_nonzero(values > n * np.finfo(np.float64).eps * max(values[0], 0.0)))
    size = min(rank, max(int(n_observed), 1))
    return _bulk_variance(values[:size], max(n, n_observed))[0] if size else 0.0


def noise_variance(table: Floats, effective: float) -> float:
    """Variance of the independent noise of each value.

    The means of rows and of columns are taken off. Of noise alone the largest eigenvalue follows
    the law of Tracy and Widom (Johnstone, Annals of Statistics 2001): where it does, all is noise.
    Else a signal has the few that stand out, and the noise is the variance with which the law of
    Marchenko and Pastur (1967) has the lower half of the others.

    Parameters
    ----------
    table : (n, p) ndarray of float64
        Rows.
    effective : float
        Number of independent columns.

    Returns
    -------
    float
        In the units of the table, squared.
    """
    return _noise_of_table(table, effective)[0]


def noise_fraction(table: Floats, effective: float) -> float:
    """Fraction of the variance that is independent noise, see `noise_variance`.

    The variance is that about the means of the rows. It is that about the means of the columns as
    well where these are levels: where they differ by more than the rows do, or where nothing else
    stands out of the noise.

    Parameters
    ----------
    table : (n, p) ndarray of float64
        Rows.
    effective : float
        Number of independent columns.

    Returns
    -------
    float
        From 0 to 1.
    """
    noise, n_outside = _noise_of_table(table, effective)
    centered = table - table.mean(axis=1, keepdims=True)
    levels = centered.mean(axis=0)
    if not n_outside or levels.var() > centered.var(axis=0).mean():
        centered = centered - levels
        noise *= (len(table) - 1.0) / len(table)
    total = float((centered**2).mean())
    # Row means hold one of so many independent columns.
    noise *= (effective - 1.0) / effective if effective > 1.0 else 0.0
    return min(noise / total, 1.0) if total > 0.0 else 0.0


def _noise_of_table(table: Floats, effective: float) -> tuple[float, int]:
    """Variance of the noise, and how many eigenvalues stand out of it."""
    n, width = table.shape
    centered = table - table.mean(axis=1, keepdims=True)
    centered -= centered.mean(axis=0)
    rows, columns = n - 1, max(effective - 1.0, 1.0)
    size, longer = min(rows, int(columns)), max(rows, columns)
    if size < 1:
        return 0.0, 0
    # So many independent columns of the same variance have the same products of rows.
    values = np.linalg.svd(centered, compute_uv=False)[:size] ** 2 * (effective / width)
    # Of noise that differs between rows, or between columns, too.
    alike = np.linalg.norm(doubly_centered_rows(table, scaled=True), 2) ** 2 / n
    if alike * size * longer <= largest_eigenvalue_of_noise(size, longer, ONE_IN_A_THOUSAND):
        return float(values.sum()) / (size * longer), 0
    noise, outside = _bulk_variance(values, longer)
    return noise, max(outside, 1)


def largest_eigenvalue_of_noise(rows: float, columns: float, exceeded: float) -> float:
    """Largest eigenvalue of products of rows of unit noise that is exceeded by chance.

    By the law of Tracy and Widom (Johnstone, Annals of Statistics 2001) for so many independent
    rows and columns; ``exceeded`` is what the law itself exceeds as often.
    """
    roots = np.sqrt([rows - 0.5, columns - 0.5])
    spread = roots.sum() * (1.0 / roots).sum() ** (1.0 / 3.0)
    return float(roots.sum() ** 2 + exceeded * spread)


def _bulk_variance(values: Floats, longer: float) -> tuple[float, int]:
    """Variance of the noise behind eigenvalues of products of rows, and how many stand out.

    Of noise alone the eigenvalues follow the law of Marchenko and Pastur (1967); the signal has few
    that stand out of it. The noise is the variance with which the law has the lower half of them.
    ``values`` (size,) descend, ``longer`` is the number of degrees of freedom of the longer side.
    """
    size = len(values)
    lower, noise, outside = size - size // 2, 0.0, 0
    for _ in range(size):
        bulk = _marchenko_pastur(size - outside, longer - outside)
        noise = float(values[size - lower :].sum() / (bulk[:lower].sum() or 1.0))
        edge = noise * (np.sqrt(longer) + np.sqrt(size)) ** 2
        before = outside
        outside = min(int(np.count_nonzero(values > edge)), size - lower)
        if outside == before:
            break
    return noise, outside


def _marchenko_pastur(size: int, longer: float) -> Floats:
    """Compute the expected eigenvalues, ascending, of the products of unit noise, (size,)."""
    low, high = (np.sqrt(longer) + np.array([-1.0, 1.0]) * np.sqrt(size)) ** 2
    # In this angle the density has no edges that a grid would miss.
    angle = np.arange(0.5, _GRID) * np.pi / _GRID
    at = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle)
    weight = np.sin(angle) ** 2 / at
    fraction = np.cumsum(weight) / weight.sum()
    return np.interp((np.arange(size) + 0.5) / size, fraction, at)
