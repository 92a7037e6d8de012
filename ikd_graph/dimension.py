"""How many dimensions: latents of up to seven coordinates, scored on held-out columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import covariance, gplvm, kernels, similarity
from ._base import limits
from ._base import validation as check
from ._base.table import evenly_spaced
from ._base.types import Floats
from ._base.warn import no_warnings
from .plotting import colors, plot
from .plotting.charts import Chart, Curve

__all__ = ["DimensionEstimate", "estimate", "held_out_r2"]

MOST_COMPONENTS = 7
"""Largest number of dimensions that is tried by default."""

SLACK = 0.03
"""Fraction of the best R² that further coordinates have to add
(docs/decisions/011-how-many-dimensions.md)."""

_KERNEL = kernels.SquaredExponential()


@dataclass(frozen=True)
class DimensionEstimate:
    """Number of dimensions of a table; see `estimate`."""

    dimension: int
    interval: tuple[int, int]  # numbers that predict about as well, from the least to the most
    scores: Floats  # (m + 1,) R² of held-out columns under 0 to m dimensions
    errors: Floats  # (m + 1,) standard errors of what they are less than the best

    def __str__(self) -> str:
        low, high = self.interval
        span = "" if low == high else f" ({low} to {high} predict as well)"
        return f"{self.dimension} dimension{'s' * (self.dimension != 1)}{span}"

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
        at = np.arange(float(self.scores.size))
        curve = Curve("", at, self.scores, colors.ACCENT, 2.0 * self.errors, dots=True)
        ylabel, mark = "R² of held-out columns", float(self.dimension)
        what = Chart(str(self), "dimensions", ylabel, None, (curve,), mark=(mark, str(self)))
        return plot.chart(what, ax=ax)


@check.validate(X=check.table, random_state=check.seed)
def estimate(
    X: ArrayLike, *, max_components: int = MOST_COMPONENTS, random_state: int | None = 0
) -> DimensionEstimate:
    """Estimate how many dimensions predict columns that were held out.

    The maximum-likelihood embeddings of 1 to ``max_components`` coordinates of all but a fold of
    the columns (`gplvm.nested_latents`, squared exponential) are scored by the R² of the columns of
    that fold (`held_out_r2`); no coordinate predicts nothing. The means of rows, which maps by
    correlations ignore, are removed first. The estimate is the least number that has 97 % of the
    best R², within one standard error of the paired difference over columns. The interval begins at
    the least number that has 94 %, within two, and ends at the least that has all, within one. How
    often that is right, next to other judges: docs/decisions/011-how-many-dimensions.md.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows, at least 20 columns that vary, 8 of them different, which are brought to one
        variance. Of more than 150 rows as many evenly spaced ones are used.
    max_components : int
        Largest number that is tried; of n rows at most n - 1.
    random_state : int or None
        Seed of the graphs that the first latent is found on.

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
    (2, (1, 2))
    """
    table = _standard_columns(np.asarray(X, dtype=np.float64))
    n, width = table.shape
    check.enough(2)("X", table)
    if width < limits.FEWEST_COLUMNS or len(parts := similarity.folds(table)) == 1:
        raise ValueError(
            f"X must have at least {limits.FEWEST_COLUMNS} columns that vary, 8 of them different, "
            f"of which some are held out, got {width}; the gap in a spectrum needs fewer "
            "(eigen.eigengap)"
        )
    most = min(check.whole(1)("max_components", max_components), n - 1)
    rng = np.random.default_rng(random_state)
    r2 = np.zeros((most + 1, width))
    for fold in parts:
        r2[1:, fold] = _scores(table[:, ~fold], table[:, fold], most, rng)
    scores = r2.mean(axis=1)
    lost = scores.max() - scores
    errors = (r2 - r2[scores.argmax()]).std(axis=1) / width**0.5
    few = SLACK * scores.max() + errors
    chosen, low, high = (int((lost <= bound).argmax()) for bound in (few, 2.0 * few, errors))
    return DimensionEstimate(chosen, (low, high), scores, errors)


def _scores(training: Floats, held_out: Floats, most: int, rng: np.random.Generator) -> Floats:
    """R² of every held-out column under latents of the others, (most, n_held_out)."""
    levels = training.mean(axis=1, keepdims=True)
    training, held_out = training - levels, held_out - levels
    sample_cov = gplvm.sample_covariance(training, centered=False)
    sample_cov /= np.trace(sample_cov) / len(sample_cov)
    corr = covariance.to_correlation(sample_cov)
    with no_warnings():
        # Few points span fewer dimensions than are tried.
        start = gplvm.random_closed_form(corr, most, _KERNEL, rng)
    latents = gplvm.nested_latents(sample_cov, start, _KERNEL)
    return np.array([held_out_r2(latent, sample_cov, held_out) for latent in latents])


def held_out_r2(latent: Floats, sample_cov: Floats, columns: Floats) -> Floats:
    """R² of columns that an embedding of others predicts, each row from the other rows.

    The signal and noise variance are those of the columns that the embedding was made of: what fits
    the noise of these predicts others worse than their mean does.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Coordinates, in length-scales of a squared exponential.
    sample_cov : (n, n) ndarray of float64
        Covariance of the columns that it was made of, with a mean variance of 1.
    columns : (n, k) ndarray of float64
        Columns to predict, in any one unit.

    Returns
    -------
    (k,) ndarray of float64
        What each column adds to the mean R².
    """
    variance, noise, _ = gplvm.fit_variances(latent, sample_cov, columns.shape[1], _KERNEL)
    model = variance * _KERNEL.matrix(latent)
    model.flat[:: len(model) + 1] += max(noise, gplvm.NESTED_NOISE)
    precision = np.linalg.inv(model)
    errors = ((precision @ columns / precision.diagonal()[:, None]) ** 2).sum(axis=0)
    total = (columns**2).sum(axis=0)
    return (total - errors) / total.mean()


def _standard_columns(X: Floats) -> Floats:
    """At most 150 rows, columns of mean 0 and variance 1, those that vary."""
    X = X[evenly_spaced(len(X), limits.SIZED)]
    table = X[:, np.ptp(X, axis=0) > 0.0]
    table = table / np.abs(table).max(axis=0)
    return (table - table.mean(axis=0)) / table.std(axis=0)
