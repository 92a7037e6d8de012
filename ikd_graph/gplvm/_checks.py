r"""Three questions to a fitted model: a shared factor, the order of the rows, a coordinate more.

Under the model the columns of A^-1/2 X, with A = v K(Z) + n I, are white. The nulls come from
tables that are drawn from the fitted model and embedded again (docs/decisions/009-error-bars.md).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._base.format import setting
from .._base.rounding import TINY
from .._base.types import Booleans, Floats, Integers
from ..covariance import to_correlation
from ..kernels import StationaryKernel
from ._likelihood import Model, SampleLikelihood
from ._process import JITTER
from ._search import all_pairs, closed_form, local_optimum

_IN_DOUBT = (0.8, 2.0)
"""Log likelihood a row that noise may let one more coordinate gain: some 0.7 to 1.0 where signals
are strong, more at a wrong optimum. Between these bounds simulated tables say what is usual."""

_SPREAD = 2.0  # one and a half standard deviations of that gain, times the root of the rows
_FAR = 3.5  # standard errors that neighboring rows may be alike by
_STANDS_OUT = 0.2  # of the ratio of the two largest eigenvalues, beyond that of simulated tables


class Check(NamedTuple):
    """The answer to one question; it is failed where the value is above the limit."""

    value: float  # NaN where the question was not asked
    null: float  # what tables of the model lead to expect, or the bound of it that decides
    limit: float  # what next to no table of the model exceeds


class ModelChecks(NamedTuple):
    """What a fitted model leaves unexplained.

    Attributes
    ----------
    factor : Check
        Largest eigenvalue of the covariance of whitened rows over the second.
    order : Check
        How much more alike the whitened values of neighboring rows are than those of any two, in
        standard errors; NaN where the rows are in no order that shows.
    coordinate : Check
        Log likelihood a row that one more coordinate gains. Its null is simulated between 0.8 and
        2, where it decides. Where the question is failed, the others ask the model that has it.
    """

    factor: Check
    order: Check
    coordinate: Check

    def sentence(self, n_components: int) -> str:
        """Say which question the model fails, with the cure; nothing where it fails none.

        Parameters
        ----------
        n_components : int
            Coordinates of the model.

        Returns
        -------
        str
            Of the first question that is failed; those after it may fail for the same reason.
        """
        more = setting("n_components", n_components + 1)
        faults = (
            "rows share a factor that their coordinates do not explain; regress it out of X "
            f"(covariance.regress_out), or fit {more}",
            "neighboring rows are more alike than their coordinates explain: their noise is not "
            "independent; keep fewer rows, farther apart, or average blocks of them",
            "one more coordinate fits better than by chance, for a dimension of the points or a "
            f"factor that rows share; fit {more}",
        )
        failed = (text for text, each in zip(faults, self, strict=True) if each.value > each.limit)
        return next(failed, "")


NOT_ASKED = ModelChecks(*3 * (Check(np.nan, np.nan, np.nan),))
"""Of a model that was asked nothing."""


def model_covariance(fit: Model) -> Floats:
    """Covariance A of the rows of a model, (n, n)."""
    cov = fit.variance * fit.kernel.matrix(fit.latent)
    cov.flat[:: len(cov) + 1] += fit.noise + JITTER * fit.variance
    return cov


def annealed_optimum(
    cov: Floats, n_components: int, kernel: StationaryKernel, n_columns: float
) -> Model:
    """Likelier optimum of annealed descents from two closed forms of a sample covariance."""
    corr = to_correlation(cov)
    paths = closed_form(corr, n_components, kernel, max(round(n_columns), 2))
    return local_optimum(cov, [paths, all_pairs(corr, n_components, kernel)], kernel)


def check_model(
    fitted: tuple[Model, Floats],
    simulated: Sequence[tuple[Model, Floats]],
    place: Integers,
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
    place : (n,) int64
        Number of every row: those whose numbers are one apart are neighbors.
    n_free, unlike : float
        Independent columns, and how many columns one of them stands for: more than one where they
        differ more than the model expects, as those of several length-scales do. Limits grow by it.
    """
    (fit, cov), n = fitted, len(place)
    gain, wider = _one_more(fit, cov, n_free)
    spread = _SPREAD / n**0.5
    beyond = gain / unlike - spread
    in_doubt = simulated if _IN_DOUBT[0] < beyond <= _IN_DOUBT[1] else []
    null = [_one_more(*each, n_free)[0] for each in in_doubt] or [beyond]
    by_chance = float(np.clip(np.mean(null), *_IN_DOUBT))
    most = (by_chance + spread) * unlike
    # What a missing coordinate leaves follows in order, too, but goes with it.
    last = wider if gain > most else fit
    neighbors = np.subtract.outer(place, place) == 1
    found = [_patterns(_whitened(*each), neighbors) for each in ((last, cov), *simulated)]
    (alike, ratio), (by_noise, typical) = found[0], np.mean(found[1:], axis=0)
    usual = max(float(by_noise), 0.0)
    if max(alike - usual, _patterns(cov, neighbors)[0]) <= _FAR:
        alike = np.nan
    return ModelChecks(
        Check(ratio, typical, typical + _STANDS_OUT * unlike),
        Check(alike, usual, usual + _FAR * unlike),
        Check(gain, by_chance, most),
    )


def _one_more(fit: Model, sample_cov: Floats, n_free: float) -> tuple[float, Model]:
    """Log likelihood a row that one more coordinate gains, and its fit; NaN where there is none."""
    n, m = fit.latent.shape
    if n < m + 3:
        return np.nan, fit
    likelihood = SampleLikelihood(sample_cov)
    wider = annealed_optimum(sample_cov, m + 1, fit.kernel, n_free)
    return n_free / n * (likelihood(*fit).value - likelihood(*wider).value), wider


def _whitened(fit: Model, sample_cov: Floats) -> Floats:
    """Sample covariance of A^-1/2 X, (n, n)."""
    values, vectors = np.linalg.eigh(model_covariance(fit))
    root = (vectors / np.sqrt(values)) @ vectors.T
    return np.asarray(root @ sample_cov @ root)


def _patterns(cov: Floats, neighbors: Booleans) -> tuple[float, float]:
    """Correlation of neighbors beyond that of any two, in standard errors; eigenvalue ratio."""
    corr = to_correlation(cov)
    every, near = corr[np.triu_indices(len(corr), 1)], corr[neighbors]
    alike = np.sum(near - every.mean()) / (every.std() or 1.0) / max(near.size, 1) ** 0.5
    second, largest = np.linalg.eigvalsh(cov)[-2:]
    return float(alike), float(largest / max(second, TINY))
