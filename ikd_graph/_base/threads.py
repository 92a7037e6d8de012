"""One context for the threads of Numba and BLAS together."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import threadpoolctl
from joblib import effective_n_jobs

from .validation import is_whole, optional, rule


class _Block:
    """A block that is being run, and the thread that runs it."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.before: list[tuple[Any, int]] = []  # numbers of threads that are set for this thread


# Entered again where a generator is collected, which leaves its block.
_guard = threading.RLock()
# Weak: a block that an interrupt kept from leaving is forgotten with its traceback.
_inside: WeakSet[_Block] = WeakSet()
_before: list[tuple[Any, int]] = []
# Looking for the libraries of a process takes as long as the fit of a hundred points: it is done
# again only after something was imported, which may have brought another BLAS.
# OpenMP has a setting for each thread (the BLAS of faiss), the others one for the process.
_shared: Any = None
_per_thread: Any = None
_n_modules = 0


@contextmanager
def single_threaded_blas(*others: Any) -> Iterator[None]:
    """Run a block with BLAS on one thread and the Numba threads that are in force.

    The setting belongs to the process, so overlapping blocks are counted: the first to enter sets
    it and the last to leave, often another thread, restores it. An interrupt at any moment leaves
    nothing that the end of the block, or the next one, does not restore. ``others`` are modules
    such as Numba, whose threads are one in the block as well.
    """
    block = _Block()
    try:
        block.before.extend((module, module.get_num_threads()) for module in others)
        _enter(block)
        yield
    finally:
        try:
            _leave(block)
        finally:
            # Again, where an interrupt ended it.
            _leave(block)


def _enter(block: _Block) -> None:
    """Set BLAS to one thread, having noted what it had."""
    global _n_modules
    with _guard:
        if not _inside:
            _restore(_before)
            if _n_modules != len(sys.modules):
                _find_libraries()
                _n_modules = len(sys.modules)
            _before.extend(_numbers_of(_shared))
        _inside.add(block)
        block.before.extend(_numbers_of(_per_thread))
        for library, _ in _before + block.before:
            library.set_num_threads(1)


def _leave(block: _Block) -> None:
    """Give BLAS back the threads it had, if no block is left; a second time does nothing."""
    with _guard:
        _restore(block.before)
        _inside.discard(block)
        if not _inside:
            _restore(_before)


def _numbers_of(libraries: Any) -> list[tuple[Any, int]]:
    return [(library, library.num_threads) for library in libraries.lib_controllers]


def _restore(before: list[tuple[Any, int]]) -> None:
    _release_control()
    for library, number in before:
        library.set_num_threads(number)
    before.clear()
    _release_control()


def _forked() -> None:
    """Forget the blocks of threads that a child does not have."""
    for block in list(_inside):
        if block.thread != threading.get_ident():
            _inside.discard(block)
    _guard.release()


if hasattr(os, "register_at_fork"):
    # A child has the lock as it was, and nobody to release it.
    os.register_at_fork(
        before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_forked
    )


def _find_libraries() -> None:
    global _shared, _per_thread
    blas = threadpoolctl.ThreadpoolController().select(user_api="blas")
    layers = {library.get("threading_layer") for library in blas.info()}
    _per_thread = blas.select(threading_layer="openmp")
    _shared = blas.select(threading_layer=list(layers - {"openmp"}))


def _release_control() -> None:
    """Let any thread set BLAS: newer versions of threadpoolctl ignore all but the first."""
    controller = getattr(threadpoolctl, "OpenBLASController", None)
    release = getattr(controller, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


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
    with single_threaded_blas(numba):
        numba.set_num_threads(threads)
        yield threads


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


def block_rows(width: int) -> int:
    """Rows of some width that are worked on together: about four million entries, 32 MB."""
    return max(16, min(512, 2**22 // max(width, 1)))
