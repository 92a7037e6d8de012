"""Data sets: real ones by name, files of the user's, and the paper's synthetic ones."""

from __future__ import annotations

from pathlib import Path

from ._record import Dataset
from .files import READERS, read_file
from .real import BUILTIN, DATA_HOME, coil20, digits, extended_yale_b, fashion_mnist, guo_qpcr

__all__ = [
    "BUILTIN",
    "DATA_HOME",
    "Dataset",
    "coil20",
    "digits",
    "extended_yale_b",
    "fashion_mnist",
    "guo_qpcr",
    "load",
    "read_file",
]


def load(name_or_path: str | Path, *, label_column: str | int | None = None) -> Dataset:
    """Load a data set by name or from a file.

    Parameters
    ----------
    name_or_path : str or Path
        A name in ``BUILTIN`` (``digits`` needs no download), or a .csv, .tsv, .npy, .npz or .h5ad
        file; see ``read_file``.
    label_column : str, int or None
        Name (or position) of the labels in a file; None finds them by their usual names.

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
        if label_column is not None:
            raise ValueError(
                f"label_column must be None for the built-in data set {text!r}, got "
                f"{label_column!r}; its labels are known"
            )
        return BUILTIN[text]()
    if not Path(text).suffix and not Path(text).exists():
        raise ValueError(
            f"the data set must be one of {', '.join(BUILTIN)} or a file that ends in "
            f"{', '.join(READERS)}; got {text!r}"
        )
    return read_file(text, label_column=label_column)
