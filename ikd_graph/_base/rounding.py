"""What is rounding and what is a value."""

from typing import Any

ROUNDING = 1e-13
"""Fraction of the largest value below which a difference is rounding: some hundred last bits."""


def rounding(scale: Any = 1.0, n: int = 1) -> Any:
    """Size up to which what centering leaves of ``n`` equal values of a size is rounding."""
    return ROUNDING * n**0.5 * scale
