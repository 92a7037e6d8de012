"""Read a data set from a file, by its ending."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._warn import warn
from ._choice import LABEL_NAMES
from ._prepare import prepare
from ._reading import ArraySource, Reading, Source, listed, refuse
from ._record import Dataset
from .annotated import read_annotated
from .frames import read_parquet, read_sheet
from .matlab import read_variables
from .neurodata import read_neurodata
from .tables import read_cells

_NOT_DATA = ("label_names", "feature_names", "image_shape")


def read_file(
    path: str | Path,
    *,
    label_column: str | int | Sequence[str | int] | None = None,
    reading: Reading | None = None,
) -> Dataset:
    """Read a data set from a file, by its ending.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .npy, .npz, .mat, .h5ad, .nwb, .parquet or .xlsx file.
    label_column : str, int, sequence of these or None
        Name (or position) of the labels, the first of several in the pictures. None takes a column
        or key called label, labels, y, class, target or cell_type (in any case of letters) if
        there is one, or else the only column of words (dates are none).
    reading : Reading or None
        How else to read the file: which columns, what to fill, scale and transform.

    Returns
    -------
    Dataset
        With ``X`` (n, n_features) float64, all finite; ``notes`` say what was taken for what.
    """
    path = Path(path)
    asked = reading or Reading()
    if label_column is not None:
        one = isinstance(label_column, (str, int))
        asked = replace(asked, labels=(label_column,) if one else tuple(label_column))  # type: ignore[arg-type]
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(
            f"the data file must end in {', '.join(READERS)}, got {path.name!r}; "
            "numpy.save(name, X) or pandas' to_csv write such files"
        )
    if not path.is_file():
        raise FileNotFoundError(f"the data file must exist, got {str(path)!r}; check the spelling")
    if path.stat().st_size == 0:
        raise ValueError(f"the data file must not be empty, got 0 bytes in {str(path)!r}")
    if path.suffix.lower() != ".nwb":
        refuse(asked, path, ["bin"])
    try:
        return prepare(reader(path, asked), asked, path.stem)
    except (ValueError, ImportError, MemoryError):
        raise
    # Whatever else a broken file makes the libraries below say, it is the file that is wrong.
    except Exception as error:
        raise ValueError(
            f"{path.name} must be a whole {path.suffix} file, got {type(error).__name__}: {error}; "
            "write it again from its source"
        ) from error


def _read_cells(path: Path, reading: Reading) -> Source:
    """Read a .csv or .tsv table."""
    refuse(reading, path, ["key"])
    return read_cells(path, reading.transpose)


def _read_npy(path: Path, reading: Reading) -> Source:
    """Read one array."""
    refuse(reading, path, ["key"])
    named = [one for one in reading.labels if not str(one).lstrip("-").isdigit()]
    if named:
        raise ValueError(
            f"labels must not be named for a .npy file, got {named[0]!r}: it holds X alone; "
            "numpy.savez(name, X=X, y=y) keeps both"
        )
    source = ArraySource(path.name, _numpy_load(path))
    return source.transposed() if reading.transpose else source


def _read_npz(path: Path, reading: Reading) -> Source:
    """Read an archive of arrays: X (or data, or the only table, or the key), and what labels it."""
    archive = _numpy_load(path)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError(f"{str(path)!r} must be an archive of arrays (numpy.savez), got one array")
    with archive:
        arrays = {key: archive[key] for key in archive.files}
    return _from_arrays(arrays, path, reading)


def _read_mat(path: Path, reading: Reading) -> Source:
    """Read a MATLAB file."""
    return _from_arrays(read_variables(path), path, reading)


def _read_annotated(path: Path, reading: Reading) -> Source:
    """Read an annotated matrix."""
    source = read_annotated(path, reading)
    return source.transposed() if reading.transpose else source


def _read_neurodata(path: Path, reading: Reading) -> Source:
    """Read a recording."""
    refuse(reading, path, ["transpose"])
    return read_neurodata(path, reading)


def _from_arrays(arrays: Mapping[str, NDArray[Any]], path: Path, reading: Reading) -> Source:
    """Table among named arrays, and what may label its rows."""
    key = _table_key(arrays, path, reading.key)
    shape = arrays["image_shape"].tolist() if "image_shape" in arrays else None
    source = ArraySource(
        path.name,
        arrays[key],
        features=_names(arrays, "feature_names", arrays[key].shape[-1:]),
        class_names=_names(arrays, "label_names"),
        image_shape=(int(shape[0]), int(shape[1])) if shape else None,
        what=key,
    )
    others = {k: v for k, v in arrays.items() if k != key and k not in _NOT_DATA}
    n_rows = source.n_rows if not reading.transpose else source.X.shape[1]
    about = _about_rows(others, n_rows)
    _check_lengths(others, about, reading, source, key)
    width = source.X.shape[1] if not reading.transpose else source.n_rows
    beside = [k for k, v in others.items() if v.ndim and len(v) == width != n_rows]
    if beside and not about:
        warn(
            f"{listed(beside)} of {path.name} has a value for each column of {key} and nothing has "
            "one for each row; if columns are points, --transpose"
        )
    whole = source.transposed() if reading.transpose else source
    header = f"none (array {key})" if len(others) else whole.header
    return replace(whole, about_rows=about, header="feature_names" if whole.features else header)


def _table_key(arrays: Mapping[str, NDArray[Any]], path: Path, wanted: str | None) -> str:
    """Name of the array that is the table."""
    said = listed((f"{key} {value.shape}" for key, value in arrays.items()), 30)
    if wanted is not None:
        if wanted not in arrays:
            raise ValueError(f"--key must name an array of {path.name}: {said}; got {wanted!r}")
        return wanted
    usual = [key for key in ("X", "data") if key in arrays]
    tables = [k for k, v in arrays.items() if v.ndim == 2 and v.dtype.kind in "biuf"]
    if not usual and len(tables) != 1:
        raise ValueError(
            f"{path.name} must hold an array X or data, or exactly one 2-D array, got keys: "
            f"{said}; --key NAME chooses the table, or rename it to X"
        )
    return (usual or tables)[0]


def _about_rows(arrays: Mapping[str, NDArray[Any]], n_rows: int) -> dict[str, NDArray[Any]]:
    """Arrays with a value for each row; a few columns are told apart by a number."""
    found: dict[str, NDArray[Any]] = {}
    for key, array in arrays.items():
        if array.dtype.kind not in "biufUS" or not array.ndim or len(array) != n_rows:
            continue
        if array.ndim == 1:
            found[key] = array
        elif array.ndim == 2 and array.shape[1] <= 10:
            found |= {f"{key}[{k}]": column for k, column in enumerate(array.T)}
    return found


def _check_lengths(
    arrays: Mapping[str, NDArray[Any]],
    about: Mapping[str, Any],
    reading: Reading,
    source: ArraySource,
    key: str,
) -> None:
    """Raise if labels that were asked for, or have the usual names, have another length."""
    asked = [str(one) for one in reading.labels]
    wanted = asked or [k for k in arrays if k.lower() in LABEL_NAMES]
    for name in wanted:
        known = name in about or f"{name}[0]" in about
        if known or name not in arrays or not arrays[name].ndim:
            continue
        n_rows, width = source.X.shape
        n_rows, width = (width, n_rows) if reading.transpose else (n_rows, width)
        cure = "--transpose exchanges rows and columns" if len(arrays[name]) == width else ""
        raise ValueError(
            f"{name} must have one label for each row of {key}, got shape {arrays[name].shape} for "
            f"{n_rows} rows; {cure or 'check how the file was written'}"
        )


def _numpy_load(path: Path) -> Any:
    """Load without pickle, which could run code."""
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(
            f"{str(path)!r} must be a plain NumPy file without Python objects, got: {error}; "
            "write numbers with numpy.save or numpy.savez"
        ) from None


def _names(
    arrays: Mapping[str, NDArray[Any]], key: str, shape: tuple[int, ...] | None = None
) -> tuple[str, ...]:
    """Strings under an optional key, if there are as many as there should be."""
    if key not in arrays or (shape is not None and arrays[key].shape != shape):
        return ()
    return tuple(v.decode() if isinstance(v, bytes) else str(v) for v in arrays[key].tolist())


READERS: dict[str, Callable[[Path, Reading], Any]] = {
    ".csv": _read_cells,
    ".tsv": _read_cells,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".mat": _read_mat,
    ".h5ad": _read_annotated,
    ".nwb": _read_neurodata,
    ".parquet": read_parquet,
    ".xlsx": read_sheet,
}
"""Reader of each file ending."""
