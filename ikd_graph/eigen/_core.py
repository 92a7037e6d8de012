r"""Squared distances to coordinates: origin, inner products, leading eigenpairs.

One core for the whole table, for many cliques at once and for landmarks: all arrays may have
further axes in front. The origin is a weighted mean of the points with weights w: that of all of
them, a reference point, or landmarks by the number of points that each stands for. With
o = D w the inner products are g_ij = (o_i + o_j - d_ij - w o) / 2 (Li & Wu 2024, Eq. 4).
"""

from inspect import signature
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .._base import limits
from .._base import validation as check
from .._base.rounding import ROUNDING
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats, Integers
from .._base.warn import warn
from ._axes import pinned

REFERENCES = ("min_max", "min_mean", "center")
CENTER = -1

# Where its space is exhausted, as of few distinct rows, Lanczos goes on in a random direction.
_SEED = {"rng": 0} if "rng" in signature(eigsh).parameters else {}


class Embedding(NamedTuple):
    """Coordinates with the spectrum they came from; values and vectors travel together.

    Those of many sets of points at once have further axes in front.
    """

    coordinates: Floats  # (n, m)
    eigenvalues: Floats  # (m,) leading eigenvalues of the Gram matrix, descending
    explained_variance_ratio: Floats  # (m,) lambda_i^2 / sum of all lambda^2
    negative_mass: float  # fraction of sum lambda^2 in negative eigenvalues
    reference: int = CENTER  # index of the reference point, -1 for the center


def _check_reference(sq_dist: Floats, reference: str | int = CENTER, **_: object) -> None:
    n = len(sq_dist)
    is_index = isinstance(reference, Integral) and not isinstance(reference, bool)
    if not is_index or not -n <= int(reference) < n:
        more = f" or the index of a point (0 to {n - 1})"
        check.one_of(REFERENCES, more)("reference", reference)


def _check_size(sq_dist: Floats, n_components: int, reference: str | int = CENTER) -> None:
    check.components(len(sq_dist))("n_components", n_components)
    _check_reference(sq_dist, reference)


@check.validate(_check_reference, sq_dist=check.square)
def reference_index(sq_dist: Floats, reference: str | int) -> int:
    """Index of the reference point (Li & Wu 2024, Section 2.5).

    Parameters
    ----------
    sq_dist : (n, n) ndarray of float64, symmetric
        Squared distances.
    reference : {"min_max", "min_mean", "center"} or int
        The point whose largest (the paper's choice) or mean distance is smallest, the center of
        all points, or an index. Among equal largest distances the smallest mean decides, so that
        the order of the rows does not.

    Returns
    -------
    int
        An index, or -1 for the center.

    Raises
    ------
    ValueError
        If the name is not known or the index out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import eigen
    >>> line = np.subtract.outer(np.arange(5.0), np.arange(5.0)) ** 2
    >>> eigen.reference_index(line, "min_max")
    2
    """
    if isinstance(reference, Integral):
        return int(reference) % len(sq_dist)
    return CENTER if reference == "center" else int(origin_weights(sq_dist, reference).argmax())


def origin_weights(sq_dist: Floats, reference: str | int) -> Floats:
    """Weights (..., n) of the points whose mean is the origin, see `reference_index`."""
    n = sq_dist.shape[-1]
    if reference in ("center", CENTER):
        return np.full(sq_dist.shape[:-1], 1.0 / n)
    if isinstance(reference, Integral):
        index = np.full(sq_dist.shape[:-2], int(reference))
    else:
        score = sq_dist.mean(axis=-1)
        if reference == "min_max":
            largest = sq_dist.max(axis=-1)
            least = largest.min(axis=-1, keepdims=True)
            score = np.where(largest <= least + 1e-12 * abs(least), score, np.inf)
        index = score.argmin(axis=-1)
    weights = np.zeros(sq_dist.shape[:-1])
    np.put_along_axis(weights, index[..., None], 1.0, axis=-1)
    return weights


@check.validate(_check_reference, sq_dist=check.square, reference=check.whole(CENTER))
def gram_matrix(sq_dist: Floats, reference: int = CENTER) -> Floats:
    """Gram matrix of the points seen from the reference point (Li & Wu 2024, Eq. 4).

    Parameters
    ----------
    sq_dist : (n, n) ndarray of float64, symmetric
        Squared distances.
    reference : int
        Index of the reference point, or -1 for the center.

    Returns
    -------
    (n, n) ndarray of float64
        Inner products.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import eigen
    >>> eigen.gram_matrix(np.array([[0.0, 4.0], [4.0, 0.0]]), 0)
    array([[0., 0.],
           [0., 4.]])
    """
    return inner_products(sq_dist, origin_weights(sq_dist, reference))


def inner_products(sq_dist: Floats, weights: Floats) -> Floats:
    """Inner products (..., n, n) of points about the origin that weights (..., n) stand for."""
    # Not by BLAS, whose bits depend on its threads.
    offset = np.einsum("...ij,...j->...i", sq_dist, weights)
    constant = 0.5 * np.sum(weights * offset, axis=-1)
    return 0.5 * (offset[..., :, None] + offset[..., None, :] - sq_dist) - constant[..., None, None]


@check.validate(_check_size, sq_dist=check.symmetric)
def coordinates(sq_dist: Floats, n_components: int, reference: str | int = "center") -> Embedding:
    """Coordinates whose squared distances come nearest to those given.

    The optimal rank-M positive semi-definite approximation of the Gram matrix (Li & Wu 2024,
    Eq. 8 and 9): its M leading eigenpairs, each vector scaled by the root of its value.

    Parameters
    ----------
    sq_dist : (n, n) ndarray of float64, symmetric
        Squared distances between points, zeros on the diagonal. They need not be Euclidean.
    n_components : int
        Number M of coordinates, less than n.
    reference : {"min_max", "min_mean", "center"} or int
        Reference point, see `reference_index`.

    Returns
    -------
    Embedding
        Coordinates (n, M) seen from the reference point, eigenvalues (descending, negative ones
        kept as they are), ``lambda_m^2 / sum_t lambda_t^2`` per component, whose sum is the
        paper's explained variance ratio, the fraction of ``sum_t lambda_t^2`` in negative
        eigenvalues (above 200 points that of the M + 1 most negative ones, a lower bound), and
        the index of the reference point.

    Raises
    ------
    ValueError
        If there are too many components, or the matrix is not square, symmetric and finite.

    Warns
    -----
    UserWarning
        If fewer than M eigenvalues are positive; the coordinates beyond are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import eigen
    >>> line = np.subtract.outer(np.arange(3.0), np.arange(3.0)) ** 2
    >>> np.abs(eigen.coordinates(line, 1).coordinates.ravel()).round(6)
    array([1., 0., 1.])
    """
    n, index = len(sq_dist), reference_index(sq_dist, reference)
    weights = origin_weights(sq_dist, index)
    # All eigenvalues are slow, but the answer: of some that lie too near each other for Lanczos.
    small = n <= limits.LANCZOS_FROM or n_components > n // 4 or not sq_dist.any()
    found = None if small else _lanczos(sq_dist, weights, n_components)
    found = found or leading(inner_products(sq_dist, weights), n_components)
    if sq_dist.any():
        warn_flat(found.coordinates, "the distances")
    return found._replace(negative_mass=float(found.negative_mass), reference=index)


def leading(gram: Floats, n_components: int) -> Embedding:
    """Leading eigenpairs of Gram matrices (..., n, n), by LAPACK."""
    values, vectors = np.linalg.eigh(gram)
    order = slice(None, -n_components - 1, -1)
    negative, total = np.square(np.minimum(values, 0.0)).sum(-1), np.square(values).sum(-1)
    return _embedding(values[..., order], vectors[..., order], negative, total)


def _embedding(values: Floats, vectors: Floats, negative: Floats, total: Floats) -> Embedding:
    """Return eigenpairs as coordinates, those of eigenvalues within rounding 0 (Eq. 5 and 9)."""
    real = np.where(values > ROUNDING * np.maximum(values[..., :1], 0.0), values, 0.0)
    total = np.where(total > 0.0, total, 1.0)
    mass: Any = negative / total
    coordinates = pinned(vectors) * np.sqrt(real)[..., None, :]
    return Embedding(coordinates, values, values**2 / total[..., None], mass)


def warn_flat(coordinates: Floats, what: str) -> None:
    """Warn of coordinates that are zero because eigenvalues are not positive."""
    n_zero = np.count_nonzero(~coordinates.any(axis=0))
    if n_zero:
        size = coordinates.shape[1]
        warn(
            f"{n_zero} of the {size} leading eigenvalues are not positive: {what} span "
            f"{size - n_zero} dimension(s); the coordinates beyond are zero"
        )


def seeded_eigsh(operator: LinearOperator | Floats, count: int, **options: Any) -> Any:
    """`scipy.sparse.linalg.eigsh` with one seed."""
    return eigsh(operator, count, **options, **_SEED)


def _lanczos(sq_dist: Floats, weights: Floats, n_components: int) -> Embedding | None:
    """As `leading`, on the distances (n, n) themselves: no Gram matrix is formed.

    None where it does not end.
    """
    n, offset = sq_dist.shape[0], np.einsum("ij,j->i", sq_dist, weights)
    half = 0.5 * (offset - 0.5 * np.sum(weights * offset))

    def product(vector: Floats) -> Floats:
        out = np.empty(n)

        def fill(start: int, stop: int) -> None:
            np.matmul(sq_dist[start:stop], vector, out=out[start:stop])

        map_blocks(fill, n, block_rows(n))
        return out

    def times(vector: Floats) -> Floats:
        # Of the Gram matrix, whose entries are h_i + h_j - d_ij / 2.
        return half * vector.sum() + (half @ vector - 0.5 * product(vector))

    operator = LinearOperator((n, n), matvec=times, dtype=np.float64)
    # A random start: one made from the points would share the symmetries of a grid and miss every
    # eigenvector that lacks them.
    start = np.random.default_rng(0).standard_normal(n)
    try:
        values, vectors = seeded_eigsh(operator, n_components, which="LA", v0=start)
        lowest = seeded_eigsh(
            operator, n_components + 1, which="SA", v0=start, tol=0.1, return_eigenvectors=False
        )
    except ArpackError:
        return None
    order = np.argsort(-values)
    squares = np.einsum("ij,ij->i", sq_dist, sq_dist).sum()
    total = 2.0 * (n * (half @ half) + half.sum() ** 2 - product(half).sum()) + squares / 4.0
    negative = np.square(np.minimum(lowest, 0.0)).sum()
    return _embedding(values[order], vectors[:, order], negative, total)


def landmark_coordinates(
    nodes: Integers,
    sq_dist: Floats,
    counts: Integers,
    n_components: int,
    reference: str | int = "center",
) -> Embedding:
    """Coordinates of all points from their distances to landmarks.

    The landmarks are solved among themselves, and every other point is placed by Gower's
    interpolation of its squared distances to them (de Silva and Tenenbaum 2004, Sparse
    multidimensional scaling using landmark points). A landmark counts as many points as it stands
    for, so that the solution leans to that of all points.

    Parameters
    ----------
    nodes : (l,) ndarray of int64
        The landmarks.
    sq_dist : (l, n) ndarray of float64
        Squared distances from the landmarks to all points.
    counts : (l,) ndarray of int64
        Points that each landmark stands for.
    n_components : int
        Number M of coordinates.
    reference : str or int
        As of `coordinates`; an index is that of a landmark among all points.

    Returns
    -------
    Embedding
        Coordinates (n, M), with the spectrum of the landmarks.
    """
    n_points = sq_dist.shape[1]
    among = sq_dist[:, nodes]
    among = 0.5 * (among + among.T)
    fraction = counts / counts.sum()
    if isinstance(reference, Integral):
        reference = int(np.flatnonzero(nodes == int(reference) % n_points)[0])
    index = reference_index(among, reference)
    origin = fraction if index == CENTER else origin_weights(among, index)
    root = np.sqrt(fraction)
    found = leading(root[:, None] * inner_products(among, origin) * root, n_components)
    if among.any():
        warn_flat(found.coordinates, "the distances between landmarks")
    # Of coordinates scaled to the landmarks, the inner products with those of a point.
    values = np.where(found.coordinates.any(axis=0), found.eigenvalues, 1.0)
    pull = root[:, None] * found.coordinates / values
    gower = 0.5 * (pull - origin[:, None] * pull.sum(axis=0))
    offset = among @ origin
    shift = 0.5 * (offset - origin @ offset) @ pull
    points = np.empty((n_points, n_components))

    def place(start: int, stop: int) -> None:
        points[start:stop] = shift - sq_dist[:, start:stop].T @ gower

    map_blocks(place, n_points, block_rows(nodes.size))
    center = index if index == CENTER else int(nodes[index])
    values, ratio = n_points * found.eigenvalues, found.explained_variance_ratio
    return Embedding(points, values, ratio, float(found.negative_mass), center)
