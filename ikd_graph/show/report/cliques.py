"""Page of the cliques of a data set: what a threshold does, what the cliques are, how they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...alignment import rigid_fit
from ...study.levels import Levels
from .. import charts, colors, page, points
from ..charts import Chart, Curve
from ..figures import network_figure, packed
from ..network import network
from ..points import Paint
from ..words import count, say_number, versions
from .clique_view import CliqueView
from .clique_words import (
    clique_advice,
    clique_facts,
    clique_groups,
    clique_places,
    clique_residuals,
    largest_apart,
    say_labels,
)
from .embed import drawn

_N_LARGEST = 15
_N_WORST = 12
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
    residual = None
    if model.merge_residuals_ is not None:
        values = np.nan_to_num(np.asarray(model.merge_residuals_, dtype=np.float64))
        residual = Paint("disagreement of cliques", None, values)
    return page.render(
        "cliques.html",
        title=data.name,
        lead=_lead(view),
        command=command,
        fallback=page.image(picture),
        versions=versions(),
        points=points.table(data, [residual, paint] if residual else [paint], rows),
        warnings=warnings,
        advice=clique_advice(view),
        network=_network(view, paint, shades),
        network_note=_network_note(view),
        shades=[points.legend(one) for one in shades],
        **_slider(view.levels, model.threshold_),
        facts=clique_facts(view),
        charts=_charts(view),
        largest=_largest(view, paint),
        pictures=_pictures(view, paint, residual, rows) if residual else (),
        offers=_offers(view),
        last=data.n_samples - 1,
        worst=_worst(view, residual.values) if residual and residual.values is not None else None,
        merging=_merging(view),
        steps=steps,
    )


def _lead(view: CliqueView) -> str:
    """The result in two sentences."""
    model, g = view.model, view.points
    listed = max((clique.size for clique in view.maximal), default=0)
    most = max(listed, view.solved.sizes.max(initial=0))
    number = ("" if view.complete else "more than ") + count(len(view.maximal), "maximal clique")
    parts = count(model.n_components_graph_, "component")
    rules = [] if model.threshold_ is None else [f"similarity above {model.threshold_:.3g}"]
    if model.n_neighbors_ is not None:
        rules.append(f"{model.n_neighbors_} nearest neighbours")
    return (
        f"{count(g.n_nodes, 'point')}, {count(g.n_edges, 'edge')} ({' or '.join(rules)}), {parts}: "
        f"{number}, the largest of {most} points. "
        f"The blockwise solution rests on {say_number(view.solved.n_blocks)} of them."
    )


def _shades(view: CliqueView, paint: Paint) -> list[Paint]:
    """What may colour the cliques: their residual first, then most of their members."""
    residual, groups = clique_residuals(view), clique_groups(view, paint)
    found = [] if residual is None else [Paint("disagreement of cliques", None, residual)]
    if groups is not None:
        found.append(Paint(paint.title or "label of most members", groups))
    return found


def _network(view: CliqueView, paint: Paint, shades: Sequence[Paint]) -> dict[str, Any]:
    """Graph of cliques, laid out by the latent, with what may colour it."""
    groups = clique_groups(view, paint)
    notes = []
    for row, node in enumerate(view.links):
        text = f"clique {node}: {count(int(view.links.nodes[node].get('size', 0)), 'point')}"
        if groups is not None and groups.codes[row] >= 0:
            text += f", mostly {groups.names[groups.codes[row]]}"
        notes.append(text)
    made: list[dict[str, Any]] = []
    for one in shades:
        if one.groups is not None:
            codes = one.groups.codes.tolist()
            shade = {"color": [one.groups.color(code) for code in codes]}
            made.append({"codes": codes, "marker": shade})
        elif one.values is not None:
            made.append({"marker": {"color": colors.ramp(one.values)}})
    first = made[0]["marker"] if made else {"color": colors.ACCENT}
    net = network(view.links, clique_places(view))
    return {**network_figure(net, notes, first), "shades": made or [{"marker": first}]}


def _network_note(view: CliqueView) -> str:
    """What discs and lines are, and which of them are drawn."""
    drawn_ones, n_solved = len(view.links), view.solved.n_blocks
    rest = f" The {drawn_ones} largest of {n_solved} are drawn." if drawn_ones < n_solved else ""
    return (
        "A disc is a clique, larger for more points, at the mean of the places of its members; "
        "yellow ones are those about whose members cliques disagree most. A line joins cliques "
        "that share points, stronger for more; where there are too many, only the strongest of "
        "each clique and those that hold the graph together are drawn." + rest
    )


def _slider(levels: Levels, used: float | None) -> dict[str, Any]:
    """Curves over the threshold with the numbers a slider reads; the one in use is marked."""
    at = levels.threshold
    start = int(np.abs(at - (used if used is not None else np.median(at))).argmin())
    shown = {
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
    sizes = [clique.size for clique in view.maximal]
    shared = np.repeat(np.arange(view.shared.size), view.shared)
    degrees = np.diff(view.points.indptr)
    return [
        drawn(charts.counts(sizes, "points in a clique", "maximal cliques"), "Sizes"),
        drawn(charts.counts(shared, "points shared", "pairs of solved cliques"), "Overlaps"),
        drawn(charts.counts(degrees, "neighbours of a point", "points"), "Degrees"),
    ]


def _largest(view: CliqueView, paint: Paint) -> dict[str, Any] | None:
    """Table of the largest maximal cliques with the labels of their members."""
    order = largest_apart(view.maximal, view.points.n_nodes, _N_LARGEST)
    if not order:
        return None
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


def _few(members: Sequence[int] | NDArray[Any], most: int = 12) -> str:
    """First row numbers of a clique."""
    text = ", ".join(str(int(row)) for row in members[:most])
    return text + (", …" if len(members) > most else "")


def _pictures(
    view: CliqueView, paint: Paint, residual: Paint, rows: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Residual of every point on the embedding, beside the labels of the same points."""
    model = view.model
    shares = points.variance_shares(model.embedding_)
    more: dict[str, Any] = {"links": _suspicious(view, rows)}
    places = _places(view, rows)
    if places is not None:
        more["places"] = places
    drawn_part = points.drawn_note(rows, view.data.n_samples)
    return [
        {
            "spec": points.picture(model.embedding_, rows, shares, **more),
            "legend": points.legend(residual),
            "title": "residuals on the embedding",
            "heading": "Residual of each point",
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
    suspicion = view.model.removed_edges_
    if suspicion is None or not len(suspicion.pairs):
        return {}
    return {"links": count(len(suspicion.pairs), "suspicious edge")}


def _suspicious(view: CliqueView, rows: NDArray[np.intp]) -> list[list[int]]:
    """Condemned edges, as pairs of positions among the rows drawn."""
    suspicion = view.model.removed_edges_
    if suspicion is None or not len(suspicion.pairs):
        return []
    position = np.full(view.data.n_samples, -1)
    position[rows] = np.arange(rows.size)
    pairs = position[suspicion.pairs]
    return [list(pair) for pair in pairs[(pairs >= 0).all(axis=1)].tolist()]


def _places(view: CliqueView, rows: NDArray[np.intp]) -> dict[str, Any] | None:
    """Cliques of each point drawn and where each would put it; None where they are too many."""
    model = view.model._model
    if model.solved is None or model.solved.blocks.members.size > _MOST_PLACES:
        return None
    blocks, own = model.solved.blocks, model.solved.coordinates
    target = model.latent.coordinates[model.first]
    moved = np.empty_like(own)
    for low, high in zip(blocks.indptr[:-1], blocks.indptr[1:], strict=True):
        move = rigid_fit(own[low:high], target[blocks.members[low:high]])
        moved[low:high] = own[low:high] @ move.rotation + move.translation
    clique_of = np.repeat(np.arange(blocks.n_blocks), blocks.sizes)
    order = np.argsort(blocks.members, kind="stable")
    begin = np.searchsorted(blocks.members[order], np.arange(len(target) + 1))
    distinct = model.inverse[rows]
    found = [order[begin[u] : begin[u + 1]] for u in distinct]
    entries = np.concatenate(found) if found else np.zeros(0, dtype=np.intp)
    sizes = [len(one) for one in found]
    return {
        "start": packed(np.concatenate([[0], np.cumsum(sizes)]), "i4"),
        "clique": packed(clique_of[entries], "i4"),
        "at": packed(moved[entries]),
    }


def _worst(view: CliqueView, values: NDArray[np.float64]) -> dict[str, Any]:
    """Table of the points about which cliques disagree most."""
    worst = np.argsort(-values, kind="stable")[:_N_WORST]
    degree = np.diff(view.points.indptr)
    holding = np.bincount(view.solved.members, minlength=values.size)
    names = view.data.labels
    heads = ["row", *(["label"] if names is not None else []), "residual", "neighbours", "cliques"]
    rows = [
        [(int(r), str(r)), *([str(names[r])] if names is not None else []), float(values[r]),
         int(degree[r]), int(holding[r])]
        for r in worst
    ]  # fmt: skip
    return page.table(heads, rows, sortable=True)


def _merging(view: CliqueView) -> list[dict[str, Any]]:
    """First and last merges of the greedy merge."""
    order = view.model.merge_order_
    if order is None or len(order) == 0:
        return []
    shared = np.asarray(order, dtype=float)[:, 2]
    curve = Curve("shared", np.arange(1.0, shared.size + 1), shared, colors.ACCENT)
    chart = Chart("points shared at each merge", "merge", "points shared", (curve,))
    note = (
        "Merging goes from the largest overlap to the smallest; the smallest carry the most error."
    )
    return [drawn(chart, caption=note)]
