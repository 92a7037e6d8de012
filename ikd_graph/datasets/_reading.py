"""How a file is to be read, and what is wrong with it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .._base.validation import check_choice
from .._preprocessing import CHOICES as STEPS
from .._preprocessing import TRANSFORMS

CHOICES = {
    "impute": STEPS["impute"],
    "scale": STEPS["scale"],
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


def listed(names: Iterable[Any], most: int = 12) -> str:
    """Return names between commas, the first few of many."""
    texts = [str(name) for name in names]
    more = [f"... ({len(texts)} in all)"] if len(texts) > most else []
    return ", ".join([*texts[: most if more else None], *more]) or "none"
