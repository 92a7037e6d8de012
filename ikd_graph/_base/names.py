"""Rows and columns by name: where both of two things have names, these say what belongs together.

Numbers from 0 in order count rows and name none.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .format import listed, printable


def row_names(X: Any) -> Sequence[Any]:
    """Names of the rows of a frame or Series, of a fit, of the nodes of a graph; none of arrays."""
    if isinstance(index := getattr(X, "index", None), pd.Index):
        return index
    # Asked of the class: what is delayed has every attribute.
    if hasattr(type(X), "number_of_nodes"):
        return numbers_in_order(X)
    return getattr(X, "_row_names", ()) if hasattr(type(X), "_row_names") else ()


def without_counts(names: Sequence[Any]) -> tuple[Any, ...]:
    """Names, but none of 0, 1, 2, ... that nobody gave."""
    return () if [*names] == [*range(len(names))] else tuple(names)


def order_by_name(
    what: str, names: Sequence[Any], wanted: Sequence[Any], of: str, cures: str
) -> list[int] | None:
    """Position of each wanted name among names; None where both are in one order, or one has none.

    Parameters
    ----------
    what, of : str
        What has the names, and what the wanted ones are of, for messages.
    names, wanted : sequence
        Compared as text, in which a whole number has no decimal point.
    cures : str
        How to match by name, and how by position.

    Returns
    -------
    list of int or None
        Positions, where both have names.

    Raises
    ------
    ValueError
        If a name is missing or stands twice, or the numbers from 0 are in two orders, so that they
        may be names or not.
    """
    have, need = as_text(names), as_text(wanted)
    place = {name: position for position, name in enumerate(have)}
    is_counted = any(keys == [*map(str, range(len(keys)))] for keys in (have, need))
    if have == need or not (have and need) or (is_counted and place.keys() != {*need}):
        return None
    here, there = Counter(have), Counter(need)
    wrong = [repr(name) for name in there if not here[name] == there[name] == 1]
    if not (is_counted or wrong):
        return [place[name] for name in need]
    got = f"{listed(wrong, 5)} missing or twice" if wrong else "the numbers from 0 in two orders"
    text = f"{what} must have the names of {of}, each once, got {got}; {cures}"
    raise ValueError(printable(text))


def rows_by_name(what: str, values: Any, wanted: Sequence[Any], of: str = "X") -> Any:
    """Rows of a Series or frame in the order of the wanted names; what has no names as it is."""
    cures = f"reindex {what} to match by name, or pass {what}.to_numpy() to go by position"
    order = order_by_name(what, row_names(values), wanted, f"the rows of {of}", cures)
    return values if order is None else values.iloc[order]


def numbers_in_order(names: Iterable[Any]) -> list[Any]:
    """Names of points, in numerical order where they are whole numbers without gaps."""
    names = [*names]
    numbers = [int(key) if key.isdecimal() else -1 for key in as_text(names)]
    first = max(min(numbers, default=0), 0)
    is_run = sorted(numbers) == [*range(first, first + len(names))]
    return [names[at] for at in np.argsort(numbers)] if is_run else names


def as_text(names: Iterable[Any]) -> list[str]:
    """Names as text, whole numbers of any type alike."""
    texts = map(str, names)
    return [t.removesuffix(".0") if t[:-2].lstrip("-").isdecimal() else t for t in texts]
