"""Page of the cliques of a data set: what a threshold does, what the cliques are, how they fit."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._records import Blocks
from ...study.datasets import Dataset
from ...study.levels import Levels
from .. import colors, page, svg
from ..words import count, say_number, versions
from .embed import histogram
from .paint import Paint, draw, drawn_note, legend, paint_points

if TYPE_CHECKING:
    import networkx as nx

    from ...estimator import IKD

MOST_DISCS = 300
"""Cliques of one picture; the largest are drawn."""
_N_LARGEST = 15
_N_WORST = 12


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
    graph : networkx.Graph
        Solved cliques as nodes (their numbers) with ``size``, edges with ``weight``, the number of
        shared points.
    levels : Levels
        Counts at many thresholds.
    """

    model: IKD
    data: Dataset
    maximal: list[NDArray[np.int32]]
    complete: bool
    graph: nx.Graph
    levels: Levels


def cliques_page(view: CliqueView, command: str = "") -> str:
    """Page of the cliques of a data set.

    Parameters
    ----------
    view : CliqueView
        What was found.
    command : str
        What to type to make the page again.

    Returns
    -------
    str
        HTML that needs no other file.
    """
    model, data = view.model, view.data
    paint = paint_points(data)
    sections = [
        page.section("Advice", page.advice(clique_advice(view))),
        page.section("Cliques and the points they share", _network(view, paint)),
        page.section("What a threshold does", _slider(view.levels, model.threshold_)),
        page.section("Counts", page.facts(clique_facts(view)), page.side_by_side(*_charts(view))),
        page.section("Largest cliques", _largest(view, paint)),
        page.section("How well the cliques agree", _agreement(view, paint)),
        page.section("Again", page.command(command) if command else ""),
        page.footer(versions()),
    ]
    return page.document(data.name, _lead(view), sections, kind="Cliques", names=paint.names)


def clique_facts(view: CliqueView) -> dict[str, Any]:
    """Count what there is to count in the graph and its cliques.

    Parameters
    ----------
    view : CliqueView
        What was found.

    Returns
    -------
    dict of str to value
        Names and numbers for a reader.
    """
    model = view.model
    g, solved = model.graph_, _solved(model)
    sizes = np.array([clique.size for clique in view.maximal])
    shared = np.array([weight for *_, weight in view.graph.edges.data("weight", default=0)])
    more = "" if view.complete else "more than "
    return {
        "points": g.n_nodes,
        "threshold s₀": model.threshold_,
        "neighbours k": model.n_neighbors_,
        "edges": g.n_edges,
        "mean neighbours": 2 * g.n_edges / g.n_nodes,
        "components before joining": model.n_components_graph_,
        "maximal cliques": f"{more}{say_number(len(view.maximal))}",
        "largest clique": int(sizes.max(initial=0)),
        "mean clique size": float(sizes.mean()) if sizes.size else None,
        "cliques solved": solved.n_blocks,
        "points covered": f"{coverage(solved, g.n_nodes, model.embedding_.shape[1] + 2):.1%}",
        "mean overlap of solved": float(shared.mean()) if shared.size else None,
    }


def coverage(blocks: Blocks, n_points: int, size: int) -> float:
    """Share of points in a clique that is large enough to place them.

    Parameters
    ----------
    blocks : Blocks
        Cliques.
    n_points : int
        Number of points.
    size : int
        Smallest clique that counts.

    Returns
    -------
    float
        From 0 to 1.

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
    """What to do about the threshold and about badly placed points.

    Parameters
    ----------
    view : CliqueView
        What was found.

    Returns
    -------
    list of str
        Sentences.
    """
    model, levels = view.model, view.levels
    said = []
    top = levels.connected_up_to()
    if top is None:
        said.append(
            f"No threshold from {levels.threshold[0]:.2f} on keeps the graph connected by itself; "
            "neighbours (n_neighbors) or bridges (disconnected='join') must hold it together."
        )
    else:
        said.append(
            f"The thresholded graph stays connected up to a threshold of {top:.2f}; beyond it "
            "components break off and need neighbours (n_neighbors) or bridges."
        )
    whole = np.flatnonzero(levels.coverage >= 0.999)
    size = model.embedding_.shape[1] + 2
    if whole.size:
        said.append(
            f"Up to {levels.threshold[whole[-1]]:.2f} every point lies in a clique of {size} or "
            "more, which is what places it."
        )
    if model.n_components_graph_ > 1:
        labels = np.bincount(model.component_labels_)
        said.append(
            f"The graph used has {count(labels.size, 'component')}; the largest holds "
            f"{labels.max()} of {labels.sum()} points. Distances between components rest on single "
            "bridges: a lower threshold or more neighbours would support them better."
        )
    bad, limit = badly_placed(model)
    if bad.size:
        few = ", ".join(str(row) for row in bad[:8]) + (", …" if bad.size > 8 else "")
        said.append(
            f"{count(bad.size, 'point')} sit badly (cliques disagree by more than {limit:.3g}, "
            f"three deviations above the usual): rows {few}."
        )
    elif model.merge_residuals_ is not None:
        said.append("No point stands out as badly placed: the cliques agree about all of them.")
    return said


def badly_placed(model: IKD) -> tuple[NDArray[np.intp], float]:
    """Rows about which cliques disagree unusually much, the worst first.

    Parameters
    ----------
    model : IKD
        Fitted with ``strategy="blockwise"``.

    Returns
    -------
    rows : (k,) intp
        Row numbers.
    limit : float
        Residual from which a row counts: three robust deviations above the median.
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
    """Most frequent class of each clique in the graph of cliques.

    Parameters
    ----------
    view : CliqueView
        What was found.
    paint : Paint
        Classes of the points.

    Returns
    -------
    Groups or None
        Classes in the order of the nodes, None where points have no classes.
    """
    if paint.groups is None:
        return None
    solved = _solved(view.model)
    codes = [main_label(_members(solved, node), paint) for node in view.graph]
    return colors.Groups(paint.groups.names, np.array(codes, dtype=np.intp))


def clique_places(view: CliqueView) -> NDArray[np.float64]:
    """Mean coordinates of the members of each clique in the graph of cliques.

    Parameters
    ----------
    view : CliqueView
        What was found.

    Returns
    -------
    (n_nodes, 2) float64
        Places to start a layout from.
    """
    solved, Z = _solved(view.model), view.model.embedding_
    found = np.zeros((len(view.graph), 2))
    for row, node in enumerate(view.graph):
        found[row, : min(2, Z.shape[1])] = Z[_members(solved, node), :2].mean(axis=0)
    return found


def _solved(model: IKD) -> Blocks:
    """The cliques that were solved."""
    if model.cliques_ is None:
        raise ValueError(
            f"the model must be fitted with strategy='blockwise' to look at its cliques, got "
            f"{model.strategy_!r}"
        )
    return model.cliques_


def _members(blocks: Blocks, block: int) -> NDArray[np.int32]:
    """Members of one clique."""
    return blocks.members[blocks.indptr[block] : blocks.indptr[block + 1]]


def _lead(view: CliqueView) -> str:
    """The result in two sentences."""
    model, g = view.model, view.model.graph_
    most = max((clique.size for clique in view.maximal), default=0)
    number = ("" if view.complete else "more than ") + count(len(view.maximal), "maximal clique")
    parts = count(model.n_components_graph_, "component")
    rules = [] if model.threshold_ is None else [f"correlation above {model.threshold_:.3g}"]
    if model.n_neighbors_ is not None:
        rules.append(f"{model.n_neighbors_} nearest neighbours")
    return (
        f"{count(g.n_nodes, 'point')}, {count(g.n_edges, 'edge')} ({' or '.join(rules)}), {parts}: "
        f"{number}, the largest of {most} points. "
        f"The blockwise solution rests on {say_number(_solved(model).n_blocks)} of them."
    )


def _network(view: CliqueView, paint: Paint) -> str:
    """Graph of cliques with its legend."""
    groups = clique_groups(view, paint)
    solved = _solved(view.model)
    notes = []
    for row, node in enumerate(view.graph):
        text = f"clique {node}: {count(int(view.graph.nodes[node].get('size', 0)), 'point')}"
        if groups is not None and groups.codes[row] >= 0:
            text += f", mostly {groups.names[groups.codes[row]]}"
        notes.append(text)
    drawn = len(view.graph)
    rest = (
        f" The {drawn} largest of {solved.n_blocks} are drawn." if drawn < solved.n_blocks else ""
    )
    picture = page.figure(
        svg.network(view.graph, groups, positions=clique_places(view), notes=notes),
        "A disc is a clique, larger for more points, in the colour of most of its members; a line "
        "joins cliques that share points, stronger for more." + rest,
    )
    return page.with_legend(picture, "" if groups is None else page.class_legend(groups))


def _slider(levels: Levels, used: float | None) -> str:
    """Curves over the threshold with a slider that reads them."""
    at = levels.threshold
    palette = {"edges": colors.CLASSES[0], "components": colors.CLASSES[2]}
    palette["cliques"] = colors.CLASSES[3]
    mark = None
    if used is not None and at[0] <= used <= at[-1]:
        mark = (used, f"used: {used:.3g}")
    counts = svg.lines(
        at,
        {"edges": levels.edges, "components": levels.components, "cliques": levels.cliques},
        xlabel="threshold", ylabel="count", log=True, mark=mark, palette=palette,
        title="edges, components and cliques against the threshold", cursor=True,
    )  # fmt: skip
    covered = svg.lines(
        at,
        {"covered": 100 * levels.coverage, "largest component": 100 * _largest_share(levels)},
        xlabel="threshold", ylabel="% of points", mark=mark, cursor=True,
        palette={"covered": colors.CLASSES[1], "largest component": colors.CLASSES[2]},
        title="coverage against the threshold",
    )  # fmt: skip
    start = int(np.abs(at - (used if used is not None else np.median(at))).argmin())
    shown = {
        "threshold": lambda k: f"{at[k]:.2f}",
        "edges": lambda k: say_number(levels.edges[k]),
        "components": lambda k: say_number(levels.components[k]),
        "maximal cliques": lambda k: _or_more(levels.cliques[k], levels.clique_limit),
        "largest clique": lambda k: say_number(levels.largest_clique[k]),
        "points covered": lambda k: f"{levels.coverage[k]:.1%}",
    }
    table = [{name: say(k) for name, say in shown.items()} for k in range(at.size)]
    facts = "".join(
        f'<div><dt>{name}</dt><dd data-value="{name}">{table[start][name]}</dd></div>'
        for name in shown
        if name != "threshold"
    )
    return (
        f"<div data-levels='{escape(json.dumps(table))}'><div class=\"slider\">"
        f'<label for="level">threshold</label><input id="level" type="range" min="0" '
        f'max="{at.size - 1}" value="{start}"><output for="level" data-value="threshold">'
        f'{table[start]["threshold"]}</output></div><dl class="facts">{facts}</dl>'
        + page.side_by_side(
            page.figure(page.name_legend(palette) + counts, _limit_note(levels)),
            page.figure(
                page.name_legend(
                    {"covered": colors.CLASSES[1], "largest component": colors.CLASSES[2]}
                )
                + covered,
                "Covered: in a clique that is large enough to place its points.",
            ),
        )
        + "</div>"
    )


def _largest_share(levels: Levels) -> NDArray[np.float64]:
    """Share of points in the largest component at each threshold."""
    return levels.largest_component / levels.n_points


def _limit_note(levels: Levels) -> str:
    """Why the curve of cliques has a hole, if it has one."""
    if np.isfinite(levels.cliques).all():
        return "Logarithmic scale."
    return f"Logarithmic scale. Cliques are listed up to {levels.clique_limit}."


def _or_more(number: float, limit: int) -> str:
    """A number of cliques, or that there are more than were listed."""
    return say_number(number) if np.isfinite(number) else f"over {say_number(limit)}"


def _charts(view: CliqueView) -> list[str]:
    """Histograms of clique sizes, overlaps and degrees."""
    sizes = [clique.size for clique in view.maximal]
    shared = [int(weight) for *_, weight in view.graph.edges.data("weight", default=0)]
    degrees = np.diff(view.model.graph_.indptr)
    return [
        page.figure(histogram(sizes, "points in a clique", "maximal cliques"), "", "Sizes"),
        page.figure(histogram(shared, "points shared", "pairs of solved cliques"), "", "Overlaps"),
        page.figure(histogram(degrees, "neighbours of a point", "points"), "", "Degrees"),
    ]


def _largest(view: CliqueView, paint: Paint) -> str:
    """Table of the largest maximal cliques with the labels of their members."""
    order = sorted(range(len(view.maximal)), key=lambda k: (-view.maximal[k].size, k))[:_N_LARGEST]
    if not order:
        return ""
    labelled = paint.groups is not None
    rows = []
    for rank, k in enumerate(order, 1):
        members = view.maximal[k]
        row: list[Any] = [rank, int(members.size)]
        if labelled:
            row.append(say_labels(members, paint))
        row.append(_few(members))
        rows.append(row)
    heads = ["rank", "points", *(["labels of its members"] if labelled else []), "rows"]
    return page.table(heads, rows, sortable=True)


def say_labels(members: NDArray[Any], paint: Paint) -> str:
    """Classes of the members of a clique, the most frequent first, with their numbers.

    Parameters
    ----------
    members : (k,) array of int
        Rows.
    paint : Paint
        Classes of the points.

    Returns
    -------
    str
        As "8 cell × 12, morula × 3".
    """
    if paint.groups is None:
        return ""
    names = ["no label" if c < 0 else paint.groups.names[c] for c in paint.groups.codes[members]]
    return ", ".join(f"{name} × {number}" for name, number in Counter(names).most_common())


def _few(members: Sequence[int] | NDArray[Any], most: int = 12) -> str:
    """First row numbers of a clique."""
    text = ", ".join(str(int(row)) for row in members[:most])
    return text + (", …" if len(members) > most else "")


def _agreement(view: CliqueView, paint: Paint) -> str:
    """Residual of every point on the embedding, the worst in a table, the order of merging."""
    model = view.model
    residual = model.merge_residuals_
    if residual is None:
        return ""
    values = np.nan_to_num(np.asarray(residual, dtype=np.float64))
    by_color = Paint(None, values, tuple(colors.ramp(values)), paint.rows)
    note = drawn_note(paint, view.data.n_samples)
    pictures = page.side_by_side(
        page.figure(
            page.scale_legend(values, "disagreement of cliques")
            + draw(model.embedding_, by_color, "residuals on the embedding"),
            "Yellow points are where the cliques that hold a point put it in different places."
            + note,
            "Residual of each point",
        ),
        page.figure(
            legend(paint, row=True) + draw(model.embedding_, paint, "embedding"),
            "The same points" + (" by class." if paint.groups is not None else "."),
            "Embedding",
        ),
    )
    worst = np.argsort(-values, kind="stable")[:_N_WORST]
    degree = np.diff(model.graph_.indptr)
    holding = np.bincount(_solved(model).members, minlength=values.size)
    names = view.data.labels
    heads = ["row", *(["label"] if names is not None else []), "residual", "neighbours", "cliques"]
    rows = [
        [int(r), *([str(names[r])] if names is not None else []), float(values[r]),
         int(degree[r]), int(holding[r])]
        for r in worst
    ]  # fmt: skip
    return (
        pictures + "<h3>Worst placed</h3>" + page.table(heads, rows, sortable=True) + _order(model)
    )


def _order(model: IKD) -> str:
    """First and last merges of the greedy merge."""
    order = model.merge_order_
    if order is None or len(order) == 0:
        return ""
    shared = np.asarray(order)[:, 2]
    return page.figure(
        svg.lines(
            np.arange(1, shared.size + 1), {"shared": shared}, xlabel="merge",
            ylabel="points shared", title="points shared at each merge",
        ),
        "Merging goes from the largest overlap to the smallest; the smallest carry the most error.",
        "Order of merging",
    )  # fmt: skip
