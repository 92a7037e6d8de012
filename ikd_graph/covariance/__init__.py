"""Rows of X to the covariance between points and its precision.

Points are rows; each column is one sample of the process, so the covariance between two
ROWS estimates the kernel between their latents (Li & Wu 2024, Eq. 1 and Section 2.2).
"""

# What is named as itself is for the layers above, not for users.
from ._effective import are_ordered as are_ordered
from ._effective import doubly_centered_rows as doubly_centered_rows
from ._effective import effective_columns, regress_out, remove_mean_row
from ._euclidean import EuclideanRows, euclidean, euclidean_rows
from ._marchenko_pastur import spectral_noise
from ._noise import noise_fraction, noise_variance
from ._pairwise import KnownRows as KnownRows
from ._pairwise import PairwiseMoments, pairwise
from ._pairwise import known_column_means as known_column_means
from ._pairwise import known_column_units as known_column_units
from ._pairwise import known_rows as known_rows
from ._pairwise import moments_between as moments_between
from ._pairwise import moments_of_all as moments_of_all
from ._rows import AFFINITIES, correlation, cosine, covariance, gram, unit_rows
from ._rows import centered_rows as centered_rows
from ._rows import rows_vary as rows_vary
from ._scale import (
    FLOOR,
    clip_correlations,
    column_units,
    sampling_variance,
    standard_deviations,
    to_correlation,
)
from ._scale import ROUNDING as ROUNDING
from ._scale import VARIANCES as VARIANCES
from ._scale import columns_vary as columns_vary
from ._sparse import SparseRows as SparseRows
from ._sparse import sparse_euclidean_rows as sparse_euclidean_rows
from ._sparse import sparse_unit_rows as sparse_unit_rows

__all__ = [
    "AFFINITIES",
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
