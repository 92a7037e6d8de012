"""Which columns of a table are its numbers, its labels and the names of its rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from ._reading import Problem, Reading, Source, TableError, flag, listed

LABEL_NAMES = ("label", "labels", "y", "class", "target", "cell_type")
"""Column or key names that are read as labels when none is asked for."""

INDEX_NAMES = ("", "index", "id", "unnamed: 0")
"""Names of a first column that names rows."""

_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}|\d\d?:\d\d|\d{8}T\d{4}")


class Choice(NamedTuple):
    """Positions of columns by what they are for."""

    keep: list[int]  # numbers
    labels: list[int]
    row_names: int | None  # names of rows
    dropped: list[int]  # left out because they were asked to be


def looks_like_date(text: str) -> bool:
    """Whether a cell is a date or a time of day."""
    return _DATE.match(text.strip()) is not None


def choose_columns(source: Source, reading: Reading) -> Choice:
    """Tell numbers, labels and row names apart: what was asked for, else by name and content."""
    wanted, index, problems = _asked_for(source, reading)
    table = [c for c in range(len(source.names)) if c not in source.beside]
    dropped, wrong = _left_out(source, reading, table)
    problems += wrong
    labels = wanted or _usual_labels(source, reading.drop)
    words = [c for c in table if c in source.words and c not in {*labels, index, *dropped}]
    if reading.index is None:
        index = _usual_index(source, labels, dropped, words)
    words = [c for c in words if c != index]
    if not labels and len(words) == 1 and not looks_like_date(_first(source, words[0])):
        labels = words
    keep = [c for c in table if c not in {*labels, index, *dropped}]
    if not keep and not problems:
        problems = [
            Problem(
                f"{source.file} must have a column of numbers, got {listed(source.names)}; "
                "rows are points and columns are observed dimensions"
            )
        ]
    if problems:
        raise TableError(source.file, problems)
    return Choice(keep, labels, index, dropped)


def _asked_for(source: Source, reading: Reading) -> tuple[list[int], int | None, list[Problem]]:
    """Labels and index by name or position, and which of them are not there."""
    labels: list[int] = []
    problems = []
    for wanted in reading.labels:
        found = _positions(source, wanted)
        labels += [at for at in found if at not in labels]
        if not found:
            problems.append(
                Problem(
                    f"labels must be a column of {source.file}: {_choices(source)}; "
                    f"got {wanted!r}; name one of them with --labels"
                )
            )
    if reading.index is None:
        return labels, None, problems
    found = _positions(source, reading.index)
    if not found:
        problems.append(
            Problem(
                f"index must be a column of {source.file}: {_choices(source)}; got "
                f"{reading.index!r}; name one of them with --index"
            )
        )
    return labels, found[0] if found else None, problems


def _positions(source: Source, wanted: str | int) -> list[int]:
    """Columns of a name, or of that name and a number (position: position[0], position[1])."""
    text = str(wanted)
    # What stands beside a table was put there to be read as labels.
    by_name = [c for c, name in enumerate(source.names) if name == text]
    by_name.sort(key=lambda c: c not in source.beside)
    if by_name and (source.named or by_name[0] in source.beside):
        return by_name[:1]
    parts = [c for c in sorted(source.beside) if source.names[c].partition("[")[0] == text]
    width = len(source.names)
    if parts or not text.lstrip("-").isdigit() or not -width <= int(text) < width:
        return parts
    return [int(text) % width]


def _choices(source: Source) -> str:
    """Names that labels may have, in words."""
    beside = [source.names[c] for c in sorted(source.beside)]
    if source.named:
        return listed([*beside, *(n for c, n in enumerate(source.names) if c not in source.beside)])
    return listed(beside or [f"0 to {len(source.names) - 1} (no header)"])


def _left_out(
    source: Source, reading: Reading, table: list[int]
) -> tuple[list[int], list[Problem]]:
    """Columns that were asked to be left out, and patterns that fit none."""
    problems = []
    named: dict[str, set[int]] = {"columns": set(), "drop": set()}
    for option, found in named.items():
        for pattern in getattr(reading, option):
            fit = {c for c in table if fnmatchcase(source.names[c], pattern)}
            if not fit:
                there = listed(source.names[c] for c in table)
                problems.append(
                    Problem(f"--{option} {pattern} fits no column of {source.file}: {there}")
                )
            found |= fit
    gone = named["drop"]
    if reading.columns:
        gone = gone | (set(table) - named["columns"])
    return sorted(gone), problems


def _usual_labels(source: Source, drop: Sequence[str]) -> list[int]:
    """The first column with a usual name of labels."""
    if not source.named and not source.beside:
        return []
    lowered = {name.lower(): c for c, name in reversed(list(enumerate(source.names)))}
    found = [lowered[name] for name in LABEL_NAMES if name in lowered]
    return [c for c in found if not any(fnmatchcase(source.names[c], one) for one in drop)][:1]


def _usual_index(
    source: Source, labels: list[int], dropped: list[int], words: list[int]
) -> int | None:
    """A first column that is called so, or words that are all different."""
    if 0 in labels or 0 in dropped or 0 in source.beside:
        return None
    if source.named and source.names[0].lower() in INDEX_NAMES:
        return 0
    return 0 if 0 in words and all_different(source.values(0)) else None


def all_different(values: Any) -> bool:
    """Whether no value comes twice, of more than one."""
    texts = [str(value) for value in values]
    return len(texts) > 1 and len(set(texts)) == len(texts)


def _first(source: Source, at: int) -> str:
    """First filled cell of a column."""
    return next((str(v) for v in np.asarray(source.values(at)).tolist() if str(v).strip()), "")


def cures(name: str, cells: Sequence[str], few: bool = False) -> str:
    """Flags that cure a column that is not numbers; one with few such cells is no labels."""
    ways = [flag("drop", [name])]
    date = bool(cells) and looks_like_date(cells[0])
    if not few and (date or all_different(cells)):
        ways.append(f"{flag('index', [name])} (names of rows)")
    elif not few:
        ways.append(f"{flag('labels', [name])} (labels)")
    return " or ".join(ways)
