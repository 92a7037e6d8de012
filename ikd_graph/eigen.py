r"""Squared distances to coordinates: reference point, Gram matrix, leading eigenpairs.

The eigen core of inverse kernel decomposition (Li & Wu 2024, Alg. 1, Eq. 4, 5, 8 and 9). With a
reference point r the Gram matrix is g_ij = (d_ir + d_rj - d_ij) / 2; with the center of all points
as the reference it is the doubly centered -J D J / 2 of classical scaling.
"""

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator

from ._base import limits
from ._base import validation as check
from ._base.lanczos import seeded_eigsh
from ._base.threads import block_rows, map_blocks
from ._base.types import Floats, Integers
from ._base.validation import check_choice, check_components, check_integer, validate
from ._base.warn import warn

REFERENCES = ("min_max", "min_mean", "center")
CENTER = -1

# Fraction of the largest eigenvalue below which differences are those of noise, and the least drop
# that ends the dimensions. Chosen on latents sampled in 1 to 5 dimensions, checked on others.
_GAP_FLOOR = 0.05
_GAP_DROP = 1.6

DOMINANT_FRACTION = 0.9
"""Fraction of the total from which points, columns, or levels of rows decide alone."""

_ROUNDING = 1e-6
"""Relative difference up to which lengths are equal: that of rows in float32."""

__all__ = [
    "CENTER",
    "REFERENCES",
    "Embedding",
    "PrincipalAxes",
    "coordinates",
    "eigengap",
    "gap_ratios",
    "gram_matrix",
    "pin_signs",
    "principal_axes",
    "reference_index",
]


class Embedding(NamedTuple):
    """Coordinates with the spectrum they came from; values and vectors travel together."""

    coordinates: Floats  # (n, m)
    eigenvalues: Floats  # (m,) leading eigenvalues of the Gram matrix, descending
    explained_variance_ratio: Floats  # (m,) lambda_i^2 / sum of all lambda^2
    negative_mass: float  # fraction of sum lambda^2 in negative eigenvalues
    reference: int  # index of the reference point, -1 for the center


def _check_reference(sq_dist: Floats, reference: str | int = CENTER, **_: object) -> None:
    n = len(sq_dist)
    is_index = isinstance(reference, Integral) and not isinstance(reference, bool)
    if not is_index or not -n <= int(reference) < n:
        more = f" or the index of a point (0 to {n - 1})"
        check_choice("reference", reference, REFERENCES, more)


def _check_size(sq_dist: Floats, n_components: int, reference: str | int = CENTER) -> None:
    check_components(n_components, len(sq_dist))
    _check_reference(sq_dist, reference)


@validate(_check_reference, sq_dist=check.square)
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
        return int(reference) % sq_dist.shape[0]
    if reference == "center":
        return CENTER
    mean = sq_dist.mean(axis=1)
    if reference == "min_mean":
        return int(np.argmin(mean))
    largest = sq_dist.max(axis=1)
    best = np.flatnonzero(largest <= largest.min() + 1e-12 * abs(largest.min()))
    return int(best[np.argmin(mean[best])])


@validate(_check_reference, sq_dist=check.square, reference=check.whole(CENTER))
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
    offset, constant = _offset(sq_dist, reference)
    return 0.5 * (offset[:, None] + offset[None, :] - sq_dist) - constant


@validate(_check_size, sq_dist=check.symmetric)
def coordinates(
    sq_dist: Floats,
    n_components: int,
    reference: str | int = "center",
) -> Embedding:
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
    n = sq_dist.shape[0]
    index = reference_index(sq_dist, reference)
    if n <= limits.LANCZOS_FROM or n_components > n // 4 or not sq_dist.any():
        values, vectors, negative, total = _full_spectrum(sq_dist, index, n_components)
    else:
        spectrum = _lanczos(sq_dist, index, n_components)
        # Slow, but the answer: of values that lie too near each other for Lanczos.
        values, vectors, negative, total = spectrum or _full_spectrum(sq_dist, index, n_components)
    vectors = pin_signs(vectors)
    noise = 1e-12 * max(float(values[0]), 0.0)
    missing = int(np.count_nonzero(values <= noise))
    if missing and float(sq_dist.max()) > 0.0:
        warn(
            f"{missing} of the {n_components} leading eigenvalues are not positive: the distances "
            f"span {n_components - missing} dimension(s); the coordinates beyond are zero"
        )
    fraction = values**2 / total if total != 0.0 else np.zeros_like(values)
    scaled = vectors * np.sqrt(np.where(values > noise, values, 0.0))
    mass = negative / total if total != 0.0 else 0.0
    return Embedding(scaled, values, fraction, mass, index)


@validate(eigenvalues=check.numbers)
def gap_ratios(eigenvalues: ArrayLike) -> Floats:
    """Each eigenvalue over the next one, both raised by a floor of noise.

    Parameters
    ----------
    eigenvalues : (n,) array_like of float64
        Eigenvalues of a Gram matrix, in any order; negative ones are noise.

    Returns
    -------
    (n - 1,) ndarray of float64
        ``(v_i + c) / (v_(i+1) + c)`` for descending values v, negative ones taken for zero; c is a
        twentieth of the largest, or the size of the most negative one if that is more.

    Raises
    ------
    ValueError
        If there are fewer than two eigenvalues, none is positive, or one is not finite.

    Examples
    --------
    >>> from ikd_graph import eigen
    >>> eigen.gap_ratios([9.5, 9.5, 0.0, -0.1]).round(1)
    array([ 1., 21.,  1.])
    """
    values = np.sort(np.asarray(eigenvalues, dtype=np.float64).ravel())[::-1]
    if values.size < 2 or values[0] <= 0.0:
        raise ValueError(
            "eigenvalues must be at least 2 with a positive one among them, got "
            f"{values.size}, the largest {values[0] if values.size else 'none'}"
        )
    raised = np.maximum(values, 0.0) + max(_GAP_FLOOR * values[0], -values[-1])
    return raised[:-1] / raised[1:]


@validate(eigenvalues=check.numbers)
def eigengap(eigenvalues: ArrayLike, *, largest: int | None = None) -> int:
    """Estimate the number of dimensions that a spectrum speaks for.

    The dimensions end at the last drop by a factor of 1.6 or more between neighboring eigenvalues,
    counted above a floor of noise (see `gap_ratios`); a spectrum without one ends at its widest
    drop. The widest drop alone would be that after the longest side of a latent whose sides differ:
    a strip would count as a line.

    Parameters
    ----------
    eigenvalues : (n,) array_like of float64
        Eigenvalues of a Gram matrix, in any order. A few more than the dimensions to be told: ten
        or fifteen leading ones do, and the tail of noise among them is what dimensions stand out
        from.
    largest : int or None
        Largest answer, at most n - 1; None is n - 1.

    Returns
    -------
    int
        Number of eigenvalues before the gap, at least 1. A side shorter than a fifth of the longest
        (its eigenvalue is its square) is below the floor and not counted.

    Raises
    ------
    ValueError
        If there are fewer than two eigenvalues, none is positive, one is not finite, or
        ``largest`` is out of range.

    Examples
    --------
    >>> from ikd_graph import eigen
    >>> eigen.eigengap([9.0, 7.0, 5.0, 0.2, 0.1, -0.1])
    3
    >>> eigen.eigengap([9.0, 2.0, 0.1, 0.09])
    2
    """
    ratios = gap_ratios(eigenvalues)
    if largest is not None:
        ratios = ratios[: check_integer("largest", largest, 1, ratios.size)]
    steep = np.flatnonzero(ratios >= _GAP_DROP)
    return int(steep[-1] if steep.size else np.argmax(ratios)) + 1


class PrincipalAxes(NamedTuple):
    """Coordinates along their principal axes, and how far they reach along each."""

    coordinates: Floats  # (n, m) centered, uncorrelated, the widest first, signs pinned
    eigenvalues: Floats  # (m,) of their Gram matrix: squared lengths of the columns


@validate(coordinates=check.table)
def principal_axes(coordinates: Floats) -> PrincipalAxes:
    """Center coordinates and rotate them to their principal axes.

    The frame of an embedding is free; this one is the frame of every embedding of the package.

    Parameters
    ----------
    coordinates : (n, m) ndarray of float64
        Coordinates in any frame.

    Returns
    -------
    PrincipalAxes
        Coordinates, and the eigenvalues of their Gram matrix, descending.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import eigen
    >>> axes = eigen.principal_axes(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))
    >>> axes.eigenvalues.round(6)
    array([10.,  0.])
    """
    points = coordinates - coordinates.mean(axis=0)
    gram = points.T @ points
    # Columns this near to uncorrelated are not rotated: that would only mix rounding errors.
    rounding = np.sqrt(np.finfo(np.float64).eps)
    width = float(np.diagonal(gram).max(initial=0.0))
    off = np.abs(gram - np.diag(np.diagonal(gram))).max(initial=0.0)
    ordered = np.all(np.diff(np.diagonal(gram)) <= rounding * width)
    if off > rounding * width or not ordered:
        points = points @ np.linalg.eigh(gram)[1][:, ::-1]
    points = pin_signs(_turned_in_equal_axes(points))
    return PrincipalAxes(points, np.sum(points**2, axis=0))


def dominant_points(coordinates: Floats) -> tuple[Integers, int, float]:
    """Find the few points that make an axis nearly alone.

    Parameters
    ----------
    coordinates : (n, m) ndarray of float64
        Coordinates.

    Returns
    -------
    points : (k,) ndarray of int64
        At most three, and 1 of 20, whose squared distances from the median along an axis are nine
        tenths of those of all points; usually none.
    axis : int
        The first such axis.
    fraction : float
        Which fraction of all squared distances theirs are.
    """
    squares = (coordinates - np.median(coordinates, axis=0)) ** 2
    order = np.argsort(-squares, axis=0, kind="stable")[: min(len(squares) // 20, 3)]
    held = np.take_along_axis(squares, order, axis=0).cumsum(axis=0)
    fractions = held / np.maximum(squares.sum(axis=0), np.finfo(np.float64).tiny)
    for axis, last in np.argwhere(fractions.T >= DOMINANT_FRACTION):
        # The first such axis, and the fewest points that hold it.
        return order[: last + 1, axis], int(axis), float(fractions[last, axis])
    return np.zeros(0, dtype=np.int64), 0, 0.0


def _turned_in_equal_axes(points: Floats) -> Floats:
    """Turn equally long axes to the outermost points, the first of these first.

    Any turn of such axes is as good: without a rule rounding would choose.
    """
    sizes = np.sum(points**2, axis=0)
    near = np.abs(np.diff(sizes)) <= 1e-9 * sizes.max(initial=0.0)
    for group in np.split(np.arange(sizes.size), np.flatnonzero(~near) + 1):
        if group.size < 2 or not sizes[group].any():
            continue
        rest, axes = points[:, group].copy(), np.zeros((0, group.size))
        for _ in group:
            lengths = np.sum(rest**2, axis=1)
            outermost = int(np.argmax(lengths >= (1.0 - _ROUNDING) * lengths.max()))
            axis = rest[outermost] / (np.sqrt(lengths[outermost]) or 1.0)
            axes = np.vstack([axes, axis])
            rest = rest - np.outer(rest @ axis, axis)
        if np.allclose(axes @ axes.T, np.eye(group.size), atol=1e-9):
            points = points.copy()
            points[:, group] = points[:, group] @ axes.T
    return points


@validate(vectors=check.table)
def pin_signs(vectors: Floats) -> Floats:
    """Columns turned so that the entry of largest magnitude is positive.

    A vector and its negative are both right; pinned, two runs can be compared.

    Parameters
    ----------
    vectors : (n, m) ndarray of float64
        Vectors in columns.

    Returns
    -------
    (n, m) ndarray of float64
        The same vectors up to their signs.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import eigen
    >>> eigen.pin_signs(np.array([[1.0], [-2.0]])).ravel()
    array([-1.,  2.])
    """
    magnitude = np.abs(vectors)
    peak = magnitude.max(axis=0)
    # Entries within rounding of the peak compete. The order of rows should not choose among them,
    # so the sign of their sum does; where they cancel, nothing but the order is left.
    near = magnitude >= peak * (1.0 - _ROUNDING)
    total = np.where(near, vectors, 0.0).sum(axis=0)
    first = vectors[near.argmax(axis=0), np.arange(vectors.shape[1])]
    return vectors * np.where(np.where(np.abs(total) < 0.5 * peak, first, total) < 0.0, -1.0, 1.0)


def _offset(sq_dist: Floats, reference: int) -> tuple[Floats, float]:
    """Row term and constant of the Gram matrix: g_ij = (o_i + o_j - d_ij) / 2 - c."""
    if reference == CENTER:
        offset = sq_dist.mean(axis=1)
        return offset, 0.5 * float(offset.mean())
    return sq_dist[reference].copy(), 0.0


def _full_spectrum(
    sq_dist: Floats, reference: int, n_components: int
) -> tuple[Floats, Floats, float, float]:
    """Leading eigenpairs, squared negative eigenvalues and all squared eigenvalues, by LAPACK."""
    values, vectors = eigh(
        gram_matrix(sq_dist, reference),
        driver="evd",
        overwrite_a=True,
        check_finite=False,
    )
    negative = float(np.sum(np.minimum(values, 0.0) ** 2))
    total = float(np.sum(values**2))
    order = slice(None, -n_components - 1, -1)
    return values[order].copy(), vectors[:, order].copy(), negative, total


def _lanczos(
    sq_dist: Floats, reference: int, n_components: int
) -> tuple[Floats, Floats, float, float] | None:
    """As `_full_spectrum`, by Lanczos on the distances themselves: no Gram matrix is formed.

    None where it does not end.
    """
    n = sq_dist.shape[0]
    offset, constant = _offset(sq_dist, reference)

    def times(vector: Floats) -> Floats:
        out, vector = np.empty(n), vector.ravel()

        def fill(start: int, stop: int) -> None:
            out[start:stop] = sq_dist[start:stop] @ vector

        map_blocks(fill, n, block_rows(n))
        total = vector.sum()
        return 0.5 * (offset * total + offset @ vector - out) - constant * total

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
    # Of the Gram matrix, whose entries are h_i + h_j - d_ij / 2.
    half = 0.5 * (offset - constant)
    sums, squares = np.empty(n), np.empty(n)

    def add(start: int, stop: int) -> None:
        rows = sq_dist[start:stop]
        sums[start:stop] = rows @ half
        np.einsum("ij,ij->i", rows, rows, out=squares[start:stop])

    map_blocks(add, n, block_rows(n))
    negative = float(np.sum(np.minimum(lowest, 0.0) ** 2))
    total = 2.0 * (n * (half @ half) + half.sum() ** 2 - sums.sum()) + 0.25 * squares.sum()
    return values[order], vectors[:, order], negative, float(total)
