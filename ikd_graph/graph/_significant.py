"""Graph of the pairs of rows whose correlation is significant."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .. import _checks as door
from .._records import CsrGraph
from .._threads import single_threaded_blas
from ..covariance import effective_columns, unit_rows
from ._build import pairs_above, row_correlations
from ._csr import edges, from_edges
from ._threshold import sure_threshold


@door.takes(X=door.table, fdr=door.fraction, n_removed=door.whole(0))
def significant_graph(X: ArrayLike, fdr: float = 0.01, *, n_removed: int = 0) -> CsrGraph:
    r"""Join the pairs of rows whose correlation is significantly positive.

    Under independence r sqrt((N - 2) / (1 - r²)) is distributed as t with N - 2 degrees of freedom
    (Fisher 1915), N being the effective number of columns. r is the smaller of Pearson's and that
    of normal scores: one value far out makes no correlation. Among all pairs the false discovery
    rate is controlled for any dependence between them (Benjamini and Yekutieli, Annals of
    Statistics 29, 2001).

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows; columns in order, where they follow in time.
    fdr : float
        Expected share of false edges, in (0, 1). In a table of unrelated rows it is the
        probability of any edge.
    n_removed : int
        Rows that were regressed out of X (`covariance.regress_out`).

    Returns
    -------
    CsrGraph
        Edges with Pearson's correlations; ``graph.edges`` lists them.

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

    rows = unit_rows.unchecked(X, allow_flat=True)
    n, width = rows.shape
    free = effective_columns.unchecked(rows, n_removed=n_removed) - 2.0
    n_pairs = n * (n - 1) // 2
    # No pair can pass below the rate that is left where all others do.
    rate = fdr / (np.log(max(n_pairs, 1)) + np.euler_gamma)
    with single_threaded_blas():
        candidates = pairs_above(
            lambda start, stop: rows[start:stop] @ rows[start:].T,
            n,
            sure_threshold.unchecked(free + 2.0, rate),
        )
    rows_a, rows_b, corr = edges.unchecked(candidates)
    ranks = rankdata(rows, axis=1)
    scores = unit_rows.unchecked(special.ndtri((ranks - 0.5) / width), allow_flat=True)
    least = np.minimum(corr, row_correlations(scores, rows_a, rows_b))
    least = np.clip(least, -1.0, 1.0 - 1e-12)
    p_values = special.stdtr(free, -least * np.sqrt(free / (1.0 - least**2)))
    in_order = np.sort(p_values)
    passing = np.flatnonzero(in_order <= rate * np.arange(1, in_order.size + 1) / n_pairs)
    significant = p_values <= (in_order[passing[-1]] if passing.size else -1.0)
    return from_edges.unchecked(n, rows_a[significant], rows_b[significant], corr[significant])
