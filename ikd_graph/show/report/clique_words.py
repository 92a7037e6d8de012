"""What a look at the cliques of a data set found, in numbers and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...study.settings import say_graph
from .. import colors
from ..colors import Paint
from ..points import paint_points
from ..words import count, say_number
from .clique_view import CliqueView, threshold_of


def clique_facts(view: CliqueView) -> dict[str, Any]:
    """Count what there is to count in the graph and its cliques."""
    facts, g, used = view.summary, view.graph, threshold_of(view.model)
    n_above = None
    if used is not None and view.model.settings_.graph.n_neighbors:
        n_above = int(np.count_nonzero(g.weights > used)) // 2
    removed = view.model.removed_edges_
    n_copies = view.data.n_samples - g.n_nodes
    return {
        "points": view.data.n_samples,
        "duplicate rows": n_copies or None,
        "graph": say_graph(view.model),
        "edges": g.n_edges,
        "edges above the threshold": n_above,
        "edges removed as short cuts": None if removed is None else len(removed) or None,
        "links between components": view.n_links or None,
        "mean neighbours": facts["degrees"]["mean"],
        "components": n_components(view),
        "maximal cliques": n_maximal(view),
        "largest clique": largest(view),
        "mean clique size": float(view.sizes.mean()) if view.sizes.size else None,
        "cliques listed": len(view.cliques),
        "points covered": f"{facts['solvable_coverage']:.1%}",
        "mean overlap": facts["overlaps"]["mean"] or None,
    }


def n_maximal(view: CliqueView) -> str:
    """Number of maximal cliques, or that there are more than were listed."""
    return ("" if view.complete else "more than ") + say_number(view.sizes.size)


def largest(view: CliqueView) -> int:
    """Points in the largest clique; where not all are listed it may be one that was solved."""
    return int(max(view.sizes.max(initial=0), view.summary["sizes"]["max"]))


def n_components(view: CliqueView) -> int:
    """Connected components before any were joined."""
    return int(view.model.component_labels_.max()) + 1


def clique_advice(view: CliqueView) -> list[str]:
    """Sentences on what to do about the threshold, and on what the cliques disagree about."""
    model, levels = view.model, view.levels
    top = levels.connected_up_to
    advice = [
        f"The threshold graph stays connected up to a threshold of {top:.3g}; beyond it, "
        "components are joined by nearest neighbours (n_neighbors) or links."
        if top > 0.0
        else "No threshold above 0 keeps the graph connected; nearest neighbours (n_neighbors) "
        "or links (disconnected='join') are needed."
    ]
    whole = np.flatnonzero(levels.coverage >= 0.999)
    size = model.embedding_.shape[1] + 2
    if whole.size:
        advice.append(
            f"Up to a threshold of {levels.threshold[whole[-1]]:.2f} every point is in a clique of "
            f"at least {size} points, the minimum in {size - 2}-D."
        )
    if n_components(view) > 1:
        labels = np.bincount(model.component_labels_)
        links = count(view.n_links, "link")
        joined = f" {links} alone fix their positions." if view.n_links else ""
        advice.append(
            f"The graph used has {count(labels.size, 'component')}; the largest holds "
            f"{labels.max()} of {labels.sum()} points.{joined}"
        )
    rows, limit = disagreed(view)
    residual = np.asarray(model.merge_residuals_)
    if rows.size:
        few = ", ".join(view.names[row] for row in rows[:8])
        more = f" and {say_number(rows.size - 8)} more" if rows.size > 8 else ""
        advice.append(
            f"The cliques disagree about {count(rows.size, 'point')} by more than {limit:.3g} "
            f"(three robust standard deviations above the median): {few}{more}."
        )
    else:
        advice.append(
            "The cliques disagree about no point much more than about the others (median "
            f"{np.median(residual):.2g}, at most {np.max(residual):.2g})."
        )
    share = model.merge_start_share_ or 0.0
    if share >= 0.1:
        advice.append(
            "The cliques are noisy: the geodesic solution has "
            f"{share:.1g} times their total weight in the merge."
        )
    return advice


def disagreed(view: CliqueView) -> tuple[NDArray[np.intp], float]:
    """Rows about which cliques disagree unusually much, the most first, and the limit.

    The limit is the residual from which a row counts: three robust deviations above the median.
    """
    residual = np.nan_to_num(np.asarray(view.model.merge_residuals_, dtype=np.float64))
    middle = float(np.median(residual))
    limit = middle + 3.0 * 1.4826 * float(np.median(np.abs(residual - middle)))
    order = np.argsort(-residual, kind="stable")
    # Residuals of rounding size are agreement, whatever their spread.
    floor = 1e-6 * (float(np.ptp(view.model.embedding_)) or 1.0)
    return order[residual[order] > max(limit, floor)], limit


def clique_groups(view: CliqueView, paint: Paint) -> colors.Groups | None:
    """Most frequent class of each clique in the graph of cliques; None without classes."""
    if paint.groups is None:
        return None
    codes = np.full(len(view.links), -1, dtype=np.intp)
    for at, node in enumerate(view.links):
        labelled = paint.groups.codes[view.cliques[node]]
        labelled = labelled[labelled >= 0]
        if labelled.size:
            codes[at] = np.bincount(labelled).argmax()
    return paint.groups._replace(codes=codes)


def clique_places(view: CliqueView) -> NDArray[np.float64]:
    """Mean coordinates of the members of each clique, where they are drawn."""
    Z = np.column_stack([view.model.embedding_, np.zeros(view.data.n_samples)])
    return np.array([Z[view.cliques[node], :2].mean(axis=0) for node in view.links]).reshape(-1, 2)


def largest_apart(view: CliqueView, most: int) -> list[int]:
    """Positions of the largest cliques that are not almost the same, the largest first.

    At most half of each is in one before it.
    """
    chosen: list[int] = []
    inside = np.zeros((most, view.data.n_samples), dtype=bool)
    for k in np.argsort(-view.cliques.sizes, kind="stable").tolist():
        if len(chosen) == most:
            break
        shared = inside[: len(chosen), view.cliques[k]].sum(axis=1)
        if 2 * shared.max(initial=0) <= view.cliques.sizes[k]:
            inside[len(chosen), view.cliques[k]] = True
            chosen.append(k)
    return chosen


def count_labels(members: NDArray[Any], paint: Paint) -> dict[str, int]:
    """Classes of the members of a clique and how many have each, the most frequent first."""
    if paint.groups is None:
        return {}
    names = ["no label" if c < 0 else paint.groups.names[c] for c in paint.groups.codes[members]]
    return dict(Counter(names).most_common())


def say_labels(members: NDArray[Any], paint: Paint) -> list[str]:
    """Classes of the members of a clique, as "8 cell × 12" and "morula × 3"."""
    return [f"{name} × {n}" for name, n in count_labels(members, paint).items()]


def memberships(view: CliqueView) -> tuple[list[str], Iterator[list[Any]]]:
    """Table of the members of all cliques: heads, and a row for each member of each clique."""
    labels = view.data.all_labels
    heads = ["clique", "member", *(column.title or "label" for column in labels), "disagreement"]
    names, texts = view.names, [column.texts for column in labels]
    number = np.repeat(np.arange(len(view.cliques)), view.cliques.sizes).tolist()
    entries = zip(
        number, view.cliques.blocks.members.tolist(), view.disagreement.tolist(), strict=True
    )
    return heads, ([k, names[r], *(text[r] for text in texts), off] for k, r, off in entries)


def clique_statistics(view: CliqueView) -> dict[str, Any]:
    """Counts and cliques of a look at a data set, ready for JSON."""
    model, levels, paint = view.model, view.levels, paint_points(view.data)
    names = view.names
    components = np.bincount(model.component_labels_)
    rows, limit = disagreed(view)
    sizes, numbers = np.unique(view.sizes, return_counts=True)
    return {
        "data": view.data.name,
        "n_points": view.data.n_samples,
        "graph": say_graph(model),
        "n_edges": view.graph.n_edges,
        "n_links": view.n_links,
        "components": {"count": int(components.size), "sizes": sorted(components.tolist())[::-1]},
        "maximal_cliques": {
            "count": int(view.sizes.size),
            "complete": view.complete,
            "size_distribution": dict(zip(map(str, sizes), numbers.tolist(), strict=True)),
        },
        "listed_cliques": view.summary,
        "cliques": [
            {
                "clique": number,
                "members": [names[row] for row in members],
                "labels": count_labels(members, paint),
                "disagreement": float(off),
            }
            for number, (members, off) in enumerate(zip(view.cliques, view.of_cliques, strict=True))
        ],
        "disagreed_about": {"limit": limit, "points": [names[row] for row in rows]},
        "merge_start_share": model.merge_start_share_,
        "thresholds": {
            name: [None if value != value else value for value in getattr(levels, name).tolist()]
            for name in ("threshold", "edges", "components", "cliques", "coverage")
        },
        "advice": clique_advice(view),
    }
