"""Graphs as files of other programs: GraphML, GEXF, and a list of edges."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import graph as graphs
from .._base.files import write_whole
from .._base.types import Floats
from .._base.validation import as_array, one_each, one_of, validate
from ._sequence import as_texts
from ._stability import Stability

FORMATS = (".graphml", ".gexf", ".csv", ".tsv")
"""Ends of the names of files that `export` writes."""

# What XML 1.0 cannot hold: no program could open the file.
_NOT_XML = re.compile(r"[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


@validate(g=graphs.check_graph)
def export(
    path: str | os.PathLike[str],
    g: graphs.CsrGraph,
    *,
    names: Sequence[Any] | None = None,
    stability: Stability | None = None,
    nodes: Mapping[str, ArrayLike] | None = None,
) -> Path:
    """Write a graph for Gephi, Cytoscape, networkx or a spreadsheet.

    The end of the name is the format: ``.graphml``, ``.gexf``, or ``.csv`` and ``.tsv`` for a list
    of edges (``source``, ``target``, ``weight`` and, if known, ``stability``), in which a point
    without edges is joined to itself.

    Parameters
    ----------
    path : str or path-like
        File to write, whole or not at all.
    g : CsrGraph
        The graph.
    names : sequence of length n_points, optional
        Names of the points: the attribute ``name``, in GEXF the label as well. Points keep their
        numbers, so that equal names stay apart.
    stability : Stability, optional
        What `stability` returned for this graph: the attribute ``stability`` of the edges.
    nodes : mapping of str to (n_points,) array_like, optional
        Further attributes of the points, such as labels or coordinates.

    Returns
    -------
    pathlib.Path
        The file written.

    Raises
    ------
    ValueError
        If the format is not known, or names, attributes or stability are of another graph.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import numpy as np
    >>> from ikd_graph import cliques, graph
    >>> pair = graph.from_edges(2, np.array([0]), np.array([1]), np.array([0.9]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = cliques.export(folder + "/pair.graphml", pair, names=["a", "b"])
    ...     again = nx.read_graphml(path, node_type=int)
    >>> again.nodes[1], again.edges[0, 1]
    ({'name': 'b'}, {'weight': 0.9})
    """
    ending = one_of(FORMATS)("the end of path", Path(path).suffix.lower())
    return write_whole(path, graph_text(g, ending, names, stability, nodes or {}))


def graph_text(
    g: graphs.CsrGraph,
    ending: str,
    names: Sequence[Any] | None,
    stability: Stability | None,
    nodes: Mapping[str, ArrayLike],
) -> str:
    """Return what `export` writes into a file whose name has an end."""
    if ending in (".csv", ".tsv"):
        separator = "," if ending == ".csv" else "\t"
        return edge_list(g, names=names, stability=stability, separator=separator)
    import networkx as nx

    G = networkx_graph(g, names, stability, nodes)
    if ending == ".graphml":
        return "\n".join(nx.generate_graphml(G)) + "\n"
    for node, data in G.nodes(data=True):
        # What Gephi shows next to a point.
        data["label"] = data.get("name", str(node))
    return "\n".join(nx.generate_gexf(G)) + "\n"


def edge_list(
    g: graphs.CsrGraph,
    *,
    names: Sequence[Any] | None = None,
    stability: Stability | None = None,
    separator: str = ",",
) -> str:
    """Write the edges as text, a line for each.

    Parameters
    ----------
    g, names, stability
        As in `export`.
    separator : str
        Between two cells.

    Returns
    -------
    str
        Lines ``source``, ``target``, ``weight`` and, if known, ``stability``. A point without edges
        is joined to itself, by 1.
    """
    import pandas as pd

    called = as_texts(names, g.n_nodes)
    low, high, weights = graphs.edges(g)
    columns = {"source": called[low], "target": called[high], "weight": weights}
    if stability is not None:
        columns["stability"] = _stability_of(g, stability)
    alone = called[np.diff(g.indptr) == 0]
    loops = pd.DataFrame({**dict.fromkeys(columns, 1.0), "source": alone, "target": alone})
    table = pd.concat([pd.DataFrame(columns), loops])
    return str(table.to_csv(sep=separator, index=False, lineterminator="\n"))


def networkx_graph(
    g: graphs.CsrGraph,
    names: Sequence[Any] | None,
    stability: Stability | None,
    nodes: Mapping[str, ArrayLike],
) -> Any:
    """Graph with all attributes as plain values that files can hold."""
    import networkx as nx

    G = graphs.to_networkx(g)
    if names is not None:
        one_each("names", names, g.n_nodes)
        nodes = {"name": [*map(str, names)], **nodes}
    for title, values in nodes.items():
        column = as_array(title, values)
        one_each(title, column, g.n_nodes)
        # Numbers of one kind or text, as files declare an attribute.
        plain = column.tolist() if column.dtype.kind in "biuf" else [*map(_text, column.tolist())]
        nx.set_node_attributes(G, dict(enumerate(plain)), _text(title))
    if stability is not None:
        low, high, _ = graphs.edges(g)
        stays = zip(low.tolist(), high.tolist(), _stability_of(g, stability).tolist(), strict=True)
        nx.set_edge_attributes(G, {(a, b): value for a, b, value in stays}, "stability")
    return G


def _text(value: Any) -> str:
    """Return a text that XML can hold, other letters spelt out."""
    return _NOT_XML.sub(lambda found: f"\\x{ord(found[0]):02x}", str(value))


def _stability_of(g: graphs.CsrGraph, stability: Stability) -> Floats:
    """Stability of each edge of the graph that it was estimated of."""
    other = stability.graph
    same = np.array_equal(other.indptr, g.indptr) and np.array_equal(other.indices, g.indices)
    if not same:
        raise ValueError(
            "stability must be that of this graph, got one of other edges; pass stability.graph "
            "for g"
        )
    return stability.edges
