"""Communities: cliques that overlap almost wholly, taken together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._base import validation as check
from .._base.dataset import is_missing
from .._base.validation import validate
from ._describe import AnyCliques, incidence, joined, shared_points
from ._sequence import Blocks, Cliques, check_one_each

if TYPE_CHECKING:
    import pandas as pd


class Communities(Cliques):
    """Communities of points: a sequence of arrays of point numbers, the largest first.

    Communities may share points.

    Parameters
    ----------
    members : sequence of (k,) int arrays
        Points of each community, ascending.
    k : int
        Size of the cliques that percolate.
    n_points : int
        Number of points there are.
    """

    def __init__(self, members: Sequence[NDArray[np.int32]], k: int, n_points: int) -> None:
        super().__init__(members, n_points)
        self.k = k

    def __repr__(self) -> str:
        """Say how many there are, and how many points they hold."""
        held = np.unique(self.blocks.members).size
        found = f"{len(self)} communit{'y' if len(self) == 1 else 'ies'}"
        return f"{found} of {self.k}-cliques, {held} of {self.n_points} points"

    @property
    def labels(self) -> NDArray[np.int64]:
        """Community of each point, (n_points,): the largest that holds it, -1 for none."""
        labels = np.full(self.n_points, -1, dtype=np.int64)
        for number in reversed(range(len(self))):
            labels[self[number]] = number
        return labels

    def to_pandas(
        self, names: Sequence[Any] | None = None, labels: Sequence[Any] | None = None
    ) -> pd.DataFrame:
        """Make a table, a row for each community, the largest first.

        Parameters
        ----------
        names : sequence of length n_points, optional
            Names of the points; by default their numbers.
        labels : sequence of length n_points, optional
            Label of each point; the table counts them.

        Returns
        -------
        pandas.DataFrame
            Columns ``community``, ``size``, ``members`` and, with labels, ``labels``.
        """
        import pandas as pd

        for what, given in (("names", names), ("labels", labels)):
            if given is not None:
                check_one_each(what, given, self.n_points)
        called = np.array([*map(str, range(self.n_points) if names is None else names)], object)
        members = [", ".join(called[points]) for points in self]
        table = pd.DataFrame(
            {"community": range(len(self)), "size": self.sizes, "members": members}
        )
        if labels is not None:
            words = np.array([*map(str, labels)], object)
            counted = [Counter(words[points].tolist()).most_common() for points in self]
            table["labels"] = [", ".join(f"{name} × {n}" for name, n in each) for each in counted]
        return table

    def compare(self, labels: Sequence[Any]) -> dict[str, float]:
        """Compare the communities with labels of the points.

        Parameters
        ----------
        labels : sequence of length n_points
            Label of each point; None, NaN and NA are no labels.

        Returns
        -------
        dict of str to float
            ``adjusted_rand``: agreement of labels and communities, 0 by chance and 1 where they are
            the same (Hubert and Arabie 1985); ``purity``: fraction of points with the most frequent
            label of their community; both over ``covered``, the fraction of the labeled points that
            are in a community. A point of several counts for the largest.
        """
        from sklearn.metrics import adjusted_rand_score
        from sklearn.metrics.cluster import contingency_matrix

        check_one_each("labels", labels, self.n_points)
        # By position, whatever index a series has.
        given = list(labels)
        known = np.array([not is_missing(label) for label in given], dtype=bool)
        held = known & (self.labels >= 0)
        if not held.any():
            return {"adjusted_rand": 0.0, "purity": 0.0, "covered": 0.0}
        truth = [str(given[point]) for point in np.flatnonzero(held).tolist()]
        own = self.labels[held]
        return {
            "adjusted_rand": float(adjusted_rand_score(truth, own)),
            "purity": float(contingency_matrix(truth, own).max(axis=0).sum() / own.size),
            "covered": float(held.sum() / known.sum()),
        }


@validate(k=check.whole(2))
def communities(cliques: AnyCliques, k: int = 3, *, n_points: int | None = None) -> Communities:
    """Find communities by percolation of k-cliques (Palla, Derényi, Farkas and Vicsek 2005).

    Maximal cliques of at least k points that share k - 1 belong together; a community is the union
    of all that hang together.

    Parameters
    ----------
    cliques : Cliques or iterable of (k,) int arrays
        All maximal cliques of a graph, see `maximal_cliques`; of some, communities may fall apart.
    k : int
        Size of the cliques that percolate, from 2: with 2 communities are the components of the
        graph; larger ones are smaller and denser.
    n_points : int, optional
        Number of points there are; by default that of the cliques.

    Returns
    -------
    Communities
        The communities, the largest first, those of a size by their first points.

    References
    ----------
    G. Palla, I. Derényi, I. Farkas and T. Vicsek, Uncovering the overlapping community structure of
    complex networks in nature and society, Nature 435, 2005.

    Examples
    --------
    >>> from ikd_graph import cliques
    >>> found = cliques.communities([[0, 1, 2], [1, 2, 3], [3, 4, 5]], k=3)
    >>> found
    2 communities of 3-cliques, 6 of 6 points
    >>> [members.tolist() for members in found]
    [[0, 1, 2, 3], [3, 4, 5]]
    """
    every = Cliques(cliques, n_points)
    starts, entries = every.blocks.entries(np.flatnonzero(every.sizes >= k))
    large = Blocks(starts, every.blocks.members[entries])
    group: NDArray[np.integer] = np.arange(large.n_blocks)
    for rows, columns, shared in shared_points(incidence(large, every.n_points)):
        enough = shared >= k - 1
        group = joined(group, rows[enough], columns[enough])
    owner = np.repeat(group, large.sizes)
    members = large.members[np.argsort(owner, kind="stable")]
    parts = np.split(members, np.cumsum(np.bincount(owner))[:-1])
    found = [np.unique(part) for part in parts if part.size]
    found.sort(key=lambda members: (-members.size, members.tolist()))
    return Communities(found, k, every.n_points)
