"""Variance of independent noise, from the eigenvalues of a sample covariance."""

import numpy as np

from .._base.types import Floats

_ROUNDS = 20  # of counting the eigenvalues of the signal; two or three settle the count


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
    return bulk_variance(values[:size], max(n, n_observed))[0] if size else 0.0


def bulk_variance(values: Floats, longer: float) -> tuple[float, int]:
    """Variance of the noise behind eigenvalues of products of rows, and how many stand out.

    Of noise alone the eigenvalues follow the law of Marchenko and Pastur (1967); the signal has few
    that stand out of it. The noise is the variance with which the law has the lower half of them.

    Parameters
    ----------
    values : (size,) ndarray of float64
        Eigenvalues, descending, as many as the shorter side has degrees of freedom.
    longer : float
        Degrees of freedom of the longer side.

    Returns
    -------
    variance : float
        Of the noise of one value.
    n_outside : int
        Eigenvalues beyond the law.
    """
    size = len(values)
    lower, noise, outside = size - size // 2, 0.0, 0
    for _ in range(_ROUNDS):
        bulk = _marchenko_pastur(size - outside, longer - outside)
        noise = float(values[size - lower :].sum() / max(bulk[:lower].sum(), 1e-300))
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
