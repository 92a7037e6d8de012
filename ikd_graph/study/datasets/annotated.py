"""Annotated matrices (.h5ad), read by anndata."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._checks import check_sparse
from ._reading import Reading, check_size, choose_table, package
from ._record import NO_LABEL, Labels, plain_texts
from ._table import Table, from_array


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
        if sp.issparse(X):
            check_sparse(f"{name} of {path.name}", X)
            X = X.toarray()
        X = np.asarray(X)
        beside = {column: _labels(obs[column], file.get(f"uns/{column}_colors")) for column in obs}
    title = str(obs.index.name or "")
    rows = tuple(map(str, obs.index))
    header = "the names in var" if features else "none"
    if reading.transpose:
        X, rows, features, beside, header, title = X.T, features, rows, {}, "the names in obs", ""
    return from_array(
        path.name, X, name, names=features, beside=beside, row_names=rows,
        header=header if name == "X" else f"{header} ({name})",
        row_title="" if title in ("_index", "index") else title,
    )  # fmt: skip


def _shape(item: Any) -> tuple[int, ...]:
    """Shape of a stored array or sparse matrix, () of what is neither."""
    shape = item.attrs.get("shape", ()) if hasattr(item, "keys") else item.shape
    return tuple(int(size) for size in np.ravel(() if shape is None else shape))


def _labels(column: Any, colors: Any) -> Any:
    """A column of obs: classes with the colours scanpy keeps for them, or values."""
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
