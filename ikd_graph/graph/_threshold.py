"""Thresholds above which a correlation is signal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .. import kernels
from .._base import validation as check
from .._base.validation import validate
from ..kernels import StationaryKernel

_MOST = 0.5
"""Largest threshold that is chosen automatically: above it too few pairs are left to solve on."""

_CANDIDATES = np.linspace(0.001, _MOST, 500)


def _proportion(name: str, value: Any) -> float:
    return check.check_real(name, value, "lie in [0, 1]", lambda x: 0.0 <= x <= 1.0)


@validate(n_observed=check.optional(check.positive), noise_fraction=_proportion)
def auto_threshold(
    n_observed: float | None,
    kernel: StationaryKernel | str = "squared_exponential",
    noise_fraction: float = 0.0,
) -> float:
    r"""Threshold above which a correlation is signal, and the distance it stands for is known.

    A correlation r of N columns has the standard deviation (1 - r²) / sqrt(N). By Eq. 11 of Li &
    Wu (2024) the error of the squared distance d = f^-1(r) is that of r over -f'(d), and the error
    of the distance sqrt(d) is that of d over 2 sqrt(d). Under a kernel with a heavy tail a
    correlation that is signal may stand for a distance that nobody knows.

    Parameters
    ----------
    n_observed : float or None
        Number N of independent columns (`covariance.effective_columns`): a correlation of nothing
        has the standard deviation 1 / sqrt(N), and five of them leave no false edge among a few
        thousand points.
    kernel : StationaryKernel or str
        Kernel f that correlations are estimates of. Its length-scale plays no part.
    noise_fraction : float
        Fraction of the variance that is independent noise, from 0 to 1: correlations of rows are
        smaller by it than those of the kernel.

    Returns
    -------
    float
        The larger of 5 / sqrt(N) and the least correlation of the kernel from which the standard
        deviation of the distance is below (0.2 / N)^(1/5) length-scales, less its fraction of
        noise, at most 0.5; 0.3 where N is not known.

    Examples
    --------
    >>> from ikd_graph import graph
    >>> graph.auto_threshold(10_000)
    0.05
    >>> round(graph.auto_threshold(10_000, "rational_quadratic"), 3)
    0.162
    """
    if n_observed is None:
        return 0.3
    # The exponent and its factor: docs/decisions/014-threshold.md.
    tolerated = (0.2 / n_observed) ** 0.2
    vague = _CANDIDATES[_distance_errors(n_observed, kernels.get(kernel)) >= tolerated]
    known = (1.0 - noise_fraction) * vague.max(initial=0.0)
    return float(min(max(5.0 / n_observed**0.5, known), _MOST))


def _distance_errors(n_observed: float, kernel: StationaryKernel) -> NDArray[np.float64]:
    """Compute standard deviations, in length-scales, of the distances of `_CANDIDATES` (Eq. 11)."""
    sq_dist = kernel.sq_distance(_CANDIDATES)
    of_correlations = (1.0 - _CANDIDATES**2) / n_observed**0.5
    of_squares = of_correlations / np.abs(kernel.derivative(sq_dist))
    return np.asarray(of_squares / (2.0 * np.sqrt(sq_dist)) / kernel.length_scale)


@validate(n_observed=check.positive, rate=check.fraction)
def sure_threshold(n_observed: float, rate: float) -> float:
    """Correlation that unrelated rows exceed at a rate.

    Of N Gaussian columns, row means taken off, r sqrt((N - 2) / (1 - r^2)) of two such rows is
    distributed as t with N - 2 degrees of freedom (Fisher 1915), whatever the noise of the rows.

    Parameters
    ----------
    n_observed : float
        Number N of independent columns; with fewer than 3 no correlation is sure.
    rate : float
        Fraction of the pairs, between 0 and 1.

    Returns
    -------
    float
        From -1 to 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from ikd_graph import graph
    >>> round(graph.sure_threshold(20, 1e-5), 3)
    0.803
    """
    free = n_observed - 2.0
    if free < 1.0:
        return 1.0
    t = float(special.stdtrit(free, 1.0 - rate))
    return t / (free + t * t) ** 0.5
