"""Arrays of MATLAB files of versions 5 to 7, read here: scipy's reader trusts what they say.

Format: MathWorks, "MAT-File Format" (R2024a), level 5. A file is a header and elements, each a tag
(what it is, how many bytes) and its data; an array is an element that holds elements.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .hdf import DENSE_LIMIT, check_fits, sparse_columns

_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
_NUMBERS |= {13: "u8"}
_LETTERS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_ARRAY, _PACKED = 14, 15
_CELL, _STRUCT, _CHAR, _SPARSE, _FIRST_NUMBER, _LAST_NUMBER = 1, 2, 4, 5, 6, 15
_DEEPEST = 50  # arrays within arrays: more than anybody keeps, less than Python can follow

Named = Iterator[tuple[str, NDArray[Any]]]


def read_elements(data: bytes) -> Named:
    """Every array of numbers or text in the bytes of a file, by name; fields as struct.field."""
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None or data[124:126] not in (b"\0\1", b"\1\0"):
        raise ValueError("its first 128 bytes are no header of version 5")
    parts = _Parts(data[128:], order)
    while parts.left:
        kind, inner = parts.element(padded=False)
        if kind == _PACKED:
            unpacker = zlib.decompressobj()
            inner = unpacker.decompress(inner, DENSE_LIMIT)
            if not unpacker.eof:
                raise ValueError("a packed variable is not whole")
            kind, inner = _Parts(inner, order).element(padded=False)
        if kind != _ARRAY:
            raise ValueError(f"a variable must be an array, got element type {kind}")
        # What has no name is MATLAB's own.
        yield from ((name, it) for name, it in _variable(_Parts(inner, order), None, 0) if name)


class _Parts:
    """Elements one after the other."""

    def __init__(self, data: bytes, order: str) -> None:
        self._data, self._at, self.order = memoryview(data), 0, order

    @property
    def left(self) -> bool:
        """Whether there is more."""
        return self._at < len(self._data)

    def _take(self, size: int) -> bytes:
        """The next bytes."""
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise ValueError("it ends in the middle of a variable")
        self._at += size
        return bytes(found)

    def element(self, padded: bool = True) -> tuple[int, bytes]:
        """Kind and data of the next element."""
        tag, *_ = struct.unpack(self.order + "I", self._take(4))
        if tag >> 16:
            # Up to four bytes stand in the tag itself.
            return tag & 0xFFFF, self._take(4)[: tag >> 16]
        size, *_ = struct.unpack(self.order + "I", self._take(4))
        data = self._take(size)
        if padded and self.left:
            self._take(-size % 8)
        return tag, data

    def numbers(self, count: int = -1) -> NDArray[Any]:
        """Numbers of the next element; as many bytes as ``count`` are truths, whatever they say."""
        kind, data = self.element()
        if len(data) == count:
            kind = 2
        if kind not in _NUMBERS:
            raise ValueError(f"numbers must be of a known type, got element type {kind}")
        dtype = np.dtype(self.order + _NUMBERS[kind])
        return np.frombuffer(data, dtype)

    def letters(self) -> str:
        """Text of the next element."""
        kind, data = self.element()
        if kind not in _LETTERS:
            raise ValueError(f"text must be of a known type, got element type {kind}")
        ends = {"<": "-le", ">": "-be"}[self.order] if kind in (4, 17, 18) else ""
        return data.decode(_LETTERS[kind] + ends, "replace")


def _variable(parts: _Parts, name: str | None, depth: int) -> Named:
    """The arrays of one variable, which may be a struct."""
    if depth > _DEEPEST:
        raise ValueError(f"arrays must lie within at most {_DEEPEST} others")
    if not parts.left:
        return
    flags = parts.numbers()
    kind, is_complex = int(flags[0]) & 0xFF, bool(int(flags[0]) & 0x800)
    if not _CELL <= kind <= _LAST_NUMBER:
        # Functions and objects of newer classes: nobody's table.
        return
    shape = tuple(int(n) for n in parts.numbers())
    own = parts.letters()
    name = own if name is None else name
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"{name} must have two dimensions or more, got {shape}")
    if kind == _STRUCT:
        yield from _fields(parts, name, shape, depth)
        return
    value: NDArray[Any] | None = None
    if kind == _CELL:
        value = _cells(parts, shape, depth)
    elif kind == _CHAR:
        value = _words(parts.letters(), shape)
    elif is_complex:
        value = None
    elif kind == _SPARSE:
        value = _sparse(parts, name, shape)
    elif kind >= _FIRST_NUMBER:
        value = parts.numbers()
        if value.size != np.prod(shape, dtype=np.float64):
            raise ValueError(f"{name} must have {shape} numbers, got {value.size}")
        value = value.reshape(shape, order="F").squeeze()
    if value is not None:
        yield name, value


def _fields(parts: _Parts, name: str, shape: tuple[int, ...], depth: int) -> Named:
    """Fields of a struct; a list of structs is no table."""
    width = int(parts.numbers()[0])
    names = parts.letters()
    if width < 1 or set(shape) != {1}:
        return
    for start in range(0, len(names), width):
        field = names[start : start + width].partition("\0")[0]
        yield from _variable(_within(parts), f"{name}.{field}", depth + 1)


def _within(parts: _Parts) -> _Parts:
    """Parts of the array that comes next."""
    kind, data = parts.element()
    if kind != _ARRAY:
        raise ValueError(f"a field or cell must be an array, got element type {kind}")
    return _Parts(data, parts.order)


def _cells(parts: _Parts, shape: tuple[int, ...], depth: int) -> NDArray[np.str_] | None:
    """Words in cells, None if any cell holds something else."""
    words = []
    for _ in range(int(np.prod(shape, dtype=np.float64))):
        found = [value for _, value in _variable(_within(parts), "", depth + 1)]
        if len(found) != 1 or found[0].dtype.kind != "U" or found[0].ndim:
            return None
        words.append(str(found[0]))
    return np.array(words, dtype=np.str_).reshape(shape, order="F").squeeze()


def _words(text: str, shape: tuple[int, ...]) -> NDArray[np.str_] | None:
    """Text of one row, or a word for each row; letters run down the rows."""
    rows, width = shape[0], len(text) // max(shape[0], 1)
    if len(shape) != 2 or rows * width != len(text):
        return None
    if rows <= 1:
        return np.array(text.strip("\0 "))
    return np.array([text[row::rows].strip("\0 ") for row in range(rows)])


def _sparse(parts: _Parts, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """A sparse array, unpacked."""
    check_fits(name, shape, "keep fewer columns")
    places, starts = parts.numbers(), parts.numbers()
    if starts.size != shape[1] + 1 or starts.dtype.kind not in "iu" or not starts[-1] >= 0:
        raise ValueError(f"{name} must have where each of {shape[1]} columns begins")
    # MATLAB leaves room behind the last entry.
    count = int(starts[-1])
    values = parts.numbers(count)
    return sparse_columns(name, values[:count], places[:count], starts, shape[0])
