"""Collections of Dask: brought into memory block by block, and placed lazily."""

from copy import copy
from typing import Any

import numpy as np


def is_dask(X: Any) -> bool:
    """Whether an object is a collection of Dask, which is not imported to tell."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def computed(X: Any, name: str) -> Any:
    """Rows of a dask array in memory, or an error that says how to make one."""
    kind = type(X).__name__
    if kind != "Array":
        cures = {"Delayed": "dask.array.from_delayed(X, shape, dtype)"}
        cure = cures.get(kind, "X.to_dask_array(lengths=True)")
        raise ValueError(f"{name} must be a dask array, got a {kind} of Dask; pass {cure}")
    return X.compute()


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
