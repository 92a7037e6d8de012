"""How a message spells a parameter: as in Python, or as the command line has it."""

from collections.abc import Callable
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
