"""How messages spell what a reader types: parameters, words that are near, odd letters."""

import difflib
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

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


def printable(text: str) -> str:
    """Text whose control characters are escaped, but for ends of lines: names may hold any.

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
