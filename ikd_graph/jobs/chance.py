"""Is it real: a table against randomly shifted ones."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from .._base import limits
from .._base.table import evenly_spaced
from .._base.types import Floats
from .._base.validation import enough, seed, validate

__all__ = ["LEVEL", "ChanceTest", "chance_test"]

LEVEL = 0.05
"""p value above which nothing beyond chance was found."""

_ORDERED = 4.0  # standard deviations: one table in ten thousand by chance
_DRAWS, _EXCEEDING = 199, 10


class ChanceTest(NamedTuple):
    """Outcome of `chance_test`; printed, a clause."""

    p_value: float
    n_draws: int  # randomized tables
    n_exceeding: int  # of them, those with at least as much structure
    ordered: bool  # whether rows follow one another, which the shifted tables keep

    @property
    def is_noise(self) -> bool:
        """Whether rows are related by no more than chance, not even to the next ones."""
        return self.p_value > LEVEL and not self.ordered

    def __str__(self) -> str:
        if self.p_value > LEVEL:
            beyond = "the order of the rows" if self.ordered else "chance"
            return f"nothing beyond {beyond} was found (p value {self.p_value:.2g})"
        return (
            f"more structure than {self.n_draws - self.n_exceeding} of {self.n_draws} randomly "
            f"shifted tables (p value {self.p_value:.2g})"
        )


@validate(random_state=seed)
def chance_test(X: Floats, *, random_state: int | None = 0) -> ChanceTest:
    r"""Test whether the rows of a table are related by more than their order.

    Without a latent the columns are unrelated series along the rows: the expected correlation of
    two rows depends only on how far apart they are. The statistic is the sum of squares of what
    correlations deviate from the mean of their lag, over all pairs of rows, of normal scores within
    each column. Under the null hypothesis it changes little when every column is shifted along the
    rows, around the end, by a random number of its own, which keeps its values and its
    autocorrelation. Where columns follow one another more than rows do (time along the columns),
    rows and columns change parts.

    Slow series drift together by chance. Where values follow one another, the test is one of their
    innovations: what the value before, times one coefficient for all series, leaves of each value.
    The coefficient is the median over the series of the slope at lag 1, less the bias that few
    values give it (Kendall, Biometrika 41, 1954), so that it is 1 of random walks.

    199 tables are drawn, fewer once 10 of them reach the statistic (Besag and Clifford, Biometrika
    78, 1991): the smallest p value is .005. How often the test rejects, and what:
    docs/decisions/010-is-it-real.md.

    Parameters
    ----------
    X : (n_samples, n_features) ndarray of float64
        Points in rows; rows or columns that follow in time, in that order. Of more than 300 rows
        or columns as many evenly spaced ones.
    random_state : int or None
        Seed of the shifts.

    Returns
    -------
    ChanceTest
        The p value and how it came about.

    Raises
    ------
    ValueError
        If there are fewer than two rows or columns.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> noise = rng.normal(size=(60, 40))
    >>> chance_test(noise).p_value > 0.05
    True
    >>> print(chance_test(noise + rng.normal(size=(60, 1)) * rng.normal(size=40)))
    more structure than 199 of 199 randomly shifted tables (p value 0.005)
    """
    enough(2, 2)("X", X)
    X = X[np.ix_(*(evenly_spaced(n, limits.TESTED) for n in X.shape))]
    scores = _normal_scores(X)
    # Scores have no mean within a column, so that unrelated rows correlate by less than zero.
    order, order_across = _structure(scores, -1.0 / (len(X) - 1))[1], _structure(scores.T)[1]
    # Where columns follow one another, they are the rows that are shifted along.
    turned = order < order_across
    if max(order, order_across) > _ORDERED:
        scores = _normal_scores(_innovations(X.T).T if turned else _innovations(X))
    scores = scores.T if turned else scores
    observed = _structure(scores)[0]
    n, width = scores.shape
    rng = np.random.default_rng(random_state)
    reached = drawn = 0
    while drawn < _DRAWS and reached < _EXCEEDING:
        at = (np.arange(n)[:, None] + rng.integers(n, size=width)) % n
        reached += int(_structure(np.take_along_axis(scores, at, axis=0))[0] >= observed)
        drawn += 1
    p_value = reached / drawn if reached == _EXCEEDING else (reached + 1) / (drawn + 1)
    return ChanceTest(p_value, drawn, reached, not turned and order > _ORDERED)


def _normal_scores(X: Floats) -> Floats:
    """Return normal scores of the values within each column."""
    return ndtri((rankdata(X, axis=0) - 0.5) / len(X))


def _innovations(series: Floats) -> Floats:
    """Return what the value before leaves of each value of the columns, (n - 1, p)."""
    before, after = series[:-1], series[1:]
    lagged = before - before.mean(axis=0)
    squares = np.einsum("ij,ij->j", lagged, lagged)
    varying = squares > 0.0
    if not varying.any():
        return after
    slopes = np.einsum("ij,ij->j", lagged, after)[varying] / squares[varying]
    slope = float(np.median(slopes))
    # Kendall: the expected slope is short of the true one by (1 + 3 slope) / n.
    return after - min(slope + (1.0 + 3.0 * slope) / len(before), 1.0) * before


def _structure(scores: Floats, expected: float = 0.0) -> tuple[float, float]:
    """Squared correlations of rows about the mean of each lag, and how far those means stand out.

    The second is in standard deviations of what unrelated rows without an order have, which
    correlate by ``expected``.
    """
    rows = scores - scores.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
    left, right = np.triu_indices(len(rows), 1)
    corr, lag = (rows @ rows.T)[left, right], right - left - 1
    total, counts = float((corr**2).sum()), np.bincount(lag)
    by_lag = float((np.bincount(lag, corr) ** 2 / counts).sum())
    apart = by_lag - expected * float(2.0 * corr.sum() - expected * corr.size)
    order = apart / max(total / corr.size, np.finfo(float).tiny) - counts.size
    return total - by_lag, order / float(np.sqrt(2.0 * counts.size))
