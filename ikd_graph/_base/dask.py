"""Collections of Dask: brought into memory block by block, and placed lazily."""

from copy import copy
from typing import Any

import numpy as np

from .validation import check_unmasked


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
