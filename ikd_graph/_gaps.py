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
        rows = np.flatnonzero(np.isnan(values).any(axis=1))
    if rows.size:
        raise ValueError(
            f"Input {name} contains NaN: every value must be known, got {rows.size} rows with some "
            f"missing: {few(rows)}; pass missing='pairwise', drop those rows, or impute"
        )


def check_filled(what: str, some: NDArray[np.bool_]) -> None:
    """Raise if a row or a column holds no value at all."""
    empty = np.flatnonzero(~some)
    if empty.size:
        raise ValueError(
            f"every {what} of X must hold a value, got {empty.size} empty: {few(empty)}; drop them"
        )


def check_overlap(shared: NDArray[Any], least: int, pairs: NDArray[Any] | None = None) -> None:
    """Raise if rows share fewer columns than they can be compared by; ``pairs`` names them."""
    worst = int(np.argmin(shared))
    if shared[worst] < least:
        one = (
            f"new row {worst}" if pairs is None else f"rows {pairs[worst][0]} and {pairs[worst][1]}"
        )
        raise ValueError(
            f"two rows must share at least {least} columns with values for missing='pairwise', got "
            f"{int(shared[worst])} for {one} ({int(np.sum(shared < least))} such in all); drop the "
            "rows with fewest values, or impute"
        )
