"""Placing new rows in a latent that has been found.

A new row is compared with the training rows, walks through its nearest ones to the landmarks along
the training geodesics, and is put where Gower's interpolation puts a point with those squared
distances: z* = b - 1/2 pinv(Z_L) d*^2. Each row is placed by itself, in closed form.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from . import landmarks
from ._threads import map_blocks
from .covariance import FLOOR
from .kernels import StationaryKernel

Floats = NDArray[np.float64]

MAX_LANDMARKS = 1000
"""Landmarks that new rows are placed by where all points were solved."""

THRESHOLD_WAYS = 40
"""Most training rows above a threshold that a new row walks through, nearest first."""

CHUNK_BYTES = 32 * 2**20
"""Size of the covariances of new rows with training rows that are held at a time, per thread."""

CHUNK_ROWS = 256
"""New rows that are compared at a time where their covariances are products of rows."""

# So many training rows are compared at a time: their products stay in the cache of a processor.
_TILE = 2048

# So many more candidates are looked at closely than there are neighbours to be found.
_SPARE = 8


@dataclass(frozen=True)
class Placement:
    """All that placing a new row needs, in plain arrays."""

    kernel: StationaryKernel
    path: str  # "direct" (eigen), "distance" or "covariance"
    n_neighbors: int  # training rows that a new row may walk through
    threshold: float  # smallest covariance of such a row, unless it is the nearest
    latent: Floats  # (n, m)
    nodes: NDArray[np.int64]  # (l,) training rows that are landmarks
    lengths: NDArray[np.floating] | None  # (l, n) from landmarks; None: those of the latent itself
    gower: Floats  # (m, l) half the pseudo-inverse of the centred landmark latent
    origin: Floats  # (m,)
    n_candidates: int = 0  # nearest training rows, of which mutual ones come first
    reach: Floats | None = None  # (n,) covariance from which a row is near each training row


def prepare(
    latent: Floats,
    sq_dist: Floats | None,
    solved: landmarks.Landmarks | None = None,
    *,
    kernel: StationaryKernel,
    path: str,
    n_neighbors: int,
    threshold: float | None = None,
) -> Placement:
    """Keep what placing new rows needs.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Training latent.
    sq_dist : (n, n) ndarray of float64 or None
        Squared distances the latent came from; None takes those of the latent itself (merged
        cliques, components laid side by side).
    solved : Landmarks or None
        Landmarks the latent came from.
    kernel : StationaryKernel
        The kernel.
    path : {"direct", "distance", "covariance"}
        How a new row reaches the landmarks.
    n_neighbors : int
        Training rows a new row may walk through.
    threshold : float or None
        Smallest covariance of such a row.

    Returns
    -------
    Placement
        Plain arrays.
    """
    low = -np.inf if threshold is None else threshold
    if solved is not None:
        lengths = None if path == "direct" else solved.lengths
        nodes, gower, origin = solved.nodes, solved.gower, solved.origin
        return Placement(kernel, path, n_neighbors, low, latent, nodes, lengths, gower, origin)
    n = latent.shape[0]
    count = min(n, MAX_LANDMARKS)
    if sq_dist is None:
        spread = np.linspace(0, n - 1, count).astype(np.int64)
        nodes = np.sort(np.lexsort(latent.T[::-1])[spread])
        to_landmarks = cdist(latent[nodes], latent, "sqeuclidean")
        kept = None
    else:
        nodes = farthest_points(sq_dist, count)
        to_landmarks = sq_dist[nodes]
        direct = path == "direct"
        kept = None if direct else landmarks.lengths_of_squares(kernel, path, to_landmarks)
    gower, origin = landmarks.gower_map(latent, to_landmarks, nodes)
    return Placement(kernel, path, n_neighbors, low, latent, nodes, kept, gower, origin)


def walkable(n_neighbors: int, *, trusted: bool, threshold: float | None) -> int:
    """Number of training rows that a new row may walk through.

    On the model many ways average the errors of covariances. Off it their values say little but
    their order does, and of many ways the shortest is one that cuts across a fold.

    Parameters
    ----------
    n_neighbors : int
        Neighbours in the graph.
    trusted : bool
        Whether the data look like draws of the model.
    threshold : float or None
        Threshold of the graph.

    Returns
    -------
    int
        At least 1.
    """
    if not trusted:
        return 1
    return 2 * n_neighbors if threshold is None else max(THRESHOLD_WAYS, 2 * n_neighbors)


def reaches(rows: NDArray[np.floating], others: NDArray[np.floating], count: int) -> Floats:
    """Covariance of each training row with the last of its nearest.

    Parameters
    ----------
    rows, others : (n, p) ndarray of float
        Scaled rows whose products are the covariances, often the same array twice.
    count : int
        Number of nearest rows, the row itself not counted.

    Returns
    -------
    (n,) ndarray of float64
        A new row with a larger one would be among the nearest of the training row.
    """
    reach = np.empty(rows.shape[0])

    def find(start: int, stop: int) -> None:
        reach[start:stop] = _nearest_rows(rows[start:stop], others, count + 1)[1][:, -1]

    map_blocks(find, rows.shape[0], CHUNK_ROWS)
    return reach


class Reach:
    """What `reaches` finds for training rows, looked up when it is first asked for.

    Parameters
    ----------
    rows : (n, p) ndarray of float
        Scaled training rows, kept.
    count : int
        Number of nearest rows, the row itself not counted.
    """

    def __init__(self, rows: NDArray[np.floating], count: int) -> None:
        self.count = count
        self._rows = rows
        self._values: Floats | None = None

    @property
    def values(self) -> Floats:
        """Covariance from which a new row is among the nearest of each training row, (n,)."""
        if self._values is None:
            self._values = reaches(self._rows, self._rows, self.count)
        return self._values


def farthest_points(sq_dist: Floats, count: int) -> NDArray[np.int64]:
    """Landmarks by farthest-point (max-min) selection, independent of the order of the rows.

    Parameters
    ----------
    sq_dist : (n, n) ndarray of float64
        Squared distances.
    count : int
        Number of landmarks, at most n.

    Returns
    -------
    (count,) ndarray of int64
        Indices, sorted.
    """
    n = sq_dist.shape[0]
    if count >= n:
        return np.arange(n)
    chosen = [int(np.argmin(sq_dist.mean(axis=1)))]
    nearest = sq_dist[chosen[0]].copy()
    while len(chosen) < count:
        chosen.append(int(np.argmax(nearest)))
        np.minimum(nearest, sq_dist[chosen[-1]], out=nearest)
    return np.sort(np.array(chosen, dtype=np.int64))


def row_keys(X: Any) -> list[bytes]:
    """Digest of every row, equal for equal rows.

    Parameters
    ----------
    X : (n, p) ndarray of float or scipy sparse
        Rows. Rows of a sparse and of a dense matrix are not compared with one another.

    Returns
    -------
    list of bytes
        One digest a row.
    """
    if sp.issparse(X):
        table = sp.csr_array(X)
        table.eliminate_zeros()
        table.sort_indices()
        ends = zip(table.indptr[:-1], table.indptr[1:], strict=True)
        columns, values = table.indices.astype(np.int64), table.data.astype(np.float64)
        return [
            _digest(columns[one:end].tobytes() + values[one:end].tobytes()) for one, end in ends
        ]
    keys = []
    for start in range(0, X.shape[0], 1024):
        # + 0.0 makes -0.0 the zero it equals.
        block = np.ascontiguousarray(X[start : start + 1024]) + 0.0
        keys += [_digest(row) for row in block]
    return keys


def _digest(data: Any) -> bytes:
    """Sixteen bytes that stand for many."""
    return hashlib.blake2b(data, digest_size=16).digest()


class KnownRows:
    """Which training row a row equals, if any.

    Parameters
    ----------
    rows : (n, p) ndarray of float or scipy sparse
        Training rows. A dense array is looked at when rows are first looked for, and kept; a
        sparse matrix is looked at now, and not kept.
    """

    def __init__(self, rows: Any) -> None:
        self._rows = None if sp.issparse(rows) else rows
        self._first = _first_of(row_keys(rows)) if sp.issparse(rows) else None

    def find(self, rows: Any) -> NDArray[np.int64]:
        """First training row that each row equals.

        Parameters
        ----------
        rows : (n_new, p) ndarray of float or scipy sparse
            Rows of the same type as the training rows.

        Returns
        -------
        (n_new,) ndarray of int64
            Index of the training row, -1 where there is none.
        """
        if self._first is None:
            self._first = _first_of(row_keys(self._rows))
        found = [self._first.get(key, -1) for key in row_keys(rows)]
        return np.array(found, dtype=np.int64)


def _first_of(keys: list[bytes]) -> dict[bytes, int]:
    """Index of the first row with each key."""
    known: dict[bytes, int] = {}
    for index, key in enumerate(keys):
        known.setdefault(key, index)
    return known


def chunk_rows(n_training: int) -> int:
    """Number of new rows whose covariances with all training rows are held at a time.

    Parameters
    ----------
    n_training : int
        Number of training rows.

    Returns
    -------
    int
        At least 1.
    """
    return int(max(1, min(1024, CHUNK_BYTES // (8 * max(n_training, MAX_LANDMARKS)))))


def place(
    placement: Placement,
    corr: NDArray[np.floating] | None,
    new_rows: NDArray[np.floating] | None = None,
    rows: NDArray[np.floating] | None = None,
) -> tuple[Floats, Floats]:
    """Latent of new rows from their covariances with the training rows.

    Parameters
    ----------
    placement : Placement
        What was kept of the fit.
    corr : (n_new, n) ndarray of float or None
        Covariances on the scale where the variance is 1; not looked at beside rows.
    new_rows, rows : (n_new, p) and (n, p) ndarray of float, or None
        Scaled rows whose products the covariances are. They are compared tile by tile, and the
        products that count are formed anew in double precision: those of a matrix product depend
        on how many rows it is made of.

    Returns
    -------
    latent : (n_new, m) ndarray of float64
        Where the rows are put.
    residual : (n_new,) ndarray of float64
        How badly a row fits in, in units of the latent: the distance to the nearest training row
        and the root mean square difference between the distances to the landmarks as measured and
        as placed, in quadrature.
    """
    kernel, k = placement.kernel, placement.n_neighbors
    looked_at = max(k, placement.n_candidates)
    if new_rows is not None and rows is not None:
        near, known = _nearest_rows(new_rows, rows, looked_at)
    else:
        assert corr is not None
        near, known = _nearest(corr, looked_at)
    if placement.reach is not None:
        near, known = _mutual_first(near, known, placement.reach)
    near, known = near[:, :k], known[:, :k]
    step = np.clip(known, FLOOR, 1.0)
    if placement.path == "direct":
        if new_rows is not None and rows is not None:
            anchors = rows[placement.nodes].astype(np.float64, copy=False)
            # Row by row: a vector times a matrix has the same bits whatever came with it.
            seen = np.array([anchors @ row for row in new_rows.astype(np.float64, copy=False)])
        else:
            assert corr is not None
            seen = corr[:, placement.nodes]
        sq_dist = kernel.sq_distance(np.clip(seen, FLOOR, 1.0))
    else:
        sq_dist = _walk(placement, near, step)
    latent = np.array([placement.origin - placement.gower @ row for row in sq_dist])
    found = cdist(latent, placement.latent[placement.nodes])
    misfit = np.mean((found - np.sqrt(sq_dist)) ** 2, axis=1)
    nearest = kernel.sq_distance(step[:, 0])
    return latent, np.sqrt(misfit + nearest)


def _nearest(corr: NDArray[np.floating], n_neighbors: int) -> tuple[NDArray[np.intp], Floats]:
    """Training rows most like each new row and their covariances, best first, (n_new, k) each."""
    k = min(n_neighbors, corr.shape[1])
    taken = min(k + _SPARE, corr.shape[1])
    near = np.argpartition(-corr, taken - 1, axis=1)[:, :taken]
    near.sort(axis=1)
    return _ordered(near, np.take_along_axis(corr, near, axis=1).astype(np.float64), k)


def _nearest_rows(
    new_rows: NDArray[np.floating], rows: NDArray[np.floating], n_neighbors: int
) -> tuple[NDArray[np.intp], Floats]:
    """The same from rows, in memory that does not grow with their number."""
    k = min(n_neighbors, rows.shape[0])
    taken = min(k + _SPARE, rows.shape[0])
    near = _candidates(new_rows.astype(rows.dtype, copy=False), rows, taken)
    near.sort(axis=1)
    known = np.empty(near.shape)
    for at, row in enumerate(new_rows.astype(np.float64, copy=False)):
        known[at] = rows[near[at]].astype(np.float64, copy=False) @ row
    return _ordered(near, known, k)


def _ordered(near: NDArray[np.intp], known: Floats, k: int) -> tuple[NDArray[np.intp], Floats]:
    """The k best of some candidates, best first; of equals the one with the lower index."""
    order = np.argsort(-known, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(known, order, axis=1)


def _mutual_first(
    near: NDArray[np.intp], known: Floats, reach: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """Rows that would have the new one among their own nearest, before those that would not.

    A row in a dense place, or one that is near everything, is the nearest of many that are not
    near it.
    """
    order = np.argsort(known < reach[near], axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(known, order, axis=1)


def _candidates(
    new_rows: NDArray[np.floating], rows: NDArray[np.floating], count: int
) -> NDArray[np.intp]:
    """Rows with the largest products with each new row, (n_new, count), in no order.

    After the first tile only products above the least of those held are looked at, and they are
    few: a tile takes its rows from everywhere, so that each is like the others.
    """
    n_new, n = len(new_rows), len(rows)
    n_tiles = -(-n // max(_TILE, 4 * count))
    first = new_rows @ rows[::n_tiles].T
    best = np.argpartition(-first, count - 1, axis=1)[:, :count]
    products, columns = np.take_along_axis(first, best, axis=1), best * n_tiles
    least = products.min(axis=1)[:, None]
    owners = np.repeat(np.arange(n_new), count)
    held, waiting = [(owners, columns.ravel(), products.ravel())], 0
    # Filled again by every tile: fresh memory would cost as much as the products.
    space, larger = np.empty(first.size, first.dtype), np.empty(first.size, np.bool_)
    for tile in range(1, n_tiles):
        part = rows[tile::n_tiles]
        shape, size = (n_new, len(part)), n_new * len(part)
        seen = np.matmul(new_rows, part.T, out=space[:size].reshape(shape))
        above = np.flatnonzero(np.greater(seen, least, out=larger[:size].reshape(shape)))
        owner, column = np.divmod(above, seen.shape[1])
        held.append((owner, column * n_tiles + tile, seen.ravel()[above]))
        waiting += above.size
        if waiting > owners.size or tile == n_tiles - 1:
            owner, column, product = (np.concatenate(part) for part in zip(*held, strict=True))
            order = np.lexsort((column, -product, owner))
            # Each new row has at least as many candidates as are kept.
            begin = np.searchsorted(owner[order], np.arange(n_new))
            keep = order[begin[:, None] + np.arange(count)]
            columns, least = column[keep], product[keep[:, -1:]]
            held, waiting = [(owners, columns.ravel(), product[keep].ravel())], 0
    return columns


def _walk(placement: Placement, near: NDArray[np.intp], step: Floats) -> Floats:
    """Squared distances of new rows to the landmarks along the best way, (n_new, l)."""
    kernel, path = placement.kernel, placement.path
    first = landmarks.lengths_of_squares(kernel, path, kernel.sq_distance(step))
    first[:, 1:][step[:, 1:] < placement.threshold] = np.inf
    best = np.full((placement.nodes.size, near.shape[0]), np.inf)
    anchors = placement.latent[placement.nodes]
    onward: NDArray[np.floating]
    for rank in range(near.shape[1]):
        if placement.lengths is None:
            square = cdist(anchors, placement.latent[near[:, rank]], "sqeuclidean")
            onward = landmarks.lengths_of_squares(kernel, path, square)
        else:
            onward = placement.lengths[:, near[:, rank]]
        np.minimum(best, onward + first[:, rank], out=best)
    return np.ascontiguousarray(landmarks.squares_of_lengths(kernel, path, best).T)
