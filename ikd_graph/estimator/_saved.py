"""Models in files: arrays by `numpy.savez` and a text of JSON, nothing that runs when read."""

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._files import write_whole
from .._fitted_process import FittedProcess
from .._settings import Candidate, Result, Settings
from .._table import SparseTable
from .._types import Floats, Integers
from .._validation import check_nodes, check_sparse
from .._version import __version__
from ..alignment import Joints
from ..cliques import Blocks, Cliques, check_blocks
from ..covariance import SparseRows
from ..gplvm import NoiseModel
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..missing import Impute, Pairwise
from ..out_of_sample import Placement
from ..refine import CoreFit, OptimumRecord, SessionJoints
from ..similarity import KnownRows
from ..strategies import Strategy
from ..uncertainty import LatentPosterior
from ._declared import check_declared, declared, fits, is_cached

_FORMAT = "ikd_graph model, format 1"
_PACKAGE = __name__.partition(".")[0]

_TABLES = (np.ndarray, SparseTable, SparseRows)

_LARGEST = 1e160  # of any array: tables and length-scales are bounded, so are powers of them

_UNKNOWN = {"FittedProcess", "KnownRows", "OptimumRecord", "PairwiseSimilarity", "SessionJoints"}
"""Records whose arrays may hold values that are not known; in those of others all are finite."""

# Axes of learnt arrays: n rows, u distinct ones, m coordinates. Compiled code relies on them.
_AXES = {
    "embedding_": "nm", "_points": "um", "_first": "u", "_inverse": "n", "eigenvalues_": "m",
    "explained_variance_ratio_": "m", "component_labels_": "n", "merge_residuals_": "n",
    "fixed_": "n",
}  # fmt: skip

# The same of records, each by itself.
_RECORD_AXES = {
    "EuclideanRows": {"points": "np", "half": "n", "origin": "p", "units": "p"},
    "LatentPosterior": {"covariances": "nmm"},
    "Placement": {"latent": "nm", "axes": "qm", "origin": "m"},
    "FittedProcess": {"points": "um", "first": "u"},
    "Result": {"coordinates": "nm", "labels": "n"},
    "Embedding": {"coordinates": "nm", "eigenvalues": "m", "explained_variance_ratio": "m"},
    "LikelihoodFit": {"latent": "nm"},
    "CoreFit": {"latent": "nm", "core": "c"},
    "StressFit": {"latent": "nm", "history": "h"},
    "OptimumRecord": {"latent": "nm"},
    "Joints": {
        **dict.fromkeys(("first", "second", "n_shared", "kinds", "noise"), "j"),
        "singular_values": "jm", "body": "n", "fixed": "n",
    },
    "Precomputed": {"_values": "nn"},
    "SolvedBlocks": {
        "coordinates": "pm", "precision": "p", "eigenvalues": "bm",
        "explained_variance_ratio": "b", "negative_mass": "b",
    },
    "KnownRows": {"values": "np", "known": "np"},
    "PairwiseSimilarity": {"counts": "nn", "known": "nn", "_values": "nn", "_units": "p"},
}  # fmt: skip


class _Learned:
    """What a fitted estimator holds: parameters that answers depend on, and what was learned."""

    n_components: int | str
    affinity: str
    missing: str | Pairwise | Impute
    n_jobs: int | None
    verbose: int
    n_features_in_: int
    n_components_: int
    embedding_: NDArray[np.floating]
    eigenvalues_: NDArray[np.floating]
    explained_variance_ratio_: NDArray[np.floating]
    negative_mass_: float | None
    spectrum_: NDArray[np.floating] | None
    kernel_: StationaryKernel
    settings_: Settings
    candidates_: tuple[Candidate, ...]
    agreement_: float
    graph_: CsrGraph | None
    removed_edges_: Integers | None
    component_labels_: Integers
    cliques_: Cliques | None
    merge_residuals_: Floats | None
    merge_start_weight_: float | None
    joints_: Joints | SessionJoints | None
    fixed_: NDArray[np.str_] | None
    n_iter_: int
    optima_: tuple[OptimumRecord, ...]
    landmarks_: Integers | None
    stage_times_: dict[str, float]
    _result: Result
    _fitted: FittedProcess
    _training: KnownRows
    _placement: Placement
    _first: Integers
    _inverse: Integers
    _points: Floats


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
        if {type(name) for name in state} != {str}:
            raise ValueError("an attribute has no name")
        for name, hint in declared(_Learned).items():
            if not fits(state[name], hint):
                raise ValueError(f"its {name} is a {type(state[name]).__name__}")
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
        return [name, self.encode({n: fields[n] for n in fields if not is_cached(kind, n)})]


def _check_magnitude(array: NDArray[np.floating]) -> None:
    """Raise where squares of finite values overflow."""
    if float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) > _LARGEST:
        raise ValueError("an array holds values that are too large")


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
            if array.dtype.kind == "f":
                _check_magnitude(array)
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
        check_declared(kind, fields)
        if kind.__name__ not in _UNKNOWN:
            _check_finite(kind.__name__, fields)
        if kind.__name__ == "Placement" and (fields.get("axes") is None) != (
            fields.get("origin") is None
        ):
            raise ValueError("its placement has axes or an origin alone")
        _check_axes(_RECORD_AXES.get(kind.__name__, {}), fields, {})
        if issubclass(kind, tuple):
            record = kind(**fields)
            return check_blocks("blocks", record) if kind is Blocks else record
        record = kind.__new__(kind)
        record.__dict__.update(fields)
        # What checks itself when it is made does so when it is read.
        getattr(record, "__post_init__", lambda: None)()
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
        is_real = isinstance(held, np.ndarray) and held.dtype.kind == "f"
        if is_real and not (_are_finite(name, held) or finite(held, True)):
            raise ValueError(f"{name} of its similarity holds values that are not finite")
        if name == "rows" and not isinstance(held, (*_TABLES, type(None))):
            raise ValueError(f"the rows that it compares are a {type(held).__name__}")
        if name == "rows" and np.ndim(held) == 2 and held.shape[1] != result.similarity.n_observed:
            raise ValueError("the rows that it compares have other columns")
        of_points = name in ("rows", "half", "_scale") and hasattr(held, "__len__")
        if of_points and len(held) != len(own):
            raise ValueError("the rows that it compares are of another number than its points")
    if result.similarity.has_rows and (state["_rows"] is None or state["_fitted"].rows is None):
        raise ValueError("it holds no rows")
    if isinstance(result.refined, CoreFit):
        core = check_nodes("core", result.refined.core, len(own))
        if len(core) != len(result.refined.fit.latent) or len(set(core.tolist())) != len(core):
            raise ValueError("the points of its likelihood do not belong to its coordinates")
    for settings in (state["settings_"], result.settings):
        if not isinstance(settings.strategy, Strategy):
            raise ValueError(f"its strategy is a {type(settings.strategy).__name__}")
    process: FittedProcess = state["_fitted"]
    if process.points.shape != own.shape or process.first.shape != own.shape[:1]:
        raise ValueError("the points of its process are of another number than its own")
    if process.rows is not None and np.size(getattr(process.rows, "shape", ())) != 2:
        raise ValueError(f"the rows of its process are a {type(process.rows).__name__}")
    if process.rows is None and process.has_holes:
        raise ValueError("its process holds no rows")
    placed = state["_placement"]
    if placed.axes is None and placed.latent.shape[1] != own.shape[1]:
        raise ValueError("the points that new ones are placed by have other coordinates")
    _check_computed(process)


_COMPUTED = {
    "error bars": LatentPosterior | None,
    "noise model": NoiseModel | None,
    "standard errors": Floats,
}
"""Types of what a fitted process computes when it is first asked for, by name."""


def _check_computed(process: FittedProcess) -> None:
    """Raise unless what a process has computed belongs to its points."""
    for name, value in process.computed.items():
        if not fits(value, _COMPUTED.get(name, type(None))):
            raise ValueError(f"{name} of its process are of {type(value).__name__}")
    bars, errors = (process.computed.get(name) for name in ("error bars", "standard errors"))
    if bars is not None and bars.covariances.shape[:2] != (
        process.sample.size, process.points.shape[1]
    ):  # fmt: skip
        raise ValueError("its error bars are not those of its points")
    if errors is not None and errors.shape != process.points.shape:
        raise ValueError("its standard errors are not those of its points")


def _are_finite(name: str, array: NDArray[np.floating]) -> bool:
    """Whether values are finite; the unit of a column without spread is infinite."""
    return bool(((array > 0.0) if name.endswith("units") else np.isfinite(array)).all())


def _check_finite(owner: str, fields: Mapping[str, Any]) -> None:
    """Raise unless all values of arrays are finite, those of nested records as they are read."""
    for name, value in fields.items():
        # Nested tuples with names are records, too.
        arrays = value if isinstance(value, tuple) and not hasattr(value, "_fields") else (value,)
        for array in arrays:
            is_real = isinstance(array, np.ndarray) and array.dtype.kind == "f"
            if is_real and not _are_finite(name, array):
                raise ValueError(f"{name} of its {owner} holds values that are not finite")


def _check_axes(axes: Mapping[str, str], values: Mapping[str, Any], sizes: dict[str, int]) -> None:
    """Raise unless axes of one letter have one size; ``sizes`` are those known, and grow."""
    for name, letters in axes.items():
        shape = np.shape(values[name]) if values.get(name) is not None else None
        for axis, size in zip(letters, shape or "", strict=shape is not None):
            if sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name} has another size than what belongs to it")


def _check_sizes(state: dict[str, Any]) -> None:
    """Raise unless results of a fit belong together."""
    if not isinstance(state["_result"], Result):
        raise ValueError("it holds no fitted model")
    sizes: dict[str, int] = {}
    _check_axes(_AXES, state, sizes)
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
