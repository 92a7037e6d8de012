"""What every kind of file is turned into: columns of numbers or cells, and what names them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataset import Labels, plain_texts
from .._suggest import suggest
from ._cells import INDEX_NAMES, LABEL_NAMES, is_number, parse_numbers
from ._header import Header, find_header, is_clock, joined_names
from ._reading import Reading, listed


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
    lines : tuple of int
        Numbers of the rows in the file, where these do not count up from the first.
    exchanged : bool
        Whether columns are rows of the file.
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
    lines: tuple[int, ...] = ()
    exchanged: bool = False
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

    def place(self, row: int, at: int) -> str:
        """Where a cell stands in the file: its row and column there."""
        name = self.all_names[at]
        if self.exchanged:
            row, at = at, row
            name = self.row_names[at] if self.row_names else str(at)
        number = self.lines[row] if self.lines else row + self.first_row
        return f"row {number}, column {name!r}"

    def title(self, at: int) -> str:
        """Name of a column, or of what stands next to them; empty if it has none of its own."""
        return self.all_names[at] if self.names or at >= len(self.columns) else ""

    def values(self, at: int) -> NDArray[Any] | Labels:
        """Cells of a column, or of what stands next to the table."""
        return [*self.columns, *self.next_to.values()][at]


def from_array(file: str, X: Any, what: str = "the array", **more: Any) -> Table:
    """Table of a 2-D array of numbers."""
    if X.ndim > 2 and X.dtype.kind in "biuf" and X.size:
        raise ValueError(
            f"{what} in {file} must be a 2-D table of numbers (points x dimensions), got shape "
            f"{X.shape}; --unfold 1 takes the {X.shape[0]} entries of the first axis for points, "
            "--unfold 2 those of the second, and all others for columns"
        )
    if X.ndim != 2 or X.dtype.kind not in "biuf" or X.size == 0:
        raise ValueError(
            f"{what} in {file} must be a 2-D table of numbers (points x dimensions), got shape "
            f"{X.shape} of {X.dtype}; reshape images to one row each"
        )
    return Table(file, list(np.asarray(X).T), **more)


def asked_columns(name: str, values: NDArray[Any], reading: Reading) -> dict[str, NDArray[Any]]:
    """Return the array with a value a row next to a table, or the columns of one asked for."""
    if values.dtype.kind == "M":
        # Days since the first; a date that is none is NaN.
        first = np.nanmin(values) if (~np.isnat(values)).any() else np.datetime64("NaT")
        values = (values - first) / np.timedelta64(1, "D")
    if values.ndim == 1 or values.shape[1] == 1:
        return {name: values.ravel()}
    if _is_one_hot(values) and name.lower() in LABEL_NAMES:
        return {name: values.argmax(axis=1)}
    asked = {str(label).partition("[")[0] for label in reading.labels}
    return {f"{name}[{k}]": column for k, column in enumerate(values.T)} if name in asked else {}


def _is_one_hot(values: NDArray[Any]) -> bool:
    """Whether every row has a single one among zeros."""
    if values.dtype.kind not in "biuf":
        return False
    return bool(np.isin(values, (0, 1)).all() and np.all(values.sum(axis=1) == 1))


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


def from_cells(
    file: str, rows: Sequence[Sequence[str]], reading: Reading, numbers: Sequence[int] = ()
) -> Table:
    """Table of rows of text, all of one length, whose ``numbers`` in the file are known."""
    cells = np.array([list(row) for row in rows], dtype=object)
    filled = [np.flatnonzero((cells != "").any(axis=axis)) for axis in (1, 0)]
    if not filled[0].size:
        raise ValueError(f"{file} must hold at least one row of numbers, got blank lines only")
    # Separators at the ends of lines, cells that only had a format, a table that begins at C3.
    (top, left), (bottom, right) = ([at[k] for at in filled] for k in (0, -1))
    counted = list(numbers or range(1, len(cells) + 1))[top : bottom + 1]
    cells = cells[top : bottom + 1, left : right + 1]
    header = find_header(cells, counted, reading, file)
    if header.body >= len(cells):
        raise ValueError(f"{file} must hold at least one row of numbers, got a header only")
    return Table(
        file,
        list(cells[header.body :].T),
        names=joined_names(cells, header) if header.names else (),
        header=_said_of_names(cells, header, counted),
        lines=tuple(counted[header.body :]),
        notes=tuple(_left_out_above(cells, header, counted)),
    )


def _said_of_names(cells: NDArray[Any], header: Header, numbers: Sequence[int]) -> str:
    """Say what was taken for the names of the columns."""
    if not header.names:
        return "none"
    names = joined_names(cells, header)
    first, last = numbers[header.names[0]], numbers[header.names[-1]]
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"{lines} ({', '.join(names[:3])}{', ...' * (len(names) > 3)})"


def _left_out_above(cells: NDArray[Any], header: Header, numbers: Sequence[int]) -> list[str]:
    """Say what stands above the numbers and is no name."""
    said = []
    if header.titles:
        text = next(cell for cell in cells[header.titles[0]].tolist() if cell.strip())
        lines = listed((numbers[at] for at in header.titles), 3)
        line, was = ("lines", "were") if len(header.titles) > 1 else ("line", "was")
        said.append(f"{line} {lines} above the names ({text.strip()[:40]}) {was} left out")
    for at in header.units:
        shown = ", ".join(cell.strip() for cell in cells[at].tolist()[:3])
        said.append(f"row {numbers[at]} ({shown}, ...) was taken for units")
    return said


def _names_of_points(table: Table, points: Sequence[str]) -> str:
    """Say where the names of points stood, and the first of them."""
    place, _, rest = table.header.partition(" (")
    if not rest or not table.names:
        return table.header
    return f"{place} ({', '.join(points[:3])}{', ...' * (len(points) > 3)})"


def exchange(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Table whose rows are the columns of a file, and what is left to choose among its columns.

    ``index``, ``drop``, ``columns`` and ``labels`` name columns of the file, before it is
    exchanged; what fits none of these is looked for among the names of its rows. Columns of words
    and clocks name the rows of the file, or are left out.
    """
    names = table.all_names[: len(table.columns)]
    drop, columns, labels = (
        {pattern: _fitting(names, pattern) for pattern in patterns}
        for patterns in (reading.drop, reading.columns, reading.labels)
    )
    index = None if reading.index is None else _column_at(names, reading.index)
    out = {c for fits in (drop, labels) for fit in fits.values() for c in fit}
    if any(columns.values()):
        out |= {*range(len(names))} - {c for fit in columns.values() for c in fit}
    naming = [c for c in range(len(names)) if c not in (index, *out)]
    naming = [c for c in naming if _names_rows(table, c, reading)]
    if index is None and not table.row_names:
        index = _best_index(table, naming)
    out |= {*naming}
    rest = [c for c in range(len(names)) if c not in (index, *out)]
    if not rest:
        raise ValueError(
            f"{table.file} must have columns of numbers to be exchanged, got {listed(names)}; they "
            "are the points of --transpose"
        )
    left = [names[c] for c in sorted(out - {index})]
    taken = "" if index is None else f"names of columns: {names[index]!r}, "
    exchanged = replace(
        table,
        columns=list(np.array([table.columns[c] for c in rest], dtype=object).T),
        names=table.row_names if index is None else tuple(plain_texts(table.columns[index])),
        row_names=tuple(names[c] for c in rest) if table.names else (),
        row_title="",
        header=f"{taken}names of points: {_names_of_points(table, [names[c] for c in rest])}",
        next_to={},
        exchanged=True,
        notes=(*table.notes, *[f"left out of the points: {listed(left)}"] * bool(left)),
    )
    drop_left, columns_left, labels_left = (
        tuple(pattern for pattern, fit in fits.items() if not fit)
        for fits in (drop, columns, labels)
    )
    remaining = replace(
        reading,
        index=None,
        drop=tuple(map(str, drop_left)),
        columns=tuple(map(str, columns_left)),
        labels=labels_left,
    )
    return exchanged, remaining


def _fitting(names: Sequence[str], pattern: str | int) -> set[int]:
    """Columns of a file whose names fit a pattern."""
    return {c for c, name in enumerate(names) if fnmatchcase(name, str(pattern))}


def _best_index(table: Table, columns: Sequence[int]) -> int | None:
    """Return the first of some columns that names every row by another word, else by a number."""
    texts = {c: plain_texts(table.columns[c]) for c in columns}
    different = [c for c in columns if len(set(texts[c])) == table.n_rows]
    words = [c for c in different if not all(map(is_number, texts[c]))]
    return next(iter([*words, *different]), None)


def _column_at(names: Sequence[str], requested: str | int) -> int:
    """Column of a file by its name or position."""
    text = str(requested)
    if text in names:
        return list(names).index(text)
    if text.lstrip("-").isdigit() and -len(names) <= int(text) < len(names):
        return int(text) % len(names)
    raise ValueError(
        f"--index must be a column of the file: {listed(names)}; got {requested!r}"
        f"{suggest(text, names)}"
    )


def _names_rows(table: Table, at: int, reading: Reading) -> bool:
    """Whether a column names rows: words, dates, numbers from a usual name, or a clock."""
    values, odd = parse_numbers(table.columns[at], reading)
    known = np.count_nonzero(~np.isnan(values))
    if len(odd) > known:
        return True
    name = table.title(at)
    texts = plain_texts(table.columns[at])
    usual = at == 0 and bool(table.names) and name.lower() in INDEX_NAMES
    return (usual and len(set(texts)) == len(texts)) or (at == 0 and is_clock(name, values))
