"""Whether the attributes of a record that was read are those that its class declares."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np

_KINDS: dict[Any, str] = {
    np.bool_: "b", np.int64: "iu", np.int32: "iu", np.intp: "iu", np.integer: "iu",
    np.uint8: "u", np.float64: "fiu", np.floating: "f", np.str_: "U",
}  # fmt: skip
"""Kinds of numpy that arrays of a declared type may have."""

_SCALARS: dict[type, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: (int, np.integer),
    float: (int, float, np.integer, np.floating),
}


@cache
def declared(kind: type) -> dict[str, Any]:
    """Types of the attributes of a class by name, its class variables aside."""
    hints = get_type_hints(kind)
    return {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}


def check_declared(kind: type, fields: Mapping[str, Any]) -> None:
    """Raise ValueError unless a record has the attributes of its class, each of its type.

    Examples
    --------
    >>> from ikd_graph.refine import StressFit
    >>> check_declared(StressFit, {"latent": 3})
    Traceback (most recent call last):
    ValueError: a StressFit has a latent of int
    """
    hints = declared(kind)
    for name, value in fields.items():
        if name in hints:
            if not fits(value, hints[name]):
                raise ValueError(f"a {kind.__name__} has a {name} of {type(value).__name__}")
        elif hasattr(kind, str(name)):
            raise ValueError(f"a {kind.__name__} has a {name!r:.20}")
    given = {*fields, *(name for name in hints if hasattr(kind, name))}
    if not issubclass(kind, tuple) and (absent := sorted(hints.keys() - given)):
        raise ValueError(f"a {kind.__name__} has no {absent[0]}")


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a declared type; of a type that cannot be told it always is.

    Examples
    --------
    >>> fits((1, 2), tuple[int, ...]), fits(["a"], tuple[str, ...]), fits(None, int | None)
    (True, False, True)
    """
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is np.ndarray:
        own = get_args(parts[1])[0]
        kinds = _KINDS.get(own, "biufU")
        return isinstance(value, np.ndarray) and value.dtype.kind in kinds
    if origin is tuple:
        return isinstance(value, tuple) and _fit_each(value, parts)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(
            fits(key, parts[0]) and fits(each, parts[1]) for key, each in value.items()
        )
    if hint is Any or origin is not None or not isinstance(hint, type):
        return True
    if hint in (int, float) and isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, _SCALARS.get(hint, hint))


def _fit_each(values: tuple[Any, ...], parts: tuple[Any, ...]) -> bool:
    """Whether values of a tuple are of its declared types."""
    if len(parts) == 2 and parts[1] is ...:
        parts = (parts[0],) * len(values)
    return len(values) == len(parts) and all(map(fits, values, parts))


def is_cached(kind: type, name: str) -> bool:
    """Whether an attribute is computed when it is first asked for."""
    return isinstance(getattr(kind, name, None), cached_property)
