"""A look at the cliques of a fitted model: what they are, how they overlap and where they agree."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import median_abs_deviation

from .. import blockwise, cliques, graph
from .._base.dataset import NO_LABEL
from .._base.format import count, format_number, setting
from .._base.table import dense_rows, rows_of
from .._base.types import Floats
from .._base.validation import whole
from ..cliques import Blocks, Cliques, Communities, Stability
from ..datasets import Dataset
from ..estimator import IKD
from ..graph import CsrGraph
from ..similarity import GIVEN, compare
from .threshold_scan import threshold_scan

STAYS = 0.8
"""Stability from which a clique is said to stay."""


@dataclass(frozen=True)
class CliqueInspection:
    """What a look at the cliques of a fitted model gave.

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
    levels : pandas.DataFrame
        Counts at many thresholds, see `ikd_graph.jobs.threshold_scan`.
    communities : Communities or None
        Of distinct rows, by percolation of triangles; None where not all cliques were listed.
    stability : Stability or None
        Of distinct rows and `cliques`, where it was asked for.
    """

    model: IKD
    data: Dataset
    graph: CsrGraph
    n_links: int
    sizes: NDArray[np.int64]
    complete: bool
    cliques: Cliques
    proposals: Floats
    summary: dict[str, Any]
    levels: pd.DataFrame
    communities: Communities | None = None
    stability: Stability | None = None

    @cached_property
    def classes(self) -> list[str] | None:
        """Class of each row; None where the first labels are no classes."""
        if not self.data.labels or not self.data.labels[0].names:
            return None
        return ["no label" if text == NO_LABEL else text for text in self.data.labels[0].texts]

    @property
    def n_components(self) -> int:
        """Connected components before any were joined."""
        return int(self.model.component_labels_.max()) + 1

    @cached_property
    def disagreement(self) -> Floats:
        """Distance of each member from where its clique would put it, (total,)."""
        Z = self.model.embedding_[self.cliques.blocks.members]
        return np.asarray(np.linalg.norm(self.proposals - Z, axis=1), dtype=np.float64)

    @cached_property
    def of_cliques(self) -> Floats:
        """Mean disagreement of each clique, (n_cliques,)."""
        starts = self.cliques.blocks.indptr[:-1]
        return np.asarray(np.add.reduceat(self.disagreement, starts) / self.cliques.sizes)

    @property
    def residual(self) -> Floats:
        """How far cliques disagree about each point, (n,)."""
        return np.nan_to_num(np.asarray(self.model.merge_residuals_, dtype=np.float64))

    @property
    def disagreement_limit(self) -> float:
        """Residual beyond which cliques disagree unusually: three robust deviations above."""
        deviation = median_abs_deviation(self.residual, scale="normal")
        return float(np.median(self.residual) + 3.0 * deviation)

    @property
    def disagreed(self) -> NDArray[np.intp]:
        """Rows about which cliques disagree unusually much, the most first."""
        # Residuals of rounding size are agreement, whatever their spread.
        floor = 1e-6 * (float(np.ptp(self.model.embedding_)) or 1.0)
        order = np.argsort(-self.residual, kind="stable")
        return order[self.residual[order] > max(self.disagreement_limit, floor)]

    @cached_property
    def links(self) -> Any:
        """NetworkX graph of the 500 largest cliques (positions in `cliques`) that share points."""
        import networkx as nx

        largest = np.sort(np.argsort(-self.cliques.sizes, kind="stable")[:500])
        chosen = cliques.clique_graph([self.cliques[k] for k in largest])
        return nx.relabel_nodes(chosen, dict(enumerate(largest.tolist())))

    def count_classes(self, rows: Iterable[int]) -> dict[str, int]:
        """Count the classes of rows, the most frequent first; none without classes."""
        classes = self.classes
        return {} if classes is None else dict(Counter(classes[k] for k in rows).most_common())

    def describe_classes(self, rows: Iterable[int]) -> str:
        """Return the classes of rows as "8 cell × 12, morula × 3"."""
        return ", ".join(f"{name} × {n}" for name, n in self.count_classes(rows).items())

    def facts(self) -> dict[str, Any]:
        """Count what there is in the graph and its cliques; what does not apply is left out."""
        g, removed = self.graph, self.model.removed_edges_
        facts = {
            "points": self.data.n_samples,
            "duplicate rows": self.data.n_samples - g.n_nodes or None,
            "graph": self.model.settings_.describe_graph(),
            "edges": g.n_edges,
            "edges removed as short-circuit edges": None if removed is None else len(removed),
            "links between components": self.n_links or None,
            "mean neighbors": self.summary["degrees"]["mean"],
            "components": self.n_components,
            "maximal cliques": "more than " * (not self.complete) + format_number(self.sizes.size),
            "largest clique": max([*self.sizes, *self.cliques.sizes], default=0),
            "cliques listed": len(self.cliques),
            "points covered": f"{self.summary['solvable_coverage']:.1%}",
        }
        if self.stability is not None:
            large, stays = self.cliques.sizes >= 3, self.stability.of_cliques >= STAYS
            facts["cliques of 3 or more that stay"] = (
                f"{np.count_nonzero(large & stays)} of {np.count_nonzero(large)}, in "
                f"{STAYS:.0%} of fresh tables or more"
            )
            facts["edges that stay"] = f"{np.mean(self.stability.edges >= STAYS):.1%}"
            facts["cliques of 3 or more by chance"] = self.stability.expected(3)
        return {name: value for name, value in facts.items() if value is not None}

    def advice(self) -> list[str]:
        """Sentences on what to do about the threshold, and on what the cliques disagree about."""
        levels, top = self.levels, self.levels.attrs["connected_up_to"]
        complete, m = levels.threshold[levels.coverage == 1.0], self.model.embedding_.shape[1]
        upto = f"The threshold graph stays connected up to a threshold of {top:.3g}; beyond it, "
        if top == 0.0:
            upto = f"No threshold from {levels.threshold.min():.3g} up keeps the graph connected: "
        advice = [f"{upto}components are joined by nearest neighbors or links."]
        if complete.size:
            advice.append(
                f"Up to a threshold of {complete.max():.2f} every point is in a "
                f"clique of at least {m + 2} points, the minimum in {m}-D."
            )
        if self.n_components > 1:
            labels = np.bincount(self.model.component_labels_)
            links = count(self.n_links, "link")
            joined = f" {links} alone fix their positions." if self.n_links else ""
            advice.append(
                f"The graph used has {count(labels.size, 'component')}; the largest holds "
                f"{labels.max()} of {labels.sum()} points.{joined}"
            )
        if (rows := self.disagreed).size:
            few = ", ".join(self.data.names[row] for row in rows[:8])
            advice.append(
                f"The cliques disagree about {count(rows.size, 'point')} by more than "
                f"{self.disagreement_limit:.3g} (three robust standard deviations above the "
                f"median): {few}{', ...' * (rows.size > 8)}."
            )
        if (fraction := self.model.merge_start_weight_ or 0.0) >= 0.1:
            times = f"{fraction:.1g}" if fraction < 1.0 else f"{fraction:.0f}"
            advice.append(
                f"The cliques are noisy: the geodesic solution has {times} times their total "
                "weight in the merge."
            )
        return advice

    def to_pandas(self) -> pd.DataFrame:
        """Make a table of the members of all cliques, a row for each member of each clique.

        Returns
        -------
        pandas.DataFrame
            Columns ``clique`` (its position in `cliques`), ``member``, the labels, the
            ``disagreement`` of the member, and ``stability`` of the clique where it is known.
        """
        table = self.cliques.to_pandas(self.data.names)
        for labels in self.data.labels:
            texts = np.array(labels.texts, dtype=object)
            table[labels.title or "label"] = texts[self.cliques.blocks.members]
        table["disagreement"] = self.disagreement
        if self.stability is not None:
            table["stability"] = np.repeat(self.stability.of_cliques, self.cliques.sizes)
        return table

    def largest(self, most: int = 15) -> pd.DataFrame:
        """Make a table of the largest cliques that are not almost the same, the largest first.

        At most half of each is in one before it.

        Parameters
        ----------
        most : int
            Number of cliques.

        Returns
        -------
        pandas.DataFrame
            Columns ``clique`` (its position in `cliques`), ``points``, ``stability`` and ``as large
            by chance`` where they are known, ``labels`` where they are classes, and ``members``.
        """
        chosen: list[int] = []
        inside = np.zeros((most, self.data.n_samples), dtype=bool)
        for k in np.argsort(-self.cliques.sizes, kind="stable").tolist():
            shared = inside[: len(chosen), self.cliques[k]].sum(axis=1)
            if len(chosen) < most and 2 * shared.max(initial=0) <= self.cliques.sizes[k]:
                inside[len(chosen), self.cliques[k]] = True
                chosen.append(k)
        sizes = self.cliques.sizes[chosen].tolist()
        table: dict[str, Any] = {"clique": chosen, "points": sizes}
        if self.stability is not None:
            table["stability"] = self.stability.of_cliques[chosen]
            table["as large by chance"] = [self.stability.expected(size) for size in sizes]
        if self.classes is not None:
            table["labels"] = [self.describe_classes(self.cliques[k]) for k in chosen]
        table["members"] = [", ".join(self.data.names[k] for k in self.cliques[c]) for c in chosen]
        return pd.DataFrame(table)

    def to_record(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        components = np.bincount(self.model.component_labels_)
        listed = zip(self.cliques, self.of_cliques, strict=True)
        known, found = self.stability, self.communities
        return {
            "data": self.data.name,
            "n_points": self.data.n_samples,
            "graph": self.model.settings_.describe_graph(),
            "n_edges": self.graph.n_edges,
            "n_links": self.n_links,
            "components": {"count": components.size, "sizes": -np.sort(-components)},
            "maximal_cliques": {
                "count": self.sizes.size,
                "complete": self.complete,
                "size_distribution": pd.Series(self.sizes).value_counts().sort_index().to_dict(),
            },
            "listed_cliques": self.summary,
            "cliques": [
                {"clique": number, **self._group(members), "disagreement": off}
                for number, (members, off) in enumerate(listed)
            ],
            "stability": None
            if known is None
            else {"cliques": known.of_cliques, "expected_false": known.expected_false},
            "communities": None
            if found is None
            else [self._group(self.model._first[of]) for of in found],
            "disagreed_about": [self.data.names[row] for row in self.disagreed],
            "thresholds": self.levels.to_dict("list"),
        }

    def _group(self, rows: NDArray[Any]) -> dict[str, Any]:
        """Names and classes of the rows of a group."""
        return {"members": [self.data.names[k] for k in rows], "labels": self.count_classes(rows)}

    def exported(self, ending: str) -> str:
        """Return the graph as a file for other programs, see `ikd_graph.cliques.export`."""
        # By the rows of the table; of equal ones the first stands for all.
        order = np.argsort(self.model._first, kind="stable")
        rows = self.model._first[order]
        nodes: dict[str, Any] = {
            column.title or "label": np.array(column.texts, dtype=object)[rows]
            for column in self.data.labels
        }
        nodes |= {f"ikd{k}": z for k, z in enumerate(self.model._points[order].T)}
        names = [self.data.names[row] for row in rows]
        g, known = graph.subgraph(self.graph, order), self.stability
        if known is not None:
            # Of the edges in use: others may have been removed, or are links.
            own = graph.to_sparse(known.weighted())
            low, high, _ = graph.edges(g)
            stays = np.asarray(own[order[low], order[high]]).ravel().astype(np.float64)
            known = replace(known, graph=g, edges=stays)
        return cliques.graph_text(g, ending, names, known, nodes)


def inspect_model(
    model: IKD,
    data: Dataset,
    *,
    limit: int = 100_000,
    n_resamples: int = 0,
    verbose: int = 0,
) -> CliqueInspection:
    """Look at the cliques of a fitted model.

    Parameters
    ----------
    model : IKD
        Fitted on ``data.X`` with ``strategy="blockwise"``.
    data : Dataset
        Points and labels.
    limit : int
        List at most this number of maximal cliques.
    n_resamples : int
        Resamples that their stability is estimated from; 0 for none.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    CliqueInspection
        What there is to see.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.datasets import half_moons
    >>> moons = half_moons(60)
    >>> model = IKD(strategy="blockwise", affinity="cosine", graph=0.9).fit(moons.X + 2)
    >>> inspect_model(model, moons).complete
    True
    """
    whole(1)("limit", limit)
    whole(0)("n_resamples", n_resamples)
    solved = model._result.solution.solved
    if model.graph_ is None or solved is None:
        raise ValueError(
            "the model must be fitted with strategy='blockwise' to look at its cliques, got "
            f"{model.settings_.strategy.name!r}"
        )
    connected = graph.subgraph(model.graph_, model._first)
    labels = model.component_labels_[model._first]
    first, second, weights = graph.edges(connected)
    own = labels[first] == labels[second]
    g = graph.from_edges(connected.n_nodes, first[own], second[own], weights[own])
    listed = list(itertools.islice(cliques.iter_cliques(g, 2), limit + 1))
    sizes = np.fromiter((clique.size for clique in listed), dtype=np.int64)
    complete = sizes.size <= limit
    m = model.embedding_.shape[1]
    if not own.all():
        solved = blockwise.solve(g, cliques.cover(g, m + 2), model.kernel_, m)
    solved = solved.take(np.flatnonzero(solved.blocks.sizes > 1))
    proposed = blockwise.proposals(solved, model._points)
    rows, proposals = _with_duplicates(solved.blocks, proposed, model._inverse)
    with warnings.catch_warnings():
        # The fit has warned of the rows.
        warnings.simplefilter("ignore", UserWarning)
        used, affinity = threshold_of(model), model.settings_.affinity
        levels = threshold_scan(
            data.X if affinity in GIVEN else data.X[np.sort(model._first)], affinity=affinity,
            also=() if used is None else (used,), n_components=m, verbose=verbose,
        )  # fmt: skip
        stability = None
        if n_resamples:
            table = dense_rows(rows_of(data.X))[model._first]
            rule = _rule_of_correlations(model, connected)
            stability = cliques.stability(table, rule, n_resamples, cliques=solved.blocks)
    return CliqueInspection(
        model, data, g, int((~own).sum()), sizes[:limit], complete,
        Cliques(rows, data.n_samples), proposals, cliques.summary(g, solved.blocks, m), levels,
        cliques.communities(listed, n_points=g.n_nodes) if complete else None, stability,
    )  # fmt: skip


def _rule_of_correlations(model: IKD, connected: CsrGraph) -> Any:
    """Return how a model joins rows of other correlations: a function, or its whole graph.

    It is the graph where it was given, or made by a test of these rows.
    """
    rule, known = model.settings_.graph, model.settings_.affinity
    if known != "correlation":
        raise ValueError(
            f"stability is that of correlations, got {setting('affinity', known)}; "
            f"pass {setting('affinity', 'correlation')}"
        )
    if isinstance(rule, graph.Rule) and getattr(rule, "fdr", None) is None:
        return lambda corr: rule.build(compare(corr, "precomputed"))
    return connected


def _with_duplicates(
    blocks: Blocks, proposals: Floats, inverse: NDArray[np.int64]
) -> tuple[Blocks, Floats]:
    """Cliques of distinct rows as cliques of all rows, ascending, and where they put these."""
    clique = np.repeat(np.arange(blocks.n_blocks), blocks.sizes)
    members = pd.DataFrame({"clique": clique, "point": blocks.members}).reset_index()
    copies = pd.DataFrame({"point": inverse, "row": np.arange(inverse.size)})
    table = members.merge(copies).sort_values(["clique", "row"])
    starts = np.append(0, np.cumsum(np.bincount(table.clique, minlength=blocks.n_blocks)))
    return Blocks(starts, table.row.to_numpy(np.int32)), proposals[table["index"]]


def threshold_of(model: IKD) -> float | None:
    """Threshold of the graph of a fitted model; None where neighbors alone make it."""
    rule = model.settings_.graph
    return rule.s0_used if isinstance(rule, graph.Threshold) else None
