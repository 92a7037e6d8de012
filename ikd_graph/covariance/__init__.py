"""Rows of X to the covariance between points and its precision.

Points are rows; each column is one sample of the process, so the covariance between two
ROWS estimates the kernel between their latents (Li & Wu 2024, Eq. 1 and Section 2.2). Here are
functions of arrays; `similarity` has the objects that compare rows block by block.
"""

from ._matrices import (
    FLOOR,
    clip_correlations,
    correlation,
    cosine,
    covariance,
    euclidean,
    gram,
    sampling_variance,
    standard_deviations,
    to_correlation,
)

# Named as themselves: for the layers above, not for users.
from ._matrices import VARIANCES as VARIANCES
from ._noise import ONE_IN_TWENTY as ONE_IN_TWENTY
from ._noise import are_ordered as are_ordered
from ._noise import doubly_centered_rows as doubly_centered_rows
from ._noise import (
    effective_columns,
    noise_fraction,
    noise_variance,
    regress_out,
    remove_mean_row,
    spectral_noise,
)
from ._noise import largest_eigenvalue_of_noise as largest_eigenvalue_of_noise
from ._pairwise import PairwiseMoments, pairwise
from ._scaled import EuclideanRows, column_units, euclidean_rows, unit_rows
from ._scaled import SparseRows as SparseRows
from ._scaled import column_moments as column_moments

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
