"""Page of the cliques of a data set: what a threshold does, what the cliques are, how they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._records import Blocks
from ...study.levels import Levels
from ...study.settings import say_graph
from .. import charts, colors, page, points
from ..charts import Chart
from ..colors import Paint
from ..figures import color_scale, network_figure, packed
from ..network import network
from ..words import count, say_number, versions
from .clique_view import CliqueView, threshold_of
from .clique_words import (
    clique_advice,
    clique_facts,
    clique_groups,
    clique_places,
    disagreed,
    largest,
    largest_apart,
    n_components,
    n_maximal,
    say_labels,
)
from .embed import drawn

_N_LARGEST = 15
_DISAGREEMENT = "disagreement of cliques"
# Places of points in cliques, at 4 (1 + M) bytes each: a few megabytes.
_MOST_PLACES = 300_000


def cliques_page(
    view: CliqueView,
    command: str = "",
    *,
    warnings: Sequence[str] = (),
    steps: Sequence[tuple[str, str]] = (),
    picture: bytes | None = None,
) -> str:
    """Page of the cliques of a data set.

    Parameters
    ----------
    view : CliqueView
        What `view_cliques` found.
    command, warnings, steps, picture : str, sequence of str, sequence of (str, str), bytes
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page, with its pictures.
    """
    model, data = view.model, view.data
    paint = points.paint_points(data)
    rows = points.rows_to_draw(data)
    shades = _shades(view, paint)
    values = np.nan_to_num(np.asarray(model.merge_residuals_, dtype=np.float64))
    residual = Paint(_DISAGREEMENT, None, values)
    return page.render(
        "cliques.html",
        title=data.name,
        lead=_lead(view),
        command=command,
        fallback=page.image(picture),
        versions=versions(),
        points=points.table(data, [residual, paint], rows),
        warnings=warnings,
        advice=clique_advice(view),
        network=_network(view, paint, shades),
        network_note=_network_note(view),
        shades=[points.legend(one) for one in shades],
        **_slider(view.levels, threshold_of(model)),
        facts=clique_facts(view),
        charts=_charts(view),
        largest=_largest(view, paint),
        pictures=_pictures(view, paint, residual, rows),
        offers=_offers(view),
        row_title=data.row_title or "row",
        disagreed=_disagreed(view, values),
        steps=steps,
    )


def _lead(view: CliqueView) -> str:
    """The result in two sentences."""
    parts = count(n_components(view), "component")
    links = f" joined by {count(view.n_links, 'link')}" if view.n_links else ""
    noun = "maximal clique" if view.complete and view.sizes.size == 1 else "maximal cliques"
    return (
        f"{count(view.data.n_samples, 'point')}, {count(view.graph.n_edges, 'edge')} "
        f"({say_graph(view.model)}), {parts}{links}: {n_maximal(view)} {noun}, the largest of "
        f"{largest(view)} points. {say_number(len(view.cliques))} of them cover the graph and are "
        "listed here."
    )


def _shades(view: CliqueView, paint: Paint) -> list[Paint]:
    """What may colour the cliques: how far they are off, then most of their members."""
    found = [Paint(_DISAGREEMENT, None, view.of_cliques[list(view.links)])]
    groups = clique_groups(view, paint)
    if groups is not None:
        found.append(Paint(paint.title or "label of most members", groups))
    return found


def _network(view: CliqueView, paint: Paint, shades: Sequence[Paint]) -> dict[str, Any]:
    """Graph of cliques, laid out by the latent, with what may colour it."""
    notes = [
        f"clique {node}: "
        + ", ".join([count(size, "point"), *say_labels(view.cliques[node], paint)])
        for node, size in view.links.nodes(data="size")
    ]
    made: list[dict[str, Any]] = []
    for one in shades:
        if one.groups is not None:
            codes = one.groups.codes.tolist()
            made.append({"codes": codes, "marker": {"color": one.groups.shades}})
        elif one.values is not None:
            scale = {"colorscale": color_scale(one)}
            made.append({"marker": {"color": one.values.tolist(), **scale}})
    net = network(view.links, clique_places(view))
    return {**network_figure(net, notes, made[0]["marker"]), "shades": made}


def _network_note(view: CliqueView) -> str:
    """What discs and lines are, and which of them are drawn."""
    drawn_ones, n_listed = len(view.links), len(view.cliques)
    rest = f" The {drawn_ones} largest of {n_listed} are drawn." if drawn_ones < n_listed else ""
    return (
        "A disc is a clique, larger for more points, at the mean of the places of its members; "
        "yellow ones disagree most with the others about their members. A line joins cliques "
        "that share points, stronger for more; where there are too many, only the strongest of "
        "each clique and those that keep it connected are drawn." + rest
    )


def _slider(levels: Levels, used: float | None) -> dict[str, Any]:
    """Curves over the threshold with the numbers a slider reads; the one in use is marked."""
    at = levels.threshold
    start = int(np.abs(at - (used if used is not None else np.median(at))).argmin())
    shown: dict[str, Callable[[int], str]] = {
        "threshold": lambda k: f"{at[k]:.2f}",
        "edges": lambda k: say_number(levels.edges[k]),
        "components": lambda k: say_number(levels.components[k]),
        "maximal cliques": lambda k: _or_more(float(levels.cliques[k]), levels.clique_limit),
        "largest clique": lambda k: say_number(levels.largest_clique[k]),
        "points covered": lambda k: f"{levels.coverage[k]:.1%}",
    }
    shares = {
        "threshold": at,
        "covered": levels.coverage,
        "largest component": levels.largest_component / levels.n_points,
    }
    covered = "Covered: in a clique that is large enough to place its points."
    return {
        "levels": [{name: say(k) for name, say in shown.items()} for k in range(at.size)],
        "start": start,
        "level_charts": [
            _with_cursor(charts.threshold_counts(vars(levels), used), _limit_note(levels)),
            _with_cursor(charts.threshold_shares(shares, used), covered),
        ],
    }


def _with_cursor(chart: Chart, caption: str) -> dict[str, Any]:
    """Chart with its legend and a last shape that the slider of the page moves."""
    made = drawn(chart, caption=caption)
    at = float(chart.curves[0].x[0]) if chart.curves[0].x.size else 0.0
    cursor = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper"}
    made["spec"]["layout"]["shapes"].append({**cursor, "line": {"color": colors.MUTED}})
    return {**made, "names": [(curve.name, curve.name, curve.color) for curve in chart.curves]}


def _limit_note(levels: Levels) -> str:
    """Why the curve of cliques has a hole, if it has one."""
    if np.isfinite(levels.cliques).all():
        return "Logarithmic scale."
    return f"Logarithmic scale. Cliques are listed up to {levels.clique_limit}."


def _or_more(number: float, limit: int) -> str:
    """A number of cliques, or that there are more than were listed."""
    return say_number(number) if np.isfinite(number) else f"over {say_number(limit)}"


def _charts(view: CliqueView) -> list[dict[str, Any]]:
    """Histograms of clique sizes, overlaps and degrees."""
    shared, degrees = (_values(view.summary[name]) for name in ("overlaps", "degrees"))
    return [
        drawn(charts.counts(view.sizes, "points in a clique", "maximal cliques"), "Sizes"),
        drawn(charts.counts(shared, "points shared", "pairs of cliques"), "Overlaps"),
        drawn(charts.counts(degrees, "neighbours of a point", "points"), "Degrees"),
    ]


def _values(distribution: dict[str, Any]) -> NDArray[np.int64]:
    """Numbers of a distribution, each as often as it was counted."""
    counted = distribution["histogram"]
    return np.repeat(np.array([*counted], dtype=np.int64), [*counted.values()])


def _largest(view: CliqueView, paint: Paint) -> dict[str, Any]:
    """Table of the largest cliques with the labels of their members, and their names."""
    rows = []
    for k in largest_apart(view, _N_LARGEST):
        members = view.cliques[k]
        labels = [", ".join(say_labels(members, paint))] if paint.groups is not None else []
        named = ", ".join(view.names[row] for row in members)
        rows.append([(k, str(k)), members.size, *labels, named])
    heads = ["clique", "points", *(["labels"] if paint.groups is not None else []), "members"]
    return page.table(heads, rows, sortable=True)


def _pictures(
    view: CliqueView, paint: Paint, residual: Paint, rows: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Residual of every point on the embedding, beside the labels of the same points."""
    model = view.model
    shares = points.variance_shares(model.embedding_)
    more: dict[str, Any] = {"links": _removed(view, rows)}
    places = _places(view, rows)
    if places is not None:
        more["places"] = places
    drawn_part = points.drawn_note(rows, view.data.n_samples)
    return [
        {
            "spec": points.picture(model.embedding_, rows, shares, **more),
            "legend": points.legend(residual),
            "title": "disagreement on the embedding",
            "heading": "Disagreement about each point",
            "caption": "Yellow points are where the cliques that hold a point put it in different "
            "places. A click on a point lists its cliques and where each would put it."
            + drawn_part,
        },
        {
            "spec": points.picture(model.embedding_, rows, shares, column=1),
            "legend": points.legend(paint),
            "title": "embedding",
            "heading": "Embedding",
            "caption": "The same points" + (" by class." if paint.groups is not None else "."),
        },
    ]


def _offers(view: CliqueView) -> dict[str, str]:
    """What can be drawn over the residuals."""
    removed = view.model.removed_edges_
    n_removed = 0 if removed is None else len(removed)
    return {"links": count(n_removed, "removed edge")} if n_removed else {}


def _removed(view: CliqueView, rows: NDArray[np.intp]) -> list[list[int]]:
    """Edges removed as short cuts, as pairs of positions among the rows drawn."""
    removed = view.model.removed_edges_
    if removed is None or not len(removed):
        return []
    position = np.full(view.data.n_samples, -1)
    position[rows] = np.arange(rows.size)
    pairs = position[removed]
    return [list(pair) for pair in pairs[(pairs >= 0).all(axis=1)].tolist()]


def _places(view: CliqueView, rows: NDArray[np.intp]) -> dict[str, Any] | None:
    """Cliques of each point drawn and where each would put it; None where they are too many."""
    members = view.cliques.blocks.members
    if members.size > _MOST_PLACES:
        return None
    order = np.argsort(members, kind="stable")
    of_points = Blocks(
        np.searchsorted(members[order], np.arange(view.data.n_samples + 1)), order.astype(np.int32)
    )
    starts, entries = of_points.entries(rows)
    entries = order[entries]
    return {
        "start": packed(starts, "i4"),
        "clique": packed(
            np.repeat(np.arange(len(view.cliques)), view.cliques.sizes)[entries], "i4"
        ),
        "at": packed(view.proposals[entries]),
    }


def _disagreed(view: CliqueView, values: NDArray[np.float64]) -> dict[str, Any]:
    """Table of the points about which cliques disagree unusually much, at least a few."""
    rows = disagreed(view)[0]
    if rows.size < _N_LARGEST:
        rows = np.argsort(-values, kind="stable")[:_N_LARGEST]
    degree = np.diff(view.graph.indptr)[view.model._inverse]
    holding = np.bincount(view.cliques.blocks.members, minlength=values.size)
    names, labels = view.names, view.data.labels
    heads = [view.data.row_title or "row", *(["label"] if labels is not None else [])]
    heads += ["disagreement", "neighbours", "cliques"]
    table = [
        [names[r], *([str(labels[r])] if labels is not None else []), values[r], degree[r],
         holding[r]]
        for r in rows
    ]  # fmt: skip
    return page.table(heads, table, sortable=True)
