"""Both ends of the spectrum of a symmetric matrix that is only multiplied with, by block Lanczos.

A pass over a large matrix waits for memory: it costs about as much for four vectors as for two. The
space that leading pairs are found in also holds those at the other end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Vectors that are multiplied at a time at most, blocks of them that are kept, and blocks until the
# search is given up: 10 to 25 do for distances, 80 for noise.
_WIDEST, _BLOCKS, _ROUNDS = 8, 24, 300

# Residual of a leading pair in parts of the largest eigenvalue, near rounding so that the order of
# points leaves no trace; and of the other end, of which only a sum of squares is told.
_EXACT, _ROUGH = 1e-13, 1e-3


class Ends(NamedTuple):
    """Ends of a spectrum."""

    values: Floats  # (k,) largest, descending
    vectors: Floats  # (n, k) theirs
    lowest: Floats  # (k + 1,) ascending, to a thousandth of the largest magnitude


def ends_of(times: Callable[[Floats], Floats], n: int, count: int) -> Ends | None:
    """Leading eigenpairs of a symmetric matrix, and about its lowest eigenvalues.

    ``times`` maps (n, b) vectors to their images; ``count`` is at most n / 4. None where the pairs
    lie too near one another to be told apart in a few hundred rounds.
    """
    width = min(count + 2, _WIDEST)
    most = min(_BLOCKS * width + count, n // 2)
    # A random start: one made from the points would share the symmetries of a grid and miss every
    # eigenvector that lacks them. A block of them sees eigenvalues that are equal.
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((n, width)))[0]
    images = times(basis)
    for _ in range(_ROUNDS):
        values, turns = np.linalg.eigh(basis.T @ images)
        top = min(count + 2, values.size)
        ends = np.concatenate([np.arange(values.size)[: -top - 1 : -1], np.arange(count + 1)])
        ends = ends[ends < values.size]
        left = images @ turns[:, ends] - (basis @ turns[:, ends]) * values[ends]
        off = np.linalg.norm(left, axis=0) / max(float(np.abs(values).max()), np.finfo(float).tiny)
        open_ = np.flatnonzero(off > np.where(np.arange(ends.size) < top, _EXACT, _ROUGH))
        wanted = (open_ < count) | (open_ >= top)
        if values.size >= 2 * count + 1 and not wanted.any():
            leading = ends[:count]
            return Ends(values[leading], basis @ turns[:, leading], values[: count + 1])
        if values.size + width > most:
            kept = np.r_[: count + 1, max(count + 1, values.size - count - 2 * width) : values.size]
            basis, images = basis @ turns[:, kept], images @ turns[:, kept]
        more = left[:, open_[:width]] if open_.size else left[:, :width]
        for _ in range(2):
            more = np.linalg.qr(more - basis @ (basis.T @ more))[0]
        basis, images = np.hstack([basis, more]), np.hstack([images, times(more)])
    return None
