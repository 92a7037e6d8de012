"""Nearest neighbors of rows: exact by blocked products, beyond some 20 000 rows by faiss.

The library was chosen in docs/decisions/005-neighbor-search.md.

References
----------
J. Johnson, M. Douze and H. Jégou, Billion-scale similarity search with GPUs, IEEE Trans. Big Data
7, 2021.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from .. import _jit
from .._base import limits
from .._base import validation as check
from .._base.rounding import DECIMALS
from .._base.threads import PAIRS, block_rows, map_blocks, single_threaded_blas
from .._base.types import Floats, Integers
from .._base.validation import Rule, finite, validate, whole
from .._base.warn import warn
from ._sparse import SparseRows

Pairs = Callable[[Integers, Integers], Floats]

SEARCHES = ("auto", "exact", "approximate")


def _check_rows(name: str, rows: Any) -> Any:
    """Return sparse rows, or a table of finite numbers in one piece."""
    return rows if isinstance(rows, SparseRows) else np.ascontiguousarray(check.table(name, rows))


def fewer_than(n: int) -> Rule:
    """Require a number of neighbors that each of n points has."""
    return whole(1, n - 1, "a point has n - 1 others; 5 to 15 are usual")


_DIRECTIONS = 128  # principal directions that candidates are searched in
_SAMPLE = 128  # rows whose exact neighbors measure the recall
_RECALL = 0.97  # fraction of these at which no more lists are visited


def _check_size(rows: Any, k: int, **_: object) -> None:
    fewer_than(rows.shape[0])("k", k)
    if not isinstance(rows, SparseRows):
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        finite("divide the rows by their largest value")("squared norms of the rows", squares)


@validate(
    _check_size,
    rows=_check_rows,
    metric=check.one_of(("product", "euclidean")),
    neighbors=check.one_of(SEARCHES),
)
def row_neighbors(
    rows: Any, k: int, *, metric: str = "product", neighbors: str = "auto"
) -> NDArray[np.int32]:
    """Rows with the largest product with each row, or with the smallest distance.

    The exact search multiplies blocks of rows in single precision, which only rules pairs out: the
    remaining ones are compared in double precision. The approximate search takes candidates from
    an inverted file of the leading principal components (faiss, extra ``large``) and ranks them by
    their exact values; more lists are visited, up to an eighth of them, until 0.97 of the
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
    n = rows.shape[0]
    dense, half = not isinstance(rows, SparseRows), np.zeros(n)
    if dense and metric == "euclidean":
        half = 0.5 * np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    faiss = _library(neighbors, n)

    def exact_values(first: Integers, second: Integers) -> Floats:
        if not dense:
            return np.asarray(rows.pairs_from(first, second))
        values = np.empty(first.size)
        _jit.graph.pair_dots(rows, first, second, values)
        return values - half[second]

    with single_threaded_blas():
        if faiss is not None:
            return _approximate_neighbors(faiss, rows, k, exact_values)
        if dense:
            return exact_neighbors(rows, half, k)[0]
        return block_neighbors(rows.products, n, k)


def pair_products(rows: NDArray[np.floating], first: Integers, second: Integers) -> Floats:
    """Products of pairs of rows, (m,), in double precision, the same bits either way round."""
    first, second = np.asarray(first, np.int64), np.asarray(second, np.int64)
    out = np.empty(first.size)

    def multiply(start: int, stop: int) -> None:
        pairs = slice(start, stop)
        _jit.graph.pair_dots(rows, first[pairs], second[pairs], out[pairs])

    map_blocks(multiply, first.size, PAIRS)
    return out


def nearest_values(values: NDArray[np.floating], k: int) -> tuple[Integers, Floats]:
    """Find the k largest of (b, n) values in each row, best first, of equals the lower index."""
    near = np.empty((len(values), min(k, values.shape[1])), np.int32)
    _jit.graph.strongest(np.ascontiguousarray(values), -len(values), near)
    indices = near.astype(np.int64)
    return indices, np.take_along_axis(values, indices, axis=1).astype(np.float64)


def block_neighbors(
    block_of: Callable[[Integers], NDArray[np.floating]], n: int, k: int
) -> NDArray[np.int32]:
    """Points with the largest similarity to each point, from blocks of similarities.

    Parameters
    ----------
    block_of : callable
        Maps (b,) points to their (b, n) similarities with all.
    n : int
        Number of points.
    k : int
        Number of neighbors, at most n - 1.

    Returns
    -------
    (n, k) int32
        Neighbors of each point, the nearest first; of equals the lower index.
    """
    neighbors = np.empty((n, k), np.int32)

    def find(start: int, stop: int) -> None:
        block = np.ascontiguousarray(block_of(np.arange(start, stop))).round(DECIMALS)
        _jit.graph.strongest(block, start, neighbors[start:stop])

    map_blocks(find, n, block_rows(n))
    return neighbors


def exact_neighbors(
    rows: NDArray[np.floating], half: Any, k: int, queries: Any = None
) -> tuple[NDArray[np.int32], Floats]:
    """Nearest rows and their values, (b, k), of new rows, or of each row among the others.

    The nearest have the largest product less ``half``, (n,) half the squared length of every row.
    Products come in single precision; those that count are computed again in double, so that each
    new row has the neighbors that it would have alone.
    """
    new = queries is not None
    queries = rows if queries is None else np.ascontiguousarray(queries)
    half = np.zeros(len(rows)) if half is None else half
    near, values = np.empty((len(queries), k), np.int32), np.empty((len(queries), k))
    peak = max(float(np.einsum("ij,ij->i", X, X).max(initial=0.0)) for X in (rows, queries))
    own = np.einsum("ij,ij->i", queries, queries) * (0.5 if half.any() else 1.0)
    # Beyond these single precision overflows, or rules too little out to pay.
    single = peak < 1e30 and rows.shape[1] < 2**15
    fast = rows.astype(np.float32 if single else rows.dtype, copy=False)
    slack = 2.0 * (rows.shape[1] + 8) * float(np.finfo(fast.dtype).eps) * peak
    rounding = 16.0 * float(np.finfo(np.float64).eps) * peak

    def search(start: int, stop: int) -> None:
        batch = slice(start, stop)
        block = queries[batch].astype(fast.dtype, copy=False) @ fast.T
        block -= half.astype(block.dtype)
        # No row of the table is a new row.
        first = -len(queries) if new else start
        _jit.graph.strongest(block, first, near[batch])
        _jit.graph.settle_strongest(
            block, queries[batch], rows, half, own[batch], first, slack, rounding, near[batch],
            values[batch],
        )  # fmt: skip

    map_blocks(search, len(queries), block_rows(len(rows)))
    return near, values


def _approximate_neighbors(faiss: Any, rows: Any, k: int, exact_values: Pairs) -> NDArray[np.int32]:
    """See `row_neighbors`; ``exact_values`` are those of pairs of points.

    faiss runs on one thread, side by side in those of this package: what it returns does not depend
    on how many, and forked processes start no threads of its own.
    """
    n, points = rows.shape[0], _principal(rows)
    near, n_candidates = np.empty((n, k), np.int32), min(3 * k + 1, n)

    def candidates(some: Integers) -> Integers:
        """Nearest points of some, (b, n_candidates), themselves among them."""
        found: Integers = index.search(points[some], n_candidates)[1]
        few = np.count_nonzero(found >= 0, axis=1) <= k + 1
        if few.any():
            found[few] = exact.search(points[some[few]], n_candidates)[1]
        return found

    def search(start: int, stop: int) -> None:
        faiss.omp_set_num_threads(1)
        some = order[start:stop]
        near[some] = _ranked(some, candidates(some), k, exact_values)

    threads = faiss.omp_get_max_threads()
    try:
        faiss.omp_set_num_threads(1)
        exact, index = _indices(faiss, points)
        sample = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64)
        true = exact.search(points[sample], min(16, n))[1]
        while index.nprobe < index.nlist // 8:
            found = candidates(sample)
            if np.mean((found[:, :, None] == true[:, None, :]).any(axis=1)) >= _RECALL:
                break
            index.nprobe, n_candidates = 2 * index.nprobe, min(2 * n_candidates, n)
        # List by list: points of one list share candidates, which stay in the cache.
        order = np.argsort(index.quantizer.assign(points, 1)[:, 0], kind="stable")
        map_blocks(search, n, block_rows(n_candidates))
    finally:
        faiss.omp_set_num_threads(threads)
    return near


def _indices(faiss: Any, points: NDArray[np.float32]) -> tuple[Any, Any]:
    """Exact index of points (n, d), and an inverted file that visits 16 of its lists."""
    n, d = points.shape
    exact = faiss.IndexFlatL2(d)
    exact.add(points)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, min(int(4.0 * np.sqrt(n)), n))
    index.cp.max_points_per_centroid, index.cp.min_points_per_centroid = 32, 1
    index.train(points)
    index.add(points)
    index.nprobe = 16
    return exact, index


def _ranked(points: Integers, near: Integers, k: int, exact_values: Pairs) -> Integers:
    """Return the k best of the candidates of some points, ties by index."""
    near.sort(axis=1)
    values = exact_values(np.repeat(points, near.shape[1]), np.maximum(near, 0).ravel())
    excluded = (near < 0) | (near == points[:, None])
    values = np.where(excluded, -np.inf, values.reshape(near.shape))
    order = np.argsort(-values, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, order, axis=1)


def _principal(rows: Any) -> NDArray[np.float32]:
    """Rows along their leading principal directions, (n, d), as they are where they are short."""
    n, p = rows.shape
    points = np.empty((n, min(n, p, _DIRECTIONS)), np.float32)
    components = None
    if p > points.shape[1]:
        # Evenly spaced rows, of four million entries.
        sample = rows[np.linspace(0, n - 1, min(n, max(1024, 2**22 // p))).astype(np.int64)]
        model = PCA(points.shape[1], svd_solver="randomized", iterated_power=2, random_state=0)
        components = model.fit(np.asarray(sample, np.float32)).components_.T

    def project(start: int, stop: int) -> None:
        block = np.asarray(rows[start:stop], np.float32)
        points[start:stop] = block if components is None else block @ components

    map_blocks(project, n, block_rows(p))
    return points


def _library(neighbors: str, n: int) -> Any:
    """Return the module of the approximate search, None for an exact one."""
    if neighbors == "exact" or (neighbors == "auto" and n <= limits.NEIGHBORS_EXACT):
        return None
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
