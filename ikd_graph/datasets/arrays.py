"""Arrays in files: .npy, .npz (also of scipy), .mat of every version, and .h5ad."""

import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.io import loadmat, whosmat

from .._base.dataset import NO_LABEL, Labels, plain_texts
from .._base.validation import check_sparse
from .._base.warn import warn
from ._reading import Reading, check_size, choose_table, listed, memory, package
from ._table import LABEL_NAMES, Table, from_array, unique_names

_ATTRIBUTES = ("label_names", "feature_names", "row_names", "image_shape")


class Stored(NamedTuple):
    """An array of a file: what is declared before it is loaded, and how to load it."""

    shape: tuple[int, ...]
    kind: str  # as dtype.kind
    load: Callable[[], Any]


def read_npy(path: Path, reading: Reading) -> Table:
    """Read an array."""
    if named := [label for label in reading.labels if not str(label).lstrip("-").isdecimal()]:
        raise ValueError(
            f"--labels must not be named for a .npy file, got {named[0]!r}: it holds X alone; "
            "numpy.savez(name, X=X, y=y) keeps both"
        )
    with path.open("rb") as file:
        shape, kind = _header(file)
    check_size(path.name, shape)
    if kind == "O":
        raise ValueError(_objects(path.name, "the array", "numpy.save(name, X.astype(float))"))
    X = np.load(path, allow_pickle=False)
    return from_array(path.name, X.T if reading.transpose and X.ndim == 2 else X)


def read_npz(path: Path, reading: Reading) -> Table:
    """Read an archive of arrays: X (or data, or the only table, or the key), and what labels it."""
    with zipfile.ZipFile(path) as members, np.load(path, allow_pickle=False) as archive:
        if "format.npy" in members.namelist():
            name = f"the sparse matrix of {path.name}"
            check_size(name, archive["shape"])
            X = dense(name, sp.load_npz(path))
            return _from_arrays({"X": Stored(X.shape, X.dtype.kind, lambda: X)}, path, reading)
        arrays = {}
        for name in archive.files:
            with members.open(name if name in members.namelist() else f"{name}.npy") as member:
                shape, kind = _header(member)
            arrays[name] = Stored(shape, kind, partial(archive.__getitem__, name))
        return _from_arrays(arrays, path, reading)


def read_mat(path: Path, reading: Reading) -> Table:
    """Read arrays of a MATLAB file by their names."""
    with path.open("rb") as file:
        start = file.read(128)
    if b"MATLAB 7.3" in start or start.startswith(b"\x89HDF"):
        check_hdf(path)
        with package("h5py", path.name).File(path, "r") as file:
            return _from_arrays(_hdf_arrays(file), path, reading)
    for name, shape, _ in whosmat(path):
        check_size(f"{name} of {path.name}", shape)
    with warnings.catch_warnings():
        # Which kind of sparse matrix comes is of no matter here.
        warnings.simplefilter("ignore", DeprecationWarning)
        variables = loadmat(path, simplify_cells=True)
    return _from_arrays(dict(_walk(variables)), path, reading)


def _objects(file: str, name: str, cure: str) -> str:
    """Say that Python objects are not read, and how to save them instead."""
    return (
        f"{name} of {file} holds Python objects, which are not read since they could run code; "
        f"save them as numbers or text: {cure}"
    )


def _header(file: Any) -> tuple[tuple[int, ...], str]:
    """Shape and kind of an array in an open .npy file."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0
    shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
    return shape, dtype.kind


def dense(name: str, matrix: Any) -> NDArray[Any]:
    """Return a matrix of a file, dense."""
    check_size(name, matrix.shape)
    if not sp.issparse(matrix):
        return np.asarray(matrix)
    check_sparse(name, matrix)
    return np.asarray(matrix.toarray())


def _walk(group: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Stored]]:
    """Arrays of numbers and text among MATLAB's variables, those of structs by path."""
    for key, value in group.items():
        name = before + key
        if key.startswith("__"):
            continue
        if isinstance(value, Mapping):
            yield from _walk(value, name + ".")
            continue
        array = dense(name, value) if sp.issparse(value) else np.asarray(value)
        if array.dtype.kind == "O" and all(isinstance(cell, str) for cell in array.ravel()):
            array = np.char.strip(array.astype(np.str_))
        if array.dtype.kind in "biufU":
            yield name, Stored(array.shape, array.dtype.kind, partial(np.asarray, array))


def check_hdf(path: Path) -> None:
    """Raise unless an HDF5 file holds all that it names, in a size that fits into memory."""
    h5py, size = package("h5py", path.name), 0

    def visit(name: str, item: Any) -> None:
        nonlocal size
        if isinstance(item, h5py.Group):
            kinds = [item.get(key, getlink=True) for key in item]
            outside = not all(isinstance(kind, h5py.HardLink) for kind in kinds)
        else:
            outside = item.is_virtual or bool(item.external)
            size += item.size * item.dtype.itemsize if item.shape is not None else 0
        if outside:
            raise ValueError(
                f"{path.name} must hold its data itself, got a link in {name or '/'!r}; copy what "
                "it links to into the file"
            )

    with h5py.File(path, "r") as file:
        visit("", file)
        # Each item once, however many names it has.
        file.visititems(visit)
    if size > memory():
        raise ValueError(
            f"{path.name} must fit into a quarter of the memory ({memory() / 2**30:.1f} GiB), got "
            f"{size / 2**30:.1f} GiB; cut it shorter"
        )


def _hdf_arrays(file: Any) -> dict[str, Stored]:
    """Arrays of numbers of a 7.3 file by path; MATLAB counts columns first, HDF5 rows."""
    arrays: dict[str, Stored] = {}

    def load(item: Any) -> NDArray[Any]:
        array = np.asarray(item[()]).T
        return array.ravel() if array.ndim == 2 and 1 in array.shape else array

    def visit(name: str, item: Any) -> None:
        kind = plain_texts([item.attrs.get("MATLAB_class", b"")])[0]
        numeric = getattr(item, "dtype", None) is not None and item.dtype.kind in "biuf"
        if numeric and kind not in ("char", "cell") and name[0] != "#" and item.shape:
            shape = item.shape[::-1]
            shape = (max(shape),) if len(shape) == 2 and 1 in shape else shape
            arrays[name.replace("/", ".")] = Stored(shape, item.dtype.kind, partial(load, item))

    file.visititems(visit)
    return arrays


def _from_arrays(arrays: Mapping[str, Stored], path: Path, reading: Reading) -> Table:
    """Table among named arrays, and what may label its rows."""
    tables = [n for n, item in arrays.items() if len(item.shape) == 2 and item.kind in "biuf"]
    named = [name for name in ("X", "data") if name in arrays][:1]
    shapes = {name: item.shape for name, item in arrays.items()}
    key = choose_table(path.name, shapes, reading.key, named or tables)
    unchosen = {name: item for name, item in arrays.items() if name not in (key, *_ATTRIBUTES)}
    check_size(f"{key} of {path.name}", arrays[key].shape)
    if arrays[key].kind == "O":
        cure = f"numpy.savez(..., {key}={key}.astype(float))"
        raise ValueError(_objects(path.name, key, cure))
    X = arrays[key].load()
    features, rows = (_texts(arrays, name) for name in ("feature_names", "row_names"))
    features = features if X.shape[-1:] == (len(features),) else ()
    rows = rows if X.shape[:1] == (len(rows),) else ()
    if reading.transpose:
        X, features, rows = X.T, rows, features
    beside = {}
    for name, item in unchosen.items():
        if item.kind in "biufUSM" and item.shape in ((len(X),), (len(X), 1), (1, len(X))):
            values = item.load().ravel()
            if item.kind == "M":
                # Days since the first; a date that is none is NaN.
                values = (values - np.nanmin(values)) / np.timedelta64(1, "D")
            beside[name] = values
    shape = arrays["image_shape"].load().ravel().tolist() if "image_shape" in arrays else []
    header = "feature_names" if features else f"none (array {key})" if unchosen else "none"
    table = from_array(
        path.name, X, key, names=features, header=header, row_names=rows, beside=beside,
        class_names=_texts(arrays, "label_names"),
        image_shape=(int(shape[0]), int(shape[1])) if len(shape) == 2 else None,
    )  # fmt: skip
    _check_labels(unchosen, table, reading, key)
    return table


def _check_labels(unchosen: Mapping[str, Stored], table: Table, reading: Reading, key: str) -> None:
    """Say which arrays look like labels and cannot be."""
    n_rows, width = table.n_rows, len(table.columns)
    asked = [str(label) for label in reading.labels]
    for name in asked or [name for name in unchosen if name.lower() in LABEL_NAMES]:
        if name in table.beside or name not in unchosen:
            continue
        shape = unchosen[name].shape
        if unchosen[name].kind == "O":
            cure = f"numpy.savez(..., {name}={name}.astype(str))"
            raise ValueError(_objects(table.file, name, cure))
        if shape:
            cure = "--transpose exchanges rows and columns" if shape[0] == width else ""
            one = f"{name}.argmax(axis=1) makes classes of columns" if shape[0] == n_rows else ""
            raise ValueError(
                f"{name} of {table.file} must have one label for each of {n_rows} rows of {key}, "
                f"got shape {shape}; {one or cure or 'check how the file was written'}"
            )
    turned = [name for name, item in unchosen.items() if item.shape[:1] == (width,) != (n_rows,)]
    if turned and not table.beside:
        warn(
            f"{listed(turned)} of {table.file} has a value for each column of {key} and nothing "
            "has one for each row; if columns are points, --transpose"
        )


def _texts(arrays: Mapping[str, Stored], name: str) -> tuple[str, ...]:
    """Strings under an optional name."""
    if name not in arrays or arrays[name].kind not in "US":
        return ()
    return tuple(plain_texts(np.ravel(arrays[name].load())))


def read_annotated(path: Path, reading: Reading) -> Table:
    """Read X, or the key, with what obs says of rows and var of columns."""
    anndata = package("anndata", path.name)
    check_hdf(path)
    with warnings.catch_warnings():
        # How old a file is matters to nobody who only reads it.
        warnings.simplefilter("ignore")
        cells = anndata.read_h5ad(path)
    tables = {} if cells.X is None else {"X": (cells.X, cells.var_names)}
    if cells.raw is not None:
        tables["raw/X"] = (cells.raw.X, cells.raw.var_names)
    tables |= {f"layers/{name}": (X, cells.var_names) for name, X in cells.layers.items()}
    tables |= {f"obsm/{name}": (X, ()) for name, X in cells.obsm.items()}
    shapes = {name: np.shape(X) for name, (X, _) in tables.items()}
    key = choose_table(path.name, shapes, reading.key, ["X"] if "X" in tables else [])
    X, features = dense(f"{key} of {path.name}", tables[key][0]), plain_texts(tables[key][1])
    beside = {
        str(name): _labels(cells.obs[name], cells.uns.get(f"{name}_colors")) for name in cells.obs
    }
    title, rows = str(cells.obs.index.name or ""), plain_texts(cells.obs_names)
    header = "the names in var" if features else "none"
    if reading.transpose:
        X, rows, features, beside, header, title = X.T, features, rows, {}, "the names in obs", ""
    return from_array(
        path.name, X, key, names=unique_names(features), beside=beside, row_names=tuple(rows),
        header=header if key == "X" else f"{header} ({key})",
        row_title="" if title in ("_index", "index") else title,
    )  # fmt: skip


def _labels(column: Any, colors: Any) -> Any:
    """Return a column of obs: classes with the colors scanpy keeps for them, or values."""
    if not hasattr(column, "cat"):
        if column.dtype.kind in "biuf" and column.notna().all():
            return column.to_numpy()
        return column.astype(object).where(column.notna(), None).to_numpy(object)
    codes, names = column.cat.codes.to_numpy(np.int64), plain_texts(column.cat.categories)
    if np.any(codes < 0):
        codes, names = np.where(codes < 0, len(names), codes), [*names, NO_LABEL]
    shades = plain_texts(np.ravel(colors)) if colors is not None else []
    whole = all(re.fullmatch("#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?", shade) for shade in shades)
    return Labels("", codes, tuple(names), None, tuple(s[:7] for s in shades) if whole else ())
