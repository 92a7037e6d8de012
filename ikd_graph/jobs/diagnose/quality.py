"""What in a table is likely to spoil an embedding, in sentences with what cures it."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..._base.setting import setting
from ..._base.types import Floats
from ...datasets import Dataset
from ...datasets._reading import listed
from ...eigen import DOMINANT_FRACTION, dominant_points
from ...metrics import affine_fit

FEWEST_ROWS = 30
"""Rows below which 15 neighbors, which several graphs have, are half of all points."""

_MOST_SQUARED = 1e100
"""Largest value of which a table of any length has finite sums of squares."""

_NOT_MEASURED = re.compile(
    r"(time|timestamp|t|date|day|hour|frame|angle|theta|phi|heading|direction|azimuth|position|pos"
    r"|[xyz]|lat|latitude|lon|lng|longitude)(\W|_|s|ms|sec|min|h|deg|rad|m|mm|cm|km|utc)*"
)
"""Names of clocks, angles and positions, with units."""


def check_data_quality(data: Dataset) -> list[str]:
    """Say what in a data set is likely to spoil an embedding.

    Parameters
    ----------
    data : Dataset
        Points, with names and labels where there are any.

    Returns
    -------
    list of str
        Sentences; empty where nothing is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 6))
    >>> X[:, 2] *= 1000
    >>> check_data_quality(Dataset(X, feature_names=("a", "b", "c", "d", "e", "f")))[0][:45]
    '1 of 6 columns holds 100.0% of the variance ('
    """
    X = np.asarray(data.X, dtype=np.float64)
    largest = float(np.abs(X[np.isfinite(X)]).max(initial=0.0))
    if largest > _MOST_SQUARED or 0.0 < largest < 1.0 / _MOST_SQUARED:
        # Squares of what is compared here must be numbers; the fit says what it can take.
        X = X / largest
        data = replace(data, X=X)
    if len(X) < 5 or not (X[0] != X).any():
        # Nothing can be embedded, which the fit says.
        return []
    names = list(data.feature_names) or [str(c) for c in range(X.shape[1])]
    clocks = clock_columns(X)
    named = [c for c in named_columns(data.feature_names) if c not in clocks]
    leaks = leaking_columns(data)
    texts = []
    for c in clocks + named:
        why = "rises or falls by equal steps, as a clock does"
        if c in named:
            why = "has the name of a clock, an angle or a position"
        cures = f"{setting('index', names[c])} or {setting('labels', (names[c],))}"
        texts.append(f"{names[c]!r} is taken as a measurement and {why}; {cures}")
    texts += [
        f"column {names[c]!r} says {title!r}: scores against those labels will flatter; "
        f"{setting('drop', (names[c],))} leaves it out"
        for c, title in leaks
    ]
    measured = np.setdiff1d(np.arange(X.shape[1]), [*clocks, *named, *(c for c, _ in leaks)])
    # What else is wrong with values, such as codes for missing ones, comes first.
    if not data.remarks:
        X = X[:, measured]
        texts += _dominance(X, [names[c] for c in measured]) or describe_row_levels(X)
    if len(data.X) < FEWEST_ROWS:
        turned = f"; if rows are measurements and columns are points, {setting('transpose', True)}"
        wide = data.X.shape[1] > 10 * len(data.X)
        texts.append(
            f"{len(data.X)} rows are few: an embedding of fewer than {FEWEST_ROWS} points shows "
            f"their noise as much as their order; add rows{turned * wide}"
        )
    return texts


def clock_columns(X: Floats) -> list[int]:
    """Columns that rise or fall by equal steps, or by several at once in gaps.

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
    steps = np.diff(X, axis=0)
    # Clocks are rounded: their steps differ by a small fraction of a step.
    with np.errstate(invalid="ignore", divide="ignore"):
        counts = steps / np.median(steps, axis=0)
        even = np.abs(counts - np.round(counts)).max(axis=0) <= 0.05
        return np.flatnonzero(even & (np.round(counts).min(axis=0) >= 1.0)).tolist()


def named_columns(names: Sequence[str]) -> list[int]:
    """Columns whose name is that of a clock, an angle or a position, unless half of all are such.

    Examples
    --------
    >>> named_columns(["time (s)", "s1", "s2", "s3", "heading_deg", "x_rate"])
    [0, 4]
    """
    columns = [c for c, name in enumerate(names) if _NOT_MEASURED.fullmatch(name.lower())]
    return columns if 2 * len(columns) < len(names) else []


def leaking_columns(data: Dataset) -> list[tuple[int, str]]:
    """Columns that say the labels: equal to a measurement but for scale, or constant in classes.

    Parameters
    ----------
    data : Dataset
        Points with labels.

    Returns
    -------
    list of (int, str)
        Position of each column, and the title of the labels it says.
    """
    titles: dict[int, str] = {}
    X = np.asarray(data.X, dtype=np.float64)
    spread = np.ptp(X, axis=0)
    for labels in data.all_labels:
        y = np.asarray(labels.y, dtype=np.float64)
        labeled = np.isfinite(y)
        classes, codes = np.unique(y[labeled], return_inverse=True)
        rows, predicted = X[labeled], np.zeros((0, X.shape[1]))
        if labels.names and 1 < classes.size <= len(X) / 3:
            means = [rows[codes == k].mean(axis=0) for k in range(classes.size)]
            predicted = np.array(means)[codes]
        elif not labels.names and classes.size > 1 and y[labeled].size >= 5:
            predicted = affine_fit(y[labeled, None], rows)
        if len(predicted):
            exact = np.abs(rows - predicted).max(axis=0) <= 1e-6 * spread
            for c in np.flatnonzero(exact & (spread > 0.0)).tolist():
                titles.setdefault(c, labels.title or "the labels")
    return sorted(titles.items())


def dominant_columns(X: Floats) -> tuple[list[int], float, str]:
    """Return the few columns that decide alone, what fraction they hold, and of what.

    Parameters
    ----------
    X : (n, p) float64
        A table.

    Returns
    -------
    list of int, float, str
        Positions (empty where none dominates), fraction from 0 to 1, and "variance" or "offset".
    """
    p = X.shape[1]
    if p < 3:
        return [], 0.0, ""
    variances, means = np.nanvar(X, axis=0), np.nanmean(X, axis=0)
    offsets = (means - np.median(means)) ** 2 + variances
    for what, sizes in (("variance", variances), ("offset", offsets)):
        order = np.argsort(-sizes, kind="stable")
        fractions = np.cumsum(sizes[order]) / (float(sizes.sum()) or 1.0)
        few = int(np.searchsorted(fractions, DOMINANT_FRACTION)) + 1
        typical = sizes[order[few:]]
        typical = float(np.median(typical[typical > 0.0])) if np.any(typical > 0.0) else np.inf
        # Ten times the standard deviation of the others is another unit.
        if few <= min(5, p / 3) and sizes[order[few - 1]] > 100.0 * typical:
            return order[:few].tolist(), float(fractions[few - 1]), what
    return [], 0.0, ""


def _dominance(X: Floats, names: Sequence[str]) -> list[str]:
    """Columns that decide alone what is near what, as a sentence."""
    columns, fraction, what = dominant_columns(X)
    if not columns:
        return []
    scale = setting("scale", "standard")
    cure = f"unscaled, the others hardly matter; {scale} makes all count alike"
    if len(columns) == 1:
        cure += f", {setting('labels', (names[columns[0]],))} takes it for labels"
    if np.all(X >= 0.0) and np.array_equal(X, np.round(X)):
        root = setting("transform", "sqrt")
        cure = f"the others hardly matter; {root} (or log1p) tames counts"
    holds = "holds" if len(columns) == 1 else "hold"
    of = "variance" if what == "variance" else "squared distance of columns from their usual level"
    return [
        f"{len(columns)} of {len(names)} columns {holds} {fraction:.1%} of the {of} "
        f"({listed(names[c] for c in columns)}): {cure}"
    ]


def row_level_shares(X: Floats) -> tuple[float, float]:
    """Fractions of the differences between rows that their levels and their lengths hold.

    Parameters
    ----------
    X : (n, p) float64
        A table.

    Returns
    -------
    float, float
        From 0 to 1: the fraction of the squared distances between rows that lies in the row means,
        and the fraction of the variance of the remaining squared distances that is that of the
        squared lengths of their two rows.
    """
    scale = float(np.abs(X).max(initial=0.0)) or 1.0
    centered = X / scale - X.mean(axis=0) / scale
    total, levels = float((centered**2).sum()), centered.mean(axis=1)
    if len(X) < 3 or X.shape[1] < 3 or not total > 0.0:
        return 0.0, 0.0
    # Pairs of at most a thousand rows.
    rows = centered[:: -(-len(X) // 1000)]
    rows = rows - rows.mean(axis=1, keepdims=True)
    pairs = np.triu_indices(len(rows), 1)
    squares = np.einsum("ij,ij->i", rows, rows)
    lengths = squares[pairs[0]] + squares[pairs[1]]
    spread = float(np.var(lengths - 2.0 * (rows @ rows.T)[pairs]))
    fraction = float(np.var(lengths)) / spread if spread > 0.0 else 0.0
    return X.shape[1] * float((levels**2).sum()) / total, fraction


def describe_row_levels(X: Floats) -> list[str]:
    """Warn of rows whose levels or lengths hold nearly all that distances compare."""
    # Of rows that differ from all others the fit says so.
    X = np.delete(X, dominant_points(X.mean(axis=1, keepdims=True))[0], axis=0)
    level, length = row_level_shares(X)
    for what, fraction, of in (
        ("means", level, "squared distances between rows"),
        ("lengths", length, "differences between those distances"),
    ):
        if fraction >= DOMINANT_FRACTION:
            return [
                f"row {what} hold {min(fraction, 1.0):.1%} of the {of}: an embedding by distances "
                f"shows little else; {setting('standardize_rows', True)} or "
                f"{setting('affinity', 'correlation')} ignores them"
            ]
    return []
