"""One context for the threads of Numba and BLAS together."""

import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import threadpoolctl
from joblib import effective_n_jobs

from .validation import is_whole, optional, rule

# Entered again where a generator is collected, which leaves its block.
_guard = threading.RLock()
_inside: set[object] = set()
"""Blocks that are being run."""
_before: list[tuple[Any, int]] = []
"""Libraries with the numbers of threads that they had before the first of these blocks."""


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> list[Any]:
    """Return the BLAS libraries of the process; looked for again after something was imported.

    It takes as long as the fit of a hundred points, and an import may bring another BLAS.
    """
    blas = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return list(blas.lib_controllers)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Run a block with BLAS on one thread and the Numba threads that are in force.

    The setting belongs to the process, so overlapping blocks are counted: the first to enter sets
    it and the last to leave, often another thread, restores it. An interrupt at any moment leaves
    nothing that the end of the block, or the next one, does not restore.
    """
    block = object()
    try:
        with _guard:
            if not _inside:
                _restore()
                libraries = _libraries(len(sys.modules))
                _before.extend((library, library.num_threads) for library in libraries)
            _inside.add(block)
            for library, _ in _before:
                library.set_num_threads(1)
        yield
    finally:
        try:
            _leave(block)
        finally:
            # Again, where an interrupt ended it.
            _leave(block)


def _leave(block: object) -> None:
    """Give BLAS back the threads it had, if no block is left; a second time does nothing."""
    with _guard:
        _inside.discard(block)
        if not _inside:
            _restore()


def _restore() -> None:
    """Set what was set before the first block, by whichever thread this is."""
    # Newer versions of threadpoolctl ignore all threads but the one that set OpenBLAS first.
    controller = threadpoolctl.OpenBLASController
    release = getattr(controller, "clear_controlling_thread", lambda **_: None)
    release(force=True)
    for library, number in _before:
        library.set_num_threads(number)
    _before.clear()
    release(force=True)


def _forked() -> None:
    """Forget all blocks: most are of threads that a child does not have."""
    _inside.clear()
    _guard.release()


if hasattr(os, "register_at_fork"):
    # A child has the lock as it was, and nobody to release it.
    os.register_at_fork(
        before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_forked
    )


jobs = optional(
    rule(
        "be None or a whole number other than 0",
        lambda n: is_whole(n) and n != 0 and abs(n) < 2**15,
        "-1 is all cores",
    )
)
"""Require a number of threads."""


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

    jobs("n_jobs", n_jobs)
    threads = max(1, min(effective_n_jobs(n_jobs), numba.config.NUMBA_NUM_THREADS))
    before = numba.get_num_threads()
    try:
        with single_threaded_blas():
            numba.set_num_threads(threads)
            yield threads
    finally:
        numba.set_num_threads(before)


def map_blocks(work: Callable[[int, int], None], n_rows: int, block: int) -> None:
    """Call ``work(start, stop)`` for fixed blocks of rows, in this thread's number of threads.

    The blocks do not depend on the number of threads, and each call owns the rows it writes.
    """
    import numba

    starts = range(0, n_rows, block)
    stops = [min(start + block, n_rows) for start in starts]
    threads = min(numba.get_num_threads(), len(starts))
    if threads <= 1:
        for start, stop in zip(starts, stops, strict=True):
            work(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        # list() so that an exception in a block reaches the caller.
        list(pool.map(work, starts, stops))


PAIRS = 2**14
"""Pairs of rows that are worked on together."""

PIECES = 64
"""Pieces that work is cut into, for any number of threads: none waits long for the last one."""


def block_rows(width: int) -> int:
    """Rows of some width that are worked on together: about four million entries, 32 MB."""
    return max(16, min(512, 2**22 // max(width, 1)))


def batches(n_rows: int, size: int) -> list[slice]:
    """Slices of so many rows, the last of what is left."""
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
