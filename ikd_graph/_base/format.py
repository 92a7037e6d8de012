"""Numbers as a reader says them."""

import platform
from importlib import metadata
from typing import Any

import numpy as np


def format_number(value: Any) -> str:
    """Write a value for reading: thousands apart, three digits where it is not whole.

    Examples
    --------
    >>> format_number(1797), format_number(0.12345), format_number("center"), format_number(3.0)
    ('1\u202f797', '0.123', 'center', '3')
    """
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        # A narrow space that does not break: digits apart, but one word.
        return f"{int(value):,}".replace(",", "\u202f")
    if isinstance(value, (float, np.floating)):
        number = float(value)
        if not np.isfinite(number):
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
    names = ("ikd_graph", "numpy", "scipy", "numba")
    packages = [f"{name} {metadata.version(name)}" for name in names]
    return ", ".join([*packages, f"Python {platform.python_version()}"])
