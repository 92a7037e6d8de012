"""Rows of X to the covariance between points and its precision.

Points are rows; each column is one sample of the process, so the covariance between two
ROWS estimates the kernel between their latents (Li & Wu 2024, Eq. 1 and Section 2.2). The functions
belong to `similarity`, where rows are compared.
"""

# Named as themselves: for the layers above, not for users.
from ._base.rounding import ROUNDING as ROUNDING
from .similarity import VARIANCES as VARIANCES
from .similarity import SparseRows as SparseRows
from .similarity import are_ordered as are_ordered
from .similarity import centered_rows as centered_rows
from .similarity import columns_vary as columns_vary
from .similarity import doubly_centered_rows as doubly_centered_rows
from .similarity import known_column_means as known_column_means
from .similarity import rows_vary as rows_vary
from .similarity import sparse_unit_rows as sparse_unit_rows
from .similarity._correlations import (
    FLOOR,
    clip_correlations,
    column_units,
    sampling_variance,
    standard_deviations,
    to_correlation,
)
from .similarity._dense import EuclideanRows, covariance, euclidean_rows, gram, unit_rows
from .similarity._effective import effective_columns, regress_out, remove_mean_row
from .similarity._holes import PairwiseMoments, pairwise
from .similarity._noise import noise_fraction, noise_variance, spectral_noise
from .similarity._rows import correlation, cosine, euclidean

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
