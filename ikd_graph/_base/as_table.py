"""The one reader of tables in memory: what a user passes as X, for the estimator and all jobs."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.utils import check_array

from .format import count, listed, printable
from .names import order_by_name, row_names, without_counts
from .types import Reals
from .validation import few_rows, well_formed


class Table(NamedTuple):
    """Numbers in rows and columns, and the names that a data frame gives them."""

    values: Any  # (n, p) ndarray of float, NaN where a value is missing, or scipy sparse
    row_names: tuple[Any, ...]  # n, or none where rows are only counted
    column_names: tuple[str, ...]  # p, or none where columns are only counted

    @property
    def dense(self) -> Reals:
        """All values, (n, p)."""
        return self.values.toarray() if sp.issparse(self.values) else self.values

    def by_name(self, wanted: Sequence[Any], of: str, name: str = "X") -> "Table":
        """Return the table with its columns in the order of the wanted names, if it has names."""
        cures = f"rename them to match by name, or pass {name}.to_numpy() to go by position"
        order = order_by_name(f"columns of {name}", self.column_names, wanted, of, cures)
        columns = slice(None) if order is None else order
        return self._replace(values=self.values[:, columns], column_names=tuple(map(str, wanted)))


def as_table(X: Any, name: str = "X", **options: Any) -> Table:
    """Read what a user passed as a table of numbers.

    Data frames may be of any library that narwhals knows, which imports none that X does not come
    from; lazy ones are collected. What is masked, None or NA is missing, and NaN in the values.

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
    rows = without_counts(row_names(X))
    options = {"dtype": [np.float64, np.float32], "accept_sparse": "csr"} | options
    try:
        X = _as_array_like(X, name)
        columns = map(str, without_counts(X.columns) if isinstance(X, pd.DataFrame) else ())
        values = check_array(X, input_name=name, ensure_all_finite=False, **options)
    except TypeError as error:
        if isinstance(X, (np.ndarray, list, tuple)) or sp.issparse(X):
            text = f"{name} must hold real numbers: {error}; convert or drop the other values"
            raise TypeError(printable(text)) from None
        raise _not_a_table(X, name) from None
    except ValueError as error:
        # It may contain names of columns, which must not write to a terminal.
        raise ValueError(printable(str(error))) from None
    return Table(values, rows, tuple(columns))


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
            raise ValueError(
                f"{name} contains {what}: got {count(rows.size, 'row')} with {kind} values: "
                f"{few_rows(rows, values.shape[0])}; {advice}"
            )


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
        cure = "pass adata.X or adata.obsm['X_pca'], or call ikd_graph.tl.ikd(adata)"
        raise _not_a_table(X, name, cure)
    is_other = hasattr(X, "adjacency") or isinstance(X, Mapping | Iterator)
    is_record = isinstance(X, np.ndarray) and X.dtype.kind == "V"
    if is_record or (is_other and not hasattr(X, "shape")):
        raise _not_a_table(X, name)
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        cure = "(X - X[0]) / numpy.timedelta64(1, 's') turns times into seconds"
        raise _not_a_table(X, name, cure)
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    if isinstance(X, np.ndarray) and X.dtype.kind == "O":
        # NA is no number: it has no place in an array of floats.
        return np.where(pd.isna(X), np.nan, X)
    return _numbers_of_frame(X, name)


def _not_a_table(X: Any, name: str, cure: str = "") -> ValueError:
    """Error of an object that makes no array of rows and columns, with its class and library."""
    kind = f"{type(X).__name__} of {type(X).__module__.partition('.')[0]}"
    kind += f" ({X.dtype})" if isinstance(X, np.ndarray) else ""
    usual = "pass its values as an array of rows and columns, such as pandas.DataFrame(X)"
    return ValueError(f"{name} must be a table of numbers, got a {kind}; {cure or usual}")


def _numbers_of_frame(X: Any, name: str) -> Any:
    """Return a data frame of numbers as one of pandas without objects; all else as it is."""
    if not isinstance(X, pd.DataFrame):
        frame = nw.from_native(X, pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        if not isinstance(frame, nw.DataFrame):
            return X
        is_plain = frame.columns and all(kind.is_numeric() for kind in frame.schema.values())
        each = {} if is_plain else {one.name: one.to_numpy() for one in frame.iter_columns()}
        X = pd.DataFrame(frame.to_numpy() if is_plain else each, columns=frame.columns)
    if X.shape[1] == 0:
        return X.to_numpy(np.float64)
    if np.dtype(object) in {*X.dtypes}:
        X = X.where(X.notna(), np.nan).infer_objects().apply(_without_objects)
    is_number = pd.api.types.is_numeric_dtype
    # There are few types, and may be many columns.
    if not all(map(is_number, {*X.dtypes})):
        types = zip(X.columns, X.dtypes, strict=True)
        wrong = [f"{column!r} ({dtype})" for column, dtype in types if not is_number(dtype)]
        text = (
            f"{name} must hold numbers only, got column{'s' * (len(wrong) > 1)} {listed(wrong)}; "
            "drop them, or convert them to numbers (names or times of rows belong into the index)"
        )
        raise ValueError(printable(text))
    return X


def _without_objects(column: pd.Series) -> pd.Series:
    """Decimals of a column, or True, False and NaN, as floats; any other column as it is."""
    kind = pd.api.types.infer_dtype(column)
    return column.astype(np.float64) if kind in ("decimal", "boolean") else column


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
