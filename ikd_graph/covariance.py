"""Rows of X to the covariance between points and its precision.

Points are rows; each column is one sample of the process, so the covariance between two
ROWS estimates the kernel between their latents (Li & Wu 2024, Eq. 1 and Section 2.2). The functions
belong to `similarity`, where rows are compared.
"""

from .similarity._correlations import (
    FLOOR,
    clip_correlations,
    column_units,
    covariance,
    gram,
    sampling_variance,
    standard_deviations,
    to_correlation,
)
from .similarity._holes import PairwiseMoments, pairwise
from .similarity._noise import (
    effective_columns,
    noise_fraction,
    noise_variance,
    regress_out,
    remove_mean_row,
    spectral_noise,
)
from .similarity._rows import correlation, cosine, euclidean
from .similarity._scaled import EuclideanRows, euclidean_rows, unit_rows

__all__ = [
    "FLOOR",
    "EuclideanRows",
    "PairwiseMoments",
    "clip_correlations",
    "column_units",
    "correlation",
    "cosine",
    "covariance",
    "effective_columns",
    "euclidean",
    "euclidean_rows",
    "gram",
    "noise_fraction",
    "noise_variance",
    "pairwise",
    "regress_out",
    "remove_mean_row",
    "sampling_variance",
    "spectral_noise",
    "standard_deviations",
    "to_correlation",
    "unit_rows",
]
