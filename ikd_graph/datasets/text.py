"""Tables of text (.csv, .tsv, .txt; also as .gz or .zip), sheets (.xlsx) and frames (.parquet)."""

import csv
import gzip
import io
import itertools
import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.dataset import MISSING
from ._reading import SEPARATORS, Reading, listed, memory, package
from ._table import (
    INDEX_NAMES,
    LABEL_NAMES,
    Table,
    are_words,
    as_number,
    is_word,
    position_of,
    unique_names,
)

_SAMPLE = 50
"""Rows that show the separator and the names."""

_MOST_CELLS = 10_000_000
"""Cells that a sheet may have: more take minutes, and come of a cell far away from the table."""


def read_text(path: Path, reading: Reading) -> Table:
    """Read a table whose cells stand between commas, semicolons, tabs, bars or blanks."""
    package("pandas", path.name)
    text = _decoded(path)
    lines = enumerate(io.StringIO(text), 1)
    begun = itertools.dropwhile(lambda line: line[1][0] == "#" or not line[1].strip(), lines)
    sample = [(number, line) for number, line in begun if line.strip()][:_SAMPLE]
    if not sample:
        raise ValueError(f"{path.name} must hold at least one row of numbers, got blank lines only")
    numbers = [number for number, _ in sample]
    sep = _separator([line for _, line in sample], reading)
    rows = _split([line for _, line in sample], sep)
    at = find_names(rows, numbers, reading, path.name)
    body, above = rows[at + 1 :], numbers[at + 1] - 1
    names = _widened(rows[at], body) if at >= 0 else []
    shown = names or [*map(str, range(len(body[0])))]
    index = None if reading.index is None else position_of(shown, reading.index)
    # What names rows is kept letter by letter.
    named = shown[0].lower() in INDEX_NAMES or are_words([row[0] for row in body])
    frame = _read_csv(
        path.name,
        text[sum(map(len, itertools.islice(io.StringIO(text), above))) :],
        above,
        sep=r"\s+" if sep == " " else sep,
        names=range(len(shown)),
        decimal=reading.decimal,
        converters=dict.fromkeys(({index} - {None}) | ({0} if named else set()), str.strip),
    )
    columns = [_cells(column) for _, column in frame.items()]
    return _from_rows(path.name, columns, names, numbers[max(at, 0)], above + 1)


def _read_csv(file: str, text: str, above: int, **options: Any) -> Any:
    """Return rows of text below so many lines as a frame."""
    pandas = package("pandas", file)
    words = [form for word in MISSING for form in (word, word.upper(), word.capitalize())]
    words.append("NaN")
    unknown = {at: words for at in options["names"] if at not in options["converters"]}
    # From the third version on nothing else is read but the nearest number.
    if pandas.__version__ < "3":
        options["float_precision"] = "round_trip"
    try:
        frame = pandas.read_csv(
            io.StringIO(text), header=None, na_values=unknown, keep_default_na=False,
            skipinitialspace=True, low_memory=False, **options,
        )  # fmt: skip
    except pandas.errors.ParserError as error:
        if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error)):
            row = int(found[2]) + above
            raise ValueError(
                f"every row of {file} must have {found[1]} cells like the first, got {found[3]} in "
                f"row {row}; look for an extra separator there, --header {row} begins with that "
                "row where titles stand above, --sep names another separator"
            ) from None
        n_rows = 0
    else:
        n_rows = len(frame)
    n_lines = sum(1 for line in io.StringIO(text) if line.strip(" \n"))
    if n_rows != n_lines:
        raise ValueError(
            f"every row of {file} must be one line, got {n_rows} rows in {n_lines} lines; look for "
            "a quote that nothing closes"
        )
    return frame


def _from_rows(
    file: str, columns: list[NDArray[Any]], names: Sequence[str], line: int, first: int, **more: Any
) -> Table:
    """Table of columns without those that have neither a name nor a cell."""
    empty = [not any(map(_is_filled, column.tolist())) for column in columns]
    kept = [c for c in range(len(columns)) if not (empty[c] and names and not names[c])]
    if not kept:
        raise ValueError(f"{file} must hold at least one row of numbers, got blank cells only")
    named = unique_names([names[c] for c in kept]) if names else ()
    shown = f"line {line} ({', '.join(named[:3])}{', ...' * (len(named) > 3)})"
    return Table(
        file, [columns[c] for c in kept], named, header=shown if named else "none",
        first_row=first, **more,
    )  # fmt: skip


def _is_filled(cell: Any) -> bool:
    """Whether a cell holds something: neither None, nor NaN, nor blank text."""
    return cell is not None and cell == cell and cell != ""


def _decoded(path: Path) -> str:
    """Text of a file, unpacked."""
    limit = memory()
    # A buffer of the limit would be allocated at once.
    pieces, size = [], 0
    with _opened(path) as file:
        while size <= limit and (piece := file.read(1 << 20)):
            pieces.append(piece)
            size += len(piece)
    if size > limit:
        raise ValueError(f"{path.name} must unpack to less than {limit / 2**30:.1f} GiB")
    data = b"".join(pieces)
    marked = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    try:
        text = data.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError as error:
        text, found = "\0", str(error)
    else:
        found = "zero bytes"
    if "\0" in text[:4096]:
        raise ValueError(
            f"{path.name} must be text in UTF-8, got {found}; save it again in that encoding"
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _opened(path: Path) -> Any:
    """Return a file of text, unpacked as it is read."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rb")
    if path.suffix.lower() != ".zip":
        return path.open("rb")
    archive = zipfile.ZipFile(path)
    members = [member for member in archive.infolist() if not member.is_dir()]
    if len(members) != 1:
        raise ValueError(f"{path.name} must hold one table, got {len(members)}; unpack it first")
    return archive.open(members[0])


def _split(lines: Sequence[str], sep: str) -> list[list[str]]:
    """Cells of lines."""
    own = map(str.strip, lines) if sep == " " else lines
    rows = csv.reader(own, delimiter=sep, skipinitialspace=True)
    return [[cell.strip() for cell in row] for row in rows]


def _separator(lines: Sequence[str], reading: Reading) -> str:
    """Return the separator asked for, or the one that cuts most lines into as many cells."""
    if reading.sep is not None:
        return SEPARATORS.get(reading.sep, reading.sep)

    def agreement(sep: str) -> int:
        widths: Counter[int] = Counter()
        # A line that nothing cuts may be longer than a cell.
        with suppress(csv.Error):
            widths.update(map(len, _split(lines, sep)))
        del widths[1]
        return max(widths.values(), default=0)

    # A comma between cells that have decimal commas is told by quotes around these.
    quoted = reading.decimal == "." or any('"' in line for line in lines)
    best = max("\t;|," if quoted else "\t;|", key=agreement)
    return best if 2 * agreement(best) >= len(lines) or agreement(" ") == 0 else " "


def find_names(
    rows: Sequence[Sequence[str]], numbers: Sequence[int], reading: Reading, file: str
) -> int:
    """Return the position of the row with the names of the columns, -1 if there is none.

    Parameters
    ----------
    rows : sequence of sequences of str
        First rows of a file, blank ones left out.
    numbers : sequence of int
        Their numbers in the file.
    reading : Reading
        ``header`` is what was asked for.
    file : str
        Name of the file, for messages.

    Raises
    ------
    ValueError
        If no table is below the line that was asked for, or the first line is a title.
    """
    if reading.header not in (None, "none"):
        if int(reading.header) not in numbers[:-1]:
            raise ValueError(
                f"--header must be the number of a line of {file} with a table below it, got "
                f"{reading.header}; the first lines with cells are {listed(numbers, 6)}"
            )
        return numbers.index(int(reading.header))
    filled = [sum(map(bool, row)) for row in rows]
    usual = sorted(filled)[len(filled) // 2]
    if 2 * filled[0] < usual and all(is_word(cell) for cell in rows[0] if cell):
        names = next(at for at, count in enumerate(filled) if 2 * count >= usual)
        raise ValueError(
            f"line {numbers[0]} of {file} must have as many cells as those below it ({usual}), got "
            f"{filled[0]}; --header {numbers[names]} takes line {numbers[names]} for the names and "
            "leaves out what is above"
        )
    if reading.header == "none" or not _are_names(rows[0], rows[1:]):
        return -1
    if len(rows) == 1:
        raise ValueError(f"{file} must hold at least one row of numbers, got a header only")
    return 0


def _are_names(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a first row names columns: words above most numbers, or numbers that count up."""
    columns = list(itertools.zip_longest(*below, fillvalue=""))
    shift = len(columns) - len(first) == 1 and any(columns[-1])
    words = [2 * sum(map(is_word, column)) > sum(map(bool, column)) for column in columns[shift:]]
    numeric = [cell for cell, wordy in zip(first, words, strict=False) if not wordy]
    if not numeric:
        return all(map(is_word, filter(None, first)))
    usual = {cell.lower() for cell in first if len(cell) > 1} & {*LABEL_NAMES}
    if usual or 2 * sum(map(is_word, numeric)) > len(numeric):
        return True
    return _count_up(first) and not (below and _count_up(below[0]))


def _count_up(row: Sequence[str]) -> bool:
    """Whether numbers go up or down by one whole step: five or more, or 0, 1, ... after a blank."""
    values = np.array([as_number(cell) for cell in row if cell and not is_word(cell)])
    steps = np.diff(values)
    if not steps.size or not steps[0] or np.any(steps != steps[0]) or steps[0] % 1 or values[0] % 1:
        return False
    return steps.size > 3 or bool(not row[0] and values[0] == 0 and steps[0] == 1)


def _widened(names: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Names, with one for a column of row names, or for separators at the ends of lines."""
    own, width = list(names), len(body[0])
    if width - len(own) == 1 and any(row[-1] for row in body if len(row) == width):
        own.insert(0, "")
    return own + [""] * (width - len(own))


def _cells(column: Any) -> NDArray[Any]:
    """Return a column as numbers if its type says so, else as cells, None where missing."""
    if column.dtype.kind in "biuf" and type(column.array).__name__ != "Categorical":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(column.astype(object).where(column.notna(), None).to_numpy(object))


def read_parquet(path: Path, reading: Reading) -> Table:
    """Read a .parquet table; its index names the rows."""
    package("pyarrow", path.name)
    frame = package("pandas", path.name).read_parquet(path)
    if not frame.size:
        raise ValueError(
            f"{path.name} must hold at least one row of numbers, got shape {frame.shape}"
        )
    names = [str(name) for name in frame.columns]
    columns = [_cells(column) for _, column in frame.items()]
    for name, column in zip(names, columns, strict=True):
        if column.dtype == object and any(np.ndim(cell) for cell in column):
            raise ValueError(
                f"column {name!r} of {path.name} must hold one number a cell, got vectors; "
                f"numpy.save('x.npy', numpy.vstack(frame[{name!r}])) writes them as a table"
            )
    counted = type(frame.index).__name__ == "RangeIndex"
    return Table(
        path.name,
        columns,
        names=unique_names(names),
        row_names=() if counted else tuple(map(str, frame.index)),
        row_title="" if counted else str(frame.index.name or ""),
        header="the names of the columns",
    )


def read_sheet(path: Path, reading: Reading) -> Table:
    """Read the first sheet of an .xlsx file, or the one that was asked for."""
    with warnings.catch_warnings():
        # Of styles and extensions, which hold no values.
        warnings.simplefilter("ignore")
        book = package("openpyxl", path.name).load_workbook(path, read_only=True, data_only=True)
        sheets = book.sheetnames
        if reading.sheet is not None and reading.sheet not in sheets:
            raise ValueError(
                f"--sheet must name a sheet of {path.name}: {listed(sheets)}; got {reading.sheet!r}"
            )
        chosen = reading.sheet or sheets[0]
        cells = _sheet_cells(path, book[chosen], chosen)
        book.close()
    others = f"{path.name} has the sheets {listed(sheets)}: --sheet NAME chooses one"
    if not cells:
        raise ValueError(
            f"sheet {chosen!r} of {path.name} must hold a table, got no cells; {others}"
        )
    numbers, width = [*cells], max(map(len, cells.values()))
    rows = [[*row, *[None] * (width - len(row))] for row in cells.values()]
    sample = [["" if cell is None else str(cell).strip() for cell in row] for row in rows[:_SAMPLE]]
    try:
        at = find_names(sample, numbers[:_SAMPLE], reading, path.name)
    except ValueError as error:
        raise ValueError(f"{error}; {others}" if len(sheets) > 1 else str(error)) from None
    columns = [np.array(column, dtype=object) for column in zip(*rows[at + 1 :], strict=True)]
    names = sample[at] if at >= 0 else []
    table = _from_rows(path.name, columns, names, numbers[max(at, 0)], numbers[at + 1])
    if len(sheets) > 1:
        table.header += f" of sheet {chosen!r} (of {len(sheets)}: {listed(sheets, 4)})"
        table.hint = others
    return table


def _sheet_cells(path: Path, sheet: Any, name: str) -> dict[int, list[Any]]:
    """Cells of a sheet by the numbers of its rows, blank rows left out."""
    # What a file declares of its size may be missing or wrong.
    sheet.reset_dimensions()
    rows: dict[int, list[Any]] = {}
    n_cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        n_cells += max(len(row), 1)
        if n_cells > _MOST_CELLS:
            raise ValueError(
                f"sheet {name!r} of {path.name} must have at most {_MOST_CELLS} cells, got more in "
                f"its first {number - 1} rows; delete cells far from the table"
            )
        # An error of a formula is no value.
        own = [None if str(cell).startswith("#") else cell for cell in row]
        if any(map(_is_filled, own)):
            rows[number] = own
    return rows
