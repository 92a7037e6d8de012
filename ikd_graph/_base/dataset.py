"""The record that every loader and generator returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .as_table import rows_by_name
from .types import Booleans, Floats, Integers
from .validation import one_each

NO_LABEL = "missing"
"""Class of the rows without a label: pictures show it, scores leave it out."""

MISSING = frozenset(
    ("", "-", "--", "?", ".", "na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "none", NO_LABEL)
)
"""Cells (in lower case) that stand for a missing value."""


Codes = Integers | Floats
"""Codes of classes, or measurements."""


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
        Color "#rrggbb" of each class, where the labels came with colors of their own.
    """

    title: str
    y: Codes
    names: tuple[str, ...] = ()
    period: float | None = None
    palette: tuple[str, ...] = ()

    @property
    def known(self) -> Booleans:
        """Which points have a label, (n,)."""
        if not self.names:
            return np.isfinite(self.y)
        return np.asarray(self.names, dtype=object)[self.y.astype(np.int64)] != NO_LABEL

    @property
    def numbers(self) -> Floats | None:
        """Labels as numbers, NaN where missing, (n,); None if they are words."""
        if not self.names:
            return self.y.astype(np.float64)
        with suppress(ValueError):
            values = [np.nan if name == NO_LABEL else read_number(name) for name in self.names]
            return np.array(values)[self.y.astype(np.int64)]
        return None

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
        classes = len(self.names) - (NO_LABEL in self.names)
        kind = f"{classes} class{'es' * (classes != 1)}" if self.names else f"a measurement{around}"
        if missing := np.count_nonzero(~self.known):
            kind += f", {missing} missing"
        return f"{self.title!r} ({kind})" if self.title else kind


@dataclass(frozen=True)
class Dataset:
    """Observations with what is known about them.

    Attributes
    ----------
    X : (n, n_features) float64
        Rows are points, columns are columns.
    labels : tuple of Labels
        Columns of labels, the one that colors the points first.
    latent : (n, m) float64 or None
        The true latent, for synthetic data.
    name : str
        Short name for titles and file names.
    image_shape : (int, int) or None
        Height and width if each row is an image, row by row.
    feature_names : tuple of str
        Name of each column of ``X``; empty if unknown.
    row_names : tuple of str
        Name of each row; empty if unknown.
    row_title : str
        What names the rows, such as the header of their column; empty if unknown.
    notes : tuple of str
        What a file was taken for, and what was done to it.
    steps : RowSteps or None
        What was done to the rows of ``X``, learnt from them; see `ikd_graph._preprocessing`.
    """

    X: Floats
    labels: tuple[Labels, ...] = ()
    latent: Floats | None = None
    name: str = "data"
    image_shape: tuple[int, int] | None = None
    feature_names: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()
    row_title: str = ""
    notes: tuple[str, ...] = ()
    steps: Any = None

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the rows, or their numbers where these are unknown."""
        return self.row_names or tuple(map(str, range(self.n_samples)))

    @property
    def frame(self) -> Any:
        """``X`` as a data frame of pandas with the names of rows and columns that are known."""
        return pd.DataFrame(self.X, list(self.row_names) or None, list(self.feature_names) or None)

    def labeled(self, labels: Any = None, rows: Sequence[Any] = ()) -> Dataset:
        """Return the data set with other first labels, if any are given, of rows of these names."""
        if labels is None:
            return self
        labels = rows_by_name("labels", labels, rows if len(rows) else self.row_names)
        values = np.asarray(labels)
        one_each("labels", values, self.n_samples, "rows")
        column = Labels(str(getattr(labels, "name", None) or ""), *encode_labels(values))
        return replace(self, labels=(column, *self.labels[1:]))

    @property
    def y(self) -> Codes | None:
        """Codes or values of the first labels, (n,); None if there are none."""
        return self.labels[0].y if self.labels else None

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the classes of the first labels; empty without classes."""
        return self.labels[0].names if self.labels else ()


def encode_labels(values: NDArray[Any]) -> tuple[Codes, tuple[str, ...]]:
    """Turn raw labels into codes and class names, or into numbers (a measurement) and no names.

    Labels that all read as numbers are a measurement if some are not whole, or most of ten or more
    occur once, else classes. Missing ones are NaN in a measurement, and a last class ``NO_LABEL``
    among classes, which are sorted so that "2" comes before "16" and "16" before "32 TE".
    """
    texts = np.array(plain_texts(values), dtype=object)
    missing = np.array([text.lower() in MISSING for text in texts], dtype=bool)
    present = texts[~missing]
    key: Callable[[str], Any] = _natural
    with suppress(ValueError):
        numbers = np.array([read_number(text) for text in present])
        whole = np.all(np.isfinite(numbers) & (numbers == np.round(numbers)))
        # Minutes and altitudes mostly occur once; classes have members.
        once = np.sum(np.unique(numbers, return_counts=True)[1] == 1)
        is_spread = 2 * once > len(numbers) >= 2 * FEWEST_OF_A_CLASS
        if not whole or not present.size or is_spread:
            y = np.full(texts.shape, np.nan)
            y[~missing] = numbers
            return y, ()
        # Beyond 2**53 neighboring numbers are equal: their digits tell them apart.
        if np.abs(numbers).max() <= 2**53:
            present = np.array([str(int(number)) for number in numbers], dtype=object)
            key = int
    order = tuple(sorted(sorted(set(present)), key=key))
    codes = np.full(texts.shape, len(order), dtype=np.int64)
    codes[~missing] = pd.Categorical(present, order).codes
    return codes, (*order, NO_LABEL) if missing.any() else order


def read_number(text: str) -> float:
    """Return a text as a number, where 1_1 is a name; raise ValueError if it is none.

    Examples
    --------
    >>> read_number("1e3")
    1000.0
    """
    if "_" in text:
        raise ValueError(f"an underscore is no part of a number, got {text!r}")
    # Typeset tables have the sign of mathematics.
    return float(text.replace("\u2212", "-", 1))


def plain_texts(values: Any) -> list[str]:
    """Cells as text without blanks around it.

    Examples
    --------
    >>> import numpy as np
    >>> plain_texts(np.array([b"a ", 2, None], dtype=object))
    ['a', '2', 'None']
    """
    return [
        (value.decode(errors="replace") if isinstance(value, bytes) else str(value)).strip()
        for value in np.asarray(values).tolist()
    ]


def _natural(text: str) -> list[tuple[float, str]]:
    """Sorting key: runs of digits as numbers, before words."""
    runs = filter(None, re.split(r"(\d+)", text))
    return [(float(run), "") if run.isdecimal() else (float("inf"), run) for run in runs]


FEWEST_OF_A_CLASS = 5
"""Points of the smallest class below which a five-fold cross-validation cannot hold it."""

MOST_CLASSES = 60
"""Beyond as many whole numbers labels are a measurement too, as in the pictures."""


def class_codes(labels: Labels) -> Integers | None:
    """Code of the class of each point, 0 .. n_classes - 1; None without at least two classes.

    Parameters
    ----------
    labels : Labels
        One label for each point.

    Returns
    -------
    (n,) int64 or None
        -1 for points without a label. Classes that no point has are left out.
    """
    if not labels.names:
        return None
    codes, present = pd.factorize(np.where(labels.known, labels.y, np.nan), sort=True)
    return codes if 1 < present.size < np.count_nonzero(codes >= 0) else None


def label_quantity(labels: Labels) -> Floats | None:
    """Labels as numbers, where they are a measurement.

    A measurement in whole numbers is read as classes. What tells it from numbered classes is that
    it has more values than classes do, or than can be told from so few points.

    Parameters
    ----------
    labels : Labels
        One label for each point.

    Returns
    -------
    (n,) float64 or None
        NaN where unknown; None if labels are no measurement or say nothing.
    """
    if labels.numbers is None:
        return None
    values = np.where(np.isfinite(labels.numbers), labels.numbers, np.nan)
    known = values[~np.isnan(values)]
    n_values = np.unique(known).size
    if labels.names and n_values <= min(MOST_CLASSES, len(values) / FEWEST_OF_A_CLASS):
        return None
    return values if n_values > 1 and known.size >= 2 * FEWEST_OF_A_CLASS else None
