r"""The Gaussian-process latent variable model: likelihood, information, the fitted process.

Every column x (one value per point) is a sample of N(0, A),
A = v K + n I, K_ij = f(|z_i - z_j|^2) (Li & Wu 2024, Eq. 1, with noise). With S = X X^T / N the
log likelihood of all N dimensions is

    log L = -N / 2 (T log 2 pi + log det A + tr(A^-1 S)),

so that only the T x T matrix S enters and the cost does not grow with N. With the rows of X
centered this is the likelihood at the best constant mean of every point.
"""

from ._gradient import LikelihoodGradient, SampleLikelihood
from ._information import column_scores, expected_information
from ._likelihood import fit_variances, log_likelihood, sample_covariance
from ._noise_model import NoiseModel, fit_noise_model
from ._placement import ObservedRows
from ._process import JITTER, GaussianProcess, Prediction

__all__ = [
    "JITTER",
    "GaussianProcess",
    "LikelihoodGradient",
    "NoiseModel",
    "ObservedRows",
    "Prediction",
    "SampleLikelihood",
    "column_scores",
    "expected_information",
    "fit_noise_model",
    "fit_variances",
    "log_likelihood",
    "sample_covariance",
]
