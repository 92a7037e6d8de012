"""A table of text cells (.csv, .tsv, a sheet): its header, its columns, and what cannot be read."""

from __future__ import annotations

import csv
import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ._choice import INDEX_NAMES, LABEL_NAMES, cures, looks_like_date
from ._reading import Floats, Problem, TableError
from ._record import MISSING

_SAMPLE = 200

Rows = Callable[[], Iterator[list[str]]]
"""Gives the cells of each row, from the first, as often as it is called."""


def read_cells(path: Path, transpose: bool = False) -> CellSource:
    """Read a .csv or .tsv table, with or without header, cells separated by tabs, "," or ";"."""
    try:
        delimiter = _delimiter(path)
        if transpose:
            return CellSource(path.name, exchanged(path.name, list(_rows(path, delimiter))))
        return CellSource(
            path.name, lambda: _rows(path, delimiter), lambda: _lines(path), delimiter
        )
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} must be text in UTF-8, got {error}; save it again in that encoding"
        ) from None
    except csv.Error as error:
        raise ValueError(
            f"{path.name} must be a plain table of numbers, got {error}; save it again without "
            "quotes in it"
        ) from None


class CellSource:
    """A table of text cells; see `_reading.Source`.

    Parameters
    ----------
    file : str
        Name of the file.
    rows : callable
        Gives the cells of each row.
    lines : callable or None
        Gives the lines of the file, for the fast reader of numbers.
    delimiter : str
        What separates the cells of a line.
    """

    def __init__(
        self,
        file: str,
        rows: Rows,
        lines: Callable[[], Iterator[str]] | None = None,
        delimiter: str = ",",
    ) -> None:
        self.file, self._rows, self._lines, self._delimiter = file, rows, lines, delimiter
        sample = list(itertools.islice(rows(), _SAMPLE))
        if not sample:
            raise ValueError(f"{file} must hold at least one row of numbers, got blank lines only")
        self.named = _has_header(sample)
        first = [cell.strip() for cell in sample[0]]
        self.names = first if self.named else [str(c) for c in range(len(first))]
        self.header = f"line 1 ({', '.join(first[:3])}{', ...' * (len(first) > 3)})"
        if not self.named:
            self.header = "none"
        self.beside: set[int] = set()
        body = sample[1:] if self.named else sample
        if not body:
            raise ValueError(f"{file} must hold at least one row of numbers, got a header only")
        self._ragged: list[tuple[int, int]] = []
        self._read_once(body)
        self._first = sample[0]

    def _read_once(self, body: list[list[str]]) -> None:
        """Count rows, note rows of another length, and tell columns of words."""
        width, number = len(self.names), 0
        for number, cells in enumerate(self._rows(), start=1):
            if len(cells) != width:
                self._ragged.append((number, len(cells)))
        self.n_rows = number - self.named
        self.words = {c for c in range(width) if _is_words(body, c)}
        self._known: tuple[list[int], Floats] | None = None
        rest = [c for c in range(width) if c not in self.words]
        if self._ragged or not rest or len(body) + self.named == number:
            return
        X = self._fast(rest)
        if X is not None:
            self._known = rest, X
            return
        # Words may begin far down (stages 1, 2, 4, ..., then "32 TE"): look at every row. A few odd
        # cells among numbers are mistakes.
        odd = dict.fromkeys(rest, 0)
        for cells in self._body():
            for c in rest:
                odd[c] += not (_is_number(cells[c]) or _is_missing(cells[c]))
        self.words |= {c for c in rest if odd[c] > self.n_rows / 2}

    def line_of(self, row: int) -> int:
        """Number of a row as it is counted in the file, from 1 with the header."""
        return row + 1 + self.named

    def values(self, at: int) -> NDArray[np.str_]:
        """Cells of one column."""
        self._check_ragged()
        return np.array([cells[at].strip() for cells in self._body()], dtype=np.str_)

    def numbers(self, keep: list[int]) -> tuple[Floats, list[Problem]]:
        """Columns as numbers, and a sentence for each column that has something else."""
        self._check_ragged()
        X, problems = self._read_numbers(keep)
        if not self.named and self.n_rows > 1 and not problems:
            _warn_numbered(self._first, self.file)
        return X, problems

    def _read_numbers(self, keep: list[int]) -> tuple[Floats, list[Problem]]:
        """Columns as numbers, the fastest way that works."""
        if self._known is not None and set(keep) <= set(self._known[0]):
            places = [self._known[0].index(c) for c in keep]
            return np.ascontiguousarray(self._known[1][:, places]), []
        X = self._fast(keep)
        return (X, []) if X is not None else self._slow(keep)

    def _body(self) -> Iterator[list[str]]:
        """Cells of each row below the header."""
        return itertools.islice(self._rows(), int(self.named), None)

    def _fast(self, keep: list[int]) -> Floats | None:
        """Numbers by NumPy's reader; None if it meets anything else."""
        if self._lines is None:
            return None
        lines = (line for line in self._lines() if line.strip(" \t\r\n,;"))
        try:
            X = np.loadtxt(
                itertools.islice(lines, int(self.named), None), delimiter=self._delimiter,
                usecols=keep, ndmin=2, comments=None, quotechar='"',
            )  # fmt: skip
        except ValueError:
            return None
        if len(X) != self.n_rows:
            raise ValueError(
                f"{self.file} must be a plain table of numbers, got {self.n_rows} rows of cells "
                f"and {len(X)} of numbers; save it again without quotes, blank or empty rows"
            )
        return X

    def _slow(self, keep: list[int]) -> tuple[Floats, list[Problem]]:
        """Numbers cell by cell, NaN where missing; for columns with other cells what those are."""
        X = np.full((self.n_rows, len(keep)), np.nan)
        wrong: dict[int, list[tuple[int, str]]] = {}
        for row, cells in enumerate(self._body()):
            for k, c in enumerate(keep):
                if _is_number(cells[c]):
                    X[row, k] = float(cells[c])
                elif not _is_missing(cells[c]):
                    wrong.setdefault(c, []).append((row, cells[c].strip()))
        for c in wrong:
            # What is wrong with the column is said once.
            X[:, keep.index(c)] = 0.0
        return X, [self._say_wrong(c, found) for c, found in wrong.items()]

    def _say_wrong(self, column: int, found: list[tuple[int, str]]) -> Problem:
        """What to say of a column with cells that are no numbers."""
        row, cell = found[0]
        kind = "dates" if looks_like_date(cell) else "not numbers"
        name, few = self.names[column], len(found) < self.n_rows / 2
        hint = f"correct {'it' if len(found) == 1 else 'them'} or " if few else ""
        return Problem(
            f"column {name!r} of {self.file} must hold numbers only, got {cell!r} in row "
            f"{self.line_of(row)} ({len(found)} of {self.n_rows} cells are {kind}); "
            f"{hint}{cures(name, [text for _, text in found], few)}",
            drop=(name,),
        )

    def _check_ragged(self) -> None:
        """Raise if rows are not of one length: what is in which column is then not known."""
        if not self._ragged:
            return
        number, got = self._ragged[0]
        more = f" ({len(self._ragged)} such rows)" if len(self._ragged) > 1 else ""
        raise TableError(
            self.file,
            [
                Problem(
                    f"every row of {self.file} must have {len(self.names)} cells like the first, "
                    f"got {got} in row {number}{more}; look for a missing or an extra separator "
                    "there"
                )
            ],
        )


def exchanged(file: str, cells: list[list[str]]) -> Rows:
    """Columns of a table as rows."""
    widths = {len(row) for row in cells}
    if len(widths) > 1:
        raise ValueError(
            f"every row of {file} must have as many cells as the others for --transpose, got "
            f"{min(widths)} to {max(widths)}; look for a missing or an extra separator"
        )
    return lambda: map(list, zip(*cells, strict=True))


def _delimiter(path: Path) -> str:
    """Separator of cells: by file ending, and for .csv whichever the first line has more of."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    with path.open(encoding="utf-8-sig", newline="") as file:
        line = next((line for line in file if line.strip()), "")
    return max(",;\t", key=line.count)


def _lines(path: Path) -> Iterator[str]:
    """Lines of a text file."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from file


def _rows(path: Path, delimiter: str) -> Iterator[list[str]]:
    """Cells of each line that is not blank; rows of empty cells may only stand at the end."""
    empty = None
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        for cells in reader:
            # A quote that nothing closes swallows the lines after it.
            if any("\n" in cell or "\r" in cell for cell in cells):
                raise csv.Error(f"a line break within quotes before line {reader.line_num + 1}")
            if any(cell.strip() for cell in cells):
                if empty is not None:
                    raise csv.Error(f"empty cells only in line {empty}")
                yield cells
            elif len(cells) > 1 and empty is None:
                empty = reader.line_num


def _is_number(cell: str) -> bool:
    """Tell whether a cell reads as a number (nan and inf included)."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_missing(cell: str) -> bool:
    """Tell whether a cell stands for a number that is not known."""
    return cell.strip().lower() in MISSING


def _is_words(body: list[list[str]], column: int) -> bool:
    """Tell whether most filled cells of a column are not numbers."""
    cells = [row[column] for row in body if column < len(row) and not _is_missing(row[column])]
    return bool(cells) and sum(map(_is_number, cells)) < len(cells) / 2


def _has_header(sample: list[list[str]]) -> bool:
    """Tell a line of names: words above most numbers, all different words, or 0, 1, 2, ...

    A word or two above numbers, such as NA or 5%, are cells that cannot be read, in a row that must
    not be lost for a header.
    """
    first, body = [cell.strip() for cell in sample[0]], sample[1:]
    if first == [str(n) for n in range(len(first))] and len(first) > 1:
        return True
    if not body and all(_is_number(cell) for cell in first):
        return False
    if first[0].lower() in INDEX_NAMES and _counts_rows(body):
        return True
    for c, cell in enumerate(first):
        seen = {cells[c].strip() for cells in body if c < len(cells)}
        # One letter may be an answer, y or n.
        if len(cell) > 1 and cell.lower() in LABEL_NAMES and cell not in seen:
            return True
    numeric = [c for c in range(len(first)) if not _is_words(body, c)]
    named = [c for c in numeric if not _is_number(first[c]) and not _is_missing(first[c])]
    if len(named) > len(numeric) / 2:
        return True
    words = [cell for cell in first if not _is_number(cell)]
    return len(words) == len(first) and len(set(first)) == len(first)


def _counts_rows(body: list[list[str]]) -> bool:
    """Tell whether the first column numbers the rows, or names each of them by another word."""
    first = [cells[0].strip() for cells in body]
    if not first or not first[0].lstrip("-").isdecimal():
        return len(first) > 1 and len(set(first)) == len(first) and _is_words(body, 0)
    start = int(first[0])
    return first == [str(n) for n in range(start, start + len(first))]


def _warn_numbered(first: list[str], file: str) -> None:
    """Warn of a first row that may be a header of numbers, such as years."""
    cells = [cell.strip() for cell in first]
    cells = cells if cells[0].isdecimal() else cells[1:]
    if len(cells) < 3 or not all(cell.isdecimal() for cell in cells):
        return
    steps = {int(b) - int(a) for a, b in itertools.pairwise(cells)}
    if len(steps) == 1 and steps != {0}:
        warnings.warn(
            f"the first row of {file}, {', '.join(cells[:3])}, ..., is taken as a point; if "
            "it names the columns, put a letter before each number",
            UserWarning,
            stacklevel=2,
        )
