"""From a table, or values between points, and the name of an affinity to their similarity."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._base import limits
from ..covariance import euclidean_rows, unit_rows
from ._affinity import AFFINITIES, GIVEN
from ._distances import DistanceRows
from ._given import Precomputed, SparsePrecomputed
from ._products import ProductRows
from ._similarity import Similarity


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
        given = SparsePrecomputed if sp.issparse(X) else Precomputed
        return given(X, distances=affinity == "precomputed_distance", scale=scale)
    kind = AFFINITIES[affinity]
    dtype = np.float64 if X.shape[0] <= limits.DOUBLE else X.dtype
    if kind.euclidean:
        scaled = euclidean_rows(X, standardized=kind.scales_columns, dtype=dtype)
        return DistanceRows(kind, scaled, model_based=model_based)
    allow_flat = counts or kind.square_roots
    rows = unit_rows(kind.modeled(X), kind.over_pairs, allow_flat=allow_flat, dtype=dtype)
    return ProductRows(kind, rows, model_based=model_based)
