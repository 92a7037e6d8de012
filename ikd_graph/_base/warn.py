"""Warnings that point at the line of the user."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# The methods of an estimator are wrapped by scikit-learn.
_INSIDE = ("ikd_graph", "sklearn")


@contextmanager
def no_warnings(beginning: str = "") -> Iterator[None]:
    """Run a block without warnings to users, or without those that begin as a pattern says."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", beginning, UserWarning)
        yield


def warn(message: str) -> None:
    """Warn at the innermost line outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
