"""Tables in blocks of Dask: a sample of their rows is fitted, and all rows are placed lazily."""

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .types import Integers, Reals
from .validation import naming_rows
from .warn import each_once


def is_dask(X: Any) -> bool:
    """Whether an object is a collection of Dask, which is not imported to tell."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def require_table(X: Any, name: str = "X") -> Any:
    """Return a collection of Dask, or raise unless it is an array or a data frame."""
    # Asked of the class: what is delayed has every attribute.
    if (kind := type(X).__name__) not in ("Array", "DataFrame"):
        raise ValueError(
            f"{name} must be an array or a data frame, got a {kind} of Dask; pass "
            "dask.array.from_delayed(X, shape, dtype), or X.to_frame() of a single column"
        )
    return X


def any_row(X: Any) -> Any:
    """Return a row in memory with the columns of a table of Dask, and no values of it."""
    if _is_frame(X):
        return pd.DataFrame(np.ones((1, len(X.columns))), columns=X.columns)
    return np.ones((1, *X.shape[1:]))


def _is_frame(X: Any) -> bool:
    """Whether a table of Dask is a data frame."""
    return type(require_table(X)).__name__ == "DataFrame"


class Sample(NamedTuple):
    """Rows of a table of Dask in memory, and the table, whose blocks have known lengths."""

    rows: Any  # (k, p) array or data frame
    numbers: Integers  # (k,) of these rows in the table, ascending
    table: Any
    lengths: Sequence[int]  # rows in each block


def sample_rows(X: Any, most: int, seed: int | None) -> Sample:
    """Return one row of each of so many stretches of equal length, or all rows.

    Which rows are taken does not depend on how the table is cut into blocks.
    """
    import dask

    if _is_frame(X):
        lengths = tuple(X.map_partitions(len).compute())
    else:
        # Of a copy: lengths are found in place.
        X = copy(X).compute_chunk_sizes() if np.isnan(X.shape).any() else X
        lengths = X.chunks[0]
    n = sum(lengths)
    size = min(n, most)
    edges = np.arange(size + 1) * n // max(size, 1)
    numbers = np.random.default_rng(seed or 0).integers(edges[:-1], edges[1:])
    if not _is_frame(X):
        return Sample(X[numbers].compute(), numbers, X, lengths)
    starts = np.cumsum((0, *lengths))[:-1]
    pieces = np.split(numbers, np.searchsorted(numbers, starts[1:]))
    take = dask.delayed(lambda block, at: block.iloc[at])
    blocks = zip(X.to_delayed(), pieces, starts, strict=True)
    few = dask.compute(*(take(block, piece - start) for block, piece, start in blocks))
    is_counted = isinstance(X._meta.index, pd.RangeIndex)
    return Sample(pd.concat(few, ignore_index=is_counted), numbers, X, lengths)


class _Placing:
    """A model that places blocks of rows, in one thread each: Dask runs many."""

    def __init__(self, model: Any, *, by_name: bool) -> None:
        self.model, self.said = copy(model), set[tuple[str, int]]()
        self.model.n_jobs, self.model.verbose = 1, 0
        if not by_name:
            # scikit-learn would warn in every block that arrays have none.
            self.model.__dict__.pop("feature_names_in_", None)

    def place(self, rows: Any, numbers: Sequence[int] = ()) -> Reals:
        """Return coordinates of rows (b, m), of which messages use the numbers."""
        if not rows.shape[0]:
            return self.model.embedding_[:0]
        with naming_rows(numbers), each_once(self.said):
            return np.asarray(self.model.transform(rows))


def placed_lazily(model: Any, X: Any, lengths: Sequence[int] | None = None) -> Any:
    """Coordinates of the rows of a table of Dask, block by block, once they are computed.

    The graph of tasks holds the model as it is now, once for all blocks: later fits change nothing.
    ``lengths`` are those of the blocks of a data frame, where they are known.
    """
    import dask

    width, dtype = model.embedding_.shape[1], model.embedding_.dtype
    placing = _Placing(model, by_name=_is_frame(X))
    placing = dask.delayed(placing, pure=False, traverse=False)
    if _is_frame(X):
        meta = pd.DataFrame(np.empty((0, width), dtype))
        return X.map_partitions(_place_frame, placing, meta=meta).to_dask_array(lengths)
    whole = X.rechunk({1: -1})
    return whole.map_blocks(
        _place_block,
        placing=placing,
        dtype=dtype,
        chunks=(whole.chunks[0], (width,)),
        meta=np.empty((0, 0), dtype),
    )


def _place_frame(rows: pd.DataFrame, placing: _Placing) -> pd.DataFrame:
    """Return coordinates of a block of a data frame, (b, m)."""
    return pd.DataFrame(placing.place(rows))


def _place_block(rows: Any, placing: _Placing, block_info: Any) -> Reals:
    """Return coordinates of a block of an array, (b, m)."""
    start, stop = block_info[0]["array-location"][0]
    return placing.place(rows, () if np.isnan(start + stop) else range(start, stop))
