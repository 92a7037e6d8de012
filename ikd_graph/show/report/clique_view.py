"""A look at the cliques of a data set: all that pages, pictures and tables are made from."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import alignment, blocks, cliques, graph
from ..._checks import check_integer
from ..._records import Blocks, CsrGraph
from ...cliques import Cliques
from ...similarity import GIVEN
from ...study.datasets import Dataset
from ...study.levels import Levels, threshold_levels

if TYPE_CHECKING:
    import networkx as nx

    from ...estimator import IKD


@dataclass(frozen=True)
class CliqueView:
    """What a look at the cliques of a data set gave.

    Links that join components are no trusted similarities: they are not among the edges here, and
    no clique holds one.

    Attributes
    ----------
    model : IKD
        Fitted with ``strategy="blockwise"``.
    data : Dataset
        Points and labels.
    graph : CsrGraph
        Distinct rows and the edges among them.
    n_links : int
        Edges that join components.
    sizes : (k,) ndarray of int64
        Sizes of the maximal cliques of at least two points.
    complete : bool
        Whether ``sizes`` holds all of them.
    cliques : Cliques
        Rows of cliques of at least two points that cover the graph, duplicate rows too: those
        that the model solved, or if it had to join components a cover without the links.
    proposals : (total, m) ndarray of float64
        Where each clique would put each of its members.
    summary : dict
        See `ikd_graph.cliques.summary`.
    levels : Levels
        Counts at many thresholds.
    """

    model: IKD
    data: Dataset
    graph: CsrGraph
    n_links: int
    sizes: NDArray[np.int64]
    complete: bool
    cliques: Cliques
    proposals: NDArray[np.float64]
    summary: dict[str, Any]
    levels: Levels

    @cached_property
    def names(self) -> list[str]:
        """What the rows are called: by their names, else by their numbers."""
        return [str(name) for name in self.data.row_names or range(self.data.n_samples)]

    @cached_property
    def disagreement(self) -> NDArray[np.float64]:
        """Distance of each member from where its clique would put it, (total,)."""
        Z = self.model.embedding_[self.cliques.blocks.members]
        return np.asarray(np.linalg.norm(self.proposals - Z, axis=1), dtype=np.float64)

    @cached_property
    def of_cliques(self) -> NDArray[np.float64]:
        """Mean disagreement of each clique, (n_cliques,)."""
        starts = self.cliques.blocks.indptr[:-1]
        return np.asarray(np.add.reduceat(self.disagreement, starts) / self.cliques.sizes)

    @cached_property
    def links(self) -> nx.Graph:
        """The 500 largest cliques as nodes (positions in `cliques`), joined by shared points."""
        import networkx as nx

        largest = np.sort(np.argsort(-self.cliques.sizes, kind="stable")[:500])
        chosen = cliques.clique_graph([self.cliques[k] for k in largest])
        return nx.relabel_nodes(chosen, dict(enumerate(largest.tolist())))


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
        What there is to see.

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
    solved = model._result.solution.solved
    if model.graph_ is None or solved is None:
        raise ValueError(
            "the model must be fitted with strategy='blockwise' to look at its cliques, got "
            f"{model.settings_.strategy.name!r}"
        )
    whole = graph.subgraph(model.graph_, model._first)
    labels = model.component_labels_[model._first]
    first, second, weights = graph.edges(whole)
    own = labels[first] == labels[second]
    g = graph.from_edges(whole.n_nodes, first[own], second[own], weights[own])
    listed = itertools.islice(cliques.iter_cliques(g, 2), limit + 1)
    sizes = np.fromiter((clique.size for clique in listed), dtype=np.int64)
    size = model.embedding_.shape[1]
    if not own.all():
        solved = blocks.solve(g, cliques.cover(g, size + 2), model.kernel_, size)
    solved = solved.take(np.flatnonzero(solved.blocks.sizes > 1))
    rows, proposals = _with_duplicates(
        solved.blocks, alignment.proposals(solved, model._points), model._inverse
    )
    return CliqueView(
        model,
        data,
        g,
        int((~own).sum()),
        sizes[:limit],
        sizes.size <= limit,
        Cliques(rows, data.n_samples),
        proposals,
        cliques.summary(g, solved.blocks, size),
        _levels(model, data.X, progress),
    )


def _with_duplicates(
    cliques: Blocks, proposals: NDArray[np.float64], inverse: NDArray[np.int64]
) -> tuple[Blocks, NDArray[np.float64]]:
    """Cliques of distinct rows as cliques of all rows, ascending, and where they put these."""
    same = np.argsort(inverse, kind="stable").astype(np.int32)
    copies = Blocks(np.append(0, np.cumsum(np.bincount(inverse))), same)
    _, entries = copies.entries(cliques.members.astype(np.intp))
    rows = copies.members[entries]
    n_copies = copies.sizes[cliques.members]
    clique = np.repeat(np.repeat(np.arange(cliques.n_blocks), cliques.sizes), n_copies)
    order = np.lexsort((rows, clique))
    starts = np.append(0, np.cumsum(np.bincount(clique, minlength=cliques.n_blocks)))
    return Blocks(starts, rows[order]), np.repeat(proposals, n_copies, axis=0)[order]


def _levels(model: IKD, X: Any, progress: Any) -> Levels:
    """What every threshold makes of the distinct rows; that of the graph is among them."""
    used = threshold_of(model)
    with warnings.catch_warnings():
        # The fit has warned of the rows.
        warnings.simplefilter("ignore", UserWarning)
        return threshold_levels(
            X if model.settings_.affinity in GIVEN else X[np.sort(model._first)],
            affinity=model.settings_.affinity,
            also=() if used is None else (used,),
            n_components=model.embedding_.shape[1],
            progress=progress,
        )


def threshold_of(model: IKD) -> float | None:
    """Threshold of the graph of a fitted model; None where neighbours alone make it."""
    rule = model.settings_.graph
    given = isinstance(rule, graph.Threshold) and rule.fdr is None and float(rule.s0) > 0.0
    return float(rule.s0) if given else None
