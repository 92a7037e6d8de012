"""Annotated matrices (.h5ad), read by anndata."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..._checks import check_sparse
from ..._suggest import suggest
from ._reading import Reading, check_size, listed, package, refuse
from ._record import NO_LABEL, Coded, plain_texts
from ._table import Table, from_array


def read_annotated(path: Path, reading: Reading) -> Table:
    """Read X, or the table that is the key, with what obs says of rows and var of columns."""
    refuse(reading, path, ["bin"])
    read = package("anndata", path).io.read_elem
    with package("h5py", path).File(path, "r") as file, warnings.catch_warnings():
        # How old a file is matters to nobody who only reads it.
        warnings.simplefilter("ignore")
        name = _table_name(file, reading.key, path)
        check_size(f"{name} of {path.name}", _shape(file[name]), "keep the most variable columns")
        X = read(file[name])
        if sp.issparse(X):
            check_sparse(f"{name} of {path.name}", X)
            X = X.toarray()
        X = np.asarray(X)
        obs = read(file["obs"])
        var = {"X": "var", "raw/X": "raw/var"}.get(name, "var" * name.startswith("layers/"))
        features = tuple(map(str, read(file[var]).index)) if var else ()
        colors = {column: file.get(f"uns/{column}_colors") for column in obs}
        beside = {column: _labels(obs[column], colors[column]) for column in obs}
    if len(obs) != len(X) or (features and X.ndim == 2 and len(features) != X.shape[1]):
        raise ValueError(
            f"{name} of {path.name} must have a row for each of {len(obs)} observations and a "
            f"column for each of {len(features)} names in var, got shape {X.shape}; write it again "
            "with anndata's write_h5ad"
        )
    header = ("the names in var" if features else "none") + ("" if name == "X" else f" ({name})")
    rows = tuple(map(str, obs.index))
    if reading.transpose:
        header = "the names in obs" + ("" if name == "X" else f" ({name})")
        return from_array(path.name, X.T, name, names=rows, row_names=features, header=header)
    title = str(obs.index.name or "")
    return from_array(
        path.name, X, name, names=features, beside=beside, row_names=rows, header=header,
        row_title="" if title in ("_index", "index") else title,
    )  # fmt: skip


def _table_name(file: Any, key: str | None, path: Path) -> str:
    """Full name of the table asked for."""
    groups = ("layers", "obsm")
    tables = [name for name in ("X", "raw/X") if name in file and _shape(file[name])]
    tables += [f"{group}/{name}" for group in groups for name in file.get(group, ())]
    said = listed(f"{name} {_shape(file[name])}" for name in tables)
    if key is None and "X" not in tables:
        raise ValueError(f"{path.name} has no table X but {said}; --key names one of them")
    wanted = key or "X"
    found = next((name for name in tables if wanted in (name, name.partition("/")[2])), None)
    if found is None:
        raise ValueError(
            f"--key must name a table of {path.name}: {said}; got {key!r}{suggest(key, tables)}"
        )
    return found


def _shape(item: Any) -> tuple[int, ...]:
    """Shape of a stored array or sparse matrix, () of what is neither."""
    shape = item.attrs.get("shape", ()) if hasattr(item, "keys") else item.shape
    return tuple(int(size) for size in np.ravel(() if shape is None else shape))


def _labels(column: Any, colors: Any) -> Any:
    """A column of obs: classes with the colours scanpy keeps for them, or values."""
    if not hasattr(column, "cat"):
        kind = column.dtype.kind
        if kind in "biuf" and column.notna().all():
            return column.to_numpy()
        return column.astype(object).where(column.notna(), None).to_numpy(object)
    codes, names = column.cat.codes.to_numpy(np.int64), plain_texts(column.cat.categories)
    if np.any(codes < 0):
        codes, names = np.where(codes < 0, len(names), codes), [*names, NO_LABEL]
    shades = plain_texts(colors[:]) if colors is not None and not hasattr(colors, "keys") else []
    whole = all(re.fullmatch("#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?", shade) for shade in shades)
    return Coded(codes, tuple(names), tuple(shade[:7] for shade in shades) if whole else ())
