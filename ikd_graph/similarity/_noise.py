"""How much of the variance is independent noise, from the eigenvalues of a sample covariance."""

import numpy as np

from .._base.types import Floats
from ._effective import doubly_centered_rows

_ROUNDS = 20  # of counting the eigenvalues of the signal; two or three settle the count
_TRACY_WIDOM = 3.27  # what the law of the first order exceeds in one of a thousand tables


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
    roots = np.sqrt([size - 0.5, longer - 0.5])
    spread = roots.sum() * (1.0 / roots).sum() ** (1.0 / 3.0)
    # Of noise that differs between rows, or between columns, too.
    alike = np.linalg.norm(doubly_centered_rows(table, scaled=True), 2) ** 2 / n
    if alike * size * longer <= roots.sum() ** 2 + _TRACY_WIDOM * spread:
        return float(values.sum()) / (size * longer), 0
    noise, outside = _bulk_variance(values, longer)
    return noise, max(outside, 1)


def _bulk_variance(values: Floats, longer: float) -> tuple[float, int]:
    """Variance of the noise behind eigenvalues of products of rows, and how many stand out.

    Of noise alone the eigenvalues follow the law of Marchenko and Pastur (1967); the signal has few
    that stand out of it. The noise is the variance with which the law has the lower half of them.
    ``values`` (size,) descend, ``longer`` is the number of degrees of freedom of the longer side.
    """
    size = len(values)
    lower, noise, outside = size - size // 2, 0.0, 0
    for _ in range(_ROUNDS):
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
    angle = (np.arange(2000) + 0.5) * np.pi / 2000
    at = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle)
    weight = np.sin(angle) ** 2 / at
    fraction = np.cumsum(weight) / weight.sum()
    return np.asarray(np.interp((np.arange(size) + 0.5) / size, fraction, at))
