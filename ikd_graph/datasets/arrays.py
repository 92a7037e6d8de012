"""Arrays in files: .npy, .npz (also of scipy), .mat of every version, .nwb and .h5ad."""

import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.io import loadmat, whosmat

from .._dataset import NO_LABEL, Labels, plain_texts
from .._types import Floats
from .._validation import check_sparse
from .._warn import warn
from ._cells import LABEL_NAMES
from ._reading import Reading, check_size, choose_table, listed, package, refuse
from ._table import Table, asked_columns, from_array

_ATTRIBUTES = ("label_names", "feature_names", "row_names", "image_shape")


class Stored(NamedTuple):
    """An array of a file: what is declared before it is loaded, and how to load it."""

    shape: tuple[int, ...]
    kind: str  # as dtype.kind, or "cells" of vectors
    load: Callable[[], Any]


def read_npy(path: Path, reading: Reading) -> Table:
    """Read an array."""
    if named := [label for label in reading.labels if not str(label).lstrip("-").isdigit()]:
        raise ValueError(
            f"labels must not be named for a .npy file, got {named[0]!r}: it holds X alone; "
            "numpy.savez(name, X=X, y=y) keeps both"
        )
    with path.open("rb") as file:
        shape, kind = _header(file)
    check_size(path.name, shape)
    if kind == "O":
        raise ValueError(_objects(path.name, "the array", "numpy.save(name, X.astype(float))"))
    X = np.load(path, allow_pickle=False)
    X = unfolded(X, reading)
    return from_array(path.name, X.T if reading.transpose and X.ndim == 2 else X)


def read_npz(path: Path, reading: Reading) -> Table:
    """Read an archive of arrays: X (or data, or the only table, or the key), and what labels it."""
    with zipfile.ZipFile(path) as members, np.load(path, allow_pickle=False) as archive:
        if "format.npy" in members.namelist():
            name = f"the sparse matrix of {path.name}"
            check_size(name, archive["shape"])
            X = dense(name, sp.load_npz(path))
            return _from_arrays(dict(_walk({"X": X})), path, reading)
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
        with package("h5py", path.name).File(path, "r") as file:
            variables = _hdf_value(path.name, file, file)
    else:
        for name, shape, _ in whosmat(path):
            check_size(f"{name} of {path.name}", shape)
        with warnings.catch_warnings():
            # Which kind of sparse matrix comes is of no matter here.
            warnings.simplefilter("ignore", DeprecationWarning)
            variables = loadmat(path, simplify_cells=True)
    return _from_arrays(dict(_walk(variables)), path, reading)


def read_eeglab(path: Path, reading: Reading) -> Table:
    """Read a data set of EEGLAB, a MATLAB file: channels in rows, named by their labels.

    Samples that it keeps in an .fdt file are read from there.
    """
    with path.open("rb") as file:
        hierarchical = file.read(8) == b"\x89HDF\r\n\x1a\n"
    if hierarchical:
        with package("h5py", path.name).File(path, "r") as file:
            variables = _hdf_value(path.name, file, file)
    else:
        variables = loadmat(path, simplify_cells=True)
    eeg = variables.get("EEG", variables)
    if not isinstance(eeg, Mapping) or "data" not in eeg:
        raise ValueError(f"{path.name} must hold data of EEGLAB, got {listed(variables)}")
    X = eeg["data"]
    if isinstance(X, str):
        shape = tuple(int(eeg[key]) for key in ("nbchan", "pnts", "trials"))
        check_size(X, shape)
        samples = np.fromfile(path.with_name(Path(X).name), dtype="<f4")
        X = samples.reshape(shape, order="F")
        X = X[:, :, 0] if shape[2] == 1 else X
    X = unfolded(np.asarray(X), reading)
    places = eeg.get("chanlocs", ())
    labels = [str(place["labels"]) for place in places if isinstance(place, Mapping)]
    rows = tuple(labels) if len(labels) == len(X) else ()
    features: tuple[str, ...] = ()
    if reading.transpose and X.ndim == 2:
        X, rows, features = X.T, (), rows
    header = "the labels of the channels" if features else "none"
    return from_array(
        path.name, X, "data", names=features, row_names=rows,
        row_title="channel" if rows else "", header=header,
    )  # fmt: skip


def _objects(file: str, name: str, cure: str) -> str:
    """Say that Python objects are not read, and how to save them instead."""
    return (
        f"{name} of {file} holds Python objects, which are not read since they could run code; "
        f"save them as numbers or text: {cure}"
    )


def unfolded(X: NDArray[Any], reading: Reading) -> NDArray[Any]:
    """Table of an array of three or more axes, the entries along one of which are points."""
    if reading.unfold is None:
        return X
    if not 1 <= reading.unfold <= X.ndim or X.ndim < 3:
        raise ValueError(
            f"--unfold must be an axis, the first being 1, of an array of three or more, got "
            f"{reading.unfold} for shape {X.shape}"
        )
    return np.moveaxis(X, reading.unfold - 1, 0).reshape(X.shape[reading.unfold - 1], -1)


def _header(file: Any) -> tuple[tuple[int, ...], str]:
    """Shape and kind of an array in an open .npy file."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0
    shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(file)
    return shape, dtype.kind


def dense(name: str, matrix: Any) -> NDArray[Any]:
    """Return a sparse matrix of a file, dense."""
    check_size(name, matrix.shape)
    check_sparse(name, matrix)
    return np.asarray(matrix.toarray())


def _walk(group: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Stored]]:
    """Arrays, text and cells of vectors among MATLAB's variables, those of structs by path."""
    for key, value in group.items():
        name = before + key
        if key.startswith(("__", "#")):
            continue
        if isinstance(value, Mapping):
            yield from _walk(value, name + ".")
            continue
        if _are_structs(value):
            yield from _struct_fields(name, list(value))
            continue
        array = dense(name, value) if sp.issparse(value) else np.asarray(value)
        if array.dtype.kind == "O" and all(isinstance(cell, str) for cell in array.ravel()):
            array = np.char.strip(array.astype(np.str_))
        if array.dtype.kind == "O" and array.size and all(map(_is_vector, array.ravel())):
            yield name, Stored((array.size,), "cells", array.ravel)
        elif array.dtype.kind in "biufU":
            yield name, Stored(array.shape, array.dtype.kind, partial(np.asarray, array))


def _are_structs(value: Any) -> bool:
    """Whether a variable is an array of structs of one kind."""
    listed = isinstance(value, (list, np.ndarray)) and len(np.shape(value)) == 1 and len(value) > 1
    return listed and all(
        isinstance(item, Mapping) and item.keys() == value[0].keys() for item in value
    )


def _struct_fields(name: str, items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Stored]]:
    """Fields of an array of structs: numbers as columns of a table, others next to it."""
    columns = {key: np.array([item[key] for item in items], dtype=object) for key in items[0]}
    numeric = [key for key, cells in columns.items() if all(map(_is_scalar, cells.tolist()))]
    if numeric:
        X = np.column_stack([columns[key].astype(np.float64) for key in numeric])
        yield name, Stored(X.shape, "f", partial(np.asarray, X))
        yield "feature_names", Stored((len(numeric),), "U", partial(np.array, numeric))
    for key, cells in columns.items():
        if all(isinstance(cell, str) for cell in cells.tolist()):
            yield f"{name}.{key}", Stored(cells.shape, "U", partial(np.asarray, cells.astype(str)))


def _is_scalar(cell: Any) -> bool:
    """Whether a cell is a number."""
    return isinstance(cell, (bool, int, float, np.number)) and not isinstance(cell, complex)


def _hdf_value(name: str, file: Any, item: Any) -> Any:
    """Read an item of a 7.3 file as scipy would: MATLAB counts columns first, HDF5 rows."""
    attributes = getattr(item, "attrs", {})
    kind = plain_texts([attributes.get("MATLAB_class", b"")])[0]
    if attributes.get("MATLAB_empty", 0):
        return np.zeros(0)
    if "MATLAB_sparse" in attributes:
        data, at = (item[key][:] if key in item else [] for key in ("data", "ir"))
        shape = int(attributes["MATLAB_sparse"]), item["jc"].size - 1
        check_size(name, shape)
        return sp.csc_matrix((data, np.asarray(at, np.int64), item["jc"][:]), shape=shape)
    if hasattr(item, "keys"):
        return {
            key: _hdf_value(f"{key} of {name}", file, item[key]) for key in item if key[0] != "#"
        }
    check_size(name, item.shape)
    if kind == "cell":
        cells = np.empty(item.size, dtype=object)
        cells[:] = [_hdf_value(name, file, file[reference]) for reference in np.ravel(item[()])]
        return cells
    array = np.asarray(item[()]).T
    if kind == "char":
        return "".join(map(chr, array.ravel().tolist())).strip("\0 ")
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def _is_vector(cell: Any) -> bool:
    """Whether a cell is a list of numbers, as spike times are."""
    array = np.asarray(cell)
    return array.dtype.kind in "biuf" and array.size >= max((*array.shape, 0))


def count_spikes(
    name: str, times: Sequence[NDArray[Any]], step: float | None, units: Sequence[Any]
) -> tuple[NDArray[np.integer], Floats, tuple[str, ...], str]:
    """Spikes of each unit counted in bins of ``step`` seconds.

    Returns
    -------
    (n_bins, n_units) int64, (n_bins,) float64, tuple of str, str
        Counts, centers of the bins, names of the units, and what was done in words.
    """
    spikes = [np.asarray(unit, dtype=np.float64).ravel() for unit in times]
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
    n_bins = int(_bins(np.array([last]), first, step)[0]) + 1
    check_size(f"the counts of {name} in bins of {step:g} s", (n_bins, len(spikes)))
    bins = [np.minimum(_bins(unit, first, step), n_bins - 1) for unit in spikes]
    counts = np.stack([np.bincount(unit, minlength=n_bins) for unit in bins], axis=1)
    _warn_of_samples(name, counts, every, step)
    names = tuple(f"unit {unit}" for unit in units)
    centers = np.asarray(first + (np.arange(n_bins) + 0.5) * step, dtype=np.float64)
    return counts, centers, names, f"the units, their spikes counted in bins of {step:g} s"


def _warn_of_samples(name: str, counts: NDArray[np.integer], times: Floats, step: float) -> None:
    """Warn of spike times that are numbers of samples."""
    empty = float(np.mean(~counts.any(axis=1)))
    if empty > 0.9 and np.all(times == np.rint(times)):
        warn(
            f"{empty:.0%} of the bins of {name} are empty and all times are whole numbers, as "
            f"numbers of samples are: --bin is in the unit of the times, --bin {30000 * step:g} "
            f"counts bins of {step:g} s at 30 000 samples a second"
        )


def _bins(times: Floats, first: float, step: float) -> NDArray[np.int64]:
    """Bins of spike times; a spike at an edge, up to rounding, is in the bin that begins there."""
    at = (times - first) / step
    nearest = np.rint(at)
    rounding = 1e-9 * np.maximum(np.abs(at), 1.0)
    rounding = rounding + 4.0 * np.finfo(np.float64).eps * np.abs(times) / step
    return np.where(np.abs(at - nearest) <= rounding, nearest, np.floor(at)).astype(np.int64)


def _from_arrays(arrays: Mapping[str, Stored], path: Path, reading: Reading) -> Table:
    """Table among named arrays, and what may label its rows; spike times are counted in bins."""
    many = reading.unfold is not None
    tables = [
        name
        for name, item in arrays.items()
        if (len(item.shape) > 2 if many else len(item.shape) == 2) and item.kind in "biuf"
    ]
    cells = [name for name, item in arrays.items() if item.kind == "cells"]
    named = [name for name in ("X", "data", "EEG.data") if name in arrays][:1]
    shapes = {name: item.shape for name, item in arrays.items()}
    key = choose_table(path.name, shapes, reading.key, named or tables or cells)
    unchosen = {name: item for name, item in arrays.items() if name not in (key, *_ATTRIBUTES)}
    features, row_title = _texts(arrays, "feature_names"), ""
    row_names: tuple[str, ...] = ()
    header = "feature_names" if features else f"none (array {key})" if unchosen else "none"
    if arrays[key].kind == "cells":
        times = arrays[key].load()
        X, centers, features, header = count_spikes(
            f"{key} of {path.name}", times, reading.bin, range(len(times))
        )
        row_names, row_title = tuple(f"{time:.9g}" for time in centers), "time"
    else:
        refuse(reading, path.name, ["bin"])
        check_size(f"{key} of {path.name}", arrays[key].shape)
        if arrays[key].kind == "O":
            cure = f"numpy.savez(..., {key}={key}.astype(float))"
            raise ValueError(_objects(path.name, key, cure))
        X = unfolded(arrays[key].load(), reading)
    features = features if X.shape[-1:] == (len(features),) else ()
    written = _texts(arrays, "row_names")
    row_names = written if X.shape[:1] == (len(written),) else row_names
    if reading.transpose:
        X, features, row_names = X.T, row_names, features
    next_to: dict[str, NDArray[Any]] = {}
    for name, item in unchosen.items():
        if item.shape[:1] == (len(X),) and item.kind in "biufUSM" and len(item.shape) <= 2:
            next_to |= asked_columns(name, item.load(), reading)
    shape = arrays["image_shape"].load().ravel().tolist() if "image_shape" in arrays else []
    table = from_array(
        path.name, X, key, names=features, header=header, row_names=row_names, row_title=row_title,
        next_to=next_to, class_names=_texts(arrays, "label_names"),
        image_shape=(int(shape[0]), int(shape[1])) if len(shape) == 2 else None,
    )  # fmt: skip
    _check_labels(unchosen, table, reading, key)
    return table


def _check_labels(unchosen: Mapping[str, Stored], table: Table, reading: Reading, key: str) -> None:
    """Say which arrays look like labels and cannot be."""
    n_rows, width = table.n_rows, len(table.columns)
    requested = [str(label) for label in reading.labels]
    for name in requested or [name for name in unchosen if name.lower() in LABEL_NAMES]:
        if {name, f"{name}[0]"} & table.next_to.keys() or name not in unchosen:
            continue
        shape = unchosen[name].shape
        if unchosen[name].kind == "O":
            cure = f"numpy.savez(..., {name}={name}.astype(str))"
            raise ValueError(_objects(table.file, name, cure))
        if shape[:1] == (n_rows,) and len(shape) == 2:
            raise ValueError(
                f"{name} must have one label for each row of {key}, got {shape[1]}; --labels "
                f"{name} takes each of its columns, --labels '{name}[0]' one"
            )
        if shape:
            cure = "--transpose exchanges rows and columns" if shape[0] == width else ""
            raise ValueError(
                f"{name} must have one label for each row of {key}, got shape {shape} for "
                f"{n_rows} rows; {cure or 'check how the file was written'}"
            )
    turned = [name for name, item in unchosen.items() if item.shape[:1] == (width,) != (n_rows,)]
    if turned and not table.next_to:
        warn(
            f"{listed(turned)} of {table.file} has a value for each column of {key} and nothing "
            "has one for each row; if columns are points, --transpose"
        )


def _texts(arrays: Mapping[str, Stored], name: str) -> tuple[str, ...]:
    """Strings under an optional name."""
    if name not in arrays or arrays[name].kind not in "US":
        return ()
    return tuple(plain_texts(np.ravel(arrays[name].load())))


def read_recording(path: Path, reading: Reading) -> Table:
    """Read a table from a recording, with the other series at the time of each row as labels."""
    file = package("pynapple", path.name).NWBFile(str(path))
    try:
        return _from_series({name: file[name] for name in list(file)}, path, reading)
    finally:
        file.close()


def _from_series(stored: Mapping[str, Any], path: Path, reading: Reading) -> Table:
    """Table of spike times, or of the key."""
    series = {name: item for name, item in stored.items() if hasattr(item, "d")}
    tables = {name: item.shape for name, item in series.items() if len(item.shape) == 2}
    spikes = {name: "" for name, item in stored.items() if type(item).__name__ == "TsGroup"}
    name = choose_table(path.name, {**spikes, **tables}, reading.key, [*spikes] or [*tables])
    features: tuple[str, ...] = ()
    if name in spikes:
        units = list(stored[name].index)
        vectors = [stored[name][unit].t for unit in units]
        X, times, features, header = count_spikes(path.name, vectors, reading.bin, units)
    else:
        if reading.bin is not None:
            raise ValueError(f"--bin is for spike times, got the series {name}; leave it out")
        check_size(f"{name} of {path.name}", tables[name])
        X, times = np.asarray(series[name].d), np.asarray(series[name].t)
        header = f"none (series {name})"
    next_to: dict[str, Floats] = {}
    for label in series.keys() - {name}:
        item = series[label]
        if len(item) and len(item.shape) <= 2:
            values = _at_times(item, times)
            next_to |= asked_columns(label, values, reading)
    return from_array(
        path.name, X, name, names=features, header=header, row_title="time",
        row_names=tuple(f"{time:.9g}" for time in times), next_to=next_to,
    )  # fmt: skip


def _at_times(series: Any, times: Floats) -> Floats:
    """Return a series at the times of the rows: the nearest sample, NaN if none is near."""
    own, values = np.asarray(series.t), np.asarray(series.d, dtype=np.float64)
    after = np.clip(np.searchsorted(own, times), 0, len(own) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(own[after] - times) < np.abs(own[before] - times), after, before)
    step = max(float(np.median(np.diff(t))) if len(t) > 1 else 0.0 for t in (own, times))
    values = values[nearest]
    values[np.abs(own[nearest] - times) > step] = np.nan
    return values


def read_annotated(path: Path, reading: Reading) -> Table:
    """Read X, or the key, with what obs says of rows and var of columns."""
    read = package("anndata", path.name).io.read_elem
    with package("h5py", path.name).File(path, "r") as file, warnings.catch_warnings():
        # How old a file is matters to nobody who only reads it.
        warnings.simplefilter("ignore")
        tables = {name: _shape(file[name]) for name in ("X", "raw/X") if name in file}
        for group in ("layers", "obsm"):
            tables |= {f"{group}/{k}": _shape(item) for k, item in file.get(group, {}).items()}
        tables = {name: shape for name, shape in tables.items() if shape}
        name = choose_table(path.name, tables, reading.key, ["X"] if "X" in tables else [])
        check_size(f"{name} of {path.name}", tables[name])
        obs = read(file["obs"])
        var = {"X": "var", "raw/X": "raw/var"}.get(name, "var" * name.startswith("layers/"))
        features = tuple(map(str, read(file[var]).index)) if var else ()
        expected = (len(obs), len(features) if features else tables[name][-1])
        if tables[name] != expected:
            raise ValueError(
                f"{name} of {path.name} must have a row for each of {len(obs)} observations and a "
                f"column for each name in var, {expected}, got shape {tables[name]}; write it "
                "again with anndata's write_h5ad"
            )
        X = read(file[name])
        X = dense(f"{name} of {path.name}", X) if sp.issparse(X) else np.asarray(X)
        next_to = {column: _labels(obs[column], file.get(f"uns/{column}_colors")) for column in obs}
    title = str(obs.index.name or "")
    rows = tuple(map(str, obs.index))
    header = "the names in var" if features else "none"
    if reading.transpose:
        X, rows, features, next_to, header, title = X.T, features, rows, {}, "the names in obs", ""
    return from_array(
        path.name, X, name, names=features, next_to=next_to, row_names=rows,
        header=header if name == "X" else f"{header} ({name})",
        row_title="" if title in ("_index", "index") else title,
    )  # fmt: skip


def _shape(item: Any) -> tuple[int, ...]:
    """Shape of a stored array or sparse matrix, () of what is neither."""
    shape = item.attrs.get("shape", ()) if hasattr(item, "keys") else item.shape
    return tuple(int(size) for size in np.ravel(() if shape is None else shape))


def _labels(column: Any, colors: Any) -> Any:
    """Return a column of obs: classes with the colors scanpy keeps for them, or values."""
    if not hasattr(column, "cat"):
        if column.dtype.kind in "biuf" and column.notna().all():
            return column.to_numpy()
        return column.astype(object).where(column.notna(), None).to_numpy(object)
    codes, names = column.cat.codes.to_numpy(np.int64), plain_texts(column.cat.categories)
    if np.any(codes < 0):
        codes, names = np.where(codes < 0, len(names), codes), [*names, NO_LABEL]
    shades = plain_texts(colors[:]) if colors is not None and not hasattr(colors, "keys") else []
    whole = all(re.fullmatch("#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?", shade) for shade in shades)
    palette = tuple(shade[:7] for shade in shades) if whole else ()
    return Labels("", codes, tuple(names), None, palette)
