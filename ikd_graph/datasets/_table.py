"""How a file is to be read, and what it is turned into: a frame of cells, names and labels."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas
from numpy.typing import NDArray

from .._base.dataset import MISSING, Labels, plain_texts, read_number
from .._base.types import Booleans, Floats
from .._base.validation import one_of
from .._preprocessing import TRANSFORMS

CHOICES = {
    "impute": ("mean", "median"),
    "scale": ("standard", "robust"),
    "transform": tuple(TRANSFORMS),
    "decimal": (".", ","),
}
"""Valid values of fields of `Reading`, None aside."""


@dataclass(frozen=True)
class Reading:
    """How a file is read.

    Attributes
    ----------
    labels : tuple of str or int
        Columns (or arrays) of the labels, by name or position, the first of which colors the
        points. By default a column or key called label, labels, y, class, target or cell_type (in
        any case of letters), or else the only column of words, some of which come again.
    key : str or None
        Array of an archive, layer of an .h5ad file.
    sheet : str or None
        Sheet of an .xlsx file, by default the first.
    transpose : bool
        Whether rows of the file are columns of the data.
    header : str, int or None
        Line of the file with the names of the columns, the first being 1; what is above is left
        out. "none": there are no names. By default the first line, if it has words.
    index : str, int or None
        Column of the row names, by name or position.
    columns, drop : tuple of str
        Columns of numbers to keep, and any to leave out; ``*`` and ``?`` stand for any letters.
    sep : str or None
        Separator between the cells, also "tab" or "space"; by default found.
    decimal : {".", ","}
        Sign before the decimals.
    na : tuple of str
        Further cells that stand for a missing value, such as -999.
    impute : {"mean", "median"} or None
        What fills the missing cells of a column; by default none are accepted.
    scale : {"standard", "robust"} or None
        Divide centered columns by their standard deviation, or by their interquartile range.
    transform : {"sqrt", "log1p"} or None
        Function of every value, before columns are scaled, such as sqrt for counts.
    standardize_rows : bool
        Center every row and divide it by its standard deviation, after the columns.
    remove_mean_row : bool
        Take off what the mean row (a market, a season, a global signal) explains of every row.
    keep_missing : bool
        Whether missing cells stay as NaN.
    edges : bool or None
        Whether the table lists edges: two names of points and perhaps a weight in each line. It is
        read as a sparse matrix of weights between points. None: if it is recognized as one.
    """

    labels: tuple[str | int, ...] = ()
    key: str | None = None
    sheet: str | None = None
    transpose: bool = False
    header: str | int | None = None
    index: str | int | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    sep: str | None = None
    decimal: str = "."
    na: tuple[str, ...] = ()
    impute: str | None = None
    scale: str | None = None
    transform: str | None = None
    standardize_rows: bool = False
    remove_mean_row: bool = False
    keep_missing: bool = False
    edges: bool | None = False

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) is not None:
                one_of(choices)(name, getattr(self, name))
        if self.header is not None and not re.fullmatch(r"none|[1-9][0-9]*", str(self.header)):
            raise ValueError(
                f"header must be the number of a line, the first being 1, got {self.header!r}; "
                "'none' says that there are no names"
            )
        if self.sep is not None and len(self.sep) != 1 and self.sep not in SEPARATORS:
            raise ValueError(f"sep must be one character, tab or space, got {self.sep!r}")


SEPARATORS = {"tab": "\t", "space": " "}
"""Separators that are hard to type, by their names."""


class TableError(ValueError):
    """Everything that is wrong with a table.

    Parameters
    ----------
    name : str
        Name of the file.
    problems : sequence of str
        A sentence on each.
    """

    def __init__(self, name: str, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        head = [f"{name} has {len(problems)} problems:"] if len(problems) > 1 else []
        super().__init__("\n- ".join([*head, *problems]))


INDEX_NAMES = ("", "index", "id", "unnamed: 0")
"""Names of a first column that names rows."""

_CLOCKS = "timestamp|datetime|date|time|year|month|day"
IDS = re.compile(rf"(?i:|index|unnamed: 0|(.*[^a-z])?(id|name|sample)s?|{_CLOCKS})|.*[a-z]I[Dd]")
"""Names of a first column that names rows if its cells differ: sample_id, OTU ID, year."""


@dataclass
class Table:
    """A table as its file holds it.

    Attributes
    ----------
    file : str
        Name of the file.
    frame : pandas.DataFrame
        Numbers, or cells of any kind. Rows and columns have text for names, or the numbers that
        they have in the file.
    beside : dict of str to (n_rows,) array or Labels
        What the file says of rows next to the table; may be labels.
    header : str
        What was taken for the names of the columns, in words.
    notes : tuple of str
        What was left out.
    """

    file: str
    frame: pandas.DataFrame
    beside: Mapping[str, NDArray[Any] | Labels] = field(default_factory=dict)
    header: str = "none"
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns, or their positions."""
        return [str(name) for name in self.frame.columns]

    @property
    def has_names(self) -> bool:
        """Whether the file names the columns."""
        return not pandas.api.types.is_integer_dtype(self.frame.columns.dtype)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows; empty if unknown."""
        index = self.frame.index
        return () if pandas.api.types.is_integer_dtype(index.dtype) else tuple(plain_texts(index))

    def place(self, row: int, name: str) -> str:
        """Where a cell stands: the number or name of its row, and its column."""
        number = repr(self.row_names[row]) if self.row_names else self.frame.index[row]
        return f"row {number}, column {name!r}"


def from_array(
    file: str, X: Any, what: str = "the array", rows: Any = (), columns: Any = (), **more: Any
) -> Table:
    """Return the table of a 2-D array of numbers, whose rows and columns may have names."""
    if X.ndim != 2 or X.dtype.kind not in "biuf" or X.size == 0:
        raise ValueError(
            f"{what} in {file} must be a 2-D table of numbers (points x columns), got shape "
            f"{X.shape} of {X.dtype}; X.reshape(len(X), -1) makes each image one row"
        )
    index = plain_texts(rows) if len(rows) == X.shape[0] else None
    names = unique_names(plain_texts(columns)) if len(columns) == X.shape[1] else None
    # Frames have the order of bytes of the machine.
    frame = pandas.DataFrame(X.astype(X.dtype.newbyteorder("="), copy=False), index, names)
    return Table(file, frame, **more)


def parse_numbers(frame: pandas.DataFrame, na: Sequence[str]) -> tuple[Floats, Booleans]:
    """Return cells as numbers, NaN where missing, and which are neither."""
    numeric = np.array([pandas.api.types.is_numeric_dtype(k) for k in frame.dtypes], dtype=bool)
    X, odd = np.full(frame.shape, np.nan), np.zeros(frame.shape, dtype=bool)
    X[:, numeric] = frame.loc[:, numeric].to_numpy(np.float64, na_value=np.nan)
    for at in np.flatnonzero(~numeric).tolist():
        column = frame.iloc[:, at]
        texts = np.array(plain_texts(column.astype(object)), dtype=object)
        known = column.notna().to_numpy() & ~np.isin(texts, ["", *na])
        X[known, at] = [as_number(text) for text in texts[known]]
        odd[:, at] = known & np.isnan(X[:, at])
    if na:
        X[np.isin(X, [as_number(word) for word in na])] = np.nan
    return X, odd


def as_number(text: str) -> float:
    """Return a text as a number, true and false as 1 and 0; NaN if it is none."""
    text = {"true": "1", "false": "0"}.get(text.lower(), text)
    with suppress(ValueError):
        return read_number(text)
    return float("nan")


def is_word(text: str) -> bool:
    """Whether a cell is neither missing nor a number."""
    return text.lower() not in MISSING and np.isnan(as_number(text))


_SIGNED = re.compile(r"[+-]?\d*[\d.,' ]*\d(e[+-]?\d+)?", re.IGNORECASE)


def are_words(texts: Sequence[str]) -> bool:
    """Whether most texts are words or dates, and not numbers with signs between their digits."""
    return 2 * sum(is_word(t) and not _SIGNED.fullmatch(t) for t in texts) > len(texts)


def position_of(names: Sequence[str], asked: str | int) -> int | None:
    """Return the position of a column by its name, or by a number; None if there is none."""
    text = str(asked)
    if text in names:
        return list(names).index(text)
    number = int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else len(names)
    return number % len(names) if -len(names) <= number < len(names) else None


def fitting(names: Sequence[str], patterns: Sequence[str]) -> dict[str, set[int]]:
    """Return the columns whose names fit each pattern."""
    exact = {name: {at} for at, name in enumerate(names)}
    return {
        pattern: exact.get(pattern)
        or {at for at, name in enumerate(names) if fnmatchcase(name, pattern)}
        for pattern in patterns
    }


def ends_of(names: Sequence[str], asked: bool) -> list[int]:
    """Return the columns of both ends of edges: called source and target, or the first if asked."""
    lower = [name.lower() for name in names]
    if {"source", "target"} <= {*lower} and (len(lower) < 4 or "weight" in lower):
        return [lower.index("source"), lower.index("target")]
    # R counts the rows in a column without a name.
    return [at for at, name in enumerate(lower) if name not in ("", "unnamed: 0")][: 2 * asked]


def words_of(column: Any) -> list[str]:
    """Return the cells of a column of words; empty if it is none."""
    texts = [] if pandas.api.types.is_numeric_dtype(column.dtype) else plain_texts(column)
    return texts if are_words(texts) else []


def names_rows(name: str, cells: Sequence[str]) -> bool:
    """Whether a first column names the rows: by its name, or by dates or words that differ."""
    differ = len({*cells}) == len(cells) > 1
    return name.lower() in INDEX_NAMES or (differ and bool(IDS.fullmatch(name) or are_words(cells)))


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of columns, with a number at each that came before.

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
