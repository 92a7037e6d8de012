"""Rules by which similarities become a graph: objects that scikit-learn clones and searches."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._base.validation import auto_or, flag, fraction, number, one_of, optional, whole
from .._base.warn import warn
from ..similarity import SEARCHES, Similarity
from ._build import neighbor_graph, pairs_above
from ._csr import component_labels, edges, mirrored, union
from ._record import CsrGraph
from ._threshold import significant_graph

DISCONNECTED = ("join", "raise")


class Rule(BaseEstimator):
    """What a rule knows about itself; parameters are set by name, as in scikit-learn."""

    prune: bool | str
    disconnected: str

    @property
    def s0_used(self) -> float | None:
        """The threshold of the similarity; None where there is none."""
        return None

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        if not isinstance(self.prune, (bool, np.bool_)):
            one_of(("auto",), ", True or False")("prune", self.prune)
        one_of(DISCONNECTED)("disconnected", self.disconnected)

    @abstractmethod
    def build(self, similarity: Similarity) -> CsrGraph:
        """Build the graph of a rule whose numbers are fixed.

        Parameters
        ----------
        similarity : Similarity
            How the points are compared.

        Returns
        -------
        CsrGraph
            Its edges, before any are pruned or added.
        """

    @abstractmethod
    def describe(self) -> str:
        """Say what joins two points, in words that end a sentence."""

    def replace(self, **parameters: Any) -> Any:
        """Return the rule with other parameters."""
        return type(self)(**{**self.get_params(), **parameters})


@dataclass(repr=False)
class Threshold(Rule):
    """Pairs whose similarity exceeds a threshold are edges (Li & Wu 2024, Section 2.4).

    Parameters
    ----------
    s0 : float or "auto"
        The threshold, in (0, 1). "auto" is five standard errors of a correlation of N independent
        columns, 5 / sqrt(N), and more where the kernel makes the distance of such a correlation
        uncertain, at most 0.5; see `graph.auto_threshold`.
    n_neighbors : int or None
        Also join each point to so many nearest neighbors, whatever the threshold. None is 6 where
        ``s0`` is "auto", which keeps every point in the graph, else none.
    strongest : int or None
        Of the pairs above the threshold keep those that are among so many strongest of one of their
        ends. None is 150 where ``s0`` is "auto", so that graphs of many points stay sparse, else
        all.
    prune : "auto" or bool
        Remove short-circuit edges, see `graph.prune`. "auto" does so in graphs of rows, where
        values are not trusted as estimates of the kernel.
    disconnected : {"join", "raise"}
        What to do with several components: join them by links between their nearest points, or
        raise an error.
    fdr : float or None
        False discovery rate, in (0, 1), of significantly correlated pairs, which are edges in place
        of those above a threshold; see `graph.significant_graph`.
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
    strongest: int | None = None

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        whole(0)("n_removed", self.n_removed)
        auto_or(fraction)("s0", self.s0)
        if self.fdr is not None:
            fraction("fdr", self.fdr)
            if self.s0 != "auto":
                raise ValueError(f"s0 must be 'auto' where fdr is given, got {self.s0!r}; name one")
        for name in ("n_neighbors", "strongest"):
            optional(whole(1))(name, getattr(self, name))
        super().check()

    @property
    def s0_used(self) -> float | None:
        """The threshold of the similarity; None where there is none."""
        is_known = self.fdr is None and not isinstance(self.s0, str) and self.s0 > 0.0
        return float(self.s0) if is_known else None

    def build(self, similarity: Similarity) -> CsrGraph:
        """See `Rule.build`."""
        if self.fdr is None:
            g = pairs_above(similarity, number("s0", self.s0), self.strongest)
        else:
            rows, affinity = similarity.rows, similarity.affinity
            if affinity.over_pairs != "correlation" or not isinstance(rows, np.ndarray):
                raise ValueError(
                    f"fdr must be None for affinity={affinity.name!r}, got {self.fdr!r}; it is for "
                    "correlations of the rows of a dense table"
                )
            g = significant_graph(rows, self.fdr, n_removed=self.n_removed)
            if not g.n_edges:
                warn(
                    f"no two rows are significantly correlated at fdr={self.fdr:g}: the embedding "
                    "is noise; measure more columns"
                )
        if self.n_neighbors is None:
            return g
        k = whole(1)("n_neighbors", self.n_neighbors)
        return union(g, neighbor_graph(similarity, k))

    def describe(self) -> str:
        """See `Rule.describe`."""
        parts = []
        if self.fdr is not None:
            parts.append(f"significant correlation (false discovery rate {self.fdr:g})")
        elif self.s0_used is not None:
            parts.append(f"similarity above {self.s0_used:.3g}")
        if self.n_neighbors:
            parts.append(f"{self.n_neighbors} nearest neighbors")
        return " or ".join(parts)


@dataclass(repr=False)
class Neighbors(Rule):
    """Each point is joined to its nearest neighbors.

    Parameters
    ----------
    k : int or "auto"
        Number of neighbors; "auto" is 10.
    mutual : bool
        Keep an edge only where each end is a neighbor of the other; components that this leaves
        are joined by the neighbors of either end.
    search : {"auto", "exact", "approximate"}
        How neighbors are searched, see `graph.row_neighbors`.
    prune : "auto" or bool
        Remove short-circuit edges, see `graph.prune`. "auto" does so in graphs of rows, where
        values are not trusted as estimates of the kernel.
    disconnected : {"join", "raise"}
        What to do with several components: join them by links between their nearest points, or
        raise an error.

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
        auto_or(whole(1, cure="'auto' chooses"))("k", self.k)
        flag("mutual", self.mutual)
        one_of(SEARCHES)("search", self.search)
        super().check()

    def build(self, similarity: Similarity) -> CsrGraph:
        """See `Rule.build`."""
        similarity.search = self.search
        k = whole(1)("k", self.k)
        wide = neighbor_graph(similarity, k)
        if not self.mutual or similarity.is_graph:
            return wide
        g = neighbor_graph(similarity, k, mutual=True)
        labels, (low, high, weights) = component_labels(g), edges(wide)
        across = labels[low] != labels[high]
        return union(g, mirrored(g.n_nodes, low[across], high[across], weights[across]))

    def describe(self) -> str:
        """See `Rule.describe`."""
        return f"{self.k} {'mutual ' if self.mutual else ''}nearest neighbors"
