"""From a table as it stands in a file to a data set: chosen, filled, transformed, accounted for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base import limits
from .._base.dataset import Dataset, Labels, encode_labels, plain_texts
from .._base.suggest import suggest
from .._base.table import evenly_spaced
from .._base.types import Floats
from .._preprocessing import TRANSFORMS, RowSteps, learn_steps
from ..missing import MIN_COLUMNS
from ._reading import Problem, Reading, TableError, flag, listed
from ._table import (
    LABEL_NAMES,
    Table,
    as_number,
    fitting,
    kind_of,
    names_rows,
    parse_numbers,
    position_of,
)


class Choice(NamedTuple):
    """Columns by what they are for."""

    features: dict[int, tuple[Floats, dict[int, str]]]  # their numbers, and cells that are none
    labels: list[int | str]  # positions of columns, names of what stands beside the table
    row_names: int | None
    dropped: list[int]


def prepare(table: Table, reading: Reading, name: str) -> Dataset:
    """Turn what a file holds into points, labels and names; all that is wrong is said at once."""
    choice = choose_columns(table, reading)
    names = table.shown_names
    columns = [names[c] for c in choice.features]
    # What is wrong with columns of words is said once.
    X = np.column_stack([np.zeros(len(v)) if odd else v for v, odd in choice.features.values()])
    problems = _odd_columns(table, choice)
    problems += _bad_cells(X, columns, [*choice.features], table, reading)
    if problems:
        raise TableError(table.file, _leaving_some(problems, columns))
    holes = np.isnan(X)
    own = fitted_steps(X, reading)
    # How many cells were filled is said below.
    X, done = own.apply(X), own.steps()[own.impute is not None :]
    labels = [_encoded(table, at) for at in choice.labels]
    rows, title = table.row_names, table.row_title
    if choice.row_names is not None:
        rows = tuple(plain_texts(table.columns[choice.row_names]))
        title = table.names[choice.row_names] if table.names else ""
    titles = ", ".join(column.words for column in labels) or "none"
    if not labels and table.beside:
        titles += f" (--labels may name {listed(table.beside)})"
    named = (f"{title!r}" if title else "given") if rows else "none"
    notes = [
        f"{table.file}: {X.shape[0]} rows, {X.shape[1]} columns of numbers; header: "
        f"{table.header}; row names: {named}; labels: {titles}",
        *table.notes,
    ]
    notes += ["rows and columns of the file were exchanged"] * reading.transpose
    if choice.dropped:
        notes.append(f"left out: {listed(names[c] for c in choice.dropped)}")
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
        label_title=first.title,
        label_palette=first.palette,
        other_labels=tuple(labels[1:]),
        row_names=rows,
        row_title=title,
        notes=(*notes, *done),
        steps=own,
    )


def fitted_steps(X: Floats, reading: Reading) -> RowSteps:
    """Return what is done to rows: that of a saved model, or what is learnt from them."""
    if reading.steps is not None:
        return reading.steps
    codes = [as_number(word) for word in reading.na]
    return learn_steps(
        X,
        impute=reading.impute,
        na=tuple(code for code in codes if not np.isnan(code)),
        function=reading.transform,
        scale=reading.scale,
        standardize_rows=reading.standardize_rows,
        remove_mean_row=reading.remove_mean_row,
    )


def choose_columns(table: Table, reading: Reading) -> Choice:
    """Tell numbers, labels and row names apart: as asked, else by name and content.

    Raises
    ------
    TableError
        If what was asked for is not there, or no column of numbers is left.
    """
    names, own = table.shown_names, range(len(table.columns))
    problems: list[Problem] = []

    def unfit(option: str, asked: str | int, valid: Sequence[str]) -> None:
        shown = listed(valid or [f"0 to {len(own) - 1} (no header)"])
        text = f"--{option} must name a column of {table.file}: {shown}; got {asked!r}"
        problems.append(Problem(text + suggest(str(asked), valid)))

    labels: list[int | str] = []
    valid = [*table.beside, *table.names]
    for asked in reading.labels:
        at = str(asked) if asked in table.beside else position_of(names, asked)
        if at is None:
            unfit("labels", asked, valid)
        else:
            labels.append(at)
    index = None if reading.index is None else position_of(names, reading.index)
    if index is None and reading.index is not None:
        unfit("index", reading.index, table.names)
    fits = {option: fitting(names, getattr(reading, option)) for option in ("drop", "columns")}
    for option, patterns in fits.items():
        for pattern in (pattern for pattern, columns in patterns.items() if not columns):
            unfit(option, pattern, names)
    if problems:
        raise TableError(table.file, problems)
    dropped = {c for columns in fits["drop"].values() for c in columns}
    labels = list(dict.fromkeys(labels)) or _usual_labels(table, dropped)
    if reading.columns:
        dropped |= {*own} - {c for columns in fits["columns"].values() for c in columns}
    if index is None and not table.row_names and 0 not in dropped and 0 not in labels:
        index = 0 if names_rows(table, 0) else None
    chosen = _of_model(table, reading) if reading.model_columns and table.names else own
    if chosen is not own:
        dropped |= {*own} - {*chosen}
    used = {*labels, index}
    features = {
        c: parse_numbers(table.columns[c], reading.na)
        for c in chosen
        if chosen is not own or (c not in used and c not in dropped)
    }
    # The only column of words is one of labels; a few odd cells among numbers are mistakes.
    words = [
        c
        for c, (values, odd) in features.items()
        if len(odd) > np.count_nonzero(~np.isnan(values)) and kind_of(odd) == "not numbers"
    ]
    if not labels and len(words) == 1 and chosen is own:
        labels = [*words]
        del features[words[0]]
    if not features:
        text = f"{table.file} must have a column of numbers, got {listed(names)}; "
        text += table.hint or "rows are points and columns are columns"
        raise TableError(table.file, [Problem(text)])
    return Choice(features, labels, index, sorted(dropped - {*labels, index}))


def _usual_labels(table: Table, dropped: set[int]) -> list[int | str]:
    """Return the first column with a usual name of labels."""
    named: dict[str, int | str] = {name: at for at, name in enumerate(table.names)}
    named |= {name: name for name in table.beside}
    lowered = {name.lower(): at for name, at in named.items() if at not in dropped}
    return [lowered[name] for name in LABEL_NAMES if name in lowered][:1]


def _of_model(table: Table, reading: Reading) -> list[int]:
    """Positions of the columns of a saved model, in its order."""
    exact = {name: at for at, name in enumerate(table.names)}
    absent = [name for name in reading.model_columns if name not in exact]
    if not absent:
        return [exact[name] for name in reading.model_columns]
    firsts = {*plain_texts(table.columns[0]), *table.row_names}
    turned = {*reading.model_columns} <= firsts and not reading.transpose
    hint = "; they are names of its rows: --transpose exchanges rows and columns" * turned
    raise ValueError(
        f"{table.file} must have the columns of the model, got no "
        f"{listed(map(repr, absent), 6)}{suggest(absent[0], table.names)}{hint}"
    )


def _leaving_some(problems: Sequence[Problem], columns: Sequence[str]) -> list[Problem]:
    """Problems without the advice to leave out all columns."""
    dropped = {name for problem in problems for name in problem.drop}
    if not dropped >= {*columns}:
        return list(problems)
    return [problem._replace(drop=()) for problem in problems]


def _bad_cells(
    X: Floats, columns: list[str], at: Sequence[int], table: Table, reading: Reading
) -> list[Problem]:
    """Describe missing and infinite cells, and values that no transform takes."""
    # New rows of a model are filled from its own.
    holes, empty = np.isnan(X), np.isnan(X).all(axis=0) & (reading.steps is None)
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
            names = [columns[c] for c in np.flatnonzero(bad.any(axis=0)).tolist()]
            text = (
                f"{table.file} must hold finite numbers only, got {int(bad.sum())} {kind} cell(s), "
                f"the first in {table.place(row, at[column])} ({_each(bad, columns)}); {cure}"
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
    few = np.isfinite(X[evenly_spaced(len(X), limits.DIAGNOSED_SAMPLE)])
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


def _each(holes: np.ndarray, columns: Sequence[str]) -> str:
    """Count missing cells of each column that has some."""
    counts = holes.sum(axis=0)
    return listed((f"{columns[c]!r}: {counts[c]}" for c in np.flatnonzero(counts).tolist()), 6)


def _encoded(table: Table, at: int | str) -> Labels:
    """Return a column of labels, as classes or as a measurement."""
    if isinstance(at, str):
        values, title = table.beside[at], at
    else:
        values, title = table.columns[at], table.names[at] if table.names else ""
    if isinstance(values, Labels):
        return replace(values, title=title)
    return Labels(title, *encode_labels(values, table.class_names))


def _odd_columns(table: Table, choice: Choice) -> list[Problem]:
    """Describe columns with cells that are no numbers: a line for each kind and cure."""
    groups: dict[tuple[str, bool, str], list[int]] = {}
    for c, (_, odd) in choice.features.items():
        if odd:
            kind, few = kind_of(odd), 2 * len(odd) < table.n_rows
            use = "index" if kind == "dates" or len({*odd.values()}) == len(odd) > 1 else "labels"
            # What cures other signs does not depend on their number.
            key = (kind, few, use) if kind != "numbers with signs" else (kind, False, "")
            groups.setdefault(key, []).append(c)
    return [_odd_problem(table, choice, *key, columns) for key, columns in groups.items()]


def _odd_problem(
    table: Table, choice: Choice, kind: str, few: bool, use: str, columns: list[int]
) -> Problem:
    """Describe columns with cells of a kind, which are mistakes where they are few."""
    shown, odd = table.shown_names, choice.features[columns[0]][1]
    names = [shown[c] for c in columns]
    row, text = next(iter(odd.items()))
    subject, where = f"column {names[0]!r}", table.place(row, columns[0])
    if len(names) > 1:
        subject = f"{len(names)} columns"
    elif not table.exchanged:
        where = where.partition(",")[0]
    told = f"{subject} of {table.file} must hold numbers only, got {text!r} in {where} ("
    told += f"{len(odd)} of {table.n_rows} cells are {kind}); "
    if kind == "numbers with signs":
        decimal = all(text.count(",") == 1 and "." not in text for text in odd.values())
        cure = "take signs between thousands out of the file"
        return Problem(told + "--decimal , if these are decimals, else " * decimal + cure)
    most, whole = len(names) > max(len(shown) / 2, 1), len(names) == len(choice.features)
    rows = {row for c in columns for row in choice.features[c][1]}
    line, texts = max(odd) + table.first_row, sorted({*odd.values()})
    as_names = most and few and not table.exchanged and rows == {*range(len(odd))}
    cures = {
        f"--header {line} takes line {line} for the names": as_names,
        f"{flag('na', texts)} --impute median takes these for missing": few and whole,
        "correct it": few,
        flag("drop", names): not whole,
        f"{flag(use, names)} ({'names of rows' if use == 'index' else use})": not few,
        "--transpose if columns are points": most,
    }
    return Problem(told + " or ".join(cure for cure, fits in cures.items() if fits), tuple(names))
