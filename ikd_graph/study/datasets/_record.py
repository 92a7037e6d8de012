"""The record that every loader and generator returns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MISSING = ("", "-", "--", "?", ".", "na", "n/a", "#n/a", "null", "none", "missing")
"""Cells (in lower case) that stand for a missing value, beside nan."""


class Coded(NamedTuple):
    """Labels as their file holds them: codes into names, the last of which may be "missing"."""

    codes: NDArray[np.int64]  # (n,)
    names: tuple[str, ...]
    palette: tuple[str, ...] = ()  # "#rrggbb" of each class, where the file has them


@dataclass(frozen=True)
class Labels:
    """One column of labels.

    Attributes
    ----------
    title : str
        Name of the column; empty if unknown.
    y : (n,) int64 or float64
        Codes into ``names``; or plain values where the labels are measurements.
    names : tuple of str
        Name of each class; empty without classes.
    period : float or None
        Length of the circle that measurements run around.
    palette : tuple of str
        Colour "#rrggbb" of each class, where the labels came with colours of their own.
    """

    title: str
    y: NDArray[np.int64] | NDArray[np.float64]
    names: tuple[str, ...]
    period: float | None = None
    palette: tuple[str, ...] = ()

    @property
    def texts(self) -> list[Any]:
        """Name of the class of each point, or the measurement; (n,)."""
        if self.names:
            return [self.names[int(code)] for code in self.y]
        return list(self.y.tolist())

    @property
    def words(self) -> str:
        """Name and kind, for a line of text."""
        around = f" around a circle of {self.period:g}" if self.period else ""
        classes = "class" if len(self.names) == 1 else "classes"
        kind = f"{len(self.names)} {classes}" if self.names else f"a measurement{around}"
        if not self.names and np.isnan(self.y).any():
            kind += f", {int(np.isnan(self.y).sum())} missing"
        return f"{self.title!r} ({kind})" if self.title else kind


@dataclass(frozen=True)
class Dataset:
    """Observations with what is known about them.

    Attributes
    ----------
    X : (n, n_features) float64
        Rows are points, columns are observed dimensions.
    y : (n,) int64 or float64, or None
        Codes into ``label_names``; or plain values where the labels are measurements.
    label_names : tuple of str
        Name of each class, in the order of the codes; empty without classes.
    latent : (n, m) float64 or None
        The true latent, for synthetic data.
    name : str
        Short name for titles and file names.
    image_shape : (int, int) or None
        Height and width if each row is an image, row by row.
    feature_names : tuple of str
        Name of each column of ``X``; empty if unknown.
    label_period : float or None
        Length of the circle that labels which are measurements run around, such as 360.
    label_title : str
        Name of the column of labels; empty if unknown.
    label_palette : tuple of str
        Colour "#rrggbb" of each class; empty where the labels have no colours of their own.
    other_labels : tuple of Labels
        Further columns of labels.
    row_names : tuple of str
        Name of each row; empty if unknown.
    row_title : str
        What names the rows, such as the header of their column; empty if unknown.
    notes : tuple of str
        What a file was taken for, and what was done to it.
    remarks : tuple of str
        What is likely to spoil an embedding; see `ikd_graph.study.judgement.judge`.
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64] | NDArray[np.float64] | None = None
    label_names: tuple[str, ...] = ()
    latent: NDArray[np.float64] | None = None
    name: str = "data"
    image_shape: tuple[int, int] | None = None
    feature_names: tuple[str, ...] = ()
    label_period: float | None = None
    label_title: str = ""
    label_palette: tuple[str, ...] = ()
    other_labels: tuple[Labels, ...] = ()
    row_names: tuple[str, ...] = ()
    row_title: str = ""
    notes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of observed dimensions."""
        return self.X.shape[1]

    @property
    def labels(self) -> NDArray[np.str_] | None:
        """Class name of each point, or None without classes."""
        if self.y is None or not self.label_names:
            return None
        return np.asarray(self.label_names)[self.y.astype(np.int64)]

    @property
    def all_labels(self) -> tuple[Labels, ...]:
        """Every column of labels, the one that colours points first."""
        if self.y is None:
            return ()
        first = Labels(
            self.label_title, self.y, self.label_names, self.label_period, self.label_palette
        )
        return (first, *self.other_labels)


def encode_labels(
    values: NDArray[np.generic], names: tuple[str, ...] = ()
) -> tuple[NDArray[np.int64] | NDArray[np.float64], tuple[str, ...]]:
    """Turn raw labels into codes and class names, or into numbers (a measurement) and no names.

    Strings that all read as numbers count as numbers; if some are not whole they are a measurement.
    ``names`` is a wished order, used if every label is one of them or a code 0 .. len(names) - 1;
    otherwise classes are the distinct labels, sorted so that "2" comes before "16" and "16" before
    "32 TE".
    """
    texts = np.asarray(values)
    if texts.dtype.kind in "OSU":
        as_text = [v.decode() if isinstance(v, bytes) else str(v) for v in texts.tolist()]
        texts = np.asarray(as_text, dtype=np.str_)
    known = {name: code for code, name in enumerate(names)}
    if texts.dtype.kind == "U" and known and set(texts.tolist()) <= set(known):
        return np.array([known[v] for v in texts.tolist()], dtype=np.int64), names
    try:
        numbers = texts.astype(np.float64)
    except ValueError:
        holes = np.array([v.strip().lower() in MISSING for v in texts.tolist()], dtype=bool)
        if holes.any() and not holes.all():
            return _with_holes(texts, holes, names)
        ordered = tuple(sorted(set(texts.tolist()), key=_natural))
        position = {name: code for code, name in enumerate(ordered)}
        return np.array([position[v] for v in texts.tolist()], dtype=np.int64), ordered
    if not np.all(np.isfinite(numbers)) or np.any(numbers != np.round(numbers)):
        return numbers, ()
    if np.any(np.abs(numbers) > 2**53):
        # Beyond it neighbouring numbers are one: their digits tell them apart.
        classes, codes = np.unique(texts, return_inverse=True)
        return codes.astype(np.int64), tuple(str(c) for c in classes.tolist())
    whole = numbers.astype(np.int64)
    if names and whole.min() >= 0 and whole.max() < len(names):
        return whole, names
    classes, codes = np.unique(whole, return_inverse=True)
    return codes.astype(np.int64), tuple(str(c) for c in classes)


def _with_holes(
    texts: NDArray[np.str_], holes: NDArray[np.bool_], names: tuple[str, ...]
) -> tuple[NDArray[np.int64] | NDArray[np.float64], tuple[str, ...]]:
    """Labels some of which are missing: NaN in a measurement, else a class called "missing"."""
    known, classes = encode_labels(texts[~holes], names)
    if not classes:
        values = np.full(texts.shape, np.nan)
        values[~holes] = known
        return values, ()
    codes = np.full(texts.shape, len(classes), dtype=np.int64)
    codes[~holes] = known
    return codes, (*classes, "missing")


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Sorting key that compares runs of digits as numbers."""
    parts = re.split(r"(\d+)", text)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p]
