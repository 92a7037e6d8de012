"""How many dimensions: latents of one to seven coordinates, scored on held-out columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist

from . import covariance, gplvm, kernels, similarity
from ._base import limits
from ._base import validation as check
from ._base.table import evenly_spaced
from ._base.types import Floats
from ._base.warn import no_warnings
from .plotting import colors, plot
from .plotting.charts import Chart, Curve

__all__ = ["DimensionEstimate", "column_log_densities", "estimate"]

MOST_COMPONENTS = 7
"""Largest number of dimensions that is tried by default."""

_KERNEL = kernels.SquaredExponential()


@dataclass(frozen=True)
class DimensionEstimate:
    """Number of dimensions of a table; see `estimate`."""

    dimension: int
    interval: tuple[int, int]  # numbers that predict about as well, from the least to the most
    scores: Floats  # (m,) log density of a held-out column under 1 to m dimensions, less the best
    errors: Floats  # (m,) standard errors of these differences

    def __str__(self) -> str:
        low, high = self.interval
        span = "" if low == high else f" ({low} to {high} predict as well)"
        return f"{self.dimension} dimension{'s' * (self.dimension > 1)}{span}"

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores with two standard errors over the number of dimensions.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            With the curve.
        """
        at = np.arange(1.0, self.scores.size + 1)
        curve = Curve("", at, self.scores, colors.ACCENT, 2.0 * self.errors, dots=True)
        ylabel, mark = "log density of a held-out column, less the best", float(self.dimension)
        what = Chart(str(self), "dimensions", ylabel, None, (curve,), mark=(mark, str(self)))
        return plot.chart(what, ax=ax)


@check.validate(X=check.table, random_state=check.seed)
def estimate(
    X: ArrayLike,
    *,
    max_components: int = MOST_COMPONENTS,
    n_folds: int = 4,
    random_state: int | None = 0,
) -> DimensionEstimate:
    """Estimate how many dimensions predict columns that were held out.

    The maximum-likelihood embeddings of 1 to ``max_components`` coordinates of all but a fold of
    the columns (`gplvm.nested_latents`, squared exponential) are scored by the log density of the
    columns of that fold, a run of autocorrelated columns, at the best signal and noise
    variance. The noise has at least 1 % of the variance: what explains less is no dimension. The
    estimate is the least number within one standard error of the best, of the paired difference
    over columns; the interval has all within two. How often that is right, next to other judges:
    docs/decisions/011-how-many-dimensions.md.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows, at least 20 columns that vary, which are brought to one variance. Of more
        than 150 rows as many evenly spaced ones are used.
    max_components : int
        Largest number that is tried; of n rows at most n - 1.
    n_folds : int
        Number of folds of the columns, at least 2.
    random_state : int or None
        Seed of the folds and of the graph that the first latent is found on.

    Returns
    -------
    DimensionEstimate
        The number, its interval, and the curve (``plot()``).

    Raises
    ------
    ValueError
        Where the table is too small.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import dimension
    >>> from ikd_graph import datasets
    >>> latent = np.random.default_rng(0).uniform(size=(60, 2))
    >>> result = dimension.estimate(datasets.gplvm_data(latent, 100, noise=0.1).X, max_components=3)
    >>> result.dimension, result.interval
    (2, (2, 2))
    """
    table = _standard_columns(np.asarray(X, dtype=np.float64))
    n, width = table.shape
    check.enough(2)("X", table)
    if width < limits.FEWEST_COLUMNS:
        raise ValueError(
            f"X must have at least {limits.FEWEST_COLUMNS} columns that vary, of which some are "
            f"held out, got {width}; the gap in a spectrum needs fewer (eigen.eigengap)"
        )
    check.whole(2, width // 2)("n_folds", n_folds)
    most = min(check.whole(1)("max_components", max_components), n - 1)
    rng = np.random.default_rng(random_state)
    fold = rng.permutation(width) % n_folds
    if similarity.are_ordered(table):
        # A column that follows the next one would say what it is.
        fold = np.arange(width) * n_folds // width
    scores = np.empty((most, width))
    for number in range(n_folds):
        held_out = fold == number
        scores[:, held_out] = _scores(table[:, ~held_out], table[:, held_out], most, rng)
    loss = scores - scores[scores.mean(axis=1).argmax()]
    errors = np.array([float(each.std() / np.sqrt(width)) for each in loss])
    chosen, *_ = np.flatnonzero(loss.mean(axis=1) >= -errors) + 1
    near = np.flatnonzero(loss.mean(axis=1) >= -2.0 * errors) + 1
    interval = int(near[0]), int(near[-1])
    return DimensionEstimate(int(chosen), interval, loss.mean(axis=1), errors)


def _scores(training: Floats, held_out: Floats, largest: int, rng: np.random.Generator) -> Floats:
    """Log density of every held-out column under latents of the others, (largest, n_held_out)."""
    sample_cov = gplvm.sample_covariance(training, centered=False)
    sample_cov /= np.trace(sample_cov) / len(sample_cov)
    corr = covariance.to_correlation(sample_cov)
    with no_warnings():
        # Few points span fewer dimensions than are tried.
        start = gplvm.random_closed_form(corr, largest, _KERNEL, rng)
    latents = gplvm.nested_latents(sample_cov, start, _KERNEL)
    return np.array([column_log_densities(latent, held_out) for latent in latents])


def column_log_densities(latent: Floats, columns: Floats) -> Floats:
    """Log density of columns under the process over an embedding, at its best variances.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Coordinates, in length-scales of a squared exponential.
    columns : (n, k) ndarray of float64
        Columns of variance 1.

    Returns
    -------
    (k,) ndarray of float64
        Without the constant, n / 2 log 2 pi.
    """
    sample_cov = gplvm.sample_covariance(columns, centered=False)
    variance, noise, _ = gplvm.fit_variances(latent, sample_cov, columns.shape[1], _KERNEL)
    model = variance * _KERNEL.covariance(cdist(latent, latent, "sqeuclidean"))
    model.flat[:: len(model) + 1] += max(noise, gplvm.NESTED_NOISE)
    factor = np.linalg.cholesky(model)
    residual = solve_triangular(factor, columns, lower=True)
    return -0.5 * (residual**2).sum(axis=0) - np.log(np.diagonal(factor)).sum()


def _standard_columns(X: Floats) -> Floats:
    """At most 150 rows, columns of mean 0 and variance 1, those that vary."""
    X = X[evenly_spaced(len(X), limits.SIZED)]
    table = X[:, np.ptp(X, axis=0) > 0.0]
    table = table / np.abs(table).max(axis=0)
    return (table - table.mean(axis=0)) / table.std(axis=0)
