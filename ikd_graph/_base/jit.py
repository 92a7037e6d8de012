"""The only home of Numba decorators: one set of flags, one cache, one way to run in parallel."""

import functools
import hashlib
import logging
import os
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from .._version import __version__

CACHE_SWITCH = "IKD_GRAPH_NUMBA_CACHE"
"""Environment variable: ``0`` compiles afresh in every process and writes nothing to disk."""

_FLAGS: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy"}
_HOME_PROCESS = os.getpid()
# Numba's workqueue layer aborts the process when two Python threads enter it together.
_ONE_AT_A_TIME = threading.RLock()
_log = logging.getLogger(__name__)

cache_folders: set[str] = set()
"""Where compiled code of this process is stored; empty where no folder can be written."""


@functools.cache
def _discard_stale(cache_folder: str, source_folder: str) -> None:
    """Delete the indices of compiled code if any source file of a folder was edited.

    Numba compares a cached function with its own file only and would go on serving code into which
    a callee of another file was inlined before that callee was edited. An index of another version
    may name records that have moved since.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes() + __version__.encode())
    for path in sorted(Path(source_folder).glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    stamp = Path(cache_folder) / "sources.sha256"
    if stamp.is_file() and stamp.read_text() == digest.hexdigest():
        return
    for index in Path(cache_folder).glob("*.nbi"):
        index.unlink(missing_ok=True)
    stamp.write_text(digest.hexdigest())
    _log.info("compiling, once for this installation, 10 to 25 s (ikd-graph warm does it ahead)")


def _forgive_files(cache: Any) -> None:
    """Compile quietly where a file of a cache is damaged or cannot be written."""

    def forgiving(method: Callable[..., Any], mend: Callable[[], None]) -> Callable[..., Any]:
        def attempt(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except Exception as error:
                _log.debug("a file of %s was not used: %s", cache, error)
                mend()

        return attempt

    cache.load_overload = forgiving(cache.load_overload, cache.flush)
    # A full disk keeps nobody from computing.
    cache.save_overload = forgiving(cache.save_overload, lambda: None)


def jit(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function, with a cache on disk, or without one where no folder can be written.

    It has no parallel loops, and is called from Python or from other kernels.
    """
    if os.environ.get(CACHE_SWITCH, "1") != "0":
        try:
            compiled = numba.njit(cache=True, **_FLAGS, **options)(function)
            if hasattr(compiled, "stats"):  # not with NUMBA_DISABLE_JIT
                folder = compiled.stats.cache_path
                _discard_stale(folder, str(Path(function.__code__.co_filename).parent))
                cache_folders.add(folder)
                _forgive_files(compiled._cache)
            return compiled
        except (RuntimeError, OSError) as error:
            _log.debug("no compiled cache for %s: %s", function.__name__, error)
    return numba.njit(**_FLAGS, **options)(function)


def helper(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a function that kernels call, once for all of them; Python calls its ``py_func``.

    The wrappers that it has no need of would take a tenth of the time to compile.
    """
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(**_FLAGS, **options)(function)


# Where nothing is allocated, nobody has to count who holds an array. That would take half the time
# of functions with many arrays and few steps, and more.
_OPTIONS = getattr(getattr(numba.core, "options", None), "DefaultOptions", None)
_LEAN: dict[str, Any] = {"_nrt": False} if hasattr(_OPTIONS, "_nrt") else {}
lean_jit = functools.partial(jit, **_LEAN)
lean_helper = functools.partial(helper, **_LEAN)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function as a part of whatever kernel calls it: in the innermost loops."""
    return numba.njit(inline="always", **_FLAGS)(function)


class ParallelKernel:
    """A compiled kernel with a parallel and a serial body made from one source.

    The serial body runs when one thread is asked for and in a forked child, where entering GNU
    OpenMP again would end the process. Both give the same bits: each iteration of a ``prange``
    writes its own rows only.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        # The cache names files by qualified name: the reference implementations must not share one.
        reference = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__
        )
        reference.__qualname__ = function.__qualname__ + "_serial"
        reference.__module__ = function.__module__
        self.serial = jit(reference)
        self.parallel = jit(function, parallel=True)
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Run with the number of threads that this Python thread has set."""
        if numba.get_num_threads() == 1 or os.getpid() != _HOME_PROCESS:
            return self.serial(*args)
        with _ONE_AT_A_TIME:
            return self.parallel(*args)


pjit = ParallelKernel
"""Compile a function whose ``prange`` loops run in parallel (called from Python only)."""
