"""What a fit knows of its table before anything is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.types import Floats, Integers
from ._held_out import sample
from ._moments import Moments, moments


@dataclass(frozen=True)
class Facts:
    """A table, or values between points, and what it says about itself."""

    rows: Any  # (n, p) table, NaN where a value stays unknown, or (n, n) values between points
    has_rows: bool = True
    has_holes: bool = False

    @cached_property
    def block(self) -> Any:
        """The table, or its largest part without holes."""
        return self.rows[np.ix_(*complete_block(self.rows))] if self.has_holes else self.rows

    @cached_property
    def moments(self) -> Moments:
        """How well the columns, those of the block, fit the model."""
        return moments(self.block)

    @cached_property
    def sample(self) -> Floats:
        """Rows and columns that candidates are compared on, dense."""
        return sample(self.rows)


def complete_block(rows: NDArray[np.floating]) -> tuple[Integers, Integers]:
    """Rows and columns of a large block without holes.

    What has the largest fraction of holes, a row or a column, is left out until there are none.
    """
    known = np.isfinite(rows)
    n = len(known)
    left = np.ones(sum(known.shape), dtype=np.bool_)
    holes = np.concatenate([(~known).sum(axis=1), (~known).sum(axis=0)])
    while holes[left].any():
        n_rows, n_columns = left[:n].sum(), left[n:].sum()
        sizes = np.repeat([n_columns, n_rows], known.shape)
        worst = int(np.argmax(np.where(left, holes / sizes, -1.0)))
        left[worst] = False
        if worst < n:
            holes[n:] -= ~known[worst]
        else:
            holes[:n] -= ~known[:, worst - n]
    return np.flatnonzero(left[:n]), np.flatnonzero(left[n:])
