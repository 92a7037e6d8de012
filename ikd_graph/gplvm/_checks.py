r"""Three questions to a fitted model: a coordinate more, the order of the rows, a shared factor.

Under the model the columns of A^-1/2 X, with A = v K(Z) + n I, are white. The nulls come from
tables that are drawn from the fitted model and embedded as X was (docs/decisions/009-error-bars.md).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from .._base.types import Floats, Integers
from ..covariance import to_correlation
from ..kernels import StationaryKernel
from ._likelihood import Model, SampleLikelihood
from ._process import JITTER
from ._search import closed_form, local_optimum

_GAIN = (0.8, 1.0)
"""Log likelihood a row that noise lets one more coordinate gain, in 39 tables of right models."""

_SPREAD = 2.4  # four standard deviations of that gain, times the root of the number of rows
_FAR = 3.0  # standard errors that neighboring rows may be alike by
_STANDS_OUT = 1.3  # ratio of the two largest eigenvalues, over that of simulated tables

_UNLIKE = 4
"""Power of what the columns differ by more than expected: different length-scales gain, too."""

_FEWEST_PAIRS = 20


class Check(NamedTuple):
    """The answer to one question; NaN where it was not asked."""

    value: float
    null: float  # what tables of the model lead to expect
    limit: float  # what next to no table of the model exceeds

    @property
    def failed(self) -> bool:
        """Whether the model does not explain the value."""
        return self.value > self.limit


class ModelChecks(NamedTuple):
    """What a fitted model leaves unexplained.

    Attributes
    ----------
    coordinate : Check
        Log likelihood a row that one more coordinate gains.
    order : Check
        How much more alike the whitened values of neighboring rows are than those of any two, in
        standard errors; NaN where the rows are in no order.
    factor : Check
        Largest eigenvalue of the covariance of whitened rows over the second.
    """

    coordinate: Check
    order: Check
    factor: Check

    def sentence(self, n_components: int) -> str:
        """Say which question the model fails, with the cure; nothing where it fails none."""
        more = f"n_components={n_components + 1}"
        if self.order.failed:
            return (
                "neighboring rows are more alike than their coordinates explain: their noise is "
                "not independent; keep fewer rows, farther apart, or average blocks of them"
            )
        if self.factor.failed:
            return (
                "rows share a factor that their coordinates do not explain; take it off with "
                f"covariance.remove_mean_row or regress_out, or fit {more}"
            )
        if self.coordinate.failed:
            return f"one more coordinate fits the rows better than by chance; fit {more}"
        return ""


def model_covariance(fit: Model) -> Floats:
    """Covariance A of the rows of a model, (n, n)."""
    cov = fit.variance * fit.kernel.covariance(cdist(fit.latent, fit.latent, "sqeuclidean"))
    cov.flat[:: len(cov) + 1] += fit.noise + JITTER * fit.variance
    return cov


def embed(cov: Floats, n_components: int, kernel: StationaryKernel, n_columns: float) -> Model:
    """Optimum of an annealed descent from the closed form of a sample covariance."""
    columns = max(round(n_columns), 2)
    return local_optimum(
        cov, closed_form(to_correlation(cov), n_components, kernel, columns), kernel
    )


def check_model(
    fitted: tuple[Model, Floats],
    simulated: Sequence[tuple[Model, Floats]],
    neighbors: tuple[Integers, Integers],
    n_free: float,
    unlike: float,
) -> ModelChecks:
    """Answers to the three questions.

    Parameters
    ----------
    fitted : Model and (n, n) float64
        The fit, and the sample covariance of the rows.
    simulated : sequence of the same
        Fits of tables that were drawn from it.
    neighbors : two (k,) int64
        Which rows follow which.
    n_free, unlike : float
        Independent columns, and by how much more than expected the columns differ.
    """
    slack = unlike**_UNLIKE
    gain, by_chance = (_gain(*each, n_free) for each in (fitted, simulated[0]))
    by_chance = min(max(by_chance, _GAIN[0]), _GAIN[1])
    most = (by_chance + _SPREAD / len(fitted[1]) ** 0.5) * slack
    whitened = [_whitened(*each) for each in (fitted, *simulated)]
    alike, *alike_by_chance = (_alike(cov, neighbors) for cov in whitened)
    usual = max(float(np.mean(alike_by_chance)), 0.0)
    if max(alike - usual, _alike(fitted[1], neighbors)) <= _FAR:
        alike = np.nan
    ratio, *ratios = map(_stands_out, whitened)
    typical = float(np.mean(ratios))
    return ModelChecks(
        Check(gain, by_chance, most),
        Check(alike, usual, usual + _FAR),
        Check(ratio, typical, _STANDS_OUT * typical * slack),
    )


def _gain(fit: Model, sample_cov: Floats, n_free: float) -> float:
    """Log likelihood a row that one more coordinate gains; NaN where there is no room for one."""
    n, m = fit.latent.shape
    if n < m + 3:
        return np.nan
    likelihood = SampleLikelihood(sample_cov)
    wider = embed(sample_cov, m + 1, fit.kernel, n_free)
    return n_free / n * (likelihood(*fit).value - likelihood(*wider).value)


def _whitened(fit: Model, sample_cov: Floats) -> Floats:
    """Sample covariance of A^-1/2 X, (n, n)."""
    values, vectors = np.linalg.eigh(model_covariance(fit))
    root = (vectors / np.sqrt(values)) @ vectors.T
    return np.asarray(root @ sample_cov @ root)


def _stands_out(cov: Floats) -> float:
    """Ratio of the two largest eigenvalues."""
    second, largest = np.linalg.eigvalsh(cov)[-2:]
    return float(largest / max(second, np.finfo(np.float64).tiny))


def _alike(cov: Floats, neighbors: tuple[Integers, Integers]) -> float:
    """Correlation of neighboring rows beyond that of any two, in standard errors."""
    if len(neighbors[0]) < _FEWEST_PAIRS:
        return np.nan
    corr = to_correlation(cov)
    every = corr[np.triu_indices(len(corr), 1)]
    return float((corr[neighbors].mean() - every.mean()) / every.std() * len(neighbors[0]) ** 0.5)
