"""Cells of text as numbers, and what those are that are none."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataset import MISSING
from .._types import Floats
from ._reading import Reading

LABEL_NAMES = ("label", "labels", "y", "class", "target", "cell_type")
"""Column or key names that are read as labels when none is asked for."""

INDEX_NAMES = ("", "index", "id", "unnamed: 0")
"""Names of a first column that names rows."""

_BOOLEANS = {"true": 1.0, "false": 0.0}
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}|\d\d?:\d\d|\d{8}T\d{4}")
_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_GROUPS = re.compile(r"[+-]?\d{1,3}(?P<sign>[,.' ])\d{3}(?:(?P=sign)\d{3})*(?:[.,]\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_UNIT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s*(%|\s[^\d\s]\S*)")


def parse_numbers(cells: NDArray[Any], reading: Reading) -> tuple[Floats, dict[int, str]]:
    """Cells as numbers, NaN where missing; position and text of those that are neither."""
    odd: dict[int, str] = {}
    try:
        if reading.decimal != "." or reading.thousands is not None or cells.dtype.kind in "mMc":
            raise TypeError
        values = np.asarray(cells, dtype=np.float64)
    except (ValueError, TypeError):
        values = np.full(len(cells), np.nan)
        unknown = MISSING | {word.lower() for word in reading.na}
        for row, cell in enumerate(cells.tolist()):
            text = "" if cell is None else str(cell).strip()
            if text.lower() in unknown:
                continue
            number = as_number(_ungrouped(text, reading).replace(reading.decimal, "."))
            values[row] = _BOOLEANS.get(text.lower(), number)
            if np.isnan(values[row]):
                odd[row] = text
    if reading.na:
        values = np.where(np.isin(values, [as_number(word) for word in reading.na]), np.nan, values)
    return values, odd


def _ungrouped(text: str, reading: Reading) -> str:
    """Text of a number without the signs between its thousands."""
    # Where commas are decimals, a dot can be nothing else.
    sign = reading.thousands or ("." if reading.decimal == "," else "")
    groups = _GROUPS.fullmatch(text) if sign else None
    return text.replace(sign, "") if groups and groups["sign"] == sign else text


def as_number(text: str) -> float:
    """Return a text as a number, NaN if it is none."""
    try:
        # Typeset tables have the sign of mathematics.
        return float(text.replace("\u2212", "-", 1))
    except ValueError:
        return float("nan")


def kind_of(values: Floats, odd: Mapping[int, str]) -> str:
    """Tell what cells that are no numbers are: decimal commas, dates, numbers with units, words."""
    texts = list(odd.values())
    if texts and _DATE.match(texts[0]):
        return "dates"
    if texts and all(_THOUSANDS.fullmatch(text) for text in texts):
        clear = any(text.count(",") > 1 or "." in text for text in texts)
        return "numbers with commas for thousands" if clear else "thousands or decimal commas"
    if texts and all(_COMMA.fullmatch(text) for text in texts):
        return "decimal commas"
    units = {unit and unit[1] for unit in map(_UNIT.fullmatch, texts)}
    same = len(units) == 1 and None not in units and len(set(texts)) > 1
    return "numbers with a unit" if same and np.isnan(values).all() else "not numbers"


def is_date(text: str) -> bool:
    """Whether a cell begins like a date or a time."""
    return _DATE.match(text) is not None


def is_number(text: str) -> bool:
    """Whether a cell reads as a number (decimal commas too), or as true or false."""
    word = text.lower() in {*_BOOLEANS, "nan"} or _COMMA.fullmatch(text) is not None
    return word or _GROUPS.fullmatch(text) is not None or not np.isnan(as_number(text))
