"""Tables of text and cells: .csv, .tsv and .txt (also packed), .xlsx and .parquet, by pandas."""

import csv
import gzip
import io
import itertools
import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from .._base.format import listed, setting
from ._table import (
    IDS,
    SEPARATORS,
    Reading,
    Table,
    as_number,
    ends_of,
    is_word,
    names_rows,
    position_of,
    unique_names,
)

_SAMPLE = 50
"""Rows that show the separator and the names."""


def read_text(path: Path, reading: Reading) -> Table:
    """Read a table whose cells stand between commas, semicolons, tabs, bars or blanks."""
    return _parsed(path.name, _decoded(path), reading)


def _parsed(file: str, text: str, reading: Reading) -> Table:
    """Return the table that a text holds; ``file`` is its name for messages."""
    lines = [line for line in enumerate(io.StringIO(text), 1) if line[1].strip()]
    start = next((at for at, line in enumerate(lines) if line[1][0] != "#"), len(lines))
    if not lines[start:]:
        raise ValueError(f"{file} must hold at least one row of numbers, got blank lines only")
    numbers, texts = zip(*lines[: start + _SAMPLE], strict=True)
    sep = _separator(texts[start:], reading)
    rows = [_split([text.lstrip("#")], sep)[0] for text in texts[:start]]
    rows += _split(texts[start:], sep)
    widest = max(map(len, rows[start:]))
    if rows[start][0] == str(len(lines) - start - 1) and len(rows[start]) < min(3, widest):
        # PHYLIP begins with the number of rows, word vectors with those of rows and columns.
        start += 1
    at = find_names(rows, numbers, start, reading, file)
    first = max(at + 1, start)
    body, above = rows[first:], numbers[first] - 1
    names = _widened(rows[at], body) if at >= 0 else []
    shown = names or [*map(str, range(len(body[0])))]
    index = None if reading.index is None else position_of(shown, reading.index)
    # What names rows is kept letter by letter.
    named = names_rows(shown[0], [row[0] for row in body])
    as_text = {index, 0 if named else index, *ends_of(shown, bool(reading.edges))} - {None}
    # From the third version on nothing else is read but the nearest number.
    exact: Any = {"float_precision": "round_trip"} if pandas.__version__ < "3" else {}
    frame = pandas.read_csv(
        io.StringIO(text), header=None, names=range(len(shown)), skiprows=above,
        sep=r"\s+" if sep == " " else sep, decimal=reading.decimal, skipinitialspace=True,
        low_memory=False, converters=dict.fromkeys(as_text, _as_bytes),
        **exact,
    )  # fmt: skip
    for column in as_text:
        frame[column] = frame[column].map(bytes.decode)
    frame.index += above + 1
    return _from_cells(file, frame, names, numbers[max(at, 0)])


def _as_bytes(cell: str) -> bytes:
    """Return a cell as bytes, in which pandas looks for no missing value."""
    return cell.strip().encode()


def _from_cells(file: str, cells: pandas.DataFrame, names: list[str], line: int) -> Table:
    """Return the table of cells without the columns that have neither a name nor a cell."""
    kept = cells.notna().any().to_numpy() | np.array([bool(name) for name in names] or True)
    frame = cells.loc[:, kept]
    if not names:
        return Table(file, frame.set_axis(pandas.RangeIndex(frame.shape[1]), axis=1))
    unique = unique_names([name for name, keep in zip(names, kept, strict=True) if keep])
    shown = f"line {line} ({', '.join(unique[:3])}{', ...' * (len(unique) > 3)})"
    return Table(file, frame.set_axis(pandas.Index(unique), axis=1), header=shown)


def _decoded(path: Path) -> str:
    """Return the text of a file, unpacked."""
    data = path.read_bytes()
    if path.suffix.lower() == ".gz":
        data = gzip.decompress(data)
    marked = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} must be text in UTF-8, got {error}; save it again in that encoding"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(lines: Sequence[str], sep: str) -> list[list[str]]:
    """Return the cells of lines."""
    own = map(str.strip, lines) if sep == " " else lines
    rows = csv.reader(own, delimiter=sep, skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in rows]


def _separator(lines: Sequence[str], reading: Reading) -> str:
    """Return the separator asked for, or the sign that most lines have; else a blank."""
    if reading.sep is not None:
        return SEPARATORS.get(reading.sep, reading.sep)
    # A comma between cells that have decimal commas is told by quotes around these.
    quoted = reading.decimal == "." or any('"' in line for line in lines)
    signs = "\t;|," if quoted else "\t;|"
    best = max(signs, key=lambda sign: sum(sign in line for line in lines))
    return best if 2 * sum(best in line for line in lines) >= len(lines) else " "


def find_names(
    rows: Sequence[Sequence[str]], numbers: Sequence[int], start: int, reading: Reading, file: str
) -> int:
    """Return the position of the row with the names of the columns, -1 if there is none.

    Parameters
    ----------
    rows : sequence of sequences of str
        First rows of a file, blank ones left out.
    numbers : sequence of int
        Their numbers in the file.
    start : int
        Position of the first row of the table; those above stand behind #.
    reading : Reading
        ``header`` is what was asked for.
    file : str
        Name of the file, for messages.

    Raises
    ------
    ValueError
        If no row is below the names.
    """
    if reading.header not in (None, "none"):
        if int(reading.header) not in numbers[:-1]:
            raise ValueError(
                f"header must be the number of a line of {file} with a table below it, got "
                f"{reading.header}; the first lines with cells are {listed(numbers)}"
            )
        return numbers.index(int(reading.header))
    table = rows[start:]
    # Of words alone the first row is an edge, too, if its names come again.
    again = reading.edges and {*table[0]} & {*itertools.chain(*table[1:])}
    if reading.header is None and not again and _are_names(table[0], table[1:]):
        if len(table) == 1:
            raise ValueError(f"{file} must hold at least one row of numbers, got a header only")
        return start
    behind = range(start if reading.header is None else 0)
    fits = [at for at in behind if len(rows[at]) == len(table[0]) and _are_names(rows[at], table)]
    return max(fits, default=-1)


def _has_corner(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a first row names columns, since its first cell is no name of a row as those below.

    Above words stands a number or a blank; above whole numbers that differ a word or a blank, or
    they name rows and columns of decimals alike; sample_id, index and the like stand above all.
    Without names of rows 0, 1, ... are names after a blank.
    """
    corner, rest, ids = first[0], first[1:], [row[0] for row in below]
    if not ids or not rest or not all(rest) or len({*rest}) < len(rest):
        return False
    if corner and IDS.fullmatch(corner):
        return True
    if all(map(is_word, ids)):
        return not corner or bool(np.isfinite(as_number(corner)))
    if not all(map(str.isdecimal, ids)) or len({*ids}) < len(ids):
        return not corner and [*rest] == [str(at) for at in range(len(rest))]
    alike = all(name == each for name, each in zip(rest, ids, strict=False))
    decimals = any("." in cell for row in below for cell in row[1:])
    return not corner or is_word(corner) or (alike and decimals)


def _are_names(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a first row names columns: words above most numbers, or numbers that count up."""
    columns = list(itertools.zip_longest(*below, fillvalue=""))
    shift = len(columns) - len(first) == 1 and any(columns[-1])
    if _has_corner(["", *first] if shift else first, below):
        return True
    words = [2 * sum(map(is_word, column)) > sum(map(bool, column)) for column in columns[shift:]]
    numeric = [cell for cell, wordy in zip(first, words, strict=False) if not wordy]
    if not numeric:
        return all(map(is_word, filter(None, first)))
    if 2 * sum(map(is_word, numeric)) > len(numeric):
        return True
    return _count_up(first) and not (below and _count_up(below[0]))


def _count_up(row: Sequence[str]) -> bool:
    """Whether five or more whole numbers go up or down by one step."""
    values = np.array([as_number(cell) for cell in row if cell and not is_word(cell)])
    steps = {*np.diff(values).tolist()}
    return values.size > 4 and len(steps) == 1 and steps != {0.0} and not (values % 1).any()


def _widened(names: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Return names, with one for a column of row names, or for separators at the ends of lines."""
    own, width = list(names), len(body[0])
    if not is_word(own[0]) and _has_corner(own, body):
        own[0] = ""
    if width - len(own) == 1 and any(row[-1] for row in body if len(row) == width):
        own.insert(0, "")
    return own + [""] * (width - len(own))


def read_parquet(path: Path, reading: Reading) -> Table:
    """Read a .parquet table; its index names the rows."""
    frame = pandas.read_parquet(path)
    frame.columns = pandas.Index(unique_names([str(name) for name in frame.columns]))
    if not isinstance(frame.index, pandas.RangeIndex):
        frame.index = frame.index.map(str)
    return Table(path.name, frame, header="the names of the columns")


def read_sheet(path: Path, reading: Reading) -> Table:
    """Read the first sheet of an .xlsx file, or the one that was asked for."""
    with warnings.catch_warnings(), pandas.ExcelFile(path, engine="openpyxl") as book:
        # Of styles and extensions, which hold no values.
        warnings.simplefilter("ignore")
        sheets = [str(name) for name in book.sheet_names]
        if reading.sheet not in (None, *sheets):
            raise ValueError(
                f"sheet must name a sheet of {path.name}: {listed(sheets)}; got {reading.sheet!r}"
            )
        chosen = reading.sheet or sheets[0]
        cells = book.parse(chosen, header=None, dtype=object).dropna(axis=1, how="all")
    where = f"sheet {chosen!r} of {path.name} ({setting('sheet')} names one of {listed(sheets)})"
    # Blank rows are blank lines.
    text = re.sub("^,+$", "", cells.to_csv(header=False, index=False), flags=re.MULTILINE)
    table = _parsed(where, text, replace(reading, sep=","))
    table.file = path.name
    table.header += f" of sheet {chosen!r} (of {len(sheets)}: {listed(sheets)})"
    return table
