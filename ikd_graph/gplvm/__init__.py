r"""The Gaussian-process latent variable model: likelihood, optima, error bars.

Every column x (one value per point) is a sample of N(0, A),
A = v K + n I, K_ij = f(|z_i - z_j|^2) (Li & Wu 2024, Eq. 1, with noise). With S = X X^T / N the
log likelihood of all N dimensions is

    log L = -N / 2 (T log 2 pi + log det A + tr(A^-1 S)),

so that only the T x T matrix S enters and the cost does not grow with N. With the rows of X
centered this is the likelihood at the best constant mean of every point. Where values are not
known, columns that are known in the same rows form a group with an S of its own, and log L is the
sum over the groups; complete data are one group.
"""

# Named as themselves: for the layers above, not for users.
from ._checks import Check, ModelChecks
from ._checks import annealed_optimum as annealed_optimum
from ._descent import NESTED_NOISE as NESTED_NOISE
from ._descent import nested_latents as nested_latents
from ._likelihood import (
    LikelihoodGradient,
    NoiseModel,
    SampleLikelihood,
    column_scores,
    expected_information,
    fit_noise_model,
    fit_variances,
    log_likelihood,
    sample_covariance,
)
from ._likelihood import centered_known as centered_known
from ._likelihood import likelihood_of_entries as likelihood_of_entries
from ._process import JITTER, GaussianProcess, ObservedRows, Prediction, freshness
from ._search import CoreFit as CoreFit
from ._search import OptimumRecord as OptimumRecord
from ._search import closed_form as closed_form
from ._search import random_closed_form as random_closed_form
from ._search import rivals_of as rivals_of
from ._sessions import SessionJoints as SessionJoints
from ._sessions import search_mirrored as search_mirrored
from ._uncertainty import TRUSTED as TRUSTED
from ._uncertainty import LatentPosterior, posterior, reliability, supported_r2

__all__ = [
    "JITTER", "Check", "GaussianProcess", "LatentPosterior", "LikelihoodGradient", "ModelChecks",
    "NoiseModel", "ObservedRows", "Prediction", "SampleLikelihood", "column_scores",
    "expected_information", "fit_noise_model", "fit_variances", "freshness", "log_likelihood",
    "posterior", "reliability", "sample_covariance", "supported_r2",
]  # fmt: skip
