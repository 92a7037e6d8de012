"""Scatters and graphs of cliques as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import colors
from ..layout import backbone, place_nodes

if TYPE_CHECKING:
    import networkx as nx

MOST_POINTS = 4000
"""Points of one picture: a browser stays quick, and more would only lie on top of each other."""
_PASSES = 4


def sample_rows(codes: NDArray[np.intp], most: int = MOST_POINTS) -> NDArray[np.intp]:
    """Rows to draw: all while they are few, else a sample that keeps every class in proportion.

    Returns at most ``most`` row numbers, ascending.
    """
    if codes.size <= most:
        return np.arange(codes.size)
    shuffled = np.random.default_rng(0).permutation(codes.size)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return np.sort(by_class[np.linspace(0, codes.size - 1, most).astype(np.intp)])


def scatter(
    Z: ArrayLike,
    paint: colors.Groups | Sequence[str],
    *,
    rows: NDArray[np.intp] | None = None,
    title: str = "scatter",
    height: float = 460.0,
    radius: float | None = None,
) -> str:
    """Scatter whose points know their row and class, so that the page can link them.

    ``paint`` holds classes, or a colour for each point. The first two coordinates are drawn, a
    single one against the row order; ``rows`` alone are drawn (None is all). ``title`` is what a
    screen reader says, ``height`` is for a width of 600.
    """
    points = np.asarray(Z, dtype=np.float64)
    points = points[:, None] if points.ndim == 1 else points
    kept = np.arange(points.shape[0]) if rows is None else rows
    alone = points.shape[1] == 1
    xy = np.column_stack([np.arange(len(points)), points[:, 0]]) if alone else points[:, :2]
    xy = _fit(xy[kept], 600.0, height, 14.0, keep_aspect=not alone)
    size = radius or float(np.clip(90.0 / np.sqrt(max(kept.size, 1)), 1.3, 6.0))
    if isinstance(paint, colors.Groups):
        marks = _class_marks(xy, kept, paint.codes)
    else:
        marks = [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" data-i="{row}" fill="{paint[row]}"/>'
            for (x, y), row in zip(xy.tolist(), kept.tolist(), strict=True)
        ]
    return (
        f'<svg class="points" viewBox="0 0 600 {height:.0f}" role="img" '
        f'aria-label="{escape(title)}" style="--r:{size:.1f}px">{"".join(marks)}</svg>'
    )


def _class_marks(xy: Any, kept: Any, codes: NDArray[np.intp]) -> list[str]:
    """Circles grouped by class, in a few passes so that the last class does not cover the rest."""
    order = np.random.default_rng(0).permutation(kept.size)
    marks = []
    for part in np.array_split(order, _PASSES):
        for code in np.unique(codes[kept[part]]):
            chosen = part[codes[kept[part]] == code]
            inside = "".join(
                f'<circle cx="{xy[k, 0]:.1f}" cy="{xy[k, 1]:.1f}" data-i="{kept[k]}"/>'
                for k in chosen
            )
            marks.append(f'<g data-k="{code}" fill="{colors.class_color(code)}">{inside}</g>')
    return marks


def network(
    graph: nx.Graph,
    groups: colors.Groups | None = None,
    *,
    positions: ArrayLike | None = None,
    notes: Sequence[str] = (),
    most_edges: int = 3000,
) -> str:
    """Cliques as discs (area: size) joined by lines (strength: shared points).

    Nodes have ``size``, edges ``overlap``. The layout starts from ``positions``, ``notes`` are
    shown under the pointer, and only the ``most_edges`` strongest edges are drawn.
    """
    start = None if positions is None else np.asarray(positions, dtype=float)[:, :2]
    graph = backbone(graph)
    places = place_nodes(graph, start)
    xy = _fit(places, 600.0, 460.0, 26.0, keep_aspect=True)
    row_of = {node: row for row, node in enumerate(graph)}
    edges = sorted(graph.edges.data("overlap", default=1), key=lambda edge: edge[2])[-most_edges:]
    top = float(edges[-1][2]) if edges else 1.0
    fade = min(1.0, 6.0 * len(row_of) / max(len(edges), 1)) ** 0.5
    lines = []
    for a, b, shared in edges:
        (x1, y1), (x2, y2) = xy[row_of[a]], xy[row_of[b]]
        strength = shared / top
        lines.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke-width="{0.5 + 2.5 * strength:.1f}" '
            f'stroke-opacity="{max(0.06, fade * (0.2 + 0.35 * strength)):.2f}"/>'
        )
    sizes = np.array([float(s) for _, s in graph.nodes.data("size", default=1)])
    widest = float(np.clip(110.0 / np.sqrt(max(len(row_of), 1)), 5.0, 17.0))
    radii = np.maximum(widest * np.sqrt(sizes / sizes.max(initial=1.0)), 2.2)
    discs = []
    for row, ((x, y), r) in enumerate(zip(xy.tolist(), radii.tolist(), strict=True)):
        code = -2 if groups is None else int(groups.codes[row])
        fill = colors.ACCENT if groups is None else colors.class_color(code)
        note = f"<title>{escape(notes[row])}</title>" if row < len(notes) else ""
        discs.append(
            f'<g data-k="{code}"><circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{fill}">'
            f"{note}</circle></g>"
        )
    return (
        '<svg class="network" viewBox="0 0 600 460" role="img" aria-label="graph of cliques">'
        f'<g class="links">{"".join(lines)}</g>{"".join(discs)}</svg>'
    )


def _fit(
    xy: NDArray[np.float64], width: float, height: float, margin: float, keep_aspect: bool
) -> NDArray[np.float64]:
    """Places in a box of the picture, the second axis growing upwards."""
    if xy.size == 0:
        return xy
    low, span = xy.min(axis=0), np.ptp(xy, axis=0)
    room = np.array([width - 2 * margin, height - 2 * margin])
    scale = room / np.where(span > 0, span, 1.0)
    if keep_aspect:
        scale = np.full(2, scale[span > 0].min() if np.any(span > 0) else 1.0)
    inside = (xy - low - span / 2) * scale * np.array([1.0, -1.0])
    return inside + np.array([width / 2, height / 2])
