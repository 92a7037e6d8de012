"""Tables of counts as programs of biology write them: .mtx with its names, .biom and .loom.

Their files hold features in rows and observations in columns; observations are the points.
"""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._dataset import plain_texts
from ._reading import Reading, check_size, package
from ._table import Table, from_array
from .arrays import dense

_POINTS = ("barcodes", "cells", "samples", "obs", "columns", "cols")
_FEATURES = ("features", "genes", "peaks", "var", "rows")


def read_market(path: Path, reading: Reading) -> Table:
    """Read a MatrixMarket file; barcodes and genes or features next to it name its sides."""
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        words = file.readline().lower().split()
        if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
            raise ValueError(f"{path.name} must begin with %%MatrixMarket matrix, got {words[:3]}")
        layout, field, symmetry = words[2:]
        sizes = next(line for line in file if line.strip() and line[0] != "%").split()
        rows, columns = map(int, sizes[:2])
        check_size(path.name, (rows, columns))
        values = np.loadtxt(file, ndmin=2)
    X = _market_matrix(values, (rows, columns), layout, field)
    if symmetry != "general":
        X = X + np.triu(X.T, 1) * (-1.0 if symmetry == "skew-symmetric" else 1.0)
    points, features = _names_next_to(path, _POINTS), _names_next_to(path, _FEATURES)
    # As it stands, unless its columns have the names of points.
    turned = len(points) == columns != len(features) or (bool(points) and len(features) == rows)
    X = X.T if turned else X
    return _counts(path, X, points, features, "names next to the file", reading)


def _market_matrix(
    values: NDArray[Any], shape: tuple[int, int], layout: str, field: str
) -> NDArray[np.float64]:
    """Matrix of the lines of a MatrixMarket file below its sizes."""
    if field == "complex":
        raise ValueError("a matrix must hold real numbers, got complex ones; save its absolute")
    if layout == "array":
        return np.asarray(values.reshape(shape, order="F"))
    X = np.zeros(shape)
    at = values[:, :2].astype(np.int64) - 1
    if len(at) and (at.min() < 0 or np.any(at.max(axis=0) >= shape)):
        raise ValueError(f"entries must lie in a matrix of shape {shape}, got one outside")
    np.add.at(X, tuple(at.T), 1.0 if field == "pattern" else values[:, 2])
    return X


def read_biom(path: Path, reading: Reading) -> Table:
    """Read a table of the Biological Observation Matrix format, of HDF5 or JSON."""
    with path.open("rb") as file:
        hierarchical = file.read(8) == b"\x89HDF\r\n\x1a\n"
    if not hierarchical:
        record = json.loads(path.read_text(encoding="utf-8"))
        shape = tuple(map(int, record["shape"]))
        check_size(path.name, shape)
        X = np.zeros(shape)
        if record["matrix_type"] == "sparse":
            for row, column, value in record["data"]:
                X[row, column] = value
        else:
            X[:] = record["data"]
        names = [tuple(str(item["id"]) for item in record[side]) for side in ("columns", "rows")]
        return _counts(path, X.T, names[0], names[1], "the ids of the observations", reading)
    with package("h5py", path.name).File(path, "r") as file:
        shape = tuple(int(size) for size in file.attrs["shape"])
        check_size(path.name, shape)
        group = file["observation/matrix"]
        parts = tuple(np.asarray(group[key]) for key in ("data", "indices", "indptr"))
        X = dense(path.name, sp.csr_matrix(parts, shape=shape))
        names = [tuple(plain_texts(file[f"{side}/ids"][:])) for side in ("sample", "observation")]
    return _counts(path, X.T, names[0], names[1], "the ids of the observations", reading)


def read_loom(path: Path, reading: Reading) -> Table:
    """Read a .loom file, its attributes of cells next to the table."""
    with package("h5py", path.name).File(path, "r") as file:
        check_size(path.name, file["matrix"].shape)
        X = np.asarray(file["matrix"]).T
        sides = [
            {key: np.asarray(item) for key, item in file.get(group, {}).items()}
            for group in ("col_attrs", "row_attrs")
        ]
    cells, genes = (_first_names(side, n) for side, n in zip(sides, X.shape, strict=True))
    table = _counts(path, X, cells, genes, "the names of the genes", reading)
    if not reading.transpose:
        values = {key: _texts(item) for key, item in sides[0].items() if item.shape == X.shape[:1]}
        table.next_to = {key: item for key, item in values.items() if key not in _NAMES}
    return table


_NAMES = ("CellID", "obs_names", "Gene", "var_names", "Accession", "barcode", "cell_names")
"""Attributes of a .loom file that name its sides."""


def _first_names(attributes: dict[str, NDArray[Any]], n: int) -> tuple[str, ...]:
    """Return the names of a side of a .loom file, empty without any."""
    known = [key for key in _NAMES if key in attributes and attributes[key].shape == (n,)]
    return tuple(plain_texts(attributes[known[0]])) if known else ()


def _texts(values: NDArray[Any]) -> NDArray[Any]:
    """Bytes as text; numbers as they are."""
    return np.array(plain_texts(values), object) if values.dtype.kind in "SO" else values


def _names_next_to(path: Path, kinds: Sequence[str]) -> tuple[str, ...]:
    """Names in a file next to another, such as barcodes.tsv.gz, or one of the same start."""
    stem = path.name.partition(".mtx")[0]
    starts = {"", stem.removesuffix("matrix"), stem + "_", stem + "."}
    for start in sorted(starts, key=len, reverse=True):
        for kind in kinds:
            for ending in (".tsv", ".tsv.gz", ".txt", ".csv", ".txt.gz", ".csv.gz"):
                file = path.with_name(f"{start}{kind}{ending}")
                if file.is_file():
                    return _first_column(file)
    return ()


def _first_column(file: Path) -> tuple[str, ...]:
    """Names in a file without a header: its second column (symbols) if all differ, or the first."""
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "rt", encoding="utf-8") as text:
        separator = "," if ".csv" in file.name else "\t"
        rows = [line.rstrip("\n").split(separator) for line in text if line.strip()]
    for at in (1, 0):
        names = [row[at].strip().strip('"') for row in rows if len(row) > at]
        if len(names) == len(rows) and len(set(names)) == len(rows):
            return tuple(names)
    return tuple(row[0].strip() for row in rows)


def _counts(
    path: Path,
    X: NDArray[Any],
    points: tuple[str, ...],
    features: tuple[str, ...],
    header: str,
    reading: Reading,
) -> Table:
    """Table of points in rows, exchanged if that was asked."""
    points = points if len(points) == X.shape[0] else ()
    features = features if len(features) == X.shape[1] else ()
    if reading.transpose:
        X, points, features = X.T, features, points
    return from_array(
        path.name, X, "the matrix", names=features, row_names=points,
        header=header if features else "none",
    )  # fmt: skip
