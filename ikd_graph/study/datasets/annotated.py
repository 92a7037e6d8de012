"""Annotated matrices (.h5ad), as anndata has written them since version 0.7."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._reading import ArraySource, Reading, listed
from ._record import Coded
from .hdf import check_inside, dense_table, is_group, opened, shape_of, texts


def read_annotated(path: Path, reading: Reading) -> ArraySource:
    """Read X, or the table that is the key, with what obs says of rows and var of columns."""
    with opened(path) as file:
        if "X" not in file:
            raise ValueError(
                f"{path.name} must hold a table X, got keys: {', '.join(file) or 'none'}; "
                "write it with anndata's write_h5ad"
            )
        check_inside(file, path, list(file))
        obs = file.get("obs")
        for part in ("obs", "var", "obsm", "layers"):
            if part in file and not is_group(file[part]):
                raise ValueError(
                    f"{path.name} must be written by anndata 0.7 or newer, got an older {part}; "
                    "read and write it again with anndata"
                )
        item, name, var = _table(file, reading.key, path)
        features = _index(var)[0] if var is not None else ()
        _check_size(item, path, name, features)
        X = dense_table(item, path, name)
        rows, row_title = _index(obs) if obs is not None else ((), "")
        about = dict(_columns(file, obs, len(X), path)) if obs is not None else {}
    return ArraySource(
        path.name,
        X,
        features=features,
        about_rows=about,
        row_names=rows if len(rows) == len(X) else (),
        row_title=row_title,
        what=name,
        header=("the names in var" if features else "none") + ("" if name == "X" else f" ({name})"),
    )


def _table(file: Any, key: str | None, path: Path) -> tuple[Any, str, Any]:
    """The table asked for, its name, and what describes its columns (None: nothing does)."""
    var = file.get("var")
    if key is None or key == "X":
        return file["X"], "X", var
    tables = {"X": (file["X"], var)}
    for group, columns in (("layers", var), ("obsm", None)):
        tables |= {f"{group}/{name}": (item, columns) for name, item in file.get(group, {}).items()}
    if "raw/X" in file:
        tables["raw/X"] = file["raw/X"], file.get("raw/var")
    full = next((n for n in tables if n == key or n.partition("/")[2] == key), None)
    if full is None:
        there = listed(f"{name} {shape_of(item)}" for name, (item, _) in tables.items())
        raise ValueError(f"--key must name a table of {path.name}: {there}; got {key!r}")
    item, columns = tables[full]
    return item, full, columns


def _check_size(item: Any, path: Path, name: str, features: tuple[str, ...]) -> None:
    """Raise if a table is not as wide as there are names: unpacking it might take all memory."""
    shape = shape_of(item)
    if features and len(shape) == 2 and shape[1] != len(features):
        raise ValueError(
            f"{name} of {path.name} must have one column for each of {len(features)} names in var, "
            f"got shape {shape}; write it again with anndata's write_h5ad"
        )


def _index(frame: Any) -> tuple[tuple[str, ...], str]:
    """Names of the rows of obs or var, and what they are called."""
    key = frame.attrs.get("_index", "_index")
    key = key.decode() if isinstance(key, bytes) else str(key)
    if key not in frame:
        return (), ""
    return texts(_plain(frame[key])), "" if key in ("_index", "index") else key


def _columns(
    file: Any, obs: Any, n_rows: int, path: Path
) -> Iterator[tuple[str, NDArray[Any] | Coded]]:
    """Columns of obs, each (n_rows,); the names of the rows are not among them."""
    index = obs.attrs.get("_index", "_index")
    for name, item in obs.items():
        if name.startswith("__") or name == index:
            continue
        old = obs.get("__categories")
        if is_group(item) and "codes" in item:
            values: NDArray[Any] | Coded = _coded(item["codes"][:], _plain(item["categories"]))
        elif old is not None and name in old:
            values = _coded(item[:], old[name][:])
        elif is_group(item) and "values" not in item:
            continue
        else:
            values = _plain(item)
        size = values.codes.shape if isinstance(values, Coded) else values.shape
        if size != (n_rows,):
            raise ValueError(
                f"{name} of {path.name} must have one label for each row of X, got shape {size} "
                f"for {n_rows} rows; write it again with anndata's write_h5ad"
            )
        if isinstance(values, Coded):
            values = values._replace(palette=_palette(file, name))
        yield name, values


def _palette(file: Any, name: str) -> tuple[str, ...]:
    """Colours that scanpy keeps for the classes of a column; none where one is not "#rrggbb"."""
    found = file.get(f"uns/{name}_colors")
    if found is None or is_group(found):
        return ()
    shades = texts(found[:])
    whole = all(re.fullmatch("#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?", shade) for shade in shades)
    return tuple(shade[:7] for shade in shades) if whole else ()


def _plain(item: Any) -> NDArray[Any]:
    """Values of a data set, or of a group of values and a mask."""
    if not is_group(item):
        return np.asarray(item[:])
    values, mask = np.asarray(item["values"][:]), np.asarray(item["mask"][:], dtype=bool)
    if values.dtype.kind in "iuf":
        return np.where(mask, np.nan, values.astype(np.float64)) if mask.any() else values
    return np.where(mask, "", np.array(texts(values)))


def _coded(codes: NDArray[Any], categories: Any) -> Coded:
    """Classes from their codes; those that are missing are a class of that name."""
    names = texts(categories)
    codes = codes.astype(np.int64)
    if codes.max(initial=-1) >= len(names):
        raise LookupError(f"a class of number {codes.max()} among {len(names)}")
    if np.any(codes < 0):
        codes, names = np.where(codes < 0, len(names), codes), (*names, "missing")
    return Coded(codes, names)
