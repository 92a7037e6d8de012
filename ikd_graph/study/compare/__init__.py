"""Many methods on one data set, each in a process of its own, measured in the same way.

A method that crashes or hangs is a row with its reason; the others go on. Time is that of the fit
alone, after a first call on a few points that pays for imports and compilation.
"""

from __future__ import annotations

from ._compare import DEFAULT_METHODS, IKD_METHODS, compare, score
from ._records import MEASURES, Comparison, Row

__all__ = [
    "DEFAULT_METHODS",
    "IKD_METHODS",
    "MEASURES",
    "Comparison",
    "Row",
    "compare",
    "score",
]
