"""Whether columns are to be scaled to one variance: what that tells of columns left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import covariance
from ._prediction import CHANCE, Judge

_PARTS = 4
# Rows are compared with one another, over all columns but a part: .1 s for 500 digits.
_ROWS = 500


def scaling_helps(X: NDArray[np.floating]) -> bool:
    """Whether rows that are near over scaled columns tell more of the columns that were left out.

    Each quarter of the columns is predicted from rows that are nearest over the others, as they
    are and scaled to one variance. Nothing is predicted by itself: a latent of scaled columns tells
    much of their noise, which it was made from.

    Parameters
    ----------
    X : (n, p) ndarray of float
        Measurements; of more than 500 rows a random sample is looked at.

    Returns
    -------
    bool
        Whether scaling predicts more than chance would have it, at a level of 5 %.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import evidence
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 2))
    >>> X = z @ rng.normal(size=(2, 12)) + 0.1 * rng.normal(size=(200, 12))
    >>> evidence.scaling_helps(X), evidence.scaling_helps(X * np.logspace(-2, 2, 12))
    (False, True)
    """
    if len(X) > _ROWS:
        X = X[np.sort(np.random.default_rng(0).choice(len(X), _ROWS, replace=False))]
    units = covariance.column_units(X)
    varies = np.isfinite(units)
    if varies.sum() < 2 or np.ptp(units[varies]) == 0.0:
        return False
    largest = float(units[varies].max())
    columns, units = np.asarray(X[:, varies] / largest, dtype=np.float64), units[varies] / largest
    # Parts have columns of all sizes, whatever their order.
    part = np.empty(units.size, dtype=np.int64)
    part[np.lexsort((columns.max(axis=0), units))] = np.arange(units.size) % _PARTS
    gain = np.zeros(len(X))
    for left_out in range(min(_PARTS, units.size)):
        judge, kept = Judge(columns[:, part == left_out]), part != left_out
        plain = judge.predict(columns[:, kept])
        gain += judge.predict(columns[:, kept] / units[kept]).by_point - plain.by_point
    return bool(gain.sum() > CHANCE * gain.std() * np.sqrt(gain.size))
