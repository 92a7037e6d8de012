"""What a look at cliques gives: graph, cliques, how they overlap and agree, and sentences."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import median_abs_deviation

from .. import blockwise, cliques, graph
from .._base.dataset import NO_LABEL
from .._base.format import count, format_number, in_columns, listed
from .._base.types import Floats
from .._base.warn import no_warnings
from ..cliques import Cliques, Communities, Stability
from ..datasets import Dataset
from ..estimator import IKD
from ..graph import CsrGraph
from ..plotting import charts, plot
from ..plotting.colors import Paint, paint
from ..settings import Settings
from ..similarity import GIVEN
from .threshold_scan import threshold_scan
from .topology import Topology, topology_of

__all__ = ["CliqueInspection"]

STAYS = 0.8
"""Stability from which a clique is said to stay."""

DISAGREEMENT = "disagreement of cliques"


@dataclass(frozen=True)
class CliqueInspection:
    """Cliques of a graph: printed, it begins with the answer.

    Links that join components of a fit are no trusted similarities: they are not among the edges
    here, and no clique holds one. Equal rows are joined, and have the same neighbors.

    Attributes
    ----------
    data : Dataset
        Names and labels of the points.
    graph : CsrGraph
        All points and the edges among them.
    cliques : Cliques
        All maximal cliques of two points or more, the largest first; where there are more than
        the limit, some of them that cover the graph.
    n_maximal : int
        Number of maximal cliques of two points or more, or the limit.
    complete : bool
        Whether `cliques` are all of them.
    model : IKD or None
        The fit that has the graph; None where the graph was given.
    n_links : int
        Edges of the fit that join components.
    stability : Stability or None
        Of `graph` and `cliques`, where it was asked for.
    expected_false : dict of int to float, or None
        Mean number of maximal cliques of at least so many points in tables of unrelated rows;
        None where the points are not known to be correlated rows of a table.
    turned : (k,) ndarray of int, or None
        Rows that were negated, where it was asked for.
    """

    data: Dataset
    graph: CsrGraph
    cliques: Cliques
    n_maximal: int
    complete: bool
    model: IKD | None = None
    n_links: int = 0
    stability: Stability | None = None
    expected_false: Mapping[int, float] | None = None
    turned: NDArray[np.intp] | None = None

    @cached_property
    def answer(self) -> list[str]:
        """Sentences: how many cliques, the largest by name, how many chance would give."""
        sizes, name, points = self.cliques.sizes, self.data.name, count(self.graph.n_nodes, "point")
        if not sizes.size:
            return [f"{name} has no clique of two points or more: no two of {points} are joined."]
        many = count(self.n_maximal, "maximal clique")
        some = f"of {format_number(sizes.size)} that hold every joined point "
        large, known, chance = int(np.sum(sizes >= 3)), self.stability, ""
        largest = listed(self._names(self.cliques[0]))
        if self.expected_false is not None:
            few, same = (self.expected_false.get(size, 0.0) for size in (3, int(sizes[0])))
            chance = f", where tables of unrelated rows have {format_number(few)} in the mean"
            of_size = f" and {format_number(same)} of the size of the largest"
            chance += of_size * bool(few and sizes[0] > 3)
            chance += ": not more than by chance" * (large <= few)
        answer = [
            f"{name} has {'' if self.complete else 'more than '}{many} of two points or more among "
            f"{points}; {some * (not self.complete)}the largest holds {sizes[0]}: {largest}; "
            f"{format_number(large)} hold{'s' * (large == 1)} 3 points or more{chance}."
        ]
        if known is not None:
            stay = np.count_nonzero((sizes >= 3) & (known.of_cliques >= STAYS))
            answer.append(
                f"Of {count(large, 'clique')} of 3 points or more {stay} would be there again in "
                f"{STAYS:.0%} of fresh tables or more."
            )
        if self.turned is not None:
            rows = listed(self._names(self.turned))
            answer.append(f"Rows that were turned, their values negated: {rows}.")
        return answer

    def __str__(self) -> str:
        return "\n".join([*self.answer, *in_columns(self.facts().items())])

    def __repr__(self) -> str:
        return f"CliqueInspection({self.cliques!r})"

    @property
    def settings(self) -> Settings | None:
        """Settings of the fit with their reasons; nobody asked what its joints leave open."""
        if self.model is None:
            return None
        used = self.model.settings_
        told = {name: why for name, why in used.reasons.items() if name != "joints"}
        return replace(used, reasons=told)

    def _names(self, rows: Iterable[int]) -> list[str]:
        """Names of points."""
        return [self.data.names[row] for row in rows]

    @cached_property
    def classes(self) -> list[str] | None:
        """Class of each point; None where the first labels are no classes."""
        if not self.data.labels or not self.data.labels[0].names:
            return None
        return ["no label" if text == NO_LABEL else text for text in self.data.labels[0].texts]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Numbers of graph and cliques, see `ikd_graph.cliques.summary`."""
        m = None if self.model is None else self.model.n_components_
        return cliques.summary(self.graph, self.cliques, m)

    @cached_property
    def communities(self) -> Communities | None:
        """Communities by percolation of triangles; None where not all cliques are listed."""
        n = self.graph.n_nodes
        return cliques.communities(self.cliques, n_points=n) if self.complete else None

    @cached_property
    def topology(self) -> Topology | None:
        """Components and loops of the clique complex; None of a large one, or without ripser."""
        return topology_of(self.graph if self.model is None else self.model)

    @cached_property
    def levels(self) -> pd.DataFrame | None:
        """Counts at many thresholds (`ikd_graph.jobs.threshold_scan`).

        None without a fit, or where values were given and points are equal.
        """
        model, n = self.model, self.graph.n_nodes
        if model is None or (model.affinity in GIVEN and model.model_.first.size < n):
            return None
        used, affinity = threshold_of(model), model.settings_.affinity
        with no_warnings():
            # The fit has warned of the rows.
            return threshold_scan(
                model.model_.similarity if model.model_.first.size == n else model.model_.rows,
                affinity=affinity, also=() if used is None else (used,),
                n_components=model.n_components_, verbose=model.verbose,
            )  # fmt: skip

    @cached_property
    def _solved(self) -> tuple[Floats, Floats]:
        """Disagreement of each member of each clique, and of each point; 0 without a fit."""
        if self.model is None:
            return np.zeros(self.cliques.blocks.members.size), np.zeros(self.graph.n_nodes)
        Z = np.asarray(self.model.embedding_, dtype=np.float64)
        solved = blockwise.solve(self.graph, self.cliques, self.model.kernel_, Z.shape[1])
        gaps = blockwise.proposals(solved, Z) - Z[self.cliques.blocks.members]
        return np.linalg.norm(gaps, axis=1), blockwise.residuals(solved, Z)

    @property
    def disagreement(self) -> Floats:
        """Distance of each member from where its clique would put it, (total,)."""
        return self._solved[0]

    @property
    def of_cliques(self) -> Floats:
        """Mean disagreement of each clique, (n_cliques,)."""
        starts = self.cliques.blocks.indptr[:-1]
        return np.add.reduceat(self.disagreement, starts) / self.cliques.sizes

    @property
    def residual(self) -> Floats:
        """How far cliques disagree about each point, (n,)."""
        return self._solved[1]

    @property
    def disagreement_limit(self) -> float:
        """Residual beyond which cliques disagree unusually: three robust deviations above."""
        deviation = median_abs_deviation(self.residual, scale="normal")
        return float(np.median(self.residual) + 3.0 * deviation)

    @property
    def disagreed(self) -> NDArray[np.intp]:
        """Rows about which cliques disagree unusually much, the most first."""
        # Residuals of rounding size are agreement, whatever their spread.
        extent = 0.0 if self.model is None else float(np.ptp(self.model.embedding_))
        floor = 1e-6 * (extent or 1.0)
        order = np.argsort(-self.residual, kind="stable")
        return order[self.residual[order] > max(self.disagreement_limit, floor)]

    @cached_property
    def links(self) -> Any:
        """NetworkX graph of the 500 largest cliques (positions in `cliques`) that share points."""
        return cliques.clique_graph(self.cliques[:500])

    def count_classes(self, rows: Iterable[int]) -> dict[str, int]:
        """Count the classes of points, the most frequent first; none without classes."""
        classes = self.classes
        return {} if classes is None else dict(Counter(classes[k] for k in rows).most_common())

    def facts(self) -> dict[str, Any]:
        """Count what there is in the graph and its cliques; what does not apply is left out."""
        model, summary = self.model, self.summary
        more = "more than " * (not self.complete)
        facts: dict[str, Any] = {
            "points": self.graph.n_nodes, "edges": self.graph.n_edges,
            "mean neighbors": summary["degrees"]["mean"], "components": summary["graph_components"],
            "maximal cliques": f"{more}{format_number(self.n_maximal)}",
            f"largest clique{' listed' * (not self.complete)}": summary["sizes"]["max"],
        }  # fmt: skip
        if model is not None:
            removed, placed = model.removed_edges_, f"{summary['solvable_coverage']:.1%}"
            facts |= {
                "graph": model.settings_.describe_graph(),
                "duplicate rows": self.graph.n_nodes - model.model_.first.size or None,
                "edges removed as short-circuit edges": None if removed is None else len(removed),
                "links between components": self.n_links or None,
                f"points in cliques of {model.n_components_ + 2} or more": placed,
            }
        if self.topology is not None:
            facts["topology"] = "; ".join(self.topology.sentences())
        if self.stability is not None and self.graph.n_edges:
            facts["edges that stay"] = f"{np.mean(self.stability.edges >= STAYS):.1%}"
        return {name: value for name, value in facts.items() if value is not None}

    def advice(self) -> list[str]:
        """Sentences on what to do about the threshold, and on what the cliques disagree about."""
        advice: list[str] = []
        if self.model is not None and self.levels is not None:
            levels, top = self.levels, self.levels.attrs["connected_up_to"]
            complete, m = levels.threshold[levels.coverage == 1.0], self.model.n_components_
            upto = f"The threshold graph stays connected up to a threshold of {top:.3g}; beyond it"
            if top == 0.0:
                least = levels.threshold.min()
                upto = f"No threshold from {least:.3g} up keeps the graph connected:"
            advice.append(f"{upto} components are joined by nearest neighbors or links.")
            if complete.size:
                advice.append(
                    f"Up to a threshold of {complete.max():.2f} every point is in a "
                    f"clique of at least {m + 2} points, the minimum in {m}-D."
                )
        labels = np.bincount(graph.component_labels(self.graph))
        if labels.size > 1:
            links = count(self.n_links, "link")
            joined = f" {links} alone fix their positions." if self.n_links else ""
            advice.append(
                f"The graph used has {count(labels.size, 'component')}; the largest holds "
                f"{labels.max()} of {labels.sum()} points.{joined}"
            )
        if (rows := self.disagreed).size:
            few = ", ".join(self._names(rows[:8]))
            advice.append(
                f"The cliques disagree about {count(rows.size, 'point')} by more than "
                f"{self.disagreement_limit:.3g} (three robust standard deviations above the "
                f"median): {few}{', ...' * (rows.size > 8)}."
            )
        return advice

    def to_pandas(self) -> pd.DataFrame:
        """Make a table of the cliques, a row for each, the largest first.

        Returns
        -------
        pandas.DataFrame
            Columns ``clique`` (its position in `cliques`), ``size``, ``members`` (a list of names),
            ``smallest`` and ``mean`` correlation or weight of its edges; where they are known also
            ``labels`` (the number of members with each), ``disagreement`` (mean distance of its
            members from where it would put them), ``stability``, and ``expected_false`` (cliques
            of that size or more in a table of unrelated rows).
        """
        smallest, mean = cliques.edge_weights(self.graph, self.cliques)
        sizes, known, chance = self.cliques.sizes, self.stability, self.expected_false
        columns: dict[str, Any] = {
            "clique": np.arange(sizes.size), "size": sizes,
            "members": [self._names(rows) for rows in self.cliques],
            "smallest": smallest, "mean": mean,
            "labels": self.classes and [self.count_classes(rows) for rows in self.cliques],
            "disagreement": None if self.model is None else self.of_cliques,
            "stability": None if known is None else known.of_cliques,
            "expected_false": None if chance is None else [chance.get(k, 0.0) for k in sizes],
        }  # fmt: skip
        return pd.DataFrame({name: each for name, each in columns.items() if each is not None})

    def members(self) -> pd.DataFrame:
        """Make a table of the members of all cliques, a row for each member of each clique.

        Returns
        -------
        pandas.DataFrame
            Columns ``clique`` (its position in `cliques`), ``member``, the labels, the
            ``disagreement`` of the member and the ``stability`` of the clique where they are known.
        """
        table = self.cliques.to_pandas(self.data.names)
        for labels in self.data.labels:
            texts = np.array(labels.texts, dtype=object)
            table[labels.title or "label"] = texts[self.cliques.blocks.members]
        if self.model is not None:
            table["disagreement"] = self.disagreement
        if self.stability is not None:
            table["stability"] = np.repeat(self.stability.of_cliques, self.cliques.sizes)
        return table

    def largest(self, most: int = 15) -> pd.DataFrame:
        """Rows of `to_pandas` of the largest cliques that are not almost the same.

        At most half of each is in one before it.

        Parameters
        ----------
        most : int
            Number of cliques.

        Returns
        -------
        pandas.DataFrame
            The largest first.
        """
        chosen: list[int] = []
        inside = np.zeros((most, self.graph.n_nodes), dtype=bool)
        for k, members in enumerate(self.cliques):
            shared = inside[: len(chosen), members].sum(axis=1)
            if len(chosen) < most and 2 * shared.max(initial=0) <= members.size:
                inside[len(chosen), members] = True
                chosen.append(k)
        return self.to_pandas().iloc[chosen]

    def to_record(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        components = np.bincount(graph.component_labels(self.graph))
        found, model, names = self.communities, self.model, self._names
        return {
            "data": self.data.name, "n_points": self.graph.n_nodes, "n_edges": self.graph.n_edges,
            "graph": model and model.settings_.describe_graph(), "n_links": self.n_links,
            "components": {"count": components.size, "sizes": -np.sort(-components)},
            "maximal_cliques": {
                "count": self.n_maximal, "complete": self.complete,
                "size_distribution": self.summary["sizes"]["histogram"],
            },
            "listed_cliques": self.summary, "cliques": self.to_pandas().to_dict("records"),
            "expected_false": self.expected_false,
            "turned": None if self.turned is None else names(self.turned),
            "communities": None if found is None else
            [{"members": names(rows), "labels": self.count_classes(rows)} for rows in found],
            "disagreed_about": names(self.disagreed),
            "thresholds": None if self.levels is None else self.levels.to_dict("list"),
        }  # fmt: skip

    def _described(self) -> tuple[Any, ...]:
        """Names, stability and attributes of the points, as files of graphs take them."""
        nodes: dict[str, Any] = {
            labels.title or "label": np.array(labels.texts, dtype=object)
            for labels in self.data.labels
        }
        if self.communities is not None:
            nodes["community"] = self.communities.labels
        if self.turned is not None:
            nodes["turned"] = np.isin(np.arange(self.graph.n_nodes), self.turned)
        if self.model is not None:
            nodes |= {f"ikd{k}": z for k, z in enumerate(self.model.embedding_.T)}
        return self.data.names, self.stability, nodes

    def to_networkx(self) -> Any:
        """Return the graph for networkx, with attributes that files of GraphML hold.

        Returns
        -------
        networkx.Graph
            Nodes are numbers with the attributes ``name``, the labels, ``community`` (the largest
            that holds it, -1 for none) and, of a fit, the coordinates ``ikd0``, ``ikd1``; edges
            have ``weight`` and, where it is known, ``stability``.
        """
        return cliques.networkx_graph(self.graph, *self._described())

    def exported(self, ending: str) -> str:
        """Return what `export` writes into a file whose name has an end."""
        return cliques.graph_text(self.graph, ending, *self._described())

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the graph for Gephi, Cytoscape or a spreadsheet, with the names of the points.

        Parameters
        ----------
        path : str or path-like
            File to write; its end is the format, as in `ikd_graph.cliques.export`.

        Returns
        -------
        pathlib.Path
            The file written.
        """
        names, stability, nodes = self._described()
        return cliques.export(path, self.graph, names=names, stability=stability, nodes=nodes)

    def chart(self) -> charts.Chart:
        """Describe the picture: cliques as discs, joined where they share points.

        They lie where the embedding has their members, of a graph as springs have them, and have
        the color of most members' labels, or of their disagreement.
        """
        nodes, paints, names = list(self.links), [], None
        colors = paint(self.data.labels[0]) if self.data.labels else Paint()
        if colors.names:
            codes = colors.codes(self.graph.n_nodes)
            most = [np.bincount(codes[self.cliques[k]] + 1).argmax() - 1 for k in nodes]
            title = colors.title or "most members"
            paints.append(colors._replace(title=title, y=np.array(most, dtype=np.intp)))
        if self.model is None:
            import networkx as nx

            at = [*nx.spring_layout(self.links, weight="overlap", seed=0).values()]
        else:
            paints.append(Paint(DISAGREEMENT, self.of_cliques[nodes]))
            # A second coordinate that is missing is 0.
            n = self.graph.n_nodes
            plane = np.column_stack([self.model.embedding_, np.zeros(n)])[:, :2]
            at = [plane[self.cliques[node]].mean(axis=0) for node in nodes]
            named = plot.names_of_points(self.data.row_names)
            names = charts.Names(plane, [*named.values()], dots=True) if named else None
        points: dict[str, Any] = {"hover": [self._said(node) for node in nodes]}
        if self.stability is not None:
            points["opacity"] = 0.1 + charts.OPACITY * self.stability.of_cliques[nodes]
        return charts.network(self.links, np.reshape(at, (-1, 2)), *paints, names=names, **points)

    def _said(self, node: int) -> str:
        """Return what is said of a disc."""
        members = self.cliques[node]
        known, labels = self.stability, labels_text(self.count_classes(members))
        stays = "" if known is None else f"stability {known.of_cliques[node]:.2f}"
        words = [f"clique {node}", f"{members.size} points", labels, stays]
        return ", ".join(word for word in words if word)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the cliques and the points that they share.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            See `ikd_graph.plotting.plot.chart`.

        Returns
        -------
        matplotlib Axes
            The picture.
        """
        return plot.chart(self.chart(), ax=ax, **options)


def labels_text(counted: Mapping[str, int]) -> str:
    """Return counted labels as "8 cell × 12, morula × 3"."""
    return ", ".join(f"{name} × {n}" for name, n in counted.items())


def threshold_of(model: IKD) -> float | None:
    """Threshold of the graph of a fitted model; None where neighbors alone make it."""
    rule = model.settings_.graph
    return rule.s0_used if isinstance(rule, graph.Threshold) else None
