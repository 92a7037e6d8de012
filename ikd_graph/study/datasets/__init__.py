"""Data sets: files of the user's, digits, and synthetic ones with known latents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..._suggest import suggest
from ._prepare import change_columns, check_transform
from ._reading import CHOICES, Reading, TableError, refuse
from ._record import NO_LABEL, Dataset, Labels
from .files import READERS as READERS
from .files import read_file
from .synthetic import (
    FIXED_LATENTS,
    digits,
    fixed_latent,
    gp_mapping,
    gplvm_data,
    half_moons,
    ou_latent,
    spike_counts,
    swiss_roll,
)  # fmt: skip

__all__ = [
    "BUILTIN", "CHOICES", "FIXED_LATENTS", "NO_LABEL", "Dataset", "Labels", "Reading", "TableError",
    "digits", "fixed_latent", "gp_mapping", "gplvm_data", "half_moons", "load",
    "ou_latent", "read_file", "spike_counts", "swiss_roll",
]  # fmt: skip

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
        A name in ``BUILTIN``, or a .csv, .tsv, .txt, .npy, .npz, .mat, .h5ad, .nwb, .parquet or
        .xlsx file; see ``read_file``.
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
    """A built-in data set, transformed and scaled."""
    options = ("labels", "labels_file", "key", "transpose", "index", "columns", "drop", "impute")
    refuse(reading, f"the built-in data set {name!r}", (*options, "bin", "na"))
    check_transform(data.X, list(data.feature_names), reading.transform)
    X, done = change_columns(data.X, reading)
    return replace(data, X=X, notes=tuple(done)) if done else data
