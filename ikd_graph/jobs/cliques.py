"""A look at cliques: of any table, similarity, graph or fit, and what chance would give."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .. import cliques, graph
from .._base import limits
from .._base.as_table import row_names
from .._base.format import setting
from .._base.table import dense_rows, rows_of
from .._base.types import Floats
from .._base.validation import naming_rows, whole
from .._base.warn import no_warnings
from ..cliques import Blocks, Cliques, Stability
from ..covariance import effective_columns, pairwise, to_correlation
from ..datasets import Dataset
from ..estimator import IKD
from ..graph import CsrGraph
from ..missing import Pairwise
from ..settings import Settings
from ..similarity import GIVEN, Correlations
from ._given import as_dataset, given_graph
from .cliques_result import CliqueInspection, threshold_of

__all__ = ["CliqueInspection", "inspect_cliques"]

_TABLES = 4
"""Null tables where nobody asked for stability: .1 s of 1 000 rows, and 100 are known to 5."""


def inspect_cliques(
    X: Any,
    *,
    labels: ArrayLike | None = None,
    limit: int = 20_000,
    stability: int = 0,
    signed: bool = False,
    **settings: Any,
) -> CliqueInspection:
    """Look into the cliques of a table, a similarity, a graph or a fitted model.

    A clique is a set of points that are all joined with one another: rows that all correlate, or
    nodes of a graph.

    Parameters
    ----------
    X : array_like, DataFrame, Dataset, networkx.Graph, scipy sparse, CsrGraph or IKD
        A table, whose rows are points and whose graph is that of an `IKD`; a similarity of all
        pairs with ``affinity="precomputed"`` or ``"precomputed_distance"``; a graph of networkx, a
        square sparse matrix or a `CsrGraph`, whose edges are taken as they are, with or without
        weights; or a fitted `IKD` that has a graph. The index of a DataFrame and the nodes of a
        graph are the names; rows of a model are numbered.
    labels : (n,) array_like, optional
        Class of each point; their members of each class are counted.
    limit : int
        Largest number of maximal cliques that are listed. Where there are more, those of
        `cliques.cover` are.
    stability : int
        Resamples that tell how often each clique would be there on fresh columns, such as 200; 0
        for none. For correlations of the rows of a table.
    signed : bool
        Negate rows that are negatively correlated with others (reverse-keyed items), so that
        cliques hold rows that oppose one another, too. For correlations.
    **settings
        Parameters of `IKD` for a table or a similarity: ``graph`` (a threshold, a number of
        neighbors, ...), ``affinity``, ``kernel``, ``n_components``, ``n_jobs``, ``verbose``. By
        default ``strategy="blockwise"`` and ``refine=None``, and with ``stability`` or ``signed``
        ``affinity="correlation"``.

    Returns
    -------
    CliqueInspection
        Prints an answer; ``to_pandas()`` has a row for each clique, ``to_networkx()``, ``plot()``
        and ``export(path)`` are the graph.

    Raises
    ------
    ValueError
        If X is none of these, or a setting does not apply to it.

    Examples
    --------
    Which measures of cells go together? Columns become points by ``.T``.

    >>> import pandas as pd
    >>> from sklearn.datasets import load_breast_cancer
    >>> import ikd_graph
    >>> bunch = load_breast_cancer()
    >>> table = pd.DataFrame(bunch.data, columns=bunch.feature_names).T
    >>> found = ikd_graph.inspect_cliques(table, affinity="correlation", graph=0.85)
    >>> found.to_pandas().members[1]
    ['radius error', 'perimeter error', 'area error']
    >>> print(found.answer[0])  # doctest: +ELLIPSIS
    The graph has 9 maximal cliques of two points or more among 30 points; the largest holds 6: ...
    >>> axes = found.plot()

    A graph of networkx, with its communities:

    >>> import networkx as nx
    >>> club = ikd_graph.inspect_cliques(nx.karate_club_graph())
    >>> club
    CliqueInspection(36 cliques of 34 points, largest 5)
    >>> club.communities
    3 communities of 3-cliques, 32 of 34 points
    >>> club.to_networkx().nodes[33]
    {'name': '33', 'community': 0}
    """
    whole(1)("limit", limit)
    if stability:
        whole(2, cure="0 is none")("stability", stability)
    loaded, is_model = isinstance(X, Dataset), isinstance(X, IKD)
    given = None if "affinity" in settings else given_graph(X.X if loaded else X)
    if (given or is_model) and (settings.keys() - {"verbose"} or signed or (stability and given)):
        names = ", ".join([*settings, *["signed"] * signed, *["stability"] * bool(stability)])
        raise ValueError(
            f"X must be a table or a similarity to be worked with by settings, got a "
            f"{type(X).__name__} with {names}; what is given is looked at as it is"
        )
    if is_model:
        check_is_fitted(X)
        X = X._of_fitted_rows()
        data = Dataset(np.zeros((len(X.embedding_), 0)), name="The graph")
        return _inspected(X, data.labeled(labels, row_names(X)), limit, stability)
    if given:
        g, nodes = given
        data = Dataset(np.zeros((g.n_nodes, 0)), name="The graph", row_names=nodes)
        data = X if loaded else data
        return CliqueInspection(data.labeled(labels), g, *_listed(g, limit, 3))
    if stability or signed:
        settings = {"affinity": "correlation", **settings}
    of_pairs, turned = settings.get("affinity") in GIVEN, None
    data = as_dataset(X, of_pairs).labeled(labels, row_names(X))
    if signed:
        if of_pairs:
            model = IKD(**settings)
            model._read_training(data.X, Settings.of(model))
        rows = dense_rows(rows_of(data.X))
        sign = _reverse_keyed(rows, settings)
        turned = np.flatnonzero(sign < 0.0)
        data = replace(data, X=rows * sign[:, None] * (sign if of_pairs else 1.0))
    with no_warnings("the graph has|.* joints? left open"), naming_rows(data.row_names):
        # The advice covers components, and joints were not asked for.
        # Nodes of a graph that is given go with rows of their names.
        rows = data.X if of_pairs or sp.issparse(data.X) else data.frame
        model = IKD(**{"strategy": "blockwise", "refine": None, **settings}).fit(rows)
    return _inspected(model, data, limit, stability, turned)


def _reverse_keyed(rows: Floats, settings: Mapping[str, Any]) -> Floats:
    """Return -1 for rows to negate, else 1, of a table or a similarity."""
    affinity, s0 = settings["affinity"], settings.get("graph")
    if affinity not in ("correlation", "precomputed"):
        raise ValueError(
            f"signed rows are those of correlations, got {setting('affinity', affinity)}; pass "
            f"{setting('affinity', 'correlation')}"
        )
    if affinity == "precomputed":
        corr, free = to_correlation(rows), None
    else:
        corr, shared = pairwise(rows)
        corr = np.nan_to_num(np.where(shared >= Pairwise().least(rows.shape[1]), corr, 0.0))
        free = effective_columns(np.nan_to_num(rows)) * float(np.isfinite(rows).mean())
    if not isinstance(s0, float):
        s0 = graph.auto_threshold(free)
    return _signs(np.asarray(corr, dtype=np.float64), s0)


def _signs(corr: Floats, s0: float) -> Floats:
    """Return -1 for the fewer points of each component, else 1: strong correlations get positive.

    These are a spanning tree of the graph of absolute correlations above a threshold.
    """
    g, n = graph.signed_threshold(corr, s0), len(corr)
    lengths = sp.csr_matrix((2.0 - g.weights, g.indices, g.indptr), shape=(n, n))
    tree, sign = sp.csgraph.minimum_spanning_tree(lengths), np.ones(n)
    for root in np.unique(graph.component_labels(g), return_index=True)[1]:
        order, before = sp.csgraph.breadth_first_order(tree, root, directed=False)
        for row in order[1:]:
            sign[row] = sign[before[row]] * np.sign(corr[row, before[row]])
        if sign[order].sum() < 0.0:
            sign[order] *= -1.0
    return sign


def _listed(g: CsrGraph, limit: int, min_size: int) -> tuple[Cliques, int, bool]:
    """Maximal cliques of two points or more, or a cover where there are more than the limit.

    The largest come first; how many there are comes with them, and whether these are all.
    """
    with no_warnings("stopped at the limit"):
        found = cliques.maximal_cliques(g, 2, limit + 1)
    complete, n_maximal = len(found) <= limit, min(len(found), limit)
    if not complete:
        found = cliques.cover(g, min_size)
    order = np.argsort(-found.sizes, kind="stable")[: np.count_nonzero(found.sizes > 1)]
    starts, entries = found.blocks.entries(order)
    blocks = Blocks(starts, found.blocks.members[entries])
    return Cliques.trusted(blocks, g.n_nodes), n_maximal, complete


def _inspected(
    model: IKD, data: Dataset, limit: int, n_resamples: int, turned: Any = None
) -> CliqueInspection:
    """Look at the cliques of a fitted model."""
    if model.graph_ is None:
        raise ValueError(
            "the model must have a graph to look at its cliques, got "
            f"{setting('strategy', model.settings_.strategy.name)}; 'geodesic' and 'blockwise' "
            "make one"
        )
    g, n_links = _trusted_graph(model)
    found, n_maximal, complete = _listed(g, limit, model.n_components_ + 2)
    known, chance = None, None
    if n_resamples or model.settings_.affinity == "correlation":
        rule = _rule_of_correlations(model, turned is not None)
        rows = dense_rows(rows_of(model.model_.rows))[model.model_.first]
        few = complete and len(rows) <= limits.SAMPLED and bool(np.isfinite(rows).all())
        if n_resamples and not np.isfinite(rows).all():
            raise ValueError(
                f"{setting('stability')} must have rows without holes, got a table with missing "
                "values; fill them in before, or leave it out"
            )
        with no_warnings():
            # Tables that are drawn are not the user's.
            if n_resamples:
                known = _stability(model, rows, rule, g, found, n_resamples)
                chance = known.expected_false
            elif few and (turned is None or callable(rule)):
                chance = cliques.false_cliques(rows, rule, _TABLES)
    return CliqueInspection(
        data, g, found, n_maximal, complete, model, n_links, known, chance, turned
    )


def _trusted_graph(model: IKD) -> tuple[CsrGraph, int]:
    """Edges among all rows of a model but the links between components, and how many these are.

    Equal rows are joined, and have the neighbors of the first of them.
    """
    assert model.graph_ is not None
    low, high, weights = graph.edges(model.graph_)
    at = model.model_.inverse
    labels, first, n = model.component_labels_, model.model_.first[at], at.size
    own = labels[low] == labels[high]
    once = own & (first[low] == low) & (first[high] == high)
    g = graph.to_sparse(graph.from_edges(n, low[once], high[once], weights[once]))
    copies = sp.csr_array((np.ones(n), (np.arange(n), first)), shape=(n, n))
    every = sp.find(sp.triu(copies @ g @ copies.T + copies @ copies.T, 1))
    return graph.from_edges(n, *every), int(np.count_nonzero(~own))


def _stability(
    model: IKD, rows: Floats, rule: Any, g: CsrGraph, found: Cliques, n_resamples: int
) -> Stability:
    """Stability of edges and cliques of all rows, estimated from distinct ones."""
    first, at, members = model.model_.first, model.model_.inverse, found.blocks.members
    kept = first[at[members]] == members
    starts = np.append(0, np.cumsum(kept))[found.blocks.indptr]
    distinct = Cliques.trusted(Blocks(starts, members[kept]).renamed(at), first.size)
    known = cliques.stability(rows, rule, n_resamples, cliques=distinct)
    own, (low, high, _) = graph.to_sparse(known.weighted()), graph.edges(g)
    edges = Correlations(own).between(at[low], at[high])
    edges[at[low] == at[high]] = 1.0
    return replace(known, graph=g, edges=edges, cliques=found)


def _rule_of_correlations(model: IKD, signed: bool) -> Any:
    """Return how a model joins rows of other correlations: a function, or its whole graph.

    It is the graph of distinct rows where it was given, or made by a test of these rows. The
    function turns rows as those of the model were.
    """
    rule, known = model.settings_.graph, model.settings_.affinity
    if known != "correlation":
        raise ValueError(
            f"stability is that of correlations, got {setting('affinity', known)}; "
            f"pass {setting('affinity', 'correlation')}"
        )
    if isinstance(rule, graph.Rule) and getattr(rule, "fdr", None) is None:
        s0 = threshold_of(model) or graph.auto_threshold(None)

        def build(corr: Floats) -> CsrGraph:
            sign = _signs(corr, s0) if signed else np.ones(len(corr))
            return rule.build(Correlations(corr * np.outer(sign, sign)))

        return build
    # Links between its components are weaker than any edge that the test let through.
    return graph.subgraph(_trusted_graph(model)[0], model.model_.first)
