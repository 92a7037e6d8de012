"""Page of a look at cliques: advice, their graph, thresholds, the largest, where they disagree."""

from typing import Any

import numpy as np

from .._base.format import listed
from ..cliques import incidence
from ..jobs.cliques_result import DISAGREEMENT, CliqueInspection, labels_text, threshold_of
from ..plotting import charts, colors
from ..plotting.charts import Chart, Curve
from . import page
from .page import DrawnPoints


def cliques_page(result: CliqueInspection, command: str = "", **around: Any) -> str:
    """Page of the cliques of a data set.

    Parameters
    ----------
    result : CliqueInspection
        What `ikd_graph.inspect_cliques` returned for a table or a similarity.
    command, **around
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page, with its pictures.
    """
    drawn = DrawnPoints(result.data)
    more = {
        "disagreement": [f"{value:.2g}" for value in result.residual],
        "cliques": _holding(result),
    }
    what = "maximal cliques" if result.complete else "cliques listed"
    sizes = charts.counts(result.cliques.sizes, "points in a clique", what)
    lead, *trust = result.answer
    note = (
        "From the largest down, those that share at most half their points with one above; the CSV "
        "has all cliques, and all of their members."
    )
    sections = [
        ("Advice", [page.block("list", [*trust, *result.advice()])]),
        ("Cliques and the points they share", [page.figures(_network(result))]),
        ("What a threshold does", [page.figures(*_levels(result))]),
        ("Counts", [page.block("facts", result.facts()), page.figures(page.drawing(sizes))]),
        ("Largest cliques", [page.block("note", note), page.table(_largest(result))]),
        ("Communities", _communities(result)),
        ("How well the cliques agree", [page.figures(*_map(result, drawn))]),
    ]
    around |= {"command": command, "described": drawn.described(more)}
    return page.render("Cliques", result.data.name, lead, sections, **around)


def _network(result: CliqueInspection) -> page.Block:
    """Graph of cliques, with what discs and lines are, and which of them are drawn."""
    caption = (
        "A disc is a clique, larger for more points, at the mean of the coordinates of its "
        "members, moved a little where it would hide another. A line joins cliques that share "
        "points, stronger for more; the strongest are drawn, and of many cliques the largest. "
        "Small dots are points with names, and pale discs cliques that would not stay."
    )
    return page.drawing(result.chart(), caption=caption, size="main")


def _levels(result: CliqueInspection) -> list[page.Block]:
    """Curves over the threshold, counts and fractions of points; that of the graph is marked."""
    levels, used = result.levels, result.model and threshold_of(result.model)
    if levels is None:
        return []
    largest = 100.0 * levels.largest_component / levels.attrs["n_points"]
    counts = {name: levels[name] for name in ("edges", "components", "cliques")}
    fractions = {"covered": 100.0 * levels.coverage, "largest component": largest}
    mark = None if used is None else (used, f"used: {used:.3g}")
    listed = "Logarithmic scale; where there are very many cliques they are not counted."
    covered = "Covered: in a clique that is large enough to place its points."
    drawings = []
    for what, unit, rows, caption in (
        ("numbers", "count", counts, listed),
        ("fractions", "% of points", fractions, covered),
    ):
        curves = tuple(
            Curve(name, levels.threshold, y.where(y > 0), colors.class_color(code))
            for code, (name, y) in enumerate(rows.items())
        )
        title, axis = f"{what} over the threshold", "threshold on the similarity"
        chart = Chart(title, axis, unit, curves=curves, mark=mark, log_y=rows is counts)
        drawings.append(page.drawing(chart, caption=caption))
    return drawings


def _largest(result: CliqueInspection) -> Any:
    """Table of the largest cliques with lists as text."""
    table = result.largest()
    table["members"] = table["members"].map(listed)
    if "labels" in table:
        table["labels"] = table["labels"].map(labels_text)
    return table.astype({"clique": str})


def _communities(result: CliqueInspection) -> list[page.Block]:
    """Largest communities, and how they agree with the labels."""
    found, labels = result.communities, result.classes
    if not found:
        return []
    text = f"Triangles that share edges hang together: {found!r}; the JSON has all members."
    if labels is not None:
        score = found.compare([None if name == "no label" else name for name in labels])
        text += (
            f" With the labels: adjusted Rand index {score['adjusted_rand']:.2f}, purity "
            f"{score['purity']:.2f}, over {score['covered']:.0%} of the labeled points."
        )
    names = result.data.names
    members = [listed(names[row] for row in rows) for rows in found]
    table = found.to_pandas(names, labels).assign(members=members).head(15)
    return [page.block("note", text), page.table(table)]


def _map(result: CliqueInspection, drawn: DrawnPoints) -> list[page.Block]:
    """Points by the disagreement of the cliques that hold them, or by their labels."""
    if result.model is None:
        return []
    paints = [drawn.quantity(DISAGREEMENT, result.residual), *drawn.paints[:1]]
    chart = drawn.scatter(result.model.embedding_, *paints, title="disagreement on the embedding")
    caption = (
        "Yellow points are where the cliques that hold a point put it in different positions. "
        f"Point at one to see its largest cliques; the CSV of the cliques has all.{drawn.note}"
    )
    return [page.drawing(chart, caption=caption, size="main")]


def _holding(result: CliqueInspection) -> list[str]:
    """Numbers of the first cliques that hold each point, and of how many."""
    held = incidence(result.cliques.blocks, result.graph.n_nodes).T.tocsr()
    return [listed(numbers, 5) for numbers in np.split(held.indices, held.indptr[1:-1])]
