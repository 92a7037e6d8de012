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


class Choice(NamedTuple):
    """Positions of columns by what they are for, and columns as numbers."""

    features: list[int]
    labels: list[int]
    row_names: int | None
    dropped: list[int]
    parsed: list[tuple[Floats, dict[int, str]]]


def choose_columns(table: Table, reading: Reading) -> Choice:
    """Tell numbers, labels and row names apart: as requested, else by name and content."""
    names, own = table.all_names, range(len(table.columns))
    problems: list[Problem] = []

    def positions(requested: str | int, option: str) -> list[int]:
        columns = _positions(table, requested)
        if not columns:
            valid = [*table.beside, *table.names]
            shown = listed(valid or [f"0 to {len(own) - 1} (no header)"])
            text = f"{option} must be a column of {table.file}: {shown}; got {requested!r}"
            problems.append(Problem(text + suggest(requested, valid)))
        return columns

    def matches(option: str) -> set[int]:
        columns: set[int] = set()
        for pattern in getattr(reading, option):
            fit = {c for c in own if fnmatchcase(names[c], pattern)}
            if not fit:
                text = f"--{option} {pattern} fits no column of {table.file}: "
                valid = [names[c] for c in own]
                problems.append(Problem(text + listed(valid) + suggest(pattern, valid)))
            columns |= fit
        return columns

    labels = [c for requested in reading.labels for c in positions(requested, "labels")]
    index = None if reading.index is None else next(iter(positions(reading.index, "index")), None)
    dropped = matches("drop")
    dropped |= set(own) - matches("columns") if reading.columns else set()
    parsed = [parse_numbers(column, reading) for column in table.columns]
    # A few odd cells among numbers are mistakes.
    words = {
        c: kind_of(values, odd)
        for c, (values, odd) in enumerate(parsed)
        if len(odd) > np.count_nonzero(~np.isnan(values)) and c not in (*labels, index, *dropped)
    }
    labels = list(dict.fromkeys(labels)) or _usual_labels(table, reading.drop)
    if index is None and 0 not in (*labels, *dropped):
        usual = bool(table.names) and names[0].lower() in INDEX_NAMES
        texts = words.get(0) in ("dates", "not numbers")
        index = 0 if usual or (texts and _all_different(plain_texts(table.columns[0]))) else None
    plain = [c for c in words if c not in (*labels, index) and words[c] == "not numbers"]
    labels = labels or plain * (len(plain) == 1)
    features = [c for c in own if c not in (*labels, index, *dropped)]
    if not features and not problems:
        text = f"{table.file} must have a column of numbers, got {listed(names)}; "
        problems = [Problem(text + "rows are points and columns are observed dimensions")]
    if problems:
        raise TableError(table.file, problems)
    return Choice(features, labels, index, sorted(dropped), parsed)


def _positions(table: Table, requested: str | int) -> list[int]:
    """Columns of a name, or of that name and a number (position: position[0], position[1])."""
    text, names, width = str(requested), table.all_names, len(table.columns)
    # What stands beside a table was put there to be read as labels.
    order = [*range(width, len(names)), *(range(width) if table.names else ())]
    if text in (named := [names[c] for c in order]):
        return [order[named.index(text)]]
    numbered = [c for c in range(width, len(names)) if names[c].partition("[")[0] == text]
    if numbered or not text.lstrip("-").isdigit() or not -len(names) <= int(text) < len(names):
        return numbered
    return [int(text) % len(names)]


def _usual_labels(table: Table, drop: Sequence[str]) -> list[int]:
    """The first column with a usual name of labels."""
    named = [*enumerate(table.all_names)][0 if table.names else len(table.columns) :]
    lowered = {
        name.lower(): c
        for c, name in reversed(named)
        if not any(fnmatchcase(name, pattern) for pattern in drop)
    }
    return [lowered[name] for name in LABEL_NAMES if name in lowered][:1]


def _all_different(texts: Sequence[str]) -> bool:
    """Whether no text comes twice, of more than one."""
    return len(texts) > 1 and len(set(texts)) == len(texts)


def odd_columns(table: Table, choice: Choice) -> list[Problem]:
    """What to say of columns with cells that are no numbers: a line for each kind and cure."""
    groups: dict[tuple[str, str], list[int]] = {}
    for c in choice.features:
        values, odd = choice.parsed[c]
        if odd:
            kind = kind_of(values, odd)
            groups.setdefault((kind, _cure(table, kind, odd)), []).append(c)
    return [_say_odd(table, choice, *key, columns) for key, columns in groups.items()]


def _cure(table: Table, kind: str, odd: dict[int, str]) -> str:
    """What to do about the odd cells of a column: few among numbers are mistakes."""
    if kind == "decimal commas":
        return "--decimal ,"
    if len(odd) < table.n_rows / 2:
        return "correct it or {drop}"
    if kind == "numbers with a unit":
        return "{drop} or write the unit into the name of the column"
    if kind == "dates" or _all_different([*odd.values()]):
        return "{drop} or {index} (names of rows)"
    return "{drop} or {labels} (labels)"


def _say_odd(table: Table, choice: Choice, kind: str, cure: str, columns: list[int]) -> Problem:
    """What to say of columns with cells of a kind."""
    names, odd = [table.all_names[c] for c in columns], choice.parsed[columns[0]][1]
    row, text = next(iter(odd.items()))
    flags = {option: flag(option, names) for option in ("drop", "index", "labels")}
    subject, where = f"column {names[0]!r}", ""
    if len(names) > 1:
        subject, where = f"{len(names)} columns", f", column {names[0]!r}"
    if len(names) > max(len(table.columns) / 2, 1) and kind != "decimal commas":
        cure += " or --transpose if columns are points"
    return Problem(
        f"{subject} of {table.file} must hold numbers only, got {text!r} in row "
        f"{row + table.first_row}{where} ({len(odd)} of {table.n_rows} cells are {kind}); "
        f"{cure.format(**flags)}",
        drop=() if kind == "decimal commas" else tuple(names),
    )
