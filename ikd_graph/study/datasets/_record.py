"""The record that every loader and generator returns."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
    """

    X: NDArray[np.float64]
    y: NDArray[np.int64] | NDArray[np.float64] | None = None
    label_names: tuple[str, ...] = ()
    latent: NDArray[np.float64] | None = None
    name: str = "data"
    image_shape: tuple[int, int] | None = None
    feature_names: tuple[str, ...] = ()
    label_period: float | None = None

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


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Sorting key that compares runs of digits as numbers."""
    parts = re.split(r"(\d+)", text)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p]
