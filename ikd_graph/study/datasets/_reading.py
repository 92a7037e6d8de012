"""How a file is to be read, and what is wrong with it."""

from __future__ import annotations

import importlib
import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._checks import check_choice, check_positive

Floats = NDArray[np.float64]

CHOICES = {
    "impute": ("mean", "median"),
    "scale": ("standard", "robust"),
    "transform": ("sqrt", "log1p", "anscombe"),
    "decimal": (".", ","),
}
"""Valid values of fields of `Reading`, None aside."""

MOST_BYTES = 8 * 2**30
"""Largest number of bytes into which a table is unpacked: what files claim is asked first."""


@dataclass(frozen=True)
class Reading:
    """What is asked of a file; each field is a flag of the command line.

    Attributes
    ----------
    labels : tuple of str or int
        Columns (or keys) of the labels, by name or position; empty finds them by their usual names.
    key : str or None
        Array of an archive, layer of a .h5ad, sheet of an .xlsx, series of an .nwb file.
    transpose : bool
        Whether rows of the file are columns of the data.
    index : str, int or None
        Column of the row names.
    columns, drop : tuple of str
        Columns to keep and to leave out; ``*`` and ``?`` stand for any letters.
    impute : {"mean", "median"} or None
        What fills the missing cells of a column; None does not accept them.
    scale : {"standard", "robust"} or None
        Divide centred columns by their standard deviation, or by their interquartile range.
    transform : {"sqrt", "log1p", "anscombe"} or None
        Function taken of every value, before columns are scaled.
    standardize_rows : bool
        Centre every row and divide it by its standard deviation, after the columns.
    remove_mean_row : bool
        Take off what the mean row explains of every row, see `ikd_graph.covariance`.
    bin : float or None
        Seconds into which the spike times of an .nwb or .mat file are counted.
    na : tuple of str
        Further cells that stand for a missing value, such as "-999".
    decimal : str
        Sign before the decimals, "." or ",".
    measured : tuple of str
        Labels in whole numbers that are a measurement and no classes.
    label_period : tuple of str
        Length of the circle that labels which are measurements run around, as "360" or
        "angle=360".
    keep_missing : bool
        Whether missing cells stay as NaN.
    """

    labels: tuple[str | int, ...] = ()
    key: str | None = None
    transpose: bool = False
    index: str | int | None = None
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    impute: str | None = None
    scale: str | None = None
    transform: str | None = None
    standardize_rows: bool = False
    remove_mean_row: bool = False
    bin: float | None = None
    na: tuple[str, ...] = ()
    decimal: str = "."
    measured: tuple[str, ...] = ()
    label_period: tuple[str, ...] = ()
    keep_missing: bool = False

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), choices)
        if self.bin is not None:
            check_positive("bin", self.bin)
        self.periods()

    def periods(self) -> dict[str, float]:
        """Period of labels by their name, "" for all others."""
        found = {}
        for text in self.label_period:
            name, _, value = text.rpartition("=")
            try:
                found[name] = check_positive("period", float(value))
            except ValueError:
                raise ValueError(
                    f"label_period must be a positive number, such as 360, got {value!r}"
                ) from None
        return found


class Problem(NamedTuple):
    """One thing that is wrong with a table, and what cures it."""

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
            flags = [flag("drop", drop, most=len(drop))] if drop else []
            flags += ["--impute median"] if any(one.impute for one in problems) else []
            if flags and all(one.drop or one.impute for one in problems):
                lines.append(f"to read the rest of it: {' '.join(flags)}")
        super().__init__("\n".join(lines))


def listed(names: Iterable[Any], most: int = 12) -> str:
    """Names between commas, the first few of many."""
    texts = [str(name) for name in names]
    more = [f"... ({len(texts)} in all)"] if len(texts) > most else []
    return ", ".join([*texts[: most if more else None], *more]) or "none"


def flag(option: str, names: Iterable[str], most: int = 5) -> str:
    """Flag of the command line with names of columns, a comma within one as the joker it needs."""
    kept = [str(name).replace(",", "?") for name in names]
    text = shlex.quote(",".join(kept[:most])) + (",..." if len(kept) > most else "")
    return f"--{option} {text}"


def refuse(reading: Reading, path: Path, options: Iterable[str]) -> None:
    """Raise if a kind of file cannot do what is asked."""
    for option in options:
        if getattr(reading, option) not in (None, False, ()):
            raise ValueError(
                f"--{option} must not be given for {path.name}, got "
                f"{getattr(reading, option)!r}; a {path.suffix} file has no use for it"
            )


def check_size(name: str, shape: Sequence[int], cure: str) -> None:
    """Raise if a table of 8 bytes a value would take too much memory."""
    needed = 8 * math.prod(int(size) for size in shape)
    if needed > MOST_BYTES:
        raise ValueError(
            f"{name} must fit into {MOST_BYTES / 2**30:.0f} GiB unpacked, got shape "
            f"{tuple(shape)} = {needed / 2**30:.1f} GiB; {cure}"
        )


def package(name: str, path: Path) -> Any:
    """A package that reads a kind of file."""
    try:
        return importlib.import_module(name)
    except ImportError:
        extra = "anndata" if name == "anndata" else "data"
        raise ImportError(
            f"reading {path.name} needs the package {name}, which is not installed; pip install "
            f'"ikd_graph[{extra}]", or export the table as .csv'
        ) from None
