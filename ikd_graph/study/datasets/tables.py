"""A table of text cells (.csv, .tsv, a sheet): its header, its columns, and what cannot be read."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..._warn import warn
from ._choice import INDEX_NAMES, LABEL_NAMES, cures, looks_like_date
from ._reading import Floats, Problem, TableError
from ._record import MISSING

_SAMPLE = 200


def read_cells(path: Path, transpose: bool = False) -> CellSource:
    """Read a .csv or .tsv table, with or without header, cells separated by tabs, "," or ";"."""
    try:
        cells = list(_rows(path))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} must be text in UTF-8, got {error}; save it again in that encoding"
        ) from None
    except csv.Error as error:
        raise ValueError(
            f"{path.name} must be a plain table of numbers, got {error}; save it again without "
            "quotes in it"
        ) from None
    return CellSource(path.name, exchanged(path.name, cells) if transpose else cells)


class CellSource:
    """A table of text cells; see `_reading.Source`.

    Parameters
    ----------
    file : str
        Name of the file.
    cells : list of list of str
        The cells of each row.
    """

    def __init__(self, file: str, cells: list[list[str]]) -> None:
        self.file = file
        if not cells:
            raise ValueError(f"{file} must hold at least one row of numbers, got blank lines only")
        self.named = _has_header(cells[:_SAMPLE])
        self._first = [cell.strip() for cell in cells[0]]
        width = len(self._first)
        self.names, self.header = [str(c) for c in range(width)], "none"
        if self.named:
            self.names = self._first
            self.header = f"line 1 ({', '.join(self.names[:3])}{', ...' * (width > 3)})"
        self.beside: set[int] = set()
        self._body = cells[1:] if self.named else cells
        self.n_rows = len(self._body)
        if not self.n_rows:
            raise ValueError(f"{file} must hold at least one row of numbers, got a header only")
        self._ragged = [(at, len(row)) for at, row in enumerate(cells, 1) if len(row) != width]
        self._parsed = [
            _parse([row[c] if c < len(row) else "" for row in self._body]) for c in range(width)
        ]
        # A few odd cells among numbers are mistakes.
        self.words = {c for c, (_, odd, filled) in enumerate(self._parsed) if len(odd) > filled / 2}

    def line_of(self, row: int) -> int:
        """Number of a row as it is counted in the file, from 1 with the header."""
        return row + 1 + self.named

    def values(self, at: int) -> NDArray[np.str_]:
        """Cells of one column."""
        self._check_ragged()
        return np.array([row[at].strip() for row in self._body], dtype=np.str_)

    def numbers(self, keep: list[int]) -> tuple[Floats, list[Problem]]:
        """Columns as numbers, and a sentence for each column that has something else."""
        self._check_ragged()
        X = np.empty((self.n_rows, len(keep)))
        problems = []
        for k, c in enumerate(keep):
            X[:, k], odd, _ = self._parsed[c]
            if odd:
                # What is wrong with the column is said once.
                X[:, k] = 0.0
                problems.append(self._say_wrong(c, odd))
        if not self.named and self.n_rows > 1 and not problems:
            _warn_numbered(self._first, self.file)
        return X, problems

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


def exchanged(file: str, cells: list[list[str]]) -> list[list[str]]:
    """Columns of a table as rows."""
    widths = {len(row) for row in cells}
    if len(widths) > 1:
        raise ValueError(
            f"every row of {file} must have as many cells as the others for --transpose, got "
            f"{min(widths)} to {max(widths)}; look for a missing or an extra separator"
        )
    return [list(column) for column in zip(*cells, strict=True)]


def _rows(path: Path) -> Iterator[list[str]]:
    """Cells of each line that is not blank; rows of empty cells may only stand at the end."""
    empty = None
    with path.open(encoding="utf-8-sig", newline="") as file:
        delimiter = "\t"
        if path.suffix.lower() != ".tsv":
            # Whichever the first line has more of.
            first = next((line for line in file if line.strip()), "")
            delimiter = max(",;\t", key=first.count)
            file.seek(0)
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


def _parse(cells: list[str]) -> tuple[Floats, list[tuple[int, str]], int]:
    """A column as numbers, NaN for the rest; cells that are none; and how many are filled."""
    try:
        return np.array(cells, dtype=np.str_).astype(np.float64), [], len(cells)
    except ValueError:
        pass
    values, odd, filled = np.full(len(cells), np.nan), [], 0
    for row, cell in enumerate(cells):
        if _is_missing(cell):
            continue
        filled += 1
        if _is_number(cell):
            values[row] = float(cell)
        else:
            odd.append((row, cell.strip()))
    return values, odd, filled


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
        warn(
            f"the first row of {file}, {', '.join(cells[:3])}, ..., is taken as a point; if "
            "it names the columns, put a letter before each number"
        )
