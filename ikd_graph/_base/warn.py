"""Warnings that point at the line of the user."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# The methods of an estimator are wrapped by scikit-learn.
_INSIDE = ("ikd_graph", "sklearn")

_said: ContextVar[set[tuple[str, int]] | None] = ContextVar("_said", default=None)
"""Lines of code that have warned, where each may do so once."""


@contextmanager
def no_warnings(beginning: str = "") -> Iterator[None]:
    """Run a block without warnings to users, or without those that begin as a pattern says."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", beginning, UserWarning)
        yield


@contextmanager
def each_once(said: set[tuple[str, int]]) -> Iterator[None]:
    """Run a block, in one of many threads, in which lines of code in ``said`` do not warn again."""
    token = _said.set(said)
    try:
        yield
    finally:
        _said.reset(token)


def warn(message: str) -> None:
    """Warn at the innermost line outside this package."""
    level, frame = 2, sys._getframe(1)
    if (said := _said.get()) is not None:
        line = frame.f_code.co_filename, frame.f_lineno
        if line in said:
            return
        said.add(line)
    while frame.f_back and str(frame.f_globals.get("__name__")).split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
