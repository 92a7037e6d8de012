"""Tables of Dask: fitted from blocks that the workers read, placed block by block by them.

References
----------
M. Rocklin, Dask: parallel computation with blocked algorithms and task scheduling, SciPy 2015.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import check_unmasked


def gather(X: Any) -> NDArray[np.floating]:
    """Rows of a dask array in the memory of this process.

    The blocks are persisted, so that workers make them side by side, and fetched one by one.

    Parameters
    ----------
    X : dask array (n, p)
        Rows in blocks.

    Returns
    -------
    (n, p) ndarray of float32, or of float64
        The same rows; float32 stays float32.

    Raises
    ------
    ValueError
        If a block has another shape or type than the array says.
    """
    if X.ndim != 2 or np.isnan(X.shape[0]):
        raise ValueError(
            f"X must be a dask array of 2 dimensions of known lengths, got shape {X.shape}; "
            "X.compute_chunk_sizes() finds them"
        )
    if X.dtype.kind not in "fiubO":
        raise ValueError(f"X must hold real numbers, got a dask array of {X.dtype}; pass X.real")
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    blocks = X.map_blocks(_checked, dtype=X.dtype, meta=_nothing(X.dtype)).astype(dtype)
    blocks = blocks.rechunk({1: -1}).persist()
    rows, start = np.empty(X.shape, dtype), 0
    for number, size in enumerate(X.chunks[0]):
        rows[start : start + size] = blocks.blocks[number].compute()
        start += size
    return rows


def place(model: Any, X: Any, n_components: int, dtype: Any) -> Any:
    """Lazy coordinates of the rows of a dask array.

    Parameters
    ----------
    model : IKD
        What places rows. The graph of tasks holds it as it is now: later fits change nothing.
    X : dask array (n, p)
        Rows.
    n_components : int
        Number m of coordinates.
    dtype : dtype
        Type of the coordinates.

    Returns
    -------
    dask array (n, m)
        Nothing is placed before it is computed; block by block as X.
    """
    import dask

    checked = X.map_blocks(_checked, dtype=X.dtype, meta=_nothing(X.dtype)).rechunk({1: -1})
    return checked.map_blocks(
        _place,
        model=dask.delayed(copy.copy(model), pure=False),
        dtype=dtype,
        chunks=(checked.chunks[0], (n_components,)),
        meta=_nothing(dtype),
    )


def _nothing(dtype: Any) -> NDArray[Any]:
    """An empty table, which tells Dask what blocks are."""
    return np.empty((0, 0), dtype)


def _checked(block: Any, block_info: Any = None) -> Any:
    """A block, if it is what the array says."""
    check_unmasked("X", block)
    shape, dtype = block_info[None]["chunk-shape"], block_info[None]["dtype"]
    if block.shape != shape or block.dtype != dtype:
        raise ValueError(
            f"block {block_info[None]['chunk-location']} of X must be {shape} of {dtype}, got "
            f"{block.shape} of {block.dtype}; declare what the blocks are, see "
            "dask.array.from_delayed"
        )
    return block


def _place(rows: NDArray[Any], model: Any) -> NDArray[np.floating]:
    """Coordinates of one block."""
    latent: NDArray[np.floating] = model.transform(rows)
    return latent
