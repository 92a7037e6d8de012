"""Rows with missing values, compared over the columns that both have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _checks as door

Floats = NDArray[np.float64]


@door.takes(
    X=door.gapped,
    Y=door.gapped,
    scaling=door.one_of(("correlation", "cosine", "euclidean")),
)
def pairwise(X: Floats, Y: Floats, scaling: str) -> tuple[Floats, Floats]:
    """Similarity of rows over the columns that both have, and the number of these columns.

    Parameters
    ----------
    X, Y : (b, p) and (n, p) ndarray of float64
        Rows; what is missing is NaN.
    scaling : {"correlation", "cosine", "euclidean"}
        Pearson correlation and cosine over those columns; or minus the mean squared difference over
        them, which is the squared Euclidean distance scaled by the share of columns seen.

    Returns
    -------
    similarity : (b, n) ndarray of float64
        0 where a row does not vary over the columns, or none is shared.
    shared : (b, n) ndarray of float64
        Numbers of columns.
    """
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X and Y must have the same columns, got {X.shape[1]} and {Y.shape[1]}")
    if scaling == "euclidean":
        # An offset of a column changes nothing, and would cost digits.
        middle = np.nan_to_num(np.nanmean(Y, axis=0))
        X, Y = X - middle, Y - middle
    (x, here), (y, there) = _known(X, scaling), _known(Y, scaling)
    shared = here @ there.T
    count = np.maximum(shared, 1.0)
    product = x @ y.T
    squares, other_squares = x**2 @ there.T, here @ (y**2).T
    if scaling == "euclidean":
        return -np.maximum(squares + other_squares - 2.0 * product, 0.0) / count, shared
    if scaling == "correlation":
        sums, other_sums = x @ there.T, here @ y.T
        product -= sums * other_sums / count
        squares -= sums**2 / count
        other_squares -= other_sums**2 / count
    # What centring leaves of values that are equal is rounding.
    flat = 1e-13 * count
    observed = (squares > flat) & (other_squares > flat)
    lengths = np.sqrt(np.where(observed, squares * other_squares, 1.0))
    return np.where(observed, np.clip(product / lengths, -1.0, 1.0), 0.0), shared


def _known(X: Floats, scaling: str) -> tuple[Floats, Floats]:
    """Values with zeros for what is missing, each row over its largest, and what is known."""
    observed = np.isfinite(X)
    values = np.where(observed, X, 0.0)
    if scaling == "correlation":
        # First the mean of the whole row, so that an offset costs no digits.
        means = values.sum(axis=1) / np.maximum(observed.sum(axis=1), 1)
        values = np.where(observed, values - means[:, None], 0.0)
    if scaling != "euclidean":
        largest = np.abs(values).max(axis=1, initial=0.0)
        values /= np.where(largest > 0.0, largest, 1.0)[:, None]
    return values, observed.astype(np.float64)
