"""Rules by which similarities become a graph: objects that scikit-learn clones and searches."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from .._validation import check_choice, check_fraction, check_integer, flag
from ._nearest import SEARCHES

DISCONNECTED = ("join", "raise")


def _check_common(prune: bool | str, disconnected: str) -> None:
    if not isinstance(prune, (bool, np.bool_)):
        check_choice("prune", prune, ("auto",), ", True or False")
    check_choice("disconnected", disconnected, DISCONNECTED)


@dataclass(repr=False)
class Threshold(BaseEstimator):
    """Pairs whose similarity exceeds a threshold are edges (Li & Wu 2024, Section 2.4).

    Parameters
    ----------
    s0 : float or "auto"
        The threshold, in (0, 1). "auto" is min(5 / sqrt(N), 0.5) for N independent columns
        (`covariance.effective_columns`), five standard errors of a correlation.
    n_neighbors : int or None
        Also join each point to so many nearest neighbours, whatever the threshold. None is 6 where
        ``s0`` is "auto", which keeps every point in the graph, else none.
    prune : "auto" or bool
        Remove short cuts, see `graph.prune`. "auto" does so in graphs of rows, where values are not
        trusted as estimates of the kernel.
    disconnected : {"join", "raise"}
        What to do with several components: join them by links between their nearest points, or
        raise an error.
    fdr : float or None
        In place of a threshold: significantly correlated pairs are edges, with this false discovery
        rate, in (0, 1); see `graph.significant_graph`.
    n_removed : int
        Rows that were regressed out of the table, each of which costs a degree of freedom.

    Examples
    --------
    >>> from ikd_graph import graph
    >>> graph.Threshold(0.3), graph.Threshold(fdr=0.01)
    (Threshold(s0=0.3), Threshold(fdr=0.01))
    """

    s0: float | str = "auto"
    n_neighbors: int | None = None
    prune: bool | str = "auto"
    disconnected: str = "join"
    fdr: float | None = None
    n_removed: int = 0

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        check_integer("n_removed", self.n_removed, 0)
        if self.fdr is not None:
            check_fraction("fdr", self.fdr)
            if self.s0 != "auto":
                raise ValueError(f"s0 must be 'auto' where fdr is given, got {self.s0!r}; name one")
        if self.s0 != "auto":
            check_fraction("s0", self.s0)
        if self.n_neighbors is not None:
            check_integer("n_neighbors", self.n_neighbors, 1)
        _check_common(self.prune, self.disconnected)


@dataclass(repr=False)
class Neighbors(BaseEstimator):
    """Each point is joined to its nearest neighbours.

    Parameters
    ----------
    k : int or "auto"
        Number of neighbours; "auto" is 10.
    mutual : bool
        Keep an edge only where each end is a neighbour of the other; components that this leaves
        are joined by the neighbours of either end.
    search : {"auto", "exact", "approximate"}
        How neighbours are searched, see `graph.row_neighbors`.
    prune : "auto" or bool
        As in `Threshold`.
    disconnected : {"join", "raise"}
        As in `Threshold`.

    Examples
    --------
    >>> from ikd_graph import graph
    >>> graph.Neighbors(10)
    Neighbors(k=10)
    """

    k: int | str = "auto"
    mutual: bool = False
    search: str = "auto"
    prune: bool | str = "auto"
    disconnected: str = "join"

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        if self.k != "auto":
            check_integer("k", self.k, 1, cure="'auto' chooses")
        flag("mutual", self.mutual)
        check_choice("search", self.search, SEARCHES)
        _check_common(self.prune, self.disconnected)
