"""How much of the variance is independent noise."""

import numpy as np

from .._base.types import Floats
from ._effective import doubly_centered_rows
from ._marchenko_pastur import bulk_variance

_TRACY_WIDOM = 3.27  # what the law of the first order exceeds in one of a thousand tables


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
    return _bulk(table, effective)[0]


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
    noise, n_outside = _bulk(table, effective)
    centered = table - table.mean(axis=1, keepdims=True)
    levels = centered.mean(axis=0)
    if not n_outside or levels.var() > centered.var(axis=0).mean():
        centered = centered - levels
        noise *= (len(table) - 1.0) / len(table)
    total = float((centered**2).mean())
    # Row means hold one of so many independent columns.
    noise *= (effective - 1.0) / effective if effective > 1.0 else 0.0
    return min(noise / total, 1.0) if total > 0.0 else 0.0


def _bulk(table: Floats, effective: float) -> tuple[float, int]:
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
    noise, outside = bulk_variance(values, longer)
    return noise, max(outside, 1)
