"""Is it real: a table against randomly shifted ones."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ._base import limits
from ._base.format import setting
from ._base.rounding import TINY
from ._base.table import evenly_spaced
from ._base.types import Floats
from ._base.validation import enough, one_of, seed, validate

__all__ = ["LEVEL", "NULLS", "ChanceTest", "chance_test"]

NULLS = ("shift", "permute", "permute_all")
"""What a table is compared with, see `chance_test`."""

LEVEL = 0.05
"""Significance: p value, or false discovery rate, above which nothing beyond chance was found."""

_ORDERED = 4.0  # standard deviations: one table in ten thousand by chance
_DRAWS, _EXCEEDING = 199, 10
_AGREED = 3.0  # standard deviations of a correlation by chance
_LEAST = 0.001  # variance, in that of a column


class ChanceTest(NamedTuple):
    """Outcome of `chance_test`; printed, a clause."""

    p_value: float
    n_draws: int  # randomized tables
    n_exceeding: int  # of them, those with at least as much structure
    ordered: bool  # whether rows follow one another, which the shifted tables keep
    leveled: bool = False  # whether rows have levels or scales, which these keep as well
    turned: bool = False  # whether columns follow one another, and these keep that order

    @property
    def is_noise(self) -> bool:
        """Whether rows are related by no more than chance, not even to the next ones."""
        return self.p_value > LEVEL and not self.ordered

    @property
    def beyond(self) -> tuple[str, str]:
        """What shifted tables have as well, and what to ask if they should not."""
        if not (self.ordered or self.turned):
            return "the levels and scales of the rows" if self.leveled else "chance", ""
        null, of = ("permute_all", "columns") if self.turned else ("permute", "rows")
        other = f"; if that order is arbitrary, diagnose with {setting('null', null)}"
        return f"the order of the {of}", other

    def __str__(self) -> str:
        if self.p_value > LEVEL:
            beyond, other = self.beyond
            return f"nothing beyond {beyond} was found (p value {self.p_value:.2g}){other}"
        return (
            f"more structure than {self.n_draws - self.n_exceeding} of {self.n_draws} randomly "
            f"shifted tables (p value {self.p_value:.2g})"
        )


@validate(null=one_of(NULLS), random_state=seed)
def chance_test(X: Floats, *, null: str = "shift", random_state: int | None = 0) -> ChanceTest:
    r"""Test whether the rows of a table are related by more than their order.

    Without a latent the columns are unrelated series along the rows: the expected correlation of
    two rows depends only on how far apart they are. The statistic is the sum of squares of what
    correlations deviate from the mean of their lag, over all pairs of rows, of normal scores within
    each column. Under the null hypothesis it changes little when every column is shifted along the
    rows, around the end, by a random number of its own, which keeps its values and its
    autocorrelation. Where columns follow one another (time along the columns), and more than rows
    do, rows and columns change parts.

    Rows may have levels and scales of their own: where halves of the columns agree on them by more
    than chance, they are taken off before columns are shifted, and put back after. Columns that
    have more of the levels than others, as of a general factor, count as structure.

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
    null : {"shift", "permute", "permute_all"}
        "permute" puts the rows in random order first. It is right where their order is arbitrary:
        of rows that are sorted along a line or a ring, the order is all that relates them.
        "permute_all" does so with rows and columns, of which the same is true: of cells sorted by
        their preferred heading, shifted rows are those of other headings.
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
    rng = np.random.default_rng(random_state)
    # Whatever order they had, rows in a random one follow nothing.
    X = X if null == "shift" else rng.permutation(X)
    X = rng.permutation(X, axis=1) if null == "permute_all" else X
    order, order_across = (_structure(_normal_scores(series))[1] for series in (X, X.T))
    # Where columns follow one another, they are the rows that are shifted along.
    turned = order_across > max(order, _ORDERED)
    X = X.T if turned else X
    scores = _normal_scores(_innovations(X) if max(order, order_across) > _ORDERED else X)
    levels, scales, rest = _rows(scores)
    of_their_own = levels.any() or (scales != 1.0).any()
    observed, (n, width) = _structure(scores)[0], rest.shape
    reached = drawn = 0
    while drawn < _DRAWS and reached < _EXCEEDING:
        at = (np.arange(n)[:, None] + rng.integers(n, size=width)) % n
        shifted = np.take_along_axis(rest, at, axis=0)
        if of_their_own:
            shifted = _normal_scores(levels + scales * shifted)
        reached += int(_structure(shifted)[0] >= observed)
        drawn += 1
    p_value = reached / drawn if reached == _EXCEEDING else (reached + 1) / (drawn + 1)
    ordered = not turned and order > _ORDERED
    leveled = bool(of_their_own) and not turned
    return ChanceTest(p_value, drawn, reached, ordered, leveled, turned)


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


def _rows(scores: Floats) -> tuple[Floats, Floats, Floats]:
    """Levels and scales of the rows, (n, 1), and what they leave of the scores."""
    levels, scales, rest = np.zeros((len(scores), 1)), np.ones((len(scores), 1)), scores
    for _ in range(2):
        # Rows of small scale tell best where a column would be 0.
        rest = rest - np.average(rest, axis=0, weights=scales[:, 0] ** -2)
        halves = rest[:, ::2], rest[:, 1::2]
        level = _agreed(*(half.mean(axis=1) for half in halves))
        levels, rest = levels + level, rest - level
        scales = np.exp(_agreed(*(np.log(half.var(axis=1) + _LEAST) / 2.0 for half in halves)))
    return levels, scales, rest / scales


def _agreed(one: Floats, other: Floats) -> Floats:
    """Return what halves of the columns agree on of a number of each row, about 0, (n, 1)."""
    one, other = one - one.mean(), other - other.mean()
    r = one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), TINY)
    # Spearman and Brown: the part of the variance of both halves together that is no noise.
    known = 2.0 * r / (1.0 + r) if r > _AGREED / np.sqrt(one.size) else 0.0
    return np.sqrt(known) * (one + other)[:, None] / 2.0


def _structure(scores: Floats) -> tuple[float, float]:
    """Squared correlations of rows about the mean of each lag, and how far those means stand out.

    The second is in standard deviations of what rows without an order have.
    """
    levels, _, rest = _rows(scores)
    rows = rest - rest.mean(axis=1, keepdims=True)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
    left, right = np.triu_indices(len(rows), 1)
    # Columns that have more of the levels, or less, relate rows by the product of these.
    levels /= max(float(np.std(levels)), TINY)
    along = levels * levels.T / np.sqrt(8.0 * rows.shape[1])
    corr, lag = (rows @ rows.T + along)[left, right], right - left - 1
    corr -= corr.mean()
    total, counts = float((corr**2).sum()), np.bincount(lag)
    by_lag = float((np.bincount(lag, corr) ** 2 / counts).sum())
    order = by_lag / max(total / corr.size, TINY) - (counts.size - 1)
    return total - by_lag, order / float(np.sqrt(2.0 * counts.size))
