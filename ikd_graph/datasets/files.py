"""Load a data set by name, or from a file by its ending: chosen, filled, transformed, explained."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas
import scipy.sparse as sp

from .._base.dataset import Dataset, Labels, encode_labels, plain_texts
from .._base.format import listed, setting, suggest
from .._base.types import Booleans, Floats
from .._base.validation import TRIANGLES, is_triangle
from .._preprocessing import STEPS, RowSteps
from . import synthetic
from ._table import (  # fmt: skip
    Reading,
    Table,
    TableError,
    as_number,
    ends_of,
    fitting,
    names_rows,
    parse_numbers,
    position_of,
    unique_names,
    words_of,
)
from .arrays import read_annotated, read_mat, read_npy, read_npz
from .text import read_parquet, read_sheet, read_text

READERS: dict[str, tuple[Callable[[Path, Reading], Table], tuple[str, ...]]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), (read_text, ("header", "sep", "decimal"))),
    ".npy": (read_npy, ()),
    ".npz": (read_npz, ("key",)),
    ".mat": (read_mat, ("key",)),
    ".h5ad": (read_annotated, ("key",)),
    ".parquet": (read_parquet, ()),
    ".xlsx": (read_sheet, ("header", "sheet")),
}
"""Reader of each file ending, and what it alone takes; text may end in .gz as well."""

_OF_FORMATS = ("header", "sep", "decimal", "key", "sheet")


def read_file(path: str | Path, *, reading: Reading | None = None) -> Dataset:
    """Read a data set from a file, by its ending.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .txt (these also as .gz), .npy, .npz, .mat, .h5ad, .parquet or .xlsx
        file.
    reading : Reading or None
        How to read the file: which columns, what to fill, scale and transform.

    Returns
    -------
    Dataset
        With ``X`` (n, n_features) float64, all finite; ``notes`` say what was taken for what.

    Raises
    ------
    ValueError
        If the file is not what its ending says, or its table cannot be read as asked: a line for
        each fault, with its place and what cures it.
    FileNotFoundError
        If there is no such file.
    ImportError
        If a library that reads this kind of file is not installed.
    """
    reading = reading or Reading()
    table, name = _table(Path(path), reading), _unpacked(Path(path)).stem
    if ends := _edges(table, reading):
        return _graph(table, reading, name, ends)
    if reading.transpose:
        table, reading = _exchange(table, reading)
    return _prepare(table, reading, name)


def _table(path: Path, reading: Reading) -> Table:
    """Return the table of a file, or an error that names the file."""
    inner = _unpacked(path)
    if path.is_dir() and inner.suffix.lower() != ".parquet":
        raise ValueError(f"{path} must be a file, got a folder; name a file in it")
    reader, own = READERS.get(inner.suffix.lower(), (None, ()))
    if reader is None or (inner != path and reader is not read_text):
        raise ValueError(
            f"the data set must be one of {', '.join(BUILTIN)}, or a file that ends in "
            f"{', '.join(READERS)} (text also in .gz), got {str(path)!r}"
            + (suggest(path, BUILTIN) or "; numpy.save and pandas' to_csv write such files")
        )
    if not path.exists():
        near = path.parent.iterdir() if path.parent.is_dir() else ()
        hint = suggest(path.name, [file.name for file in near if {*file.suffixes} & {*READERS}])
        text = f"the data file must exist, got {str(path)!r}{hint or '; check the spelling'}"
        raise FileNotFoundError(text)
    _refuse(reading, path.name, [name for name in _OF_FORMATS if name not in own])
    try:
        return reader(path, reading)
    except Exception as error:
        # What the libraries say of a broken file does not name it.
        named = isinstance(error, ValueError) and path.name in str(error)
        if named or isinstance(error, (MemoryError, Warning)):
            raise
        said, told = " ".join(str(error).split())[:300], ", ".join(map(setting, own))
        if isinstance(error, ImportError):
            raise ImportError(
                f"reading {path.name} needs a package that is not installed ({said}); pip install "
                '"ikd_graph[data,anndata]", or save the table by numpy.save'
            ) from error
        text = f"{path.name} cannot be read as {path.suffix} ({type(error).__name__}: {said})"
        cure = "write it again, its lines of equal length" + f", or tell its {told}" * bool(own)
        raise ValueError(f"{text}; {cure}") from error


def _refuse(reading: Reading, name: str, options: Iterable[str]) -> None:
    """Raise if something is asked for that data have no use for."""
    for option in options:
        if (value := getattr(reading, option)) not in (None, getattr(Reading, option)):
            text = f"{option} must not be given for {name}, got {value!r}"
            raise ValueError(f"{text}; such data have no use for it")


def _unpacked(path: Path) -> Path:
    """Return a packed file as it is called when it is unpacked."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


_NAMED = ("digits", "figure_eight", "surface", "half_moons", "swiss_roll", "spike_counts")
BUILTIN: dict[str, Callable[[], Dataset]] = {
    **{name: getattr(synthetic, name) for name in _NAMED},
    "medium": lambda: synthetic.gplvm_data("medium", synthetic.COLUMNS, noise=0.1),
}
"""Every data set that ``load`` knows by name, and what makes it."""


def load(name_or_path: str | Path, *, reading: Reading | None = None) -> Dataset:
    """Load a data set by name or from a file.

    Parameters
    ----------
    name_or_path : str or Path
        A name in ``BUILTIN``, or a .csv, .tsv, .txt, .npy, .npz, .mat, .h5ad, .parquet or .xlsx
        file; see ``read_file``.
    reading : Reading or None
        How to read a file. A built-in data set can only be transformed and scaled.

    Returns
    -------
    Dataset
        Points, labels and what else is known.

    Examples
    --------
    >>> load("digits").n_features
    64
    """
    name, reading = str(name_or_path), reading or Reading()
    if name not in BUILTIN:
        return read_file(name, reading=reading)
    usable = {*STEPS, "keep_missing"} - {"impute"}
    _refuse(reading, f"the built-in data set {name!r}", vars(reading).keys() - usable)
    data = BUILTIN[name]()
    own = _learnt_steps(data.X, reading)
    return replace(data, X=own.apply(data.X), notes=tuple(own.steps()), steps=own)


LABEL_NAMES = ("label", "labels", "y", "class", "target", "cell_type")
"""Column or key names that are read as labels when none is asked for."""


def _edges(table: Table, reading: Reading) -> list[int]:
    """Return the columns of both ends of edges; none of a table of rows.

    Recognized are source and target in a table that has a weight or nothing else; or three columns
    without holes, two of words, of which some are in both and no pair comes twice, and numbers.
    """
    ends, frame = ends_of(table.names, bool(reading.edges)), table.frame
    if not ends and frame.shape[1] == 3 and not frame.isna().to_numpy().any():
        first, second, numbers = (words_of(frame.iloc[:, at]) for at in range(3))
        pairs = {pair for pair in zip(first, second, strict=False) if len({*pair}) == 2}
        if not numbers and {*first} & {*second} and len(pairs) == len(frame):
            ends = [0, 1]
    if ends and reading.edges is False:
        text = f"{table.file} must hold rows of numbers, got a list of edges"
        raise ValueError(f"{text}; {setting('edges', True)} (of cliques) takes it")
    return ends


def _graph(table: Table, reading: Reading, name: str, ends: list[int]) -> Dataset:
    """Return the sparse weights of the pairs of points that edges join, 1 where none are given."""
    _refuse(reading, f"{table.file}, a list of edges", ("labels", "index", "transpose", *STEPS))
    names, frame = table.names, table.frame
    choice = _choose_columns(table, replace(reading, labels=tuple(names[at] for at in ends)))
    weights = [at for at in choice.features if names[at].lower() == "weight"] or choice.features
    cells = frame.iloc[:, ends].to_numpy(object)
    cells[cells == ""] = None
    codes, points = pandas.factorize(cells.ravel())
    edges = pandas.DataFrame(np.sort(codes.reshape(-1, 2), axis=1))
    X, _ = parse_numbers(frame.iloc[:, weights], reading.na)
    edges["weight"] = np.nan if len(weights) > 1 else X[:, 0] if weights else 1.0
    edges = edges.drop_duplicates()
    bad = edges.duplicated([0, 1]) | (edges[0] < 0) | ~(edges.weight.abs() <= 1.0)
    if bad.any():
        row = edges.index[bad.argmax()]
        raise ValueError(
            f"{table.file} must have two names and a weight from -1 to 1 in a line, the same for a "
            f"pair, got {listed(plain_texts(frame.iloc[row]))} in row {frame.index[row]}; "
            f"{setting('columns')} names the weights, {setting('drop')} leaves columns out"
        )
    pairs, n = (edges.weight.to_numpy(), (edges[0], edges[1])), len(points)
    note = f"{table.file}: {n} points, {(edges[0] < edges[1]).sum()} edges; header: {table.header}"
    rows = tuple(plain_texts(points))
    return Dataset(sp.csr_array(pairs, (n, n)), name=name, row_names=rows, notes=(note,))


class Choice(NamedTuple):
    """Columns by what they are for."""

    features: list[int]
    labels: list[int | str]  # positions of columns, names of what stands beside the table
    row_names: int | None
    dropped: list[int]


def _prepare(table: Table, reading: Reading, name: str) -> Dataset:
    """Turn what a file holds into points, labels and names; all that is wrong is said at once."""
    choice, names = _choose_columns(table, reading), table.names
    columns = [names[c] for c in choice.features]
    X, odd = parse_numbers(table.frame.iloc[:, choice.features], reading.na)
    if not X.size:
        text = f"{table.file} must have a column of numbers, got {listed(names)} (header: "
        text += f"{table.header}); rows are points, {setting('header')} names the line of the names"
        raise TableError(table.file, [text])
    if problems := _bad_cells(X, odd, choice, table, reading):
        raise TableError(table.file, problems)
    holes, even = np.isnan(X), _rise_evenly(X)
    own = _learnt_steps(X, reading)
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
    if 0 < even.sum() < even.size and not reading.columns:
        clocks = tuple(np.array(columns)[even].tolist())
        text = f"{listed(clocks)} rises or falls evenly, as clocks do, and counts as a measurement"
        notes.append(f"{text}; {setting('drop', clocks)} leaves it out")
    if holes.any():
        notes.append(
            f"{int(holes.sum())} missing cell(s), {holes.mean():.1%} of the table "
            f"({_each(holes, columns)})"
        )
    return Dataset(
        X=X,
        labels=tuple(labels),
        name=name,
        feature_names=tuple(columns) if table.has_names else (),
        row_names=rows,
        row_title=title,
        notes=(*notes, *own.steps()),
        steps=own,
    )


def _rise_evenly(X: Floats) -> Booleans:
    """Return which columns of ten rows or more change by one step from row to row, as clocks do."""
    fewest, step = 10, X[min(1, len(X) - 1)] - X[0]
    first = np.isclose(np.diff(X[:fewest], axis=0), step, atol=0.0).all(axis=0)
    last = np.isclose(X[-1] - X[0], (len(X) - 1) * step, atol=0.0)
    return first & last & (step != 0.0) & (len(X) >= fewest)


def _learnt_steps(X: Floats, reading: Reading) -> RowSteps:
    """Return what is done to rows, learnt from them."""
    codes = [as_number(word) for word in reading.na]
    asked = {name: getattr(reading, name) for name in STEPS}
    return RowSteps(na=tuple(code for code in codes if not np.isnan(code)), **asked).learn(X)


def _choose_columns(table: Table, reading: Reading) -> Choice:
    """Tell numbers, labels and row names apart: as asked, else by name and content.

    Raises
    ------
    TableError
        If what was asked for is not there.
    """
    names, own = table.names, range(table.frame.shape[1])
    known = names if table.has_names else []
    asked = [each if each in table.beside else position_of(names, each) for each in reading.labels]
    labels = [at for at in dict.fromkeys(asked) if at is not None]
    lost = [each for each, at in zip(reading.labels, asked, strict=True) if at is None]
    index = None if reading.index is None else position_of(names, reading.index)
    no_index = [] if index is not None or reading.index is None else [reading.index]
    absent = {"labels": (lost, [*table.beside, *known]), "index": (no_index, known)}
    fits = {option: fitting(names, getattr(reading, option)) for option in ("drop", "columns")}
    for option, patterns in fits.items():
        absent[option] = [each for each, columns in patterns.items() if not columns], names
    problems = [
        f"{setting(option)} asks for {listed(map(repr, lost))}, which {table.file} lacks; it has "
        f"{listed(valid or [f'columns 0 to {len(own) - 1} (no header)'])}"
        f"{suggest(lost[0], {*valid} - {*reading.columns})}"
        for option, (lost, valid) in absent.items()
        if lost
    ]
    if problems:
        raise TableError(table.file, problems)
    dropped = {c for columns in fits["drop"].values() for c in columns}
    labels = labels or _usual_labels(table, dropped)
    free = index is None and 0 not in {*dropped, *labels} and names[0] not in reading.columns
    if free and not table.row_names and names_rows(names[0], plain_texts(table.frame.iloc[:, 0])):
        index = 0
    others = {*own}.difference(labels, [index], dropped)
    words = {c: texts for c in others if (texts := words_of(table.frame.iloc[:, c]))}
    if not labels and len(words) == 1:
        # Words that come again label the points.
        labels = [c for c, texts in words.items() if len({*texts}) < len(texts)]
    kept = {c for columns in fits["columns"].values() for c in columns} or others
    features = sorted((others & kept).difference(labels))
    return Choice(features, labels, index, sorted({*own}.difference(features, labels, [index])))


def _usual_labels(table: Table, dropped: set[int]) -> list[int | str]:
    """Return the first column with a usual name of labels."""
    named: dict[str, int | str] = {}
    if table.has_names:
        named = {name.lower(): at for at, name in enumerate(table.names) if at not in dropped}
    named |= {name.lower(): name for name in table.beside}
    return [named[name] for name in LABEL_NAMES if name in named][:1]


def _exchange(table: Table, reading: Reading) -> tuple[Table, Reading]:
    """Return the table whose rows are the columns of a file, and what is left to choose.

    ``index`` names a column of the file, and so may ``drop``. Columns of words are no points.
    """
    names, frame = table.names, table.frame
    fits = fitting(names, reading.drop)
    known = tuple(pattern for pattern, columns in fits.items() if columns)
    choice = _choose_columns(table, Reading(index=reading.index, drop=known))
    points = [at for at in choice.features if not words_of(frame.iloc[:, at])]
    turned, header = frame.iloc[:, points], table.header if table.row_names else "none"
    if choice.row_names is not None:
        rows = plain_texts(frame.iloc[:, choice.row_names])
        turned, header = turned.set_axis(unique_names(rows)), f"column {names[choice.row_names]!r}"
    elif not table.row_names:
        turned = turned.reset_index(drop=True)
    turned.columns.name = None
    left = [name for at, name in enumerate(names) if at not in (*points, choice.row_names)]
    notes = ["rows and columns of the file were exchanged"]
    if left:
        notes.append(f"left out of the points: {listed(left)}")
    drop = tuple(pattern for pattern in fits if pattern not in known)
    exchanged = replace(table, frame=turned.T, header=header, notes=(*table.notes, *notes))
    return exchanged, replace(reading, index=None, drop=drop)


def _bad_cells(
    X: Floats, odd: Booleans, choice: Choice, table: Table, reading: Reading
) -> list[str]:
    """Describe cells that are no numbers, missing or infinite."""
    titles = table.names
    columns = [titles[c] for c in choice.features]
    # What is wrong with columns of words is said once.
    holes = np.isnan(X) & ~odd.any(axis=0)
    if is_triangle(holes):
        return [f"{table.file} {TRIANGLES}"]
    # A column without numbers cannot be filled.
    missing = holes & (holes.all(axis=0) if reading.impute else not reading.keep_missing)
    fill = setting("impute", "median")
    others = (
        f"{setting('labels')} takes words for labels, {setting('index')} for names of rows, "
        f"{setting('na')} for missing cells, {setting('edges', True)} (of cliques) for edges, "
        f"{setting('decimal', ',')} reads decimal commas, "
        f"{setting('header')} names the line of the names (now {table.header}), "
        f"{setting('transpose', True)} exchanges rows and columns; signs between "
        "thousands must be taken out of the file"
    )
    checks = {
        "numbers only, got {} other": (odd, f"correct the file, or tell what they are: {others}"),
        "finite numbers only, got {} missing": (
            missing, f"{fill} (or mean) fills those of a column that has others, "
            f"{setting('missing', 'pairwise')} (not of compare) compares rows by what both have",
        ),
        "finite numbers only, got {} infinite": (
            np.isinf(X), setting("na", ("inf", "-inf"))
            + (" takes them for missing" if reading.keep_missing else f" {fill} fills them"),
        ),
    }  # fmt: skip
    problems, left = [], {*columns}
    for rule, (bad, cure) in checks.items():
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            first = f"{str(table.frame.iloc[row, choice.features[column]])!r} " * (bad is odd)
            names = tuple(columns[c] for c in np.flatnonzero(bad.any(axis=0)).tolist())
            rest = f"; {setting('drop', names)} reads the rest" * bool(left := left - {*names})
            problems.append(
                f"{table.file} must hold {rule.format(bad.sum())} cell(s), the first {first}in "
                f"{table.place(row, columns[column])} ({_each(bad, columns)}); {cure}{rest}"
            )
    return problems


def _each(holes: Booleans, columns: Sequence[str]) -> str:
    """Count bad cells of each column that has some."""
    counts = holes.sum(axis=0)
    return listed(f"{columns[c]!r}: {counts[c]}" for c in np.flatnonzero(counts).tolist())


def _encoded(table: Table, at: int | str) -> Labels:
    """Return a column of labels, as classes or as a measurement."""
    if isinstance(at, str):
        values, title = table.beside[at], at
    else:
        values = table.frame.iloc[:, at].to_numpy(object)
        title = table.names[at] if table.has_names else ""
    if isinstance(values, Labels):
        return replace(values, title=title)
    return Labels(title, *encode_labels(values))
