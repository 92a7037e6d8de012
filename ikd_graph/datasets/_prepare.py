"""From a table as it stands in a file to a data set: chosen, filled, transformed, accounted for."""

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _limits
from .._dataset import Dataset, Labels, encode_labels, plain_texts
from .._suggest import suggest
from .._table import evenly_spaced
from .._types import Floats
from ..missing import MIN_COLUMNS
from ..preprocessing import TRANSFORMS, TablePreprocessor
from ._cells import INDEX_NAMES, LABEL_NAMES, as_number, kind_of, parse_numbers
from ._header import numbers_rows
from ._reading import Problem, Reading, TableError, flag, listed
from ._table import Table


class Choice(NamedTuple):
    """Positions of columns by what they are for, and columns as numbers."""

    features: list[int]
    labels: list[int]
    row_names: int | None
    dropped: list[int]
    parsed: list[tuple[Floats, dict[int, str]]]


def prepare(table: Table, reading: Reading, name: str) -> Dataset:
    """Turn what a file holds into points, labels and names; all that is wrong is said at once."""
    choice = choose_columns(table, reading)
    columns = [table.all_names[c] for c in choice.features]
    X = np.column_stack([choice.parsed[c][0] for c in choice.features])
    odd = [k for k, c in enumerate(choice.features) if choice.parsed[c][1]]
    # What is wrong with these columns is said once.
    X[:, odd] = 0.0
    labels = [_encoded(table, at, reading) for at in choice.labels]
    problems = odd_columns(table, choice) + _bad_cells(X, columns, table, reading)
    problems += _bad_labels(labels, reading, table)
    if problems:
        raise TableError(table.file, _leaving_some(problems, columns))
    holes, remarks = np.isnan(X), _codes(X, columns)
    own = fitted_preprocessor(X, reading)
    # How many cells were filled is said below.
    X, done = own.transform(X), own.steps()[own.impute is not None :]
    labels = [_measured(column, reading) for column in labels]
    rows, row_title = _row_names(table, choice)
    notes = [_taken(table, choice, X, labels), *table.notes]
    notes += ["rows and columns of the file were exchanged"] * reading.transpose
    out = [c for c in choice.dropped if c not in (*choice.labels, choice.row_names)]
    notes += [f"left out: {listed(table.all_names[c] for c in out)}"] * bool(out)
    if reading.impute and holes.any():
        notes.append(
            f"{int(holes.sum())} missing cell(s), {holes.mean():.1%} of the table, filled with the "
            f"{reading.impute} of their column ({_each(holes, columns)})"
        )
    first = labels[0] if labels else Labels("", np.zeros(0), ())
    return Dataset(
        X=X,
        y=first.y if labels else None,
        label_names=first.names,
        name=name,
        image_shape=table.image_shape if not choice.dropped else None,
        feature_names=tuple(columns) if table.names else (),
        label_period=first.period,
        label_title=first.title,
        label_palette=first.palette,
        other_labels=tuple(labels[1:]),
        row_names=rows,
        row_title=row_title,
        notes=(*notes, *done),
        remarks=tuple(remarks),
        preprocessor=own,
    )


def _leaving_some(problems: Sequence[Problem], columns: Sequence[str]) -> list[Problem]:
    """Problems without the advice to leave out all columns."""
    dropped = {name for problem in problems for name in problem.drop}
    if not dropped >= {*columns}:
        return list(problems)
    return [problem._replace(drop=()) for problem in problems]


def change_columns(X: Floats, reading: Reading) -> tuple[Floats, list[str]]:
    """Fill missing cells, transform values, scale columns, then rows; what was done, in words."""
    own = fitted_preprocessor(X, reading)
    return own.transform(X), own.steps()


def fitted_preprocessor(X: Floats, reading: Reading) -> TablePreprocessor:
    """Return what is done to rows: that of a saved model, or one that is fitted to them."""
    if reading.preprocessor is not None:
        return reading.preprocessor
    codes = [as_number(word) for word in reading.na]
    return TablePreprocessor(
        impute=reading.impute,
        na=tuple(code for code in codes if not np.isnan(code)),
        function=reading.transform,
        scale=reading.scale,
        standardize_rows=reading.standardize_rows,
        remove_mean_row=reading.remove_mean_row,
    ).fit(X)


def check_transform(X: Floats, columns: Sequence[str], transform: str | None) -> None:
    """Raise if a transform is not defined for all values."""
    problems = _outside(X, list(columns) or [str(c) for c in range(X.shape[1])], transform)
    if problems:
        raise TableError("the data set", problems)


def _bad_cells(X: Floats, columns: list[str], table: Table, reading: Reading) -> list[Problem]:
    """Describe missing and infinite cells, and of values that no transform takes."""
    # New rows of a model are filled from its own.
    holes, empty = np.isnan(X), np.isnan(X).all(axis=0) & (reading.preprocessor is None)
    fillable = holes & ~empty & (reading.impute is None and not reading.keep_missing)
    problems = []
    if _is_triangle(holes):
        text = (
            f"{table.file} must hold both triangles of a matrix of pairs, got one; "
            "D.fillna(D.T) of pandas fills the other"
        )
        return [Problem(text, (), False)]
    for bad, kind, cure in (
        (fillable, "missing", f"{_keep_missing(X)}, --impute median (or mean) fills them"),
        (holes & empty, "missing", "the column has no others"),
        (np.isinf(X), "infinite", "--na inf,-inf --impute median takes them for missing"),
    ):
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            place = table.place(row, table.all_names.index(columns[column]))
            names = [columns[c] for c in np.flatnonzero(bad.any(axis=0)).tolist()]
            text = (
                f"{table.file} must hold finite numbers only, got {int(bad.sum())} {kind} cell(s), "
                f"the first in {place} ({_each(bad, columns)}); {cure}"
                f"{_or_drop(names, columns)}"
            )
            problems.append(Problem(text, () if bad is fillable else tuple(names), bad is fillable))
    return problems + _outside(X, columns, reading.transform)


def _is_triangle(holes: NDArray[np.bool_]) -> bool:
    """Whether one triangle of a square table is missing, and no cell of the other."""
    off = holes & ~np.eye(*holes.shape, dtype=np.bool_)
    upper = np.triu(np.ones_like(off), 1)
    return len(off) == off.shape[1] > 1 and any(
        np.array_equal(off, side) for side in (upper, upper.T)
    )


def _keep_missing(X: Floats) -> str:
    """Name the rule for missing values that a table has columns enough for."""
    few = np.isfinite(X[evenly_spaced(len(X), _limits.DIAGNOSED_SAMPLE)])
    shared = few.astype(np.float64) @ few.T
    width = X.shape[1]
    if shared.min() >= (MIN_COLUMNS if width >= MIN_COLUMNS else width // 2):
        return "--missing pairwise (of embed) compares rows by the columns that both have"
    return "--missing impute (of embed) fills them from similar rows"


def _or_drop(names: Sequence[str], columns: Sequence[str]) -> str:
    """Say that columns can be left out, where others remain."""
    return f", {flag('drop', names)} leaves them out" if len(names) < len(columns) else ""


def _outside(X: Floats, columns: Sequence[str], transform: str | None) -> list[Problem]:
    """Describe values a transform is not defined for."""
    if transform is None:
        return []
    with np.errstate(all="ignore"):
        bad = np.isfinite(X) & ~np.isfinite(TRANSFORMS[transform](X))
    names = [columns[c] for c in np.flatnonzero(bad.any(axis=0)).tolist()]
    text = (
        f"--transform {transform} must be defined for all values, got {int(bad.sum())} for which "
        f"it is not, such as {X[bad][:1]}, in {listed(map(repr, names), 6)}; it is for counts: "
        f"leave it out{_or_drop(names, columns)}"
    )
    return [Problem(text, tuple(names))] if names else []


def _codes(X: Floats, columns: list[str]) -> list[str]:
    """Describe numbers that are used for missing values, far from all others of a column."""
    remarks = []
    for code in (sign * 10.0**power - sign for power in (2, 3, 4, 5) for sign in (-1, 1)):
        hit, far = np.equal(X, code), []
        for c in np.flatnonzero(hit.any(axis=0) & ~(hit | np.isnan(X)).all(axis=0)).tolist():
            low, high = np.nanmin(X[~hit[:, c], c]), np.nanmax(X[~hit[:, c], c])
            far += [c] * bool(max(low - code, code - high) > 2.0 * (high - low))
        if far:
            names = listed((repr(columns[c]) for c in far), 6)
            remarks.append(
                f"{int(hit[:, far].sum())} cell(s) of {names} hold {code:g}, far from all other "
                f"values; if it stands for missing ones, --na={code:g} --impute median"
            )
    return remarks


def _each(holes: np.ndarray, columns: Sequence[str]) -> str:
    """Count missing cells of each column that has some."""
    counts = holes.sum(axis=0)
    return listed((f"{columns[c]!r}: {counts[c]}" for c in np.flatnonzero(counts).tolist()), 6)


def _encoded(table: Table, at: int, reading: Reading) -> Labels:
    """Return a column of labels, as classes or as a measurement."""
    values = table.values(at)
    if isinstance(values, Labels):
        return replace(values, title=table.title(at))
    signs = {reading.decimal, reading.thousands} - {".", None}
    if any(str(sign) in text for text in plain_texts(values) for sign in signs):
        # Numbers as the file writes them, not words with commas in them.
        numbers, odd = parse_numbers(np.asarray(values, dtype=object), reading)
        values = values if odd else numbers
    return Labels(table.title(at), *encode_labels(values, table.class_names))


def _bad_labels(labels: Sequence[Labels], reading: Reading, table: Table) -> list[Problem]:
    """Describe labels that are to be measurements, or run around a circle, and cannot."""
    titles = {column.title for column in labels}
    requested = {"measured": reading.measured, "label-period": [*reading.periods()]}
    problems = [
        Problem(
            f"--{option} must name labels of {table.file}: {listed(titles)}; got {name!r}"
            f"{suggest(name, titles)}"
        )
        for option, names in requested.items()
        for name in names
        if name and name not in titles
    ]
    measured = {*reading.measured, *reading.periods()}
    if "" in measured and all(column.numbers is None for column in labels):
        text = f"--label-period must go with labels that are measurements, got none in {table.file}"
        problems.append(Problem(f"{text}; name their column with --labels"))
    return problems + [
        Problem(f"the labels {column.title!r} of {table.file} must be numbers to be measured")
        for column in labels
        if column.title in measured and column.numbers is None
    ]


def _measured(labels: Labels, reading: Reading) -> Labels:
    """Labels as the measurement that was asked for, with its period."""
    periods, values = reading.periods(), labels.numbers
    period = periods.get(labels.title, periods.get(""))
    if values is None:
        return labels
    if labels.names and labels.title not in {*reading.measured, *periods}:
        # A period for all is for those that are numbers anyway.
        return replace(labels, period=period)
    return Labels(labels.title, values, (), period)


def _row_names(table: Table, choice: Choice) -> tuple[tuple[str, ...], str]:
    """Names of the rows, and of what names them."""
    at = choice.row_names
    if at is None:
        return table.row_names, table.row_title
    values = table.values(at)
    texts = values.texts if isinstance(values, Labels) else values
    return tuple(plain_texts(texts)), table.title(at)


def _taken(table: Table, choice: Choice, X: Floats, labels: Sequence[Labels]) -> str:
    """Return what was taken for what, in one line."""
    rows, row_title = _row_names(table, choice)
    named = f"{row_title!r}" if row_title else "given" if rows else "none"
    if choice.row_names is not None and not row_title:
        named = f"column {choice.row_names}"
    titles = ", ".join(column.words for column in labels) or "none"
    if not labels and table.next_to:
        titles += f" (--labels may name {listed(table.next_to)})"
    return (
        f"{table.file}: {X.shape[0]} rows, {X.shape[1]} columns of numbers; header: "
        f"{table.header}; row names: {named}; labels: {titles}"
    )


def choose_columns(table: Table, reading: Reading) -> Choice:
    """Tell numbers, labels and row names apart: as requested, else by name and content."""
    names, own = table.all_names, range(len(table.columns))
    problems: list[Problem] = []

    def positions(requested: str | int, option: str) -> list[int]:
        columns = _positions(table, requested)
        if not columns:
            valid = [*table.next_to, *table.names]
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
    if index is None and 0 not in (*labels, *dropped) and not table.exchanged:
        usual = bool(table.names) and (
            names[0].lower() in INDEX_NAMES or numbers_rows(names[0], parsed[0][0])
        )
        texts = words.get(0) in ("dates", "not numbers")
        index = 0 if usual or (texts and _all_different(plain_texts(table.columns[0]))) else None
    plain = [c for c in words if c not in (*labels, index) and words[c] == "not numbers"]
    labels = labels or plain * (len(plain) == 1)
    features = [c for c in own if c not in (*labels, index, *dropped)]
    if reading.model_columns and table.names:
        # Those of a saved model, in its order.
        absent = [name for name in reading.model_columns if name not in table.names]
        if absent:
            got = listed(map(repr, absent), 6)
            text = f"{table.file} must have the columns of the model, got no {got}"
            raise ValueError(
                text + suggest(absent[0], table.names) + _exchange_hint(table, reading)
            )
        features = [table.names.index(name) for name in reading.model_columns]
        dropped = set(own) - {*features, *labels, index}
    if not features and not problems:
        text = f"{table.file} must have a column of numbers, got {listed(names)}; "
        problems = [Problem(text + "rows are points and columns are columns")]
    if problems:
        raise TableError(table.file, problems)
    return Choice(features, labels, index, sorted(dropped), parsed)


def _exchange_hint(table: Table, reading: Reading) -> str:
    """Say that rows of a file have the names of the columns of a model."""
    firsts = set(plain_texts(table.columns[0])) | set(table.row_names)
    hint = set(reading.model_columns) <= firsts and not reading.transpose
    return "; they are names of its rows: --transpose exchanges rows and columns" if hint else ""


def _positions(table: Table, requested: str | int) -> list[int]:
    """Columns of a name, or of that name and a number (position: position[0], position[1])."""
    text, names, width = str(requested), table.all_names, len(table.columns)
    # What stands next to a table was put there to be read as labels.
    order = [*range(width, len(names)), *(range(width) if table.names else ())]
    if text in (named := [names[c] for c in order]):
        return [order[named.index(text)]]
    numbered = [c for c in range(width, len(names)) if names[c].partition("[")[0] == text]
    if numbered or not text.lstrip("-").isdigit() or not -len(names) <= int(text) < len(names):
        return numbered
    return [int(text) % len(names)]


def _usual_labels(table: Table, drop: Sequence[str]) -> list[int]:
    """Return the first column with a usual name of labels."""
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
    """Describe columns with cells that are no numbers: a line for each kind and cure."""
    groups: dict[tuple[str, str], list[int]] = {}
    for c in choice.features:
        values, odd = choice.parsed[c]
        if odd:
            kind = kind_of(values, odd)
            groups.setdefault((kind, _cure(table, kind, odd)), []).append(c)
    return [_say_odd(table, choice, *key, columns) for key, columns in groups.items()]


_COMMAS = {
    "decimal commas": "--decimal ,",
    "numbers with commas for thousands": "--thousands ,",
    "thousands or decimal commas": "--thousands , if 2,590 is 2590, --decimal , if it is 2.59",
}
"""Cures of numbers with commas."""


def _cure(table: Table, kind: str, odd: dict[int, str]) -> str:
    """Say what to do about the odd cells of a column: few among numbers are mistakes."""
    if kind in _COMMAS:
        return _COMMAS[kind]
    if len(odd) < table.n_rows / 2:
        return "correct it or {drop}"
    if kind == "numbers with a unit":
        return "{drop} or write the unit into the name of the column"
    if kind == "dates" or _all_different([*odd.values()]):
        return "{drop} or {index} (names of rows)"
    return "{drop} or {labels} (labels)"


def _say_odd(table: Table, choice: Choice, kind: str, cure: str, columns: list[int]) -> Problem:
    """Describe columns with cells of a kind."""
    names, odd = [table.all_names[c] for c in columns], choice.parsed[columns[0]][1]
    row, text = next(iter(odd.items()))
    flags = {option: flag(option, names) for option in ("drop", "index", "labels")}
    subject, where = f"column {names[0]!r}", table.place(row, columns[0])
    if len(names) > 1:
        subject = f"{len(names)} columns"
    elif not table.exchanged:
        where = where.partition(",")[0]
    if len(names) > max(len(table.columns) / 2, 1) and kind not in _COMMAS:
        cure = f"{_names_below(table, choice, columns)}{cure} or --transpose if columns are points"
    elif not table.names and {*odd} == {0}:
        # Names that are mostly numbers look like a row.
        cure = f"{_names_below(table, choice, columns)}{cure}"
    if len(names) == len(choice.features) and kind not in _COMMAS:
        cure = cure.replace("correct it or {drop}", _as_missing(choice, columns))
        cure = cure.replace("{drop} or ", "")
    return Problem(
        f"{subject} of {table.file} must hold numbers only, got {text!r} in {where} "
        f"({len(odd)} of {table.n_rows} cells are {kind}); "
        f"{cure.format(**flags)}",
        drop=() if kind in _COMMAS else tuple(names),
    )


def _names_below(table: Table, choice: Choice, columns: Sequence[int]) -> str:
    """Say how to read first rows of words that name columns."""
    rows = {row for c in columns for row in choice.parsed[c][1]}
    if table.exchanged or not table.lines or rows != {*range(len(rows))} or len(rows) > 3:
        return ""
    first, last = table.lines[0] - bool(table.names), table.lines[max(rows)]
    lines = f"{first}-{last}" if last > first else f"{last}"
    return f"--header {lines} takes such a row for names, or "


def _as_missing(choice: Choice, columns: Sequence[int]) -> str:
    """Say what to do about a few cells where no column would be left."""
    texts = {text for c in columns for text in choice.parsed[c][1].values()}
    if len(texts) > 3:
        return "correct them"
    return f"{flag('na', sorted(texts))} --impute median takes them for missing, correct them"
