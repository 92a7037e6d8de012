"""One context for the threads of Numba and BLAS together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import threadpoolctl
from joblib import effective_n_jobs

_First = TypeVar("_First")
_Second = TypeVar("_Second")

_guard = threading.Lock()
_inside = 0
_limits: Any = None
# Looking for the libraries of a process takes as long as the fit of a hundred points.
_libraries: Any = None


def _take_control() -> None:
    """Let this thread set BLAS: newer versions of threadpoolctl ignore all threads but one.

    The setting belongs to the process and is made under a lock here, so that whoever is first in
    may set it and whoever is last out, often another thread, may restore it.
    """
    controller = getattr(threadpoolctl, "OpenBLASController", None)
    release = getattr(controller, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


def _enter_single_blas() -> None:
    """Set BLAS to one thread when the first fit of the process enters."""
    global _inside, _libraries, _limits
    with _guard:
        if _inside == 0:
            _take_control()
            if _libraries is None:
                _libraries = threadpoolctl.ThreadpoolController()
            _limits = _libraries.limit(limits=1, user_api="blas")
        _inside += 1


def _leave_single_blas() -> None:
    """Restore BLAS when the last fit of the process leaves.

    Counted, because the setting belongs to the process: the first of two overlapping fits to
    leave must not change it under the other, and the second must not restore what the first set.
    """
    global _inside, _limits
    with _guard:
        _inside -= 1
        if _inside == 0:
            _take_control()
            _limits.restore_original_limits()
            _limits = None
            _take_control()


@contextmanager
def limit_threads(n_jobs: int | None = None) -> Iterator[int]:
    """Run a block with ``n_jobs`` Numba threads and BLAS on one thread.

    BLAS stays on one thread for any ``n_jobs``: its own threads change the last bits of results and
    trip over busy machines. What is worth running in parallel is cut into fixed blocks
    (``map_blocks``) or compiled loops, so that results do not depend on ``n_jobs``. ``n_jobs`` is
    as in scikit-learn: None is 1 unless a joblib context says otherwise, -1 is all cores. Yields
    the number of threads in force.
    """
    import numba

    threads = max(1, min(effective_n_jobs(n_jobs), numba.config.NUMBA_NUM_THREADS))
    before = numba.get_num_threads()
    _enter_single_blas()
    try:
        numba.set_num_threads(threads)
        yield threads
    finally:
        numba.set_num_threads(before)
        _leave_single_blas()


def keep_threads() -> AbstractContextManager[int]:
    """Run a block with the Numba threads that are in force and BLAS on one thread.

    For functions that callers use without a fit around them.
    """
    import numba

    return limit_threads(int(numba.get_num_threads()))


def map_blocks(work: Callable[[int, int], None], n_rows: int, block: int) -> None:
    """Call ``work(start, stop)`` for fixed blocks of rows, in this thread's number of threads.

    The blocks do not depend on the number of threads, and each call owns the rows it writes.
    """
    import numba

    starts = range(0, n_rows, block)
    threads = min(numba.get_num_threads(), len(starts))
    if threads <= 1:
        for start in starts:
            work(start, min(start + block, n_rows))
        return
    with ThreadPoolExecutor(threads) as pool:
        # list() so that an exception in a block reaches the caller.
        list(pool.map(lambda start: work(start, min(start + block, n_rows)), starts))


def together(aside: Callable[[], _First], here: Callable[[], _Second]) -> tuple[_First, _Second]:
    """Results of two calls, the first in a thread of its own if this one has several.

    The first call is one that runs on one thread only and warns of nothing.
    """
    import numba

    threads = numba.get_num_threads()
    if threads == 1:
        return aside(), here()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(aside)
        numba.set_num_threads(threads - 1)
        try:
            second = here()
        finally:
            numba.set_num_threads(threads)
        return waiting.result(), second
