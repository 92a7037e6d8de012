"""Tables of Dask, which are larger than the memory of any one machine.

Workers write their blocks of rows into one file in a folder that all machines see; the fit reads
that file in blocks, as it reads any table on disk, so that its coordinates are those of one
machine. Neighbours are found cell by cell on the workers, each of which reads the rows it needs.
New rows are placed block by block, by a model that every worker reads once. All that is handed
over stands in files, so that a task of a worker that was lost is done again by another.

References
----------
M. Rocklin, Dask: parallel computation with blocked algorithms and task scheduling, SciPy 2015.
"""

from __future__ import annotations

import functools
import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._table import MappedTable

_ROWS = "rows.npy"

# Bytes from which an array has a file of its own, and ranges that are worked on before others.
_LARGE, _AT_ONCE = 2**20, 64


def gather(X: Any) -> NDArray[np.floating]:
    """Rows of a dask array in one file, which is deleted when nobody reads it any more.

    Parameters
    ----------
    X : dask array (n, p)
        Rows in blocks of which a worker can hold one or two.

    Returns
    -------
    (n, p) memmap of float32, or of float64
        The same rows; float32 stays float32.
    """
    import dask

    if X.ndim != 2 or np.isnan(X.shape[0]):
        raise ValueError(
            f"X must be a dask array of 2 dimensions of known lengths, got shape {X.shape}; "
            "X.compute_chunk_sizes() finds them"
        )
    folder = _scratch(float(X.shape[0]) * X.shape[1] * _kind(X.dtype).itemsize)
    path = str(folder / _ROWS)
    np.lib.format.open_memmap(path, "w+", _kind(X.dtype), X.shape)
    blocks = X.rechunk({1: -1}).to_delayed().ravel()
    starts = np.cumsum((0, *X.chunks[0]))[:-1].tolist()
    write = dask.delayed(_write, pure=False)
    tasks = [write(path, start, block) for start, block in zip(starts, blocks, strict=True)]
    _check_seen(dask.compute(*tasks), X.shape[0], folder)
    mapped = np.load(path, mmap_mode="r")
    weakref.finalize(mapped.base, shutil.rmtree, folder, ignore_errors=True)
    return mapped


def place(model: Any, X: Any, n_components: int, dtype: Any) -> Any:
    """Lazy coordinates of the rows of a dask array.

    Parameters
    ----------
    model : IKD
        What places rows, written once for all workers.
    X : dask array (n, p)
        Rows.
    n_components : int
        Number m of coordinates.
    dtype : dtype
        Type of the coordinates.

    Returns
    -------
    dask array (n, m)
        Nothing is placed before it is computed; block by block as X.
    """
    folder = _scratch(0.0)
    path = _hand_over(model, folder)
    whole = X.rechunk({1: -1})
    found = whole.map_blocks(
        functools.partial(_place, path),
        dtype=dtype,
        chunks=(whole.chunks[0], (n_components,)),
        meta=np.empty((0, 0), dtype),
    )
    weakref.finalize(model._model, shutil.rmtree, folder, ignore_errors=True)
    return found


def _kind(dtype: Any) -> np.dtype[Any]:
    """Type that rows are kept in."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def _scratch(needed: float) -> Path:
    """A new folder where Dask keeps what is temporary, which all machines have to see."""
    import dask

    home = dask.config.get("temporary-directory", None) or tempfile.gettempdir()
    free = shutil.disk_usage(home).free
    if needed > free:
        raise OSError(
            f"the rows of X must fit on the disk of {home}, got {needed * 1e-9:.1f} GB with "
            f"{free * 1e-9:.1f} GB free; dask.config.set({{'temporary-directory': folder}}) names "
            "another folder that all workers see"
        )
    return Path(tempfile.mkdtemp(prefix="ikd_graph-", dir=home))


def _write(path: str, start: int, rows: NDArray[Any]) -> int:
    """Write one block, and say how many rows of it are there; -1 where there is no such file."""
    if not os.path.isfile(path):
        return -1
    out = np.lib.format.open_memmap(path, "r+")
    out[start : start + len(rows)] = rows
    out.flush()
    return len(rows)


def _check_seen(written: tuple[int, ...], n: int, folder: Path) -> None:
    """Raise if a worker did not see the folder."""
    blind = sum(one < 0 for one in written)
    if blind:
        shutil.rmtree(folder, ignore_errors=True)
        raise OSError(
            f"all workers must see the folder {folder.parent}, got {blind} blocks that could not "
            "be written there; dask.config.set({'temporary-directory': folder}) names one on a "
            "disk that all machines share"
        )
    assert sum(written) == n


class Workers:
    """Carries out work on the rows of a table in the workers of Dask.

    Parameters
    ----------
    table : MappedTable
        Rows in a file that all of them see.
    """

    def __init__(self, table: MappedTable) -> None:
        self._home = Path(_file_of(table.array).filename).parent

    def __call__(
        self, work: Callable[[int, int], Any], ranges: list[tuple[int, int]]
    ) -> Iterator[Any]:
        """Results of ``work(start, stop)`` for every range, in their order."""
        import dask

        folder = Path(tempfile.mkdtemp(dir=self._home))
        path = _hand_over(work, folder)
        run = dask.delayed(_run, pure=False)
        try:
            # Some at a time: what they find goes through the memory of the scheduler.
            for first in range(0, len(ranges), _AT_ONCE):
                some = ranges[first : first + _AT_ONCE]
                yield from dask.compute(*(run(path, *one) for one in some))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _hand_over(what: Any, folder: Path) -> str:
    """Write an object for all workers; the name of the file."""
    path = str(folder / "object.pickle")
    with open(path, "wb") as file:
        _Pickler(file, folder).dump(what)
    return path


def _file_of(array: Any) -> Any:
    """The memmap that an array is a part of, or None."""
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    return array if isinstance(array, np.memmap) else None


class _Pickler(pickle.Pickler):
    """Pickles in which large arrays are names of files, which their readers map."""

    def __init__(self, file: Any, folder: Path) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._folder, self._count = folder, 0

    def reducer_override(self, obj: Any) -> Any:
        """How to make an object anew, see `pickle.Pickler`.

        Parameters
        ----------
        obj : object
            What is about to be pickled.

        Returns
        -------
        tuple or NotImplemented
            A function and its arguments, or what says that it is pickled as usual.
        """
        if isinstance(obj, MappedTable):
            whole = _file_of(obj.array)
            if whole is not None and whole.shape == obj.array.shape:
                return _mapped, (str(whole.filename), obj.order)
        elif type(obj) is np.ndarray and obj.nbytes > _LARGE and obj.dtype.kind in "biuf":
            path = str(self._folder / f"{self._count}.npy")
            self._count += 1
            np.save(path, obj)
            return np.load, (path, "r")
        return NotImplemented


def _mapped(path: str, order: NDArray[np.int64] | None) -> MappedTable:
    """A table on disk, by its name, of which a process keeps little."""
    table = MappedTable(np.load(path, mmap_mode="r"), order)
    table.sparing = True
    return table


@functools.lru_cache(maxsize=1)
def _received(path: str) -> Any:
    """What was handed over, read once in each worker."""
    with open(path, "rb") as file:
        return pickle.load(file)


def _place(path: str, rows: NDArray[Any]) -> NDArray[np.floating]:
    """Coordinates of one block."""
    found: NDArray[np.floating] = _received(path).transform(rows)
    return found


def _run(path: str, start: int, stop: int) -> Any:
    """Work on one range."""
    return _received(path)(start, stop)
