"""Numbers, names and parameters as messages and pages write them; importing it is cheap."""

import difflib
import math
import platform
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from numbers import Integral, Real
from typing import Any


def format_number(value: Any) -> str:
    """Write a value for reading: thousands apart, three digits where it is not whole.

    Examples
    --------
    >>> format_number(1797), format_number(0.12345), format_number("center"), format_number(3.0)
    ('1\u202f797', '0.123', 'center', '3')
    """
    if type(value).__name__ in ("bool", "bool_"):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        # A narrow space that does not break: digits apart, but one word.
        return f"{int(value):,}".replace(",", "\u202f")
    if isinstance(value, Real):
        number = float(value)
        if not math.isfinite(number):
            return "–"
        if number == int(number) and abs(number) >= 1:
            return format_number(int(number))
        return f"{number:.3g}" if abs(number) < 1000 else format_number(round(number))
    return str(value)


def format_seconds(seconds: float) -> str:
    """Write a time for reading, in two or three digits and a unit.

    Examples
    --------
    >>> format_seconds(0.0123), format_seconds(4.2), format_seconds(600)
    ('12 ms', '4.2 s', '10 min')
    """
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.01 else f"{1000 * seconds:.1f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def spread(values: Sequence[float]) -> str:
    """Write the mean of several measurements of one thing, and how far they scatter.

    Examples
    --------
    >>> spread([0.49, 0.54, 0.62]), spread([0.95])
    ('0.55, from 0.49 to 0.62', '0.95')
    """
    mean, low, high = (f"{x:.2f}" for x in (sum(values) / len(values), min(values), max(values)))
    return mean if low == high else f"{mean}, from {low} to {high}"


def count(number: int, noun: str, many: str = "") -> str:
    """Return a number with its noun; an empty ``many`` adds an s.

    Examples
    --------
    >>> count(1, "point"), count(2, "point")
    ('1 point', '2 points')
    """
    return f"{format_number(int(number))} {noun if number == 1 else many or noun + 's'}"


def versions() -> str:
    """Versions of what a result rests on, in one line."""
    from importlib import metadata

    names = ("ikd_graph", "numpy", "scipy", "numba")
    packages = [f"{name} {metadata.version(name)}" for name in names]
    return ", ".join([*packages, f"Python {platform.python_version()}"])


def listed(names: Iterable[Any], most: int = 10) -> str:
    """Return names between commas, the first few of many."""
    texts = [str(name) for name in names]
    more = [f"... ({len(texts)} in all)"] if len(texts) > most else []
    return ", ".join([*texts[: most if more else None], *more]) or "none"


def in_columns(rows: Iterable[tuple[str, Any]], before: str = "") -> list[str]:
    """Lines of names and values in two columns, each after what stands before."""
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    return [f"{before}{name:<{width}}  {format_number(value)}" for name, value in rows]


def printable(text: str) -> str:
    """Text whose control characters are spelt out, but for ends of lines: names may hold any.

    Examples
    --------
    >>> len(printable(chr(27) + "[31m")), len(printable("[31m"))
    (8, 4)
    """
    return "".join(c if c == "\n" or c.isprintable() else repr(c)[1:-1] for c in text)


def suggest(word: Any, valid: Iterable[Any]) -> str:
    """Suggest the nearest valid word, as the end of a sentence; empty if nothing is near.

    Examples
    --------
    >>> suggest("grup", ["group", "dose"])
    "; did you mean 'group'?"
    """
    allowed = [str(choice) for choice in valid]
    near = difflib.get_close_matches(str(word), allowed, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


Spelling = Callable[..., str]
"""Writes a parameter with a value, or its name alone."""


def in_python(name: str, *value: Any) -> str:
    """Return a parameter as a keyword argument is typed."""
    return f"{name}={value[0]!r}" if value else name


spelling: ContextVar[Spelling] = ContextVar("spelling", default=in_python)
"""How the door that a user came through spells parameters."""


def setting(name: str, *value: Any) -> str:
    """Return a parameter with a value, or its name alone, as the reader of a message types it.

    Examples
    --------
    >>> setting("impute", "median"), setting("drop")
    ("impute='median'", 'drop')
    """
    return spelling.get()(name, *value)
