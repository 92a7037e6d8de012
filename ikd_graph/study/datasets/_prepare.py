"""From a table as it stands in a file to a data set: chosen, filled, transformed, accounted for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import covariance
from ._choice import Choice, choose_columns
from ._reading import Floats, Problem, Reading, Source, TableError, flag, listed
from ._record import Coded, Dataset, Labels, encode_labels


def prepare(source: Source, reading: Reading, name: str) -> Dataset:
    """Turn what a file holds into points, labels and names; all that is wrong is said at once."""
    choice = choose_columns(source, reading)
    columns = [source.names[c] for c in choice.keep]
    X, problems = source.numbers(choice.keep)
    problems = problems + _missing(X, columns, source, reading) + _infinite(X, columns, source)
    X, filled = _fill(X, columns, reading.impute)
    problems += _outside(X, columns, reading.transform)
    labels = _labels(source, choice)
    problems += _unkind(labels, reading, source)
    labels = [_kind(one, reading) for one in labels]
    problems += _unequal(labels, len(X), source)
    if problems:
        raise TableError(source.file, problems)
    X, changed = change_columns(X, reading, columns)
    notes = [_taken(source, choice, X, labels), *_changes(source, choice, reading)]
    extra = [text for text in (filled, *changed) if text]
    rows, row_title = _row_names(source, choice)
    return Dataset(
        X=X,
        y=labels[0].y if labels else None,
        label_names=labels[0].names if labels else (),
        name=name,
        image_shape=getattr(source, "image_shape", None) if not choice.dropped else None,
        feature_names=tuple(columns) if source.named else (),
        label_period=labels[0].period if labels else None,
        label_title=labels[0].title if labels else "",
        label_palette=labels[0].palette if labels else (),
        other_labels=tuple(labels[1:]),
        row_names=rows,
        row_title=row_title,
        notes=(*notes, *extra),
    )


def change_columns(
    X: Floats, reading: Reading, columns: Sequence[str] = ()
) -> tuple[Floats, list[str]]:
    """Transform every value, scale columns, then rows, as asked; and what was done, in words."""
    done = []
    if reading.transform is not None:
        X = _TRANSFORMS[reading.transform](X)
        done.append(f"every value transformed by {reading.transform}")
    if reading.scale is not None:
        X, still = _scaled(X, reading.scale)
        word = "standard deviation" if reading.scale == "standard" else "interquartile range"
        left = f"; {still} of them without one stay at 0" if still else ""
        done.append(f"columns centred and divided by their {word}{left}")
    rows: dict[str, tuple[Callable[[Floats], Floats], str]] = {
        "standardize_rows": (
            _standard_rows,
            "rows centred and over their standard deviation",
        ),
        "remove_mean_row": (covariance.remove_mean_row, "what the mean row explains was taken off"),
    }
    for name, (change, words) in rows.items():
        if getattr(reading, name):
            if np.isnan(X).any():
                raise ValueError(f"{name} must meet no missing cells; --impute median fills them")
            X = change(X)
            done.append(words)
    return X, done


def _standard_rows(X: Floats) -> Floats:
    """Rows with mean 0 and variance 1; a constant one is 0."""
    return covariance.unit_rows(X, allow_flat=True) * np.sqrt(X.shape[1])


def check_transform(X: Floats, columns: Sequence[str], transform: str | None) -> None:
    """Raise if a transform is not defined for all values."""
    problems = _outside(X, list(columns) or [str(c) for c in range(X.shape[1])], transform)
    if problems:
        raise TableError("the data set", problems)


_TRANSFORMS: dict[str, Callable[[Floats], Floats]] = {
    "sqrt": np.sqrt,
    "log1p": np.log1p,
    # Anscombe (1948): Poisson counts get a variance of about 1.
    "anscombe": lambda X: 2.0 * np.sqrt(X + 0.375),
}


def _scaled(X: Floats, how: str) -> tuple[Floats, int]:
    """Columns centred and divided by their spread, and how many have none."""
    if how == "standard":
        centre, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    else:
        low, centre, high = np.nanpercentile(X, [25.0, 50.0, 75.0], axis=0)
        spread = high - low
    # A spread of rounding errors is none.
    none = spread <= 1e-12 * np.maximum(np.abs(centre), 1e-300)
    centred = X - centre
    centred[:, none] = np.where(np.isnan(X[:, none]), np.nan, 0.0)
    return centred / np.where(none, 1.0, spread), int(none.sum())


def _missing(X: Floats, columns: list[str], source: Source, reading: Reading) -> list[Problem]:
    """What to say of missing cells that nobody said how to fill."""
    holes = np.isnan(X)
    counts = holes.sum(axis=0)
    empty = np.flatnonzero(counts == len(X))
    problems = []
    if empty.size:
        names = [columns[c] for c in empty]
        problems.append(
            Problem(
                f"every cell of {_column_words(names)} of {source.file} is missing; "
                f"{flag('drop', names)}",
                drop=tuple(names),
            )
        )
        counts[empty] = 0
    where = np.flatnonzero(counts)
    if where.size == 0 or reading.impute is not None or reading.keep_missing:
        return problems
    each = listed((f"{columns[c]!r}: {counts[c]}" for c in where), 6)
    row = int(np.flatnonzero(holes[:, where].any(axis=1))[0])
    first = next(columns[c] for c in where if holes[row, c])
    names = [columns[c] for c in where]
    return [
        *problems,
        Problem(
            f"{source.file} must hold finite numbers only, got {int(counts.sum())} missing "
            f"cell(s), the first in row {_row(source, row)}, column {first!r} ({each}); "
            f"--impute median (or mean) fills them, {flag('drop', names)} leaves "
            f"{_them(names)} out",
            impute=True,
        ),
    ]


def _infinite(X: Floats, columns: list[str], source: Source) -> list[Problem]:
    """What to say of infinite cells: no rule fills them."""
    bad = np.isinf(X)
    where = np.flatnonzero(bad.any(axis=0))
    if where.size == 0:
        return []
    row, column = np.argwhere(bad)[0]
    names = [columns[c] for c in where]
    return [
        Problem(
            f"{source.file} must hold finite numbers only, got {int(bad.sum())} infinite cell(s), "
            f"the first in row {_row(source, row)}, column {columns[column]!r}; "
            f"{flag('drop', names)} leaves {_them(names)} out, or leave the cells empty",
            drop=tuple(names),
        )
    ]


def _outside(X: Floats, columns: list[str], transform: str | None) -> list[Problem]:
    """What to say of values a transform is not defined for."""
    if transform is None:
        return []
    least = {"sqrt": 0.0, "log1p": -1.0, "anscombe": -0.375}[transform]
    bad = least >= X if transform == "log1p" else least > X
    if not bad.any():
        return []
    names = [columns[c] for c in np.flatnonzero(bad.any(axis=0))]
    return [
        Problem(
            f"--transform {transform} must not meet values below {least:g}, "
            f"got {int(bad.sum())} of them in {_column_words(names)}; it is for counts: leave it "
            f"out, or {flag('drop', names)}",
            drop=tuple(names),
        )
    ]


def _fill(X: Floats, columns: list[str], how: str | None) -> tuple[Floats, str]:
    """Missing cells filled by the mean or median of their column, and their number in words."""
    holes = np.isnan(X)
    if how is None or not holes.any():
        return X, ""
    known = ~holes.all(axis=0)
    middle = np.zeros(X.shape[1])
    middle[known] = (np.nanmean if how == "mean" else np.nanmedian)(X[:, known], axis=0)
    counts = holes.sum(axis=0)
    where = np.flatnonzero(counts)
    each = listed((f"{columns[c]!r}: {counts[c]}" for c in where), 6)
    share = holes.mean()
    words = f"{int(counts.sum())} missing cell(s), {share:.1%} of the table, filled with the {how} "
    return np.where(holes, middle, X), words + f"of their column ({each})"


def _labels(source: Source, choice: Choice) -> list[Labels]:
    """Every column of labels, as classes or as a measurement."""
    found = []
    for at in choice.labels:
        values = source.values(at)
        title = source.names[at] if _titled(source, at) else ""
        known = getattr(source, "class_names", ())
        coded = values if isinstance(values, Coded) else encode_labels(values, known)
        y, names, *palette = coded
        found.append(Labels(title, y, names, None, *palette))
    return found


def _unkind(labels: Sequence[Labels], reading: Reading, source: Source) -> list[Problem]:
    """What to say of labels that are to be measurements, or run around a circle, and cannot."""
    titles = {one.title for one in labels}
    wanted = {"measured": reading.measured, "label-period": [*reading.periods()]}
    found = [
        Problem(f"--{option} must name labels of {source.file}: {listed(titles)}; got {name!r}")
        for option, names in wanted.items()
        for name in names
        if name and name not in titles
    ]
    for one in labels:
        number = not one.names or _numbers_of(one) is not None
        if one.title in {*reading.measured, *reading.periods()} and not number:
            found.append(
                Problem(f"the labels {one.title!r} of {source.file} must be numbers to be measured")
            )
    return found


def _kind(labels: Labels, reading: Reading) -> Labels:
    """Labels as the measurement that they are said to be, with its period."""
    periods = reading.periods()
    values = _numbers_of(labels) if labels.names else labels.y.astype(np.float64)
    if values is None or (labels.names and labels.title not in {*reading.measured, *periods}):
        # A period for all is for those that are numbers anyway.
        return replace(labels, period=periods.get("") if _many_numbers(labels) else None)
    return Labels(labels.title, values, (), periods.get(labels.title, periods.get("")))


def _many_numbers(labels: Labels) -> bool:
    """Whether classes are the whole numbers of a measurement."""
    return bool(labels.names) and _numbers_of(labels) is not None


def _numbers_of(labels: Labels) -> Floats | None:
    """Numbers that classes are called, NaN where missing; None if they are words."""
    try:
        named = [np.nan if name == "missing" else float(name) for name in labels.names]
    except ValueError:
        return None
    return np.array(named)[labels.y.astype(np.int64)]


def _titled(source: Source, at: int) -> bool:
    """Whether a column has a name of its own."""
    return source.named or at in source.beside


def _unequal(labels: Sequence[Labels], n_rows: int, source: Source) -> list[Problem]:
    """What to say of labels that are not one for each row."""
    return [
        Problem(
            f"{one.title} of {source.file} must have one label for each row of X, got shape "
            f"{one.y.shape} for {n_rows} rows; check how the file was written, or --transpose"
        )
        for one in labels
        if one.y.shape != (n_rows,)
    ]


def _row_names(source: Source, choice: Choice) -> tuple[tuple[str, ...], str]:
    """Names of the rows, and of what names them."""
    if choice.row_names is not None:
        names = tuple(str(value).strip() for value in _texts(source.values(choice.row_names)))
        return names, source.names[choice.row_names] if _titled(source, choice.row_names) else ""
    return getattr(source, "row_names", ()), getattr(source, "row_title", "")


def _texts(values: NDArray[Any] | Coded) -> list[str]:
    """Cells as text."""
    if isinstance(values, Coded):
        return [values.names[code] for code in values.codes.tolist()]
    return [v.decode() if isinstance(v, bytes) else str(v) for v in values.tolist()]


def _taken(source: Source, choice: Choice, X: Floats, labels: Sequence[Labels]) -> str:
    """What was taken for what, in one line."""
    rows, row_title = _row_names(source, choice)
    named = f"{row_title!r}" if row_title else "given" if rows else "none"
    if choice.row_names is not None and not row_title:
        named = f"column {choice.row_names}"
    said = [one.words for one in labels]
    if not said and source.beside:
        said = [
            f"none (--labels may name {listed(source.names[c] for c in sorted(source.beside))})"
        ]
    return (
        f"{source.file}: {X.shape[0]} rows, {X.shape[1]} columns of numbers; header: "
        f"{source.header}; row names: {named}; labels: {', '.join(said) or 'none'}"
    )


def _changes(source: Source, choice: Choice, reading: Reading) -> list[str]:
    """What was left out and turned round, as asked."""
    found = []
    if reading.transpose:
        found.append("rows and columns of the file were exchanged")
    out = [c for c in choice.dropped if c not in {*choice.labels, choice.row_names}]
    if out:
        found.append(f"left out: {listed(source.names[c] for c in out)}")
    return found


def _row(source: Source, row: int) -> int:
    """Number of a row as its file counts: lines from 1, rows of an array from 0."""
    return int(getattr(source, "line_of", lambda at: at)(row))


def _column_words(names: Sequence[str]) -> str:
    """Columns in words."""
    return f"column {names[0]!r}" if len(names) == 1 else f"columns {listed(names, 6)}"


def _them(names: Sequence[str]) -> str:
    """Pronoun of columns."""
    return "the column" if len(names) == 1 else "the columns"
