"""What a look at the cliques of a data set found, in numbers and in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import cliques
from ..._records import Blocks
from ...study.settings import say_graph
from .. import colors
from ..points import Paint
from ..words import count, say_number
from .clique_view import CliqueView

if TYPE_CHECKING:
    from ...estimator import IKD

# Share of the weight of all cliques from which a geodesic solution moves points to be seen.
_TOLD_SHARE = 0.1


def clique_facts(view: CliqueView) -> dict[str, Any]:
    """Count what there is to count in the graph and its cliques."""
    model = view.model
    g, solved = view.points, view.solved
    sizes = np.array([clique.size for clique in view.maximal])
    # Where not all are listed, a larger one may be among those that were solved.
    largest = max(sizes.max(initial=0), solved.sizes.max(initial=0))
    shared = view.shared
    more = "" if view.complete else "more than "
    return {
        "points": g.n_nodes,
        "graph": say_graph(model),
        "edges": g.n_edges,
        "mean neighbours": 2 * g.n_edges / g.n_nodes,
        "components before joining": n_components(model),
        "maximal cliques": f"{more}{say_number(len(view.maximal))}",
        "largest clique": int(largest),
        "mean clique size": float(sizes.mean()) if sizes.size else None,
        "cliques solved": solved.n_blocks,
        "points covered": f"{coverage(solved, g.n_nodes, view.rule):.1%}",
        "mean overlap of solved": float(np.average(np.arange(shared.size), weights=shared))
        if shared.any()
        else None,
    }


def n_components(model: IKD) -> int:
    """Connected components of the graph of a fitted model before any were joined."""
    return int(model.component_labels_.max()) + 1


def coverage(blocks: Blocks, n_points: int, size: int) -> float:
    """Share of points in a clique that is large enough to place them.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph._records import Blocks
    >>> coverage(Blocks(np.array([0, 3, 4]), np.array([0, 1, 2, 3])), 4, 3)
    0.75
    """
    inside = np.repeat(blocks.sizes >= size, blocks.sizes)
    return float(np.unique(blocks.members[inside]).size / n_points)


def clique_advice(view: CliqueView) -> list[str]:
    """Sentences on what to do about the threshold and about badly placed points."""
    model, levels = view.model, view.levels
    said = []
    top = levels.connected_up_to
    if top <= 0.0:
        said.append(
            "No threshold above 0 keeps the graph connected; nearest neighbours (n_neighbors) "
            "or links (disconnected='join') are needed."
        )
    else:
        said.append(
            f"The threshold graph stays connected up to a threshold of {top:.3g}; beyond it, "
            "components are joined by nearest neighbours (n_neighbors) or links."
        )
    whole = np.flatnonzero(levels.coverage >= 0.999)
    size = view.rule
    if whole.size:
        said.append(
            f"Up to a threshold of {levels.threshold[whole[-1]]:.2f} every point is in a clique of "
            f"at least {size} points, the minimum in {size - 2}-D."
        )
    if n_components(model) > 1:
        labels = np.bincount(model.component_labels_)
        said.append(
            f"The graph used has {count(labels.size, 'component')}; the largest holds "
            f"{labels.max()} of {labels.sum()} points. Distances between components depend on "
            "single edges."
        )
    bad, limit = badly_placed(model)
    if bad.size:
        few = ", ".join(str(row) for row in bad[:8]) + (", …" if bad.size > 8 else "")
        are, rows = ("is", "row") if bad.size == 1 else ("are", "rows")
        said.append(
            f"{count(bad.size, 'point')} {are} uncertain: their cliques disagree by more than "
            f"{limit:.3g} (three robust standard deviations above the median): {rows} {few}."
        )
    elif model.merge_residuals_ is not None:
        said.append("The cliques agree about all points.")
    bound = model.merge_bound()
    if bound is not None:
        said.append(f"{bound.words[0].upper()}{bound.words[1:]}.")
    if (model.merge_start_share_ or 0.0) >= _TOLD_SHARE:
        said.append(
            "The cliques are noisy: the geodesic solution has "
            f"{model.merge_start_share_:.1g} times their total weight in the merge."
        )
    return said


def badly_placed(model: IKD) -> tuple[NDArray[np.intp], float]:
    """Rows about which cliques disagree unusually much, the worst first, and the limit.

    The limit is the residual from which a row counts: three robust deviations above the median.
    """
    if model.merge_residuals_ is None:
        return np.zeros(0, dtype=np.intp), 0.0
    residual = np.nan_to_num(np.asarray(model.merge_residuals_, dtype=np.float64))
    middle = float(np.median(residual))
    limit = middle + 3.0 * 1.4826 * float(np.median(np.abs(residual - middle)))
    order = np.argsort(-residual, kind="stable")
    # Residuals of rounding size are agreement, whatever their spread.
    floor = 1e-6 * (float(np.ptp(model.embedding_)) or 1.0)
    return order[residual[order] > max(limit, floor)], limit


def main_label(members: NDArray[Any], paint: Paint) -> int:
    """Most frequent class among the members of a clique, -1 without labels."""
    if paint.groups is None:
        return -1
    codes = paint.groups.codes[members]
    known = codes[codes >= 0]
    return int(np.bincount(known).argmax()) if known.size else -1


def clique_groups(view: CliqueView, paint: Paint) -> colors.Groups | None:
    """Most frequent class of each clique in the graph of cliques; None without classes."""
    if paint.groups is None:
        return None
    codes = [main_label(view.members(node), paint) for node in view.links]
    return paint.groups._replace(codes=np.array(codes, dtype=np.intp))


def clique_places(view: CliqueView) -> NDArray[np.float64]:
    """Mean coordinates of the members of each clique, where they are drawn."""
    Z = view.model.embedding_
    found = np.zeros((len(view.links), 2))
    for row, node in enumerate(view.links):
        found[row, : min(2, Z.shape[1])] = Z[view.members(node), :2].mean(axis=0)
    return found


def clique_residuals(view: CliqueView) -> NDArray[np.float64] | None:
    """Mean residual of the members of each clique in the graph of cliques; None without any."""
    residual = view.model.merge_residuals_
    if residual is None:
        return None
    values = np.nan_to_num(np.asarray(residual, dtype=np.float64))
    return np.array([values[view.members(node)].mean() for node in view.links])


def largest_apart(found: list[NDArray[np.int32]], n_points: int, most: int) -> list[int]:
    """Positions of the largest cliques that are not almost the same, the largest first.

    At most half of each is in one before it.
    """
    chosen: list[int] = []
    inside = np.zeros((most, n_points), dtype=bool)
    for k in sorted(range(len(found)), key=lambda k: (-found[k].size, k)):
        if len(chosen) == most:
            break
        shared = inside[: len(chosen), found[k]].sum(axis=1)
        if 2 * shared.max(initial=0) <= found[k].size:
            inside[len(chosen), found[k]] = True
            chosen.append(k)
    return chosen


def say_labels(members: NDArray[Any], paint: Paint) -> str:
    """Classes of the members of a clique, the most frequent first, as "8 cell × 12, morula × 3"."""
    if paint.groups is None:
        return ""
    names = ["no label" if c < 0 else paint.groups.names[c] for c in paint.groups.codes[members]]
    return ", ".join(f"{name} × {number}" for name, number in Counter(names).most_common())


def clique_statistics(view: CliqueView) -> dict[str, Any]:
    """Counts of a look at cliques, ready for JSON."""
    model, g, levels = view.model, view.points, view.levels
    bound = model.merge_bound()
    sizes = [int(clique.size) for clique in view.maximal]
    components = np.bincount(model.component_labels_)
    largest = sorted(view.maximal, key=lambda clique: -clique.size)[:20]
    return {
        "data": view.data.name,
        "n_points": int(g.n_nodes),
        "graph": say_graph(model),
        "n_edges": int(g.n_edges),
        "components": {"count": int(components.size), "sizes": sorted(components.tolist())[::-1]},
        "degree_distribution": occurrences(np.diff(g.indptr)),
        "maximal_cliques": {
            "count": len(sizes),
            "complete": view.complete,
            "size_distribution": occurrences(sizes),
            "largest": [clique.tolist() for clique in largest],
        },
        "solved_cliques": cliques.summary(g, view.solved, model.embedding_.shape[1]),
        "merge_gap": None if bound is None else float(bound.gap),
        "merge_start_share": model.merge_start_share_,
        "thresholds": {
            name: [None if value != value else value for value in getattr(levels, name).tolist()]
            for name in ("threshold", "edges", "components", "cliques", "coverage")
        },
        "advice": clique_advice(view),
    }


def occurrences(values: Any) -> dict[str, int]:
    """How often each whole number (as text, for JSON) occurs, ascending.

    Examples
    --------
    >>> occurrences([3, 2, 3])
    {'2': 1, '3': 2}
    """
    numbers, counts = np.unique(np.asarray(values, dtype=np.int64), return_counts=True)
    return {str(n): int(c) for n, c in zip(numbers.tolist(), counts.tolist(), strict=True)}
