"""What in a table is likely to spoil an embedding, in sentences with the flags that cure it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .datasets import Dataset
from .datasets._reading import flag, listed

Floats = NDArray[np.float64]

FEWEST_ROWS = 30
"""Rows below which 15 neighbours, which several graphs have, are half of all points."""

MOST_DOMINANT = 5
"""More columns than this are not few."""

DOMINANT_SHARE = 0.9
"""Share of the total from which columns decide alone what is near what."""

DOMINANT_RATIO = 10.0
"""Standard deviations (or offsets) this many times the usual one are another unit."""

_EQUAL = 1e-9
_FIRST = 50
_CLOCKS = {"time", "t", "timestamp", "date", "datetime", "day", "hour", "minute", "second", "frame"}
_PLACES = {"angle", "theta", "phi", "heading", "direction", "azimuth", "bearing", "position", "pos"}
_PLACES |= {"x", "y", "z", "lat", "latitude", "lon", "lng", "longitude"}
_UNITS = {"s", "ms", "sec", "seconds", "min", "minutes", "h", "hours", "deg", "degrees", "rad"}
_UNITS |= {"m", "mm", "cm", "km", "utc"}
_MOST_ROWS = 1000  # whose distances are looked at


def judge(data: Dataset) -> list[str]:
    """Say what in a data set is likely to spoil an embedding.

    Parameters
    ----------
    data : Dataset
        Points, with names and labels as far as known.

    Returns
    -------
    list of str
        Sentences; empty where nothing is to be said.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 6))
    >>> X[:, 2] *= 1000
    >>> judge(Dataset(X, feature_names=("a", "b", "c", "d", "e", "f")))[0][:45]
    '1 of 6 columns holds 100.0% of the variance ('
    """
    X = np.asarray(data.X, dtype=np.float64)
    if len(X) < 5 or not np.ptp(X, axis=0).any():
        # Nothing can be made of it, which the fit says.
        return []
    names = list(data.feature_names) or [str(c) for c in range(X.shape[1])]
    clocks = clock_columns(X)
    places = [c for c in named_columns(data.feature_names) if c not in clocks]
    leaks = leaking_columns(data)
    found = [_say_clock(X, c, names) for c in clocks]
    found += [_say_place(names[c]) for c in places]
    found += [_say_leak(names[c], title) for c, title in leaks]
    rest = np.setdiff1d(np.arange(X.shape[1]), [*clocks, *places, *(c for c, _ in leaks)])
    # What else is known to be wrong with values, such as codes for missing ones, comes first.
    if not data.remarks:
        found += _say_dominance(X[:, rest], [names[c] for c in rest]) or say_row_levels(X[:, rest])
    if len(data.X) < FEWEST_ROWS:
        wide = X.shape[1] > 10 * len(data.X)
        turned = "; if rows are measurements and columns are points, --transpose" if wide else ""
        found.append(
            f"{len(data.X)} rows are few: an embedding of fewer than {FEWEST_ROWS} points shows "
            f"their noise as much as their order; add rows{turned}"
        )
    return found


def clock_columns(X: Floats) -> list[int]:
    """Columns that rise or fall by equal steps, gaps aside, or number the rows in any order.

    Parameters
    ----------
    X : (n, p) float64
        A table of five rows or more; of fewer anything may look like a clock.

    Returns
    -------
    list of int
        Positions of the columns.
    """
    if len(X) < 5:
        return []
    even = np.zeros(X.shape[1], dtype=bool)
    # Few columns pass on the first rows; only those are looked at in full.
    passed = np.flatnonzero(_even_steps(X[:_FIRST]))
    even[passed] = _even_steps(X[:, passed])
    low, high = X.min(axis=0), X.max(axis=0)
    numbered = np.flatnonzero(~even & (high - low == len(X) - 1))
    counts = [c for c in numbered if np.array_equal(np.sort(X[:, c]), low[c] + np.arange(len(X)))]
    return sorted(int(c) for c in [*np.flatnonzero(even), *counts])


def _even_steps(X: Floats) -> NDArray[np.bool_]:
    """Columns that rise or fall from row to row by equal steps, or by several at once in gaps."""
    steps = np.diff(X, axis=0)
    usual = np.median(steps, axis=0)
    # Clocks are rounded: their steps differ by parts of a step.
    with np.errstate(invalid="ignore", divide="ignore"):
        counts = steps / usual
        even = np.abs(counts - np.round(counts)).max(axis=0) <= 0.05
        return np.asarray(even & (np.round(counts).min(axis=0) >= 1.0))


def named_columns(names: Sequence[str]) -> list[int]:
    """Columns whose name is that of a clock, an angle or a position, unless half of all are such.

    Examples
    --------
    >>> named_columns(["time (s)", "s1", "s2", "s3", "heading_deg", "x_rate"])
    [0, 4]
    """
    words = [re.findall("[a-z]+", name.lower()) or [""] for name in names]
    found = [
        c
        for c, (first, *rest) in enumerate(words)
        if first in _CLOCKS | _PLACES and set(rest) <= _UNITS
    ]
    return found if 2 * len(found) < len(words) else []


def leaking_columns(data: Dataset) -> list[tuple[int, str]]:
    """Columns that say the labels: equal to a measurement but for scale, or one value a class.

    Parameters
    ----------
    data : Dataset
        Points with labels.

    Returns
    -------
    list of (int, str)
        Position of each column, and the title of the labels it says.
    """
    found: dict[int, str] = {}
    X = np.asarray(data.X, dtype=np.float64)
    varying = np.ptp(X, axis=0) > 0.0
    for labels in data.all_labels:
        title = labels.title or "the labels"
        if labels.names:
            said = _one_value_a_class(X, np.asarray(labels.y, dtype=np.int64))
        else:
            said = _proportional(X, np.asarray(labels.y, dtype=np.float64))
        for c in np.flatnonzero(said & varying).tolist():
            found.setdefault(c, title)
    return sorted(found.items())


def _one_value_a_class(X: Floats, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Columns without variation within classes; of classes of a point or two nothing is said."""
    present, codes = np.unique(codes, return_inverse=True)
    if not 1 < present.size <= len(X) / 3:
        return np.zeros(X.shape[1], dtype=bool)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(present.size))
    high = np.maximum.reduceat(X[order], starts, axis=0)
    low = np.minimum.reduceat(X[order], starts, axis=0)
    return np.asarray((high - low).max(axis=0) == 0.0)


def _proportional(X: Floats, values: Floats) -> NDArray[np.bool_]:
    """Columns whose correlation with a measurement is one."""
    known = np.isfinite(values)
    if np.count_nonzero(known) < 5 or np.ptp(values[known]) == 0.0:
        return np.zeros(X.shape[1], dtype=bool)
    there = X[known] - X[known].mean(axis=0)
    wanted = values[known] - values[known].mean()
    length = np.sqrt((there**2).sum(axis=0) * (wanted**2).sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.abs(wanted @ there) / length > 1.0 - _EQUAL)


def dominant_columns(X: Floats) -> tuple[list[int], float, str]:
    """The few columns that decide alone, what share they hold, and of what.

    Parameters
    ----------
    X : (n, p) float64
        A table.

    Returns
    -------
    list of int, float, str
        Positions (empty where none dominates), share from 0 to 1, and "variance" or "offset".
    """
    p = X.shape[1]
    means = np.nanmean(X, axis=0) if p else np.zeros(0)
    for what, sizes in (
        ("variance", np.nanvar(X, axis=0) if p else np.zeros(0)),
        ("offset", (means - np.median(means)) ** 2 + np.nanvar(X, axis=0) if p else np.zeros(0)),
    ):
        total = float(sizes.sum())
        if p < 3 or not total > 0.0:
            continue
        order = np.argsort(-sizes, kind="stable")
        shares = np.cumsum(sizes[order]) / total
        few = int(np.searchsorted(shares, DOMINANT_SHARE)) + 1
        if few > min(MOST_DOMINANT, p / 3):
            continue
        rest = sizes[order[few:]]
        usual = float(np.median(rest[rest > 0.0])) if np.any(rest > 0.0) else 0.0
        if sizes[order[few - 1]] > DOMINANT_RATIO**2 * usual > 0.0:
            return order[:few].tolist(), float(shares[few - 1]), what
    return [], 0.0, ""


def row_level_shares(X: Floats) -> tuple[float, float]:
    """Shares of the differences between rows that their levels and their lengths hold.

    Parameters
    ----------
    X : (n, p) float64
        A table.

    Returns
    -------
    float, float
        From 0 to 1: the share of the squared distances between rows that lies in the row means, and
        the share of the variance of the other squared distances that is that of the squared lengths
        of their two rows.
    """
    scale = float(np.abs(X).max(initial=0.0)) or 1.0
    centred = X / scale - X.mean(axis=0) / scale
    total, levels = float((centred**2).sum()), centred.mean(axis=1)
    if len(X) < 3 or X.shape[1] < 3 or not total > 0.0:
        return 0.0, 0.0
    level = X.shape[1] * float((levels**2).sum()) / total
    rows = centred[:: -(-len(X) // _MOST_ROWS)]
    rows = rows - rows.mean(axis=1, keepdims=True)
    pairs = np.triu_indices(len(rows), 1)
    squares = np.einsum("ij,ij->i", rows, rows)
    lengths = squares[pairs[0]] + squares[pairs[1]]
    spread = float(np.var(lengths - 2.0 * (rows @ rows.T)[pairs]))
    return level, float(np.var(lengths)) / spread if spread > 0.0 else 0.0


def say_row_levels(X: Floats) -> list[str]:
    """What to say of rows whose levels or lengths hold nearly all that distances compare."""
    level, length = row_level_shares(X)
    for what, share, of in (
        ("means", level, "squared distances between rows"),
        ("lengths", length, "differences between those distances"),
    ):
        if share >= DOMINANT_SHARE:
            return [
                f"row {what} hold {min(share, 1.0):.1%} of the {of}: an embedding by distances "
                f"shows little else; --standardize-rows (affinity='correlation') ignores them"
            ]
    return []


def _say_clock(X: Floats, column: int, names: Sequence[str]) -> str:
    """What to say of a column that looks like a clock or an index."""
    first = ", ".join(f"{value:g}" for value in X[:3, column])
    name, steps = names[column], np.diff(X[:, column])
    does = "rises" if np.all(steps > 0.0) else "falls" if np.all(steps < 0.0) else ""
    does = f"{does} by equal steps, as a clock does" if does else "numbers the rows"
    return (
        f"{name!r} ({first}, ...) is taken as a measurement and {does}; {flag('index', [name])} or "
        f"{flag('labels', [name])}"
    )


def _say_place(name: str) -> str:
    """What to say of a column with the name of a clock, an angle or a position."""
    what = (
        "a clock" if re.findall("[a-z]+", name.lower())[0] in _CLOCKS else "an angle or a position"
    )
    other = flag("index" if what == "a clock" else "drop", [name])
    return (
        f"{name!r} is taken as a measurement and has the name of {what}; {other} or "
        f"{flag('labels', [name])}"
    )


def _say_leak(name: str, title: str) -> str:
    """What to say of a column that says the labels."""
    return (
        f"column {name!r} says {title!r}: scores against those labels will flatter; "
        f"{flag('drop', [name])} leaves it out"
    )


def _say_dominance(X: Floats, names: Sequence[str]) -> list[str]:
    """What to say of columns that decide alone what is near what."""
    columns, share, what = dominant_columns(X)
    if not columns:
        return []
    counts = bool(np.all(X >= 0.0) and np.array_equal(X, np.round(X)))
    cure = "the others hardly matter; --transform sqrt (or log1p) tames counts"
    if not counts:
        # The default may have found that out, and scaled them.
        cure = "unscaled, the others hardly matter; --scale makes all count alike"
    holds = "holds" if len(columns) == 1 else "hold"
    of = "variance" if what == "variance" else "squared distance of columns from their usual level"
    return [
        f"{len(columns)} of {len(names)} columns {holds} {share:.1%} of the {of} "
        f"({listed(names[c] for c in columns)}): {cure}"
    ]
