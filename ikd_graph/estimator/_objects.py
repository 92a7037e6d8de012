"""Objects that users hold instead of an array: told apart by what they have, before any work."""

from collections import Counter
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import graph
from .._validation import check_unmasked


def as_table(X: Any, *, pairs: bool = False) -> Any:
    """X as scikit-learn's checks take it, or an error that says what to pass instead.

    No library is imported that X does not come from: objects are known by the names of their class
    and attributes. Arrays pass as they are, and so do data frames of numbers, whose columns have
    names to be kept. A graph of networkx is taken where X has a value for ``pairs`` of points.
    """
    kind = type(X).__name__
    library = type(X).__module__.partition(".")[0]
    if is_dask(X):
        # First of all: what is delayed has every attribute.
        return _from_dask(X, kind, pairs=pairs)
    if hasattr(X, "obs") and hasattr(X, "var") and hasattr(X, "obsm"):
        tables = [f"adata.obsm[{key!r}]" for key in list(X.obsm)[:2]]
        tables += [f"adata.layers[{key!r}]" for key in list(getattr(X, "layers", {}))[:2]]
        raise ValueError(
            f"X must be a table of numbers, got an {kind} of {X.shape[0]} rows and {X.shape[1]} "
            f"columns; pass {', or '.join(['adata.X', *tables])}"
        )
    if hasattr(X, "adjacency") and hasattr(X, "is_directed"):
        return _from_networkx(X, kind, pairs=pairs)
    if library == "xarray":
        return _from_xarray(X, kind)
    if library == "pynapple":
        return _from_pynapple(X, kind)
    if library == "pyarrow" and hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if kind == "LazyFrame":
        raise ValueError("X must be a table of numbers, got a LazyFrame; pass frame.collect()")
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        _check_frame(X)
        return X.where(X.notna(), np.nan) if "object" in map(str, X.dtypes) else X
    if isinstance(X, np.matrix):
        return np.asarray(X)
    if (cure := _how_to_stack(X, pairs=pairs)) is not None:
        raise ValueError(f"X must be a table of numbers, got a {kind}; pass {cure}")
    if isinstance(X, np.ndarray) and X.dtype.names:
        return _from_structured(X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise ValueError(
            f"X must hold numbers, got times ({X.dtype}); (X - X[0]) / numpy.timedelta64(1, 's') "
            "turns them into seconds"
        )
    return X


def column_labels(X: Any) -> list[str] | None:
    """Labels of the columns of a table that scikit-learn does not look at, None without any.

    Those of xarray and pynapple, and numbers for names in a data frame. Labels 0, 1, 2, ... in
    order are none.
    """
    library = type(X).__module__.partition(".")[0]
    labels: Any = None
    if library == "xarray" and getattr(X, "ndim", 0) == 2:
        labels = X.coords[X.dims[1]].values if X.dims[1] in X.coords else None
    elif hasattr(X, "columns") and (library == "pynapple" or hasattr(X, "dtypes")):
        labels = X.columns
    if labels is None:
        return None
    listed = np.asarray(labels).tolist()
    strings = library not in ("xarray", "pynapple") and all(isinstance(x, str) for x in listed)
    if strings or listed == list(range(len(listed))):
        return None
    return [str(label) for label in listed]


def dimensions(X: Any) -> list[str] | None:
    """Names of the dimensions of an array of xarray, None of anything else."""
    library = type(X).__module__.partition(".")[0]
    return [str(name) for name in X.dims] if library == "xarray" and hasattr(X, "dims") else None


def check_labels(model: Any, X: Any, *, reset: bool) -> None:
    """Keep names of columns and dimensions, or raise where new rows have them in another order."""
    labels, dims = column_labels(X), dimensions(X)
    if reset:
        model._column_labels, model._dimensions = labels, dims
        return
    known, known_dims = (getattr(model, name, None) for name in ("_column_labels", "_dimensions"))
    if dims and known_dims and dims != known_dims and set(dims) & set(known_dims[1:]) == {dims[0]}:
        raise ValueError(
            f"X must have the dimensions {tuple(known_dims)} of the fit, got {tuple(dims)}; "
            f"X.transpose({', '.join(map(repr, reversed(dims)))}) exchanges them"
        )
    # Where one side has 0, 1, 2, ..., these are its labels.
    if labels is None and known is not None and column_axis(X):
        labels = [str(number) for number in range(len(known))]
    if known is None and labels is not None and hasattr(model, "_column_labels"):
        known = [str(number) for number in range(len(labels))]
        known = known if set(known) == set(labels) else None
    if labels is None or known is None or labels == known or len(labels) != len(known):
        return
    at = next(k for k, (a, b) in enumerate(zip(labels, known, strict=True)) if a != b)
    kind = "order" if set(labels) == set(known) else "names"
    raise ValueError(
        f"columns of X must have the {kind} of the fit, got {labels[at]!r} where the fit had "
        f"{known[at]!r}; choose the columns by their names"
    )


def column_axis(X: Any) -> bool:
    """Whether a table has labels of columns, be they only 0, 1, 2, ..."""
    library = type(X).__module__.partition(".")[0]
    if library == "xarray":
        return getattr(X, "ndim", 0) == 2 and X.dims[1] in X.coords
    return library == "pynapple" and hasattr(X, "columns")


def printable(text: str) -> str:
    """Text whose control characters are escaped, but for ends of lines."""
    return "".join(c if c == "\n" or c.isprintable() else repr(c)[1:-1] for c in text)


def like(X: Any, Z: NDArray[np.floating]) -> Any:
    """Coordinates (n, m) as the object that the rows came in, with what it knows of them.

    An array of xarray keeps the coordinates along its rows, a table of pynapple its times; anything
    else gives Z itself (`set_output` makes data frames).
    """
    library = type(X).__module__.partition(".")[0]
    if library == "xarray":
        rows, columns = X.dims
        name = "component" if rows != "component" else "ikd_component"
        return type(X)(Z, coords=X.isel({columns: 0}, drop=True).coords, dims=(rows, name))
    if library == "pynapple":
        return type(X)(t=X.t, d=Z, time_support=X.time_support)
    return Z


def _from_networkx(X: Any, kind: str, *, pairs: bool) -> Any:
    """Sparse matrix of the correlations of edges, points in the order of the nodes."""
    if not pairs:
        raise ValueError(
            f"X must be a table of numbers, got a networkx {kind}; affinity='precomputed' takes "
            "the weights of its edges for correlations"
        )
    return graph.networkx_matrix(X)


def is_dask(X: Any) -> bool:
    """Whether an object is a collection of Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def _from_dask(X: Any, kind: str, *, pairs: bool) -> Any:
    """Rows of a dask array, in memory."""
    if kind != "Array" or pairs:
        what = "in memory for affinity='precomputed'" if pairs else "a dask array"
        cures = {"Delayed": "dask.array.from_delayed(X, shape, dtype)"}
        cure = "X.compute()" if pairs else cures.get(kind, "X.to_dask_array(lengths=True)")
        raise ValueError(f"X must be {what}, got a {kind} of Dask; pass {cure}")
    return _as_declared(X).compute()


def _as_declared(X: Any) -> Any:
    """Return a dask array whose blocks are refused where they are not what it declares."""

    def check(block: Any, block_info: Any = None) -> Any:
        shape, dtype = block_info[None]["chunk-shape"], block_info[None]["dtype"]
        check_unmasked("X", block)
        if block.shape != shape or block.dtype != dtype:
            raise ValueError(
                f"a block of X must be {shape} of {dtype}, got {block.shape} of {block.dtype}; "
                "declare what the blocks are, see dask.array.from_delayed"
            )
        return block

    return X.map_blocks(check, dtype=X.dtype, meta=np.empty((0, 0), X.dtype))


def placed_lazily(model: Any, X: Any) -> Any:
    """Coordinates of the rows of a dask array, block by block, once they are computed.

    The graph of tasks holds the model as it is now: later fits change nothing.
    """
    import dask

    width, dtype = model.embedding_.shape[1], model.embedding_.dtype
    whole = _as_declared(X).rechunk({1: -1})
    return whole.map_blocks(
        lambda rows, placing: placing.transform(rows),
        placing=dask.delayed(copy(model), pure=False),
        dtype=dtype,
        chunks=(whole.chunks[0], (width,)),
        meta=np.empty((0, 0), dtype),
    )


def _from_xarray(X: Any, kind: str) -> Any:
    """Values of a table with named dimensions."""
    if hasattr(X, "data_vars"):
        names = ", ".join(f"ds[{str(name)!r}]" for name in list(X.data_vars)[:5]) or "none"
        raise ValueError(f"X must be a table of numbers, got an xarray {kind}; pass one of {names}")
    if X.ndim != 2:
        dims = ", ".join(f"{name}: {size}" for name, size in zip(X.dims, X.shape, strict=True))
        raise ValueError(
            "X must have 2 dimensions, points and measurements, got an xarray "
            f"{kind} of ({printable(dims)}); "
            "X.stack(point=[...], measurement=[...]) makes two of them"
        )
    return np.asarray(X.values)


def _from_pynapple(X: Any, kind: str) -> Any:
    """Values of a table over time."""
    if (hasattr(X, "count") and hasattr(X, "rates")) or kind in ("Ts", "TsGroup"):
        raise ValueError(
            f"X must be a table of numbers, got the spike times of a {kind}; "
            "pass group.count(0.1), the spikes of each unit in bins of 0.1 s"
        )
    values = np.asarray(getattr(X, "values", X))
    if values.ndim != 2:
        raise ValueError(
            f"X must have 2 dimensions, points and measurements, got a {kind} of shape "
            f"{values.shape}; pass a TsdFrame"
        )
    return values


def _from_structured(X: NDArray[Any]) -> NDArray[np.float64]:
    """Table of the fields of a structured array, as genfromtxt and records of pandas have them."""
    names = X.dtype.names or ()
    wrong = [
        name
        for name in names
        if X.dtype[name].kind not in "biuf" or X.dtype[name].shape or X.ndim != 1
    ]
    if wrong:
        raise ValueError(
            f"a structured X must have one axis and fields of numbers, got {X.ndim} axes and "
            f"{wrong[:6]} of other kinds; X[{[n for n in names if n not in wrong][:6]}] chooses "
            "fields"
        )
    return np.column_stack([np.asarray(X[name], dtype=np.float64) for name in names])


def _how_to_stack(X: Any, *, pairs: bool) -> str | None:
    """How to make a table of what holds rows or columns and is none; None of anything else."""
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        return "pandas.DataFrame(X)"
    if isinstance(X, Iterator):
        return "list(X)"
    values = getattr(X, "to_numpy", lambda: X)()
    if getattr(values, "ndim", 0) != 1:
        return None
    if values.dtype.kind == "O" and all(np.ndim(row) == 1 for row in values[:100]):
        return "numpy.vstack(X)"
    square = np.sqrt(2.0 * values.size + 0.25) + 0.5
    return "scipy.spatial.distance.squareform(X)" if pairs and square == int(square) else None


def _check_names(X: Any) -> None:
    """Raise if names of columns of a data frame are of several kinds, or the same twice."""
    names = list(X.columns)
    kinds = sorted({type(name).__name__ for name in names})
    if "str" in kinds and len(kinds) > 1:
        raise ValueError(
            f"names of columns of X must be of one kind, got {' and '.join(kinds)}; X.columns = "
            "X.columns.astype(str) makes them text"
        )
    twice = [str(name) for name, number in Counter(names).items() if number > 1]
    if twice:
        more = f" and {len(twice) - 6} more" if len(twice) > 6 else ""
        raise ValueError(
            f"names of columns of X must be unique, got {', '.join(map(repr, twice[:6]))}{more} "
            "more than once; X.to_numpy() is the table without names"
        )


def _check_frame(X: Any) -> None:
    """Raise if columns of a data frame are not numbers, naming all of them."""
    _check_names(X)
    types = X.dtypes
    listed = list(types) if not hasattr(types, "tolist") else types.tolist()
    wrong = [
        (str(name), str(dtype))
        for position, (name, dtype) in enumerate(zip(X.columns, listed, strict=True))
        if not _is_numeric(X, position, dtype)
    ]
    if not wrong:
        return
    columns_listed = ", ".join(f"{name!r} ({dtype})" for name, dtype in wrong[:6])
    more = f" and {len(wrong) - 6} more" if len(wrong) > 6 else ""
    names = [name for name, _ in wrong[:6]]
    cure = f"X.drop({names})" if _is_polars(X) else f"X.drop(columns={names})"
    text = "column" if len(wrong) == 1 else "columns"
    if len(wrong) == len(listed):
        # Without them nothing would be left.
        whole = "X.cast(polars.Float64)" if _is_polars(X) else "X.astype(float)"
        raise ValueError(
            f"X must hold numbers only, got {text} {columns_listed}{more}; {whole} reads numbers "
            "that are written as text"
        )
    raise ValueError(
        f"X must hold numbers only, got {text} {columns_listed}{more}; {cure} leaves them out "
        "(names or times of rows belong into the index, labels into a variable of their own)"
    )


def _is_polars(X: Any) -> bool:
    """Whether a frame is of polars."""
    return type(X).__module__.startswith("polars")


def _is_numeric(X: Any, position: int, dtype: Any) -> bool:
    """Whether a column holds numbers; of a column of objects the first cells are looked at."""
    name = str(dtype).lower()
    if name == "object":
        cells = np.asarray(X.iloc[: min(len(X), 100), position], dtype=object).tolist()
        return not any(isinstance(cell, (str, bytes)) or hasattr(cell, "year") for cell in cells)
    words = ("date", "time", "duration", "str", "categor", "enum", "utf8", "period", "interval")
    return not name.startswith(words)
