"""Arrays of MATLAB files: by scipy, version 7.3 (HDF5) by h5py."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._checks import check_sparse
from .hdf import check_fits, check_inside, is_group, opened, sparse_columns


def read_variables(path: Path) -> dict[str, NDArray[Any]]:
    """Every array of numbers or list of text in a .mat file; fields of a struct as struct.field."""
    with path.open("rb") as file:
        start = file.read(128)
    if b"MATLAB 7.3" in start or start.startswith(b"\x89HDF"):
        with opened(path) as file:
            check_inside(file, path, [name for name in file if not name.startswith("#")])
            return dict(_walk(file, file, ""))
    from scipy.io import loadmat

    try:
        with warnings.catch_warnings():
            # Which kind of sparse matrix comes is of no matter here.
            warnings.simplefilter("ignore", DeprecationWarning)
            variables = loadmat(path, simplify_cells=True)
    except MemoryError:
        raise
    # A damaged file makes the reader raise whatever its bytes lead to.
    except Exception as error:
        raise ValueError(
            f"{path.name} must be a whole .mat file, got something else ({error}); write it "
            "again with MATLAB's save"
        ) from None
    return dict(_arrays({k: v for k, v in variables.items() if not k.startswith("__")}, ""))


def _arrays(group: dict[str, Any], before: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Arrays of numbers and of text, those of structs by their path."""
    for key, value in group.items():
        name = before + key
        if isinstance(value, dict):
            yield from _arrays(value, name + ".")
            continue
        if sp.issparse(value):
            check_fits(name, value.shape, "keep fewer columns")
            check_sparse(name, value)
            value = value.toarray()
        array = np.asarray(value)
        if array.dtype.kind == "O" and all(isinstance(cell, str) for cell in array.ravel()):
            array = array.astype(np.str_)
        if array.dtype.kind in "biuf" or (array.dtype.kind == "U" and array.size):
            yield name, np.char.strip(array) if array.dtype.kind == "U" else array


def _walk(file: Any, group: Any, before: str) -> Iterator[tuple[str, NDArray[Any]]]:
    """Arrays of a 7.3 file: MATLAB counts columns first, HDF5 rows."""
    for key, item in group.items():
        if key.startswith("#"):
            continue
        name = before + key
        if is_group(item) and "MATLAB_sparse" in item.attrs:
            yield name, _sparse(item)
        elif is_group(item):
            yield from _walk(file, item, name + ".")
        elif not item.attrs.get("MATLAB_empty", 0):
            values = _values(file, item)
            if values is not None:
                yield name, values


def _values(file: Any, item: Any) -> NDArray[Any] | None:
    """Numbers, or text, of a data set; None for what is neither."""
    kind = item.attrs.get("MATLAB_class", b"")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if item.dtype.kind == "O" and kind == "cell":
        cells = [file[ref] for ref in np.asarray(item).ravel()]
        if any(is_group(cell) or cell.dtype.kind != "u" for cell in cells):
            return None
        return np.array([_letters(cell) for cell in cells], dtype=np.str_)
    if kind == "char":
        return np.array(_letters(item))
    if item.dtype.kind not in "biuf":
        return None
    array = np.asarray(item).T
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def _letters(item: Any) -> str:
    """Text of a data set of letters."""
    return "".join(chr(code) for code in np.asarray(item).T.ravel().tolist()).strip("\0 ")


def _sparse(item: Any) -> NDArray[Any]:
    """Dense array of a sparse one, stored by columns."""
    rows = int(item.attrs["MATLAB_sparse"])
    starts = np.asarray(item["jc"][:], dtype=np.int64)
    check_fits("a sparse array", (rows, starts.size - 1), "keep fewer columns")
    data = np.asarray(item["data"][:]) if "data" in item else np.zeros(0)
    places = np.asarray(item["ir"][:], dtype=np.int64) if "ir" in item else np.zeros(0, np.int64)
    return sparse_columns("a sparse array", data, places, starts, rows)
