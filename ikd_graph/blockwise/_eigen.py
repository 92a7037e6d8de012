"""Small eigenproblems of many cliques at once (Li & Wu 2024, Algorithm 1 on every block)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.threads import block_rows, map_blocks
from .._base.types import Floats
from ..cliques import Blocks
from ..graph import CsrGraph


class Spectra(NamedTuple):
    """What the eigenproblems of all blocks give, by member or by block."""

    coordinates: Floats  # (total, M), of each block in a frame of its own
    spread: Floats  # (total,) mean variance of the distances of a point in its block
    values: Floats  # (n_blocks, M) leading eigenvalues, descending
    fractions: Floats  # (n_blocks, 2) of the leading, negative ones in the sum of squares
    n_missing: NDArray[np.int64]  # (n_blocks,) pairs that are no edges
    n_clipped: NDArray[np.int64]  # (n_blocks,) leading values below 0


def solve_cliques(
    blocks: Blocks,
    g: CsrGraph,
    sq_distances: Floats,
    variance: Floats,
    reference: str,
    n_components: int,
) -> Spectra:
    """Solve the eigenproblem of every clique.

    Parameters
    ----------
    blocks : Blocks
        Cliques, their nodes sorted.
    g : CsrGraph
        Graph of the nodes.
    sq_distances : (m,) ndarray of float64
        Squared distance of each entry of the graph.
    variance : (m,) ndarray of float64
        Sampling variance of the distance of each entry, up to a factor.
    reference : str
        "center", "min_max" or "min_mean".
    n_components : int
        Number of coordinates M.

    Returns
    -------
    Spectra
        Blocks with pairs that are no edges are counted but not solved.
    """
    total, n_blocks = blocks.members.size, blocks.n_blocks
    spectra = Spectra(
        np.zeros((total, n_components)),
        np.zeros(total),
        np.zeros((n_blocks, n_components)),
        np.zeros((n_blocks, 2)),
        np.zeros(n_blocks, dtype=np.int64),
        np.zeros(n_blocks, dtype=np.int64),
    )
    n = g.n_nodes
    # Ascending, with a last entry that no pair has.
    keys = np.append(np.repeat(np.arange(n) * n, np.diff(g.indptr)) + g.indices, n * n)
    edges = np.append(sq_distances, 0.0), np.append(variance, 0.0)
    batches = _batches_of(blocks.sizes)

    def solve(start: int, stop: int) -> None:
        for batch in batches[start:stop]:
            size = int(blocks.sizes[batch[0]])
            entries = blocks.indptr[batch][:, None] + np.arange(size)
            members = blocks.members[entries].astype(np.int64)
            row, column = np.triu_indices(size, 1)
            wanted = members[:, row] * n + members[:, column]
            at = np.searchsorted(keys, wanted)
            spectra.n_missing[batch] = np.count_nonzero(keys[at] != wanted, axis=1)
            if spectra.n_missing[batch].any():
                continue
            sq_dist, noise = (_squares(values[at], row, column, size) for values in edges)
            spectra.spread[entries] = noise.sum(axis=2) / max(size - 1, 1)
            gram = _gram(sq_dist, reference)
            _write_leading(spectra, batch, entries, *np.linalg.eigh(gram))

    map_blocks(solve, len(batches), 1)
    return spectra


def _batches_of(sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Blocks of equal size, as many together as a batch has entries for."""
    batches = []
    for size in np.unique(sizes[sizes > 0]):
        same = np.flatnonzero(sizes == size)
        count = block_rows(int(size * size))
        batches += [same[start : start + count] for start in range(0, same.size, count)]
    return batches


def _squares(
    values: Floats, row: NDArray[np.int64], column: NDArray[np.int64], size: int
) -> Floats:
    """Symmetric matrices (b, n, n) from their upper triangles (b, n (n - 1) / 2)."""
    out = np.zeros((values.shape[0], size, size))
    out[:, row, column] = values
    out[:, column, row] = values
    return out


def _gram(sq_dist: Floats, reference: str) -> Floats:
    """Inner products of points (b, n, n) from their squared distances (Eq. 4)."""
    shift: Floats | float = 0.0
    if reference == "center":
        offset = sq_dist.mean(axis=2)
        shift = offset.mean(axis=1)[:, None, None]
    else:
        score = sq_dist.sum(axis=2)
        if reference == "min_max":
            # Ties as in `eigen.reference_index`, so that the order of the points decides nothing.
            largest = sq_dist.max(axis=2)
            least = largest.min(axis=1, keepdims=True)
            score = np.where(largest <= least * (1.0 + 1e-12), score, np.inf)
        offset = sq_dist[np.arange(sq_dist.shape[0]), np.argmin(score, axis=1)]
    return 0.5 * (offset[:, :, None] + offset[:, None, :] - sq_dist - shift)


def _write_leading(
    spectra: Spectra,
    batch: NDArray[np.int64],
    entries: NDArray[np.int64],
    spectrum: Floats,
    vectors: Floats,
) -> None:
    """Write coordinates and fractions of blocks (b,) from eigenpairs of Gram matrices (Eq. 9)."""
    size = min(spectra.values.shape[1], spectrum.shape[1])
    # Rounding leaves values of this size where the points span fewer dimensions.
    floor = 1e-13 * np.abs(spectrum[:, [0, -1]]).max(axis=1, keepdims=True)
    values, axes = spectrum[:, : -size - 1 : -1], vectors[:, :, : -size - 1 : -1]
    spectra.n_clipped[batch] = np.count_nonzero(values < -floor, axis=1)
    values = np.where(values > floor, values, 0.0)
    # A vector and its negative are both right: the largest entry is made positive.
    peak = np.take_along_axis(axes, np.abs(axes).argmax(axis=1, keepdims=True), axis=1)
    roots = np.sqrt(values)[:, None, :] * np.where(peak < 0.0, -1.0, 1.0)
    spectra.coordinates[entries, :size] = axes * roots
    spectra.values[batch, :size] = values
    squares = np.column_stack([values**2 @ np.ones(size), (np.minimum(spectrum, 0.0) ** 2).sum(1)])
    total = (spectrum**2).sum(axis=1, keepdims=True)
    positive = total > 0.0
    spectra.fractions[batch] = np.where(
        positive, squares / np.where(positive, total, 1.0), [1.0, 0.0]
    )
