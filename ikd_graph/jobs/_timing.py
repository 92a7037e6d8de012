"""The one way to time a fit: whatever it raises is its answer, whatever it warns of is kept."""

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple


class Timed(NamedTuple):
    """What came of a call, and what it took."""

    value: Any  # None after a failure
    seconds: float
    cpu_seconds: float
    failure: str  # empty if it worked
    notes: tuple[str, ...]  # warnings, each once


def timed(work: Callable[..., Any], *arguments: Any, **options: Any) -> Timed:
    """Make a call and time it: its value, or the reason why there is none.

    Examples
    --------
    >>> timed(pow, 2, 2).value
    4
    >>> timed(divmod, 1, 0).failure
    'ZeroDivisionError: integer division or modulo by zero'
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cpu, begin = time.process_time(), time.perf_counter()
        try:
            value, failure = work(*arguments, **options), ""
        # Whatever a method raises is its answer, and a row in a table.
        except Exception as error:
            value, failure = None, f"{type(error).__name__}: {error}"
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return Timed(value, seconds, cpu, failure, tuple(dict.fromkeys(str(w.message) for w in caught)))
