"""Load a data set by name, or from a file by its ending."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from .._base.dataset import Dataset
from .._base.files import missing_file
from .._base.format import setting, suggest
from ._prepare import exchange, fitted_steps, prepare
from ._table import Reading, Table
from .arrays import read_annotated, read_mat, read_npy, read_npz
from .synthetic import digits, gplvm_data, half_moons, spike_counts, swiss_roll
from .text import read_parquet, read_sheet, read_text

READERS: dict[str, tuple[Callable[[Path, Reading], Table], tuple[str, ...]]] = {
    ".csv": (read_text, ("header", "sep", "decimal")),
    ".tsv": (read_text, ("header", "sep", "decimal")),
    ".txt": (read_text, ("header", "sep", "decimal")),
    ".npy": (read_npy, ()),
    ".npz": (read_npz, ("key",)),
    ".mat": (read_mat, ("key",)),
    ".h5ad": (read_annotated, ("key",)),
    ".parquet": (read_parquet, ()),
    ".xlsx": (read_sheet, ("header", "sheet")),
}
"""Reader of each file ending, and what it alone takes; text may end in .gz as well."""

_OF_FORMATS = ("header", "sep", "decimal", "key", "sheet")


def read_file(
    path: str | Path,
    *,
    reading: Reading | None = None,
) -> Dataset:
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
    table = _table(Path(path), reading)
    if reading.transpose:
        table, reading = exchange(table, reading)
    return prepare(table, reading, _unpacked(Path(path)).stem)


def _table(path: Path, reading: Reading) -> Table:
    """Return the table of a file, or an error that names the file."""
    inner = _unpacked(path)
    if path.is_dir() and inner.suffix.lower() != ".parquet":
        raise ValueError(f"{path} must be a file, got a folder; name a file in it")
    reader, own = READERS.get(inner.suffix.lower(), (None, ()))
    if reader is None or (inner != path and reader is not read_text):
        raise ValueError(
            f"the data file must end in {', '.join(READERS)} (text also in .gz), got "
            f"{path.name!r}; numpy.save(name, X) or pandas' to_csv write such files"
        )
    if not path.exists():
        raise FileNotFoundError(missing_file("data", path))
    _refuse(reading, path.name, [name for name in _OF_FORMATS if name not in own])
    try:
        return reader(path, reading)
    except ImportError as error:
        raise ImportError(
            f"reading {path.name} needs a package that is not installed "
            f"({' '.join(str(error).split())}); pip install "
            '"ikd_graph[data,anndata]", or save the table by numpy.save'
        ) from error
    except MemoryError as error:
        raise MemoryError(f"{path.name}: {error}") from error
    except Warning:
        raise
    except Exception as error:
        # What the libraries say of a broken file does not name it.
        if isinstance(error, ValueError) and path.name in str(error):
            raise
        told = f", or tell its {', '.join(map(setting, own))}" if own else ""
        raise ValueError(
            f"{path.name} cannot be read as {path.suffix} ({type(error).__name__}: "
            f"{' '.join(str(error).split())[:300]}); write it again from its source{told}"
        ) from error


def _refuse(reading: Reading, name: str, options: Iterable[str]) -> None:
    """Raise if data cannot be read as asked."""
    for option in options:
        if getattr(reading, option) != getattr(Reading, option):
            raise ValueError(
                f"{option} must not be given for {name}, got {getattr(reading, option)!r}; such "
                "data have no use for it"
            )


def _unpacked(path: Path) -> Path:
    """Return a packed file as it is called when it is unpacked."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


BUILTIN: dict[str, Callable[[], Dataset]] = {
    "digits": digits,
    "half_moons": half_moons,
    "swiss_roll": swiss_roll,
    "spike_counts": spike_counts,
    "medium": lambda: gplvm_data("medium", 200, noise=0.1),
}
"""Every data set that ``load`` knows by name, and what makes it."""


def load(
    name_or_path: str | Path,
    *,
    reading: Reading | None = None,
) -> Dataset:
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
    text = str(name_or_path)
    if text in BUILTIN:
        return _changed(BUILTIN[text](), text, reading or Reading())
    if not Path(text).suffix and not Path(text).exists():
        raise ValueError(
            f"the data set must be one of {', '.join(BUILTIN)} or a file that ends in "
            f"{', '.join(READERS)}; got {text!r}{suggest(text, BUILTIN)}"
        )
    return read_file(text, reading=reading)


def _changed(data: Dataset, name: str, reading: Reading) -> Dataset:
    """Return a built-in data set, transformed and scaled."""
    options = ("labels", "transpose", "index", "columns", "drop", "impute", "na", *_OF_FORMATS)
    _refuse(reading, f"the built-in data set {name!r}", options)
    own = fitted_steps(data.X, reading)
    if not own.steps():
        return data
    return replace(data, X=own.apply(data.X), notes=tuple(own.steps()), steps=own)
