"""Models in files: rows, what was learnt from them and parameters; nothing that runs when read.

A file is a zip archive of named arrays (`numpy.savez`), one of which is a text of JSON, with a
digest of them all. What follows from rows and learnt arrays, such as how rows are compared, is made
again by the constructors that the fit uses, which check what they are given.
"""

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse as sp

from . import gplvm, graph, kernels, missing
from ._base import limits
from ._base.table import SparseTable
from ._base.validation import nodes_of, positive, well_formed
from ._preprocessing import RowSteps
from ._version import __version__
from .blockwise import SolvedBlocks
from .chance import ChanceTest
from .cliques import Blocks, check_blocks
from .eigen import Embedding
from .refine import Likelihood, Stress
from .settings import CLASSES, Candidate, Settings
from .similarity import AFFINITIES, GIVEN
from .strategies import Solution, Strategy

_FORMAT = "ikd_graph model, format 6"

_LARGEST = 1e160  # of any array: tables and length-scales are bounded, so are powers of them

_PLAN = (
    "n_components", "affinity", "n_landmarks", "random_state", "model_based",
    "strategy", "graph", "kernel", "refine",
)  # fmt: skip
"""Resolved settings that are kept as JSON."""

_KINDS = {
    "i n": "digests inverse", "f n": "scale", "i u": "labels",
    "f um": "points errors closed.coordinates",
    "f m": "closed.eigenvalues closed.explained_variance_ratio",
    "f ": "fit.variance fit.noise fit.log_likelihood noise.variance noise.noise bars.factor",
    "f tm": "solved.coordinates", "f t": "solved.precision", "f bm": "solved.eigenvalues",
    "f b": "solved.negative_mass", "b ku": "sessions.parts",
    "F k": "sessions.gaps sessions.misfits", "i c": "core", "f cm": "fit.latent",
    "U ": "fit.start", "U o": "optima.start",
    "f o": "optima.log_likelihood optima.distance optima.z optima.weight",
    "f ocm": "optima.latent", "f amm": "bars.covariances", "F qq": "bars.answers",
    "F s": "agreements",
    "f p": "preprocessor.fill preprocessor.center preprocessor.unit preprocessor.mean_row",
}  # fmt: skip
"""Kind (F: floats that may be unknown) and axes of learnt arrays: n rows, u of them distinct, m
coordinates, p columns, and others. Arrays without a kind are numbers that nothing relies on, or
checked as they are made into a table or a graph."""

_KIND_OF = {name: kind.split(" ") for kind, names in _KINDS.items() for name in names.split()}

_LEARNT_OF_COLUMNS = ("fill", "center", "unit", "mean_row")


class _Sparse(NamedTuple):
    data: Any
    indices: Any
    indptr: Any
    shape: Any


# Writing ------------------------------------------------------------------------------------------


def write(model: Any, file: BinaryIO) -> None:
    """Write a fitted estimator to a file that is open."""
    fitted, settings = model.model_, model.settings_
    result, computed = fitted.result, fitted.computed
    solution, core, noise = result.solution, result.core, computed.get("noise model")
    given = result.similarity if fitted.rows is None else None
    own = getattr(model, "preprocessor_", None)
    arrays: dict[str, Any] = {}
    learnt = {
        "rows": given._values if given else fitted.rows,
        "scale": given and np.broadcast_to(given._scale, given.n_samples),
        "digests": fitted.keys, "inverse": fitted.inverse,
        "points": fitted.points, "labels": result.labels, "removed": result.removed,
        "closed": solution.embedding, "spectrum": settings.spectrum,
        "landmarks": solution.landmarks, "residuals": solution.residuals,
        "start_weight": solution.start_weight, "n_iter": result.n_iter, "graph": result.graph,
        "solved": solution.solved,
        "sessions": result.sessions,
        "core": core and core.core, "fit": core and core.fit._replace(kernel=None, optima=None),
        "optima": core
        and gplvm.OptimumRecord._make(map(np.array, zip(*core.fit.optima, strict=True))),
        "agreements": np.array(computed["agreements"]) if "agreements" in computed else None,
        "chance": computed.get("chance"),
        "bars": computed.get("error bars"), "errors": computed.get("standard errors"),
        "noise": noise and noise._replace(kernel=None),
        **{f"preprocessor.{name}": getattr(own, name, None) for name in _LEARNT_OF_COLUMNS},
    }  # fmt: skip
    for name, value in learnt.items():
        _put(arrays, name, value)
    # What was fitted, whatever the parameters were set to since.
    parameters = dict(model._parameters)
    if not isinstance(parameters["graph"], (str, int, float, np.number, graph.Rule)):
        parameters["graph"] = settings.graph or "auto"
    head = {
        "format": _FORMAT,
        "version": __version__,
        "dtype": model.embedding_.dtype.name,
        "parameters": {name: _plain(name, value, arrays) for name, value in parameters.items()},
        "settings": {name: _plain(name, getattr(settings, name), arrays) for name in _PLAN},
        "candidates": settings.candidates,
        "warnings": settings.warnings,
        "reasons": dict(settings.reasons),
        "noise kernel": noise and _plain("kernel", noise.kernel, arrays),
        "stage_times": model.stage_times_,
        "names": list(map(str, getattr(model, "feature_names_in_", ()))),
        "preprocessor": own
        and {name: value for name, value in vars(own).items() if name not in _LEARNT_OF_COLUMNS},
    }
    text = json.dumps(head, default=lambda value: value.item())  # numbers of numpy
    members = {"head": np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    members["digest"] = np.array(_digest(members))
    np.savez(file, **members)


def _put(arrays: dict[str, Any], name: str, value: Any) -> None:
    """Put a table, a number or the parts of a record to the arrays; nothing of None."""
    value = value.stored if isinstance(value, SparseTable) else value
    if sp.issparse(value):
        csr = sp.csr_array(value)
        value = _Sparse(csr.data, csr.indices, csr.indptr, np.array(csr.shape))
    if isinstance(value, tuple):
        for part, own in value._asdict().items():  # type: ignore[attr-defined]
            _put(arrays, f"{name}.{part}", own)
    elif value is not None:
        arrays[name] = np.asarray(value)


def _plain(name: str, value: Any, arrays: dict[str, Any]) -> Any:
    """Return a parameter as JSON holds it: an object by its short name, with its parameters."""
    if isinstance(value, np.random.RandomState):
        return None
    if value is None or isinstance(value, (bool, int, float, str, np.generic)):
        return value
    for short, kind in CLASSES.get(name, {}).items():
        if type(value) is kind:
            return {short: {n: _plain(n, v, arrays) for n, v in value.get_params().items()}}
    if name == "noise" or isinstance(value, graph.CsrGraph):
        place = f"given {len(arrays)}"
        _put(arrays, place, value)
        return {"given": place}
    raise TypeError(
        "a model must be made of classes of ikd_graph to be saved, got a "
        f"{type(value).__module__}.{type(value).__name__}; use a kernel from ikd_graph.kernels"
    )


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
    parameters, rows = head["parameters"], _table(arrays, "rows")
    model = make(**{name: _object(name, value, arrays) for name, value in parameters.items()})
    # Blocks of dense rows, and what is known of each pair.
    n, p = rows.shape
    pairwise = isinstance(missing.get(model.missing), missing.Pairwise)
    needed, free = 128.0 * p + 32.0 * n * n * pairwise, limits.free_memory()
    if free is not None and needed > free:
        raise ValueError(f"comparing its rows takes {needed:.3g} bytes")
    if n != len(arrays["inverse"]):
        raise ValueError("rows has another size than what belongs to it")
    scale = arrays.get("scale")
    if scale is not None:
        positive("scale", scale.min())
        scale = scale if model.affinity == "precomputed" else float(scale[0])
    dtype = {"float32": np.float32, "float64": np.float64}[head["dtype"]]
    learnt = _result(arrays, _report(head, arrays))
    model._restore(
        rows, keys=arrays["digests"], inverse=arrays["inverse"], dtype=dtype, scale=scale,
        learnt=learnt,
    )  # fmt: skip
    model.stage_times_ = {name: float(time) for name, time in head["stage_times"].items()}
    if head["names"]:
        model.feature_names_in_ = np.array([str(name) for name in head["names"]], dtype=object)
    if len(head["names"]) not in (0, p):
        raise ValueError("its names are of another number than its columns")
    if head["preprocessor"]:
        model.preprocessor_ = _preprocessor(head["preprocessor"], arrays, p)
    kernel = _object("kernel", head["noise kernel"], arrays)
    computed = {
        "chance": _record(arrays, ChanceTest, "chance"),
        "error bars": _record(arrays, gplvm.LatentPosterior, "bars"),
        "standard errors": arrays.get("errors"),
        "agreements": tuple(arrays["agreements"].tolist()) if "agreements" in arrays else None,
        "noise model": kernel and _record(arrays, gplvm.NoiseModel, "noise", kernel=kernel),
    }
    bars = computed["error bars"]
    if bars and len(bars.covariances) != model.model_.sample.size:
        raise ValueError("its error bars have another size than its points")
    model.model_.computed.update({name: own for name, own in computed.items() if own is not None})
    return model


def _check_arrays(arrays: Mapping[str, Any]) -> None:
    """Raise unless arrays are of their kinds, belong together, and point to what is there."""
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        kind, axes = _KIND_OF.get(name, ("biuf", "?" * array.ndim))
        if array.dtype.kind not in {"i": "iu", "F": "f"}.get(kind, kind):
            raise ValueError(f"{name} holds {array.dtype}")
        for axis, size in zip(axes, array.shape, strict=True):
            if axis != "?" and sizes.setdefault(axis, size) != size:
                raise ValueError(f"{name} has another size than what belongs to it")
        if array.dtype.kind == "f":
            known = array if kind == "f" else array[np.isfinite(array)]
            if not float(np.abs(known).max(initial=0.0)) < _LARGEST:
                raise ValueError(f"{name} holds values that are too large, or not finite")
    u = sizes["u"]
    for name in {"inverse", "labels", "landmarks", "core"} & arrays.keys():
        nodes_of(u)(name, arrays[name])
    if np.unique(arrays["inverse"]).size != u:
        raise ValueError("its distinct rows are not those of its points")


def _table(arrays: Mapping[str, Any], name: str) -> Any:
    """Return the table or the matrix that `_put` was given."""
    if name in arrays:
        return arrays[name]
    parts = _record(arrays, _Sparse, name)
    matrix = sp.csr_array(parts[:3], shape=tuple(parts.shape.tolist()))
    well_formed(name, matrix)
    return matrix


def _record(arrays: Mapping[str, Any], kind: Any, name: str, **others: Any) -> Any:
    """Return a record of the arrays and numbers that `_put` has made of one; None without them."""
    own = [field for field in kind._fields if field not in others]
    if f"{name}.{own[-1]}" not in arrays:
        return None
    fields = {field: arrays[f"{name}.{field}"] for field in own}
    return kind(**{key: v if v.ndim else v.item() for key, v in fields.items()}, **others)


def _object(name: str, value: Any, arrays: Mapping[str, Any]) -> Any:
    """Return the parameter that `_plain` was given."""
    if not isinstance(value, dict):
        if name in CLASSES and not isinstance(value, str | float | int | None):
            raise ValueError(f"its {name} is of another kind")
        return value
    ((short, own),) = value.items()
    if short == "given" and name == "noise":
        return _table(arrays, own)
    if short == "given" and name == "graph":
        return _record(arrays, graph.CsrGraph, own)
    made = CLASSES[name][short](**{key: _object(key, own[key], arrays) for key in own})
    if name != "kernel":
        # A resolved threshold of 0 takes all that is stored.
        is_zero = isinstance(made, graph.Threshold) and made.s0 == 0.0
        (made.replace(s0="auto") if is_zero else made).check()
    return made


def _report(head: Mapping[str, Any], arrays: Mapping[str, Any]) -> Settings:
    """Return the plan of the fit and its reasons."""
    own = {name: _object(name, head["settings"][name], arrays) for name in _PLAN}
    own["kernel"] = kernels.get(own["kernel"])
    kinds = {"n_components": int, "model_based": bool}
    own |= {name: kind(own[name]) for name, kind in kinds.items()}
    resolved = {
        "strategy": Strategy, "graph": graph.Rule | graph.CsrGraph | None,
        "refine": Stress | Likelihood | None,
    }  # fmt: skip
    wrong = [name for name, kind in resolved.items() if not isinstance(own[name], kind)]
    if wrong or own["affinity"] not in (*AFFINITIES, *GIVEN):
        raise ValueError(f"its {(*wrong, 'affinity')[0]} is of another kind")
    return Settings(
        **own, candidates=tuple(Candidate(*row) for row in head["candidates"]),
        warnings=tuple(map(str, head["warnings"])), spectrum=arrays.get("spectrum"),
        reasons={str(name): str(text) for name, text in head["reasons"].items()},
    )  # fmt: skip


def _result(arrays: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the fields of a result, the similarity aside."""
    points, numbers, core = arrays["points"], ("n_iter", "start_weight"), None
    n_iter, start_weight = (arrays[name].item() if name in arrays else None for name in numbers)
    g, blocks = _record(arrays, graph.CsrGraph, "graph"), _record(arrays, Blocks, "solved.blocks")
    if g is not None and g.n_nodes != len(points):
        raise ValueError("its graph has another size than its points")
    if points.shape[1] != settings.n_components:
        raise ValueError("its points have another number of coordinates than were asked for")
    if "core" in arrays:
        found = _record(arrays, gplvm.OptimumRecord, "optima")
        parts = (part if part.ndim > 1 else part.tolist() for part in found)
        records = tuple(gplvm.OptimumRecord(*each) for each in zip(*parts, strict=True))
        own = {"kernel": settings.kernel, "optima": records}
        likelihood = _record(arrays, gplvm.LikelihoodFit, "fit", **own)
        core = gplvm.CoreFit(points, arrays["core"], likelihood)
        positive("variance", core.fit.variance)
    if blocks:
        blocks = check_blocks("blocks", blocks, len(points))
    solution = Solution(
        _record(arrays, Embedding, "closed"),
        _record(arrays, SolvedBlocks, "solved", blocks=blocks),
        arrays.get("residuals"), start_weight, landmarks=arrays.get("landmarks"),
    )  # fmt: skip
    return {
        "coordinates": points, "settings": settings, "solution": solution,
        "kernel": settings.kernel, "graph": g, "labels": arrays.get("labels"),
        "removed": arrays.get("removed"), "n_iter": n_iter, "core": core,
        "sessions": _record(arrays, gplvm.SessionJoints, "sessions"),
    }  # fmt: skip


def _preprocessor(own: Mapping[str, Any], arrays: Mapping[str, Any], p: int) -> RowSteps:
    """Return what a command did to rows of so many columns."""
    learnt: dict[str, Any] = {n: arrays.get(f"preprocessor.{n}") for n in _LEARNT_OF_COLUMNS}
    if any(array is not None and array.shape != (p,) for array in learnt.values()):
        raise ValueError("what was done to its rows is of another size than these")
    return RowSteps(**{**own, "na": tuple(own["na"])}, **learnt)
