"""Graphs of correlations that are far from 0 in either direction."""

import numpy as np
from numpy.typing import ArrayLike

from .._base import validation as check
from .._base.validation import validate
from .._base.warn import warn
from ._csr import from_edges
from ._record import CsrGraph

SIGNS = ("positive", "negative", "absolute")


@validate(corr=check.symmetric, s0=check.fraction, sign=check.one_of(SIGNS))
def signed_threshold(corr: ArrayLike, s0: float, sign: str = "absolute") -> CsrGraph:
    """Join the pairs whose correlation is far from 0, for looking at their cliques.

    Parameters
    ----------
    corr : (n, n) array_like of float64, symmetric
        Correlations.
    s0 : float
        The threshold, in (0, 1).
    sign : {"absolute", "positive", "negative"}
        Which correlations are edges: above ``s0``, below ``-s0``, or both. A clique of positive
        edges moves together; of three rows that are related by negative edges alone, each would
        have to oppose the two others, so that such cliques are small.

    Returns
    -------
    CsrGraph
        Weights are the absolute correlations.

    Warns
    -----
    UserWarning
        With the number of pairs as far from 0 that are dropped for their sign.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.6, -0.7], [0.6, 1.0, -0.1], [-0.7, -0.1, 1.0]])
    >>> graph.edges(graph.signed_threshold(corr, 0.5))[2].tolist()
    [0.6, 0.7]
    """
    values = np.asarray(corr, dtype=np.float64)
    low, high = np.triu_indices(len(values), 1)
    of_pairs = values[low, high]
    far = np.abs(of_pairs) > s0
    kept = far
    if sign != "absolute":
        kept = of_pairs > s0 if sign == "positive" else of_pairs < -s0
        dropped = int(np.count_nonzero(far & ~kept))
        if dropped:
            other = f"below {-s0:g}" if sign == "positive" else f"above {s0:g}"
            warn(
                f"{dropped} of {int(np.count_nonzero(far))} pairs beyond {s0:g} are dropped, since "
                f"their correlation is {other}; sign='absolute' keeps them"
            )
    return from_edges(len(values), low[kept], high[kept], np.minimum(np.abs(of_pairs[kept]), 1.0))
