"""Models in files: arrays and JSON in one zip file, nothing that runs when it is read."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import scipy.sparse as sp

from .. import graph, kernels, refine
from .._checks import check_nodes, check_sparse
from .._files import write_whole
from .._records import Blocks, CsrGraph, Embedding, SolvedBlocks, check_blocks
from .._settings import Candidate, Result, Settings
from .._table import SparseTable
from .._version import __version__
from ..cliques import Cliques
from ..covariance import EuclideanRows, SparseRows
from ..generative import NoiseModel
from ..placement import Placement
from ..similarity import Affinity, KnownRows, Precomputed, RowSimilarity, Scaling, SparsePrecomputed
from ..strategies import STRATEGIES, Solution
from ..uncertainty import LatentPosterior

FORMAT = 1
"""Version of the format: it rises with every change that an older reader would not understand."""

_KIND = "ikd_graph model"
_HEAD = "model.json"
_RECORDS: dict[str, Any] = {
    one.__name__: one
    for one in (
        Affinity, Blocks, Candidate, Cliques, CsrGraph, Embedding, EuclideanRows, KnownRows,
        LatentPosterior,
        NoiseModel, Placement, Precomputed, Result, RowSimilarity, Scaling, Settings, Solution,
        SolvedBlocks, SparsePrecomputed, SparseRows, SparseTable, graph.Neighbors,
        graph.Threshold, refine.CoreFit, refine.Likelihood, refine.LikelihoodFit,
        refine.OptimumRecord, refine.Stress, refine.StressFit,
        *STRATEGIES.values(), *kernels.KERNELS.values(),
    )
}  # fmt: skip

# Sizes of learnt arrays: n rows, u distinct ones, m coordinates; as many for each letter.
_SHAPES = {
    "embedding_": "nm", "closed_form_": "nm", "_points": "um", "_first": "u", "_inverse": "n",
    "eigenvalues_": "m", "explained_variance_ratio_": "m", "component_labels_": "n",
    "merge_residuals_": "n", "_standard_errors": "um",
}  # fmt: skip


def write(path: str | os.PathLike[str], state: dict[str, Any]) -> Path:
    """Write what an estimator knows, whole or not at all."""
    writer = _Writer()
    body = writer.encode(state)
    head = {"kind": _KIND, "format": FORMAT, "version": __version__, "state": body}

    def content(file: BinaryIO) -> None:
        with zipfile.ZipFile(file, "w") as archive:
            # Times left out: one model makes one file.
            archive.writestr(zipfile.ZipInfo(_HEAD), json.dumps(head, allow_nan=False))
            for number, array in enumerate(writer.arrays):
                part = io.BytesIO()
                np.lib.format.write_array(part, array, allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{number}.npy"), part.getbuffer())

    return write_whole(path, content)


def read(path: str | os.PathLike[str], kind: type) -> dict[str, Any]:
    """Read what `write` wrote of an estimator of a class.

    Raises
    ------
    ValueError
        If the file is not one of a model, is damaged, or has a newer format.
    """
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                head = json.loads(archive.read(_HEAD))
                if head["kind"] != _KIND:
                    raise ValueError("it holds something else")
                newer = not isinstance(head["format"], int) or head["format"] > FORMAT
                if not newer:
                    state = _Reader(archive).decode(head["state"])
                    _check_state(state)
                    _check_names(kind, state)
        except Exception as error:
            raise ValueError(
                f"{os.fspath(path)!r} must be a file that IKD.save wrote, got one that cannot be "
                f"read ({type(error).__name__}: {error!s:.80}); fit and save the model again"
            ) from None
    if newer:
        raise ValueError(
            f"{os.fspath(path)!r} must have format {FORMAT} or an older one, got "
            f"{head['format']!r:.40}, written by ikd_graph {head.get('version')!r:.40}; update "
            "ikd_graph"
        )
    return state


def _check_state(state: Any) -> None:
    """Raise unless what was read are parameters and results of a fit that belong together."""
    if not isinstance(state, dict) or not isinstance(state.get("_result"), Result):
        raise ValueError("it holds no fitted model")
    sizes: dict[str, int] = {}
    for name, letters in _SHAPES.items():
        array = state[name]
        if array is None:
            continue
        # Errors and residuals may be unknown; all that places rows is finite.
        finite = name in ("standard_errors_", "merge_residuals_") or np.isfinite(array).all()
        if array.dtype.kind not in "iuf" or not finite:
            raise ValueError(f"{name} holds other values than numbers")
        for letter, size in zip(letters, array.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ValueError(f"{name} has another size than what belongs to it")
    n, u = sizes["n"], sizes["u"]
    for name, size in (("_first", n), ("_inverse", u)):
        check_nodes(name, state[name], size)
    rows = state["_rows"]
    if rows is not None and rows.shape != (n, state["n_features_in_"]):
        raise ValueError("its rows have another size than what belongs to them")


def _check_names(kind: type, names: Iterable[Any]) -> None:
    """Raise if something would stand where an object of a class has a method."""
    hidden = [name for name in names if callable(getattr(kind, str(name), None))]
    if hidden:
        raise ValueError(f"{hidden[0]!r:.40} is a method")


class _Writer:
    """Values as JSON, and the arrays among them in a list; what is met again is named again."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self._met: dict[int, tuple[int, Any]] = {}

    def encode(self, value: Any) -> Any:
        """A value as JSON can hold it."""
        if value is None or isinstance(value, (bool, str, int)):
            return value
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value))}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if type(value) in (tuple, list):
            return {type(value).__name__: [self.encode(one) for one in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(a), self.encode(b)] for a, b in value.items()]}
        if isinstance(value, np.random.RandomState):
            return None
        if id(value) in self._met:
            return {"same": self._met[id(value)][0]}
        # Kept alive, so that its id stays its own.
        self._met[id(value)] = len(self._met), value
        return {"number": self._met[id(value)][0], **self._object(value)}

    def _object(self, value: Any) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            if value.dtype.kind == "O":
                return {"names": [str(one) for one in value.ravel()]}
            return {"array": self._array(value)}
        if sp.issparse(value):
            parts = value.tocsr()
            return {"csr": [self.encode(one) for one in (parts.data, parts.indices, parts.indptr)],
                    "shape": list(parts.shape)}  # fmt: skip
        name = type(value).__name__
        if _RECORDS.get(name) is not type(value):
            raise TypeError(
                f"a model must be made of what ikd_graph knows to be saved, got a "
                f"{type(value).__module__}.{name}; use a kernel from ikd_graph.kernels"
            )
        return {"record": name, "of": [[a, self.encode(b)] for a, b in _parts(value)]}

    def _array(self, array: Any) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1


def _parts(value: Any) -> list[tuple[str, Any]]:
    """What a record is made of, by name."""
    if isinstance(value, tuple):
        return list(value._asdict().items())  # type: ignore[attr-defined]
    if is_dataclass(value):
        return [(one.name, getattr(value, one.name)) for one in fields(value)]
    kind = type(value)
    return [
        (name, part)
        for name, part in vars(value).items()
        # Found again when it is asked for.
        if not isinstance(getattr(kind, name, None), cached_property)
    ]


class _Reader:
    """The way back from `_Writer`; graphs and lists of points are checked as they are made."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._met: dict[int, Any] = {}

    def decode(self, value: Any) -> Any:
        """What `_Writer.encode` made that of."""
        if not isinstance(value, dict):
            return value
        if "same" in value:
            return self._met[value["same"]]
        if "number" in value:
            found = self._met[value["number"]] = self._object(value)
            return found
        (kind, inside), = value.items()  # fmt: skip
        if kind == "float":
            return float(inside)
        if kind == "scalar":
            return self._array(inside)[()]
        if kind == "bytes":
            return bytes.fromhex(inside)
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(map(self.decode, inside))
        if kind == "dict":
            return {self.decode(a): self.decode(b) for a, b in inside}
        raise ValueError(f"unknown {kind!r:.20}")

    def _object(self, value: dict[str, Any]) -> Any:
        if "names" in value:
            return np.array(value["names"], dtype=object)
        if "array" in value:
            return self._array(value["array"])
        if "csr" in value:
            data, indices, indptr = map(self.decode, value["csr"])
            made = sp.csr_array((data, indices, indptr), shape=tuple(value["shape"]))
            check_sparse("a sparse part", made)
            return made
        kind: Any = _RECORDS[value["record"]]
        parts = {a: self.decode(b) for a, b in value["of"]}
        if issubclass(kind, tuple):
            made = kind(**parts)
            return check_blocks("blocks", made) if kind is Blocks else made
        if is_dataclass(kind):
            return cast(Any, kind)(**parts)
        _check_names(kind, parts)
        made = kind.__new__(kind)
        made.__dict__.update(parts)
        # Compiled code reads these without looking how long they are.
        if kind is SparseRows and {
            len(made.shift),
            len(made.row_factors),
            len(made.column_factors),
        } != {len(made)}:
            raise ValueError("sparse rows have shifts of another length")
        return made

    def _array(self, number: int) -> Any:
        part = self._archive.read(f"{int(number)}.npy")
        return np.load(io.BytesIO(part), allow_pickle=False)
