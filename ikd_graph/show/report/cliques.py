"""Page of the cliques of a data set: what a threshold does, what the cliques are, how they fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...study.levels import Levels
from .. import colors, page, svg
from ..words import count, say_number, versions
from .clique_view import CliqueView
from .clique_words import (
    clique_advice,
    clique_facts,
    clique_groups,
    clique_places,
    largest_apart,
    say_labels,
)
from .embed import histogram
from .paint import Paint, draw, drawn_note, legend, paint_points

if TYPE_CHECKING:
    from ...estimator import IKD

_N_LARGEST = 15
_N_WORST = 12


def cliques_page(view: CliqueView, command: str = "") -> str:
    """Page of the cliques of a data set.

    Parameters
    ----------
    view : CliqueView
        What `view_cliques` found.
    command : str
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page, with its pictures.
    """
    model, data = view.model, view.data
    paint = paint_points(data)
    sections = [
        page.section("Advice", page.advice(clique_advice(view))),
        page.section("Cliques and the points they share", _network(view, paint)),
        page.section("What a threshold does", threshold_slider(view.levels, model.threshold_)),
        page.section("Counts", page.facts(clique_facts(view)), page.side_by_side(*_charts(view))),
        page.section("Largest cliques", _largest(view, paint)),
        page.section("How well the cliques agree", _agreement(view, paint)),
        page.section("Again", page.command(command) if command else ""),
        page.footer(versions()),
    ]
    return page.document(data.name, _lead(view), sections, kind="Cliques", names=paint.names)


def _lead(view: CliqueView) -> str:
    """The result in two sentences."""
    model, g = view.model, view.points
    listed = max((clique.size for clique in view.maximal), default=0)
    most = max(listed, view.solved.sizes.max(initial=0))
    number = ("" if view.complete else "more than ") + count(len(view.maximal), "maximal clique")
    parts = count(model.n_components_graph_, "component")
    rules = [] if model.threshold_ is None else [f"correlation above {model.threshold_:.3g}"]
    if model.n_neighbors_ is not None:
        rules.append(f"{model.n_neighbors_} nearest neighbours")
    return (
        f"{count(g.n_nodes, 'point')}, {count(g.n_edges, 'edge')} ({' or '.join(rules)}), {parts}: "
        f"{number}, the largest of {most} points. "
        f"The blockwise solution rests on {say_number(view.solved.n_blocks)} of them."
    )


def _network(view: CliqueView, paint: Paint) -> str:
    """Graph of cliques with its legend."""
    groups = clique_groups(view, paint)
    notes = []
    for row, node in enumerate(view.links):
        text = f"clique {node}: {count(int(view.links.nodes[node].get('size', 0)), 'point')}"
        if groups is not None and groups.codes[row] >= 0:
            text += f", mostly {groups.names[groups.codes[row]]}"
        notes.append(text)
    drawn, n_solved = len(view.links), view.solved.n_blocks
    rest = f" The {drawn} largest of {n_solved} are drawn." if drawn < n_solved else ""
    picture = page.figure(
        svg.network(view.links, groups, positions=clique_places(view), notes=notes),
        "A disc is a clique, larger for more points, in the colour of most of its members; a line "
        "joins cliques that share points, stronger for more; where there are too many, only the "
        "strongest of each clique and those that hold the graph together are drawn." + rest,
    )
    return page.with_legend(picture, "" if groups is None else page.class_legend(groups))


def threshold_slider(levels: Levels, used: float | None) -> str:
    """Curves over the threshold with a slider that reads them; the one in use is marked."""
    at = levels.threshold
    palette = {"edges": colors.CLASSES[0], "components": colors.CLASSES[2]}
    palette["cliques"] = colors.CLASSES[3]
    mark = None
    if used is not None and at[0] <= used <= at[-1]:
        mark = (used, f"used: {used:.3g}")
    counts = svg.lines(
        at,
        {"edges": levels.edges, "components": levels.components, "cliques": levels.cliques},
        svg.Axes(
            "threshold",
            "count",
            log=True,
            title="edges, components and cliques against the threshold",
        ),
        mark=mark,
        palette=palette,
        cursor=True,
    )
    covered = svg.lines(
        at,
        {"covered": 100 * levels.coverage, "largest component": 100 * _largest_share(levels)},
        svg.Axes("threshold", "% of points", title="coverage against the threshold"),
        mark=mark,
        palette={"covered": colors.CLASSES[1], "largest component": colors.CLASSES[2]},
        cursor=True,
    )
    start = int(np.abs(at - (used if used is not None else np.median(at))).argmin())
    shown = {
        "threshold": lambda k: f"{at[k]:.2f}",
        "edges": lambda k: say_number(levels.edges[k]),
        "components": lambda k: say_number(levels.components[k]),
        "maximal cliques": lambda k: _or_more(float(levels.cliques[k]), levels.clique_limit),
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
    shared = [int(n) for *_, n in view.links.edges.data("overlap")]
    degrees = np.diff(view.points.indptr)
    return [
        page.figure(histogram(sizes, "points in a clique", "maximal cliques"), "", "Sizes"),
        page.figure(histogram(shared, "points shared", "pairs of solved cliques"), "", "Overlaps"),
        page.figure(histogram(degrees, "neighbours of a point", "points"), "", "Degrees"),
    ]


def _largest(view: CliqueView, paint: Paint) -> str:
    """Table of the largest maximal cliques with the labels of their members."""
    order = largest_apart(view.maximal, view.points.n_nodes, _N_LARGEST)
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
    note = "From the largest down, those that share at most half their points with one above."
    return page.paragraph(note, soft=True) + page.table(heads, rows, sortable=True)


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
            legend(paint, view.data.label_title, row=True)
            + draw(model.embedding_, paint, "embedding"),
            "The same points" + (" by class." if paint.groups is not None else "."),
            "Embedding",
        ),
    )
    worst = np.argsort(-values, kind="stable")[:_N_WORST]
    degree = np.diff(view.points.indptr)
    holding = np.bincount(view.solved.members, minlength=values.size)
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
    chart = page.figure(
        svg.lines(
            np.arange(1, shared.size + 1),
            {"shared": shared},
            svg.Axes("merge", "points shared", title="points shared at each merge"),
        ),
        "Merging goes from the largest overlap to the smallest; the smallest carry the most error.",
    )  # fmt: skip
    # Beside each other, though it is alone: a chart of full width has letters of double size.
    return "<h3>Order of merging</h3>" + page.side_by_side(chart)
