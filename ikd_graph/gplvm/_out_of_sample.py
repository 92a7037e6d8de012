r"""Placing rows by local linear reconstruction among the rows they are joined to.

With C_ij = <x - x_i, x - x_j> for the joined rows, which similarities give, the weights minimize

    \|x - Σ w_j x_j\|² + Σ p_j w_j² \|x - x_j\|²    with Σ w_j = 1, and the latent is Σ w_j z_j.

A row is joined to its most similar training row and to what that is joined to in the graph: it lies
on one sheet of a roll. The weights see no unit of the latent, so that they agree with a latent that
a refinement has stretched here and there. Noise of the rows is in the diagonal of C: much of it
averages over many rows, none leaves a linear interpolation. As x approaches x_1 the penalty of w_1
vanishes and that of no other weight does, hence w_1 -> 1 and the latent goes to z_1.

A linear latent is a projection of the rows, and so is that of a new row.

Where rows are samples of a Gaussian process, a new one has a point of maximum likelihood, and the
reconstruction is only the start. Near a training row it is all that counts: the process would put
that row, measured with the same noise again, elsewhere than the fit did.

Of many rows the likelihood is maximized over a well-spread core, whose process places the others.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from .._base.progress import progress_bar
from .._base.table import dense_rows
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats, Integers
from .._base.validation import optional, validate
from ..graph import CsrGraph, check_graph
from ..similarity import Similarity
from ._process import GaussianProcess, ObservedRows
from ._restarts import LikelihoodFit

N_CANDIDATES = 40
"""Most similar training rows that a new row may be joined to."""

RIDGE = 0.1
"""Penalty p_j of a weight, which a neighborhood that is not flat needs.

From .03 to .3 hardly anything changes; without it weights of exact data are arbitrary.
"""

FRESH = 0.25
"""A row is no copy of a training row from this fraction of the squared distance that noise makes.

Two rows of one latent with noise n of their own in N values are 2 n N apart in square, times
chi²_N / N, which is below a quarter once in 3600 such pairs for 20 values, and once in
80 million for 50.
"""

MAX_POINTS = {"annealed": 250, "local": 1000}
"""Rows whose likelihood is searched, in some 2 000 evaluations or in 40: a few seconds of each. The
process of the core places the others, in .4 or 3 ms a row."""


class CoreFit(NamedTuple):
    """Latent of all rows, and the fit of the core that placed those outside it."""

    latent: Floats  # (n, m)
    core: NDArray[np.int64]  # (c,) sorted rows of the core; all rows if they are few
    fit: LikelihoodFit  # of the core


@dataclass(frozen=True)
class Placement:
    """All that placing a new row needs next to the similarity, in plain arrays."""

    latent: Floats  # (n, m)
    graph: CsrGraph | None  # None joins a row to all candidates
    unit: float  # latent distance that a distance of 1 between rows stands for
    axes: Floats | None = None  # (q, m) that the rows of a linear latent are projected on
    origin: Floats | None = None  # (m,) latent of a row of zeros


@validate(g=optional(check_graph))
def prepare(
    latent: Floats, g: CsrGraph | None, sim: Similarity, *, linear: bool = False
) -> Placement:
    """Keep what placing new rows needs.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Latent of the training rows.
    g : CsrGraph or None
        Graph it came from, None if all pairs made it.
    sim : Similarity
        Similarity of the training rows.
    linear : bool
        Whether the latent is a projection of the rows as they are compared.

    Returns
    -------
    Placement
        Plain arrays.
    """
    source = np.arange(len(latent))
    target = np.roll(source, 1)
    if g is not None:
        source = np.flatnonzero(np.diff(g.indptr))
        target = g.indices[g.indptr[source]].astype(np.int64)
    lengths = np.linalg.norm(latent[source] - latent[target], axis=1)
    ratios = lengths / np.sqrt(_sq_distances(sim.between(source, target)))
    unit = float(np.median(ratios)) if ratios.size else 0.0
    if not linear:
        return Placement(latent, g, unit)
    # Coordinates are centered, so that the mean of the rows takes no part.
    center, rows = latent.mean(axis=0), sim.rows
    pull = (latent - center) @ np.linalg.pinv((latent - center).T @ (latent - center))
    if rows is None:
        # Similarities with all points are projected.
        axes, mean = sim.unit**2 * pull, sim.matrix().mean(axis=0)
    else:
        axes, mean = np.zeros((rows.shape[1], pull.shape[1])), np.zeros(rows.shape[1])
        for batch in gen_batches(len(rows), block_rows(rows.shape[1])):
            block = rows[batch]
            axes += block.T @ pull[batch]
            mean += block.sum(axis=0, dtype=np.float64) / len(rows)
        # Least squares: of some columns the loadings are not orthonormal.
        axes = np.linalg.pinv(axes).T
    return Placement(latent, g, unit, axes, center - mean @ axes)


def place(
    placement: Placement,
    sim: Similarity,
    X_new: Any,
    *,
    process: GaussianProcess | None = None,
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
    process : GaussianProcess or None
        The Gaussian process that the training rows are samples of, None if they are not.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    latent : (b, m) ndarray of float64
        Where the rows are put.
    residual : (b,) ndarray of float64
        How badly a row fits in, in units of the latent: the distance of the row to its
        reconstruction from the training rows it is joined to, and how far these are from its
        latent, in quadrature. It is small near training rows and large for a row that is like none.
    """
    latent = np.empty((X_new.shape[0], placement.latent.shape[1]))
    residual = np.empty(len(latent))
    bar = progress_bar(verbose, total=len(latent), desc="placing rows")

    def work(start: int, stop: int) -> None:
        batch = slice(start, stop)
        latent[batch], residual[batch] = _place_block(placement, sim, X_new[batch], process)
        bar.update(stop - start)

    with bar:
        map_blocks(work, len(latent), 512)
    return latent, residual


def _place_block(
    placement: Placement, sim: Similarity, X_new: Any, process: GaussianProcess | None
) -> tuple[Floats, Floats]:
    """Return the same for a few rows."""
    latent = np.empty((X_new.shape[0], placement.latent.shape[1]))
    residual = np.empty(len(latent))
    # One row at a time: the bits of a product depend on how many rows it is made of.
    near, values = sim.nearest(X_new, min(N_CANDIDATES, sim.n_samples))
    kept = []
    for index in range(len(latent)):
        joined = _joined(placement.graph, near[index])
        joined &= sim.mutually_known(near[index], values[index])
        numbers = near[index][joined]
        points, squares = placement.latent[numbers], _sq_distances(values[index][joined])
        i, j = np.triu_indices(len(points), 1)
        between = np.zeros((len(points), len(points)))
        between[i, j] = between[j, i] = _sq_distances(sim.between(numbers[i], numbers[j]))
        weights, left_over = _reconstruct(squares, between)
        latent[index] = weights @ points
        kept.append((np.abs(weights), points))
        residual[index] = placement.unit**2 * left_over
    if process is not None:
        latent = _by_likelihood(process, sim.modeled(dense_rows(X_new)), latent)
    if placement.axes is not None:
        for index, projected in enumerate(sim.factor_of(X_new)):
            latent[index] = placement.origin + projected @ placement.axes
    for index, (fractions, points) in enumerate(kept):
        residual[index] += fractions @ np.sum((points - latent[index]) ** 2, axis=1)
    return latent, np.sqrt(residual)


def _by_likelihood(process: GaussianProcess, rows: NDArray[np.floating], starts: Floats) -> Floats:
    """Points of maximum likelihood; near a training row they go over into where they started."""
    observed = process.observe(rows)
    placed = process.place(observed, starts)[0]
    return starts + freshness(process, observed)[:, None] * (placed - starts)


def freshness(process: GaussianProcess, observed: ObservedRows) -> Floats:
    """0 for a copy of a training row, 1 for a row with noise of its own, smooth in between."""
    by_noise = 2.0 * process.noise * process.n_observed
    # A product, not the nearest row alone: it has no kink where another row becomes the nearest.
    fraction = np.minimum(observed.sq_dist / (FRESH * by_noise), 1.0)
    return np.asarray(np.prod(fraction * fraction * (3.0 - 2.0 * fraction), axis=-1))


def _joined(g: CsrGraph | None, near: Integers) -> NDArray[np.bool_]:
    """Which of the most similar training rows a new row is joined to, the first among them."""
    joined = np.ones(near.size, dtype=np.bool_)
    if g is not None:
        joined = np.isin(near, g.indices[g.indptr[near[0]] : g.indptr[near[0] + 1]])
        joined[0] = True
    return joined


def _sq_distances(similarities: Floats) -> Floats:
    """Squared distances of rows that are similar to themselves by 1, at least a rounding."""
    return np.maximum(2.0 - 2.0 * similarities, np.finfo(np.float64).eps)


def _reconstruct(squares: Floats, between: Floats) -> tuple[Floats, float]:
    r"""Weights of sum 1 that make up a row from those it is joined to, and \|x - Σ w_j x_j\|².

    ``squares`` (k,) are squared distances of the row to these, ``between`` (k, k) those among them.
    """
    gram = 0.5 * (squares[:, None] + squares - between)
    # In units of each distance, in which no weight is near the rounding of another.
    scale = 1.0 / np.sqrt(squares)
    values, vectors = np.linalg.eigh(gram * scale[:, None] * scale + RIDGE * np.eye(scale.size))
    # Squared distances of no points have negative eigenvalues.
    values = np.maximum(values, RIDGE)
    weights = (vectors @ ((scale @ vectors) / values)) * scale
    weights /= weights.sum()
    return weights, max(float(weights @ gram @ weights), 0.0)


def farthest_points(latent: Floats, count: int) -> NDArray[np.int64]:
    """Sorted points that cover an embedding: each the farthest from those before it."""
    if count >= len(latent):
        return np.arange(len(latent))
    nearest = ((latent - latent.mean(axis=0)) ** 2).sum(axis=1)
    core = [int(np.argmax(nearest))]
    nearest = np.full(len(latent), np.inf)
    while len(core) < count:
        np.minimum(nearest, ((latent - latent[core[-1]]) ** 2).sum(axis=1), out=nearest)
        nearest[core[-1]] = -1.0  # no point twice where several lie in one place
        core.append(int(np.argmax(nearest)))
    return np.sort(np.array(core, dtype=np.int64))


def place_outside(
    process: GaussianProcess,
    rows: NDArray[np.floating],
    init: Floats,
    core: NDArray[np.int64],
) -> Floats:
    """Latent of all rows: those outside the core where they have the largest likelihood."""
    middle = init[core].mean(axis=0)
    turn = np.linalg.lstsq(init[core] - middle, process.points, rcond=None)[0]
    latent = (init - middle) @ turn
    latent[core] = process.points
    outside = np.setdiff1d(np.arange(len(init)), core)

    def work(start: int, stop: int) -> None:
        batch = outside[start:stop]
        latent[batch] = process.place(process.observe(rows[batch]), latent[batch])[0]

    map_blocks(work, outside.size, 128)
    return latent
