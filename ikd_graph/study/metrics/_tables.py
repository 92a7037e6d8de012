"""What every measure checks of its tables, and the rows that it looks at where there are many."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._checks import as_array, as_real, check_finite

Floats = NDArray[np.float64]


def as_table(name: str, values: ArrayLike) -> Floats:
    """Float64 table of finite numbers, (n, m); a flat list is one column."""
    array = np.asarray(as_real(name, values), dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must be a table (points x dimensions), got shape {array.shape}")
    check_finite(name, array)
    return array


def as_pair(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str] = ("true", "estimate")
) -> tuple[Floats, Floats]:
    """Two tables with the same number of rows."""
    a, b = as_table(names[0], first), as_table(names[1], second)
    check_same_points(a.shape[0], b.shape[0], names)
    return a, b


def within_reach(*arrays: Floats) -> tuple[Floats, ...]:
    """Arrays over one power of two, so that no square of theirs overflows or vanishes.

    A power of two changes no digit.
    """
    largest = max(float(np.abs(one).max(initial=0.0)) for one in arrays)
    exponent = int(np.frexp(largest)[1])
    return tuple(np.ldexp(one, -exponent) for one in arrays)


def check_same_points(first: int, second: int, names: tuple[str, str]) -> None:
    """Raise unless two tables have the same number of rows."""
    if first != second:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same points in the same order, got "
            f"{first} and {second} rows"
        )


def as_classes(y: ArrayLike, n_points: int) -> NDArray[np.int64]:
    """Codes of the classes of each point, 0 .. n_classes - 1."""
    labels = as_array("y", y)
    check_one_label_each(labels, n_points)
    try:
        names, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            "y must hold labels of one kind, got some that cannot be compared; make them strings"
        ) from None
    if not 2 <= names.size < n_points:
        raise ValueError(
            f"y must have at least 2 classes and fewer than points, got {names.size} classes for "
            f"{n_points} points; measurements are no classes: see decoding_r2"
        )
    return codes.astype(np.int64)


def check_one_label_each(labels: NDArray[np.generic], n_points: int) -> None:
    """Raise unless there is a label for every point."""
    if labels.shape != (n_points,):
        raise ValueError(
            f"y must have one label for each of the {n_points} points, got shape {labels.shape}"
        )


def sample_of_classes(
    codes: NDArray[np.int64], most: int, least: int, seed: int
) -> NDArray[np.intp]:
    """Rows to look at, ascending: all while they are few, else of every class its share.

    No class keeps fewer than ``least`` of its rows, or all where it has fewer.
    """
    if codes.size <= most:
        return np.arange(codes.size)
    shuffled = np.random.default_rng(seed).permutation(codes.size)
    kept = []
    for code in np.unique(codes):
        mine = shuffled[codes[shuffled] == code]
        kept.append(mine[: max(least, round(mine.size * most / codes.size))])
    return np.sort(np.concatenate(kept))
