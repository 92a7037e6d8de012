"""Arrays in files: .npy, .npz (also of scipy), and .mat of every version."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..._checks import check_sparse
from ..._suggest import suggest
from ..._warn import warn
from ._reading import Floats, Reading, check_size, listed, package, refuse
from ._record import plain_texts
from ._table import LABEL_NAMES, Table, from_array

_NOT_DATA = ("label_names", "feature_names", "image_shape")
_MOST_BESIDE = 10  # columns of an array that may hold labels


class Stored(NamedTuple):
    """An array of a file: what is known before it is loaded, and how to load it."""

    shape: tuple[int, ...]
    kind: str  # as dtype.kind, or "cells" of vectors
    load: Callable[[], Any]


def read_npy(path: Path, reading: Reading) -> Table:
    """Read one array."""
    refuse(reading, path, ["key", "bin"])
    if named := [one for one in reading.labels if not str(one).lstrip("-").isdigit()]:
        raise ValueError(
            f"labels must not be named for a .npy file, got {named[0]!r}: it holds X alone; "
            "numpy.savez(name, X=X, y=y) keeps both"
        )
    with path.open("rb") as file:
        shape, kind = _header(file)
    check_size(path.name, shape, "cut it shorter")
    X = np.load(path, allow_pickle=False) if kind != "O" else np.empty(0, object)
    return from_array(path.name, X.T if reading.transpose and X.ndim == 2 else X)


def read_npz(path: Path, reading: Reading) -> Table:
    """Read an archive of arrays: X (or data, or the only table, or the key), and what labels it."""
    with zipfile.ZipFile(path) as members, np.load(path, allow_pickle=False) as archive:
        if "format.npy" in members.namelist():
            return _from_arrays({"X": _scipy_sparse(archive, path)}, path, reading)
        arrays = {}
        for name in archive.files:
            with members.open(name if name in members.namelist() else f"{name}.npy") as member:
                shape, kind = _header(member)
            arrays[name] = Stored(shape, kind, partial(archive.__getitem__, name))
        return _from_arrays(arrays, path, reading)


def read_mat(path: Path, reading: Reading) -> Table:
    """Read a MATLAB file: a table, or cells of spike times that are counted in bins."""
    with path.open("rb") as file:
        start = file.read(128)
    if b"MATLAB 7.3" in start or start.startswith(b"\x89HDF"):
        with package("h5py", path).File(path, "r") as file:
            return _from_arrays(dict(_walk_hdf(file, file, "")), path, reading)
    from scipy.io import loadmat, whosmat

    for name, shape, _ in whosmat(path):
        check_size(f"{name} of {path.name}", shape if len(shape) == 2 else [np.prod(shape)], _SHORT)
    with warnings.catch_warnings():
        # Which kind of sparse matrix comes is of no matter here.
        warnings.simplefilter("ignore", DeprecationWarning)
        variables = loadmat(path, simplify_cells=True)
    found = {key: value for key, value in variables.items() if not key.startswith("__")}
    return _from_arrays(dict(_walk_dict(found, "")), path, reading)


_SHORT = "cut it shorter"


def _header(file: Any) -> tuple[tuple[int, ...], str]:
    """Shape and kind of an array in an open .npy file."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0
    shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
    return shape, dtype.kind


def _loaded(value: Any) -> Stored:
    """An array that is in memory already."""
    return Stored(value.shape, value.dtype.kind, lambda: value)


def _scipy_sparse(archive: Any, path: Path) -> Stored:
    """The matrix of scipy.sparse.save_npz."""
    shape = tuple(int(size) for size in archive["shape"])
    check_size(f"the sparse matrix of {path.name}", shape, "keep fewer columns")
    matrix = sp.load_npz(path)
    if matrix.format in ("csr", "csc", "bsr"):
        check_sparse(path.name, matrix)
    return _loaded(matrix.toarray())


def count_spikes(
    name: str, times: Sequence[NDArray[Any]], step: float | None, units: Sequence[Any] = ()
) -> tuple[NDArray[np.integer], Floats, tuple[str, ...], str]:
    """Spikes of each unit counted in bins of ``step`` seconds.

    Returns
    -------
    (n_bins, n_units) int64, (n_bins,) float64, tuple of str, str
        Counts, centres of the bins, names of the units, and what was done in words.
    """
    spikes = [np.asarray(one, dtype=np.float64).ravel() for one in times]
    every = np.concatenate(spikes)
    if not every.size or not np.isfinite(every).all():
        raise ValueError(f"{name} must hold finite spike times, got {every.size} in all")
    first, last = float(every.min()), float(every.max())
    if step is None:
        raise ValueError(
            f"{name} holds spike times of {len(spikes)} units over {last - first:.4g} s, and times "
            f"are no rows; --bin 0.1 counts them in bins of 0.1 s ({int((last - first) / 0.1) + 1} "
            "rows); choose bins in which most units fire"
        )
    n_bins = int((last - first) / step) + 1
    check_size(f"the counts of {name}", (n_bins, len(spikes)), "choose a larger --bin")
    places = [np.minimum(((one - first) / step).astype(np.int64), n_bins - 1) for one in spikes]
    counts = np.stack([np.bincount(one, minlength=n_bins) for one in places], axis=1)
    names = tuple(f"unit {unit}" for unit in (units if len(units) else range(len(spikes))))
    centres = np.asarray(first + (np.arange(n_bins) + 0.5) * step, dtype=np.float64)
    return counts, centres, names, f"the units, their spikes counted in bins of {step:g} s"


def _walk_dict(group: dict[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    """Arrays, text and cells of vectors that scipy read, those of structs by their path."""
    for key, value in group.items():
        name = before + key
        if isinstance(value, dict):
            yield from _walk_dict(value, name + ".")
            continue
        if sp.issparse(value):
            check_size(name, value.shape, "keep fewer columns")
            check_sparse(name, value)
            value = value.toarray()
        array = np.asarray(value)
        if array.dtype.kind == "O" and all(isinstance(cell, str) for cell in array.ravel()):
            array = np.char.strip(array.astype(np.str_))
        if array.dtype.kind == "O" and array.size and all(map(_is_vector, array.ravel())):
            yield name, Stored((array.size,), "cells", array.ravel)
        elif array.dtype.kind in "biufU":
            yield name, _loaded(array)


def _walk_hdf(file: Any, group: Any, before: str) -> Iterator[tuple[str, Any]]:
    """The same of a 7.3 file: MATLAB counts columns first, HDF5 rows."""
    for key, item in group.items():
        name, attrs = before + key, getattr(item, "attrs", {})
        kind = plain_texts([attrs.get("MATLAB_class", b"")])[0]
        if key.startswith("#") or attrs.get("MATLAB_empty", 0):
            continue
        if "MATLAB_sparse" in attrs:
            starts = item["jc"][:]
            shape = int(attrs["MATLAB_sparse"]), len(starts) - 1
            check_size(name, shape, "keep fewer columns")
            data, at = (item[part][:] if part in item else [] for part in ("data", "ir"))
            matrix = sp.csc_matrix((data, np.asarray(at, np.int64), starts), shape=shape)
            check_sparse(name, matrix)
            yield name, _loaded(matrix.toarray())
        elif hasattr(item, "keys"):
            yield from _walk_hdf(file, item, name + ".")
        elif kind == "cell":
            cells = [_hdf_value(file[reference]) for reference in np.ravel(item[()])]
            if all(isinstance(cell, str) for cell in cells):
                yield name, _loaded(np.array(cells, dtype=np.str_))
            elif all(_is_vector(cell) for cell in cells):
                yield name, Stored((len(cells),), "cells", partial(list, cells))
        elif kind == "char":
            yield name, _loaded(np.array(_hdf_value(item)))
        elif item.dtype.kind in "biuf":
            shape = item.shape[::-1]
            flat = len(shape) == 2 and 1 in shape
            load = partial(_hdf_array, item, flat)
            yield name, Stored((max(shape),) if flat else shape, item.dtype.kind, load)


def _hdf_array(item: Any, flat: bool) -> NDArray[Any]:
    """Numbers of a data set of a 7.3 file, in the order of MATLAB."""
    array = np.asarray(item[()]).T
    return array.ravel() if flat else array


def _hdf_value(item: Any) -> Any:
    """Text or numbers of a data set of a 7.3 file."""
    if item.attrs.get("MATLAB_class") == b"char":
        return "".join(map(chr, np.ravel(item[()].T).tolist())).strip("\0 ")
    return np.zeros(0) if item.attrs.get("MATLAB_empty", 0) else np.asarray(item[()])


def _is_vector(cell: Any) -> bool:
    """Whether a cell is a list of numbers, as spike times are."""
    array = np.asarray(cell)
    return array.dtype.kind in "biuf" and array.size >= max((*array.shape, 0))


def _from_arrays(arrays: Mapping[str, Stored], path: Path, reading: Reading) -> Table:
    """Table among named arrays, and what may label its rows; spike times are counted in bins."""
    key = _table_key(arrays, path, reading.key)
    others = {name: one for name, one in arrays.items() if name not in (key, *_NOT_DATA)}
    features, row_title = _texts(arrays, "feature_names"), ""
    row_names: tuple[str, ...] = ()
    header = "feature_names" if features else f"none (array {key})" if others else "none"
    if arrays[key].kind == "cells":
        X, times, features, header = count_spikes(
            f"{key} of {path.name}", arrays[key].load(), reading.bin
        )
        row_names, row_title = tuple(f"{time:.9g}" for time in times), "time"
    else:
        refuse(reading, path, ["bin"])
        check_size(f"{key} of {path.name}", arrays[key].shape, "cut it shorter")
        X = arrays[key].load() if arrays[key].kind != "O" else np.empty(0, object)
    features = features if X.shape[-1:] == (len(features),) else ()
    if reading.transpose:
        X, features, row_names = X.T, row_names, features
    shape = arrays["image_shape"].load().ravel().tolist() if "image_shape" in arrays else []
    table = from_array(
        path.name, X, key, names=features, header=header, row_names=row_names, row_title=row_title,
        beside=_beside(others, len(X)), class_names=_texts(arrays, "label_names"),
        image_shape=(int(shape[0]), int(shape[1])) if len(shape) == 2 else None,
    )  # fmt: skip
    _check_others(others, table, reading, key)
    return table


def _table_key(arrays: Mapping[str, Stored], path: Path, wanted: str | None) -> str:
    """Name of the array that is the table."""
    said = listed((f"{name} {one.shape}" for name, one in arrays.items()), 30)
    if wanted is not None and wanted not in arrays:
        raise ValueError(
            f"--key must name an array of {path.name}: {said}; got {wanted!r}"
            f"{suggest(wanted, arrays)}"
        )
    tables = [k for k, one in arrays.items() if len(one.shape) == 2 and one.kind in "biuf"]
    cells = [name for name, one in arrays.items() if one.kind == "cells"]
    for found in ([wanted], ["X"], ["data"], tables or cells):
        if len(found) == 1 and found[0] in arrays:
            return str(found[0])
    raise ValueError(
        f"{path.name} must hold an array X or data, or exactly one 2-D array, got keys: {said}; "
        "--key NAME chooses the table, or rename it to X"
    )


def _beside(arrays: Mapping[str, Stored], n_rows: int) -> dict[str, NDArray[Any]]:
    """Arrays with a value for each row; a few columns are told apart by a number."""
    found: dict[str, NDArray[Any]] = {}
    for name, one in arrays.items():
        fits = one.shape[:1] == (n_rows,) and one.kind in "biufUS"
        if fits and len(one.shape) == 1:
            found[name] = one.load()
        elif fits and len(one.shape) == 2 and one.shape[1] <= _MOST_BESIDE:
            found |= {f"{name}[{k}]": column for k, column in enumerate(one.load().T)}
    return found


def _check_others(others: Mapping[str, Stored], table: Table, reading: Reading, key: str) -> None:
    """Say which arrays look like labels and cannot be."""
    n_rows, width = table.n_rows, len(table.columns)
    asked = [str(one) for one in reading.labels]
    for name in asked or [name for name in others if name.lower() in LABEL_NAMES]:
        known = {name, f"{name}[0]"} & table.beside.keys()
        if known or name not in others or not others[name].shape:
            continue
        shape = others[name].shape
        if others[name].kind == "O":
            raise ValueError(
                f"{name} of {table.file} holds Python objects, which are not read since they could "
                f"run code; save it as text: numpy.savez(..., {name}={name}.astype(str))"
            )
        cure = "--transpose exchanges rows and columns" if shape[0] == width else ""
        raise ValueError(
            f"{name} must have one label for each row of {key}, got shape {shape} for "
            f"{n_rows} rows; {cure or 'check how the file was written'}"
        )
    turned = [name for name, one in others.items() if one.shape[:1] == (width,) != (n_rows,)]
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
