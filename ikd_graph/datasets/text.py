"""Tables of text (.csv, .tsv, .txt; also as .gz or .zip), sheets (.xlsx) and frames (.parquet)."""

import csv
import gzip
import io
import warnings
import zipfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ._cells import is_number
from ._header import MOST_TITLES, SAMPLE
from ._reading import Reading, choose_table, listed, memory, package
from ._table import Table, from_cells

SEPARATORS = ",;\t| "


def read_text(path: Path, reading: Reading) -> Table:
    """Read a table whose cells stand between commas, semicolons, tabs, bars or blanks."""
    lines = list(io.StringIO(_decoded(path), newline=None))
    above = next((k for k, line in enumerate(lines) if line.strip() and line[0] != "#"), len(lines))
    if not lines[above:]:
        raise ValueError(f"{path.name} must hold at least one row of numbers, got blank lines only")
    separator = _separator(lines[above : above + SAMPLE], reading.decimal)
    rows, numbers = _rows(path, lines, above, separator)
    _check_widths(path, rows, numbers)
    table = from_cells(path.name, rows, reading, numbers)
    if any(line.startswith("#") for line in lines[:above]):
        table.notes += (f"{above} lines above the table begin with # and were left out",)
    return table


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


def _decoded(path: Path) -> str:
    """Text of a file, unpacked."""
    limit = memory()
    # A buffer of the limit would be allocated at once.
    pieces, size = [], 0
    with _opened(path) as file:
        while size <= limit and (piece := file.read(_PIECE)):
            pieces.append(piece)
            size += len(piece)
    data = b"".join(pieces)
    if size > limit:
        raise ValueError(f"{path.name} must unpack to less than {limit / 2**30:.1f} GiB")
    try:
        return data.decode(_encoding(data[:4096]))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} must be text in UTF-8, got {error}; save it again in that encoding"
        ) from None


_PIECE = 1 << 20
"""Bytes of a file that are read at a time."""


def _encoding(start: bytes) -> str:
    """Tell the encoding by the mark of a text, or by the zero bytes of UTF-16 without one."""
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(start) > 3 and 2 * start[first::2].count(0) > len(start[first::2]):
            return name
    return "utf-8-sig"


def _separator(lines: list[str], decimal: str) -> str:
    """Return the separator that leaves most numbers between it, else the most frequent one."""

    def score(separator: str) -> tuple[int, int]:
        reader = csv.reader(map(str.strip, lines), delimiter=separator, skipinitialspace=True)
        rows: list[list[str]] = []
        with suppress(csv.Error):
            rows.extend(reader)
        # Titles have another width than the table, and their words may hold numbers.
        widths = Counter(len(row) for row in rows if row)
        usual = max(widths, key=lambda width: (widths[width], width), default=0)
        cells = (cell.strip() for row in rows if len(row) == usual for cell in row)
        return sum(map(is_number, cells)), lines[0].count(separator) * (separator != " ")

    # A comma between cells that have decimal commas is told by quotes around these.
    quoted = any('"' in line for line in lines)
    return max(SEPARATORS if quoted else SEPARATORS.replace(decimal, ""), key=score)


def _rows(
    path: Path, lines: list[str], above: int, separator: str
) -> tuple[list[list[str]], list[int]]:
    """Cells of each line that is not blank, and the numbers of these lines."""
    blanks = separator == " "
    reader = csv.reader(
        (line.strip() if blanks else line for line in lines[above:]),
        delimiter=separator, strict=True, skipinitialspace=blanks,
    )  # fmt: skip
    rows: list[list[str]] = []
    numbers: list[int] = []
    try:
        for number, row in enumerate(reader, 1):
            # A quote that nothing closes swallows the lines after it.
            if reader.line_num != number:
                raise csv.Error("a line break within quotes")
            if len(row) > 1 or any(cell.strip() for cell in row):
                rows.append(row)
                numbers.append(above + number)
    except csv.Error as error:
        raise ValueError(
            f"{path.name} must be a plain table of numbers, got {error} in line "
            f"{above + reader.line_num}; save it again without quotes in it"
        ) from None
    return rows, numbers


def _check_widths(path: Path, rows: list[list[str]], numbers: list[int]) -> None:
    """Raise if rows are not of one length: what is in which column is then not known."""
    _widen_titles(rows)
    width = len(rows[0])
    if len(rows) > 1 and {len(row) for row in rows[1:]} == {width + 1}:
        # Row names without a name, or separators at the ends of all lines but the first.
        rows[0].insert(0 if any(row[-1] for row in rows[1:]) else width, "")
        return
    ragged = [at for at, row in enumerate(rows) if len(row) != width]
    if ragged:
        more = f" ({len(ragged)} such rows)" if len(ragged) > 1 else ""
        raise ValueError(
            f"every row of {path.name} must have {width} cells like the first, got "
            f"{len(rows[ragged[0]])} in row {numbers[ragged[0]]}{more}; look for a missing or an "
            "extra separator there"
        )


def _widen_titles(rows: list[list[str]]) -> None:
    """Give lines above the names as many cells as the table has."""
    width = len(rows[-1])
    above = next((at for at, row in enumerate(rows) if len(row) == width), 0)
    if above > MOST_TITLES or any(len(row) != width for row in rows[above:]):
        return
    # A single line that is shorter may have lost a name; one cell is a title.
    names = above < len(rows) - 1 and not any(is_number(cell.strip()) for cell in rows[above])
    for row in rows[:above]:
        if len([cell for cell in row if cell.strip()]) > 1 and not names:
            return
        text = ", ".join(cell.strip() for cell in row if cell.strip())
        row[:] = [text, *[""] * (width - 1)]


_MOST_CELLS = 10_000_000
"""Cells that a sheet may have: more take minutes, and come of a cell far away from the table."""


def read_parquet(path: Path, reading: Reading) -> Table:
    """Read a .parquet table; its index names the rows."""
    package("pyarrow", path.name)
    frame = package("pandas", path.name).read_parquet(path)
    if not frame.size:
        raise ValueError(
            f"{path.name} must hold at least one row of numbers, got shape {frame.shape}"
        )
    counted = type(frame.index).__name__ == "RangeIndex"
    columns: list[Any] = []
    names: list[str] = []
    for at, name in enumerate(map(str, frame.columns)):
        own = _vectors(path, name, frame.iloc[:, at])
        columns += own
        names += [name] if len(own) == 1 else [f"{name}[{k}]" for k in range(len(own))]
    return Table(
        path.name,
        columns,
        names=tuple(names),
        row_names=() if counted else tuple(map(str, frame.index)),
        row_title="" if counted else str(frame.index.name or ""),
        header="the names of the columns",
    )


def read_sheet(path: Path, reading: Reading) -> Table:
    """Read the first sheet of an .xlsx file, or the key."""
    with warnings.catch_warnings():
        # Of styles and extensions, which hold no values.
        warnings.simplefilter("ignore")
        book = package("openpyxl", path.name).load_workbook(path, read_only=True, data_only=True)
        names = book.sheetnames
        key = choose_table(path.name, dict.fromkeys(names, ""), reading.key, names[:1])
        rows = _sheet_rows(path, book[key], key)
        # Notes may stand before the data.
        for other in names if reading.key is None and not _has_numbers(rows) else ():
            more = _sheet_rows(path, book[other], other)
            if _has_numbers(more):
                rows, key = more, other
                break
        book.close()
    width = max((len(row) for row in rows), default=0)
    numbers = [number for number, row in enumerate(rows, 1) if any(row)]
    rows = [row + [""] * (width - len(row)) for row in rows if any(row)]
    if not rows:
        raise ValueError(
            f"sheet {key!r} of {path.name} must hold a table, got no cells; the file has "
            f"{listed(names)}: --key names another"
        )
    table = from_cells(path.name, rows, reading, numbers)
    if len(names) > 1:
        table.header += f" of sheet {key!r} (of {len(names)}: {listed(names, 4)})"
    return table


def _sheet_rows(path: Path, sheet: Any, key: str) -> list[list[str]]:
    """Cells of a sheet as text, row by row."""
    # What a file declares of its size may be missing or wrong.
    sheet.reset_dimensions()
    rows: list[list[str]] = []
    n_cells = 0
    for row in sheet.iter_rows(values_only=True):
        n_cells += max(len(row), 1)
        if n_cells > _MOST_CELLS:
            raise ValueError(
                f"sheet {key!r} of {path.name} must have at most {_MOST_CELLS} cells, got more "
                f"in its first {len(rows)} rows; delete cells far from the table"
            )
        rows.append([_text(cell) for cell in row])
    return rows


def _has_numbers(rows: list[list[str]]) -> bool:
    """Whether at least two rows have numbers."""
    return sum(any(cell and is_number(cell) for cell in row) for row in rows) > 1


def _vectors(path: Path, name: str, column: Any) -> list[Any]:
    """Return a column of cells, or the columns of the vectors that its cells hold."""
    known = column.dropna()
    first = known.iloc[0] if len(known) else None
    if not isinstance(first, (list, tuple, np.ndarray)):
        return [_cells(column)]
    lengths = {len(cell) if hasattr(cell, "__len__") else 0 for cell in known}
    if len(lengths) > 1 or len(known) < len(column):
        raise ValueError(
            f"column {name!r} of {path.name} must hold vectors of one length, got lengths from "
            f"{min(lengths)} to {max(lengths)} and {len(column) - len(known)} missing; leave it "
            "out where the file comes from"
        )
    vectors = np.array([np.asarray(cell) for cell in column])
    if vectors.ndim != 2 or vectors.dtype.kind not in "biuf":
        raise ValueError(
            f"column {name!r} of {path.name} must hold numbers or vectors of numbers, got "
            f"{vectors.dtype} of shape {vectors.shape[1:]}; leave it out where the file comes from"
        )
    return list(vectors.T)


def _cells(column: Any) -> Any:
    """Return a column as numbers if its type says so, else as cells, None where missing."""
    if column.dtype.kind in "biuf" and type(column.array).__name__ != "Categorical":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.astype(object).where(column.notna(), None).to_numpy(object)


def _text(cell: Any) -> str:
    """Read a cell of a sheet as text: whole numbers without decimals, an error is no value."""
    if cell is None or str(cell).startswith("#"):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()
