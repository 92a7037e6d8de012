"""Lanczos iterations that repeat to the last bit."""

from inspect import signature
from typing import Any

from scipy.sparse.linalg import LinearOperator, eigsh

from .types import Floats

# Where its space is exhausted, as of few distinct rows, Lanczos goes on in a random direction.
_SEED = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


def seeded_eigsh(operator: LinearOperator | Floats, count: int, **options: Any) -> Any:
    """`scipy.sparse.linalg.eigsh` with one seed."""
    return eigsh(operator, count, **options, **_SEED)
