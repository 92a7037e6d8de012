"""How a file is to be read, and what is wrong with it."""

import importlib
import math
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._base.memory import available
from .._base.suggest import suggest
from .._base.validation import check_choice
from .._preprocessing import CHOICES as STEPS
from .._preprocessing import TRANSFORMS, RowSteps

CHOICES = {
    "impute": STEPS["impute"],
    "scale": STEPS["scale"],
    "transform": tuple(TRANSFORMS),
    "decimal": (".", ","),
}
"""Valid values of fields of `Reading`, None aside."""


@dataclass(frozen=True)
class Reading:
    """How a file is read; each field but the last three is a flag of the command line.

    Attributes
    ----------
    labels : tuple of str or int
        Columns (or arrays) of the labels, by name or position, the first of which colors the
        points; by default found by its usual names.
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
        Columns to keep and to leave out; ``*`` and ``?`` stand for any letters.
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
    model_columns : tuple of str
        Columns of a saved model, which are taken in its order; others are left out.
    steps : RowSteps or None
        What a saved model does to rows, in place of what would be learnt from these.
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
    model_columns: tuple[str, ...] = ()
    steps: RowSteps | None = None

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), choices)
        if self.header is not None and not re.fullmatch(r"none|[1-9][0-9]*", str(self.header)):
            raise ValueError(
                f"header must be the number of a line, the first being 1, got {self.header!r}; "
                "'none' says that there are no names"
            )
        if self.sep is not None and len(self.sep) != 1 and self.sep not in SEPARATORS:
            raise ValueError(f"sep must be one character, tab or space, got {self.sep!r}")


SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
"""Separators that are hard to type, by their names."""


class Problem(NamedTuple):
    """What is wrong with a table, and its cure."""

    text: str  # with the flags that cure it
    drop: tuple[str, ...] = ()  # columns to leave out
    impute: bool = False  # whether missing cells may be filled


class TableError(ValueError):
    """Everything that is wrong with a table, each problem with the flag that cures it.

    Parameters
    ----------
    name : str
        Name of the file.
    problems : sequence of Problem
        In the order of the columns.
    """

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [problem.text for problem in problems]
        if len(lines) > 1:
            lines = [f"{name} has {len(lines)} problems:", *(f"- {line}" for line in lines)]
            drop = [name for problem in problems for name in problem.drop]
            flags = [flag("drop", drop)] * bool(drop)
            flags += ["--impute median"] * any(problem.impute for problem in problems)
            if all(problem.drop or problem.impute for problem in problems):
                lines.append(f"to read the rest of it: {' '.join(flags)}")
        super().__init__("\n".join(lines))


def listed(names: Iterable[Any], most: int = 12) -> str:
    """Names between commas, the first few of many."""
    texts = [str(name) for name in names]
    more = [f"... ({len(texts)} in all)"] if len(texts) > most else []
    return ", ".join([*texts[: most if more else None], *more]) or "none"


def flag(option: str, names: Iterable[str]) -> str:
    """Flag of the command line with names of columns, a comma within one as the joker it needs."""
    return f"--{option} {shlex.quote(','.join(str(name).replace(',', '?') for name in names))}"


def refuse(reading: Reading, name: str, options: Iterable[str]) -> None:
    """Raise if data cannot be read as asked."""
    for option in options:
        if getattr(reading, option) not in (None, False, ()):
            raise ValueError(
                f"--{option.replace('_', '-')} must not be given for {name}, got "
                f"{getattr(reading, option)!r}; such data have no use for it"
            )


def choose_table(
    name: str, tables: Mapping[str, Any], key: str | None, usual: Sequence[str]
) -> str:
    """Name of the table in a file: the key, or the only usual one.

    ``tables`` has their shapes; a key may leave out the group before a slash.
    """
    shown = listed((f"{table} {shape}" for table, shape in tables.items()), 30)
    chosen = [t for t in tables if key in (t, t.partition("/")[2])] if key else usual
    if len(chosen) == 1:
        return chosen[0]
    if key:
        raise ValueError(
            f"--key must name a table of {name}: {shown}; got {key!r}{suggest(key, tables)}"
        )
    raise ValueError(f"{name} must hold one table X, got {shown}; --key NAME chooses the table")


def check_size(name: str, shape: Sequence[int]) -> None:
    """Raise if a table of 8 bytes a value would not fit into memory."""
    needed = 8 * math.prod(int(size) for size in shape)
    if needed > memory():
        raise ValueError(
            f"{name} must fit into a quarter of the memory ({memory() / 2**30:.1f} GiB), got shape "
            f"{tuple(map(int, shape))} = {needed / 2**30:.1f} GiB; cut it shorter"
        )


def memory() -> int:
    """Bytes that a table may take, whose fit takes several times as much: files claim any size."""
    return (available() or sys.maxsize) // 4


def package(name: str, file: str) -> Any:
    """Return a package that reads a kind of file."""
    try:
        return importlib.import_module(name)
    except ImportError:
        extra = "anndata" if name == "anndata" else "data"
        raise ImportError(
            f"reading {file} needs the package {name}, which is not installed; pip install "
            f'"ikd_graph[{extra}]", or save the table by numpy.save'
        ) from None
