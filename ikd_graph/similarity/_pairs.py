"""Values between points as they are given: covariances, distances, or a graph of them."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._base.rounding import SINGLE
from .._base.validation import check_symmetric, few_rows
from .._base.warn import warn


def check_pairs(X: Any, affinity: str) -> None:
    """Raise where distances were given and covariances are due, or the other way round."""
    if not sp.issparse(X):
        check_symmetric("a precomputed X", X)
    # A covariance is at most as large as both variances.
    stored = X.tocoo() if sp.issparse(X) else None
    values: NDArray[np.float64] = X if stored is None else stored.data
    diagonal = X.diagonal() if stored is None else stored.data[stored.row == stored.col]
    largest, least = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    # What rounding leaves on the diagonal, in float32, of roots.
    rounding = 2.0 * float(np.sqrt(float(np.finfo(np.float32).eps))) * max(largest, -least)
    zeros = diagonal.size > 0 and bool(np.abs(diagonal).max() <= rounding)
    if affinity == "precomputed" and zeros and rounding > 0.0:
        raise ValueError(
            "X must hold covariances, with variances on the diagonal, for affinity='precomputed', "
            "got a diagonal of zeros, as distances have; affinity='precomputed_distance' takes "
            "those"
        )
    if affinity == "precomputed" and stored is None and diagonal.size:
        flat = np.flatnonzero(diagonal <= 1e-28 * diagonal.max())
        if flat.size:
            raise ValueError(
                f"X must hold covariances with a variance above 0 for every point, got none for "
                f"points {few_rows(flat, X.shape[0])}, as of constant series; leave them out of "
                "both axes"
            )
    if affinity == "precomputed_distance" and ((diagonal.size and not zeros) or least < -rounding):
        raise ValueError(
            "X must hold distances, with zeros on the diagonal and no negative values, for "
            f"affinity='precomputed_distance'; got at most {diagonal.max(initial=0.0):.3g} on the "
            f"diagonal and at least {least:.3g} elsewhere; affinity='precomputed' takes covariances"
        )


def warn_of_pairs(X: Any) -> None:
    """Warn where rows of X look like the correlations between them."""
    if sp.issparse(X) or X.shape[0] != X.shape[1]:
        return
    error = np.abs(X - X.T).max() + np.abs(X.diagonal() - 1.0).max()
    if error <= SINGLE and np.abs(X).max() <= 1.0 + SINGLE:
        warn(
            "X looks like correlations between its rows, a symmetric matrix with 1 on the "
            "diagonal, and is fitted as a table of rows; affinity='precomputed' takes it for "
            "correlations"
        )
