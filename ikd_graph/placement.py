r"""Placing rows by local linear reconstruction among the rows they are joined to.

With C_ij = <x - x_i, x - x_j> for the joined rows, which similarities give, the weights minimise

    \|x - Σ w_j x_j\|² + Σ p_j w_j² \|x - x_j\|²    with Σ w_j = 1, and the place is Σ w_j z_j.

Where similarities tell only an order, x stands for rows and the joined ones are neighbours in the
graph. Where they estimate a kernel, squared distances are those the kernel tells, and the most
similar rows are joined, whatever the graph: each has its say.

The weights see no unit of the latent, so that they agree with a latent that a polish has stretched
here and there. Noise of the rows is in the diagonal of C: much of it averages over many rows, none
leaves a linear interpolation. As x approaches x_1 the penalty of w_1 vanishes and that of no other
weight does, hence w_1 -> 1 and the place goes to z_1.

A linear latent is a projection of the rows, and so is the place of a new one.

Where rows are samples of a Gaussian process, a new one has a likeliest place under it, and the
reconstruction is only the start. Near a training row it is all that counts: the process would put
that row, seen with the same noise again, elsewhere than the fit did.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import gplvm
from ._records import CsrGraph
from ._stages import progress_bar
from ._threads import block_rows, map_blocks
from .covariance import FLOOR
from .kernels import StationaryKernel
from .similarity import Similarity

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST_SQUARE = 1e-20  # of the largest: the distance of a row whose values tell no difference
CANDIDATES = 40
"""Most similar training rows that a new row may be joined to."""

WITHOUT_GRAPH = 25
"""Training rows that a new row is joined to where similarities estimate a kernel, or for no graph.

Of 15, 25 and 40 the best on noisy samples of the model: fewer average less, more lie further away.
"""

RIDGE = 0.1
"""Least penalty p_j of a weight, which a neighbourhood that is not flat needs.

From .03 to .3 hardly anything changes; without it weights of exact data are arbitrary.
"""

TORN, TORN_POWER = 10.0, 4
"""Penalty of rows whose latent is further from that of the nearest row than usual, and its growth.

Where the latent tore or crossed a neighbourhood, the average of both sides would lie on neither.
Up to the median distance of its neighbours in the graph there is no such penalty.
"""

FRESH = 0.25
"""A row is no copy of a training row from this share of the squared distance that noise makes.

Two rows of one place with noise n of their own in N values are 2 n N apart in square, times
chi²_N / N, which is below a quarter once in 3600 such pairs for 20 values, and once in
80 million for 50.
"""

# Squared distances below it, relative to the similarities, are rounding.
_ROUNDING = 1e-15

# Rows of unit norm in single precision agree to a little better.
_SAME = 1e-6


@dataclass(frozen=True)
class Placement:
    """All that placing a new row needs beside the similarity, in plain arrays."""

    latent: Floats  # (n, m)
    graph: CsrGraph | None
    own: Floats  # (n,) similarity of each training row with itself
    reach: Floats | None  # (n,) similarity of each training row with the last it is joined to
    unit: float  # latent distance that a distance of 1 in the reconstruction stands for
    kernel: StationaryKernel | None = None  # that similarities estimate, if they do
    floor: float = FLOOR  # smallest similarity that tells a latent distance
    axes: Floats | None = None  # (q, m) that the rows of a linear latent are projected on
    origin: Floats | None = None  # (m,) where a row of zeros is


def prepare(
    latent: NDArray[np.floating],
    g: CsrGraph | None,
    sim: Similarity,
    kernel: StationaryKernel,
    *,
    trusted: bool,
    linear: bool = False,
) -> Placement:
    """Keep what placing new rows needs.

    Parameters
    ----------
    latent : (n, m) ndarray of float
        Latent of the training rows.
    g : CsrGraph or None
        Graph it came from, None if all pairs made it.
    sim : Similarity
        Similarity of the training rows.
    kernel : StationaryKernel
        The kernel of the fit.
    trusted : bool
        Whether similarities estimate the kernel, or tell only an order.
    linear : bool
        Whether the latent is a projection of the rows as they are compared.

    Returns
    -------
    Placement
        Plain arrays.
    """
    points = np.asarray(latent, dtype=np.float64)
    every = np.arange(sim.n_samples)
    own = sim.between(every, every)
    # Below a standard error of zero there is noise.
    floor = max(FLOOR, 1.0 / np.sqrt(sim.n_observed or np.inf))
    if trusted:
        return Placement(points, None, own, None, 1.0, kernel, floor)
    if g is None:
        # All pairs made the latent: those of one shift stand for them.
        after = np.roll(every, 1).astype(np.int32)
        shifted = CsrGraph.trusted(np.arange(every.size + 1), after, own.copy())
        found = Placement(points, None, own, None, _walk_edges(points, shifted, own, sim)[1])
        return _projected(found, sim) if linear else found
    return Placement(points, g, own, *_walk_edges(points, g, own, sim))


def _projected(placement: Placement, sim: Similarity) -> Placement:
    """The same with the axes on which rows have the latent as projection, however it was turned.

    Where there are no rows, similarities with all points are projected.
    """
    centred = placement.latent - placement.latent.mean(axis=0)
    # Coordinates are centred, so that the mean of the rows takes no part.
    pull = centred @ np.linalg.pinv(centred.T @ centred, hermitian=True)
    rows = sim.factor()
    if rows is None:
        axes, middle = pull, sim.totals() / sim.n_samples
    else:
        axes, middle = np.zeros((rows.shape[1], pull.shape[1])), np.zeros(rows.shape[1])
        step = block_rows(rows.shape[1])
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            axes += block.T @ pull[start : start + step]
            middle += block.sum(axis=0, dtype=np.float64) / len(rows)
    return replace(placement, axes=axes, origin=placement.latent.mean(axis=0) - middle @ axes)


def _walk_edges(points: Floats, g: CsrGraph, own: Floats, sim: Similarity) -> tuple[Floats, float]:
    """Similarity of each row with the last it is joined to, and the unit of the latent."""
    degrees = np.diff(g.indptr)
    reach = np.full(own.size, np.inf)
    ratios = np.zeros(own.size)
    # Blocks of rows: a dense threshold graph has more edges than memory has room for their ends.
    step = block_rows(int(degrees.max(initial=1)))
    for start in range(0, own.size, step):
        stop = min(start + step, own.size)
        some = start + np.flatnonzero(degrees[start:stop])
        if not some.size:
            continue
        left = np.repeat(some, degrees[some])
        right = g.indices[g.indptr[start] : g.indptr[stop]].astype(np.int64)
        first = g.indptr[some] - g.indptr[start]
        value = sim.between(left, right)
        reach[some] = np.minimum.reduceat(value, first)
        lengths = np.add.reduceat(np.sum((points[left] - points[right]) ** 2, axis=1), first)
        squares = np.add.reduceat(own[left] + own[right] - 2.0 * value, first)
        ratios[some] = np.sqrt(lengths / np.maximum(squares, _ROUNDING))
    known = ratios[ratios > 0.0]
    return reach, float(np.median(known)) if known.size else 0.0


def place(
    placement: Placement,
    sim: Similarity,
    X_new: Any,
    *,
    process: gplvm.Process | None = None,
    verbose: int = 0,
) -> tuple[Floats, Floats]:
    """Latent of new rows, each placed by itself.

    Parameters
    ----------
    placement : Placement
        What was kept of the fit.
    sim : Similarity
        Similarity of the training rows.
    X_new : (b, p) ndarray of float, or (b, n) covariances with the training rows
        New rows, as the similarity takes them.
    process : Process or None
        The Gaussian process that the training rows are samples of, None if they are not.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    latent : (b, m) ndarray of float64
        Where the rows are put.
    residual : (b,) ndarray of float64
        How badly a row fits in, in units of the latent: what is left of the row when it is made
        up from the training rows it is joined to, and how far these are from its place, in
        quadrature. It is small near training rows and large for a row that is like none of them.
    """
    count = X_new.shape[0]
    latent = np.empty((count, placement.latent.shape[1]))
    residual = np.empty(count)

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        latent[part], residual[part] = _place_block(placement, sim, X_new[part], process)
        if bar is not None:
            bar.update(stop - start)

    bar = progress_bar(verbose, total=count, desc="placing rows")
    try:
        map_blocks(work, count, 512)
    finally:
        if bar is not None:
            bar.close()
    return latent, residual


def _place_block(
    placement: Placement, sim: Similarity, X_new: Any, process: gplvm.Process | None
) -> tuple[Floats, Floats]:
    """The same for a few rows, whose pairs of candidates are compared together."""
    taken = min(WITHOUT_GRAPH if placement.graph is None else CANDIDATES, sim.n_samples)
    rows_new = None if placement.axes is None else sim.factor_of(X_new)
    found = [
        _joined(placement, np.asarray(near, dtype=np.int64), value)
        for near, value in zip(*sim.nearest(X_new, taken), strict=True)
    ]
    pairs = [np.triu_indices(rows.size, 1) for rows, _ in found]
    left = np.concatenate([rows[i] for (rows, _), (i, _) in zip(found, pairs, strict=True)])
    right = np.concatenate([rows[j] for (rows, _), (_, j) in zip(found, pairs, strict=True)])
    of_pairs = sim.between(left, right)
    latent = np.empty((len(found), placement.latent.shape[1]))
    residual = np.empty(len(found))
    at = 0
    # One row at a time: the bits of a product depend on how many rows it is made of.
    for index, ((rows, value), (i, j)) in enumerate(zip(found, pairs, strict=True)):
        gram = np.diag(placement.own[rows])
        gram[i, j] = gram[j, i] = of_pairs[at : at + i.size]
        at += i.size
        squares, between = _squared_distances(placement, gram, value)
        weights, left_over = _reconstruct(squares, between, RIDGE + _torn(placement, rows))
        points = placement.latent[rows]
        latent[index] = weights @ points
        if process is not None:
            latent[index] = _by_likelihood(process, X_new[index], latent[index])
        if placement.axes is not None and rows_new is not None:
            latent[index] = placement.origin + rows_new[index] @ placement.axes
        spread = np.abs(weights) @ np.sum((points - latent[index]) ** 2, axis=1)
        residual[index] = np.sqrt(placement.unit**2 * left_over + spread)
    return latent, residual


def _by_likelihood(process: gplvm.Process, row: NDArray[np.floating], start: Floats) -> Floats:
    """Likeliest place of a row; near a training row it goes over into where it started."""
    seen = gplvm.see.unchecked(process, row)
    return start + freshness(process, seen) * (
        gplvm.likeliest.unchecked(process, seen, start)[0] - start
    )


def freshness(process: gplvm.Process, seen: gplvm.Seen) -> float:
    """0 for a copy of a training row, 1 for a row with noise of its own, smooth in between."""
    by_noise = 2.0 * process.noise * process.n_observed
    # A product, not the nearest row alone: it has no kink where another row becomes the nearest.
    share = np.minimum(seen.sq_dist / (FRESH * by_noise), 1.0)
    return float(np.prod(share * share * (3.0 - 2.0 * share)))


def _joined(placement: Placement, near: Ints, value: Floats) -> tuple[Ints, Floats]:
    """Training rows that a new row is joined to, the nearest first.

    It is joined to a row if it is as similar to it as the least similar row of its own, and only
    to the nearest row and what that is joined to: it lies on one sheet of a roll.
    """
    # The squared distance, but for what depends on the new row only.
    order = np.argsort(placement.own[near] - 2.0 * value, kind="stable")
    near, value = near[order], value[order]
    g = placement.graph
    if g is None or placement.reach is None:
        return near, value
    around = g.indices[g.indptr[near[0]] : g.indptr[near[0] + 1]]
    found = np.searchsorted(around, near)
    adjacent = np.append(around, -1)[found] == near
    keep = adjacent & (value >= placement.reach[near])
    keep[0] = True
    return near[keep], value[keep]


def _torn(placement: Placement, rows: Ints) -> Floats:
    """Penalty of each row for a latent that is far from that of the first one."""
    g, first = placement.graph, placement.latent[rows[0]]
    around = rows[1:] if g is None else g.indices[g.indptr[rows[0]] : g.indptr[rows[0] + 1]]
    if around.size == 0:
        return np.zeros(rows.size)
    usual = np.median(np.sum((placement.latent[around] - first) ** 2, axis=1))
    if usual == 0.0:
        return np.zeros(rows.size)
    away = np.sum((placement.latent[rows] - first) ** 2, axis=1)
    return TORN * np.maximum((away / usual) ** (TORN_POWER / 2) - 1.0, 0.0)


def _squared_distances(placement: Placement, gram: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Squared distances of a new row to those it is joined to, and between these.

    Those among rows of X; where similarities estimate a kernel, those of its latent.
    """
    own_new, own = _own_similarity(gram, value), gram.diagonal()
    to_rows = np.maximum(own_new + own - 2.0 * value, _ROUNDING * own.max())
    if placement.kernel is None:
        return to_rows, own[:, None] + own - 2.0 * gram
    root, root_new = np.sqrt(np.maximum(own, FLOOR)), np.sqrt(max(own_new, FLOOR))
    between = placement.kernel.sq_distance(
        np.clip(gram / (root[:, None] * root), placement.floor, 1.0)
    )
    np.fill_diagonal(between, 0.0)
    to_latent = placement.kernel.sq_distance(
        np.clip(value / (root_new * root), placement.floor, 1.0)
    )
    # Kernels with a kink at 0 square the small distances once more; weights must not outrun them.
    return np.maximum(to_latent, to_rows), between


def _reconstruct(squares: Floats, between: Floats, penalty: Floats) -> tuple[Floats, float]:
    r"""Weights of sum 1 that make up a row from those it is joined to, and \|x - Σ w_j x_j\|².

    ``squares`` (k,) are squared distances of the row to these, ``between`` (k, k) those among them,
    ``penalty`` (k,) the factors p_j; the first and last are positive.
    """
    gram = 0.5 * (squares[:, None] + squares - between)
    # In units of each distance, in which no weight is near the rounding of another.
    largest = float(squares.max()) or 1.0
    scale = 1.0 / np.sqrt(np.maximum(squares, _LEAST_SQUARE * largest))
    values, vectors = np.linalg.eigh(gram * scale[:, None] * scale + np.diag(penalty))
    # Squared distances of no points have negative eigenvalues.
    values = np.maximum(values, penalty.min())
    weights = (vectors @ ((scale @ vectors) / values)) * scale
    weights /= weights.sum()
    return weights, max(float(weights @ gram @ weights), 0.0)


def _own_similarity(gram: Floats, value: Floats) -> float:
    r"""Similarity of a new row with itself, which it need not be asked for.

    It is that of the rows it is joined to if these agree (1 for a correlation). Otherwise each of
    them says <x, x> = 2 <x, x_j> - <x_j, x_j> + \|x - x_j\|², where the squared distance is to the
    squared differences of similarities as between those rows, and the most similar says most.
    """
    own = gram.diagonal()
    if np.ptp(own) <= _SAME * np.max(own):
        return float(own.mean())
    apart = np.sum((gram - value) ** 2, axis=1)
    lengths = np.sum(gram**2, axis=1)
    profiles = lengths[:, None] + lengths - 2.0 * gram @ gram
    squares = own[:, None] + own - 2.0 * gram
    ratio = float(squares.sum() / profiles.sum())
    weights = 1.0 / (apart + _ROUNDING**2 * float(np.max(own)) ** 2)
    return float(weights @ (2.0 * value - own + ratio * apart) / weights.sum())
