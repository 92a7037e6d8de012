"""How points are compared: an affinity on the rows of a table, or values that were given."""

from typing import Any

import scipy.sparse as sp

from ._base import AFFINITIES, GIVEN, Affinity, Similarity
from ._correlations import FLOOR as FLOOR
from ._correlations import VARIANCES as VARIANCES
from ._correlations import column_moments as column_moments
from ._correlations import known_column_units as known_column_units
from ._equal import KnownRows, unique_rows
from ._given import Correlations as Correlations
from ._given import Precomputed, SparsePrecomputed
from ._given import as_similarity as as_similarity
from ._given import check_pairs as check_pairs
from ._given import stored_pairs as stored_pairs
from ._given import warn_of_pairs as warn_of_pairs
from ._holes import PairwiseSimilarity
from ._neighbors import SEARCHES as SEARCHES
from ._neighbors import check_count as check_count
from ._neighbors import row_neighbors as row_neighbors

# Named as themselves: for the layers above, not for users.
from ._noise import are_ordered as are_ordered
from ._noise import doubly_centered_rows as doubly_centered_rows
from ._noise import effective_columns as effective_columns
from ._rows import RowSimilarity, compare_rows
from ._scaled import SparseRows as SparseRows
from ._scaled import centered_rows as centered_rows
from ._scaled import unit_rows as unit_rows

__all__ = [
    "AFFINITIES",
    "GIVEN",
    "Affinity",
    "KnownRows",
    "PairwiseSimilarity",
    "Precomputed",
    "RowSimilarity",
    "Similarity",
    "SparsePrecomputed",
    "compare",
    "unique_rows",
]


def compare(
    X: Any, affinity: str, *, counts: bool = False, model_based: bool = False, scale: Any = None
) -> Similarity:
    """Similarity of the rows of X, or of the points whose covariances or distances X is.

    Parameters
    ----------
    X : (n, p) ndarray of float64 or float32, SparseTable, or (n, n) ndarray or scipy sparse
        Rows, or values between points.
    affinity : str
        A name in `AFFINITIES`, "precomputed" or "precomputed_distance".
    counts : bool
        Whether X is a table of whole numbers, in which a row without spread is nothing unusual.
    model_based : bool
        Whether the columns are taken for samples of the model as they are.
    scale : float or (n,) ndarray of float64, optional
        What given values were divided by, where X holds the similarities that this has made.

    Returns
    -------
    Similarity
        Similarities at most 1, 1 for a point with itself.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import similarity
    >>> rows = similarity.compare(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]), "correlation")
    >>> rows.between(np.array([0]), np.array([1])).round(3)
    array([0.5])
    """
    if affinity in GIVEN:
        kind = SparsePrecomputed if sp.issparse(X) else Precomputed
        return kind(X, distances=affinity == "precomputed_distance", scale=scale)
    return compare_rows(AFFINITIES[affinity], X, counts=counts, model_based=model_based)
