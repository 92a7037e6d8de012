"""The only home of "must be" messages: each names the thing, the rule, the value and the cure."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._suggest import suggest

LARGEST = 1e70
"""Largest size of a value: fourth powers of more overflow, and of less than its inverse vanish."""


def check_choice(name: str, value: Any, choices: Iterable[str], more: str = "") -> None:
    """Raise unless ``value`` is one of ``choices``; ``more`` says what else it may be."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(repr(choice) for choice in known)
        raise ValueError(
            f"{name} must be one of {listed}{more}; got {value!r}{suggest(value, known)}"
        )


def check_flag(name: str, value: Any) -> None:
    """Raise unless ``value`` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def check_kernel(value: Any, choices: Iterable[str]) -> None:
    """Raise unless ``value`` is the name of a kernel."""
    check_choice("kernel", value, choices, " or an instance from ikd_graph.kernels")


def check_integer(name: str, value: Any, low: int, high: int | None = None, cure: str = "") -> int:
    """Raise unless ``value`` is an integer with ``low <= value <= high``."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if is_integer and value >= 2**63:  # more than compiled code can hold
        high = min(high or 2**63 - 1, 2**63 - 1)
    rule = f"at least {low}" if high is None else f"from {low} to {high}"
    if not is_integer or value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be an integer {rule}, got {value!r}{_cure(cure)}")
    return int(value)


def check_fraction(name: str, value: Any, cure: str = "") -> float:
    """Raise unless ``value`` lies strictly between 0 and 1."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name} must lie in (0, 1), got {value!r}{_cure(cure)}")
    return float(value)


def check_positive(name: str, value: Any, high: float = np.inf, cure: str = "") -> float:
    """Raise unless ``value`` is a finite number with ``0 < value <= high``."""
    rule = "positive and finite" if high == np.inf else f"in (0, {high:g}]"
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 < value <= min(high, np.finfo(np.float64).max):
        raise ValueError(f"{name} must be {rule}, got {value!r}{_cure(cure)}")
    return float(value)


def check_jobs(name: str, value: Any) -> None:
    """Raise unless ``value`` is a number of threads as in scikit-learn."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and (not whole or value == 0):
        raise ValueError(
            f"{name} must be None or a whole number other than 0, got {value!r}; -1 is all cores"
        )


def check_seed(name: str, value: Any) -> None:
    """Raise unless ``value`` starts a random sequence, as in scikit-learn."""
    integer = isinstance(value, Integral) and not isinstance(value, bool)
    whole = integer and 0 <= int(value) < 2**32
    if value is not None and not whole and not isinstance(value, np.random.RandomState):
        if value is np.random:
            return
        raise ValueError(
            f"{name} must be None, a whole number from 0 to 2**32 - 1 or a numpy RandomState, got "
            f"{type(value).__name__} {value!r:.40}"
        )


def check_unmasked(name: str, values: Any) -> None:
    """Raise if entries of an array are masked: what stands under a mask is not to be used."""
    masked = int(np.ma.count_masked(values)) if isinstance(values, np.ma.MaskedArray) else 0
    if masked:
        raise ValueError(
            f"{name} must hold every value, got {masked} masked; drop those rows, or pass "
            "missing='pairwise' to IKD"
        )


def check_number(name: str, value: Any) -> float:
    """Raise unless ``value`` is a number."""
    if not isinstance(value, Real) or isinstance(value, bool) or np.isnan(float(value)):
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_distinct(name: str, n_repeats: int) -> None:
    """Raise if things that must be different are not, given how many repeat another."""
    if n_repeats:
        raise ValueError(f"{name} must be given once each, got {n_repeats} of them again")


def check_components(n_components: int, n_samples: int) -> int:
    """Raise unless a latent of ``n_components`` can be found from ``n_samples`` points."""
    count = check_integer("n_components", n_components, 1)
    if count >= n_samples:
        raise ValueError(
            f"n_components must be less than the number of points, got n_components={count} "
            f"for n_samples={n_samples}; {n_samples} points span at most {n_samples - 1} dimensions"
        )
    return count


def check_enough_rows(n_samples: int) -> None:
    """Raise unless there are at least two points."""
    if n_samples < 2:
        raise ValueError(
            f"X must have at least 2 rows (points), got n_samples = {n_samples}; "
            "rows are points and columns are observed dimensions: pass X.T if it is the other way"
        )


def check_rows_vary(spread: NDArray[np.float64], affinity: str) -> None:
    """Raise if a row has no spread, so that its correlation with any other is 0 / 0.

    ``spread`` is the norm of each row, after centring where the affinity centres.
    """
    flat = np.flatnonzero(~(spread > 0.0))
    if flat.size:
        what = "all zero" if affinity == "cosine" else "constant"
        cure = "use affinity='euclidean', which compares values"
        if flat.size < spread.size:
            cure = f"drop them, or {cure}"
        got = f"{flat.size} {what} row(s): {few(flat)}"
        raise ValueError(f"rows of X must vary for a {affinity}, got {got}; {cure}")


def check_not_negative(name: str, values: NDArray[np.floating], what: str) -> None:
    """Raise if a table has values below zero; ``what`` is what cannot do with them."""
    least = float(values.min(initial=0.0))
    if least < 0.0:
        raise ValueError(
            f"{name} must not be negative for {what}, which takes the roots of counts, got "
            f"{least:.3g}; use affinity='cosine' for a table of measurements"
        )


def check_symmetric(name: str, matrix: Any, tolerance: float = 1e-8) -> None:
    """Raise unless a dense or sparse matrix is square and symmetric."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be square (n_samples, n_samples), got shape {tuple(matrix.shape)}; "
            "use affinity='correlation' for a table of measurements"
        )
    if sp.issparse(matrix):
        gap = abs(matrix - matrix.T)
        worst = float(gap.max()) if gap.nnz else 0.0
        scale = float(abs(matrix).max()) if matrix.nnz else 0.0
    else:
        scale, worst = _asymmetry(matrix)
    if worst > tolerance * max(scale, 1.0):
        raise ValueError(
            f"{name} must be symmetric, got entries that differ from their mirror image by up to "
            f"{worst:.3g}; pass (K + K.T) / 2 if the difference is noise"
        )


def _asymmetry(matrix: NDArray[np.floating], side: int = 256) -> tuple[float, float]:
    """Largest magnitude in a square matrix and largest difference from its mirror image.

    Tile by tile: a whole column of a large matrix is slow to read, and a copy of it is large.
    """
    n = matrix.shape[0]
    scale = worst = 0.0
    for top in range(0, n, side):
        for left in range(top, n, side):
            upper = matrix[top : top + side, left : left + side]
            lower = matrix[left : left + side, top : top + side].T
            worst = max(worst, float(np.abs(upper - lower).max()))
            scale = max(scale, float(upper.max()), -float(upper.min()))
    return scale, worst


def _cure(text: str) -> str:
    return f"; {text}" if text else ""


def few(values: NDArray[np.intp], limit: int = 5) -> str:
    """First few values in words."""
    shown = ", ".join(str(int(value)) for value in values[:limit])
    return shown if values.size <= limit else f"{shown}, ... ({values.size} in all)"


def check_reference(value: Any, names: Iterable[str], n_samples: int) -> None:
    """Raise unless ``value`` names a reference point or is the index of a point."""
    is_index = isinstance(value, Integral) and not isinstance(value, bool)
    if not (is_index and -n_samples <= int(value) < n_samples):
        more = f" or the index of a point (0 to {n_samples - 1})"
        check_choice("reference", value, names, more)


def check_finite(name: str, values: NDArray[np.floating], cure: str = "") -> None:
    """Raise if an array, read in blocks of rows, holds NaN or infinity."""
    # As many numbers in a block of short rows as in one of long ones.
    step = max(1, 2**17 // max(1, values[:1].size))
    parts = (values[start : start + step] for start in range(0, values.shape[0], step))
    bad = sum(int(np.count_nonzero(~np.isfinite(part))) for part in parts)
    if bad:
        raise ValueError(f"{name} must be finite, got {bad} NaN or infinite value(s){_cure(cure)}")


def check_size(name: str, values: Any) -> None:
    """Raise if moments of what is in a table would be infinite, or would all be zero."""
    known = values.data if sp.issparse(values) else values
    # Zeros have no size, and NaN is looked at elsewhere.
    highest, lowest = (f.reduce(known, axis=None, initial=0.0) for f in (np.fmax, np.fmin))
    largest = float(max(highest, -lowest))
    if largest > 0.0 and not 1.0 / LARGEST <= largest <= LARGEST:
        raise ValueError(
            f"the largest value of {name} must lie between {1.0 / LARGEST:g} and {LARGEST:g}, got "
            f"{largest:g}; multiply {name} by a power of ten"
        )


def check_enough_columns(n_features: int, affinity: str, low: int = 2) -> None:
    """Raise unless rows have enough columns to be compared."""
    if n_features < low:
        raise ValueError(
            f"X must have at least {low} columns for affinity={affinity!r}, got n_features = "
            f"{n_features}; a correlation between points needs many observed dimensions"
        )


def check_whole_matrix(matrix: Any) -> None:
    """Raise unless a sparse precomputed covariance stores every pair."""
    n = matrix.shape[0]
    if matrix.nnz < n * n:
        raise ValueError(
            f"strategy='eigen' must know the covariance of every pair, got a sparse X with "
            f"{matrix.nnz} of {n * n} entries stored; use strategy='geodesic' or 'blockwise', or "
            "pass a dense X"
        )


def check_no_neighbors(n_neighbors: int) -> None:
    """Raise: a sparse precomputed matrix is the graph, there are no neighbours to choose."""
    raise ValueError(
        f"n_neighbors must be None for a sparse precomputed X, got {n_neighbors!r}; what is stored "
        "is the graph, and a number as threshold thins it"
    )


def check_bridges_known(n_components: int) -> None:
    """Raise: between the components of a sparse precomputed matrix no covariance is known."""
    raise ValueError(
        "a sparse precomputed X must be one connected graph for disconnected='join', got "
        f"{n_components} components with no covariance stored between them; store some, or use "
        "disconnected='separate'"
    )


def check_type(name: str, value: Any, kind: type, cure: str) -> None:
    """Raise unless ``value`` is one of ``kind``."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__}; {cure}")


def check_same_shape(
    name: str, values: NDArray[np.floating], other_name: str, other: NDArray[np.floating]
) -> None:
    """Raise unless two sets of points are tables of the same shape with at least one row."""
    if values.shape != other.shape or values.ndim != 2 or values.size == 0:
        raise ValueError(
            f"{name} must be a table (n_points, n_components) of the same shape as {other_name}, "
            f"got {values.shape} and {other.shape}; row i of one belongs to row i of the other"
        )


def check_rows(name: str, values: NDArray[Any], n_rows: int) -> None:
    """Raise unless ``values`` is a table of floats with so many rows, and a column at least."""
    is_table = values.ndim == 2 and values.dtype.kind == "f" and values.shape[1] > 0
    if not is_table or values.shape[0] != n_rows:
        raise ValueError(
            f"{name} must be a table of floats with {n_rows} rows, got shape {values.shape} of "
            f"{values.dtype}; one row for each point"
        )


def check_labels(name: str, labels: Any, n_points: int) -> NDArray[np.int64]:
    """Raise unless there is one group from 0 to ``n_points - 1`` for each point."""
    groups = np.asarray(labels)
    if groups.shape != (n_points,) or groups.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be one whole number for each of {n_points} points, got shape "
            f"{groups.shape} of {groups.dtype}; number the groups from 0"
        )
    if n_points and not 0 <= groups.min() <= groups.max() < n_points:
        raise ValueError(
            f"{name} must lie from 0 to {n_points - 1}, got {groups.min()} to {groups.max()}; "
            "number the groups from 0"
        )
    return groups.astype(np.int64, copy=False)


def check_point_weights(name: str, weights: NDArray[np.floating], n_points: int) -> None:
    """Raise unless there is one weight >= 0 for each point, and one of them above 0."""
    if weights.shape != (n_points,):
        raise ValueError(
            f"{name} must have one value for each of {n_points} points, got shape {weights.shape}"
        )
    if not (np.isfinite(weights).all() and weights.min() >= 0.0 and weights.max() > 0.0):
        raise ValueError(
            f"{name} must be finite, >= 0 and not all zero, got values from {weights.min():.3g} to "
            f"{weights.max():.3g}; leave a point out by a weight of 0"
        )


def check_cliques(n_missing: NDArray[np.integer]) -> None:
    """Raise if a block holds pairs of points that are not edges, given their number in each."""
    bad = np.flatnonzero(n_missing)
    if bad.size:
        raise ValueError(
            f"blocks must be cliques of the graph, got {bad.size} with {int(n_missing.sum())} "
            f"pairs that are not edges: blocks {few(bad)}; find them by cliques.cover or "
            "cliques.maximal_cliques on the same graph"
        )


def check_block_members(
    indptr: NDArray[np.integer], members: NDArray[np.integer], n_points: int
) -> None:
    """Raise unless blocks are not empty and hold points from 0 to ``n_points - 1``."""
    check_integer("n_points", n_points, 1)
    empty = np.flatnonzero(np.diff(indptr) < 1)
    if empty.size:
        raise ValueError(
            f"blocks must hold at least one point each, got {empty.size} empty: {few(empty)}; "
            "leave them out"
        )
    if members.size and (members.min() < 0 or members.max() >= n_points):
        raise ValueError(
            f"blocks must hold points from 0 to n_points - 1 = {n_points - 1}, got "
            f"{members.min()} to {members.max()}; pass the number of nodes of the graph"
        )


def check_has_rows(has_rows: bool, what: str) -> None:
    """Raise if only a covariance is known and not the observations behind it."""
    if not has_rows:
        raise ValueError(
            f"{what} must know the observations, got affinity='precomputed'; fit the table itself, "
            "with affinity='correlation' or 'cosine'"
        )


def check_graph_connected(sizes: NDArray[np.integer], cure: str) -> None:
    """Raise: the graph is in pieces and the caller wants none of the ways around that."""
    raise ValueError(
        f"the graph must be connected for disconnected='raise', got {sizes.size} components "
        f"(largest {int(sizes.max())} of {int(sizes.sum())} points); {cure}, disconnected='join' "
        "bridges it, 'separate' lays the components side by side"
    )


def check_has_edges(n_components: int, n_points: int) -> None:
    """Raise if a graph is of points alone, of which nothing can be solved."""
    if n_components == n_points:
        raise ValueError(
            f"the graph must have an edge to be embedded in parts, got {n_points} points without "
            "any; lower threshold, or set n_neighbors"
        )


def check_memory(what: str, needed: float, free: int | None, cure: str) -> None:
    """Raise if something takes more bytes than there are; ``free=None`` means not known."""
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} must fit into memory, got {int(needed)} bytes ({needed * 1e-9:.1f} GB) with "
            f"{free} available ({free * 1e-9:.1f} GB){_cure(cure)}"
        )


def check_varies(X: NDArray[np.floating]) -> None:
    """Raise if a table holds one value throughout."""
    if np.all(X.flat[0] == X):
        raise ValueError(
            f"rows of X must vary, got the value {X.flat[0]:.3g} throughout; there is nothing to "
            "tell them apart by"
        )


def check_number_or_auto(name: str, value: str) -> None:
    """Raise unless a word that stands for a number is "auto"."""
    if value != "auto":
        raise ValueError(f"{name} must be an integer or 'auto', got {value!r}; pass one of them")
