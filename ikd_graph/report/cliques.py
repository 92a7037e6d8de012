"""Page of a look at cliques: advice, their graph, thresholds, the largest, where they disagree."""

from typing import Any

import numpy as np

from ..jobs.cliques import CliqueInspection, threshold_of
from ..plotting import charts, colors
from ..plotting.charts import Chart, Curve, Names
from ..plotting.colors import Paint, paint_points
from ..plotting.plot import names_of_points
from . import page
from .page import DrawnPoints

_DISAGREEMENT = "disagreement of cliques"


def cliques_page(result: CliqueInspection, command: str = "", **around: Any) -> str:
    """Page of the cliques of a data set.

    Parameters
    ----------
    result : CliqueInspection
        What `ikd_graph.jobs.cliques.inspect_model` returned.
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
    sizes = charts.counts(result.sizes, "points in a clique", "maximal cliques")
    lead, *advice = result.advice()
    note = "From the largest down, those that share at most half their points with one above."
    return page.render(
        "Cliques",
        result.data.name,
        lead,
        [
            ("Advice", [page.block("list", advice)]),
            ("Cliques and the points they share", [page.figures(_network(result))]),
            ("What a threshold does", [page.figures(*_levels(result))]),
            ("Counts", [page.block("facts", result.facts()), page.figures(page.drawing(sizes))]),
            (
                "Largest cliques",
                [page.block("note", note), page.table(result.largest().astype({"clique": str}))],
            ),
            ("Communities", _communities(result)),
            ("How well the cliques agree", [page.figures(_map(result, drawn))]),
        ],
        command=command,
        described=drawn.described(more),
        **around,
    )


def clique_chart(result: CliqueInspection) -> Chart:
    """Graph of cliques, laid out by the embedding, by most members' labels or by disagreement.

    Parameters
    ----------
    result : CliqueInspection
        What `ikd_graph.jobs.cliques.inspect_model` returned.

    Returns
    -------
    Chart
        Its description.
    """
    nodes = list(result.links)
    paints = [Paint(_DISAGREEMENT, result.of_cliques[nodes])]
    paint = paint_points(result.data)
    if paint.names:
        of_points = paint.codes(result.data.n_samples)
        members = (of_points[result.cliques[node]] for node in nodes)
        codes = np.array([np.bincount(some + 1).argmax() - 1 for some in members], dtype=np.intp)
        paints.insert(0, paint._replace(title=paint.title or "most members", y=codes))
    # A second coordinate that is missing is 0.
    plane = np.column_stack([result.model.embedding_, np.zeros(result.data.n_samples)])[:, :2]
    centers = [plane[result.cliques[node]].mean(axis=0) for node in nodes]
    points: dict[str, Any] = {"hover": [_said(result, node) for node in nodes]}
    if result.stability is not None:
        points["opacity"] = 0.1 + charts.OPACITY * result.stability.of_cliques[nodes]
    named = names_of_points(result.data.row_names)
    names = Names(plane, [*named.values()], dots=True) if named else None
    at = np.reshape(centers, (-1, 2))
    return charts.network(result.links, at, *paints, names=names, **points)


def _said(result: CliqueInspection, node: int) -> str:
    """Return what is said of a disc."""
    members = result.cliques[node]
    words = [f"clique {node}", f"{members.size} points", result.describe_classes(members)]
    if result.stability is not None:
        words.append(f"stability {result.stability.of_cliques[node]:.2f}")
    return ", ".join(word for word in words if word)


def _network(result: CliqueInspection) -> page.Block:
    """Graph of cliques, with what discs and lines are, and which of them are drawn."""
    caption = (
        "A disc is a clique, larger for more points, at the mean of the coordinates of its "
        "members, moved a little where it would hide another. A line joins cliques that share "
        "points, stronger for more; the strongest are drawn, and of many cliques the largest. "
        "Small dots are points with names, and pale discs cliques that would not stay."
    )
    return page.drawing(clique_chart(result), caption=caption, size="main")


def _levels(result: CliqueInspection) -> list[page.Block]:
    """Curves over the threshold, counts and fractions of points; that of the graph is marked."""
    levels, used = result.levels, threshold_of(result.model)
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


def _communities(result: CliqueInspection) -> list[page.Block]:
    """Largest communities, and how they agree with the labels."""
    found, first, labels = result.communities, result.model._first, None
    if not found:
        return []
    text = f"Triangles that share edges hang together: {found!r}."
    if result.classes is not None:
        labels = [result.classes[row] for row in first]
        score = found.compare([None if name == "no label" else name for name in labels])
        text += (
            f" With the labels: adjusted Rand index {score['adjusted_rand']:.2f}, purity "
            f"{score['purity']:.2f}, over {score['covered']:.0%} of the labeled points."
        )
    names = [result.data.names[row] for row in first]
    return [page.block("note", text), page.table(found.to_pandas(names, labels).head(15))]


def _map(result: CliqueInspection, drawn: DrawnPoints) -> page.Block:
    """Points by the disagreement of the cliques that hold them, or by their labels."""
    paints = [drawn.quantity(_DISAGREEMENT, result.residual), *drawn.paints[:1]]
    chart = drawn.scatter(result.model.embedding_, *paints, title="disagreement on the embedding")
    caption = (
        "Yellow points are where the cliques that hold a point put it in different positions. "
        f"Point at one to see its cliques; the CSV of the cliques has all.{drawn.note}"
    )
    return page.drawing(chart, caption=caption, size="main")


def _holding(result: CliqueInspection) -> list[str]:
    """Numbers of the cliques that hold each point."""
    held: list[list[str]] = [[] for _ in range(result.data.n_samples)]
    for number, members in enumerate(result.cliques):
        for row in members.tolist():
            held[row].append(str(number))
    return [", ".join(numbers) for numbers in held]
