"""What every kind of file is turned into: columns of numbers or cells, and what names them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.dataset import MISSING, Labels, plain_texts, read_number
from .._base.suggest import suggest
from .._base.types import Floats
from ._reading import Reading, listed

LABEL_NAMES = ("label", "labels", "y", "class", "target", "cell_type")
"""Column or key names that are read as labels when none is asked for."""

INDEX_NAMES = ("", "index", "id", "unnamed: 0")
"""Names of a first column that names rows."""


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
        Of the columns, all different; empty if the file has none.
    beside : dict of str to (n_rows,) array or Labels
        What the file says of rows next to the table; may be labels.
    row_names, row_title : tuple of str, str
        Names of the rows and of what names them; empty if unknown.
    header : str
        What was taken for the names, in words.
    first_row : int
        Number of the first row as the file counts.
    exchanged : bool
        Whether columns are rows of the file.
    class_names : tuple of str
        Wished order of classes.
    image_shape : (int, int) or None
        Height and width where rows are images.
    hint : str
        Where else the file may hold a table.
    notes : tuple of str
        What was left out.
    """

    file: str
    columns: list[NDArray[Any]]
    names: tuple[str, ...] = ()
    beside: Mapping[str, NDArray[Any] | Labels] = field(default_factory=dict)
    row_names: tuple[str, ...] = ()
    row_title: str = ""
    header: str = "none"
    first_row: int = 0
    exchanged: bool = False
    class_names: tuple[str, ...] = ()
    image_shape: tuple[int, int] | None = None
    hint: str = ""
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    @property
    def shown_names(self) -> list[str]:
        """Names of the columns, or their positions."""
        return list(self.names or map(str, range(len(self.columns))))

    def place(self, row: int, at: int) -> str:
        """Where a cell stands in the file: its row and column there."""
        name = self.names[at] if self.names else str(at)
        if self.exchanged:
            name = self.row_names[row] if self.row_names else str(row)
            row = at
        return f"row {row + self.first_row}, column {name!r}"


def from_array(file: str, X: Any, what: str = "the array", **more: Any) -> Table:
    """Table of a 2-D array of numbers."""
    if X.ndim != 2 or X.dtype.kind not in "biuf" or X.size == 0:
        raise ValueError(
            f"{what} in {file} must be a 2-D table of numbers (points x columns), got shape "
            f"{X.shape} of {X.dtype}; X.reshape(len(X), -1) makes each image one row"
        )
    return Table(file, list(np.asarray(X).T), **more)


def parse_numbers(cells: NDArray[Any], na: Sequence[str]) -> tuple[Floats, dict[int, str]]:
    """Cells as numbers, NaN where missing; position and text of those that are neither."""
    odd: dict[int, str] = {}
    if cells.dtype.kind in "biuf":
        values = cells.astype(np.float64)
    else:
        values, unknown = np.full(len(cells), np.nan), MISSING.union(map(str.lower, na))
        for row, cell in enumerate(plain_texts(cells)):
            if cell.lower() not in unknown:
                values[row] = as_number(cell)
                if np.isnan(values[row]):
                    odd[row] = cell
    codes = [as_number(word) for word in na]
    if codes:
        values[np.isin(values, codes)] = np.nan
    return values, odd


def as_number(text: str) -> float:
    """Return a text as a number, true and false as 1 and 0; NaN if it is none."""
    text = {"true": "1", "false": "0"}.get(text.lower(), text)
    try:
        return read_number(text)
    except ValueError:
        return float("nan")


def is_word(text: str) -> bool:
    """Whether a cell is neither missing nor a number."""
    return text.lower() not in MISSING and np.isnan(as_number(text))


_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}|\d\d?:\d\d|\d{8}T\d{4}")
_SIGNED = re.compile(r"[+-]?\d*[\d.,' ]*\d(e[+-]?\d+)?", re.IGNORECASE)


def kind_of(odd: Mapping[int, str]) -> str:
    """Tell what cells that are no numbers are: dates, numbers with other signs, or words."""
    texts = list(odd.values())
    if texts and all(map(_DATE.match, texts)):
        return "dates"
    return "numbers with signs" if texts and all(map(_SIGNED.fullmatch, texts)) else "not numbers"


def position_of(names: Sequence[str], asked: str | int) -> int | None:
    """Position of a column by its name, or by a number; None if there is none."""
    text = str(asked)
    if text in names:
        return list(names).index(text)
    number = int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else len(names)
    return number % len(names) if -len(names) <= number < len(names) else None


def fitting(names: Sequence[str], patterns: Sequence[str]) -> dict[str, set[int]]:
    """Columns whose names fit each pattern."""
    exact = {name: at for at, name in enumerate(names)}
    fits = {}
    for pattern in patterns:
        if pattern in exact or not re.search(r"[*?[]", pattern):
            fits[pattern] = {exact[pattern]} if pattern in exact else set()
        else:
            fits[pattern] = {at for at, name in enumerate(names) if fnmatchcase(name, pattern)}
    return fits


def names_rows(table: Table, at: int) -> bool:
    """Whether a column names the rows: by its name, or by dates or words that differ."""
    if table.names and table.names[at].lower() in INDEX_NAMES:
        return True
    texts = plain_texts(table.columns[at]) if table.columns[at].dtype.kind not in "biuf" else []
    return len(set(texts)) == len(texts) > 1 and are_words(texts)


def are_words(texts: Sequence[str]) -> bool:
    """Whether most texts are words or dates, and not numbers with other signs."""
    signed = kind_of(dict(enumerate(texts))) == "numbers with signs"
    return 2 * sum(map(is_word, texts)) > len(texts) and not signed


def exchange(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Table whose rows are the columns of a file, and what is left to choose among its columns.

    ``index`` names a column of the file, and so may ``drop``. Further columns of words are no
    points.
    """
    names = table.shown_names
    fits = fitting(names, reading.drop)
    out = {at for columns in fits.values() for at in columns}
    index = None if reading.index is None else position_of(names, reading.index)
    if index is None and reading.index is not None:
        raise ValueError(
            f"--index must be a column of {table.file}: {listed(names)}; got {reading.index!r}"
            f"{suggest(str(reading.index), names)}"
        )
    if index is None and not table.row_names and 0 not in out and names_rows(table, 0):
        index = 0
    for at, column in enumerate(table.columns):
        values, odd = parse_numbers(column, reading.na)
        if at != index and len(odd) > np.count_nonzero(~np.isnan(values)):
            out.add(at)
    rest = [at for at in range(len(names)) if at != index and at not in out]
    if not rest:
        raise ValueError(
            f"{table.file} must have columns of numbers to be exchanged, got {listed(names)}; they "
            "are the points of --transpose"
        )
    cells = [table.columns[at] for at in rest]
    numeric = all(column.dtype.kind in "biuf" for column in cells)
    left = [names[at] for at in sorted(out - {index})]
    named = "" if index is None else f"column {names[index]!r}"
    exchanged = replace(
        table,
        columns=list(np.array(cells, dtype=np.float64 if numeric else object).T),
        names=table.row_names if index is None else unique_names(plain_texts(table.columns[index])),
        row_names=tuple(names[at] for at in rest) if table.names else (),
        row_title="",
        header=named or "none",
        beside={},
        exchanged=True,
        notes=(*table.notes, *[f"left out of the points: {listed(left)}"] * bool(left)),
    )
    drop = tuple(pattern for pattern, columns in fits.items() if not columns)
    return exchanged, replace(reading, index=None, drop=drop)


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names of columns, with a number at each that came before.

    Examples
    --------
    >>> unique_names(["row", "x", "row"])
    ('row', 'x', 'row_2')
    """
    taken, last = {*names}, dict.fromkeys(names, 0)
    unique = []
    for name in names:
        last[name] += 1
        own = name
        while last[name] > 1 and (own := f"{name}_{last[name]}") in taken:
            last[name] += 1
        taken.add(own)
        unique.append(own)
    return tuple(unique)
