"""Models in files: arrays by `numpy.savez` and a text of JSON, nothing that runs when read."""

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._files import write_whole
from .._fitted_process import FittedProcess
from .._settings import Result, Settings
from .._table import SparseTable
from .._validation import check_nodes, check_sparse
from .._version import __version__
from ..cliques import Blocks, check_blocks
from ..covariance import SparseRows
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..refine import CoreFit
from ..similarity import KnownRows, Similarity

_FORMAT = "ikd_graph model, format 1"
_PACKAGE = __name__.partition(".")[0]

# Axes of learnt arrays: n rows, u distinct ones, m coordinates. Compiled code relies on them.
_AXES = {
    "embedding_": "nm", "_points": "um", "_first": "u", "_inverse": "n", "eigenvalues_": "m",
    "explained_variance_ratio_": "m", "component_labels_": "n", "merge_residuals_": "n",
}  # fmt: skip


def write(path: str | os.PathLike[str], state: dict[str, Any]) -> Path:
    """Write the attributes of an estimator, whole or not at all."""
    writer = _Writer()
    body = {"state": writer.encode(state), "records": writer.records}
    head = json.dumps({"format": _FORMAT, "version": __version__, **body}, allow_nan=False)
    members: dict[str, Any] = {"head": np.frombuffer(head.encode(), dtype=np.uint8)}
    members |= {str(number): array for number, array in enumerate(writer.arrays)}
    members["digest"] = np.array(_digest(members))
    return write_whole(path, lambda file: np.savez(file, **members))


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write` wrote.

    Raises
    ------
    ValueError
        If the file is not one of a model, is damaged, or has another format.
    """
    try:
        arrays = _members(path)
        if arrays.pop("digest").item() != _digest(arrays):
            raise ValueError("its content was changed")
        head = json.loads(arrays["head"].tobytes())
        if head["format"] != _FORMAT:
            raise ValueError(f"{head['format']!r}, written by ikd_graph {head['version']}")
        reader = _Reader(arrays)
        for record in head["records"]:
            reader.records.append(reader.record(record))
        state: dict[str, Any] = reader.decode(head["state"])
        _check_sizes(state)
        _check_values(state)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(
            f"{os.fspath(path)!r} must be a file that IKD.save wrote ({_FORMAT}), got one that "
            f"cannot be read ({type(error).__name__}: {error!s:.100}); save the model again"
        ) from None
    return state


def _members(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Arrays of a file, which must not unpack to more than it holds."""
    size = os.stat(path).st_size
    if not os.path.isfile(path):
        raise ValueError("it is no regular file")
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > size:
            raise ValueError("it unpacks to more than it holds")
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def _digest(arrays: Mapping[str, Any]) -> str:
    """SHA-256 of named arrays, their types and shapes."""
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


class _Writer:
    """Values as JSON holds them; arrays and records are collected in lists, each once."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.records: list[Any] = []
        self._numbers: dict[int, tuple[int, Any]] = {}  # by id, with the value to keep it alive

    def encode(self, value: Any) -> Any:
        """Return a value as JSON holds it."""
        if value is None or isinstance(value, (bool, str, int)):
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.random.RandomState):
            return None
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if type(value) in (tuple, list):
            return {type(value).__name__: list(map(self.encode, value))}
        if isinstance(value, dict):
            return {"dict": [[self.encode(a), self.encode(b)] for a, b in value.items()]}
        if isinstance(value, np.ndarray) and value.dtype.kind == "O":
            return {"names": [str(name) for name in value]}
        if isinstance(value, np.ndarray) and value.dtype.kind == "U":
            return {"words": value.tolist()}
        if sp.issparse(value):
            matrix = value.tocsr()
            return {"csr": self.encode((matrix.data, matrix.indices, matrix.indptr, matrix.shape))}
        if isinstance(value, (np.ndarray, np.generic)):
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            return {kind: self._number(value, self.arrays, value)}
        return {"record": self._number(value, self.records, None)}

    def _number(self, value: Any, stored: list[Any], item: Any) -> int:
        if id(value) not in self._numbers:
            stored.append(item if item is not None else self._record(value))
            self._numbers[id(value)] = len(stored) - 1, value
        return self._numbers[id(value)][0]

    def _record(self, value: Any) -> Any:
        kind = type(value)
        name = f"{kind.__module__}.{kind.__name__}"
        if kind.__module__.partition(".")[0] != _PACKAGE:
            raise TypeError(
                f"a model must be made of classes of ikd_graph to be saved, got a {name}; use a "
                "kernel from ikd_graph.kernels"
            )
        fields = value._asdict() if isinstance(value, tuple) else vars(value)  # type: ignore[attr-defined]
        cached = {name for name in fields if isinstance(getattr(kind, name, None), cached_property)}
        return [name, self.encode({n: fields[n] for n in fields if n not in cached})]


class _Reader:
    """The inverse of `_Writer`; graphs and sets of points are checked as they are made."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self._arrays = arrays
        self.records: list[Any] = []

    def decode(self, value: Any) -> Any:
        """Return the value that `_Writer.encode` was passed."""
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind in ("array", "scalar"):
            array = self._arrays[str(content)]
            if array.dtype.kind not in "biuf":
                raise ValueError(f"an array holds {array.dtype} and no numbers")
            return array if kind == "array" else array[()]
        if kind == "words":
            return np.array(content, dtype=str)
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(map(self.decode, content))
        if kind == "dict":
            return {self.decode(a): self.decode(b) for a, b in content}
        if kind == "record":
            return self.records[content]
        if kind == "csr":
            *arrays, shape = self.decode(content)
            matrix = sp.csr_array(tuple(arrays), shape=shape)
            check_sparse("a sparse matrix", matrix)
            return matrix
        if kind == "names":
            return np.array(content, dtype=object)
        return bytes.fromhex(content) if kind == "bytes" else float(content)

    def record(self, stored: Sequence[Any]) -> Any:
        """Return a record of its name and fields."""
        module, _, name = stored[0].rpartition(".")
        if module.partition(".")[0] != _PACKAGE:
            raise ValueError(f"it holds a {stored[0]!r:.40}")
        kind, fields = getattr(import_module(module), name), self.decode(stored[1])
        if issubclass(kind, tuple):
            record = kind(**fields)
            return check_blocks("blocks", record) if kind is Blocks else record
        record = kind.__new__(kind)
        record.__dict__.update(fields)
        # Compiled code reads these without looking how long they are.
        columns = ("shift", "row_factors", "column_factors")
        if kind is SparseRows and {len(fields[column]) for column in columns} != {len(record)}:
            raise ValueError("sparse rows have shifts of another length")
        return record


_FLOATS = ("embedding_", "_points", "eigenvalues_", "explained_variance_ratio_", "_rows")
_NUMBERS = ("_first", "_inverse", "component_labels_")


def _check_values(state: dict[str, Any]) -> None:
    """Raise unless results of a fit are numbers that a fit can give, and objects of their kinds."""
    has_unknown = state["missing"] != "error"

    def finite(values: NDArray[np.floating], of_rows: bool) -> bool:
        """Whether values are finite, but for NaN of X and minus infinity of unknown pairs."""
        unknown = np.isnan(values) | np.isneginf(values)
        known = values[~unknown] if of_rows and has_unknown else values
        return bool(np.isfinite(known).all())

    for name in _FLOATS + _NUMBERS:
        value = state[name]
        kinds = "f" if name in _FLOATS else "iu"
        if value is None or isinstance(value, SparseTable):
            value = getattr(value, "stored", None)
            value = None if value is None else value.data
        if value is None:
            continue
        if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
            raise ValueError(f"{name} holds {getattr(value, 'dtype', type(value).__name__)}")
        if kinds == "f" and not finite(value, name == "_rows"):
            raise ValueError(f"{name} holds values that are not finite")
    result: Result = state["_result"]
    own = np.asarray(result.coordinates)
    if own.dtype != np.float64 or own.shape != state["_points"].shape or not np.isfinite(own).all():
        raise ValueError("the coordinates of its result do not belong to its points")
    for name, held in vars(result.similarity).items():
        if isinstance(held, np.ndarray) and held.dtype.kind == "f" and not finite(held, True):
            raise ValueError(f"{name} of its similarity holds values that are not finite")
        if name == "rows" and held is not None and len(held) != len(own):
            raise ValueError("the rows that it compares are of another number than its points")
    if isinstance(result.refined, CoreFit):
        core = check_nodes("core", result.refined.core, len(own))
        if len(core) != len(result.refined.fit.latent) or len(set(core.tolist())) != len(core):
            raise ValueError("the points of its likelihood do not belong to its coordinates")
    for name, value, kind in (
        ("kernel_", state["kernel_"], StationaryKernel),
        ("graph_", state["graph_"], (CsrGraph, type(None))),
        ("_training", state["_training"], KnownRows),
        ("_fitted", state["_fitted"], FittedProcess),
        ("similarity", result.similarity, Similarity),
        ("settings_", state["settings_"], Settings),
        ("n_features_in_", state["n_features_in_"], int),
        ("n_components_", state["n_components_"], int),
    ):
        if not isinstance(value, kind):
            raise ValueError(f"its {name} is a {type(value).__name__}")


def _check_sizes(state: dict[str, Any]) -> None:
    """Raise unless results of a fit belong together."""
    if not isinstance(state["_result"], Result):
        raise ValueError("it holds no fitted model")
    sizes: dict[str, int] = {}
    for name, axes in _AXES.items():
        shape = np.shape(state[name]) if state[name] is not None else ()
        for axis, size in zip(axes, shape, strict=bool(shape)):
            if sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name} has another size than what belongs to it")
    check_nodes("_first", state["_first"], sizes["n"])
    check_nodes("_inverse", state["_inverse"], sizes["u"])
    own = state.get("preprocessor_")
    if own is not None:
        learnt = (own.fill_, own.center_, own.scale_, own.mean_row_)
        if {len(array) for array in learnt if array is not None} - {state["n_features_in_"]}:
            raise ValueError("what was done to its rows is of another size than these")
    rows = state["_rows"]
    if rows is not None and rows.shape != (sizes["n"], state["n_features_in_"]):
        raise ValueError("its rows have another size than what belongs to them")
