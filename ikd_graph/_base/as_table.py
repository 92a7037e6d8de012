"""The one reader of tables in memory: what a user passes as X, for the estimator and all jobs."""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import check_array

from .format import count, listed, printable
from .types import Reals
from .validation import TRIANGLES, few_rows, is_triangle, well_formed


class Table(NamedTuple):
    """Numbers in rows and columns, and the names that a data frame gives them."""

    values: Any  # (n, p) ndarray of float, NaN where a value is missing, or scipy sparse
    row_names: tuple[Any, ...]  # n, or none where rows are only counted
    column_names: tuple[str, ...]  # p, or none where columns are only counted

    @property
    def dense(self) -> Reals:
        """All values, (n, p)."""
        return self.values.toarray() if sp.issparse(self.values) else self.values


def as_table(X: Any, name: str = "X", **options: Any) -> Table:
    """Read what a user passed as a table of numbers.

    No library is imported that X does not come from: objects are known by their class and
    attributes. What is masked, None or NA is missing, and NaN in the values.

    Parameters
    ----------
    X : array_like, scipy sparse, data frame or dask array
        Rows are points.
    name : str
        Of the argument, for messages.
    **options
        Of `sklearn.utils.check_array`; float64 or float32 and sparse rows are taken by default.

    Returns
    -------
    Table
        Values and names; the values may be those of X itself.

    Raises
    ------
    ValueError
        If X is no table of numbers; the message says what to pass instead.
    """
    well_formed(name, X)
    names = row_names(X), _column_names(X)
    X = _as_array_like(X, name)
    options = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"} | options
    try:
        values = check_array(X, input_name=name, ensure_all_finite=False, **options)
    except TypeError as error:
        if isinstance(X, (np.ndarray, list, tuple)) or sp.issparse(X):
            text = f"{name} must hold real numbers: {error}; convert or drop the other values"
            raise TypeError(printable(text)) from None
        raise _not_a_table(X, name) from None
    except ValueError as error:
        # It may contain names of columns, which must not write to a terminal.
        raise ValueError(printable(str(error))) from None
    return Table(values, *names)


def check_known(values: Any, name: str, cure: str, *, holes: bool = False) -> None:
    """Raise where values are infinite, or missing without ``holes``, naming the rows."""
    stored = values.data if sp.issparse(values) else values
    # Nothing of the size of a table is made where its sum is finite.
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(np.sum(stored)):
            return
    row = values.tocoo().row if sp.issparse(values) else np.arange(len(values))[:, None]
    for is_odd, what, kind, advice in (
        (np.isinf, "infinity", "infinite", f"X[np.isinf(X)] = np.nan makes them missing; {cure}"),
        (np.isnan, "NaN", "missing", cure),
    ):
        odd = is_odd(stored)
        rows = np.unique(np.broadcast_to(row, stored.shape)[odd])
        if odd.ndim == 2 and odd.shape[0] == odd.shape[1]:
            # Points without any value, as constant series have, stand for the holes of others.
            empty = odd.all(axis=1)
            rows = rows if odd[~empty][:, ~empty].any() else np.flatnonzero(empty)
        if rows.size and not (holes and is_odd is np.isnan):
            if is_triangle(odd):
                raise ValueError(f"{name} {TRIANGLES}")
            raise ValueError(
                f"{name} contains {what}: got {count(rows.size, 'row')} with {kind} values: "
                f"{few_rows(rows, values.shape[0])}; {advice}"
            )


def row_names(X: Any) -> tuple[Any, ...]:
    """Names of the rows of a data frame of pandas; none where they are counted."""
    return _names(X.index) if hasattr(X, "columns") and hasattr(X, "index") else ()


def _column_names(X: Any) -> tuple[str, ...]:
    """Names of the columns of a data frame as text; none where they are counted."""
    is_frame = hasattr(X, "columns") and hasattr(X, "dtypes") and not is_dask(X)
    return tuple(map(str, _names(X.columns))) if is_frame else ()


def _names(index: Any) -> tuple[Any, ...]:
    """Names in an index of pandas or a list, but none of 0, 1, 2, ... that nobody gave."""
    if is_dask(index):
        return ()
    counted = type(index).__name__ == "RangeIndex" and list(index) == list(range(len(index)))
    return () if counted else tuple(index)


def _as_array_like(X: Any, name: str) -> Any:
    """X as numpy makes a table of numbers of it, or an error that says what to pass instead."""
    if is_dask(X):
        # First of all: what is delayed has every attribute.
        kind = type(X).__name__
        if kind != "Array":
            raise ValueError(
                f"{name} must be a dask array, got a {kind} of Dask; pass dask.array.from_delayed"
                "(X, shape, dtype), or X.to_dask_array(lengths=True) of a data frame"
            )
        X = X.compute()
    if hasattr(X, "obs") and hasattr(X, "obsm"):
        # numpy would read it cell by cell, which takes minutes.
        raise ValueError(
            f"{name} must be a table of numbers, got an {_kind(X)}; pass adata.X or adata.obsm"
            "['X_pca'], or call ikd_graph.tl.ikd(adata)"
        )
    is_other = hasattr(X, "adjacency") or isinstance(X, Mapping | Iterator)
    is_record = isinstance(X, np.ndarray) and X.dtype.kind == "V"
    if is_record or (is_other and not hasattr(X, "shape")):
        raise _not_a_table(X, name)
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(
            f"{name} must be a table of numbers, got times ({X.dtype}); (X - X[0]) / "
            "numpy.timedelta64(1, 's') turns them into seconds"
        )
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        is_ours = isinstance(X, pd.DataFrame)
        frame = X if is_ours else pd.DataFrame({each: np.asarray(X[each]) for each in X.columns})
        return _numbers_of_frame(frame, name)
    if isinstance(X, np.ndarray) and X.dtype.kind == "O":
        # NA is no number: it has no place in an array of floats.
        return np.where(pd.isna(X), np.nan, X)
    return X


def _not_a_table(X: Any, name: str) -> ValueError:
    """Error of an object that makes no array of rows and columns."""
    return ValueError(
        f"{name} must be a table of numbers, got a {_kind(X)}; pass its values as an array of "
        "rows and columns, such as pandas.DataFrame(X)"
    )


def _kind(X: Any) -> str:
    """Name of the class of an object, of the library that it comes from, and of its values."""
    values = f" ({X.dtype})" if isinstance(X, np.ndarray) else ""
    return f"{type(X).__name__} of {type(X).__module__.partition('.')[0]}{values}"


def _numbers_of_frame(X: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a data frame without objects, or raise if columns are not numbers."""
    if "object" in map(str, X.dtypes):
        X = X.where(X.notna(), np.nan).infer_objects()
    wrong = [
        f"{column!r} ({dtype})"
        for column, dtype in zip(X.columns, X.dtypes, strict=True)
        if not pd.api.types.is_numeric_dtype(dtype)
    ]
    if wrong:
        text = (
            f"{name} must hold numbers only, got column{'s' * (len(wrong) > 1)} {listed(wrong)}; "
            "drop them, or convert them to numbers (names or times of rows belong into the index)"
        )
        raise ValueError(printable(text))
    return X


# Collections of Dask: brought into memory block by block, and placed lazily ----------------------


def is_dask(X: Any) -> bool:
    """Whether an object is a collection of Dask, which is not imported to tell."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def placed_lazily(model: Any, X: Any) -> Any:
    """Coordinates of the rows of a dask array, block by block, once they are computed.

    The graph of tasks holds the model as it is now: later fits change nothing.
    """
    import dask

    width, dtype = model.embedding_.shape[1], model.embedding_.dtype
    whole = X.rechunk({1: -1})
    return whole.map_blocks(
        lambda rows, placing: placing.transform(rows),
        placing=dask.delayed(copy(model), pure=False),
        dtype=dtype,
        chunks=(whole.chunks[0], (width,)),
        meta=np.empty((0, 0), dtype),
    )
