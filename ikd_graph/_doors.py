"""What public functions take, checked before anything is done with it.

A rule looks at one argument: it returns the value as the function works with it, or raises with the
name of the argument, what it must be, and what was given.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._arrays import as_array, check_sparse
from ._validation import (
    check_finite,
    check_flag,
    check_integer,
    check_number,
    check_type,
    check_unmasked,
)

Rule = Callable[[str, Any], Any]
Function = TypeVar("Function", bound=Callable[..., Any])


def takes(**rules: Rule) -> Callable[[Function], Function]:
    """Decorate a public function with a rule for each argument that needs one.

    Examples
    --------
    >>> from ikd_graph._doors import table, takes
    >>> @takes(points=table)
    ... def width(points):
    ...     return points.shape[1]
    >>> width([[1, 2], [3, 4]])
    2
    """

    def decorate(function: Function) -> Function:
        names = tuple(inspect.signature(function).parameters)
        unknown = set(rules) - set(names)
        if unknown:
            raise TypeError(f"{function.__name__} has no arguments {sorted(unknown)}")
        in_order = [rules.get(name, _anything) for name in names]

        @functools.wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            kept = [
                rule(*pair)
                for rule, pair in zip(in_order, zip(names, given, strict=False), strict=False)
            ]
            also = {name: rules.get(name, _anything)(name, value) for name, value in named.items()}
            return function(*kept, *given[len(kept) :], **also)

        return cast(Function, checked)

    return decorate


def _anything(name: str, value: Any) -> Any:
    """No rule: the function looks for itself."""
    return value


def optional(rule: Rule) -> Rule:
    """None, or what another rule asks for."""
    return lambda name, value: None if value is None else rule(name, value)


def record(kind: type, cure: str) -> Rule:
    """One of a class of ours; ``cure`` says where to get one."""

    def check(name: str, value: Any) -> Any:
        check_type(name, value, kind, cure)
        return value

    return check


def numbers(name: str, value: Any) -> NDArray[np.floating]:
    """Finite real numbers in an array of any shape, in the precision they were given in."""
    array = as_real(name, value)
    check_finite(name, array.reshape(-1, 1))
    return array


def table(name: str, value: Any) -> NDArray[np.floating]:
    """Finite numbers in rows and columns, at least one of each."""
    array = numbers(name, value)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} must be a table (rows x columns) of numbers, got shape {array.shape}; one row "
            "for each point"
        )
    return array


def gapped(name: str, value: Any) -> NDArray[np.float64]:
    """Numbers in rows and columns, NaN where one is missing."""
    array = quantities(name, value)
    if array.ndim != 2 or 0 in array.shape or np.isinf(array).any():
        raise ValueError(
            f"{name} must be a table (rows x columns) of finite numbers or NaN, got shape "
            f"{array.shape}"
        )
    return array


def square(name: str, value: Any) -> NDArray[np.floating]:
    """Finite numbers, one for every pair of points."""
    array = table(name, value)
    if array.shape[0] != array.shape[1]:
        raise ValueError(
            f"{name} must be square, got shape {array.shape}; it has a number for every pair of "
            "points"
        )
    return array


def sparse(name: str, value: Any) -> Any:
    """A square scipy sparse matrix of finite numbers that does not point outside itself."""
    if not sp.issparse(value) or len(value.shape) != 2 or value.shape[0] != value.shape[1]:
        raise TypeError(
            f"{name} must be square and scipy sparse, got {type(value).__name__}; wrap a dense "
            "one in scipy.sparse.csr_array"
        )
    check_sparse(name, value)
    as_real(f"the entries of {name}", value.tocoo().data)
    return value


def tables(name: str, value: Any) -> list[NDArray[np.floating]]:
    """A list of tables."""
    stacked = isinstance(value, np.ndarray) and value.ndim > 0
    if not stacked and not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be a list of tables, got {type(value).__name__}")
    return [table(name, one) for one in value]


def line(name: str, value: Any) -> NDArray[np.floating]:
    """Finite numbers in a row, at least one."""
    array = numbers(name, value)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a list of numbers, got shape {array.shape}")
    return array


def places(name: str, value: Any) -> NDArray[np.integer]:
    """Whole numbers in a row, at least one."""
    array = as_array(name, value)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a list of whole numbers, got shape {array.shape} of {array.dtype}"
        )
    return array


def scores(name: str, value: Any) -> NDArray[np.floating]:
    """Numbers in a row, NaN where there is nothing to tell."""
    array = as_real(name, value)
    if array.ndim != 1 or np.isinf(array).any():
        raise ValueError(f"{name} must be a list of numbers or NaN, got shape {array.shape}")
    return array


def count(name: str, value: Any) -> int:
    """A whole number from 1 up that an array can have as its length."""
    return check_integer(name, value, 1, 2**31 - 1)


def counts(name: str, value: Any) -> Any:
    """A whole number from 1 up, or a list of them."""
    listed = isinstance(value, (list, tuple, range)) and len(value) > 0
    if listed or (isinstance(value, np.ndarray) and value.ndim == 1 and value.size > 0):
        return [count(name, one) for one in value]
    return count(name, value)


def number(name: str, value: Any) -> float:
    """A real number."""
    return check_number(name, value)


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    if not 0.0 < number(name, value) < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """A finite number from zero up."""
    if not 0.0 <= number(name, value) < np.inf:
        raise ValueError(f"{name} must be finite and not negative, got {value!r}")
    return float(value)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    check_flag(name, value)
    return bool(value)


def quantities(name: str, value: Any) -> NDArray[np.float64]:
    """Real numbers in float64, NaN where they are not known."""
    return as_real(name, value).astype(np.float64, copy=False)


def seed(name: str, value: Any) -> int | None:
    """A whole number from 0 up that starts a random sequence, or None."""
    return None if value is None else check_integer(name, value, 0, 2**32 - 1)


def function(name: str, value: Any) -> Callable[..., Any]:
    """Something that can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be a function, got {type(value).__name__}")
    return cast(Callable[..., Any], value)


def as_real(name: str, value: Any) -> NDArray[np.floating]:
    """An array of floats, NaN and infinity among them as they are; whole numbers become float64."""
    if sp.issparse(value):
        # Its first sum would follow places that nobody has checked.
        raise TypeError(f"{name} must be a dense array, got a sparse matrix; pass X.toarray()")
    check_unmasked(name, value)
    array = as_array(name, value)
    if array.dtype.kind == "O":
        with suppress(TypeError, ValueError, OverflowError):
            array = array.astype(np.float64)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers, got {array.dtype}; drop the others")
    precise = array.dtype.kind != "f" or array.dtype.itemsize not in (4, 8)
    return array.astype(np.float64) if precise else array
