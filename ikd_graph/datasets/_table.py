"""What every kind of file is turned into: columns of numbers or cells, and what names them."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataset import MISSING, Labels, plain_texts
from .._types import Floats
from .._warn import warn
from ._reading import Reading

LABEL_NAMES = ("label", "labels", "y", "class", "target", "cell_type")
"""Column or key names that are read as labels when none is asked for."""

INDEX_NAMES = ("", "index", "id", "unnamed: 0")
"""Names of a first column that names rows."""

SAMPLE = 200  # rows that show the separator and the header
_BOOLEANS = {"true": 1.0, "false": 0.0}
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}|\d\d?:\d\d|\d{8}T\d{4}")
_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_UNIT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*(%|\s[^\d\s]\S*)")


@dataclass
class Table:
    """A table as its file holds it.

    Attributes
    ----------
    file : str
        Name of the file.
    columns : list of (n_rows,) arrays
        Numbers, or cells of any kind.
    names : tuple of str
        Of the columns; empty if the file has none.
    next to : dict of str to (n_rows,) array or Labels
        What the file says of rows next to the table; may be labels.
    row_names, row_title : tuple of str, str
        Names of the rows and of what names them; empty if unknown.
    header : str
        What was taken for the names, in words.
    first_row : int
        Number of the first row as the file counts.
    class_names : tuple of str
        Wished order of classes.
    image_shape : (int, int) or None
        Height and width where rows are images.
    notes : tuple of str
        What was left out.
    """

    file: str
    columns: list[NDArray[Any]]
    names: tuple[str, ...] = ()
    next_to: Mapping[str, NDArray[Any] | Labels] = field(default_factory=dict)
    row_names: tuple[str, ...] = ()
    row_title: str = ""
    header: str = "none"
    first_row: int = 0
    class_names: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    @property
    def all_names(self) -> list[str]:
        """Names (or positions) of the columns, then names of what stands next to them."""
        return [*(self.names or map(str, range(len(self.columns)))), *self.next_to]

    def title(self, at: int) -> str:
        """Name of a column, or of what stands next to them; empty if it has none of its own."""
        return self.all_names[at] if self.names or at >= len(self.columns) else ""

    def values(self, at: int) -> NDArray[Any] | Labels:
        """Cells of a column, or of what stands next to the table."""
        return [*self.columns, *self.next_to.values()][at]


def from_array(file: str, X: Any, what: str = "the array", **more: Any) -> Table:
    """Table of a 2-D array of numbers."""
    if X.ndim != 2 or X.dtype.kind not in "biuf" or X.size == 0:
        raise ValueError(
            f"{what} in {file} must be a 2-D table of numbers (points x dimensions), got shape "
            f"{X.shape} of {X.dtype}; reshape images to one row each"
        )
    return Table(file, list(np.asarray(X).T), **more)


def asked_columns(name: str, values: NDArray[Any], reading: Reading) -> dict[str, NDArray[Any]]:
    """Return the array with a value a row next to a table, or the columns of one asked for."""
    if values.ndim == 1 or values.shape[1] == 1:
        return {name: values.ravel()}
    asked = {str(label).partition("[")[0] for label in reading.labels}
    return {f"{name}[{k}]": column for k, column in enumerate(values.T)} if name in asked else {}


def with_labels(table: Table, labels: Table) -> tuple[Table, tuple[str, ...]]:
    """Table with the columns of another as labels, and the names of these.

    Rows are matched by their names where both have the same, else one by one.
    """
    rows, names = (
        list(source.row_names) or plain_texts(source.columns[0]) for source in (table, labels)
    )
    named = len(set(rows)) == len(rows) == len(set(names)) and set(rows) <= set(names)
    if not named and len(rows) != len(names):
        raise ValueError(
            f"{labels.file} must have a row of labels for each row of {table.file}, got "
            f"{len(names)} rows for {len(rows)}; --transpose exchanges rows and columns"
        )
    numbers = {name: row for row, name in enumerate(names)}
    order = [numbers[row] for row in rows] if named else range(len(rows))
    first = named and not labels.row_names
    titles = labels.names or [f"label {k}" for k in range(len(labels.columns))]
    columns = {
        title: np.asarray(column, dtype=object)[order]
        for title, column in list(zip(titles, labels.columns, strict=True))[first:]
    }
    return replace(table, next_to={**table.next_to, **columns}), tuple(columns)


def from_cells(file: str, rows: Sequence[Sequence[str]], reading: Reading) -> Table:
    """Table of rows of text, all of one length, with or without a header and a row of units."""
    cells = np.array([list(row) for row in rows], dtype=object)
    # Separators at the ends of lines, and rows of a sheet that only had a format.
    last_row, last_column = (np.flatnonzero((cells != "").any(axis=axis))[-1:] for axis in (1, 0))
    if not last_row.size:
        raise ValueError(f"{file} must hold at least one row of numbers, got blank lines only")
    cells = cells[: last_row[0] + 1, : last_column[0] + 1]
    cells = cells.T if reading.transpose else cells
    sample = np.array([[cell.strip() for cell in row] for row in cells[:SAMPLE]], dtype=object)
    kinds = _kinds(sample, reading)
    named = _has_header(sample, kinds)
    units = named and len(kinds) > 3 and _has_units(kinds)
    first = 1 + named + units
    if len(cells) < first:
        raise ValueError(f"{file} must hold at least one row of numbers, got a header only")
    header, notes = "none", []
    if named:
        shown = ", ".join(sample[0][:3]) + ", ..." * (sample.shape[1] > 3)
        header = f"line 1 ({shown})"
        notes += [f"row 2 ({', '.join(sample[1][:3])}, ...) was taken for units"] * units
    else:
        _warn_numbered(sample[0].tolist(), file, len(cells))
    return Table(
        file,
        list(cells[first - 1 :].T),
        names=tuple(sample[0]) if named else (),
        header=header,
        first_row=first,
        notes=tuple(notes),
    )


def parse_numbers(cells: NDArray[Any], reading: Reading) -> tuple[Floats, dict[int, str]]:
    """Cells as numbers, NaN where missing; position and text of those that are neither."""
    odd: dict[int, str] = {}
    try:
        if reading.decimal != "." or cells.dtype.kind in "mMc":
            raise TypeError
        values = np.asarray(cells, dtype=np.float64)
    except (ValueError, TypeError):
        values = np.full(len(cells), np.nan)
        unknown = MISSING | {word.lower() for word in reading.na}
        for row, cell in enumerate(cells.tolist()):
            text = "" if cell is None else str(cell).strip()
            if text.lower() in unknown:
                continue
            number = as_number(text.replace(reading.decimal, "."))
            values[row] = _BOOLEANS.get(text.lower(), number)
            if np.isnan(values[row]):
                odd[row] = text
    if reading.na:
        values = np.where(np.isin(values, [as_number(word) for word in reading.na]), np.nan, values)
    return values, odd


def as_number(text: str) -> float:
    """Return a text as a number, NaN if it is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def kind_of(values: Floats, odd: Mapping[int, str]) -> str:
    """Tell what cells that are no numbers are: decimal commas, dates, numbers with units, words."""
    texts = list(odd.values())
    if texts and _DATE.match(texts[0]):
        return "dates"
    if texts and all(_COMMA.fullmatch(text) for text in texts):
        return "decimal commas"
    units = {unit and unit[1] for unit in map(_UNIT.fullmatch, texts)}
    same = len(units) == 1 and None not in units and len(set(texts)) > 1
    return "numbers with a unit" if same and np.isnan(values).all() else "not numbers"


def is_number(text: str) -> bool:
    """Whether a cell reads as a number (decimal commas too), or as true or false."""
    word = text.lower() in {*_BOOLEANS, "nan"} or _COMMA.fullmatch(text) is not None
    return word or not np.isnan(as_number(text))


def _kinds(cells: NDArray[Any], reading: Reading) -> NDArray[np.str_]:
    """Return what each cell is: "n" a number, "w" a word, "-" missing."""
    missing = (MISSING - {"nan"}) | set(reading.na)
    letters = ["-" if c.lower() in missing else "wn"[is_number(c)] for c in cells.ravel()]
    return np.array(letters).reshape(cells.shape)


def _mostly_words(kinds: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Columns with more words than numbers."""
    return np.asarray((kinds == "w").sum(axis=0) > (kinds == "n").sum(axis=0))


def _has_header(cells: NDArray[Any], kinds: NDArray[np.str_]) -> bool:
    """Tell a line of names: words above most numbers, all different words, or 0, 1, 2, ...

    A word or two above numbers, such as NA or 5%, are cells that cannot be read, in a row that must
    not be lost for a header.
    """
    first, numeric = cells[0].tolist(), ~_mostly_words(kinds[1:])
    different = len(set(first)) == len(first)
    # One letter may be an answer, y or n.
    labels = [c for c, name in enumerate(first) if len(name) > 1 and name.lower() in LABEL_NAMES]
    return bool(
        2 * np.sum((kinds[0] == "w") & numeric) > numeric.sum()
        or (np.all(kinds[0] != "n") and different)
        or (first == [str(n) for n in range(len(first))] and len(first) > 1)
        or any(first[c] not in cells[1:, c] for c in labels)
        or (first[0].lower() in INDEX_NAMES and _counts_rows(cells[1:, 0].tolist()))
    )


def _has_units(kinds: NDArray[np.str_]) -> bool:
    """Whether the row below the names has words above most numbers, and nothing above words."""
    words, units = _mostly_words(kinds[2:]), kinds[1] == "w"
    return bool(
        2 * np.sum(units & ~words) > np.sum(~words)
        and not np.any(units & words)
        and "n" not in kinds[1]
    )


def _counts_rows(first: Sequence[str]) -> bool:
    """Whether a first column numbers the rows, or names each of them by another word."""
    if first and first[0].lstrip("-").isdecimal():
        return list(first) == [str(int(first[0]) + n) for n in range(len(first))]
    words = [not is_number(name) for name in first]
    return all(words) and len(set(first)) == len(first) > 1


def _warn_numbered(first: Sequence[str], file: str, n_rows: int) -> None:
    """Warn of a first row that may be a header of numbers, such as years."""
    cells = first if first[0].isdecimal() else first[1:]
    if n_rows < 2 or len(cells) < 3 or not all(cell.isdecimal() for cell in cells):
        return
    steps = {int(b) - int(a) for a, b in itertools.pairwise(cells)}
    if len(steps) == 1 and steps != {0}:
        warn(
            f"the first row of {file}, {', '.join(cells[:3])}, ..., is taken as a point; if "
            "it names the columns, put a letter before each number"
        )
