"""Nearest neighbors of rows: exact by blocked products, beyond some 20 000 rows by faiss.

The library was chosen in docs/decisions/005-neighbor-search.md.

References
----------
J. Johnson, M. Douze and H. Jégou, Billion-scale similarity search with GPUs, IEEE Trans. Big Data
7, 2021.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from .. import _jit
from .._base import limits
from .._base.rounding import DECIMALS
from .._base.table import evenly_spaced
from .._base.threads import PAIRS, block_rows, map_blocks, single_threaded_blas
from .._base.types import Floats, Indices, Integers, Reals
from .._base.validation import Rule, finite, one_of, table, validate, whole
from .._base.warn import warn
from ..covariance import SparseRows

SEARCHES = ("auto", "exact", "approximate")


def _check_rows(name: str, rows: Any) -> Any:
    """Return sparse rows, or a table of finite numbers in one piece."""
    return rows if isinstance(rows, SparseRows) else np.ascontiguousarray(table(name, rows))


def fewer_than(n: int) -> Rule:
    """Require a number of neighbors that each of n points has."""
    return whole(1, n - 1, "a point has n - 1 others; 5 to 15 are usual")


_SAMPLE = 128  # principal directions of candidates, and rows whose neighbors measure the recall
_RECALL = 0.97  # fraction of these at which no more lists are visited
_LARGEST_SINGLE = 1e30  # square beyond which single precision may overflow; 1 over it, underflow
_WIDEST_SINGLE = 2**15  # columns from which its products rule too little out to pay
_MOST_LISTS = 32  # or one of so many: where noise hides who is near, more add time alone


@validate(rows=_check_rows, metric=one_of(("product", "euclidean")), neighbors=one_of(SEARCHES))
def row_neighbors(
    rows: Any, k: int, *, metric: str = "product", neighbors: str = "auto"
) -> Indices:
    """Rows with the largest product with each row, or with the smallest distance.

    The exact search multiplies blocks of rows in single precision, which only rules pairs out: the
    remaining ones are compared in double precision. The approximate search takes candidates from
    an inverted file of the leading principal components (faiss, extra ``large``) and ranks them by
    their exact values; more lists are visited, up to 32 or a 32nd of them, until 0.97 of the
    neighbors of 128 sampled rows are among them. Neither depends on the number of threads.

    Parameters
    ----------
    rows : (n, p) float32 or float64, or SparseRows
        Rows of unit norm, or zeros, whose products are correlations; any for
        ``metric="euclidean"``.
    k : int
        Number of neighbors, at most n - 1.
    metric : {"product", "euclidean"}
        Neighbors have the largest products, or the smallest distances. Sparse rows have products
        that fall with the distance.
    neighbors : {"auto", "exact", "approximate"}
        "auto" is exact up to 20 000 rows, and beyond them where faiss is not installed.

    Returns
    -------
    (n, k) int32
        Neighbors of each row, the nearest first, equally near ones by index. A row is never its
        own neighbor.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> graph.row_neighbors(rows, 1).tolist()
    [[1], [0], [1]]
    """
    fewer_than(rows.shape[0])("k", k)
    return RowSearch(rows, metric).neighbors(k, neighbors)


def pair_products(rows: Any, first: Integers, second: Integers) -> Floats:
    """Products of pairs of rows, (m,), in double precision, the same bits either way round."""
    if isinstance(rows, SparseRows):
        return of_pairs(rows.pairs, first, second)
    return of_pairs(partial(_jit.graph.pair_dots, rows), first, second)


def of_pairs(
    measure: Callable[[Integers, Integers, Floats], None], first: Integers, second: Integers
) -> Floats:
    """Return what a function writes of pairs, (m,), some thousand pairs at a time."""
    first, second = np.asarray(first, np.int64), np.asarray(second, np.int64)
    out = np.empty(first.size)

    def work(start: int, stop: int) -> None:
        pairs = slice(start, stop)
        measure(first[pairs], second[pairs], out[pairs])

    map_blocks(work, first.size, PAIRS)
    return out


def block_neighbors(
    block_of: Callable[[Integers], Reals], n: int, k: int, n_new: int | None = None
) -> tuple[Indices, Floats]:
    """Points of largest similarity to each point or new row, and these, from blocks of them.

    Parameters
    ----------
    block_of : callable
        Maps the numbers of some points or new rows, (b,), to their (b, n) similarities.
    n : int
        Number of points.
    k : int
        Number of neighbors.
    n_new : int, optional
        Number of new rows; by default points are compared, each with the others.

    Returns
    -------
    near : (n, k) or (n_new, k) int32
        The nearest first; of equals the lower index.
    values : (n, k) or (n_new, k) float64
        Their similarities.
    """
    count = n if n_new is None else n_new
    near, values = np.empty((count, k), np.int32), np.empty((count, k))

    def find(start: int, stop: int) -> None:
        block = np.ascontiguousarray(block_of(np.arange(start, stop))).round(DECIMALS)
        # No point is a new row.
        _jit.graph.strongest(block, start if n_new is None else -count, near[start:stop])
        values[start:stop] = np.take_along_axis(block, near[start:stop].astype(np.int64), axis=1)

    map_blocks(find, count, block_rows(n))
    return near, values


class RowSearch:
    """Search among rows: the nearest have the largest product, or the smallest distance.

    Products of dense rows come in single precision; those that count are computed again in double,
    so that each new row has the neighbors that it would have alone.
    """

    def __init__(self, rows: Any, metric: str) -> None:
        self.rows, self.sq_lengths = rows, _squares(rows)
        finite("divide the rows by their largest value")(
            "squared norms of the rows", self.sq_lengths
        )
        self.level = 0.5 if metric == "euclidean" else 0.0
        self.half, self.peak = self.level * self.sq_lengths, float(self.sq_lengths.max(initial=0.0))

    def neighbors(self, k: int, search: str = "auto") -> Indices:
        """Nearest rows of every row, (n, k), see `row_neighbors`."""
        n = len(self.half)
        exact = search == "exact" or (search == "auto" and n <= limits.NEIGHBORS_EXACT)
        faiss = None if exact else _library(search, n)
        with single_threaded_blas():
            if faiss is not None:
                return _approximate_neighbors(faiss, self.rows, self.half, k)
            return self.exact(k)[0]

    def exact(self, k: int, new: Any = None) -> tuple[Indices, Floats]:
        """Nearest rows, (b, k), of new rows, or of each among the others, the nearest first.

        With their products, or minus half the squared distances.
        """
        rows, half, n = self.rows, self.half, len(self.half)
        queries = rows if new is None else np.ascontiguousarray(new)
        sq_lengths = self.sq_lengths if new is None else _squares(queries)
        if isinstance(rows, SparseRows):
            products = rows.products if new is None else lambda at: rows.products_with(queries[at])
            n_new = None if new is None else len(queries)
            near, values = block_neighbors(lambda at: products(at) - half, n, k, n_new)
            return near, values - self.level * sq_lengths[:, None]
        near, values = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
        # Products with a row are no larger.
        size = np.sqrt(self.peak) * np.sqrt(np.maximum(sq_lengths, self.peak))
        own, width = (1.0 - self.level) * sq_lengths, rows.shape[1]

        def search(start: int, stop: int) -> None:
            batch = slice(start, stop)
            largest = max(self.peak, sq_lengths[batch].max())
            if self.peak > 1.0 / _LARGEST_SINGLE and largest < _LARGEST_SINGLE:
                block = queries[batch].astype(self._single.dtype, copy=False) @ self._single.T
            else:
                block = queries[batch].astype(np.float64, copy=False) @ rows.T
            block -= half.astype(block.dtype)
            slack = 2.0 * (width + 4) * float(np.finfo(block.dtype).eps) * size[batch]
            rounding = 16.0 * float(np.finfo(np.float64).eps) * size[batch]
            first = start if new is None else -len(queries)
            _jit.graph.strongest(block, first, near[batch])
            _jit.graph.settle_strongest(
                block, queries[batch], rows, half, own[batch], first, slack, rounding, near[batch],
                values[batch],
            )  # fmt: skip

        map_blocks(search, len(queries), block_rows(n))
        return near, values - self.level * sq_lengths[:, None]

    @cached_property
    def _single(self) -> Any:
        """Rows in single precision; of wide ones it would rule too little out to pay."""
        wide = self.rows.shape[1] >= _WIDEST_SINGLE
        return self.rows.astype(self.rows.dtype if wide else np.float32, copy=False)


def _squares(rows: Any) -> Floats:
    """Squared lengths of rows, (n,)."""
    every = np.arange(rows.shape[0])
    return pair_products(rows, every, every)


def _approximate_neighbors(faiss: Any, rows: Any, half: Floats, k: int) -> Indices:
    """See `row_neighbors`; the nearest have the largest product less ``half``.

    faiss runs on one thread, side by side in those of this package: what it returns does not depend
    on how many, and forked processes start no threads of its own.
    """
    n, points = rows.shape[0], _principal(rows)
    near, n_candidates = np.empty((n, k), np.int32), min(2 * k + 1, n)

    def candidates(some: Integers) -> Integers:
        """Nearest points of some, (b, n_candidates), themselves among them."""
        found = index.search(points[some], n_candidates)[1]
        few = np.count_nonzero(found >= 0, axis=1) <= k + 1
        if few.any():
            found[few] = index.search(points[some[few]], n_candidates, params=every_list)[1]
        return np.sort(found, axis=1)

    def search(start: int, stop: int) -> None:
        """Rank the candidates of some points, ties by index."""
        faiss.omp_set_num_threads(1)
        some = order[start:stop]
        found = candidates(some)
        first, second = np.repeat(some, n_candidates), np.maximum(found, 0).ravel()
        values = (pair_products(rows, first, second) - half[second]).reshape(found.shape)
        values[(found < 0) | (found == some[:, None])] = -np.inf
        best = np.argsort(-values, axis=1, kind="stable")[:, :k]
        near[some] = np.take_along_axis(found, best, axis=1)

    threads = faiss.omp_get_max_threads()
    try:
        faiss.omp_set_num_threads(1)
        index = _inverted_file(faiss, points)
        every_list = faiss.SearchParametersIVF(nprobe=index.nlist)
        sample = evenly_spaced(n, _SAMPLE)
        true = index.search(points[sample], k + 1, params=every_list)[1]
        while index.nprobe < max(_MOST_LISTS, index.nlist // _MOST_LISTS):
            found = candidates(sample)
            if np.mean((found[:, :, None] == true[:, None, :]).any(axis=1)) >= _RECALL:
                break
            index.nprobe *= 2
        # List by list: points of one list share candidates, which stay in the cache.
        order = np.argsort(index.quantizer.assign(points, 1)[:, 0], kind="stable")
        map_blocks(search, n, block_rows(n_candidates))
    finally:
        faiss.omp_set_num_threads(threads)
    return near


def _inverted_file(faiss: Any, points: NDArray[np.float32]) -> Any:
    """Inverted file of points (n, d), of which 16 lists are visited."""
    n, d = points.shape
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, min(int(4.0 * np.sqrt(n)), n))
    index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = 32, 1
    index.cp.niter = 4  # lists need no best centers
    index.train(points)
    index.add(points)
    index.nprobe = 16
    return index


def _principal(rows: Any) -> NDArray[np.float32]:
    """Rows along their leading principal directions, (n, d), as they are where they are short."""
    n, p = rows.shape
    points = np.empty((n, min(n, p, _SAMPLE)), np.float32)
    components = None
    if p > points.shape[1]:
        sample = rows[evenly_spaced(n, limits.SAMPLED)]
        model = PCA(points.shape[1], svd_solver="randomized", iterated_power=2, random_state=0)
        components = model.fit(np.asarray(sample, np.float32)).components_.T

    def project(start: int, stop: int) -> None:
        block = np.asarray(rows[start:stop], np.float32)
        points[start:stop] = block if components is None else block @ components

    map_blocks(project, n, block_rows(p))
    return points


def _library(neighbors: str, n: int) -> Any:
    """Return the module of the approximate search, None where it is not installed."""
    cure = "pip install 'ikd_graph[large]' (faiss-cpu) makes the search many times as fast"
    try:
        import faiss
    except ImportError:
        if neighbors == "approximate":
            raise ImportError(
                f"faiss must be installed for neighbors='approximate', got none; {cure}"
            ) from None
        warn(f"the neighbors of {n} rows are searched exactly, which may take minutes; {cure}")
        return None
    return faiss
