"""Cliques over time: those of windows of columns, followed from one window to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .. import graph as graphs
from .._threads import single_threaded_blas
from .._types import Integers
from .._validation import check_integer, validate
from ..covariance import correlation
from ..graph import CsrGraph
from ._search import maximal_cliques
from ._stability import GraphOf, check_varying, made_by, rule_of_correlations

if TYPE_CHECKING:
    import pandas as pd


_LIMIT = 20_000  # cliques that are listed in a window
_SAME = 0.5  # Jaccard index from which a clique is the one of the window before


class Followed(NamedTuple):
    """A clique in a window."""

    window: int
    clique: int  # number that it keeps from window to window
    status: str  # "appears", "stays" or "vanishes"
    members: NDArray[np.int32]  # of one that vanishes, those that it had


@dataclass(frozen=True)
class CliquesOverTime:
    """Cliques and links of windows of columns; see `over_time`.

    Attributes
    ----------
    starts, stops : (n_windows,) ndarray of int64
        First column of each window, and the one behind its last.
    n_edges, n_significant, n_cliques : (n_windows,) ndarray of int64
        Edges of the graph, significantly correlated pairs, and maximal cliques of the least size.
    followed : tuple of Followed
        Cliques in the order of the windows.
    n_points : int
        Number of rows.
    """

    starts: Integers
    stops: Integers
    n_edges: Integers
    n_significant: Integers
    n_cliques: Integers
    followed: tuple[Followed, ...]
    n_points: int

    def table(self, names: Sequence[Any] | None = None) -> tuple[list[str], list[list[Any]]]:
        """List what appears, stays and vanishes, as plain values.

        Parameters
        ----------
        names : sequence of length n_points, optional
            Names of the points; by default their numbers.

        Returns
        -------
        heads : list of str
            ``window``, ``start``, ``stop`` (columns of the table, the last one not in the window),
            ``edges``, ``significant``, ``clique``, ``status``, ``size`` and ``members``.
        rows : list of list
            A row for each clique in each window.
        """
        called = [*map(str, range(self.n_points) if names is None else names)]
        if len(called) != self.n_points:
            raise ValueError(
                f"names must be one for each of {self.n_points} points, got {len(called)}"
            )
        heads = ["window", "start", "stop", "edges", "significant"]
        heads += ["clique", "status", "size", "members"]
        counts = (self.starts, self.stops, self.n_edges, self.n_significant)
        rows = [
            [
                one.window,
                *(int(values[one.window]) for values in counts),
                one.clique,
                one.status,
                one.members.size,
                ", ".join(called[row] for row in one.members),
            ]
            for one in self.followed
        ]
        return heads, rows

    def to_pandas(self, names: Sequence[Any] | None = None) -> pd.DataFrame:
        """Make a table of what appears, stays and vanishes.

        Parameters
        ----------
        names : sequence of length n_points, optional
            Names of the points; by default their numbers.

        Returns
        -------
        pandas.DataFrame
            Columns as of `table`.
        """
        import pandas as pd

        heads, rows = self.table(names)
        return pd.DataFrame(rows, columns=heads)


def _rule_of_windows(name: str, value: Any) -> Any:
    """Return a threshold, a number of neighbors, or a function."""
    if isinstance(value, CsrGraph):
        raise ValueError(
            f"{name} must make a graph of each window, got {value!r}, which is one of all columns; "
            "pass its threshold, its number of neighbors, or a function of the correlations"
        )
    return rule_of_correlations(name, value)


@validate(
    X=check.table,
    graph=_rule_of_windows,
    window=check.whole(8),
    step=check.whole(1),
    min_size=check.whole(2),
    fdr=check.fraction,
)
def over_time(
    X: ArrayLike,
    graph: float | int | GraphOf,
    window: int,
    step: int,
    *,
    min_size: int = 3,
    fdr: float = 0.01,
) -> CliquesOverTime:
    """Follow the cliques of rows through windows of columns that are times.

    Of each window those maximal cliques are followed of which at most half the points are in a
    larger one. A clique is the one of the window before with which it shares at least half of the
    points of both together; each is continued once, the most similar first.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows, times in columns.
    graph : float, int or callable
        How rows are joined in a window, as in `stability`.
    window : int
        Number of columns of a window, at least 8.
    step : int
        Number of columns from one window to the next.
    min_size : int
        Smallest clique that is followed.
    fdr : float
        False discovery rate of the significant links, see `graph.significant_graph`.

    Returns
    -------
    CliquesOverTime
        Counts of each window, and what appears, stays and vanishes.

    Raises
    ------
    ValueError
        If the window is longer than the table, or a row is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import cliques
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(10, 300))
    >>> X[:4, :200] += 2.0 * rng.normal(size=200)  # four rows move together, then no more
    >>> found = cliques.over_time(X, 0.5, window=100, step=100)
    >>> [(one.window, one.status, one.members.tolist()) for one in found.followed]
    [(0, 'appears', [0, 1, 2, 3]), (1, 'stays', [0, 1, 2, 3]), (2, 'vanishes', [0, 1, 2, 3])]
    """
    rows = np.asarray(X, dtype=np.float64)
    starts = window_starts(rows.shape[1], window, step)
    counts: list[tuple[int, int, int]] = []
    followed: list[Followed] = []
    alive: dict[int, NDArray[np.int32]] = {}
    number = 0
    with single_threaded_blas():
        for at, start in enumerate(starts.tolist()):
            part = rows[:, start : start + window]
            check_varying(part, f" in columns {start} to {start + window - 1}")
            g = build_graph(graph, correlation(part))
            listed = maximal_cliques(g, min_size, limit=_LIMIT)
            significant = graphs.significant_graph(part, fdr).n_edges if len(rows) > 2 else 0
            counts.append((g.n_edges, significant, len(listed)))
            now = _apart(list(listed), len(rows))
            before, alive = alive, {}
            for members, known in zip(now, _continued(now, before), strict=True):
                status = "appears" if known is None else "stays"
                number, known = (number + 1, number) if known is None else (number, known)
                alive[known] = members
                followed.append(Followed(at, known, status, members))
            gone = (known for known in before if known not in alive)
            followed += [Followed(at, known, "vanishes", before[known]) for known in gone]
    edges, significant_links, found = np.array(counts, dtype=np.int64).T
    return CliquesOverTime(
        starts, starts + window, edges, significant_links, found, tuple(followed), len(rows)
    )


def window_starts(width: int, window: int, step: int) -> Integers:
    """First columns of all whole windows."""
    check_integer("window", window, 8, width, cure="the table has no more columns")
    return np.arange(0, width - window + 1, check_integer("step", step, 1))


def build_graph(graph: Any, corr: NDArray[np.float64]) -> Any:
    """Graph of correlations by a threshold, a number of neighbors, or a function."""
    if callable(graph):
        return made_by(graph, corr)
    if isinstance(graph, int):
        return graphs.neighbors(corr, min(graph, len(corr) - 1))
    return graphs.threshold(corr, graph)


def _apart(listed: list[NDArray[np.int32]], n_points: int) -> list[NDArray[np.int32]]:
    """Return cliques of which at most half the points are in a larger one, the largest first."""
    chosen: list[NDArray[np.int32]] = []
    inside = np.zeros((0, n_points), dtype=bool)
    for members in sorted(listed, key=lambda clique: (-clique.size, clique.tolist())):
        if 2 * inside[:, members].sum(axis=1).max(initial=0) <= members.size:
            row = np.zeros((1, n_points), dtype=bool)
            row[0, members] = True
            inside = np.vstack([inside, row])
            chosen.append(members)
    return chosen


def _continued(
    now: list[NDArray[np.int32]], before: dict[int, NDArray[np.int32]]
) -> list[int | None]:
    """Return the number of the clique before that each of now continues, None for a new one."""
    pairs = []
    for at, members in enumerate(now):
        for known, old in before.items():
            shared = np.intersect1d(members, old).size
            index = shared / (members.size + old.size - shared)
            if index >= _SAME:
                pairs.append((-index, at, known))
    continued: list[int | None] = [None] * len(now)
    taken: set[int] = set()
    for _, at, known in sorted(pairs):
        if continued[at] is None and known not in taken:
            continued[at] = known
            taken.add(known)
    return continued
