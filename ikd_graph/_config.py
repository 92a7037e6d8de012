"""The only home of Numba decorators: one set of flags, one cache, one way to run in parallel."""

from __future__ import annotations

import functools
import gc
import hashlib
import logging
import os
import pickle
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile

CACHE_SWITCH = "IKD_GRAPH_NUMBA_CACHE"
"""Environment variable: ``0`` compiles afresh in every process and writes nothing to disk."""

# Nobody calls a kernel from C: that entry took a tenth of the time to compile.
_FLAGS: dict[str, Any] = {
    "nogil": True,
    "fastmath": False,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
# Parts of kernels are compiled in a way that is none of Numba's interface. It was tried with 0.61
# and 0.68; versions outside make machine code of the parts that nobody runs.
_PART_FLAGS: dict[str, Any] = {"no_cpython_wrapper": True}
_library_parts: Any = None
if (0, 61) <= numba.version_info.short <= (0, 68):
    from ._parts import LibraryParts, PartCompiler

    _PART_FLAGS = {"pipeline_class": PartCompiler}
    _library_parts = LibraryParts()
# Only explicit prange loops run in parallel: Numba's own rewriting of array expressions would sum
# across threads, and such a sum changes its bits with the number of threads.
_PRANGE_ONLY = {
    "prange": True,
    "comprehension": False,
    "reduction": False,
    "inplace_binop": False,
    "setitem": False,
    "numpy": False,
    "stencil": False,
    "fusion": False,
}
# Seconds of compiling after which a waiting user is told, once, and what.
_LONG = 1.0
_FIRST_TIME = (
    "compiling, once on this machine, about 10 to 25 s by strategy (ikd-graph warm does it ahead)"
)
_HOME_PROCESS = os.getpid()
# Numba's workqueue layer aborts the process when two Python threads enter it together.
_ONE_AT_A_TIME = threading.RLock()
_log = logging.getLogger(__name__)


class _Compiling(event.Listener):
    """Counts what is compiled of this package, and lets no garbage be collected meanwhile.

    The collector walked over all that the compiler holds, again and again: a tenth of the time.
    Numba compiles one function at a time, under a lock, those that it calls inside it.
    """

    def __init__(self) -> None:
        self.functions = 0
        self.kept = 0
        self.seconds = 0.0
        self._inside: list[bool] = []
        self._collected = False
        self._since = 0.0

    def on_start(self, event: Any) -> None:
        """Note the time, and stop the collector."""
        if not self._inside:
            self._since = time.perf_counter()
            self._collected = gc.isenabled()
        if _library_parts is not None:
            _library_parts.on_start(event.data["dispatcher"], any(self._inside))
        self._inside.append(_is_ours(event))
        if any(self._inside):
            gc.disable()

    def on_end(self, event: Any) -> None:
        """Add up, tell the first time that it takes long, and start the collector again."""
        self.functions += self._inside.pop()
        if _library_parts is not None:
            _library_parts.on_end()
        if self._inside:
            return
        if self._collected:
            gc.enable()
        if not _is_ours(event):
            return
        before, self.seconds = self.seconds, self.seconds + time.perf_counter() - self._since
        if before <= _LONG < self.seconds:
            _log.info(_FIRST_TIME)


def _is_ours(event: Any) -> bool:
    """Whether it is a function of this package that is compiled."""
    name = str(event.data["dispatcher"].py_func.__module__)
    return name.partition(".")[0] == __name__.partition(".")[0]


compiling = _Compiling()
"""What was compiled in this process: ``functions``, ``seconds``, those ``kept`` on disk."""

event.register("numba:compile", compiling)


@functools.cache
def source_stamp(folder: str) -> str:
    """Digest of every source file in a folder, so that an edit in any of them is seen.

    Numba stamps a cached function with its own file only and would go on serving code into which a
    callee of another file was inlined before that callee was edited. The flags are of this file.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes())
    digest.update(Path(__file__).with_name("_parts.py").read_bytes())
    for path in sorted(Path(folder).glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _SealedFile(IndexDataCacheFile):
    """Numba's files of compiled code, each with a digest: damaged code would run, and crash.

    The digest covers what the code was made from, so that a file left by an older version is not
    taken for its successor either. A damaged file is compiled and written anew.
    """

    def __init__(self, stamp: str, plain: IndexDataCacheFile) -> None:
        self.__dict__.update(plain.__dict__)
        self._source_stamp = stamp

    def _seal(self, name: str, data: bytes) -> bytes:
        made_from = f"{self._version} {self._source_stamp} {name} ".encode()
        return hashlib.sha256(made_from + data).digest()

    def _read(self, name: str) -> Any:
        whole = Path(self._data_path(name)).read_bytes()
        if whole[:32] != self._seal(name, whole[32:]):
            raise OSError(f"{name} is damaged, or of another version")
        return pickle.loads(whole[32:])

    def _write(self, name: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(self._seal(name, data) + data)

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(self._read(self._index_name))
        except OSError as error:
            _log.debug("compiled cache not read: %s", error)
            return {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_name, overloads)

    def _load_data(self, name: str) -> Any:
        return self._read(name)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(name, data)


class _FolderCache(FunctionCache):
    """Numba's on-disk cache, stamped with the whole folder and silent where it cannot write."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        folder = Path(py_func.__code__.co_filename).parent
        plain: IndexDataCacheFile = vars(self)["_cache_file"]
        self._cache_file = _SealedFile(source_stamp(str(folder)), plain)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled code of a signature, or None where the cache cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        # Whatever is wrong with what was kept, it can be compiled again.
        except Exception as error:
            _log.debug("compiled cache not read: %s", error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if the disk takes it."""
        try:
            super().save_overload(sig, data)
            compiling.kept += 1
        except OSError as error:
            _log.debug("compiled cache not written: %s", error)


def _with_cache(dispatcher: Any) -> Any:
    """Turn the cache of a dispatcher on, or leave it off where there is no place for one."""
    if os.environ.get(CACHE_SWITCH, "1") == "0" or not hasattr(dispatcher, "_cache"):
        return dispatcher
    try:
        dispatcher._cache = _FolderCache(dispatcher.py_func)
    except (RuntimeError, OSError, AttributeError) as error:
        _log.debug("no compiled cache for %s: %s", dispatcher.py_func.__name__, error)
    return dispatcher


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function without parallel loops (called from Python or from other kernels)."""
    return _with_cache(numba.njit(**_FLAGS)(function))


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only other kernels call: no way in from Python, no file of its own.

    The kernels that call it keep it in theirs. It makes no arrays, and none that it reads can go
    meanwhile: without counting who refers to them there is less to compile.
    """
    return numba.njit(_nrt=False, **_PART_FLAGS, **_FLAGS)(function)


def allocating(function: Callable[..., Any]) -> Any:
    """Compile as `inner` a function that makes arrays."""
    return numba.njit(_nrt=True, **_PART_FLAGS, **_FLAGS)(function)


class ParallelKernel:
    """A compiled kernel with a parallel and a serial body made from one source.

    The serial twin runs when one thread is asked for and in a forked child, where entering GNU
    OpenMP again would end the process. Both give the same bits: each iteration of a ``prange``
    writes its own rows only.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        # The cache names files by qualified name: the twins must not share one.
        twin = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__
        )
        twin.__qualname__ = function.__qualname__ + "_serial"
        twin.__module__ = function.__module__
        self.py_func = function
        self.serial = _with_cache(numba.njit(**_FLAGS)(twin))
        self.parallel = _with_cache(numba.njit(parallel=_PRANGE_ONLY, **_FLAGS)(function))
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        """Run with the number of threads that this Python thread has set."""
        if numba.get_num_threads() == 1 or os.getpid() != _HOME_PROCESS:
            return self.serial(*args)
        with _ONE_AT_A_TIME:
            return self.parallel(*args)


_KERNELS: list[ParallelKernel] = []


def pjit(function: Callable[..., Any]) -> ParallelKernel:
    """Compile a function whose ``prange`` loops run in parallel (called from Python only)."""
    _KERNELS.append(ParallelKernel(function))
    return _KERNELS[-1]


def compile_twins() -> None:
    """Compile for several threads what this process has called on one."""
    if numba.config.NUMBA_NUM_THREADS == 1:
        return
    for kernel in _KERNELS:
        for signature in kernel.serial.signatures:
            kernel.parallel.compile(signature)
