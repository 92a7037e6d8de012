"""Which columns of a table are its numbers, its labels and the names of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from ..._suggest import suggest
from ._reading import Floats, Problem, Reading, TableError, flag, listed
from ._record import plain_texts
from ._table import INDEX_NAMES, LABEL_NAMES, Table, kind_of, parse_numbers

_MOST_LINES = 5  # columns of one fault that get a line each


class Choice(NamedTuple):
    """Positions of columns by what they are for, and columns as numbers."""

    keep: list[int]
    labels: list[int]
    row_names: int | None
    dropped: list[int]
    parsed: list[tuple[Floats, dict[int, str]]]


def choose_columns(table: Table, reading: Reading) -> Choice:
    """Tell numbers, labels and row names apart: what was asked for, else by name and content."""
    names = table.all_names
    own = range(len(table.columns))
    labels, index, dropped, problems = _asked_for(table, reading)
    parsed = [parse_numbers(column, reading) for column in table.columns]
    # A few odd cells among numbers are mistakes.
    words = {
        c: kind_of(values, odd)
        for c, (values, odd) in enumerate(parsed)
        if len(odd) > np.count_nonzero(~np.isnan(values)) and c not in (*labels, index, *dropped)
    }
    labels = labels or _usual_labels(table, reading.drop)
    if index is None and 0 not in (*labels, *dropped):
        usual = bool(table.names) and names[0].lower() in INDEX_NAMES
        told = words.get(0) in ("dates", "not numbers")
        index = 0 if usual or (told and all_different(plain_texts(table.columns[0]))) else None
    plain = [c for c in words if c not in (*labels, index) and words[c] == "not numbers"]
    labels = labels or plain * (len(plain) == 1)
    keep = [c for c in own if c not in (*labels, index, *dropped)]
    if not keep and not problems:
        problems = [
            Problem(
                f"{table.file} must have a column of numbers, got {listed(names)}; "
                "rows are points and columns are observed dimensions"
            )
        ]
    if problems:
        raise TableError(table.file, problems)
    return Choice(keep, labels, index, dropped, parsed)


def _asked_for(
    table: Table, reading: Reading
) -> tuple[list[int], int | None, list[int], list[Problem]]:
    """Labels, index and columns left out as asked, and which of them are not there."""
    problems: list[Problem] = []

    def positions(wanted: str | int, option: str) -> list[int]:
        found = _positions(table, wanted)
        if not found:
            there = [*table.beside, *table.names]
            said = listed(there or [f"0 to {len(table.columns) - 1} (no header)"])
            text = f"{option} must be a column of {table.file}: {said}; got {wanted!r}"
            problems.append(Problem(text + suggest(wanted, there)))
        return found

    labels = [at for wanted in reading.labels for at in positions(wanted, "labels")]
    index = None if reading.index is None else positions(reading.index, "index")
    own = table.all_names[: len(table.columns)]
    named: dict[str, set[int]] = {}
    for option in ("columns", "drop"):
        patterns = getattr(reading, option)
        for pattern in patterns:
            fit = {c for c, name in enumerate(own) if fnmatchcase(name, pattern)}
            named.setdefault(option, set()).update(fit)
            if not fit:
                problems.append(
                    Problem(
                        f"--{option} {pattern} fits no column of {table.file}: {listed(own)}"
                        f"{suggest(pattern, own)}"
                    )
                )
    gone = named.get("drop", set()) | (
        set(range(len(own))) - named.get("columns", {*range(len(own))})
    )
    return list(dict.fromkeys(labels)), index[0] if index else None, sorted(gone), problems


def _positions(table: Table, wanted: str | int) -> list[int]:
    """Columns of a name, or of that name and a number (position: position[0], position[1])."""
    text, names, width = str(wanted), table.all_names, len(table.columns)
    # What stands beside a table was put there to be read as labels.
    order = [*range(width, len(names)), *(range(width) if table.names else ())]
    if text in (named := [names[c] for c in order]):
        return [order[named.index(text)]]
    parts = [c for c in range(width, len(names)) if names[c].partition("[")[0] == text]
    if parts or not text.lstrip("-").isdigit() or not -len(names) <= int(text) < len(names):
        return parts
    return [int(text) % len(names)]


def _usual_labels(table: Table, drop: Sequence[str]) -> list[int]:
    """The first column with a usual name of labels."""
    named = [*enumerate(table.all_names)][0 if table.names else len(table.columns) :]
    kept = [(c, name) for c, name in named if not any(fnmatchcase(name, one) for one in drop)]
    lowered = {name.lower(): c for c, name in reversed(kept)}
    return [lowered[name] for name in LABEL_NAMES if name in lowered][:1]


def all_different(texts: Sequence[str]) -> bool:
    """Whether no text comes twice, of more than one."""
    return len(texts) > 1 and len(set(texts)) == len(texts)


def odd_columns(table: Table, choice: Choice) -> list[Problem]:
    """What to say of columns with cells that are no numbers: a line for each, or for each kind."""
    groups: dict[str, list[int]] = {}
    for c in choice.keep:
        if choice.parsed[c][1]:
            groups.setdefault(kind_of(*choice.parsed[c]), []).append(c)
    problems = []
    for kind, columns in groups.items():
        together = kind == "decimal commas" or len(columns) > _MOST_LINES
        for group in [columns] if together else [[c] for c in columns]:
            problems.append(_say_odd(table, choice, kind, group))
    return problems


def _say_odd(table: Table, choice: Choice, kind: str, columns: list[int]) -> Problem:
    """What to say of columns with cells of one kind: few among numbers are mistakes."""
    names, odd = [table.all_names[c] for c in columns], choice.parsed[columns[0]][1]
    row, text = next(iter(odd.items()))
    few = len(odd) < table.n_rows / 2
    who, where = f"column {names[0]!r}", ""
    ways = [flag("drop", names)]
    if len(columns) > 1:
        who, where = f"{len(columns)} columns", f", column {names[0]!r}"
        ways += ["--transpose if columns are points"] * (len(columns) > len(table.columns) / 2)
    elif kind == "numbers with a unit":
        ways.append("write the unit into the name of the column")
    elif not few and (kind == "dates" or all_different([*odd.values()])):
        ways.append(f"{flag('index', names)} (names of rows)")
    elif not few:
        ways.append(f"{flag('labels', names)} (labels)")
    decimal = kind == "decimal commas"
    cure = "--decimal ," if decimal else ("correct it or " if few else "") + " or ".join(ways)
    return Problem(
        f"{who} of {table.file} must hold numbers only, got {text!r} in row "
        f"{row + table.first_row}{where} ({len(odd)} of {table.n_rows} cells are {kind}); {cure}",
        drop=() if decimal else tuple(names),
    )
