"""Validation of the arguments of public functions, whoever calls them.

A rule looks at one argument: it returns the value as the function works with it, or raises with the
name of the argument, what it must be, what was given and what to do. `validate` puts rules before a
function.
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

from . import limits
from .format import listed, printable, setting, suggest
from .rounding import SINGLE
from .types import Floats, Integers, Reals

Rule = Callable[[str, Any], Any]
P = ParamSpec("P")
R = TypeVar("R")


def validate(
    *together: Callable[..., None], **rules: Rule
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a public function with a rule for each argument that needs one.

    An argument that is annotated as ``int`` and has no rule must be from 0 to 2^31 - 1. Functions
    that are given first look at all arguments together, by their names.

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
            bound = signature.bind(*args, **kwargs)
            for name in [each for each in bound.arguments if each in own]:
                bound.arguments[name] = own[name](name, bound.arguments[name])
            for check in together:
                check(**bound.arguments)
            # What callers have numpy do with rounding is theirs: here it is as numpy has it.
            with np.errstate(all="warn", under="ignore"):
                return function(*bound.args, **bound.kwargs)

        return checked

    return decorate


def optional(rule: Rule) -> Rule:
    """None, or what another rule asks for."""
    return lambda name, value: None if value is None else rule(name, value)


def auto_or(rule: Rule) -> Rule:
    """Require the word "auto", or what another rule asks for."""
    return lambda name, value: "auto" if _is_auto(value) else rule(name, value)


def _is_auto(value: Any) -> bool:
    """Whether a value is the word; arrays are compared entry by entry otherwise."""
    return isinstance(value, str) and value == "auto"


def record(kind: type, cure: str) -> Rule:
    """One of a class of ours; ``cure`` says where to get one."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__}; {cure}")
        return value

    return check


def _told(value: Any) -> str:
    """Return a value, or what kind of array it is, for messages."""
    is_array = hasattr(value, "dtype") and np.ndim(value)
    return f"shape {tuple(value.shape)} of {value.dtype}" if is_array else repr(value)


def rule(
    must: str,
    holds: Callable[[Any], Any],
    cure: str = "",
    *,
    after: Rule | None = None,
    got: Callable[[Any], str] = _told,
    make: Callable[[Any], Any] | None = None,
) -> Rule:
    """Require what is told in words and holds ``after`` another rule; return what it makes."""

    def check(name: str, value: Any) -> Any:
        value = after(name, value) if after else value
        if not holds(value):
            raise ValueError(f"{name} must {must}, got {got(value)}{'; ' if cure else ''}{cure}")
        return make(value) if make else value

    return check


# Single values ------------------------------------------------------------------------------------


def one_of(choices: Iterable[str], more: str = "") -> Rule:
    """One of some words; ``more`` says what else it may be."""
    allowed = tuple(choices)
    return rule(
        f"be one of {', '.join(map(repr, allowed))}{more}",
        lambda value: isinstance(value, str) and value in allowed,
        got=lambda value: f"{value!r}{suggest(value, allowed)}",
    )


flag = rule("be True or False", lambda value: isinstance(value, (bool, np.bool_)), make=bool)
"""Require True or False."""


def is_whole(value: Any) -> bool:
    """Whether a value is an integer, which True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(low: int, high: int | None = None, cure: str = "") -> Rule:
    """Require an integer from ``low`` up to ``high``, or to what an array can have as its size."""
    least = rule(f"be an integer at least {low}", lambda n: is_whole(n) and n >= low, cure)
    most = limits.NODES if high is None else high
    return rule(
        f"be an integer from {low} to {most}",
        lambda n: is_whole(n) and low <= n <= most,
        cure,
        after=least if high is None else None,
        make=int,
    )


count = whole(1)
seed = optional(whole(0, 2**32 - 1))
_ANNOTATED = {"<class 'int'>": whole(0), "int": whole(0), "int | None": optional(whole(0))}


def components(n_samples: int) -> Rule:
    """Require a number of coordinates that so many points, equal ones counted once, can span."""
    return whole(1, n_samples - 1, "it must be less than the number of points, equal ones once")


def random_state(name: str, value: Any) -> Any:
    """Require a seed, or a generator of random numbers."""
    return value if isinstance(value, np.random.Generator) else seed(name, value)


def real(must: str, holds: Callable[[Any], bool]) -> Rule:
    """Require a number that keeps a rule, which is told in words."""
    return rule(
        must,
        lambda x: not isinstance(x, bool) and isinstance(x, Real) and holds(x),
        make=float,
    )


number = real("be a number", lambda x: x == x)
fraction = real("lie in (0, 1)", lambda x: 0.0 < x < 1.0)
not_negative = real("be finite and not negative", lambda x: 0.0 <= x < np.inf)
positive = real("be positive and finite", lambda x: 0.0 < x < np.inf)


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


def as_real(name: str, value: Any) -> Reals:
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
        return cast(Reals, array)
    try:
        if type(value).__module__.startswith("pandas"):
            # NA of pandas is no float.
            return cast(Reals, value.to_numpy(np.float64, na_value=np.nan))
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} must hold real numbers, got {array.dtype}; drop the others"
        ) from None


def quantities(name: str, value: Any) -> Floats:
    """Real numbers in float64, NaN where they are not known."""
    return as_real(name, value).astype(np.float64, copy=False)


def finite(cure: str = "", after: Rule | None = None) -> Rule:
    """Require an array without NaN and infinity."""
    return rule(
        "be finite",
        lambda values: np.isfinite(values).all(),
        cure,
        after=after,
        got=lambda values: f"{np.count_nonzero(~np.isfinite(values))} NaN or infinite value(s)",
    )


numbers = finite(after=as_real)
"""Finite real numbers in an array of any shape, in the precision they were given in."""

table = rule(
    "be a table (rows x columns) of numbers",
    lambda array: array.ndim == 2 and array.size,
    "one row for each point",
    after=numbers,
)
"""Finite numbers in rows and columns, at least one of each."""

line = rule(
    "be a list of numbers",
    lambda array: array.ndim == 1 and array.size,
    "one number for each column",
    after=numbers,
)
"""Finite numbers in a row, at least one."""

square = rule(
    "be square",
    lambda array: array.shape[0] == array.shape[1],
    "it has a number for every pair of points",
    after=table,
)
"""Finite numbers, one for every pair of points."""

observations = rule(
    "be finite and above 0 everywhere",
    lambda counts: ((counts > 0.0) & (counts < np.inf)).all(),
    "it is the number of columns behind each correlation",
    after=as_real,
    got=lambda counts: few(counts[~((counts > 0.0) & (counts < np.inf))]),
)
"""Numbers of independent columns, one or one for each of several correlations; they need not be
whole."""


def symmetric(name: str, value: Any) -> Reals:
    """Require the same from both ends of a pair, up to rounding."""
    matrix = square(name, value)
    worst, step = 0.0, 256
    for start in range(0, len(matrix), step):  # a copy of a large matrix is large
        rows = slice(start, start + step)
        worst = max(worst, float(np.abs(matrix[rows] - matrix[:, rows].T).max()))
    if worst > SINGLE * _largest(matrix):
        cure = "rows and columns must be the same points in the same order"
        if is_triangle(matrix == 0.0):
            cure = "K + K.T - numpy.diag(K.diagonal()) fills the empty triangle"
        raise ValueError(
            f"{name} must be symmetric, got entries that differ from their mirror image by up to "
            f"{worst:.3g}; {cure}"
        )
    return matrix


def is_triangle(empty: NDArray[np.bool_]) -> bool:
    """Whether one triangle of a square table is empty, and the other one is not."""
    is_square = empty.ndim == 2 and 2 < len(empty) == empty.shape[1]
    return is_square and bool(np.triu(~empty, 1).any() != np.tril(~empty, -1).any())


TRIANGLES = "must hold both triangles of a matrix, got one; D.fillna(D.T) of pandas fills the other"


def _largest(values: Any) -> float:
    """Largest size of a value that is known."""
    return max(
        float(np.fmax.reduce(values, None, initial=0.0)),
        -float(np.fmin.reduce(values, None, initial=0.0)),
    )


def magnitude(least: float = 1e-70, most: float = 1e70) -> Rule:
    """Require a largest value of which the moments are neither infinite nor zero."""
    return rule(
        f"have a largest value between {1.0 / most:g} and {most:g}",
        lambda values: not (0.0 < (size := _largest(values)) < least or most < size < np.inf),
        "multiply it by a power of ten",
        got=lambda values: f"{_largest(values):g}",
    )


def like(other_name: str, other: Any) -> Rule:
    """Require points in a table of the shape of another, at least one row."""
    return rule(
        f"be a table (n_points, n_components) of the same shape as {other_name}, {other.shape}",
        lambda values: values.shape == other.shape and values.ndim == 2 and values.size,
        "their rows must belong together",
    )


def table_of(n_rows: int) -> Rule:
    """Require a table of floats with so many rows, and a column at least."""
    return rule(
        f"be a table of floats with {n_rows} rows",
        lambda v: v.ndim == 2 and v.dtype.kind == "f" and v.shape[1] and v.shape[0] == n_rows,
        "one row for each point",
    )


def point_weights(n_points: int) -> Rule:
    """Require one weight >= 0 for each point, and one of them above 0."""
    return rule(
        f"be {n_points} finite numbers >= 0, not all of them 0",
        lambda w: w.shape == (n_points,) and np.isfinite(w).all() and w.min() >= 0.0 < w.max(),
        "leave a point out by a weight of 0",
    )


# Tables that are embedded -------------------------------------------------------------------------


def enough(n_rows: int, n_columns: int = 1) -> Rule:
    """Require a table of so many rows and columns at least."""
    return rule(
        f"have at least {n_rows} rows (points) and {n_columns} column(s)",
        lambda table: table.shape[0] >= n_rows and table.shape[1] >= n_columns,
        "transpose it if points are in columns",
        got=lambda table: f"n_samples = {table.shape[0]} and n_features = {table.shape[1]}",
    )


def check_varies(X: Reals) -> None:
    """Raise if a table holds one row throughout."""
    if np.all(X[0] == X):
        raise ValueError(
            "rows of X must vary, got one row throughout; there is nothing to tell them apart by"
        )


def check_rows_vary(spread: Floats, affinity: str) -> None:
    """Raise if a row has no spread, so that its correlation with any other is 0 / 0.

    ``spread`` is the norm of each row, after centering where the affinity centers.
    """
    flat = np.flatnonzero(~(spread > 0.0))
    if flat.size:
        what = "all zero" if affinity == "cosine" else "constant"
        cure = f"use {setting('affinity', 'euclidean')}, which compares values"
        if flat.size < spread.size:
            cure = f"drop them, or {cure}"
        got = f"{flat.size} {what} row(s): {few_rows(flat, spread.size)}"
        raise ValueError(f"rows of X must vary for a {affinity}, got {got}; {cure}")


# Places that compiled code follows without looking where they lead --------------------------------


def well_formed(name: str, matrix: Any) -> Any:
    """Require a sparse matrix, if it is one, that does not point outside itself.

    scipy looks at the ends of the arrays only when it makes a matrix, and a file or a caller may
    have put anything between them.
    """
    if not sp.issparse(matrix):
        return matrix
    try:
        if matrix.format in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)
        elif matrix.format == "coo":
            sp.coo_array((matrix.data, (matrix.row, matrix.col)), shape=matrix.shape)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{name} must be a whole sparse matrix, got one of shape {tuple(matrix.shape)} whose "
            f"stored places do not fit it ({error}); write it again from its source"
        ) from None
    return matrix


def sparse(name: str, value: Any) -> Any:
    """Require a square scipy sparse matrix of finite numbers that does not point outside itself."""
    if not sp.issparse(value) or len(value.shape) != 2 or value.shape[0] != value.shape[1]:
        raise TypeError(
            f"{name} must be square and scipy sparse, got {type(value).__name__}; wrap a dense "
            "one in scipy.sparse.csr_array"
        )
    as_real(f"the entries of {name}", well_formed(name, value).tocoo().data)
    return value


_whole_numbers = rule(
    "be a list of whole numbers",
    lambda nodes: nodes.ndim == 1 and (nodes.dtype.kind in "iu" or not nodes.size),
    "number the points from 0",
    after=as_array,
)


def nodes_of(n: int) -> Rule:
    """Require a list of numbers from 0 to ``n - 1``."""
    return rule(
        f"lie from 0 to {n - 1}",
        lambda nodes: not nodes.size or 0 <= nodes.min() <= nodes.max() < n,
        "number the points from 0",
        after=_whole_numbers,
        got=lambda nodes: f"{nodes.min()} to {nodes.max()}",
        make=lambda nodes: nodes.astype(np.int64),
    )


nodes = nodes_of(limits.NODES + 1)


def ragged(owner: str, members: NDArray[np.integer]) -> Rule:
    """Require starts that cut a list of nodes into rows that ascend."""

    def check(name: str, starts: Any) -> Integers:
        cuts = as_array(name, starts)
        fits = cuts.ndim == 1 and cuts.size and cuts.dtype.kind in "iu"
        if not fits or cuts[0] != 0 or cuts[-1] != members.size or np.any(cuts[1:] < cuts[:-1]):
            raise ValueError(
                f"{name} must be whole numbers that rise from 0 to the number of {owner}, "
                f"{members.size}, got shape {cuts.shape} of {cuts.dtype}; it holds where each row "
                "starts, and where the last one ends"
            )
        rows = np.repeat(np.arange(cuts.size - 1), np.diff(cuts))
        falls = np.count_nonzero((members[1:] <= members[:-1]) & (rows[1:] == rows[:-1]))
        if falls:
            raise ValueError(
                f"{owner} must ascend in each row, got {falls} that do not; sort them and leave "
                "each out but once"
            )
        return cuts.astype(np.int64, copy=False)

    return check


def entries(size: int | None = None) -> Rule:
    """Require a list of numbers, of so many where that is known, none of them NaN."""
    shape = f"for each of {size} entries" if size is not None else "for each entry"
    return rule(
        f"be one number {shape} and not NaN",
        lambda v: v.ndim == 1 and size in (None, v.size) and not np.isnan(v).any(),
        "graph.from_edges makes graphs of edges",
        after=quantities,
    )


distinct = rule(
    "be given once each",
    lambda keys: np.unique(keys).size == keys.size,
    got=lambda keys: f"{keys.size - np.unique(keys).size} repeated",
)


def one_each(name: str, values: Any, n: int, of: str = "points") -> None:
    """Raise unless values, or names, are one for each of n points or of other things."""
    shape = np.shape(values) if hasattr(values, "ndim") else (len(values),)
    if shape != (n,):
        got = " x ".join(map(str, shape)) or "a single value"
        raise ValueError(f"{name} must be one for each of {n} {of}, got {got}; pass as many")


def few(values: Iterable[Any]) -> str:
    """First few values in words."""
    return listed(values, 5)


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


def few_rows(rows: NDArray[np.intp], total: int | None = None) -> str:
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
        return few(rows)
    return few(_plain(names[row]) for row in rows.tolist())


def _plain(name: Any) -> str:
    """Name of a row as it may stand in a message: one line, and not a long one."""
    text = printable(" ".join(str(name).split()))
    return text if len(text) <= 40 else f"{text[:37]}..."
