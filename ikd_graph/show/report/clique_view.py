"""A look at the cliques of a data set: all that pages, pictures and counts are made from."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ... import cliques
from ..._checks import check_integer
from ..._records import Blocks, CsrGraph
from ...graph import Threshold
from ...study.datasets import Dataset
from ...study.levels import Levels, threshold_levels

if TYPE_CHECKING:
    import networkx as nx

    from ...estimator import IKD

FEWEST_DISCS, MOST_DISCS, MOST_PAIRS = 300, 2000, 45_000
"""Cliques of one picture: the largest, more of them where not so many pairs share points."""

_ROWS = 500
"""Cliques that are compared with all others at once."""

_NOT_BLOCKWISE = (
    "the model must be fitted with strategy='blockwise' to look at its cliques, got {!r}"
)


@dataclass(frozen=True)
class CliqueView:
    """What a look at the cliques of a data set found.

    Attributes
    ----------
    model : IKD
        Fitted with ``strategy="blockwise"``.
    data : Dataset
        Points and labels.
    maximal : list of (k,) arrays of int
        Maximal cliques of the graph.
    complete : bool
        Whether ``maximal`` holds all of them.
    links : networkx.Graph
        Solved cliques as nodes (their numbers) with ``size``, edges with ``overlap``, the number of
        shared points.
    levels : Levels
        Counts at many thresholds.
    """

    model: IKD
    data: Dataset
    maximal: list[NDArray[np.int32]]
    complete: bool
    links: nx.Graph
    levels: Levels

    @property
    def points(self) -> CsrGraph:
        """The graph of points."""
        if self.model.graph_ is None:
            raise ValueError(_NOT_BLOCKWISE.format(self.model.settings_.strategy.name))
        return self.model.graph_

    @cached_property
    def shared(self) -> NDArray[np.int64]:
        """How many pairs of solved cliques share 0 (not counted), 1, 2, ... points."""
        blocks = self.solved
        shape = (blocks.n_blocks, self.points.n_nodes)
        held = sp.csr_matrix(
            (np.ones(blocks.members.size, np.int32), blocks.members, blocks.indptr), shape
        )
        found = np.zeros(int(blocks.sizes.max(initial=0)) + 1, dtype=np.int64)
        for start in range(0, blocks.n_blocks, _ROWS):
            part = (held[start : start + _ROWS] @ held.T).data
            found += np.bincount(part, minlength=found.size)
        # Every clique shares all its points with itself, and every pair came twice.
        return (found - np.bincount(blocks.sizes, minlength=found.size)) // 2

    @property
    def solved(self) -> Blocks:
        """The cliques that were solved."""
        if self.model.cliques_ is None:
            raise ValueError(_NOT_BLOCKWISE.format(self.model.settings_.strategy.name))
        return self.model.cliques_

    @property
    def rule(self) -> int:
        """Points that a clique needs to place its members, M + 2."""
        return self.model.embedding_.shape[1] + 2

    def members(self, block: int) -> NDArray[np.int32]:
        """Members of a solved clique."""
        return self.solved.members[self.solved.indptr[block] : self.solved.indptr[block + 1]]


def view_cliques(
    model: IKD,
    data: Dataset,
    *,
    limit: int = 100_000,
    progress: Callable[[Any], Iterable[Any]] | None = None,
) -> CliqueView:
    """Look at the cliques of a data set.

    Parameters
    ----------
    model : IKD
        Fitted on ``data.X`` with ``strategy="blockwise"``.
    data : Dataset
        Points and labels.
    limit : int
        List at most this number of maximal cliques.
    progress : callable, optional
        Wraps the iterable of thresholds, as ``tqdm`` does.

    Returns
    -------
    CliqueView
        What was found.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.study.datasets import half_moons
    >>> moons = half_moons(60)
    >>> model = IKD(strategy="blockwise", affinity="cosine", graph=0.9).fit(moons.X + 2)
    >>> view_cliques(model, moons).complete
    True
    """
    check_integer("limit", limit, 1)
    if model.graph_ is None or model.cliques_ is None:
        raise ValueError(_NOT_BLOCKWISE.format(model.settings_.strategy.name))
    found = list(itertools.islice(cliques.iter_cliques(model.graph_), limit + 1))
    threshold = threshold_of(model)
    with warnings.catch_warnings():
        # The fit has warned of the rows.
        warnings.simplefilter("ignore", UserWarning)
        levels = threshold_levels(
            data.X,
            affinity=model.settings_.affinity,
            also=() if threshold is None else (threshold,),
            n_components=model.embedding_.shape[1],
            progress=progress,
        )
    links = largest_graph(model.cliques_)
    return CliqueView(model, data, found[:limit], len(found) <= limit, links, levels)


def threshold_of(model: IKD) -> float | None:
    """Threshold of the graph of a fitted model; None where neighbours alone make it."""
    rule = model.settings_.graph
    given = isinstance(rule, Threshold) and rule.fdr is None and float(rule.s0) > 0.0
    return float(rule.s0) if given else None


def largest_graph(blocks: Blocks) -> nx.Graph:
    """Graph of the largest cliques of a list, as many as a picture holds.

    Nodes are numbers in the list with ``size``, edges have ``overlap``.
    """
    import networkx as nx

    def members(numbers: NDArray[np.intp]) -> list[NDArray[np.int32]]:
        return [blocks.members[blocks.indptr[k] : blocks.indptr[k + 1]] for k in numbers]

    largest = np.argsort(-blocks.sizes, kind="stable")[:MOST_DISCS]
    pairs = cliques.overlaps(members(largest)).tocoo()
    among = np.cumsum(np.bincount(np.maximum(pairs.row, pairs.col), minlength=largest.size)) // 2
    fits = max(FEWEST_DISCS, int(np.searchsorted(among, MOST_PAIRS, side="right")))
    kept = np.sort(largest[:fits])
    chosen = members(kept)
    return nx.relabel_nodes(cliques.clique_graph(chosen), dict(enumerate(kept.tolist())))
