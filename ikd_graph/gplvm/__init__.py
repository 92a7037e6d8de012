r"""The generative side of IKD: Gaussian-process likelihood of a latent, its gradient, the way back.

Every observed dimension x (one value per point) is a sample of N(0, A),
A = v K + n I, K_ij = f(|z_i - z_j|^2) (Li & Wu 2024, Eq. 1, with noise). With S = X X^T / N the
log likelihood of all N dimensions is

    log L = -N / 2 (T log 2 pi + log det A + tr(A^-1 S)),

so that only the T x T matrix S enters and the cost does not grow with N. With the rows of X centred
this is the likelihood at the best constant mean of every point.
"""

from ._gradient import LikelihoodGradient, SampleLikelihood
from ._information import column_scores, expected_information
from ._likelihood import (
    fit_variances,
    log_likelihood,
    sample_covariance,
)
from ._locate import (
    JITTER,
    Process,
    Seen,
    condition,
    curvature_at,
    place_rows,
    see,
    see_rows,
    slopes_at,
)
from ._posterior import Posterior, posterior_mean

__all__ = [
    "JITTER",
    "LikelihoodGradient",
    "Posterior",
    "Process",
    "SampleLikelihood",
    "Seen",
    "column_scores",
    "condition",
    "curvature_at",
    "expected_information",
    "fit_variances",
    "log_likelihood",
    "place_rows",
    "posterior_mean",
    "sample_covariance",
    "see",
    "see_rows",
    "slopes_at",
]
