"""Missing values, each filled in by the mean of it in the rows nearest over the known columns."""

import numpy as np
from numpy.typing import NDArray
from sklearn.impute import KNNImputer

from ._validation import few


def check_holes(X: NDArray[np.floating]) -> None:
    """Raise if a row or a column has no value at all."""
    for name, axis in (("row", 1), ("column", 0)):
        empty = np.flatnonzero(np.isnan(X).all(axis=axis))
        if empty.size:
            raise ValueError(
                f"every {name} of X must hold a value, got {empty.size} empty: {few(empty)}; "
                "drop them"
            )


def fill(X: NDArray[np.floating], table: NDArray[np.floating]) -> NDArray[np.floating]:
    """Rows (b, p) with missing values filled in from the rows (n, p) of a table, each by itself.

    Distances are those over the columns that both rows have, scaled to all columns
    (`sklearn.impute.KNNImputer`; docs/decisions/012-missing-values.md). A row without a value
    stays as it is.
    """
    filled = X.copy()
    holes = np.isnan(X)
    imputer = KNNImputer(weights="distance").fit(table)
    for row in np.flatnonzero(holes.any(axis=1) & ~holes.all(axis=1)):
        filled[row] = imputer.transform(X[row : row + 1])[0]
    return filled
