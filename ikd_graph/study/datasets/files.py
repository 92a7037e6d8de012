"""Read a data set from a file: .csv, .tsv, .npy, .npz or .h5ad."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._arrays import check_sparse
from ._record import Dataset, encode_labels
from .tables import read_table

LABEL_NAMES = ("label", "labels", "y", "class", "target", "cell_type")
"""Column or key names that are read as labels when none is asked for."""

DENSE_LIMIT = 8 * 2**30
"""Largest number of bytes into which a sparse table is unpacked."""


def read_file(path: str | Path, *, label_column: str | int | None = None) -> Dataset:
    """Read a data set from a file, by its ending.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .npy, .npz or .h5ad file.
    label_column : str, int or None
        Name (or position, in a .csv or .tsv) of the labels. None takes a column or key called
        label, labels, y, class, target or cell_type (in any case of letters) if there is one,
        or else the only column of repeated words.

    Returns
    -------
    Dataset
        With ``X`` (n, n_features) float64, all finite.
    """
    path = Path(path)
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
    try:
        return reader(path, label_column)
    except (ValueError, ImportError, MemoryError):
        raise
    # Whatever else a broken file makes the libraries below say, it is the file that is wrong.
    except Exception as error:
        raise ValueError(
            f"{path.name} must be a whole {path.suffix} file, got {type(error).__name__}: {error}; "
            "write it again from its source"
        ) from error


def _read_csv(path: Path, label_column: str | int | None) -> Dataset:
    """Read a .csv or .tsv table."""
    table = read_table(path, label_column, LABEL_NAMES)
    y, names = (None, ()) if table.labels is None else encode_labels(np.asarray(table.labels))
    _check_finite(table.X, path, table.columns)
    return Dataset(X=table.X, y=y, label_names=names, name=path.stem, feature_names=table.columns)


def _read_npy(path: Path, label_column: str | int | None) -> Dataset:
    """Read one array."""
    if label_column is not None:
        raise ValueError(
            f"label_column must be None for a .npy file, got {label_column!r}: it holds X alone; "
            "numpy.savez(name, X=X, y=y) keeps both"
        )
    array = _numpy_load(path)
    return Dataset(X=_matrix(array, path, "the array"), name=path.stem)


def _read_npz(path: Path, label_column: str | int | None) -> Dataset:
    """Read an archive of arrays: X (or data, or the only table), and y or labels."""
    archive = _numpy_load(path)
    if not isinstance(archive, np.lib.npyio.NpzFile):
        raise ValueError(f"{str(path)!r} must be an archive of arrays (numpy.savez), got one array")
    with archive:
        shapes = {key: archive[key].shape for key in archive.files}
        listed = ", ".join(f"{key} {shape}" for key, shape in shapes.items()) or "none"
        tables = [key for key, shape in shapes.items() if len(shape) == 2]
        usual: list[str] = [k for k in ("X", "data") if k in shapes]
        if not usual and len(tables) != 1:
            raise ValueError(
                f"{path.name} must hold an array X or data, or exactly one 2-D array, got keys: "
                f"{listed}; rename the table to X"
            )
        key = (usual or tables)[0]
        label_key = _choose(label_column, [k for k in shapes if k != key], path)
        X = _matrix(archive[key], path, key)
        names = _names(archive, "label_names")
        y, names = (None, ()) if label_key is None else encode_labels(archive[label_key], names)
        if y is not None and y.shape != (X.shape[0],):
            raise ValueError(
                f"{label_key} must have one label for each row of {key}, got shape "
                f"{shapes[label_key or '']} for {X.shape[0]} rows; check how the file was written"
            )
        shape = archive["image_shape"].tolist() if "image_shape" in shapes else None
        image_shape = (int(shape[0]), int(shape[1])) if shape else None
        features = _names(archive, "feature_names")
    return Dataset(
        X=X, y=y, label_names=names, name=path.stem, image_shape=image_shape, feature_names=features
    )


def _read_h5ad(path: Path, label_column: str | int | None) -> Dataset:
    """Read an annotated matrix: X dense or compressed, labels from obs, genes from var."""
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
        if "X" not in file:
            raise ValueError(
                f"{path.name} must hold a table X, got keys: {', '.join(file) or 'none'}; "
                "write it with anndata's write_h5ad"
            )
        _check_inside(file, path, ("X", "obs", "var"))
        features = _hdf_index(file["var"]) if "var" in file else ()
        _check_width(file["X"], path, features)
        X = _matrix(_hdf_table(file["X"], path), path, "X")
        obs = file.get("obs", {})
        columns = [k for k in obs if not k.startswith("_")]
        key = _choose(label_column, columns, path)
        y, names = (None, ()) if key is None else _hdf_labels(obs, key)
        if y is not None and y.shape != (X.shape[0],):
            raise ValueError(
                f"{key} of {path.name} must have one label for each row of X, got shape {y.shape} "
                f"for {X.shape[0]} rows; write it again with anndata's write_h5ad"
            )
    return Dataset(X=X, y=y, label_names=names, name=path.stem, feature_names=features)


def _check_inside(group: Any, path: Path, names: Iterable[str]) -> None:
    """Raise if parts of a file are links to other files, or lie in them: they may be anyone's."""
    import h5py

    for name in names:
        if name not in group and not isinstance(group.get(name, getlink=True), h5py.ExternalLink):
            continue
        outside = isinstance(group.get(name, getlink=True), h5py.ExternalLink)
        item = None if outside else group[name]
        if isinstance(item, h5py.Dataset):
            outside = bool(item.external) or item.is_virtual
        if outside:
            raise ValueError(
                f"{path.name} must hold its own data, got {name!r} in another file; copy it here"
            )
        if isinstance(item, h5py.Group):
            _check_inside(item, path, item)


def _check_width(item: Any, path: Path, features: tuple[str, ...]) -> None:
    """Raise if a table is not as wide as there are names: unpacking it might take all memory."""
    shape = item.attrs.get("shape", ()) if hasattr(item, "keys") else item.shape
    if features and len(shape) == 2 and int(shape[1]) != len(features):
        raise ValueError(
            f"X of {path.name} must have one column for each of {len(features)} names in var, got "
            f"shape {tuple(int(n) for n in shape)}; write it again with anndata's write_h5ad"
        )


def _hdf_table(item: Any, path: Path) -> NDArray[np.generic]:
    """Dense array of an HDF5 data set or of a compressed-row or -column group."""
    if not hasattr(item, "keys"):
        return np.asarray(item)
    import scipy.sparse as sp

    kind = item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", ""))
    shape = tuple(int(n) for n in item.attrs.get("shape", item.attrs.get("h5sparse_shape", ())))
    if not str(kind).startswith(("csr", "csc")) or len(shape) != 2:
        raise ValueError(
            f"X of {path.name} must be dense, csr_matrix or csc_matrix, got {str(kind)!r}"
        )
    needed = 8 * shape[0] * shape[1]
    if needed > DENSE_LIMIT:
        raise ValueError(
            f"X of {path.name} must fit into {DENSE_LIMIT / 2**30:.0f} GiB unpacked, got shape "
            f"{shape} = {needed / 2**30:.1f} GiB; keep the most variable columns"
        )
    parts = (item["data"][:], item["indices"][:], item["indptr"][:])
    form = sp.csr_matrix if str(kind).startswith("csr") else sp.csc_matrix
    try:
        if any(places.dtype.kind not in "iu" for places in parts[1:]):
            raise ValueError("indices and indptr must be whole numbers")
        table = form(parts, shape=shape)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"X of {path.name} must be a whole sparse matrix, got parts that do not fit together "
            f"({error}); write it again with anndata's write_h5ad"
        ) from None
    check_sparse(f"X of {path.name}", table)
    return table.toarray()


def _hdf_labels(obs: Any, key: str) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Labels of an obs column, categorical (new or old layout) or plain."""
    item = obs[key]
    if hasattr(item, "keys"):
        codes, categories = item["codes"][:], item["categories"][:]
    elif "__categories" in obs and key in obs["__categories"]:
        codes, categories = item[:], obs["__categories"][key][:]
    else:
        return encode_labels(item[:])
    names = _texts(categories)
    if np.any(codes < 0):
        codes, names = np.where(codes < 0, len(names), codes), (*names, "missing")
    return codes.astype(np.int64), names


def _hdf_index(group: Any) -> tuple[str, ...]:
    """Row names of an obs or var group."""
    key = group.attrs.get("_index", "_index") if hasattr(group, "keys") else None
    return _texts(group[key][:]) if key in group else ()


def _choose(wanted: str | int | None, columns: list[str], path: Path) -> str | None:
    """Key of the labels: the wanted one, or the first with a usual name, or None."""
    if wanted is None:
        found = {column.lower(): column for column in reversed(columns)}
        return next((found[name] for name in LABEL_NAMES if name in found), None)
    if wanted not in columns:
        raise ValueError(
            f"label_column must name a column of {path.name}: {', '.join(columns) or 'none'}; "
            f"got {wanted!r}"
        )
    return str(wanted)


def _numpy_load(path: Path) -> Any:
    """Load without pickle, which could run code."""
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(
            f"{str(path)!r} must be a plain NumPy file without Python objects, got: {error}; "
            "write numbers with numpy.save or numpy.savez"
        ) from None


def _matrix(array: Any, path: Path, what: str) -> NDArray[np.float64]:
    """Check a numeric table, (n, n_features), and turn it into float64."""
    if array.ndim != 2 or array.dtype.kind not in "biuf" or array.size == 0:
        raise ValueError(
            f"{what} in {path.name} must be a 2-D table of numbers (points x dimensions), got "
            f"shape {array.shape} of {array.dtype}; reshape images to one row each"
        )
    X = np.ascontiguousarray(array, dtype=np.float64)
    _check_finite(X, path, ())
    return X


def _check_finite(X: NDArray[np.float64], path: Path, columns: tuple[str, ...]) -> None:
    """Raise if a value is missing or infinite, naming the first."""
    bad = ~np.isfinite(X)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        where = repr(columns[column]) if columns else str(column)
        raise ValueError(
            f"{path.name} must hold finite numbers only, got {int(bad.sum())} missing or infinite "
            f"value(s), the first in row {row}, column {where}; drop those rows or fill them in"
        )


def _names(archive: Any, key: str) -> tuple[str, ...]:
    """Strings under an optional key."""
    return _texts(archive[key]) if key in archive.files else ()


def _texts(values: Any) -> tuple[str, ...]:
    """Strings of an array of strings, bytes or numbers."""
    return tuple(
        v.decode() if isinstance(v, bytes) else str(v) for v in np.asarray(values).tolist()
    )


READERS: dict[str, Callable[[Path, str | int | None], Dataset]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".h5ad": _read_h5ad,
}
"""Reader of each file ending."""
