"""Page of the cliques of a data set: what a threshold does, what the cliques are, how they fit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...study.levels import Levels
from ...study.settings import say_graph
from .. import charts, colors, page
from ..charts import Chart
from ..colors import Paint
from ..figures import figure, with_slider
from ..words import count, say_number
from .clique_view import CliqueView, say_labels, threshold_of

_DISAGREEMENT = "disagreement of cliques"


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
            ("How well the cliques agree", [page.figures(_picture(view, paint, rows))]),
        ],
        command=command,
        described=colors.described(view.data, rows, more),
        **around,
    )


def _lead(view: CliqueView) -> str:
    """The result in two sentences."""
    links = f" joined by {count(view.n_links, 'link')}" if view.n_links else ""
    noun = "maximal clique" if view.complete and view.sizes.size == 1 else "maximal cliques"
    return (
        f"{count(view.data.n_samples, 'point')}, {count(view.graph.n_edges, 'edge')} "
        f"({say_graph(view.model)}), {count(view.n_components(), 'component')}{links}: "
        f"{view.n_maximal()} {noun}, the largest of {view.largest()} points. "
        f"{say_number(len(view.cliques))} of them cover the graph and are listed here."
    )


def clique_chart(view: CliqueView) -> Chart:
    """Graph of cliques, laid out by the embedding, by most members' labels or by disagreement."""
    paint = colors.paint_points(view.data)
    paints = [Paint(_DISAGREEMENT, None, view.of_cliques[list(view.links)])]
    groups = view.groups(paint)
    if groups is not None:
        paints.insert(0, Paint(paint.title or "most members", groups))
    hover = [
        ", ".join([f"clique {node}", count(size, "point"), *say_labels(view.cliques[node], paint)])
        for node, size in view.links.nodes(data="size")
    ]
    texts = [colors.short(text) for text in hover]
    return charts.network(view.links, view.places(), *paints, hover=texts)


def _network_note(view: CliqueView) -> str:
    """What discs and lines are, and which of them are drawn."""
    drawn, listed = len(view.links), len(view.cliques)
    return (
        "A disc is a clique, larger for more points, at the mean of the coordinates of its "
        "members. A line joins cliques that share points, stronger for more; the strongest are "
        "drawn." + (f" The {drawn} largest of {listed} are drawn." if drawn < listed else "")
    )


def _slider(view: CliqueView) -> page.Block:
    """Curves over the threshold, with a slider that writes the numbers; that in use is marked."""
    levels, used = view.levels, threshold_of(view.model)
    at = levels.threshold
    start = int(np.abs(at - (used if used is not None else np.median(at))).argmin())
    spec = figure(*charts.thresholds(levels, used))
    texts = [_level_text(levels, k) for k in range(at.size)]
    caption = (
        f"Logarithmic scale above; cliques are listed up to {levels.clique_limit}. Covered: in a "
        "clique that is large enough to place its points."
    )
    spec = with_slider(spec, at.tolist(), texts, start, "threshold")
    return page.drawing(spec, caption=caption, size="main", title="what a threshold does")


def _level_text(levels: Levels, k: int) -> str:
    """Numbers at a threshold, in two lines."""
    number, limit = float(levels.cliques[k]), levels.clique_limit
    complete = np.isfinite(number)
    cliques = say_number(number) if complete else f"over {say_number(limit)}"
    size = f" (largest {say_number(levels.largest_clique[k])})" if complete else ""
    return (
        f"{count(levels.edges[k], 'edge')}, {count(levels.components[k], 'component')}<br>"
        f"{cliques} maximal cliques{size}<br>{levels.coverage[k]:.1%} of the points covered"
    )


def _largest(view: CliqueView, paint: Paint) -> page.Block:
    """Table of the largest cliques with the labels of their members, and their names."""
    labelled = paint.groups is not None
    rows = [
        [(k, str(k)), len(view.cliques[k])]
        + ([", ".join(say_labels(view.cliques[k], paint))] if labelled else [])
        + [", ".join(view.names[row] for row in view.cliques[k])]
        for k in view.largest_apart(most=15)
    ]
    return page.table(["clique", "points", *["labels"] * labelled, "members"], rows)


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
        shares=colors.variance_shares(Z),
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
