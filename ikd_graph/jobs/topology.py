"""Connected components, loops and voids of a table, a similarity or a graph, with p values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.utils.validation import check_is_fitted

from .._base.as_table import row_names
from .._base.format import format_number
from .._base.table import evenly_spaced, some_rows
from .._base.types import Floats, Integers
from .._base.validation import naming_rows, whole
from .._base.warn import no_warnings
from ..chance import LEVEL
from ..datasets import Dataset
from ..estimator import IKD
from ..graph import CsrGraph
from ..similarity import GIVEN, Similarity, check_pairs
from ._given import as_dataset, given_graph
from ._persistence import PAIRS, PAIRS_OF_VOIDS, cycle, loops_or_voids, pieces
from .topology_result import Complex, Topology

__all__ = ["Topology", "topology"]

_ROWS, _ROWS_OF_VOIDS = 1000, 300
"""Rows whose loops, and voids, are sought; of more, as many evenly spaced ones are looked at."""

_FEWEST = 4
"""Points that a loop has at least."""


def topology(X: Any, *, n_components: int = 2, voids: bool = True, **settings: Any) -> Topology:
    """Count the connected components, loops and voids of a table, a graph or a fitted model.

    Points are joined as their dissimilarity allows, the most similar pairs first, and all cliques
    are filled in. A loop, or a void, that stays open for longer than chance leaves open has a
    small p value: that of the universal null of persistent homology (Bobrowski and Skraba,
    Scientific Reports 2023) for the largest of so many. Two complexes are looked at, and both
    count in a p value: of the rows as the fit compares them, and of their map with one dimension
    more than the coordinates. Components are parts of at least 5 % of the rows that lie further
    apart than the gaps of one connected curve do.

    Parameters
    ----------
    X : array_like, DataFrame, Dataset, networkx.Graph, scipy sparse, CsrGraph or IKD
        A table, whose rows are points; a similarity of all pairs with ``affinity="precomputed"``
        or ``"precomputed_distance"``; a graph of networkx, a square sparse matrix or a `CsrGraph`,
        whose edges are taken as they are; or a fitted `IKD`, whose rows are compared as it did.
        Of more than 1 000 rows as many evenly spaced ones are looked at, for voids 300. The
        dissimilarity of rows is their distance as they are compared, ``sqrt(2 - 2 r)`` of
        correlations; of nodes it is 1 / weight, so that strong edges come first, and pairs without
        an edge are never joined. Without weights all edges are there at once: features are those of
        the clique complex itself, and have no p values.
    n_components : int
        Coordinates of the map, which gets one more. A fitted model brings its own.
    voids : bool
        Whether to look for voids: a second of 300 rows, up to a minute of a dense graph.
    **settings
        Parameters of `IKD` for a table or a similarity: ``affinity``, ``missing``, ``graph``, ...
        By default ``strategy="geodesic"`` and ``refine="stress"``, and the columns choose the rest.

    Returns
    -------
    Topology
        Prints what was found; ``betti_numbers``, ``n_loops``, ``features`` (a table),
        ``circular_coordinate(k)``, ``plot()``.

    Raises
    ------
    ImportError
        If ripser, the extra ``topology``, is not installed.
    ValueError
        If X is none of these, a setting does not apply to it, it has fewer than 4 points, or it is
        a graph of more than 1 000 nodes or 100 000 edges (20 000 with voids).

    Notes
    -----
    The null is that of independent rows: of tables whose rows follow one another with a correlation
    of .9 one in five has a loop. Few rows have few loops to compare one with: rings of 80 rows or
    fewer are often missed (docs/decisions/026-topology.md).

    Examples
    --------
    >>> import numpy as np
    >>> import ikd_graph
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 200)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> found = ikd_graph.topology(ring)
    >>> found.betti_numbers
    (1, 1, 0)
    >>> found.circular_coordinate().shape
    (200,)

    A graph of networkx; this one has edges without weights:

    >>> import networkx as nx
    >>> ikd_graph.topology(nx.cycle_graph(6)).betti_numbers
    (1, 1, 0)
    """
    whole(1)("n_components", n_components)
    fitted: IKD | None = X if isinstance(X, IKD) else None
    table: Any = X.X if isinstance(X, Dataset) else X
    given = None if "affinity" in settings or fitted else given_graph(table)
    if (given or fitted) and settings:
        raise ValueError(
            f"X must be a table or a similarity to be worked with by settings, got a "
            f"{type(X).__name__} with {', '.join(settings)}; what is given is looked at as it is"
        )
    names: Sequence[Any] = row_names(X)
    if fitted is not None:
        check_is_fitted(fitted)
        fitted = fitted._of_fitted_rows()
        if fitted.model_.similarity.is_graph:
            assert fitted.graph_ is not None
            given = fitted.graph_, tuple(names)
        else:
            table, settings = _as_compared(fitted)
            n_components = fitted.n_components_
    if given:
        return _of_graph(given[0], names if len(names) else given[1], voids)
    if fitted is None:
        data = as_dataset(X, settings.get("affinity") in GIVEN)
        table, names = data.X, data.row_names
        if settings.get("affinity") in GIVEN:
            check_pairs(table, settings["affinity"])
            if sp.issparse(table) and table.nnz < table.shape[0] * (table.shape[0] - 1):
                # Pairs that are not known are never joined.
                if settings["affinity"] == "precomputed_distance":
                    table = table.power(-1.0)
                known = given_graph(table)
                assert known is not None
                return _of_graph(known[0], names, voids)
    whole(_FEWEST, cure="fewer have no loop")("the number of rows of X", table.shape[0])
    chosen = evenly_spaced(table.shape[0], _ROWS)
    rows = some_rows(table, chosen)
    rows = rows[:, chosen] if settings.get("affinity") in GIVEN else rows
    options = {"strategy": "geodesic", "refine": "stress", **settings}
    with no_warnings(), naming_rows([names[k] for k in chosen] if len(names) else ()):
        # The map is a means: what its fit warns of are its coordinates.
        own = IKD(n_components + 1, **options).fit(rows)
    # Loops and voids of the map, and loops of the rows, whether voids are sought or not.
    model, n_tests = own.model_, 3
    of_map = squareform(pdist(model.points))
    complexes = (
        _complex("rows", _distances(model.similarity), n_tests),
        _complex("map", of_map, n_tests, _ROWS_OF_VOIDS if voids else 0),
    )
    points = chosen[model.first]
    return Topology(
        _features(complexes, points, names), complexes, points, model.inverse, chosen, table, own,
        fitted,
    )  # fmt: skip


def topology_of(X: Any) -> Topology | None:
    """Return pieces and loops of what `topology` takes; None without ripser, or of too much."""
    with suppress(ImportError, ValueError):
        return topology(X, voids=False)
    return None


def _as_compared(fitted: IKD) -> tuple[Any, dict[str, Any]]:
    """Return the table of a fitted model, or values between its rows, and how it compares them."""
    model = fitted.model_
    settings = {"affinity": model.settings.affinity, "missing": fitted.missing}
    if model.rows is not None:
        return getattr(model.rows, "stored", model.rows), settings
    similarity = model.similarity
    is_distance = similarity.affinity.euclidean
    values = _distances(similarity) if is_distance else similarity.matrix()
    return values[np.ix_(model.inverse, model.inverse)], settings


def _distances(similarity: Similarity) -> Floats:
    """Return how far points are apart as they are compared, (u, u); inf if it is not known."""
    squares = np.maximum(2.0 - 2.0 * similarity.matrix(), 0.0)
    np.fill_diagonal(squares, 0.0)
    return similarity.unit * np.sqrt(squares)


def _complex(of: str, dissimilarity: Floats, n_tests: int, rows_of_voids: int = 0) -> Complex:
    """Return the features of a complex; voids are those of so many of its points."""
    # Of pieces there are two tests, whether voids are sought or not.
    features = [pieces(dissimilarity, min(n_tests, 2))]
    features.append(loops_or_voids(dissimilarity, 1, PAIRS, n_tests))
    if rows_of_voids:
        few = evenly_spaced(len(dissimilarity), rows_of_voids)
        part = dissimilarity[np.ix_(few, few)]
        features.append(loops_or_voids(part, 2, PAIRS_OF_VOIDS, n_tests))
    return Complex(of, dissimilarity, features)


def _of_graph(g: CsrGraph, names: Sequence[Any], voids: bool) -> Topology:
    """Return the topology of the clique complex of a graph, the strongest edges first."""
    whole(_FEWEST, cure="fewer have no loop")("the number of nodes", g.n_nodes)
    most = PAIRS_OF_VOIDS if voids else PAIRS
    if g.n_nodes > _ROWS or g.n_edges > most:
        cure = f"; voids=False takes {format_number(PAIRS)} edges" * voids
        raise ValueError(
            f"a graph must have at most {format_number(_ROWS)} nodes and {format_number(most)} "
            f"edges, got {g.n_nodes} nodes and {g.n_edges} edges; pass its "
            f"densest part (networkx.k_core), or the table that it is made of{cure}"
        )
    if g.n_edges and not g.weights.min() > 0.0:
        raise ValueError(
            f"weights of edges must be positive, the strongest the largest, got "
            f"{g.weights.min():.3g}; weigh distances d by 1 / d"
        )
    dissimilarity = np.full((g.n_nodes, g.n_nodes), np.inf)
    dissimilarity[g.rows, g.indices] = 1.0 / g.weights
    np.fill_diagonal(dissimilarity, 0.0)
    every = np.arange(g.n_nodes)
    own = _complex("graph", dissimilarity, 1 + voids, g.n_nodes if voids else 0)
    return Topology(_features((own,), every, names), (own,), every, every, every)


def _features(
    complexes: tuple[Complex, ...], points: Integers, names: Sequence[Any]
) -> pd.DataFrame:
    """Return the table of the features of complexes, with the rows of X that they are of."""
    lines = []
    for own in complexes:
        for feature in chain(*own.features):
            rows = np.empty(0, np.int64)
            if feature.points is not None:
                rows = np.sort(points[feature.points])
            elif feature.cocycle is not None and not feature.p_value > LEVEL:
                rows = points[cycle(own.dissimilarity, feature)]
            named = [names[k] for k in rows.tolist()] if len(names) else rows.tolist()
            lines.append((feature.degree, own.of, *feature[1:4], named))
    columns = ["degree", "of", "birth", "death", "p_value", "rows"]
    # What is never joined or filled in comes first.
    order = {"by": ["degree", "p_value"], "kind": "stable", "na_position": "first"}
    return pd.DataFrame(lines, columns=columns).sort_values(**order, ignore_index=True)
