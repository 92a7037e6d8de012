"""Validation of the arguments of public functions, once for each call of a user.

A rule looks at one argument: it returns the value as the function works with it, or raises with the
name of the argument, what it must be, what was given and what to do. `validate` puts rules before a
function; calls within such a call skip them.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from .rounding import SINGLE
from .suggest import suggest

Rule = Callable[[str, Any], Any]
P = ParamSpec("P")
R = TypeVar("R")


_nested: ContextVar[bool] = ContextVar("_nested", default=False)


def validate(
    *together: Callable[..., None], **rules: Rule
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a public function with a rule for each argument that needs one.

    An argument that is annotated as ``int`` and has no rule must be from 0 to 2^31 - 1. Arguments
    are checked in the outermost call alone: what the decorated function calls in turn was checked
    with it. Functions that are given first look at all arguments together, by their names.

    Examples
    --------
    >>> from ikd_graph._base.validation import table, validate
    >>> @validate(points=table)
    ... def width(points):
    ...     return points.shape[1]
    >>> width([[1, 2], [3, 4]])
    2
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        kinds = {name: str(each.annotation) for name, each in signature.parameters.items()}
        whole_ones = {n: _ANNOTATED[kind] for n, kind in kinds.items() if kind in _ANNOTATED}
        own = whole_ones | rules

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if _nested.get():
                return function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            for name in [each for each in bound.arguments if each in own]:
                bound.arguments[name] = own[name](name, bound.arguments[name])
            for check in together:
                check(**bound.arguments)
            # What callers have numpy do with rounding is theirs: here it is as numpy has it.
            with validating(False), np.errstate(all="warn", under="ignore"):
                return function(*bound.args, **bound.kwargs)

        return checked

    return decorate


@contextmanager
def validating(validates: bool = True) -> Iterator[None]:
    """Check arguments in a block again, where it passes on or calls what a user gave."""
    token = _nested.set(not validates)
    try:
        yield
    finally:
        _nested.reset(token)


def optional(rule: Rule) -> Rule:
    """None, or what another rule asks for."""
    return lambda name, value: None if value is None else rule(name, value)


def record(kind: type, cure: str) -> Rule:
    """One of a class of ours; ``cure`` says where to get one."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__}; {cure}")
        return value

    return check


def one_of(choices: Iterable[str]) -> Rule:
    """One of some words."""
    return lambda name, value: check_choice(name, value, choices)


def whole(low: int, high: int | None = None, cure: str = "") -> Rule:
    """Require a whole number in a range."""
    return lambda name, value: check_integer(name, value, low, high, cure)


_ANNOTATED = {
    "<class 'int'>": whole(0),
    "int": whole(0),
    "int | None": optional(whole(0)),
}


# Single values ------------------------------------------------------------------------------------


def check_choice(name: str, value: Any, choices: Iterable[str], more: str = "") -> str:
    """Raise unless ``value`` is one of ``choices``; ``more`` says what else it may be."""
    allowed = tuple(choices)
    if not isinstance(value, str) or value not in allowed:
        listed = ", ".join(map(repr, allowed))
        near = suggest(value, allowed) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be one of {listed}{more}; got {value!r}{near}")
    return value


def flag(name: str, value: Any) -> bool:
    """Require True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_integer(name: str, value: Any, low: int, high: int | None = None, cure: str = "") -> int:
    """Raise unless ``value`` is an integer with ``low <= value <= high``."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if is_integer and high is None and value >= 2**31:  # more than numbers of points are stored in
        high = 2**31 - 1
    rule = f"at least {low}" if high is None else f"from {low} to {high}"
    if not is_integer or value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be an integer {rule}, got {value!r}{_more(cure)}")
    return int(value)


def count(name: str, value: Any) -> int:
    """Require a whole number from 1 up that an array can have as its length."""
    return check_integer(name, value, 1)


def observations(name: str, value: Any) -> Any:
    """Require a whole number from 1 up, or one for each of several correlations."""
    if np.ndim(value) == 0:
        return count(name, value)
    counts = as_real(name, value)
    if not (np.isfinite(counts) & (counts >= 1.0)).all():
        raise ValueError(
            f"{name} must be finite and at least 1 everywhere, got {np.nanmin(counts):g}; it is "
            "the number of columns behind each correlation"
        )
    return counts


def seed(name: str, value: Any) -> int | None:
    """Require None, or a whole number from 0 up that starts a random sequence."""
    return None if value is None else check_integer(name, value, 0, 2**32 - 1)


def random_state(name: str, value: Any) -> Any:
    """Require a seed, or a generator of random numbers."""
    return value if isinstance(value, np.random.Generator) else seed(name, value)


def check_real(name: str, value: Any, rule: str, holds: Callable[[Any], bool]) -> float:
    """Raise unless ``value`` is a number that keeps a rule, which is told in words."""
    if isinstance(value, bool) or not isinstance(value, Real) or not holds(value):
        raise ValueError(f"{name} must {rule}, got {value!r}")
    return float(value)


def _real(rule: str, holds: Callable[[Any], bool]) -> Callable[[str, Any], float]:
    """Rule of numbers, in words and as a function."""
    return lambda name, value: check_real(name, value, rule, holds)


number = _real("be a number", lambda x: x == x)
fraction = check_fraction = _real("lie in (0, 1)", lambda x: 0.0 < x < 1.0)
not_negative = _real("be finite and not negative", lambda x: 0.0 <= x < np.inf)


def check_positive(name: str, value: Any, high: float = np.inf) -> float:
    """Raise unless ``value`` is a finite number with ``0 < value <= high``."""
    rule = "be positive and finite" if high == np.inf else f"be in (0, {high:g}]"
    return check_real(name, value, rule, lambda x: 0.0 < x <= high and x < np.inf)


positive = check_positive


# Arrays -------------------------------------------------------------------------------------------


def as_array(name: str, value: Any) -> NDArray[Any]:
    """Raise unless what was given makes an array."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise ValueError(
            f"{name} must be an array, got a {type(value).__name__} that makes none; its rows must "
            "have one length"
        ) from None


def as_real(name: str, value: Any) -> NDArray[np.floating]:
    """Convert to floats, NaN and infinity as they are; whole numbers become float64."""
    if sp.issparse(value):
        # Its first sum would follow places that nobody has checked.
        raise TypeError(f"{name} must be a dense array, got a sparse matrix; pass X.toarray()")
    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value.astype(np.float64), np.nan)
    array = as_array(name, value)
    if array.dtype.kind not in "fiubO":
        raise ValueError(f"{name} must hold real numbers, got {array.dtype}; drop the others")
    if array.dtype in (np.float64, np.float32):
        return cast(NDArray[np.floating], array)
    try:
        if type(value).__module__.startswith("pandas"):
            # NA of pandas is no float.
            return cast(NDArray[np.floating], value.to_numpy(np.float64, na_value=np.nan))
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} must hold real numbers, got {array.dtype}; drop the others"
        ) from None


def quantities(name: str, value: Any) -> NDArray[np.float64]:
    """Real numbers in float64, NaN where they are not known."""
    return as_real(name, value).astype(np.float64, copy=False)


def numbers(name: str, value: Any) -> NDArray[np.floating]:
    """Finite real numbers in an array of any shape, in the precision they were given in."""
    array = as_real(name, value)
    check_finite(name, array)
    return array


def table(name: str, value: Any) -> NDArray[np.floating]:
    """Finite numbers in rows and columns, at least one of each."""
    return _shaped(name, numbers(name, value), 2)


def square(name: str, value: Any) -> NDArray[np.floating]:
    """Finite numbers, one for every pair of points."""
    array = table(name, value)
    if array.shape[0] != array.shape[1]:
        raise ValueError(
            f"{name} must be square, got shape {array.shape}; it has a number for every pair of "
            "points"
        )
    return array


def symmetric(name: str, value: Any) -> NDArray[np.floating]:
    """Require the same from both ends of a pair."""
    array = square(name, value)
    check_symmetric(name, array)
    return array


def line(name: str, value: Any) -> NDArray[np.floating]:
    """Finite numbers in a row, at least one."""
    return _shaped(name, numbers(name, value), 1)


def line_of(name: str, value: Any) -> NDArray[np.float64]:
    """Numbers in a row or none, infinity among them, in float64."""
    array = quantities(name, value)
    return check_values(name, array, array.size)


def _shaped(name: str, array: NDArray[Any], ndim: int) -> Any:
    """Raise unless an array has so many axes and an entry."""
    if array.ndim != ndim or not array.size:
        what = "list" if ndim == 1 else "table (rows x columns)"
        raise ValueError(
            f"{name} must be a {what} of numbers, got shape {array.shape}; one row for each point"
        )
    return array


def check_finite(name: str, values: NDArray[np.floating], cure: str = "") -> None:
    """Raise if an array holds NaN or infinity."""
    try:
        assert_all_finite(values)
    except ValueError:
        bad = int(np.count_nonzero(~np.isfinite(values)))
        raise ValueError(
            f"{name} must be finite, got {bad} NaN or infinite value(s){_more(cure)}"
        ) from None


def check_magnitude(name: str, values: Any, bound: float = 1e70, least: float = 1e-70) -> None:
    """Raise if the largest value is so large or small that its moments are infinite or zero."""
    largest = max(
        float(np.fmax.reduce(values, None, initial=0.0)),
        -float(np.fmin.reduce(values, None, initial=0.0)),
    )
    if 0.0 < largest < np.inf and not least <= largest <= bound:
        raise ValueError(
            f"the largest value of {name} must lie between {1.0 / bound:g} and {bound:g}, got "
            f"{largest:g}; multiply {name} by a power of ten"
        )


def check_symmetric(name: str, matrix: Any) -> None:
    """Raise unless a dense matrix is square and symmetric, up to rounding."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be square (n_samples, n_samples), got shape {tuple(matrix.shape)}; "
            "use affinity='correlation' for a table of measurements"
        )
    scale = worst = 0.0
    for start in range(0, len(matrix), 256):  # a copy of a large matrix is large
        rows = matrix[start : start + 256]
        scale = max(scale, float(rows.max()), -float(rows.min()))
        worst = max(worst, float(np.abs(rows - matrix[:, start : start + 256].T).max()))
    if worst > SINGLE * scale:
        cure = "rows and columns must be the same points in the same order"
        if not (np.any(np.triu(matrix, 1)) and np.any(np.tril(matrix, -1))):
            cure = "K + K.T - numpy.diag(K.diagonal()) fills the empty triangle"
        raise ValueError(
            f"{name} must be symmetric, got entries that differ from their mirror image by up to "
            f"{worst:.3g}; {cure}"
        )


def check_same_shape(name: str, values: Any, second_name: str, second: Any) -> None:
    """Raise unless two sets of points are tables of the same shape with at least one row."""
    if values.shape != second.shape or values.ndim != 2 or values.size == 0:
        raise ValueError(
            f"{name} must be a table (n_points, n_components) of the same shape as {second_name}, "
            f"got {values.shape} and {second.shape}; their rows must belong together"
        )


def check_rows(name: str, values: NDArray[Any], n_rows: int) -> None:
    """Raise unless ``values`` is a table of floats with so many rows, and a column at least."""
    is_table = values.ndim == 2 and values.dtype.kind == "f" and values.shape[1] > 0
    if not is_table or values.shape[0] != n_rows:
        raise ValueError(
            f"{name} must be a table of floats with {n_rows} rows, got shape {values.shape} of "
            f"{values.dtype}; one row for each point"
        )


def check_point_weights(name: str, weights: NDArray[np.floating], n_points: int) -> None:
    """Raise unless there is one weight >= 0 for each point, and one of them above 0."""
    fits = weights.shape == (n_points,) and np.isfinite(weights).all()
    if not (fits and weights.min() >= 0.0 and weights.max() > 0.0):
        raise ValueError(
            f"{name} must be {n_points} finite numbers >= 0, not all of them 0, got shape "
            f"{weights.shape}; leave a point out by a weight of 0"
        )


# Tables that are embedded -------------------------------------------------------------------------


def check_components(n_components: int, n_samples: int) -> int:
    """Raise unless an embedding of ``n_components`` can be found from ``n_samples`` points."""
    wanted = check_integer("n_components", n_components, 1)
    if wanted >= n_samples:
        raise ValueError(
            f"n_components must be less than the number of points, got n_components={wanted} "
            f"for {n_samples} different ones, which span at most {n_samples - 1} dimensions"
        )
    return wanted


def check_enough_rows(n_samples: int) -> None:
    """Raise unless there are at least two points."""
    if n_samples < 2:
        raise ValueError(
            f"X must have at least 2 rows (points), got n_samples = {n_samples}; "
            "rows are points and columns are columns: pass X.T if it is the other way"
        )


def check_enough_columns(n_features: int, affinity: str, low: int = 2) -> None:
    """Raise unless rows have enough columns to be compared."""
    if n_features < low:
        raise ValueError(
            f"X must have at least {low} columns for affinity={affinity!r}, got n_features = "
            f"{n_features}; a correlation between points needs many columns"
        )


def check_varies(X: NDArray[np.floating]) -> None:
    """Raise if a table holds one row throughout."""
    if np.all(X[0] == X):
        raise ValueError(
            "rows of X must vary, got one row throughout; there is nothing to tell them apart by"
        )


def check_rows_vary(spread: NDArray[np.float64], affinity: str) -> None:
    """Raise if a row has no spread, so that its correlation with any other is 0 / 0.

    ``spread`` is the norm of each row, after centering where the affinity centers.
    """
    flat = np.flatnonzero(~(spread > 0.0))
    if flat.size:
        what = "all zero" if affinity == "cosine" else "constant"
        cure = "use affinity='euclidean', which compares values"
        if flat.size < spread.size:
            cure = f"drop them, or {cure}"
        got = f"{flat.size} {what} row(s): {few_rows(flat, spread.size)}"
        raise ValueError(f"rows of X must vary for a {affinity}, got {got}; {cure}")


# Places that compiled code follows without looking where they lead --------------------------------


def check_sparse(name: str, matrix: Any) -> None:
    """Raise if a sparse matrix points outside itself.

    scipy looks at the ends of the arrays only when it makes a matrix, and a file or a caller may
    have put anything between them. Whatever is not a sparse matrix passes.
    """
    if not sp.issparse(matrix):
        return
    try:
        if matrix.format in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)
        elif matrix.format == "coo":
            for nodes, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
                if check_nodes("places", nodes, size).shape != matrix.data.shape:
                    raise ValueError(f"{matrix.data.size} values at {nodes.size} places")
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{name} must be a whole sparse matrix, got one of shape {tuple(matrix.shape)} whose "
            f"stored places do not fit it ({error}); write it again from its source"
        ) from None


def sparse(name: str, value: Any) -> Any:
    """Require a square scipy sparse matrix of finite numbers that does not point outside itself."""
    if not sp.issparse(value) or len(value.shape) != 2 or value.shape[0] != value.shape[1]:
        raise TypeError(
            f"{name} must be square and scipy sparse, got {type(value).__name__}; wrap a dense "
            "one in scipy.sparse.csr_array"
        )
    check_sparse(name, value)
    as_real(f"the entries of {name}", value.tocoo().data)
    return value


def check_nodes(name: str, values: Any, n: int) -> NDArray[np.int64]:
    """Raise unless ``values`` is a list of numbers from 0 to ``n - 1``."""
    nodes = as_array(name, values)
    if nodes.ndim != 1 or (nodes.dtype.kind not in "iu" and nodes.size):
        raise ValueError(
            f"{name} must be a list of whole numbers, got shape {nodes.shape} of {nodes.dtype}; "
            "number the points from 0"
        )
    if nodes.size and not 0 <= nodes.min() <= nodes.max() < n:
        raise ValueError(
            f"{name} must lie from 0 to {n - 1}, got {nodes.min()} to {nodes.max()}; number "
            "the points from 0"
        )
    return nodes.astype(np.int64)


def nodes(name: str, value: Any) -> NDArray[np.int64]:
    """Numbers of points."""
    return check_nodes(name, value, 2**31)


def check_ragged(name: str, starts: Any, nodes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Raise unless ``starts`` cut a list of nodes into rows that ascend."""
    cuts = as_array(name, starts)
    whole = cuts.ndim == 1 and cuts.size and cuts.dtype.kind in "iu"
    if not whole or cuts[0] != 0 or cuts[-1] != nodes.size or np.any(cuts[1:] < cuts[:-1]):
        raise ValueError(
            f"indptr must be whole numbers that rise from 0 to the number of {name}, {nodes.size}, "
            f"got shape {cuts.shape} of {cuts.dtype}; it holds where each row starts, and where "
            "the last one ends"
        )
    rows = np.repeat(np.arange(cuts.size - 1), np.diff(cuts))
    falls = np.count_nonzero((nodes[1:] <= nodes[:-1]) & (rows[1:] == rows[:-1]))
    if falls:
        raise ValueError(
            f"{name} must ascend in each row, got {falls} that do not; sort them and leave each "
            "out but once"
        )
    return cuts.astype(np.int64, copy=False)


def check_values(name: str, values: Any, size: int) -> NDArray[np.float64]:
    """Raise unless ``values`` are numbers, one for each of ``size`` entries, none of them NaN."""
    entries = as_array(name, values)
    if entries.shape != (size,) or entries.dtype.kind not in "fiub" or np.isnan(entries).any():
        raise ValueError(
            f"{name} must be one number for each of {size} entries and not NaN, got shape "
            f"{entries.shape} of {entries.dtype}; graph.from_edges makes graphs of edges"
        )
    return entries.astype(np.float64, copy=False)


def check_distinct(name: str, keys: NDArray[np.integer]) -> None:
    """Raise if things that must be different are not."""
    duplicates = keys.size - np.unique(keys).size
    if duplicates:
        raise ValueError(f"{name} must be given once each, got {duplicates} repeated")


def few(values: NDArray[np.intp], limit: int = 5) -> str:
    """First few values in words."""
    shown = ", ".join(str(int(value)) for value in values[:limit])
    return shown if values.size <= limit else f"{shown}, ... ({values.size} in all)"


_row_names: ContextVar[Sequence[Any]] = ContextVar("_row_names", default=())


@contextmanager
def naming_rows(names: Sequence[Any]) -> Iterator[None]:
    """Let messages about rows within a block use their names; as outside where there are none."""
    token = _row_names.set(names if len(names) else _row_names.get())
    try:
        yield
    finally:
        _row_names.reset(token)


def name_rows(names: Sequence[Any]) -> None:
    """Let messages use the names of rows until the block of `naming_rows` ends."""
    _row_names.set(names)


def few_rows(rows: NDArray[np.intp], total: int | None = None, limit: int = 5) -> str:
    """First few rows by their names, or else their numbers.

    ``total`` is the number of rows that they are counted among; None where it is that of the table.

    Examples
    --------
    >>> rows = np.array([0, 2])
    >>> with naming_rows(["ann", "bob", "eve"]):
    ...     few_rows(rows)
    'ann, eve'
    >>> few_rows(rows)
    '0, 2'
    """
    names = _row_names.get()
    largest = int(rows.max(initial=-1))
    if largest >= len(names) or total not in (None, len(names)):
        return few(rows, limit)
    shown = ", ".join(_plain(names[row]) for row in rows[:limit].tolist())
    return shown if rows.size <= limit else f"{shown}, ... ({rows.size} in all)"


def _plain(name: Any) -> str:
    """Name of a row as it may stand in a message: one line, and not a long one."""
    text = "".join(letter if letter.isprintable() else "?" for letter in str(name))
    return text if len(text) <= 40 else f"{text[:37]}..."


def _more(cure: str) -> str:
    return f"; {cure}" if cure else ""
