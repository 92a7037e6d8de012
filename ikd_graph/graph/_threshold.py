"""Thresholds above which a correlation is signal."""

from scipy import special

from .. import _validation as check
from .._validation import validate


@validate(n_observed=check.optional(check.positive))
def auto_threshold(n_observed: float | None) -> float:
    """Threshold above which a correlation is signal.

    Parameters
    ----------
    n_observed : float or None
        Number N of independent columns (`covariance.effective_columns`): a correlation of nothing
        has the standard deviation 1 / sqrt(N), and five of them leave no false edge among a few
        thousand points.

    Returns
    -------
    float
        ``min(5 / sqrt(N), 0.5)``, or 0.3 where N is not known.
    """
    return 0.3 if n_observed is None else min(5.0 / n_observed**0.5, 0.5)


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
