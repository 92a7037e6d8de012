"""Picture of the graph of cliques."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import colors
from ..network import network
from .style import SMALL, bare, drawing_axes

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
        c=_node_colors(labels, names, len(net.radii)),
        edgecolors="white",
        linewidths=0.7,
        zorder=2,
    )
    bare(ax)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.06)
    if labels is not None and (names is not None or not colors.is_quantity(labels)):
        _legend(ax, colors.group(labels, names))
    return ax


def _node_colors(labels: Any, names: Any, n_nodes: int) -> list[str]:
    """Colour of each clique."""
    if labels is None:
        return [colors.ACCENT] * n_nodes
    if names is None and colors.is_quantity(labels):
        return colors.ramp(labels)
    return [colors.class_color(code) for code in colors.group(labels, names).codes]


def _legend(ax: Axes, groups: colors.Groups) -> None:
    """Classes beside the picture."""
    handles = [
        ax.scatter([], [], s=42, c=colors.class_color(code), linewidths=0, label=groups.names[code])
        for code in np.unique(groups.codes)
        if code >= 0
    ]
    ax.legend(
        handles=handles,
        title="most members",
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.0,
        frameon=False,
        fontsize=SMALL,
        labelcolor=colors.INK,
        handletextpad=0.3,
        ncols=1 + (len(handles) - 1) // 20,
        alignment="left",
    )
