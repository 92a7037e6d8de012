"""Correlations that are signal: thresholds above which they are, and the graph of those pairs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from .. import covariance, kernels, similarity
from .._base import validation as check
from .._base.rounding import rounding
from .._base.threads import single_threaded_blas
from .._base.types import Floats
from ._build import pairs_above
from ._csr import edges, from_edges
from ._record import CsrGraph

_MOST = 0.5
"""Largest threshold that is chosen automatically: above it too few pairs are left to solve on."""

_CANDIDATES = np.linspace(covariance.FLOOR, _MOST, 500)


_proportion = check.real("lie in [0, 1]", lambda x: 0.0 <= x <= 1.0)


@check.validate(n_observed=check.optional(check.positive), noise_fraction=_proportion)
def auto_threshold(
    n_observed: float | None,
    kernel: kernels.StationaryKernel | str = "squared_exponential",
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
    kernel = kernels.get(kernel)
    errors = np.sqrt(distance_variance(_CANDIDATES, kernel, n_observed)) / kernel.length_scale
    vague = _CANDIDATES[errors >= tolerated]
    known = (1.0 - noise_fraction) * vague.max(initial=0.0)
    return float(min(max(5.0 / n_observed**0.5, known), _MOST))


def distance_variance(
    corr: Floats, kernel: kernels.StationaryKernel, n_observed: float | NDArray[np.integer]
) -> Floats:
    r"""Compute the sampling variance of the distances of correlations in (0, 1) (paper, Eq. 11).

    var(r) = (1 - r²)² / N goes through d = f⁻¹(r) and √d: var(√d) = (1 - r²)² / (4 N d f'(d)²).
    """
    sq_dist = kernel.sq_distance(corr)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = kernel.derivative(sq_dist)
        return covariance.sampling_variance(corr, n_observed) / (4.0 * sq_dist * slope**2)


@check.validate(n_observed=check.positive, rate=check.fraction)
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


@check.validate(X=check.table, fdr=check.fraction)
def significant_graph(X: ArrayLike, fdr: float = 0.01, *, n_removed: int = 0) -> CsrGraph:
    r"""Join the pairs of rows whose correlation is significantly positive.

    Under independence r sqrt((N - 2) / (1 - r²)) is distributed as t with N - 2 degrees of freedom
    (Fisher 1915), N being the effective number of columns. r is the smallest of four: Pearson's and
    that of normal scores, since one value far out makes no correlation, each of the rows as they
    are and with all columns standardized, since levels and units of columns make none either. With
    the mean of all taken off, n unrelated rows correlate by -1 / (n - 1), from which their
    correlations count as by Fisher's z. Among all pairs the false discovery rate is controlled for
    any dependence between them (Benjamini and Yekutieli, Annals of Statistics 29, 2001).

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows, three or more: what two share cannot be told from levels of columns.
        Columns in order, where they follow in time.
    fdr : float
        Expected fraction of false edges, in (0, 1). In a table of unrelated rows it is the
        probability of any edge.
    n_removed : int
        Rows that were regressed out of X (`covariance.regress_out`).

    Returns
    -------
    CsrGraph
        Edges with Pearson's correlations of the rows as they are, as the affinity "correlation" has
        them; ``graph.edges`` lists them.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> X = np.random.default_rng(0).normal(size=(30, 200))
    >>> X[:3] += X[3]  # four rows share a signal
    >>> left, right, correlations = graph.edges(graph.significant_graph(X))
    >>> left.tolist(), right.tolist()
    ([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
    """
    from scipy.stats import rankdata

    rows = covariance.unit_rows(X, allow_flat=True)
    centered = covariance.doubly_centered_rows(rows, scaled=True)
    n, width = rows.shape
    free = covariance.effective_columns(rows, n_removed=n_removed) - 2.0
    n_pairs = n * (n - 1) // 2
    # No pair can pass below the rate that is left where all others do.
    rate = fdr / (np.log(max(n_pairs, 1)) + np.euler_gamma)
    n_centered = int(np.count_nonzero(centered.any(axis=1)))
    # Two rows are each other's opposite about their mean.
    shared = -1.0 / (n_centered - 1) if n_centered > 2 else 1.0
    with single_threaded_blas():
        least = _beyond(sure_threshold(free + 2.0, rate), -shared)
        candidates = pairs_above(_correlated(centered), least)
    rows_a, rows_b, about_mean = edges(candidates)
    ranks = rankdata(rows, axis=1)
    scores = covariance.unit_rows(special.ndtri((ranks - 0.5) / width), allow_flat=True)
    corr, of_scores, about_mean_of_scores = (
        _correlated(table).between(rows_a, rows_b)
        for table in (rows, scores, covariance.doubly_centered_rows(scores, scaled=True))
    )
    about_mean = _beyond(np.minimum(about_mean, about_mean_of_scores), shared)
    least = np.minimum(np.minimum(corr, of_scores), about_mean)
    least = np.clip(least, rounding() - 1.0, 1.0 - rounding())
    p_values = special.stdtr(free, -least * np.sqrt(free / (1.0 - least**2)))
    in_order = np.sort(p_values)
    passing = np.flatnonzero(in_order <= rate * np.arange(1, in_order.size + 1) / n_pairs)
    significant = p_values <= (in_order[passing[-1]] if passing.size else -1.0)
    return from_edges(n, rows_a[significant], rows_b[significant], corr[significant])


def _correlated(rows: Floats) -> similarity.ProductRows:
    """Return correlations of rows of unit length, or zero, as they are."""
    return similarity.ProductRows(similarity.AFFINITIES["correlation"], rows)


def _beyond(corr: Any, expected: float) -> Any:
    """Correlations less an expected one, as differences of Fisher's z."""
    return (corr - expected) / (1.0 - expected * corr)
