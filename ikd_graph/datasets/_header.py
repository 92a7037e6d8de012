"""Where the names of a table of text end and its numbers begin."""

import itertools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._dataset import MISSING
from .._warn import warn
from ._cells import INDEX_NAMES, LABEL_NAMES, as_number, is_date, is_number
from ._reading import Reading, listed

SAMPLE = 200  # rows that show the separator and the header
MOST_TITLES = 20  # lines above the names
_YEARS = (1500, 2200)


class Header(NamedTuple):
    """Rows of a table of text by what they are for."""

    names: list[int]  # rows of the names of the columns
    body: int  # the first row of the table
    titles: list[int]  # rows above the names
    units: list[int]  # rows between the names and the table


def find_header(cells: NDArray[Any], numbers: Sequence[int], reading: Reading, file: str) -> Header:
    """Tell names, titles and units from the table: as requested, else by the first numeric row.

    Parameters
    ----------
    cells : (n, p) ndarray of str
        Rows of a file.
    numbers : sequence of int
        Their numbers in the file.
    reading : Reading
        ``header`` and ``no_header`` are what was requested.
    file : str
        Name of the file, for messages.
    """
    if reading.no_header:
        return Header([], 0, [], [])
    if reading.header is not None:
        return _requested(cells, numbers, reading.header, file)
    sample = np.array([[cell.strip() for cell in row] for row in cells[:SAMPLE]], dtype=object)
    kinds = _kinds(sample, reading)
    # What columns hold is seen from the rows below: the first ones may be of another kind.
    below = kinds[len(kinds) // 2 :] if len(kinds) > 1 else kinds
    numeric = ~_mostly_words(below) & (kinds == "n").any(axis=0)
    wordy = 2 * np.sum((kinds == "w") & numeric, axis=1) > numeric.sum()
    counted = ~wordy & np.any((kinds == "n") & numeric, axis=1)
    body = int(np.argmax(counted)) if counted.any() else 0
    if body == 0:
        return _first_line(sample, kinds, numeric, file)
    names = np.flatnonzero(wordy[:body])
    single = np.sum(kinds[:body] != "-", axis=1) == 1
    if not names.size:
        if sample.shape[1] > 2 and single.all() and body <= MOST_TITLES:
            left = _first_line(sample[body:], kinds[body:], numeric, file)
            return Header([n + body for n in left.names], left.body + body, [*range(body)], [])
        return _first_line(sample, kinds, numeric, file)
    first = int(names[0])
    titled = sample[first][numeric].tolist()
    if first and len(set(titled)) < len(titled) and not single[first - 1]:
        # Names over several columns each stand above names that repeat.
        merged = kinds[first - 1] == "w"
        first -= int(np.sum(merged) > 1 and not np.any(kinds[first - 1] == "n"))
    more = list(range(first + 1, body))
    if not more:
        return Header([first], body, list(range(first)), [])
    words = _mostly_words(below)
    # Rows of words that name something themselves are rows, such as the labels of a turned table.
    own = reading.transpose or len(kinds) - body < 2 or np.any((kinds[more] != "-") & words)
    if own or not np.all(wordy[more]) or np.any(kinds[more] == "n"):
        return Header([first], first + 1, list(range(first)), [])
    titled = sample[first][numeric].tolist()
    if len(set(titled)) == len(titled) and len(more) == 1:
        return Header([first], body, list(range(first)), more)
    return Header([first, *more], body, list(range(first)), [])


def joined_names(cells: NDArray[Any], header: Header) -> tuple[str, ...]:
    """Names of the columns: of one line, or of what differs in several lines."""
    lines = [[cell.strip() for cell in row] for row in cells[header.names].tolist()]
    if len(lines) == 1:
        return tuple(lines[0])
    for line in lines[:-1]:
        # A name over several columns stands above the first of them.
        for at in range(1, len(line)):
            line[at] = line[at] or line[at - 1]
    counted = _counts_rows([cell.strip() for cell in cells[header.body :, 0].tolist()])
    varying = [line for line in lines if len(set(line[1:])) > 1] or lines[-1:]
    names = ["_".join(filter(None, parts)) for parts in zip(*varying, strict=True)]
    if counted:
        names[0] = ""
    elif not is_number(cells[-1, 0].strip()):
        names[0] = lines[-1][0] or names[0]
    return tuple(names)


def _requested(cells: NDArray[Any], numbers: Sequence[int], header: str, file: str) -> Header:
    """Names in the lines that were asked for."""
    first, _, last = header.partition("-")
    wanted = range(int(first), int(last or first) + 1)
    names = [at for at, number in enumerate(numbers) if number in wanted]
    if len(names) != len(wanted) or names[-1] + 1 >= len(cells):
        raise ValueError(
            f"--header must be the number of a line of {file} with a table below it, got "
            f"{header!r}; the first lines with cells are {listed(numbers, 6)}"
        )
    return Header(names, names[-1] + 1, list(range(names[0])), [])


def _first_line(
    sample: NDArray[Any], kinds: NDArray[np.str_], numeric: NDArray[np.bool_], file: str
) -> Header:
    """Tell whether the first row is the names of the columns, or a row like the others."""
    if len(sample) > 1 and (_has_header(sample, kinds) or _numbered(sample, kinds, numeric)):
        return Header([0], 1, [], [])
    if len(sample) == 1 and _has_header(sample, kinds):
        return Header([0], 1, [], [])
    _warn_numbered(sample[0].tolist(), file, len(sample))
    return Header([], 0, [], [])


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
        or (first == [str(n) for n in range(len(first))] and not _may_be_digits(cells))
        or any(first[c] not in cells[1:, c] for c in labels)
        or (first[0].lower() in INDEX_NAMES and _counts_rows(cells[1:, 0].tolist()))
    )


def _form(text: str) -> str:
    """Text with one sign for every number in it: names of rows often differ by a number alone."""
    return re.sub(r"\d+", "#", text)


def _may_be_digits(cells: NDArray[Any]) -> bool:
    """Whether a first row 0, 1, ... may be one of few small whole numbers like those below it."""
    n = cells.shape[1]
    if n == 1:
        return True
    small = {str(k) for k in range(-9, 10)}
    below = set(cells[1:].ravel().tolist())
    return n <= 4 and len(cells) > 4 and below <= small and {str(k) for k in range(n)} <= below


def _numbered(cells: NDArray[Any], kinds: NDArray[np.str_], numeric: NDArray[np.bool_]) -> bool:
    """Whether a first row of numbers names the columns: years, wavelengths, times.

    They go up or down by one step, or lie outside of all that is below them, and the rows below do
    no such thing.
    """
    columns = np.flatnonzero(numeric & (kinds[0] == "n"))
    words = np.flatnonzero(kinds[0] == "w")
    if any(is_date(cells[1, c]) and not is_date(cells[0, c]) for c in words):
        return True
    if not columns.size or 2 * columns.size < numeric.sum():
        return False
    if any(_form(cells[0, c]) in set(map(_form, cells[1:, c])) for c in words):
        return False
    values = np.array([[as_number(cell) for cell in row] for row in cells[:, columns]])
    first, rest = values[0], values[1:]
    if not np.isfinite(first).all() or not np.isfinite(rest).any():
        return False
    steps = np.diff(values, axis=1)
    monotone = np.all(steps > 0, axis=1) | np.all(steps < 0, axis=1)
    even = monotone & np.all(np.abs(steps - steps[:, :1]) <= 1e-6 * np.abs(steps[:, :1]), axis=1)
    low, high = np.nanmin(rest), np.nanmax(rest)
    outside = bool(first.min() > high or first.max() < low)
    whole = bool(np.all(first == np.rint(first)))
    years = whole and _YEARS[0] <= first.min() and first.max() <= _YEARS[1]
    if years and outside and (words.size or columns.size > 1):
        known = rest[np.isfinite(rest)]
        in_years = (known >= _YEARS[0]) & (known <= _YEARS[1])
        if not in_years.any() and (columns.size == 1 or even[0]):
            return True
    if columns.size < 3:
        return False
    clear = outside or years or words.size > 0 or columns.size >= 8
    if even[0] and whole and clear:
        return bool(np.mean(even[1:]) <= 0.05)
    many = columns.size >= 8 and outside
    return bool(monotone[0] and many and np.mean(monotone[1:]) <= 0.05)


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
            f"the first row of {file}, {', '.join(cells[:3])}, ..., is taken as a point; "
            "--header 1 takes it for the names of the columns, --no-header for a point without "
            "this warning"
        )


_CLOCK = re.compile(
    r"(time|times|timestamp|t|clock|date|datetime|day|days|month|week|hour|hours|minute|minutes|"
    r"seconds?|ms|msec|frame|frames)([ _.(\[/-].*)?",
    re.IGNORECASE,
)


def is_clock(name: str, values: NDArray[np.float64]) -> bool:
    """Whether a column is a clock: it is called so, and runs up from row to row."""
    return bool(_CLOCK.fullmatch(name.strip()) and len(values) > 2 and np.all(np.diff(values) > 0))


_NUMBERED = re.compile(
    r"#|no\.?|nr\.?|n|idx|row|rows|sample|subject|obs|observation|case|specimen|number|"
    r".*[ _.-](id|no|nr|idx|index|number)",
    re.IGNORECASE,
)


def numbers_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Whether a first column is called so, and counts the rows."""
    counts = len(values) > 2 and np.array_equal(values, values[0] + np.arange(len(values)))
    return bool(_NUMBERED.fullmatch(name.strip()) and counts)
