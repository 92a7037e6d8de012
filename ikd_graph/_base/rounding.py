"""What is rounding and what is a value."""

from typing import Any

import numpy as np

ROUNDING = 1e-13
"""Fraction of the largest value below which a difference is rounding: some hundred last bits."""

TINY = float(np.finfo(np.float64).tiny)
"""What a divisor that may be zero is at least."""

DECIMALS = 12
"""Those of a similarity: of pairs that differ by less the order of the points decides."""

SINGLE = 1e-6
"""Relative error of a value that was stored in single precision."""

COMPUTED = 1e-9
"""Relative error of a value that was computed in several steps, in double precision."""


def rounding(scale: Any = 1.0, n: int = 1) -> Any:
    """Size up to which what centering leaves of ``n`` equal values of a size is rounding."""
    return ROUNDING * n**0.5 * scale
