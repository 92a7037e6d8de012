"""Models in files: rows, parameters and what was learnt from them; nothing that runs when read.

A file is a zip archive of named arrays (`numpy.savez`), one of which is a text of JSON, with a
digest of them all. Records are read by the types of their fields: nothing in a file says what
becomes of it. What follows from rows and learnt arrays, such as how rows are compared, is made
again by the constructors that the fit uses, which check what they are given.
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, BinaryIO, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from . import graph, missing
from ._base import limits
from ._base.format import listed
from ._base.table import SparseTable
from ._base.types import Integers
from ._base.validation import nodes_of, positive, well_formed
from ._preprocessing import RowSteps
from ._version import __version__
from .cliques import check_blocks
from .fit import Result
from .kernels import StationaryKernel
from .predictions import Computed
from .refine import Likelihood, Stress
from .settings import CLASSES, Settings
from .similarity import AFFINITIES, GIVEN
from .strategies import Strategy

_FORMAT = "ikd_graph model, format 8"

_LARGEST = 1e160  # of any array: tables and length-scales are bounded, so are powers of them

_AXES = {
    "n": ("keys", "inverse", "scale", "sample_indices"),
    "u": ("result.labels",),
    "um": (
        "result.coordinates", "result.core.latent", "result.solution.embedding.coordinates",
        "computed.standard_errors",
    ),
    "m": (
        "result.solution.embedding.eigenvalues",
        "result.solution.embedding.explained_variance_ratio",
    ),
    "tm": ("result.solution.solved.coordinates",),
    "t": ("result.solution.solved.precision",),
    "bm": ("result.solution.solved.eigenvalues",),
    "b": ("result.solution.solved.negative_mass",),
    "ku": ("result.sessions.parts",),
    "k": ("result.sessions.gaps", "result.sessions.misfits"),
    "c": ("result.core.core",),
    "cm": ("result.core.fit.latent",),
    "amm": ("computed.error_bars.covariances",),
    "qq": ("computed.error_bars.answers",),
    "p": (
        "preprocessor.fill", "preprocessor.center", "preprocessor.unit", "preprocessor.mean_row",
    ),
}  # fmt: skip
"""Axes of learnt arrays: n rows, u of them distinct, m coordinates, p columns, and others."""

_AXES_OF = {name: axes for axes, names in _AXES.items() for name in names}

_MAY_BE_UNKNOWN = ("result.sessions.gaps", "result.sessions.misfits", "computed.error_bars.answers")

_OF_POINTS = ("inverse", "result.labels", "result.solution.landmarks", "result.core.core")
"""Arrays of numbers of distinct rows."""

_RECORDS = (Settings, RowSteps, Computed)
"""Records that are no tuples."""

_SPARSE = ("data", "indices", "indptr", "shape")

_SHORT = {kind: short for kinds in CLASSES.values() for short, kind in kinds.items()}
"""Short names of the objects that parameters are."""

_KINDS: Mapping[str, Any] = {short: kind for kind, short in _SHORT.items()}

_PARAMETER = (
    Strategy | graph.Rule | graph.CsrGraph | StationaryKernel | Stress | Likelihood | missing.Rule
    | str | bool | int | float | None
)  # fmt: skip


# Writing ------------------------------------------------------------------------------------------


def write(model: Any, file: BinaryIO) -> None:
    """Write a fitted estimator to a file that is open."""
    fitted, arrays = model.model_, dict[str, Any]()
    result, given = fitted.result, None if fitted.asked.has_rows else fitted.similarity
    # What was fitted, whatever the parameters were set to since.
    parameters = dict(model._parameters)
    if not isinstance(parameters["graph"], (str, int, float, np.number, graph.Rule)):
        parameters["graph"] = model.settings_.graph or "auto"
    if isinstance(parameters["random_state"], np.random.RandomState):
        parameters["random_state"] = None
    learnt = {field.name: getattr(result, field.name) for field in fields(result)}
    tree = {
        "format": _FORMAT,
        "version": __version__,
        "dtype": np.dtype(fitted.dtype).name,
        "rows": given._values if given else fitted.rows,
        "scale": given and np.array(np.broadcast_to(given._scale, given.n_samples)),
        "keys": fitted.keys,
        "inverse": fitted.inverse,
        "sample_indices": model.sample_indices_,
        "parameters": parameters,
        "result": learnt | {"settings": model.settings_, "similarity": None},
        "computed": fitted.computed,
        "stage_times": model.stage_times_,
        "names": list(map(str, getattr(model, "feature_names_in_", ()))),
        "preprocessor": getattr(model, "preprocessor_", None),
    }
    text = json.dumps(_plain(tree, "", arrays))
    members = {"head": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    members["digest"] = np.array(_digest(members))
    np.savez(file, **members)


def _plain(value: Any, name: str, arrays: dict[str, Any]) -> Any:
    """Return a value as JSON holds it; its arrays are put to others under its name."""
    value = value.stored if isinstance(value, SparseTable) else value
    if sp.issparse(value):
        csr = sp.csr_array(value)
        value = {part: np.array(getattr(csr, part)) for part in _SPARSE}
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [_plain(each, f"{name}.{at}", arrays) for at, each in enumerate(value)]
    short = _SHORT.get(type(value))
    if hasattr(value, "_fields"):
        value = value._asdict()
    elif short or isinstance(value, _RECORDS):
        value = vars(value)
    if not isinstance(value, Mapping):
        raise TypeError(
            "a model must be made of classes of ikd_graph to be saved, got a "
            f"{type(value).__module__}.{type(value).__name__}; use a kernel from ikd_graph.kernels"
        )
    before = f"{name}." if name else ""
    plain = {each: _plain(own, f"{before}{each}", arrays) for each, own in value.items()}
    return {short: plain} if short else plain


def _digest(arrays: Mapping[str, Any]) -> str:
    """SHA-256 of named arrays, their types and shapes."""
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


# Reading ------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str], make: Callable[..., Any]) -> Any:
    """Read the estimator that `write` wrote to a path; ``make`` is its class."""

    def opened() -> BinaryIO:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError("it is no regular file")
        return open(path, "rb")

    return unpack(f"{os.fspath(path)!r}", opened, make, "save the model again")


def unpack(name: str, opened: Callable[[], BinaryIO], make: Callable[..., Any], cure: str) -> Any:
    """Return the estimator that a file holds, and say what is wrong with any other file."""
    try:
        with opened() as file:
            return _unpack(file, make)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise ValueError(
            f"{name} must be a file that IKD.save wrote ({_FORMAT}), got one that "
            f"cannot be read ({type(error).__name__}: {error!s:.100}); {cure}"
        ) from None


def _unpack(file: BinaryIO, make: Callable[..., Any]) -> Any:
    """Return the estimator that a file which is open holds."""
    with zipfile.ZipFile(file) as archive:
        if sum(member.file_size for member in archive.infolist()) > file.seek(0, os.SEEK_END):
            raise ValueError("it unpacks to more than it holds")
    file.seek(0)
    with np.load(file, allow_pickle=False) as members:
        arrays = dict(members)
    if arrays.pop("digest").item() != _digest(arrays):
        raise ValueError("its content was changed")
    head = json.loads(arrays.pop("head").tobytes())
    if head["format"] != _FORMAT:
        raise ValueError(f"{head['format']!r}, written by ikd_graph {head['version']}")
    _check_arrays(arrays)
    rows, asked = _table("rows", arrays), head["parameters"]
    model = make(**{n: _made(_PARAMETER, v, f"parameters.{n}", arrays) for n, v in asked.items()})
    # Blocks of dense rows, and what is known of each pair.
    n, p = rows.shape
    pairwise = isinstance(missing.get(model.missing), missing.Pairwise)
    needed, free = 128.0 * p + 32.0 * n * n * pairwise, limits.free_memory()
    if free is not None and needed > free:
        raise ValueError(f"comparing its rows takes {needed:.3g} bytes")
    if n != len(arrays["inverse"]):
        raise ValueError("rows has another size than what belongs to it")
    scale, names = arrays.get("scale"), _made(tuple[str, ...], head["names"], "names", arrays)
    if scale is not None:
        positive("scale", scale.min())
        scale = scale if model.affinity == "precomputed" else float(scale[0])
    model._restore(
        rows, keys=arrays["keys"], inverse=arrays["inverse"], scale=scale,
        dtype={"float32": np.float32, "float64": np.float64}[head["dtype"]],
        learnt=_result(head["result"], arrays),
    )  # fmt: skip
    model.stage_times_ = _made(dict[str, float], head["stage_times"], "stage_times", arrays)
    # Files of earlier versions have none.
    model.sample_indices_ = _made(
        Integers | None, head.get("sample_indices"), "sample_indices", arrays
    )
    if names:
        model.feature_names_in_ = np.array(names, dtype=object)
    if len(names) not in (0, p):
        raise ValueError("its names are of another number than its columns")
    steps = _made(RowSteps | None, head["preprocessor"], "preprocessor", arrays)
    if steps is not None:
        model.preprocessor_ = steps
    model.model_.computed = computed = _record(Computed, head["computed"], "computed", arrays)
    bars = computed.error_bars
    if bars and len(bars.covariances) != model.model_.sample.size:
        raise ValueError("its error bars have another size than its points")
    return model


def _check_arrays(arrays: Mapping[str, Any]) -> None:
    """Raise unless arrays hold numbers, belong together, and point to what is there."""
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} holds {array.dtype}")
        axes = _AXES_OF.get(name, "?" * array.ndim)
        for axis, size in zip(axes, array.shape, strict=True):
            if axis != "?" and sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name} has another size than what belongs to it")
        if array.dtype.kind == "f":
            may_be_unknown = name not in _AXES_OF or name in _MAY_BE_UNKNOWN
            known = array[np.isfinite(array)] if may_be_unknown else array
            if not float(np.abs(known).max(initial=0.0)) < _LARGEST:
                raise ValueError(f"{name} holds values that are too large, or not finite")
    u = sizes["u"]
    for name in {*_OF_POINTS} & arrays.keys():
        nodes_of(u)(name, arrays[name])
    if np.unique(arrays["inverse"]).size != u:
        raise ValueError("its distinct rows are not those of its points")


def _table(name: str, arrays: Mapping[str, Any]) -> Any:
    """Return the table or the matrix that `_plain` was given."""
    if f"{name}.indptr" not in arrays:
        return arrays[name]
    data, indices, indptr, shape = (arrays[f"{name}.{part}"] for part in _SPARSE)
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    well_formed(name, matrix)
    return matrix


def _made(kind: Any, value: Any, name: str, arrays: Mapping[str, Any]) -> Any:
    """Return what `_plain` was given, which must be of a type."""
    options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if Any in options and (name in arrays or f"{name}.indptr" in arrays):
        return _table(name, arrays)
    for option in options:
        origin, parts = get_origin(option) or option, get_args(option)
        if name in arrays:
            of_type = origin is np.ndarray and np.dtype(*get_args(parts[1]))
            if of_type and of_type.kind == arrays[name].dtype.kind:
                return arrays[name]
        elif isinstance(value, dict):
            if origin in (dict, Mapping):
                return {k: _made(parts[1], v, f"{name}.{k}", arrays) for k, v in value.items()}
            short = next(iter(value)) if len(value) == 1 else ""
            if short in _KINDS and isinstance(origin, type) and issubclass(_KINDS[short], origin):
                return _object(_KINDS[short], value[short], name, arrays)
            if short not in _KINDS and (hasattr(origin, "_fields") or origin in _RECORDS):
                return _record(origin, value, name, arrays)
        elif isinstance(value, list) and origin is tuple:
            each = enumerate(value)
            return tuple(_made(parts[0], own, f"{name}.{at}", arrays) for at, own in each)
        elif origin in (type(value), Any) or (origin is float and type(value) is int):
            return value
    raise ValueError(f"its {name} is of another kind")


def _record(kind: Any, value: Any, name: str, arrays: Mapping[str, Any]) -> Any:
    """Return a record whose fields, by their types, are what `_plain` was given."""
    names = getattr(kind, "_fields", None) or [field.name for field in fields(kind)]
    if not isinstance(value, dict) or value.keys() != {*names}:
        raise ValueError(f"its {name} has other parts than {listed(names)}, got {value!r:.200}")
    hints = get_type_hints(kind)
    return kind(**{n: _made(hints[n], value[n], f"{name}.{n}", arrays) for n in names})


def _object(kind: Any, value: Any, name: str, arrays: Mapping[str, Any]) -> Any:
    """Return a parameter of a class of the package, with its own parameters checked."""
    made = _record(kind, value, name, arrays)
    if not isinstance(made, StationaryKernel):
        # A resolved threshold of 0 takes all that is stored.
        is_zero = isinstance(made, graph.Threshold) and made.s0 == 0.0
        (made.replace(s0="auto") if is_zero else made).check()
    return made


def _result(value: Any, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result, the similarity aside."""
    hints = get_type_hints(Result)
    made = {
        name: _made(hint, value[name], f"result.{name}", arrays)
        for name, hint in hints.items()
        if name != "similarity"
    }
    points, g, core, solved = (made[name] for name in ("coordinates", "graph", "core", "solution"))
    if made["settings"].affinity not in (*AFFINITIES, *GIVEN):
        raise ValueError("its affinity is of another kind")
    if points.shape[1] != made["settings"].n_components:
        raise ValueError("its points have another number of coordinates than were asked for")
    if g is not None and g.n_nodes != len(points):
        raise ValueError("its graph has another size than its points")
    if core is not None:
        positive("variance", core.fit.variance)
    if solved.solved is not None:
        check_blocks("blocks", solved.solved.blocks, len(points))
    return made
