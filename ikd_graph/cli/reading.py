"""Flags that say how a file is to be read."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from ..study.datasets import IMPUTE, SCALES, TRANSFORMS, Reading

STDOUT = "-"
"""What ``--json`` alone writes to."""

# fmt: off
_LISTS = (
    ("--labels", "COLUMN,...", "columns (or keys) of the labels, the first of which colours the "
     "points; default: found by its usual names"),
    ("--measured", "COLUMN,...", "labels in whole numbers that are a measurement, not classes"),
    ("--columns", "NAME,...", "only these columns; * and ? stand for any letters"),
    ("--drop", "NAME,...", "leave these columns out; * and ? stand for any letters"),
    ("--na", "VALUE,...", "further cells that stand for a missing value, such as -999"),
)
_SINGLE = (
    ("--index", "COLUMN", "column that names the rows"),
    ("--key", "NAME", "array of an .npz or .mat file, layer of an .h5ad, sheet of an .xlsx, series "
     "of an .nwb"),
    ("--bin", "SECONDS", "count the spike times of an .nwb or .mat file in bins of this length"),
)
_SWITCHES = (
    ("--transpose", "rows of the file are columns of the table"),
    ("--standardize-rows", "centre rows and divide them by their standard deviation"),
    ("--remove-mean-row", "take off what the mean row explains of each row: a market, a season, a "
     "global signal"),
)
_CHOICES = (
    ("--decimal", (".", ","), "sign before the decimals of a number"),
    ("--impute", IMPUTE, "fill missing cells with this value of their column"),
    ("--transform", TRANSFORMS, "apply this function to every value, such as sqrt to counts"),
    ("--scale", SCALES, "centre columns and divide them by their standard deviation (--scale "
     "alone), or by their interquartile range (--scale=robust)"),
)
# fmt: on
BARE = {"--scale": ("standard", "|".join(SCALES)), "--json": (STDOUT, r".*\.json|-")}
"""Flags that may stand alone: what they then mean, and which words after them are their value."""


def join_bare(words: Sequence[str]) -> list[str]:
    """Words of a command, each bare flag with its value: no file is taken for one.

    Examples
    --------
    >>> join_bare(["--scale", "robust"]), join_bare(["--scale", "t.csv"])
    (['--scale=robust'], ['--scale=standard', 't.csv'])
    >>> join_bare(["--json", "t.csv"]), join_bare(["--json", "t.json"])
    (['--json=-', 't.csv'], ['--json=t.json'])
    """
    joined: list[str] = []
    for word, before in zip(words, ["", *words], strict=False):
        if before in BARE and re.fullmatch(BARE[before][1], word):
            joined[-1] = f"{before}={word}"
        else:
            joined.append(f"{word}={BARE[word][0]}" if word in BARE else word)
    return joined


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the flags of `Reading`."""
    group = parser.add_argument_group(
        "reading a file",
        "how DATA is read; if a table has problems, the message names the flags that solve them",
    )
    for flag, metavar, text in _LISTS:
        group.add_argument(flag, metavar=metavar, type=split, default=(), help=text)
    for flag, metavar, text in _SINGLE:
        kind = float if flag == "--bin" else str
        group.add_argument(flag, metavar=metavar, type=kind, help=text)
    group.add_argument(
        "--label-period", metavar="[COLUMN=]P,...", type=_periods, default=(),
        help="length of the circle that labels which are measurements run around, such as 360",
    )  # fmt: skip
    for flag, text in _SWITCHES:
        group.add_argument(flag, action="store_true", help=text)
    for flag, choices, text in _CHOICES:
        default = "." if flag == "--decimal" else None
        group.add_argument(flag, choices=choices, default=default, help=text)


def reading(arguments: argparse.Namespace) -> Reading:
    """How the file is to be read."""
    names = [name for name in Reading.__dataclass_fields__ if hasattr(arguments, name)]
    # Missing cells are the method's where it takes them.
    kept = getattr(arguments, "missing", None) not in (None, "error")
    return Reading(**{name: getattr(arguments, name) for name in names}, keep_missing=kept)


def reading_flags(arguments: argparse.Namespace) -> list[str]:
    """The flags that were given, as words of a command."""
    words: list[str] = []
    for name, default in vars(Reading()).items():
        value: Any = getattr(arguments, name, default)
        name = name.replace("_", "-")
        if value is True:
            words.append(f"--{name}")
        elif value not in (default, None):
            text = ",".join(value) if isinstance(value, tuple) else value
            # A name may begin with a dash.
            words += [f"--{name}={text}"] if str(text).startswith("-") else [f"--{name}", str(text)]
    return words


def _periods(text: str) -> tuple[str, ...]:
    """Periods, by name or for all labels."""
    names = split(text) or (text,)
    try:
        Reading(label_period=names)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("label_period ")) from None
    return names


def split(text: str) -> tuple[str, ...]:
    """Names between commas.

    Examples
    --------
    >>> split("a, b")
    ('a', 'b')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())
