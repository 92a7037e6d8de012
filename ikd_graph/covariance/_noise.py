"""How much of the variance is independent noise."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def noise_fraction(table: Floats, effective: float) -> float:
    """Share of the variance that is independent noise.

    Of noise alone the eigenvalues follow the law of Marchenko and Pastur (1967); the signal has few
    that stand out of it. The noise is the variance with which the law has the lower half of them.

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
    # Columns that differ by more than the rows do have levels of their own.
    levels = table.mean(axis=0)
    by_column = levels.var() > table.var(axis=0).mean()
    centred = table - (levels if by_column else table.mean(axis=1, keepdims=True))
    n = len(centred)
    size = min(n - by_column, max(int(effective) - (not by_column), 2))
    longer = max(n - by_column, effective - (not by_column))
    values = np.linalg.svd(centred, compute_uv=False)[:size] ** 2
    total = float((centred**2).sum())
    if not total > 0.0:
        return 0.0
    lower = size - size // 2
    out = 0
    for _ in range(20):
        bulk = _marchenko_pastur(size - out, longer - out)
        noise = values[size - lower :].sum() / max(bulk[:lower].sum(), 1e-300)
        edge = noise * (np.sqrt(longer) + np.sqrt(size)) ** 2
        before, out = out, min(int(np.count_nonzero(values > edge)), size - lower)
        if out == before:
            break
    return float(min(noise * size * longer / total, 1.0))


def _marchenko_pastur(size: int, longer: float) -> Floats:
    """Expected eigenvalues, ascending, of the products of unit noise, (size,)."""
    low, high = (np.sqrt(longer) + np.array([-1.0, 1.0]) * np.sqrt(size)) ** 2
    # In this angle the density has no edges that a grid would miss.
    angle = (np.arange(2000) + 0.5) * np.pi / 2000
    at = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle)
    weight = np.sin(angle) ** 2 / at
    share = np.cumsum(weight) / weight.sum()
    return np.interp((np.arange(size) + 0.5) / size, share, at)
