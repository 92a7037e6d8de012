"""Picture of the graph of cliques."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .. import colors
from ..network import network
from .style import bare, class_legend, color_map, drawing_axes

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes


def clique_graph(
    graph: nx.Graph,
    labels: Any = None,
    *,
    positions: ArrayLike | None = None,
    names: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Cliques as discs joined where they share points.

    The area of a disc grows with the size of its clique, the strength of a line with the number of
    shared points. Where there are too many lines to tell apart, only the strongest of each clique
    and those that hold the graph together are drawn. The picture is the same on every run.

    Parameters
    ----------
    graph : networkx.Graph
        Cliques as nodes with attribute ``size``; edges with attribute ``overlap``, the number of
        shared points (``ikd_graph.cliques.clique_graph``).
    labels : array-like of shape (n_cliques,), optional
        Most frequent class among the members of each clique, or a quantity.
    positions : array-like of shape (n_cliques, 2), optional
        Where the cliques stand, such as the mean coordinates of their members; by default where a
        spring layout puts them.
    names : sequence of str, optional
        Names of the classes, when labels are their positions in this sequence.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into and to return; by default those of a new figure.
    """
    from matplotlib.collections import LineCollection

    ax = drawing_axes(ax)
    net = network(graph, positions)
    paint = colors.paint(labels, names, title="most members")
    lines = LineCollection(
        list(net.places[net.ends]),
        linewidths=0.4 + 2.2 * net.strength,
        colors=[(0.55, 0.58, 0.63, max(0.05, net.fade * (0.2 + 0.35 * s))) for s in net.strength],
        zorder=1,
    )
    ax.add_collection(lines)
    ax.scatter(
        net.places[:, 0],
        net.places[:, 1],
        s=(1.5 * net.radii) ** 2,
        **_shade(paint),
        edgecolors="white",
        linewidths=0.7,
        zorder=2,
    )
    bare(ax)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.06)
    if paint.groups is not None:
        class_legend(ax, paint.groups, paint.title)
    return ax


def _shade(paint: colors.Paint) -> dict[str, Any]:
    """Colours of discs as matplotlib takes them."""
    if paint.values is not None:
        return {"c": paint.values, "cmap": color_map(paint)}
    return {"c": colors.ACCENT if paint.groups is None else paint.groups.shades}
