"""What tables with missing values must have, and the messages where they have not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._validation import few


def check_known(name: str, values: Any) -> None:
    """Raise if values are missing in rows, dense or sparse."""
    if sp.issparse(values):
        rows = np.unique(values.tocoo().row[np.isnan(values.tocoo().data)])
    else:
        # In blocks, to save memory.
        step = 4096
        starts = range(0, len(values), step)
        missing = [np.isnan(values[s : s + step]).any(axis=1) for s in starts]
        rows = np.flatnonzero(np.concatenate(missing)) if missing else np.empty(0, np.int64)
    if rows.size:
        raise ValueError(
            f"Input {name} contains NaN: every value must be known, got {rows.size} rows with some "
            f"missing: {few(rows)}; pass missing='pairwise', drop those rows, or impute"
        )


def check_pairs_known(values: Any) -> None:
    """Raise if values of pairs are missing in a matrix, dense or sparse."""
    missing = int(np.count_nonzero(np.isnan(values.data if sp.issparse(values) else values)))
    if missing:
        raise ValueError(
            f"Input X contains NaN: got {missing} pairs that are not known; pass a scipy sparse "
            "matrix that stores only what is known"
        )


def check_filled(what: str, some: NDArray[np.bool_]) -> None:
    """Raise if a row or a column holds no value at all."""
    empty = np.flatnonzero(~some)
    if empty.size:
        raise ValueError(
            f"every {what} of X must hold a value, got {empty.size} empty: {few(empty)}; drop them"
        )


def check_common(shared: NDArray[Any], least: int) -> NDArray[np.bool_]:
    """Pairs of rows with too few columns in common; raise where a row has too many of them.

    A row that can be compared with half of the others is placed by them. Two groups of rows without
    a column in common cannot be laid against one another, and one of them is at most half of all.
    """
    unknown = shared < least
    np.fill_diagonal(unknown, False)
    count, others = unknown.sum(axis=1), max(len(unknown) - 1, 1)
    bad = np.flatnonzero(2 * count > others)
    if bad.size:
        worst = bad[np.argmax(count[bad])]
        raise ValueError(
            f"every row must have at least {least} columns in common with half of the others for "
            f"missing='pairwise', got {others - int(count[worst])} of {others} rows for row "
            f"{worst} ({bad.size} such rows: {few(bad)}); drop those rows, or impute"
        )
    return unknown
