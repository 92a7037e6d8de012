"""From a table as it stands in a file to a data set: chosen, filled, transformed, accounted for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.dataset import Dataset, Labels, encode_labels, plain_texts
from .._base.setting import setting
from .._base.suggest import suggest
from .._base.types import Floats
from .._preprocessing import TRANSFORMS, RowSteps
from ._reading import Problem, Reading, TableError, listed, spell_settings
from ._table import Table, are_words, as_number, fitting, names_rows, parse_numbers, position_of

LABEL_NAMES = ("label", "labels", "y", "class", "target", "cell_type")
"""Column or key names that are read as labels when none is asked for."""


class Choice(NamedTuple):
    """Columns by what they are for."""

    features: list[int]
    labels: list[int | str]  # positions of columns, names of what stands beside the table
    row_names: int | None
    dropped: list[int]


def prepare(table: Table, reading: Reading, name: str) -> Dataset:
    """Turn what a file holds into points, labels and names; all that is wrong is said at once."""
    choice = choose_columns(table, reading)
    X, odd = parse_numbers(table.frame.iloc[:, choice.features], reading.na)
    names = table.names
    if (words := _only_words(table, choice, odd)) is not None:
        return prepare(table, replace(reading, labels=(names[words],)), name)
    columns = [names[c] for c in choice.features]
    if not columns:
        text = f"{table.file} must have a column of numbers, got {listed(names)} (header: "
        text += f"{table.header}); rows are points, {setting('header')} names the line of the names"
        raise TableError(table.file, [Problem(text, {})])
    problems = _odd_columns(table, choice.features, odd)
    # What is wrong with columns of words is said once.
    for at in odd:
        X[:, at] = 0.0
    problems += _bad_cells(X, columns, table, reading)
    if {*columns} <= {name for each in problems for name in each.cure.get("drop", ())}:
        # Nothing would be left to read.
        problems = [each._replace(cure={}) for each in problems]
    if problems:
        raise TableError(table.file, problems)
    holes = np.isnan(X)
    own = fitted_steps(X, reading)
    X = own.apply(X)
    labels = [_encoded(table, at) for at in choice.labels]
    rows, title = table.row_names, str(table.frame.index.name or "")
    if choice.row_names is not None:
        rows = tuple(plain_texts(table.frame.iloc[:, choice.row_names]))
        title = names[choice.row_names] if table.has_names else ""
    titles = ", ".join(column.words for column in labels) or "none"
    if not labels and table.beside:
        titles += f" ({setting('labels')} may name {listed(table.beside)})"
    named = (f"{title!r}" if title else "given") if rows else "none"
    notes = [
        f"{table.file}: {X.shape[0]} rows, {X.shape[1]} columns of numbers; header: "
        f"{table.header}; row names: {named}; labels: {titles}",
        *table.notes,
    ]
    if choice.dropped:
        notes.append(f"left out: {listed(names[c] for c in choice.dropped)}")
    if holes.any():
        notes.append(
            f"{int(holes.sum())} missing cell(s), {holes.mean():.1%} of the table "
            f"({_each(holes, columns)})"
        )
    first = labels[0] if labels else Labels("", np.zeros(0), ())
    return Dataset(
        X=X,
        y=first.y if labels else None,
        label_names=first.names,
        name=name,
        feature_names=tuple(columns) if table.has_names else (),
        label_title=first.title,
        label_palette=first.palette,
        other_labels=tuple(labels[1:]),
        row_names=rows,
        row_title=title,
        notes=(*notes, *own.steps()),
        steps=own,
    )


def fitted_steps(X: Floats, reading: Reading) -> RowSteps:
    """Return what is done to rows, learnt from them."""
    codes = [as_number(word) for word in reading.na]
    steps = RowSteps(
        impute=reading.impute,
        na=tuple(code for code in codes if not np.isnan(code)),
        function=reading.transform,
        scale=reading.scale,
        standardize_rows=reading.standardize_rows,
        remove_mean_row=reading.remove_mean_row,
    )
    return steps.learn(X)


def choose_columns(table: Table, reading: Reading) -> Choice:
    """Tell numbers, labels and row names apart: as asked, else by name and content.

    Raises
    ------
    TableError
        If what was asked for is not there.
    """
    names, own = table.names, range(table.frame.shape[1])
    known = names if table.has_names else []
    problems: list[Problem] = []

    def check(option: str, absent: list[Any], valid: Sequence[str]) -> None:
        if absent:
            shown = listed(valid or [f"0 to {len(own) - 1} (no header)"])
            text = f"{setting(option)} must name columns of {table.file}: {shown}; got no "
            text += listed(map(repr, absent), 6) + suggest(str(absent[0]), valid)
            problems.append(Problem(text, {}))

    asked = [each if each in table.beside else position_of(names, each) for each in reading.labels]
    labels = [at for at in asked if at is not None]
    lost = [each for each, at in zip(reading.labels, asked, strict=True) if at is None]
    check("labels", lost, [*table.beside, *known])
    index = None if reading.index is None else position_of(names, reading.index)
    check("index", [reading.index] * (index is None and reading.index is not None), known)
    fits = {option: fitting(names, getattr(reading, option)) for option in ("drop", "columns")}
    for option, patterns in fits.items():
        check(option, [each for each, columns in patterns.items() if not columns], names)
    if problems:
        raise TableError(table.file, problems)
    dropped = {c for columns in fits["drop"].values() for c in columns}
    labels = list(dict.fromkeys(labels)) or _usual_labels(table, dropped)
    if reading.columns:
        dropped |= {*own} - {c for columns in fits["columns"].values() for c in columns}
    if index is None and 0 not in dropped and 0 not in labels and names_rows(table):
        index = 0
    used = {*labels, index}
    features = [c for c in own if c not in used and c not in dropped]
    return Choice(features, labels, index, sorted(dropped - used))


def _usual_labels(table: Table, dropped: set[int]) -> list[int | str]:
    """Return the first column with a usual name of labels."""
    named: dict[str, int | str] = {}
    if table.has_names:
        named = {name.lower(): at for at, name in enumerate(table.names) if at not in dropped}
    named |= {name.lower(): name for name in table.beside}
    return [named[name] for name in LABEL_NAMES if name in named][:1]


def _only_words(table: Table, choice: Choice, odd: dict[int, NDArray[np.int64]]) -> int | None:
    """Return the only column of words, if some come again and no labels are named."""
    words = [at for at, rows in odd.items() if 2 * len(rows) > len(table.frame)]
    if choice.labels or len(words) != 1:
        return None
    column = choice.features[words[0]]
    texts = plain_texts(table.frame.iloc[:, column])
    return column if len(set(texts)) < len(texts) and are_words(texts) else None


def _odd_columns(
    table: Table, features: Sequence[int], odd: dict[int, NDArray[np.int64]]
) -> list[Problem]:
    """Describe columns with cells that are no numbers: of words, then those with a few mistakes."""
    cells, problems = table.frame.iloc[:, [*features]], []
    for is_many in (True, False):
        group = {at: rows for at, rows in odd.items() if (2 * len(rows) > len(cells)) == is_many}
        if not group:
            continue
        at, rows = next(iter(group.items()))
        names = tuple(table.names[features[each]] for each in group)
        subject = f"column {names[0]!r}" if len(names) == 1 else f"{len(names)} columns"
        cure, rest = _odd_cure(table, cells, group)
        text = (
            f"{subject} of {table.file} must hold numbers only, got "
            f"{str(cells.iloc[rows[0], at])!r} in {table.place(int(rows[0]), names[0])} "
            f"({len(rows)} of {len(cells)} cells are no numbers); {cure}"
        )
        problems.append(Problem(text, rest))
    return problems


def _odd_cure(
    table: Table, cells: Any, odd: dict[int, NDArray[np.int64]]
) -> tuple[str, dict[str, Any]]:
    """Return what to do about cells that are no numbers, and what reads the rest of the table."""
    columns, first = cells.columns.astype(str), next(iter(odd.values()))
    n_rows, last = len(cells), max(int(rows[-1]) for rows in odd.values())
    rest: dict[str, Any] = {"drop": tuple(columns[[*odd]])} if len(odd) < len(columns) else {}
    exchange = f"{setting('transpose', True)} exchanges rows and columns"
    if not rest and last + 1 == len(first) < n_rows and not table.row_names:
        line = int(cells.index[last])
        skip = f"{setting('header', line)} takes that line for the names and skips what is above"
        return f"{skip}, {exchange}", {}
    if 2 * len(first) <= n_rows:
        texts = {str(cells.iloc[row, at]) for at, rows in odd.items() for row in rows}
        rest = rest or {"na": tuple(sorted(texts)), "impute": "median"}
        return f"correct it, or {spell_settings(rest)} reads the rest", rest
    if rest and are_words(plain_texts(cells.iloc[:, next(iter(odd))])):
        use = f"{setting('labels')} takes words for labels, {setting('index')} for names of rows"
        return f"{spell_settings(rest)} reads the rest, {use}", rest
    decimal = f"{setting('decimal', ',')} reads decimal commas, {setting('na')} names words for "
    thousands = "signs between thousands must be taken out of the file"
    return f"{decimal}missing cells, {exchange}; {thousands}", rest


def _bad_cells(X: Floats, columns: list[str], table: Table, reading: Reading) -> list[Problem]:
    """Describe missing and infinite cells, and values that no transform takes."""
    holes, empty = np.isnan(X), np.isnan(X).all(axis=0)
    fillable = holes & ~empty & (reading.impute is None and not reading.keep_missing)
    if _is_triangle(holes):
        text = (
            f"{table.file} must hold both triangles of a matrix of pairs, got one; "
            "D.fillna(D.T) of pandas fills the other"
        )
        return [Problem(text, {})]
    finite = f"{table.file} must hold finite numbers only"
    fill = f"{setting('impute', 'median')} (or mean) fills them"
    leave = f"{setting('missing', 'pairwise')} (of embed) compares rows by the columns both have"
    infinite: dict[str, Any] = {"na": ("inf", "-inf"), "impute": "median"}
    checks = [
        (fillable, finite, "missing", f"{fill}, {leave}", {"impute": "median"}),
        (holes & empty, finite, "missing", "the column has no others", {}),
        (np.isinf(X), finite, "infinite", f"{spell_settings(infinite)} fills them", infinite),
    ]
    if reading.transform is not None:
        with np.errstate(all="ignore"):
            outside = np.isfinite(X) & ~np.isfinite(TRANSFORMS[reading.transform](X))
        rule = f"{setting('transform', reading.transform)} must be defined for all values"
        checks.append((outside, rule, "other", "it is for counts: leave it out", {}))
    problems = []
    for bad, rule, kind, advice, cure in checks:
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            names = tuple(columns[c] for c in np.flatnonzero(bad.any(axis=0)).tolist())
            drop = {"drop": names} if 2 * len(names) <= len(columns) else {}
            text = (
                f"{rule}, got {int(bad.sum())} {kind} cell(s), the first "
                f"in {table.place(row, columns[column])} ({_each(bad, columns)}); "
                f"{advice}{f', {spell_settings(drop)} leaves them out' * bool(drop)}"
            )
            problems.append(Problem(text, cure or drop))
    return problems


def _is_triangle(holes: NDArray[np.bool_]) -> bool:
    """Whether one triangle of a square table is missing, and no cell of the other."""
    if len(holes) != holes.shape[1] or len(holes) < 2:
        return False
    off = holes & ~np.eye(len(holes), dtype=np.bool_)
    upper = np.triu(np.ones_like(off), 1)
    return np.array_equal(off, upper) or np.array_equal(off, upper.T)


def _each(holes: NDArray[np.bool_], columns: Sequence[str]) -> str:
    """Count bad cells of each column that has some."""
    counts = holes.sum(axis=0)
    return listed((f"{columns[c]!r}: {counts[c]}" for c in np.flatnonzero(counts).tolist()), 6)


def _encoded(table: Table, at: int | str) -> Labels:
    """Return a column of labels, as classes or as a measurement."""
    if isinstance(at, str):
        values, title = table.beside[at], at
    else:
        column = table.frame.iloc[:, at]
        values = column.astype(object).where(column.notna(), None).to_numpy(object)
        title = table.names[at] if table.has_names else ""
    if isinstance(values, Labels):
        return replace(values, title=title)
    return Labels(title, *encode_labels(values))
