"""Tables of cells that have types: .parquet, and sheets of .xlsx."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._choice import cures, looks_like_date
from ._reading import Floats, Problem, Reading, listed
from .hdf import check_fits
from .tables import CellSource, exchanged

_SHEET_ERRORS = ("#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!")


class FrameSource:
    """A table whose columns have types already; see `_reading.Source`.

    Parameters
    ----------
    file : str
        Name of the file.
    frame : DataFrame
        Columns with names; an index that is not a count becomes the first column.
    """

    def __init__(self, file: str, frame: Any) -> None:
        if type(frame.index).__name__ != "RangeIndex":
            frame = frame.reset_index()
        self.file, self._frame = file, frame
        self.names = [str(name) for name in frame.columns]
        self.named, self.beside = True, set[int]()
        self.header = "the names of the columns"
        self.n_rows = len(frame)
        if not self.n_rows or not self.names:
            raise ValueError(
                f"{file} must hold at least one row of numbers, got shape {frame.shape}"
            )
        self.words = {c for c in range(len(self.names)) if frame.dtypes.iloc[c].kind not in "biuf"}
        self.words -= {c for c in self.words if _as_numbers(frame.iloc[:, c]) is not None}

    def values(self, at: int) -> NDArray[Any]:
        """Cells of one column; text where it is neither numbers nor whole."""
        column = self._frame.iloc[:, at]
        if column.dtype.kind in "biuf":
            return np.asarray(column)
        return np.array([_text(cell) for cell in column])

    def numbers(self, keep: list[int]) -> tuple[Floats, list[Problem]]:
        """Columns as numbers, and a sentence for each column that is something else."""
        X = np.zeros((self.n_rows, len(keep)))
        problems = []
        for k, c in enumerate(keep):
            numbers = _as_numbers(self._frame.iloc[:, c])
            if numbers is not None:
                X[:, k] = numbers
                continue
            cells = [str(cell) for cell in self.values(c).tolist() if str(cell)]
            kind = "dates" if looks_like_date(cells[0]) else str(self._frame.dtypes.iloc[c])
            problems.append(
                Problem(
                    f"column {self.names[c]!r} of {self.file} must hold numbers only, got "
                    f"{cells[0]!r} ({kind}); {cures(self.names[c], cells)}",
                    drop=(self.names[c],),
                )
            )
        return X, problems


def read_parquet(path: Path, reading: Reading) -> FrameSource | CellSource:
    """Read a .parquet table."""
    _reader(path, "pyarrow")
    frame = _reader(path, "pandas").read_parquet(path)
    if not reading.transpose:
        return FrameSource(path.name, frame)
    frame = frame if type(frame.index).__name__ == "RangeIndex" else frame.reset_index()
    cells = [[str(name) for name in frame.columns], *_texts(frame)]
    return CellSource(path.name, exchanged(path.name, cells))


def read_sheet(path: Path, reading: Reading) -> CellSource:
    """Read the first sheet of an .xlsx file, or the one that is the key."""
    book = _reader(path, "openpyxl").load_workbook(path, read_only=True, data_only=True)
    with closing(book):
        sheets = list(book.sheetnames)
        if reading.key is not None and reading.key not in sheets:
            raise ValueError(
                f"--key must name a sheet of {path.name}: {listed(sheets)}; got {reading.key!r}"
            )
        sheet = reading.key or sheets[0]
        cells = _filled(book[sheet], f"sheet {sheet!r} of {path.name}")
    if not cells:
        raise ValueError(
            f"sheet {sheet!r} of {path.name} must hold a table, got no cells; the file has "
            f"{listed(sheets)}: --key names another"
        )
    source = CellSource(path.name, exchanged(path.name, cells) if reading.transpose else cells)
    if len(sheets) > 1:
        source.header += f" of sheet {sheet!r} (of {len(sheets)}: {listed(sheets, 4)})"
    return source


def _filled(sheet: Any, name: str) -> list[list[str]]:
    """Rows of a sheet that are not blank, all as long as the longest."""
    # A sheet may say it is larger than it is, and one cell in its last corner makes it so.
    sheet.reset_dimensions()
    rows: list[list[str]] = []
    width = 0
    for values in sheet.iter_rows(values_only=True):
        cells = [_sheet_text(value) for value in values]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append(cells)
            width = max(width, len(cells))
            check_fits(name, (len(rows), width), "delete cells far from the table")
    return [cells + [""] * (width - len(cells)) for cells in rows]


def _sheet_text(cell: Any) -> str:
    """A cell of a sheet as text: every number is a float there, and an error is no value."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if isinstance(cell, str) and cell in _SHEET_ERRORS else _text(cell)


def _texts(frame: Any) -> Iterator[list[str]]:
    """Rows of a frame as text, empty where missing."""
    for row in frame.itertuples(index=False, name=None):
        yield [_text(cell) for cell in row]


def _text(cell: Any) -> str:
    """A cell as text, empty where missing (None, NaN, NaT, NA)."""
    text = str(cell)
    return "" if text in ("None", "nan", "NaT", "<NA>") else text


def _as_numbers(column: Any) -> Floats | None:
    """A column as numbers, NaN where missing; None if it holds anything else."""
    kind = column.dtype.kind
    if kind not in "biufO" or isinstance(getattr(column, "cat", None), type(column)):
        return None
    if kind == "O":
        cells = itertools.islice((cell for cell in column if cell is not None), 1)
        if any(isinstance(cell, (str, bytes)) or not np.isscalar(cell) for cell in cells):
            return None
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan), dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _reader(path: Path, package: str) -> Any:
    """A package that reads a kind of file."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(
            f"reading {path.name} needs the package {package}, which is not installed; "
            f"pip install {package}, or export the table as .csv"
        ) from None
