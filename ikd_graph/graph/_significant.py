"""Graph of the pairs of rows whose correlation is significant."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .._base import validation as check
from .._base.threads import single_threaded_blas
from .._base.validation import validate
from ..similarity import RowSimilarity, doubly_centered_rows, effective_columns, unit_rows
from ._build import pairs_above
from ._csr import edges, from_edges
from ._record import CsrGraph
from ._threshold import sure_threshold


@validate(X=check.table, fdr=check.fraction)
def significant_graph(X: ArrayLike, fdr: float = 0.01, *, n_removed: int = 0) -> CsrGraph:
    r"""Join the pairs of rows whose correlation is significantly positive.

    Under independence r sqrt((N - 2) / (1 - r²)) is distributed as t with N - 2 degrees of freedom
    (Fisher 1915), N being the effective number of columns. r is the smallest of four: Pearson's and
    that of normal scores, since one value far out makes no correlation, each of the rows as they
    are and with all columns standardized, since levels and units of columns make none either. With
    the mean of all taken off, n unrelated rows correlate by -1 / (n - 1), from which their
    correlations count as by Fisher's z. Among all pairs the false discovery rate is controlled for
    any dependence between them (Benjamini and Yekutieli, Annals of Statistics 29, 2001).

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows, three or more: what two share cannot be told from levels of columns.
        Columns in order, where they follow in time.
    fdr : float
        Expected fraction of false edges, in (0, 1). In a table of unrelated rows it is the
        probability of any edge.
    n_removed : int
        Rows that were regressed out of X (`covariance.regress_out`).

    Returns
    -------
    CsrGraph
        Edges with Pearson's correlations of the rows as they are, as the affinity "correlation" has
        them; ``graph.edges`` lists them.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> X = np.random.default_rng(0).normal(size=(30, 200))
    >>> X[:3] += X[3]  # four rows share a signal
    >>> left, right, correlations = graph.edges(graph.significant_graph(X))
    >>> left.tolist(), right.tolist()
    ([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
    """
    from scipy.stats import rankdata

    rows = unit_rows(X, allow_flat=True)
    centered = doubly_centered_rows(rows, scaled=True)
    n, width = rows.shape
    free = effective_columns(rows, n_removed=n_removed) - 2.0
    n_pairs = n * (n - 1) // 2
    # No pair can pass below the rate that is left where all others do.
    rate = fdr / (np.log(max(n_pairs, 1)) + np.euler_gamma)
    n_centered = int(np.count_nonzero(centered.any(axis=1)))
    # Two rows are each other's opposite about their mean.
    shared = -1.0 / (n_centered - 1) if n_centered > 2 else 1.0
    with single_threaded_blas():
        least = _beyond(sure_threshold(free + 2.0, rate), -shared)
        candidates = pairs_above(RowSimilarity.of_unit_rows(centered), least)
    rows_a, rows_b, about_mean = edges(candidates)
    ranks = rankdata(rows, axis=1)
    scores = unit_rows(special.ndtri((ranks - 0.5) / width), allow_flat=True)
    corr, of_scores, about_mean_of_scores = (
        RowSimilarity.of_unit_rows(table).between(rows_a, rows_b)
        for table in (rows, scores, doubly_centered_rows(scores, scaled=True))
    )
    about_mean = _beyond(np.minimum(about_mean, about_mean_of_scores), shared)
    least = np.minimum(np.minimum(corr, of_scores), about_mean)
    least = np.clip(least, 1e-12 - 1.0, 1.0 - 1e-12)
    p_values = special.stdtr(free, -least * np.sqrt(free / (1.0 - least**2)))
    in_order = np.sort(p_values)
    passing = np.flatnonzero(in_order <= rate * np.arange(1, in_order.size + 1) / n_pairs)
    significant = p_values <= (in_order[passing[-1]] if passing.size else -1.0)
    return from_edges(n, rows_a[significant], rows_b[significant], corr[significant])


def _beyond(corr: Any, expected: float) -> Any:
    """Correlations less an expected one, as differences of Fisher's z."""
    return (corr - expected) / (1.0 - expected * corr)
