"""Load a data set by name, or from a file by its ending."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from .._base.dataset import Dataset
from .._base.files import missing_file
from .._base.suggest import suggest
from ._prepare import fitted_steps, prepare
from ._reading import Reading, refuse
from ._table import Table, exchange
from .arrays import read_annotated, read_mat, read_npy, read_npz
from .synthetic import digits, gplvm_data, half_moons, spike_counts, swiss_roll
from .text import read_parquet, read_sheet, read_text

_OF_TEXT = ("header", "sep", "sheet", "key")
READERS: dict[str, tuple[Callable[[Path, Reading], Table], tuple[str, ...]]] = {
    ".csv": (read_text, ("key", "sheet")),
    ".tsv": (read_text, ("key", "sheet")),
    ".txt": (read_text, ("key", "sheet")),
    ".npy": (read_npy, _OF_TEXT),
    ".npz": (read_npz, _OF_TEXT[:3]),
    ".mat": (read_mat, _OF_TEXT[:3]),
    ".h5ad": (read_annotated, _OF_TEXT[:3]),
    ".parquet": (read_parquet, _OF_TEXT),
    ".xlsx": (read_sheet, ("key", "sep")),
}
"""Reader of each file ending, and what it has no use for; text may end in .gz or .zip as well."""


def read_file(
    path: str | Path,
    *,
    label_column: str | int | Sequence[str | int] | None = None,
    reading: Reading | None = None,
) -> Dataset:
    """Read a data set from a file, by its ending.

    Parameters
    ----------
    path : str or Path
        A .csv, .tsv, .txt (these also as .gz or .zip), .npy, .npz, .mat, .h5ad, .parquet or .xlsx
        file.
    label_column : str, int, sequence of these or None
        Name (or position) of the labels, the first of several in the pictures. None takes a column
        or key called label, labels, y, class, target or cell_type (in any case of letters) if
        there is one, or else the only column of words (dates are none).
    reading : Reading or None
        How else to read the file: which columns, what to fill, scale and transform.

    Returns
    -------
    Dataset
        With ``X`` (n, n_features) float64, all finite; ``notes`` say what was taken for what.

    Raises
    ------
    ValueError
        If the file is not what its ending says, or its table cannot be read as asked: a line for
        each fault, with its place and the flag that cures it.
    FileNotFoundError
        If there is no such file.
    ImportError
        If a library that reads this kind of file is not installed.
    """
    reading = reading or Reading()
    if label_column is not None:
        names = [label_column] if isinstance(label_column, (str, int)) else label_column
        reading = replace(reading, labels=tuple(names))
    table = _table(Path(path), reading)
    inner = _unpacked(Path(path))
    reader = READERS[inner.suffix.lower()][0]
    if reading.transpose and reader in (read_text, read_sheet, read_parquet):
        table, reading = exchange(table, reading)
    return prepare(table, reading, inner.stem)


def _table(path: Path, reading: Reading) -> Table:
    """Table of a file, or an error that names the file."""
    inner = _unpacked(path)
    reader, useless = READERS.get(inner.suffix.lower(), (None, ()))
    if reader is None or (inner != path and reader is not read_text):
        raise ValueError(
            f"the data file must end in {', '.join(READERS)} (text also in .gz or .zip), got "
            f"{path.name!r}; {_ELSEWHERE.get(inner.suffix.lower(), _USUAL)}"
        )
    if path.is_dir() and reader is not read_parquet:
        raise ValueError(
            f"the data file must be a file, got the folder {str(path)!r}; name a file in it"
        )
    if not path.exists():
        raise FileNotFoundError(missing_file("data", path))
    if path.stat().st_size == 0:
        raise ValueError(f"the data file must not be empty, got 0 bytes in {str(path)!r}")
    refuse(reading, path.name, useless)
    try:
        return reader(path, reading)
    except (ImportError, MemoryError, Warning):
        raise
    except Exception as error:
        # What the libraries say of a broken file does not name it.
        if isinstance(error, ValueError) and path.name in str(error):
            raise
        raise ValueError(
            f"{path.name} must be a whole {path.suffix} file, got {type(error).__name__}: "
            f"{' '.join(str(error).split())[:300]}; write it again from its source"
        ) from error


_USUAL = "numpy.save(name, X) or pandas' to_csv write such files"
_IN_R = "write.csv(x, 'x.csv') in R writes such a file"
_ELSEWHERE = {
    ".rda": _IN_R, ".rdata": _IN_R, ".rds": _IN_R,
    ".xls": "save it as .xlsx", ".ods": "save it as .xlsx",
    ".pkl": "pickles run code when they are read; numpy.save(name, X) writes such a file",
    ".feather": "pandas' to_parquet writes such a file",
    ".h5": "numpy.save(name, file['...'][:]) writes such a file",
    ".mtx": "scanpy.read_10x_mtx(folder).write_h5ad('x.h5ad') writes such a file",
    ".loom": "scanpy.read_loom(name).write_h5ad('x.h5ad') writes such a file",
    ".biom": "biom.load_table(name).to_anndata().write_h5ad('x.h5ad') writes such a file",
    ".set": "numpy.save('x.npy', mne.io.read_raw_eeglab(name).get_data().T) writes such a file",
    ".nwb": "pynapple's units.count(.02) of nap.load_file(name) is a table for IKD().fit",
}  # fmt: skip
"""What to do with files of other endings."""


def _unpacked(path: Path) -> Path:
    """Return a packed file as it is called when it is unpacked."""
    return path.with_suffix("") if path.suffix.lower() in (".gz", ".zip") else path


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
    label_column: str | int | Sequence[str | int] | None = None,
    reading: Reading | None = None,
) -> Dataset:
    """Load a data set by name or from a file.

    Parameters
    ----------
    name_or_path : str or Path
        A name in ``BUILTIN``, or a .csv, .tsv, .txt, .npy, .npz, .mat, .h5ad, .parquet or .xlsx
        file; see ``read_file``.
    label_column : str, int, sequence of these or None
        Name (or position) of the labels in a file; None finds them by their usual names.
    reading : Reading or None
        How else to read a file. A built-in data set can only be transformed and scaled.

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
        reading = reading or Reading()
        if label_column is not None:
            reading = replace(reading, labels=(str(label_column),))
        return _changed(BUILTIN[text](), text, reading)
    if not Path(text).suffix and not Path(text).exists():
        raise ValueError(
            f"the data set must be one of {', '.join(BUILTIN)} or a file that ends in "
            f"{', '.join(READERS)}; got {text!r}{suggest(text, BUILTIN)}"
        )
    return read_file(text, label_column=label_column, reading=reading)


def _changed(data: Dataset, name: str, reading: Reading) -> Dataset:
    """Return a built-in data set, transformed and scaled."""
    options = ("labels", "key", "transpose", "index", "columns", "drop", "impute", "na")
    refuse(reading, f"the built-in data set {name!r}", (*options, *_OF_TEXT[:3]))
    own = fitted_steps(data.X, reading)
    if not own.steps():
        return data
    return replace(data, X=own.apply(data.X), notes=tuple(own.steps()), steps=own)
