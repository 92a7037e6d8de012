"""One context for the threads of Numba and BLAS together."""

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import threadpoolctl
from joblib import effective_n_jobs

_guard = threading.Lock()
_n_inside = 0
_limits: Any = None
# Looking for the libraries of a process takes as long as the fit of a hundred points: it is done
# again only after something was imported, which may have brought another BLAS.
# OpenMP has a setting for each thread (the BLAS of faiss), the others one for the process.
_shared: Any = None
_per_thread: Any = None
_n_modules = 0


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Run a block with BLAS on one thread and the Numba threads that are in force.

    The setting belongs to the process, so overlapping blocks are counted: the first to enter sets
    it and the last to leave, often another thread, restores it.
    """
    global _n_inside, _n_modules, _limits
    with _guard:
        if _n_inside == 0:
            _release_control()
            if _n_modules != len(sys.modules):
                _n_modules = len(sys.modules)
                _find_libraries()
            _limits = _shared.limit(limits=1)
        _n_inside += 1
        own = _per_thread.limit(limits=1)
    try:
        yield
    finally:
        with _guard:
            own.restore_original_limits()
            _n_inside -= 1
            if _n_inside == 0:
                _release_control()
                _limits.restore_original_limits()
                _release_control()


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


def check_jobs(n_jobs: Any) -> None:
    """Raise unless a number of threads is None or a whole number other than 0."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and n_jobs and abs(int(n_jobs)) < 2**15):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}; -1 is all cores"
        )


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

    check_jobs(n_jobs)
    threads = max(1, min(effective_n_jobs(n_jobs), numba.config.NUMBA_NUM_THREADS))
    before = numba.get_num_threads()
    with single_threaded_blas():
        numba.set_num_threads(threads)
        try:
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


def block_rows(width: int) -> int:
    """Rows of some width that are worked on together: about four million entries, 32 MB."""
    return max(16, min(512, 2**22 // max(width, 1)))
