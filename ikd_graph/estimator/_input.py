"""What `fit` and `transform` take: tables of rows, or values between pairs of points."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from .. import graph, missing
from .._base.as_table import Table, as_table, check_known, printable
from .._base.dask import is_dask
from .._base.validation import check_magnitude, check_symmetric, few_rows, rounding_of
from .._base.warn import warn
from ..similarity import GIVEN


def read(model: Any, X: Any, *, reset: bool = True, **options: Any) -> Any:
    """X by the rules of scikit-learn, with NaN for missing values where these are filled in.

    Parameters
    ----------
    model : IKD
        Whose parameters say what X is.
    X : array_like, scipy sparse, data frame or graph
        Rows, or values between pairs of points.
    reset : bool
        Whether the number and names of columns are learnt, or must be those of the fit.
    **options
        Of `sklearn.utils.check_array`.

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
    if pairs:
        X = _as_pairs(X)
    table = as_table(X, estimator=model, **options)
    rows = table.values
    if sp.issparse(rows) and isinstance(missing.get(model.missing), missing.Impute):
        raise ValueError(
            "missing must be 'error' or 'pairwise' for sparse rows, got 'impute'; what a sparse X "
            "does not store is zero: pass a dense X with NaN"
        )
    try:
        # Only names and the number of columns are looked at, as scikit-learn keeps them.
        named = X if table.column_names else rows
        validate_data(model, named, reset=reset, skip_check_array=True)
    except ValueError as error:
        raise ValueError(printable(str(error))) from None
    if reset or (not pairs and hasattr(X, "columns")):
        _check_column_names(model, table, reset)
    own = getattr(model, "preprocessor_", None)
    if own is not None and not reset:
        rows = own.apply(table.dense).astype(rows.dtype, copy=False)
    if pairs and not sp.issparse(rows):
        _check_unknown_points(rows)
    cure = (
        "a scipy sparse matrix stores only the pairs that are known"
        if pairs
        else "pass missing='pairwise' (nothing is filled in) or 'impute', or drop those rows"
    )
    check_known(rows, "Input X", cure, holes=model.missing != "error" and not pairs)
    bound = 1e140 if model.affinity == "precomputed" else 1e70
    # What is small next to the rows of the fit is placed alone as it is among others.
    least = 1.0 / bound if reset else 0.0
    check_magnitude("X", rows.data if sp.issparse(rows) else rows, bound, least)
    return rows


def _as_pairs(X: Any) -> Any:
    """Values between pairs of points as a matrix: a graph of networkx is one of correlations."""
    if is_dask(X):
        raise ValueError(
            "X must be in memory for affinity='precomputed', got a collection of Dask; pass "
            "X.compute()"
        )
    if hasattr(X, "adjacency") and hasattr(X, "is_directed"):
        return graph.networkx_matrix(X)
    if getattr(X, "ndim", 2) == 1 and float(np.sqrt(2.0 * len(X) + 0.25) + 0.5).is_integer():
        raise ValueError(
            f"X must be square, got a list of {len(X)} values; pass "
            "scipy.spatial.distance.squareform(X)"
        )
    return graph.frame_by_name(X)


def _check_column_names(model: Any, table: Table, reset: bool) -> None:
    """Keep the names of the columns, or raise where new rows have them in another order.

    scikit-learn looks at names that are text; numbers are names as well, but for 0, 1, 2, ...
    """
    if reset:
        model._column_names = table.column_names
        return
    counted = tuple(map(str, range(table.values.shape[1])))
    names, known = (each or counted for each in (table.column_names, model._column_names))
    if names == known or (counted in (names, known) and set(names) != set(known)):
        return
    at = next(k for k, (a, b) in enumerate(zip(names, known, strict=True)) if a != b)
    kind = "order" if set(names) == set(known) else "names"
    raise ValueError(
        f"columns of X must have the {kind} of the fit, got {names[at]!r} where the fit had "
        f"{known[at]!r}; choose the columns by their names"
    )


def _check_unknown_points(X: NDArray[np.floating]) -> None:
    """Raise if points have no value with any other, as a series without variance."""
    if X.shape[0] != X.shape[1]:
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
