"""Many methods on one data set, each in a process of its own, measured in the same way.

A method that crashes or hangs is a row with its reason; the others go on. Time is that of the fit
alone, after a first call on a few points that pays for imports and compilation.
"""

from __future__ import annotations

from ._compare import compare
from ._methods import DEFAULT_METHODS, IKD_METHODS, PEER_GROUP, with_kernel
from ._records import GROUPS, MEASURES, Comparison, Row
from ._score import score

__all__ = [
    "DEFAULT_METHODS",
    "GROUPS",
    "IKD_METHODS",
    "MEASURES",
    "PEER_GROUP",
    "Comparison",
    "Row",
    "compare",
    "score",
    "with_kernel",
]
