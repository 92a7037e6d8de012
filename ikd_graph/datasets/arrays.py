"""Arrays in files: .npy, .npz (also of scipy), .mat of every version, and .h5ad."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.io import loadmat

from .._base.dataset import NO_LABEL, Labels, plain_texts
from .._base.format import listed, setting, suggest
from .._base.validation import well_formed
from ._table import Reading, Table, from_array

_ATTRIBUTES = ("feature_names", "row_names")


def read_npy(path: Path, reading: Reading) -> Table:
    """Read an array."""
    return from_array(path.name, np.load(path, allow_pickle=False))


def read_npz(path: Path, reading: Reading) -> Table:
    """Read an archive of arrays: X (or data, or the only table, or the key), and what labels it."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if "format" in archive.files:
            return _from_arrays({"X": dense(path.name, sp.load_npz(path))}, path, reading)
        arrays = {}
        for name in archive.files:
            # Python objects could run code: they are not read.
            with suppress(ValueError):
                arrays[name] = archive[name]
        unread = [name for name in archive.files if name not in arrays]
    table = _from_arrays(arrays, path, reading)
    table.notes += tuple(f"not read, since it holds Python objects: {name}" for name in unread)
    return table


def read_mat(path: Path, reading: Reading) -> Table:
    """Read arrays of a MATLAB file by their names."""
    try:
        # Which kind of sparse matrix comes is of no matter here.
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            arrays = dict(_walk(loadmat(path, simplify_cells=True)))
    except NotImplementedError:
        arrays = _hdf_arrays(path)
    return _from_arrays(arrays, path, reading)


def dense(name: str, matrix: Any) -> NDArray[Any]:
    """Return a matrix of a file, dense."""
    if not sp.issparse(matrix):
        return np.asarray(matrix)
    well_formed(name, matrix)
    return matrix.toarray()


def _walk(group: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield arrays of numbers and text among MATLAB's variables, those of structs by path."""
    for key, value in group.items():
        if isinstance(value, Mapping):
            yield from _walk(value, f"{before}{key}.")
        elif not key.startswith("__"):
            array = dense(before + key, value)
            if array.dtype.kind == "O" and all(isinstance(cell, str) for cell in array.ravel()):
                array = np.char.strip(array.astype(np.str_))
            yield before + key, array


def _hdf_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return arrays of a 7.3 file by path; MATLAB counts columns first, HDF5 rows."""
    import h5py

    arrays = {}

    def visit(name: str, item: Any) -> None:
        # Links are not followed, and neither is what the file says of other files.
        if not isinstance(item, h5py.Dataset) or item.is_virtual or item.external:
            return
        kind = plain_texts([item.attrs.get("MATLAB_class", b"")])[0]
        if item.dtype.kind in "biuf" and kind not in ("char", "cell") and name[0] != "#":
            arrays[name.replace("/", ".")] = np.asarray(item[()]).T

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return arrays


def choose_table(
    name: str, shapes: Mapping[str, Any], key: str | None, usual: Sequence[str]
) -> str:
    """Return the name of the table in a file: the key, or the only usual one.

    A key may leave out the group before a slash.
    """
    shown = listed((f"{table} {shape}" for table, shape in shapes.items()))
    chosen = [t for t in shapes if key in (t, t.partition("/")[2])] if key else usual
    if len(chosen) == 1:
        return chosen[0]
    if key:
        raise ValueError(
            f"key must name a table of {name}: {shown}; got {key!r}{suggest(key, shapes)}"
        )
    raise ValueError(
        f"{name} must hold one table X, got {shown} (arrays of Python objects are not read); "
        f"{setting('key')} names the table"
    )


def _from_arrays(arrays: Mapping[str, NDArray[Any]], path: Path, reading: Reading) -> Table:
    """Return the table among named arrays, and what may label its points."""
    tables = [
        name for name, each in arrays.items()
        if each.ndim == 2 and min(each.shape) > 1 and each.dtype.kind in "biuf"
    ]  # fmt: skip
    named = [name for name in ("X", "data") if name in arrays][:1]
    shapes = {name: each.shape for name, each in arrays.items()}
    key = choose_table(path.name, shapes, reading.key, named or tables)
    X = arrays[key]
    extra = {name: np.ravel(arrays[name]) for name in _ATTRIBUTES if name in arrays}
    others = {name: each for name, each in arrays.items() if name not in (key, *_ATTRIBUTES)}
    n_points = X.shape[reading.transpose] if X.ndim == 2 else 0
    beside = {
        name: each.ravel() for name, each in others.items()
        if each.shape in ((n_points,), (n_points, 1), (1, n_points)) and each.dtype.kind in "biufUS"
    }  # fmt: skip
    unused = listed(f"{name} {shapes[name]}" for name in others if name not in beside)
    return from_array(
        path.name, X, key, extra.get("row_names", ()), extra.get("feature_names", ()),
        beside=beside, notes=(f"left out: {unused}",) * (len(others) > len(beside)),
        header="feature_names" if "feature_names" in extra else "none",
    )  # fmt: skip


def read_annotated(path: Path, reading: Reading) -> Table:
    """Read X, or the key, with what obs says of rows and var of columns."""
    import anndata

    # How old a file is matters to nobody who only reads it.
    with warnings.catch_warnings(action="ignore"):
        cells = anndata.read_h5ad(path)
    tables = {} if cells.X is None else {"X": (cells.X, cells.var_names)}
    if cells.raw is not None:
        tables["raw/X"] = (cells.raw.X, cells.raw.var_names)
    tables |= {f"layers/{name}": (X, cells.var_names) for name, X in cells.layers.items()}
    tables |= {f"obsm/{name}": (X, ()) for name, X in cells.obsm.items()}
    shapes = {name: np.shape(X) for name, (X, _) in tables.items()}
    key = choose_table(path.name, shapes, reading.key, ["X"] if "X" in tables else [])
    X, features = tables[key]
    colors = {name: cells.uns.get(f"{name}_colors") for name in cells.obs}
    beside = {str(name): _labels(cells.obs[name], colors[name]) for name in cells.obs}
    table = from_array(
        path.name, dense(f"{key} of {path.name}", X), key, cells.obs_names, features,
        beside={} if reading.transpose else beside,
        header=f"{'the names in var' if len(features) else 'none'} ({key})",
    )  # fmt: skip
    if cells.obs_names.name not in (None, "_index", "index"):
        table.frame.index.name = str(cells.obs_names.name)
    return table


def _labels(column: Any, colors: Any) -> Any:
    """Return a column of obs: classes with the colors scanpy keeps for them, or values."""
    if not hasattr(column, "cat"):
        return column.astype(object).where(column.notna(), None).to_numpy(object)
    codes, names = column.cat.codes.to_numpy(np.int64), plain_texts(column.cat.categories)
    if np.any(codes < 0):
        codes, names = np.where(codes < 0, len(names), codes), [*names, NO_LABEL]
    shades = plain_texts(np.ravel(colors)) if colors is not None else []
    whole = all(re.fullmatch("#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?", shade) for shade in shades)
    return Labels("", codes, tuple(names), None, tuple(s[:7] for s in shades) if whole else ())
