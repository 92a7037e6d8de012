"""A look at the cliques of a data set, its words and its page: what they are and how they fit."""

import itertools
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import median_abs_deviation

from .. import blockwise, cliques, graph
from .._base import limits
from .._base.format import count, format_number
from .._base.table import dense_rows, rows_of
from .._base.validation import check_integer
from ..cliques import Blocks, Cliques, Communities, Stability
from ..datasets import Dataset
from ..estimator import IKD
from ..graph import CsrGraph
from ..jobs.threshold_scan import ThresholdScan, threshold_scan
from ..jobs.used_settings import describe_graph
from ..plotting import charts, colors
from ..plotting.charts import Chart, Names
from ..plotting.colors import Groups, Paint, paint_points
from ..plotting.figures import figure, with_slider
from ..plotting.plot import names_of_points
from ..similarity import GIVEN, compare
from . import page


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
    levels : ThresholdScan
        Counts at many thresholds.
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
    proposals: NDArray[np.float64]
    summary: dict[str, Any]
    levels: ThresholdScan
    communities: Communities | None = None
    stability: Stability | None = None

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
    def links(self) -> Any:
        """NetworkX graph of the 500 largest cliques (positions in `cliques`) that share points."""
        import networkx as nx

        largest = np.sort(np.argsort(-self.cliques.sizes, kind="stable")[:500])
        chosen = cliques.clique_graph([self.cliques[k] for k in largest])
        return nx.relabel_nodes(chosen, dict(enumerate(largest.tolist())))

    def facts(self) -> dict[str, Any]:
        """Count what there is in the graph and its cliques; what does not apply is left out."""
        facts, g, used = self.summary, self.graph, threshold_of(self.model)
        n_above, rule = None, self.model.settings_.graph
        if used is not None and isinstance(rule, graph.Threshold) and rule.n_neighbors:
            n_above = int(np.count_nonzero(g.weights > used)) // 2
        removed = self.model.removed_edges_
        counts = {
            "points": self.data.n_samples,
            "duplicate rows": self.data.n_samples - g.n_nodes or None,
            "graph": describe_graph(self.model),
            "edges": g.n_edges,
            "edges above the threshold": n_above,
            "edges removed as short-circuit edges": None
            if removed is None
            else len(removed) or None,
            "links between components": self.n_links or None,
            "mean neighbors": facts["degrees"]["mean"],
            "components": self.n_components(),
            "maximal cliques": self.n_maximal(),
            "largest clique": self.largest(),
            "mean clique size": float(self.sizes.mean()) if self.sizes.size else None,
            "cliques listed": len(self.cliques),
            "points covered": f"{facts['solvable_coverage']:.1%}",
            "mean overlap": facts["overlaps"]["mean"] or None,
            **self._stability_facts(),
        }
        return {name: value for name, value in counts.items() if value is not None}

    def _stability_facts(self) -> dict[str, Any]:
        """Count what stays, and what unrelated rows have; nothing without stability."""
        if self.stability is None:
            return {}
        large = self.cliques.sizes >= 3
        stays = self.stability.of_cliques >= _STAYS
        return {
            "cliques of 3 or more that stay": (
                f"{np.count_nonzero(large & stays)} of {np.count_nonzero(large)}, in "
                f"{_STAYS:.0%} of fresh tables or more"
            ),
            "edges that stay": f"{np.mean(self.stability.edges >= _STAYS):.1%}",
            "cliques of 3 or more by chance": self.stability.expected(3),
        }

    def exported(self, ending: str) -> str:
        """Return the graph as a file for other programs, see `ikd_graph.cliques.export`."""
        # By the rows of the table; of equal ones the first stands for all.
        order = np.argsort(self.model._first, kind="stable")
        rows = self.model._first[order]
        nodes: dict[str, Any] = {
            column.title or "label": np.array(column.texts, dtype=object)[rows]
            for column in self.data.all_labels
        }
        nodes |= {f"ikd{k}": z for k, z in enumerate(self.model._points[order].T)}
        names = [self.names[row] for row in rows]
        g, known = graph.subgraph(self.graph, order), self.stability
        if known is not None:
            # Of the edges in use: others may have been removed, or are links.
            own = graph.to_sparse(known.weighted())
            low, high, _ = graph.edges(g)
            stays = np.asarray(own[order[low], order[high]]).ravel().astype(np.float64)
            known = replace(known, graph=g, edges=stays)
        return cliques.graph_text(g, ending, names, known, nodes)

    def n_maximal(self) -> str:
        """Count maximal cliques, or that there are more than were listed."""
        return ("" if self.complete else "more than ") + format_number(self.sizes.size)

    def largest(self) -> int:
        """Points in the largest clique; where not all are listed it may be one that was solved."""
        return int(max(self.sizes.max(initial=0), self.summary["sizes"]["max"]))

    def n_opposed(self) -> int:
        """Count pairs of rows whose correlation is as far below 0 as that of edges is above."""
        used, rows = threshold_of(self.model), self.model._first
        known = self.model.settings_.affinity == "correlation"
        if not known or used is None or rows.size > limits.SAMPLED:
            return 0
        similarity = self.model._result.similarity
        left, right = np.triu_indices(rows.size, 1)
        return int(np.count_nonzero(similarity.between(left, right) < -used))

    def n_components(self) -> int:
        """Return connected components before any were joined."""
        return int(self.model.component_labels_.max()) + 1

    def advice(self) -> list[str]:
        """Sentences on what to do about the threshold, and on what the cliques disagree about."""
        model, levels = self.model, self.levels
        top = levels.connected_up_to
        advice = [
            f"The threshold graph stays connected up to a threshold of {top:.3g}; beyond it, "
            "components are joined by nearest neighbors or links."
            if top > 0.0
            else "No threshold above 0 keeps the graph connected: components are joined by nearest "
            "neighbors or links."
        ]
        whole = np.flatnonzero(levels.coverage >= 0.999)
        size = model.embedding_.shape[1] + 2
        if whole.size:
            advice.append(
                f"Up to a threshold of {levels.threshold[whole[-1]]:.2f} every point is in a "
                f"clique of at least {size} points, the minimum in {size - 2}-D."
            )
        if self.n_components() > 1:
            labels = np.bincount(model.component_labels_)
            links = count(self.n_links, "link")
            joined = f" {links} alone fix their positions." if self.n_links else ""
            advice.append(
                f"The graph used has {count(labels.size, 'component')}; the largest holds "
                f"{labels.max()} of {labels.sum()} points.{joined}"
            )
        if opposed := self.n_opposed():
            advice.append(
                f"{count(opposed, 'pair')} of points correlate below "
                f"{-(threshold_of(model) or 0.0):.3g}: rows that are opposed are no edges here "
                "(graph.signed_threshold looks at them)."
            )
        rows, limit = self.disagreed()
        if rows.size:
            few = ", ".join(self.names[row] for row in rows[:8])
            more = f" and {format_number(rows.size - 8)} more" if rows.size > 8 else ""
            advice.append(
                f"The cliques disagree about {count(rows.size, 'point')} by more than {limit:.3g} "
                f"(three robust standard deviations above the median): {few}{more}."
            )
        else:
            advice.append(
                "The cliques disagree about no point much more than about the others (median "
                f"{np.median(self.residual):.2g}, at most {self.residual.max():.2g})."
            )
        if (fraction := model.merge_start_weight_ or 0.0) >= 0.1:
            times = f"{fraction:.1g}" if fraction < 1.0 else f"{fraction:.0f}"
            advice.append(
                f"The cliques are noisy: the geodesic solution has {times} times their total "
                "weight in the merge."
            )
        return advice

    @property
    def residual(self) -> NDArray[np.float64]:
        """How far cliques disagree about each point, (n,)."""
        return np.nan_to_num(np.asarray(self.model.merge_residuals_, dtype=np.float64))

    def disagreed(self) -> tuple[NDArray[np.intp], float]:
        """Rows about which cliques disagree unusually much, the most first, and the limit.

        The limit is the residual from which a row counts: three robust deviations above the median.
        """
        residual = self.residual
        limit = float(np.median(residual) + 3.0 * median_abs_deviation(residual, scale="normal"))
        order = np.argsort(-residual, kind="stable")
        # Residuals of rounding size are agreement, whatever their spread.
        floor = 1e-6 * (float(np.ptp(self.model.embedding_)) or 1.0)
        return order[residual[order] > max(limit, floor)], limit

    def groups(self, paint: Paint) -> Groups | None:
        """Most frequent class of each clique in the graph of cliques; None without classes."""
        if paint.groups is None:
            return None
        codes = np.full(len(self.links), -1, dtype=np.intp)
        for at, node in enumerate(self.links):
            labeled = paint.groups.codes[self.cliques[node]]
            labeled = labeled[labeled >= 0]
            if labeled.size:
                codes[at] = np.bincount(labeled).argmax()
        return paint.groups._replace(codes=codes)

    def plane(self) -> NDArray[np.float64]:
        """Coordinates of the points in the picture, (n, 2); zeros for a second that is missing."""
        return np.column_stack([self.model.embedding_, np.zeros(self.data.n_samples)])[:, :2]

    def places(self) -> NDArray[np.float64]:
        """Mean coordinates of the members of each clique, where they are drawn."""
        Z = self.plane()
        return np.array([Z[self.cliques[node]].mean(axis=0) for node in self.links]).reshape(-1, 2)

    def largest_apart(self, most: int) -> list[int]:
        """Positions of the largest cliques that are not almost the same, the largest first.

        At most half of each is in one before it.
        """
        chosen: list[int] = []
        inside = np.zeros((most, self.data.n_samples), dtype=bool)
        for k in np.argsort(-self.cliques.sizes, kind="stable").tolist():
            if len(chosen) == most:
                break
            shared = inside[: len(chosen), self.cliques[k]].sum(axis=1)
            if 2 * shared.max(initial=0) <= self.cliques.sizes[k]:
                inside[len(chosen), self.cliques[k]] = True
                chosen.append(k)
        return chosen

    def memberships(self) -> tuple[list[str], Iterator[list[Any]]]:
        """Table of the members of all cliques: heads, and a row for each member of each clique."""
        texts = {column.title or "label": column.texts for column in self.data.all_labels}
        numbers = np.repeat(np.arange(len(self.cliques)), self.cliques.sizes)
        entries = zip(
            numbers.tolist(), self.cliques.blocks.members, self.disagreement.tolist(), strict=True
        )
        stays = None if self.stability is None else self.stability.of_cliques.tolist()
        rows = (
            [k, self.names[row], *(text[row] for text in texts.values()), off]
            + ([] if stays is None else [stays[k]])
            for k, row, off in entries
        )
        return ["clique", "member", *texts, "disagreement", *["stability"] * bool(stays)], rows

    def statistics(self) -> dict[str, Any]:
        """Return counts and cliques of a look at a data set, for JSON."""
        paint, components = paint_points(self.data), np.bincount(self.model.component_labels_)
        rows, limit = self.disagreed()
        sizes, numbers = np.unique(self.sizes, return_counts=True)
        listed = enumerate(zip(self.cliques, self.of_cliques, strict=True))
        return {
            "data": self.data.name,
            "n_points": self.data.n_samples,
            "graph": describe_graph(self.model),
            "n_edges": self.graph.n_edges,
            "n_links": self.n_links,
            "components": {"count": components.size, "sizes": -np.sort(-components)},
            "maximal_cliques": {
                "count": self.sizes.size,
                "complete": self.complete,
                "size_distribution": dict(zip(map(str, sizes), numbers, strict=True)),
            },
            "listed_cliques": self.summary,
            "cliques": [
                {
                    "clique": number,
                    "members": [self.names[row] for row in members],
                    "labels": count_labels(members, paint),
                    "disagreement": off,
                }
                for number, (members, off) in listed
            ],
            "stability": self._stability_record(),
            "communities": self._community_record(paint),
            "disagreed_about": {"limit": limit, "points": [self.names[row] for row in rows]},
            "merge_start_weight": self.model.merge_start_weight_,
            "thresholds": {
                name: getattr(self.levels, name)
                for name in ("threshold", "edges", "components", "cliques", "coverage")
            },
            "advice": self.advice(),
        }

    def _stability_record(self) -> dict[str, Any] | None:
        """Return stability of the listed cliques, for JSON."""
        if self.stability is None:
            return None
        expected = {str(size): n for size, n in self.stability.expected_false.items()}
        return {"cliques": self.stability.of_cliques, "expected_false": expected}

    def _community_record(self, paint: Paint) -> list[dict[str, Any]] | None:
        """Return members and labels of the communities, for JSON."""
        if self.communities is None:
            return None
        rows = [self.model._first[members] for members in self.communities]
        return [
            {"members": [self.names[k] for k in of], "labels": count_labels(of, paint)}
            for of in rows
        ]


def view_cliques(
    model: IKD,
    data: Dataset,
    *,
    limit: int = 100_000,
    n_resamples: int = 0,
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
    n_resamples : int
        Resamples that their stability is estimated from; 0 for none.
    progress : callable, optional
        Wraps the iterable of thresholds, as ``tqdm`` does.

    Returns
    -------
    CliqueView
        What there is to see.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.datasets import half_moons
    >>> moons = half_moons(60)
    >>> model = IKD(strategy="blockwise", affinity="cosine", graph=0.9).fit(moons.X + 2)
    >>> view_cliques(model, moons).complete
    True
    """
    check_integer("limit", limit, 1)
    check_integer("n_resamples", n_resamples, 0)
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
    listed = list(itertools.islice(cliques.iter_cliques(g, 2), limit + 1))
    sizes = np.fromiter((clique.size for clique in listed), dtype=np.int64)
    complete = sizes.size <= limit
    size = model.embedding_.shape[1]
    if not own.all():
        solved = blockwise.solve(g, cliques.cover(g, size + 2), model.kernel_, size)
    solved = solved.take(np.flatnonzero(solved.blocks.sizes > 1))
    rows, proposals = _with_duplicates(
        solved.blocks, blockwise.proposals(solved, model._points), model._inverse
    )
    return CliqueView(
        model,
        data,
        g,
        int((~own).sum()),
        sizes[:limit],
        complete,
        Cliques(rows, data.n_samples),
        proposals,
        cliques.summary(g, solved.blocks, size),
        _levels(model, data.X, progress),
        cliques.communities(listed, n_points=g.n_nodes) if complete else None,
        _stability(model, data, solved.blocks, n_resamples) if n_resamples else None,
    )


def _stability(model: IKD, data: Dataset, listed: Blocks, n_resamples: int) -> Stability:
    """Stability of cliques of distinct rows, whose graph is built by the rule of the model."""
    build = rule_of_model(model)
    if not callable(build):
        assert model.graph_ is not None
        build = graph.subgraph(model.graph_, model._first)
    with warnings.catch_warnings():
        # The fit has warned of the rows.
        warnings.simplefilter("ignore", UserWarning)
        rows = dense_rows(rows_of(data.X))[model._first]
        return cliques.stability(rows, build, n_resamples, cliques=listed)


def rule_of_model(model: IKD) -> Any:
    """Return how the rule of a model joins other correlations: a function, or a threshold.

    It is the smallest weight of a graph that was given or that a test has made.
    """
    rule, known = model.settings_.graph, model.settings_.affinity
    if known != "correlation":
        raise ValueError(
            f"stability is that of correlations, got affinity={known!r}; "
            "pass affinity='correlation'"
        )
    if not isinstance(rule, graph.Threshold | graph.Neighbors) or (
        isinstance(rule, graph.Threshold) and rule.fdr is not None
    ):
        weights = np.empty(0) if model.graph_ is None else model.graph_.weights
        return float(np.clip(weights.min(initial=1.0), 1e-9, 1.0 - 1e-9))
    return lambda corr: rule.build(compare(corr, "precomputed"))


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


def _levels(model: IKD, X: Any, progress: Any) -> ThresholdScan:
    """Return what every threshold makes of the distinct rows; that of the graph is among them."""
    used = threshold_of(model)
    with warnings.catch_warnings():
        # The fit has warned of the rows.
        warnings.simplefilter("ignore", UserWarning)
        return threshold_scan(
            X if model.settings_.affinity in GIVEN else X[np.sort(model._first)],
            affinity=model.settings_.affinity,
            also=() if used is None else (used,),
            n_components=model.embedding_.shape[1],
            progress=progress,
        )


def threshold_of(model: IKD) -> float | None:
    """Threshold of the graph of a fitted model; None where neighbors alone make it."""
    s0: float | None = getattr(model.settings_.graph, "s0_used", None)
    return s0


def count_labels(members: NDArray[Any], paint: Paint) -> dict[str, int]:
    """Classes of the members of a clique and how many have each, the most frequent first."""
    if paint.groups is None:
        return {}
    names = ["no label" if c < 0 else paint.groups.names[c] for c in paint.groups.codes[members]]
    return dict(Counter(names).most_common())


def describe_labels(members: NDArray[Any], paint: Paint) -> list[str]:
    """Classes of the members of a clique, as "8 cell × 12" and "morula × 3"."""
    return [f"{name} × {n}" for name, n in count_labels(members, paint).items()]


_DISAGREEMENT = "disagreement of cliques"
_STAYS = 0.8  # stability from which a clique is said to stay


def cliques_page(view: CliqueView, command: str = "", **around: Any) -> str:
    """Page of the cliques of a data set.

    Parameters
    ----------
    view : CliqueView
        What `view_cliques` returned.
    command, **around
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page, with its pictures.
    """
    paint, rows = colors.paint_points(view.data), colors.rows_to_draw(view.data)
    residual = [f"{value:.2g}" for value in view.residual]
    more = {"disagreement": residual, "cliques": _holding(view)}
    network = page.drawing(clique_chart(view), caption=_network_note(view), size="main")
    sizes = page.drawing(charts.counts(view.sizes, "points in a clique", "maximal cliques"))
    note = "From the largest down, those that share at most half their points with one above."
    return page.render(
        "Cliques",
        view.data.name,
        _lead(view),
        [
            ("Advice", [page.block("list", view.advice())]),
            ("Cliques and the points they share", [page.figures(network)]),
            ("What a threshold does", [page.figures(_slider(view))]),
            ("Counts", [page.block("facts", view.facts()), page.figures(sizes)]),
            ("Largest cliques", [page.block("note", note), _largest(view, paint)]),
            ("Communities", _communities(view, paint)),
            ("How well the cliques agree", [page.figures(_picture(view, paint, rows))]),
        ],
        command=command,
        described=colors.described(view.data, rows, more),
        **around,
    )


def _lead(view: CliqueView) -> str:
    """Return the result in two sentences."""
    links = f" joined by {count(view.n_links, 'link')}" if view.n_links else ""
    noun = "maximal clique" if view.complete and view.sizes.size == 1 else "maximal cliques"
    return (
        f"{count(view.data.n_samples, 'point')}, {count(view.graph.n_edges, 'edge')} "
        f"({describe_graph(view.model)}), {count(view.n_components(), 'component')}{links}: "
        f"{view.n_maximal()} {noun}, the largest of {view.largest()} points. "
        f"{format_number(len(view.cliques))} of them cover the graph and are listed here."
    )


def clique_chart(view: CliqueView) -> Chart:
    """Graph of cliques, laid out by the embedding, by most members' labels or by disagreement."""
    paint = colors.paint_points(view.data)
    paints = [Paint(_DISAGREEMENT, None, view.of_cliques[list(view.links)])]
    groups = view.groups(paint)
    if groups is not None:
        paints.insert(0, Paint(paint.title or "most members", groups))
    hover = [
        ", ".join(
            [f"clique {node}", count(size, "point"), *describe_labels(view.cliques[node], paint)]
        )
        for node, size in view.links.nodes(data="size")
    ]
    points: dict[str, Any] = {}
    if view.stability is not None:
        stays = view.stability.of_cliques[list(view.links)]
        points["opacity"] = 0.12 + 0.78 * stays
        hover = [f"{text}, stability {value:.2f}" for text, value in zip(hover, stays, strict=True)]
    texts = [colors.short(text) for text in hover]
    named = names_of_points(view.data.row_names)
    names = Names(view.plane(), [*named.values()]) if named else None
    return charts.network(view.links, view.places(), *paints, names=names, hover=texts, **points)


def _network_note(view: CliqueView) -> str:
    """Return what discs and lines are, and which of them are drawn."""
    drawn, listed = len(view.links), len(view.cliques)
    return (
        "A disc is a clique, larger for more points, at the mean of the coordinates of its "
        "members, moved a little where it would hide another. A line joins cliques that share "
        "points, stronger for more; the strongest are drawn."
        + (" Small dots are the points." if names_of_points(view.data.row_names) else "")
        + (" Pale discs are cliques that would not stay." if view.stability is not None else "")
        + (f" The {drawn} largest of {listed} are drawn." if drawn < listed else "")
    )


def _slider(view: CliqueView) -> page.Block:
    """Curves over the threshold, with a slider that writes the numbers; that in use is marked."""
    levels, used = view.levels, threshold_of(view.model)
    at = levels.threshold
    start = int(np.abs(at - (used if used is not None else np.median(at))).argmin())
    spec = figure(*levels.charts(used))
    texts = [_level_text(levels, k) for k in range(at.size)]
    caption = (
        f"Logarithmic scale above; cliques are listed up to {levels.clique_limit}. Covered: in a "
        "clique that is large enough to place its points."
    )
    spec = with_slider(spec, at.tolist(), texts, start, "threshold")
    return page.drawing(spec, caption=caption, size="main", title="what a threshold does")


def _level_text(levels: ThresholdScan, k: int) -> str:
    """Numbers at a threshold, in two lines."""
    number, limit = float(levels.cliques[k]), levels.clique_limit
    complete = np.isfinite(number)
    cliques = format_number(number) if complete else f"over {format_number(limit)}"
    size = f" (largest {format_number(levels.largest_clique[k])})" if complete else ""
    return (
        f"{count(levels.edges[k], 'edge')}, {count(levels.components[k], 'component')}<br>"
        f"{cliques} maximal cliques{size}<br>{levels.coverage[k]:.1%} of the points covered"
    )


def _largest(view: CliqueView, paint: Paint) -> page.Block:
    """Table of the largest cliques with the labels of their members, and their names."""
    labeled, stays = paint.groups is not None, view.stability
    rows = [
        [(k, str(k)), size]
        + ([] if stays is None else [float(stays.of_cliques[k]), stays.expected(size)])
        + ([", ".join(describe_labels(view.cliques[k], paint))] if labeled else [])
        + [", ".join(view.names[row] for row in view.cliques[k])]
        for k in view.largest_apart(most=15)
        for size in [len(view.cliques[k])]
    ]
    known = [] if stays is None else ["stability", "as large by chance"]
    return page.table(["clique", "points", *known, *["labels"] * labeled, "members"], rows)


def _communities(view: CliqueView, paint: Paint, most: int = 15) -> list[page.Block]:
    """Table of the largest communities."""
    if not view.communities:
        return []
    labeled = paint.groups is not None
    members = [view.model._first[of] for of in view.communities[:most]]
    rows = [
        [of.size]
        + ([", ".join(describe_labels(of, paint))] if labeled else [])
        + [", ".join(view.names[row] for row in of)]
        for of in members
    ]
    table = page.table(["points", *["labels"] * labeled, "members"], rows)
    return [page.block("note", _communities_note(view, paint)), table]


def _communities_note(view: CliqueView, paint: Paint) -> str:
    """Return what communities are, and how they agree with the labels."""
    assert view.communities is not None
    text = f"Triangles that share edges hang together: {view.communities!r}."
    if paint.groups is None:
        return text
    codes = paint.groups.codes[view.model._first].tolist()
    score = view.communities.compare([code if code >= 0 else None for code in codes])
    return (
        f"{text} With the labels: adjusted Rand index {score['adjusted_rand']:.2f}, purity "
        f"{score['purity']:.2f}, over {score['covered']:.0%} of the labeled points."
    )


def _picture(view: CliqueView, paint: Paint, rows: NDArray[np.intp]) -> page.Block:
    """Points by the disagreement of the cliques that hold them, or by their labels."""
    paints = [Paint(_DISAGREEMENT, None, view.residual)]
    if paint.groups is not None or paint.values is not None:
        paints.append(paint)
    Z = view.model.embedding_
    chart = charts.scatter(
        Z[rows],
        *(colors.paint_of(paint, rows) for paint in paints),
        title="disagreement on the embedding",
        fractions=colors.variance_fractions(Z),
        rows=np.arange(rows.size),
    )
    caption = (
        "Yellow points are where the cliques that hold a point put it in different positions. "
        "Point at one to see its cliques; the CSV of the cliques has all."
        + colors.drawn_note(rows, view.data.n_samples)
    )
    return page.drawing(chart, caption=caption, size="main")


def _holding(view: CliqueView) -> list[str]:
    """Numbers of the cliques that hold each point."""
    blocks = view.cliques.blocks
    order = np.argsort(blocks.members, kind="stable")
    numbers = np.repeat(np.arange(blocks.n_blocks), blocks.sizes)[order]
    starts = np.searchsorted(blocks.members[order], np.arange(1, view.data.n_samples))
    return [", ".join(map(str, own.tolist())) for own in np.split(numbers, starts)]
