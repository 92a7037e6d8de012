"""What `fit` and `transform` take: tables of rows, or values between pairs of points."""

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from .. import graph, missing
from .._format import count
from .._validation import (
    check_magnitude,
    check_sparse,
    check_symmetric,
    check_unmasked,
    few_rows,
    rounding_of,
)
from .._warn import warn
from ..similarity import GIVEN
from ._objects import as_table, check_labels, printable


def read(model: Any, X: Any, **options: Any) -> Any:
    """X by the rules of scikit-learn, with NaN for missing values where these are filled in.

    Parameters
    ----------
    model : IKD
        Whose parameters say what X is.
    X : array_like, scipy sparse, data frame or graph
        Rows, or values between pairs of points.
    **options
        Of `sklearn.utils.validation.validate_data`.

    Returns
    -------
    ndarray of float or scipy sparse
        Finite values, or NaN.

    Raises
    ------
    ValueError
        If X is none of this; the message names the rule and the cure.
    """
    pairs = isinstance(model.affinity, str) and model.affinity in GIVEN
    fills = model.missing != "error" and not pairs
    given, X = X, as_table(X, pairs=pairs)
    if pairs:
        X = graph.frame_by_name(X)
    check_sparse("X", X)
    if sp.issparse(X) and isinstance(missing.get(model.missing), missing.Impute):
        raise ValueError(
            "missing must be 'error' or 'pairwise' for sparse rows, got 'impute'; what a sparse X "
            "does not store is zero: pass a dense X with NaN"
        )
    if fills and isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    check_unmasked("X", X)
    if getattr(getattr(X, "dtype", None), "kind", "") == "O" and "pandas" in sys.modules:
        # NA is no number: it has no place in an array of floats.
        X = np.where(sys.modules["pandas"].isna(X), np.nan, X)
    try:
        X = validate_data(model, X, ensure_all_finite=False, **options)
    except ValueError as error:
        # It may contain names of columns, which must not write to a terminal.
        raise ValueError(printable(str(error))) from None
    if not pairs:
        check_labels(model, given, reset=options.get("reset", True))
    own = getattr(model, "preprocessor_", None)
    if own is not None and not options.get("reset", True):
        X = own.transform(X.toarray() if sp.issparse(X) else X).astype(X.dtype, copy=False)
    values = X.data if sp.issparse(X) else X
    _check_infinite(X, values, pairs)
    # NaN in one entry is NaN in the sum: nothing of the size of X is made.
    if not fills and np.isnan(np.sum(values)):
        row = X.tocoo().row if sp.issparse(X) else np.arange(len(X))[:, None]
        holes = np.unique(np.broadcast_to(row, values.shape)[np.isnan(values)])
        _check_unknown_points(X, pairs)
        cure = (
            "a scipy sparse matrix stores only the pairs that are known"
            if pairs
            else "pass missing='pairwise' (nothing is filled in) or 'impute', or drop those rows"
        )
        raise ValueError(
            f"Input X contains NaN: got {count(holes.size, 'row')} with missing values: "
            f"{few_rows(holes, X.shape[0])}; {cure}"
        )
    bound = 1e140 if model.affinity == "precomputed" else 1e70
    # What is small next to the rows of the fit is placed alone as it is among others.
    least = 1.0 / bound if options.get("reset", True) else 0.0
    check_magnitude("X", values, bound, least)
    return X


def _check_infinite(X: Any, values: Any, pairs: bool) -> None:
    """Raise if a value is infinite, naming rows and the cure."""
    # A sum that is finite has no infinite term.
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(np.sum(values)) or not np.isinf(values).any():
            return
    row = X.tocoo().row if sp.issparse(X) else np.arange(len(X))[:, None]
    holes = np.unique(np.broadcast_to(row, values.shape)[np.isinf(values)])
    cure = (
        "a scipy sparse matrix stores only the pairs that are known"
        if pairs
        else "take them for missing, X[np.isinf(X)] = np.nan with missing='pairwise', or drop "
        "those rows"
    )
    raise ValueError(
        f"Input X contains infinity: got {count(holes.size, 'row')} with infinite values: "
        f"{few_rows(holes, X.shape[0])}; {cure}"
    )


def _check_unknown_points(X: Any, pairs: bool) -> None:
    """Raise if points have no value with any other, as a series without variance."""
    if not pairs or sp.issparse(X) or X.shape[0] != X.shape[1]:
        return
    unknown = np.flatnonzero(np.isnan(X).sum(axis=1) >= len(X) - 1)
    known = np.setdiff1d(np.arange(len(X)), unknown)
    if unknown.size and known.size and not np.isnan(X[np.ix_(known, known)]).any():
        raise ValueError(
            f"Input X contains NaN: points {few_rows(unknown, len(X))} have no value with any "
            "other, as a constant series, whose variance is 0, has no correlation; leave them out "
            "of both axes"
        )


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


def ask_about_pairs(X: Any) -> None:
    """Warn where rows of X look like the correlations between them."""
    if sp.issparse(X) or X.shape[0] != X.shape[1]:
        return
    error = np.abs(X - X.T).max() + np.abs(X.diagonal() - 1.0).max()
    if error <= rounding_of(X) and np.abs(X).max() <= 1.0 + rounding_of(X):
        warn(
            "X looks like correlations between its rows, a symmetric matrix with 1 on the "
            "diagonal, and is fitted as a table of rows; affinity='precomputed' takes it for "
            "correlations"
        )
