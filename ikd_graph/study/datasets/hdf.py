"""What readers of HDF5 files share: opening, parts that lie elsewhere, text, tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checks import check_sparse

DENSE_LIMIT = 8 * 2**30
"""Largest number of bytes into which a sparse table is unpacked."""

MOST_PARTS = 50_000
"""Most parts of a file that are looked at: seconds, and more than recordings have."""


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """An HDF5 file, open for reading."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"reading {path.name} needs the package h5py, which is not installed; "
            "pip install h5py, or export the table as .npz or .csv"
        ) from None
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise ValueError(
            f"{str(path)!r} must be an HDF5 file, got something else ({error})"
        ) from None
    with file:
        yield file


def check_inside(
    group: Any, path: Path, names: Iterable[str], seen: Iterator[int] | None = None
) -> None:
    """Raise if parts of a file lie in other files, which may be anyone's, or are without end."""
    import h5py

    # Links may lead to one part by many ways, whose number doubles from each part to the next.
    seen = itertools.count(1) if seen is None else seen
    for name in names:
        if next(seen) > MOST_PARTS:
            raise ValueError(
                f"{path.name} must have at most {MOST_PARTS} parts, got more; its links may run in "
                "a circle: write the file again without them"
            )
        outside = isinstance(group.get(name, getlink=True), h5py.ExternalLink)
        if name not in group and not outside:
            continue
        item = None if outside else group[name]
        if isinstance(item, h5py.Dataset):
            outside = bool(item.external) or item.is_virtual
        if outside:
            raise ValueError(
                f"{path.name} must hold its own data, got {name!r} in another file; copy it here"
            )
        if isinstance(item, h5py.Group):
            check_inside(item, path, item, seen)


def is_group(item: Any) -> bool:
    """Whether a part of a file is a group."""
    return hasattr(item, "keys")


def texts(values: Any) -> tuple[str, ...]:
    """Strings of an array of strings, bytes or numbers."""
    return tuple(
        v.decode() if isinstance(v, bytes) else str(v) for v in np.asarray(values).tolist()
    )


def shape_of(item: Any) -> tuple[int, ...]:
    """Shape of a dense data set or of a sparse group, () where it is no table."""
    if not is_group(item):
        return tuple(int(n) for n in item.shape or ())
    return tuple(int(n) for n in item.attrs.get("shape", ()))


def check_fits(name: str, shape: tuple[int, ...], cure: str) -> None:
    """Raise if a table would take too much memory."""
    needed = 8 * int(np.prod(shape, dtype=np.float64))
    if needed > DENSE_LIMIT:
        raise ValueError(
            f"{name} must fit into {DENSE_LIMIT / 2**30:.0f} GiB unpacked, got shape {shape} = "
            f"{needed / 2**30:.1f} GiB; {cure}"
        )


def dense_table(item: Any, path: Path, name: str = "X") -> NDArray[Any]:
    """Dense array of an HDF5 data set or of a compressed-row or -column group."""
    if not is_group(item):
        return np.asarray(item)
    import scipy.sparse as sp

    kind = item.attrs.get("encoding-type", "")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    shape = shape_of(item)
    if not kind.startswith(("csr", "csc")) or len(shape) != 2:
        raise ValueError(
            f"{name} of {path.name} must be dense, csr_matrix or csc_matrix, got "
            f"{kind or 'a group'!r}; write it again with anndata's write_h5ad"
        )
    check_fits(f"{name} of {path.name}", shape, "keep the most variable columns")
    parts = (item["data"][:], item["indices"][:], item["indptr"][:])
    form = sp.csr_matrix if kind.startswith("csr") else sp.csc_matrix
    try:
        if any(places.dtype.kind not in "iu" for places in parts[1:]):
            raise ValueError("indices and indptr must be whole numbers")
        table = form(parts, shape=shape)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{name} of {path.name} must be a whole sparse matrix, got parts that do not fit "
            f"together ({error}); write it again with anndata's write_h5ad"
        ) from None
    check_sparse(f"{name} of {path.name}", table)
    return np.asarray(table.toarray())


def sparse_columns(
    name: str, data: NDArray[Any], places: NDArray[Any], starts: NDArray[Any], rows: int
) -> NDArray[Any]:
    """Dense array of entries stored column by column, which must lie within it."""
    import scipy.sparse as sp

    matrix = sp.csc_matrix((data, places, starts), shape=(rows, starts.size - 1))
    check_sparse(name, matrix)
    return np.asarray(matrix.toarray())
