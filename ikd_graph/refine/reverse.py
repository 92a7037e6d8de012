"""Stretches of a line turned round, as in the travelling salesman's 2-opt moves (Croes 1958).

Points on a line cannot pass one another, so that a stretch that lies the wrong way round stays so.
Its inside is right; the points at either end of it belong to the neighbours at the other.

The constants were chosen on cells 8, 65, 94, 153, 164, 518, 519 and 531 of `tests/polish_cells.py`.
Of twelve others of one dimension, numbers 502 to 538, none changed; it is rarely needed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..covariance import to_correlation
from .descent import best_of
from .objective import Candidate, Objective

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_WIDTHS = (2, 4, 8)  # points on either side of an end that are compared: noise, or a short stretch
_SURE = 2.0  # standard errors of such a mean correlation that a turn must gain
_MOST_TURNS, _MOST_ROUNDS = 40, 6
_GAIN = 0.1  # nats, of all observed dimensions


def reverse(
    objective: Objective,
    best: Candidate,
    n_observed: int,
    descend: Callable[[Floats], Candidate],
    most_work: float,
) -> Candidate:
    """Turn stretches of a line round and descend, while that leads lower.

    Parameters
    ----------
    objective : Objective
        Likelihood of all points at once, of one component.
    best : Candidate
        A local optimum.
    n_observed : int
        Number of observed dimensions.
    descend : callable
        From a line (n, 1) to a local optimum.
    most_work : float
        What the meter may show when the last descent begins.

    Returns
    -------
    Candidate
        The best found, never worse.
    """
    corr = to_correlation(objective.cov)
    for _ in range(_MOST_ROUNDS):
        line, ends = objective.latent(best.vector)[:, 0], [best]
        for width in _WIDTHS:
            turned = turned_line(line, corr, width, _SURE / np.sqrt(n_observed * width))
            if turned is not None and objective.meter.work < most_work:
                ends.append(descend(turned[:, None]))
        lead = best_of(ends)
        if lead.value > best.value - _GAIN / n_observed:
            return lead
        best = lead
    return best


def turned_line(line: Floats, corr: Floats, width: int, least: float) -> Floats | None:
    """A line with stretches turned round, always the one whose ends gain most.

    Parameters
    ----------
    line : (n,) float64
        Places of points.
    corr : (n, n) float64
        Correlations between them.
    width : int
        Points on either side of an end of a stretch that are compared.
    least : float
        Mean correlation that a turn must gain.

    Returns
    -------
    (n,) ndarray of float64 or None
        The line; None if no turn gains so much.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph.refine.reverse import turned_line
    >>> true = np.arange(12.0)
    >>> corr = np.exp(-np.abs(true[:, None] - true))
    >>> wrong = np.r_[0.0:4.0, 7.0, 6.0, 5.0, 4.0, 8.0:12.0]
    >>> bool(np.array_equal(turned_line(wrong, corr, 2, 0.1), true))
    True
    """
    out = line.copy()
    for turn in range(_MOST_TURNS):
        order = np.argsort(out, kind="stable")
        gains = _gains(corr[np.ix_(order, order)], width)
        first, last = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if gains[first, last] <= least:
            return out if turn else None
        stretch = order[first : last + 1]
        out[stretch] = out[stretch].min() + out[stretch].max() - out[stretch]
    return out


def _gains(corr: Floats, width: int) -> Floats:
    """Mean correlation gained at both ends by turning each stretch of a line, by its ends."""
    n = len(corr)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = corr.cumsum(axis=0).cumsum(axis=1)

    def mean(a: Places, b: Places, c: Places, d: Places) -> Floats:
        total = sums[b, d] - sums[a, d] - sums[b, c] + sums[a, c]
        return total / np.maximum((b - a) * (d - c), 1)

    first, last = np.ogrid[:n, :n]
    inside = np.minimum(first + width, last + 1), np.maximum(last + 1 - width, first)
    before, after = np.maximum(first - width, 0), np.minimum(last + 1 + width, n)
    # The mean over no points, beyond either end of the line, is zero.
    gains = (
        mean(before, first, inside[1], last + 1)
        - mean(before, first, first, inside[0])
        + mean(first, inside[0], last + 1, after)
        - mean(inside[1], last + 1, last + 1, after)
    )
    gains[first >= last] = -np.inf
    gains[0, n - 1] = -np.inf
    return np.asarray(gains)
