"""Read a table of text (.csv, .tsv): find its header, labels and index, and say what is wrong."""

from __future__ import annotations

import csv
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_INDEX_NAMES = ("", "index", "id", "unnamed: 0")
_MISSING = ("", "-", "--", "?", ".", "na", "n/a", "#n/a", "null", "none", "missing")
_SAMPLE = 200


class Table(NamedTuple):
    """Numbers, labels and column names of a text table."""

    X: NDArray[np.float64]  # (n, n_features)
    labels: list[str] | None  # (n,) or None
    columns: tuple[str, ...]  # (n_features,), empty without a header


def read_table(path: Path, label_column: str | int | None, usual: tuple[str, ...]) -> Table:
    """Read a .csv or .tsv table of numbers, with or without header, index and labels.

    Cells are separated by tabs (.tsv), else by commas or semicolons. Without ``label_column``, a
    name or a position, a column with a ``usual`` name (in lower case) holds the labels, or else the
    only column of repeated words.
    """
    try:
        delimiter = _delimiter(path)
        try:
            return _parse(path, delimiter, label_column, usual, _SAMPLE)
        except _CellError:
            # Words may begin far down (stages 1, 2, 4, ..., then "32 TE"): look at every row.
            return _parse(path, delimiter, label_column, usual, None)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} must be text in UTF-8, got {error}; save it again in that encoding"
        ) from None
    except csv.Error as error:
        raise ValueError(
            f"{path.name} must be a plain table of numbers, got {error}; save it again without "
            "quotes in it"
        ) from None


class _CellError(ValueError):
    """A cell that should be a number is not."""


def _parse(
    path: Path,
    delimiter: str,
    label_column: str | int | None,
    usual: tuple[str, ...],
    n_sample: int | None,
) -> Table:
    """Read a table whose columns are told apart by the first ``n_sample`` rows (None: all)."""
    sample = list(itertools.islice(_rows(path, delimiter), n_sample))
    if not sample:
        raise ValueError(f"{path.name} must hold at least one row of numbers, got blank lines only")
    header = _has_header(sample, usual)
    names = [c.strip() for c in sample[0]] if header else [str(c) for c in range(len(sample[0]))]
    body = sample[1:] if header else sample
    if not body:
        raise ValueError(f"{path.name} must hold at least one row of numbers, got a header only")
    label = _label_position(names if header else None, label_column, usual, len(names), path)
    words = [c for c in range(len(names)) if c != label and _is_words(body, c)]
    index = _index_position(names, header, label, words, body)
    words = [c for c in words if c != index]
    if label is None and label_column is None and len(words) == 1:
        label = words.pop()
    n_rows, labels = _check_rows(path, delimiter, len(names), label, header)
    keep = [c for c in range(len(names)) if c not in (label, index)]
    if not keep:
        raise ValueError(
            f"{path.name} must have a column of numbers, got {', '.join(names)}; "
            "rows are points and columns are observed dimensions"
        )
    X = _numbers(path, delimiter, header, keep, names)
    if len(X) != n_rows:
        raise ValueError(
            f"{path.name} must be a plain table of numbers, got {n_rows} rows of cells and "
            f"{len(X)} of numbers; save it again without quotes, blank or empty rows"
        )
    if not header and n_rows > 1:
        _warn_numbered(sample[0], path)
    return Table(X, labels, tuple(names[c] for c in keep) if header else ())


def _delimiter(path: Path) -> str:
    """Separator of cells: by file ending, and for .csv whichever the first line has more of."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    with path.open(encoding="utf-8-sig", newline="") as file:
        line = next((line for line in file if line.strip()), "")
    return max(",;\t", key=line.count)


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


def _is_words(body: list[list[str]], column: int) -> bool:
    """Tell whether most filled cells of a column are not numbers."""
    cells = [cells[column] for cells in body if column < len(cells) and cells[column].strip()]
    return bool(cells) and sum(map(_is_number, cells)) < len(cells) / 2


def _has_header(sample: list[list[str]], usual: tuple[str, ...]) -> bool:
    """Tell a line of names: words above most numbers, all different words, or 0, 1, 2, ...

    A word or two above numbers, such as NA or 5%, are cells that cannot be read, in a row that must
    not be lost for a header.
    """
    first, body = [cell.strip() for cell in sample[0]], sample[1:]
    if first == [str(n) for n in range(len(first))] and len(first) > 1:
        return True
    if not body and all(_is_number(cell) for cell in first):
        return False
    if first[0].lower() in _INDEX_NAMES and _counts_rows(body):
        return True
    for c, cell in enumerate(first):
        seen = {cells[c].strip() for cells in body if c < len(cells)}
        # One letter may be an answer, y or n.
        if len(cell) > 1 and cell.lower() in usual and cell not in seen:
            return True
    numeric = [c for c in range(len(first)) if not _is_words(body, c)]
    named = [c for c in numeric if not _is_number(first[c]) and first[c].lower() not in _MISSING]
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


def _warn_numbered(first: list[str], path: Path) -> None:
    """Warn of a first row that may be a header of numbers, such as years."""
    cells = [cell.strip() for cell in first]
    cells = cells if cells[0].isdecimal() else cells[1:]
    if len(cells) < 3 or not all(cell.isdecimal() for cell in cells):
        return
    steps = {int(b) - int(a) for a, b in itertools.pairwise(cells)}
    if len(steps) == 1 and steps != {0}:
        warnings.warn(
            f"the first row of {path.name}, {', '.join(cells[:3])}, ..., is taken as a point; if "
            "it names the columns, put a letter before each number",
            UserWarning,
            stacklevel=2,
        )


def _label_position(
    names: list[str] | None,
    wanted: str | int | None,
    usual: tuple[str, ...],
    width: int,
    path: Path,
) -> int | None:
    """Position of the labels by name or number, or None if nothing names them."""
    if wanted is None:
        lowered = [name.lower() for name in names or ()]
        return next((lowered.index(name) for name in usual if name in lowered), None)
    if names is not None and wanted in names:
        return names.index(str(wanted))
    text = str(wanted)
    if text.lstrip("-").isdigit() and -width <= int(text) < width:
        return int(text) % width
    listed = ", ".join(names) if names is not None else f"0 to {width - 1} (no header)"
    raise ValueError(f"label_column must be a column of {path.name}: {listed}; got {wanted!r}")


def _index_position(
    names: list[str], header: bool, label: int | None, words: list[int], body: list[list[str]]
) -> int | None:
    """Position of row names: a first column called so, or of words that are all different."""
    if label == 0:
        return None
    if header and names[0].lower() in _INDEX_NAMES:
        return 0
    first = [cells[0] for cells in body]
    return 0 if 0 in words and len(first) > 1 and len(set(first)) == len(first) else None


def _check_rows(
    path: Path, delimiter: str, width: int, label: int | None, header: bool
) -> tuple[int, list[str] | None]:
    """Raise if a row has another number of cells; count rows and collect labels on the way."""
    labels: list[str] = []
    number = 0
    for number, cells in enumerate(_rows(path, delimiter), start=1):
        if len(cells) != width:
            raise ValueError(
                f"every row of {path.name} must have {width} cells like the first, got "
                f"{len(cells)} in row {number}; look for a missing or an extra separator there"
            )
        if label is not None and number > header:
            labels.append(cells[label].strip())
    return number - header, labels if label is not None else None


def _numbers(
    path: Path, delimiter: str, header: bool, keep: list[int], names: list[str]
) -> NDArray[np.float64]:
    """Numbers of the kept columns; if one cannot be read, say which."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = (line for line in file if line.strip(" \t\r\n,;"))
        if header:
            next(lines)
        try:
            return np.loadtxt(
                lines, delimiter=delimiter, usecols=keep, ndmin=2, comments=None, quotechar='"'
            )
        except ValueError:
            pass
    for number, cells in enumerate(_rows(path, delimiter), start=1):
        for c in keep:
            if number > header and not _is_number(cells[c]):
                got = repr(cells[c]) if cells[c].strip() else "an empty cell"
                raise _CellError(
                    f"column {names[c]!r} of {path.name} must hold numbers only, got {got} in row "
                    f"{number}; drop the column or fill it in, or name it as label_column if it "
                    "holds the labels"
                )
    raise ValueError(
        f"{path.name} must be a plain table of numbers, got quotes or line breaks within cells; "
        "save it again without them"
    )
