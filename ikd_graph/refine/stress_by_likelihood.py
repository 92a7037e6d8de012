"""Several polishes by stress, of which the likelihood of the model takes one.

No single weight is best for every kernel: pairs without an edge unfold what noise has crumpled and
bend what is precise, and the precision that a noisy correlation claims for itself favours those
that happened to come out large. One eigendecomposition tells which latent the correlations fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from .. import _doors as door
from .. import gplvm, graph
from .._records import GRAPH_CURE, CsrGraph
from ..kernels import StationaryKernel, get
from ._pairs import Weights
from .majorize import StressFit, stress

Floats = NDArray[np.float64]

_EDGES_ALONE = 1e-6  # weight of other pairs, relative to the median edge
_ROUNDS, _STEPS = 2, 30
_LEAST = 0.02  # correlation that may join a pair which the latent puts near


_GRAPH = door.record(CsrGraph, GRAPH_CURE)


@door.takes(
    latent=door.table,
    g=_GRAPH,
    corr=door.square,
    n_observed=door.count,
    threshold=door.optional(door.number),
    also=door.tables,
)
def select_stress(
    latent: ArrayLike,
    g: CsrGraph,
    corr: Floats,
    kernel: str | StationaryKernel,
    n_observed: int,
    *,
    threshold: float | None = None,
    also: Sequence[ArrayLike] = (),
) -> StressFit:
    """Polish by precision in three ways and take the latent under which the rows are likeliest.

    As `stress` does; with edges nearly alone; and again from the first, the precision of every
    edge, and which pairs are edges, now asked of the latent instead of the noisy correlations.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Start, in the units of the kernel.
    g : CsrGraph
        Connected graph of correlations.
    corr : (n, n) float64
        All correlations, which the likelihood is of.
    kernel : str or StationaryKernel
        Kernel of the model.
    n_observed : int
        Number N of observed dimensions.
    threshold : float, optional
        Correlation from which a pair was an edge; without it no pair becomes one.
    also : sequence of (n, m) array_like of float64
        Other starts.

    Returns
    -------
    StressFit
        The likeliest of the three.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph, kernels, refine
    >>> z = np.linspace(0.0, 3.0, 10)[:, None]
    >>> corr = kernels.SquaredExponential().covariance((z - z.T) ** 2)
    >>> g, start = graph.threshold_graph(corr, 0.5), z + 0.1 * np.sin(9.0 * z)
    >>> fit = refine.select_stress(start, g, corr, "squared_exponential", 100)
    >>> bool(abs(np.corrcoef(fit.latent[:, 0], z[:, 0])[0, 1]) > 0.999)
    True
    """
    kernel = get(kernel)
    if corr.shape != (g.n_nodes, g.n_nodes):
        raise ValueError(
            f"corr must have shape {(g.n_nodes, g.n_nodes)}, got {corr.shape}; it holds the "
            "correlations of the nodes of the graph with one another"
        )
    first = stress(latent, g, kernel, n_observed, also=also)
    alone = stress(latent, g, kernel, n_observed, also=also, weights=Weights(faint=_EDGES_ALONE))
    again = first
    for _ in range(_ROUNDS):
        wider = _asked_of(again.latent, g, corr, kernel, threshold)
        known = Weights(known_at=again.latent)
        again = stress(again.latent, wider, kernel, n_observed, weights=known, max_iter=_STEPS)
    return max(
        (first, alone, again),
        key=lambda fit: gplvm.fit_variances(fit.latent, corr, n_observed, kernel)[2],
    )


def _asked_of(
    latent: Floats, g: CsrGraph, corr: Floats, kernel: StationaryKernel, threshold: float | None
) -> CsrGraph:
    """The graph with pairs whose correlation happens to lie below the threshold, says a latent."""
    if threshold is None:
        return g
    model = kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    missed = np.where(model > threshold, corr, 0.0)
    return graph.union(g, graph.threshold_graph(missed, _LEAST))
