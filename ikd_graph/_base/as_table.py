"""The one reader of tables in memory, for the estimator and all jobs, and of their names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
import scipy.sparse as sp
from pandas.api.types import infer_dtype, is_numeric_dtype
from sklearn.utils import check_array

from .dask_tables import is_dask, require_table
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

    def by_name(self, wanted: Sequence[Any], of: str, name: str = "X") -> "Table":
        """Return the table with the wanted columns, in their order where it has names."""
        cures = f"rename them to match by name, or pass {name}.to_numpy() to go by position"
        order = order_by_name(f"columns of {name}", self.column_names, wanted, of, cures)
        if self.values.shape[1] != len(wanted):
            width = f"the {len(wanted)} columns of {of}, got {self.values.shape[1]}"
            raise ValueError(f"{name} must have {width}; pass rows of the same columns")
        columns = slice(None) if order is None else order
        return self._replace(values=self.values[:, columns], column_names=tuple(map(str, wanted)))


def as_table(X: Any, name: str = "X", **options: Any) -> Table:
    """Read what a user passed as a table of numbers.

    Data frames may be of any library that narwhals knows, which imports none that X does not come
    from; lazy ones are collected. What is masked, None or NA is missing, and NaN in the values.

    Parameters
    ----------
    X : array_like, scipy sparse or data frame
        Rows are points. What is in blocks of Dask is brought into memory.
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
    X = require_table(X, name).compute() if is_dask(X) else X
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
            if is_triangle(odd):
                raise ValueError(f"{name} {TRIANGLES}")
            raise ValueError(
                f"{name} contains {what}: got {count(rows.size, 'row')} with {kind} values: "
                f"{few_rows(rows, values.shape[0])}; {advice}"
            )


def _as_array_like(X: Any, name: str) -> Any:
    """X as numpy makes a table of numbers of it, or an error that says what to pass instead."""
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
        X = X.where(X.notna(), np.nan).infer_objects()
        X = X.apply(lambda c: c.astype(float) if infer_dtype(c) in ("decimal", "boolean") else c)
    # There are few types, and may be many columns.
    if not all(map(is_numeric_dtype, {*X.dtypes})):
        types = zip(X.columns, X.dtypes, strict=True)
        wrong = [f"{column!r} ({dtype})" for column, dtype in types if not is_numeric_dtype(dtype)]
        text = (
            f"{name} must hold numbers only, got column{'s' * (len(wrong) > 1)} {listed(wrong)}; "
            "drop them, or convert them to numbers (names or times of rows belong into the index)"
        )
        raise ValueError(printable(text))
    return X


# Names: where both of two things have some, these say what belongs together -----------------------


def row_names(X: Any) -> Sequence[Any]:
    """Names of the rows of a frame or Series, of a fit, of the nodes of a graph; none of arrays."""
    if isinstance(index := getattr(X, "index", None), pd.Index):
        return index
    # Asked of the class: what is delayed has every attribute.
    if not hasattr(type(X), "number_of_nodes"):
        return getattr(X, "_row_names", ()) if hasattr(type(X), "_row_names") else ()
    # Whole numbers without gaps are in order.
    numbers = [int(text) if text.isdecimal() else -1 for text in as_text(X)]
    first, nodes = max(min(numbers, default=0), 0), [*X]
    is_run = sorted(numbers) == [*range(first, first + len(nodes))]
    return [nodes[at] for at in np.argsort(numbers)] if is_run else nodes


def without_counts(names: Sequence[Any]) -> tuple[Any, ...]:
    """Names, but none of 0, 1, 2, ... that nobody gave."""
    return () if pd.Index(names).equals(pd.RangeIndex(len(names))) else tuple(names)


def order_by_name(
    what: str, names: Sequence[Any], wanted: Sequence[Any], of: str, cures: str
) -> list[int] | None:
    """Position of each wanted name among names; None where both are in one order, or one has none.

    Parameters
    ----------
    what, of : str
        What has the names, and what the wanted ones are of, for messages.
    names, wanted : sequence
        Compared as text, in which a whole number has no decimal point.
    cures : str
        How to match by name, and how by position.

    Returns
    -------
    list of int or None
        Positions, where both have names.

    Raises
    ------
    ValueError
        If a name is missing or stands twice, or the numbers from 0 are in two orders, so that they
        may be names or not.
    """
    have, need = as_text(names), as_text(wanted)
    place = {name: position for position, name in enumerate(have)}
    is_counted = any(keys == [*map(str, range(len(keys)))] for keys in (have, need))
    if have == need or not (have and need) or (is_counted and place.keys() != {*need}):
        return None
    here, there = Counter(have), Counter(need)
    wrong = [repr(name) for name in there if not here[name] == there[name] == 1]
    if not (is_counted or wrong):
        return [place[name] for name in need]
    got = f"{listed(wrong, 5)} missing or twice" if wrong else "the numbers from 0 in two orders"
    text = f"{what} must have the names of {of}, each once, got {got}; {cures}"
    raise ValueError(printable(text))


def rows_by_name(what: str, values: Any, wanted: Sequence[Any], of: str = "X") -> Any:
    """Rows of a Series or frame in the order of the wanted names; what has no names as it is."""
    cures = f"reindex {what} to match by name, or pass {what}.to_numpy() to go by position"
    order = order_by_name(what, row_names(values), wanted, f"the rows of {of}", cures)
    return values if order is None else values.iloc[order]


def as_text(names: Iterable[Any]) -> list[str]:
    """Names as text, whole numbers of any type alike."""
    texts = map(str, names)
    return [t.removesuffix(".0") if t[:-2].lstrip("-").isdecimal() else t for t in texts]
