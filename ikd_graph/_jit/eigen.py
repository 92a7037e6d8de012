"""Small eigenproblems of many cliques at once (Li & Wu 2024, Algorithm 1 on every block)."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from .._numba import jit, pjit

# Columns beside the leading ones, and steps before the whole spectrum is found after all.
_SPARE, _MOST_STEPS = 4, 60
# Residual of an eigenvector that is good enough, as a share of the largest eigenvalue.
_RESIDUAL = 1e-10


class Edges(NamedTuple):
    """Upper triangle of a graph: each edge at its lower end."""

    indptr: np.ndarray  # (T + 1,) int64, row starts
    indices: np.ndarray  # (m,) int32, neighbours with a higher number, sorted in each row
    sq_dist: np.ndarray  # (m,) float64, squared distance of each edge
    variance: np.ndarray  # (m,) float64, sampling variance of the distance, up to a factor


class Solved(NamedTuple):
    """Room for what `solve_blocks` finds, row by row with the members or with the blocks."""

    coordinates: np.ndarray  # (total, M) float64, of each block in a frame of its own
    spread: np.ndarray  # (total,) float64, mean variance of the distances of a point in its block
    values: np.ndarray  # (n_blocks, M) float64, leading eigenvalues
    shares: np.ndarray  # (n_blocks, 2) float64, of the leading, negative ones in the sum of squares
    counts: np.ndarray  # (n_blocks, 2) int64, pairs that are no edges, leading values below 0


@jit
def gather_pairs(members, indptr, indices, sq_dist, variance, pairs, spread):
    """Look up the edges between the members (n,) of a clique, sorted, in a graph's upper triangle.

    The arrays of the graph are those of `Edges`. Filled: ``pairs`` (n, n), squared distances, and
    ``spread`` (n,), mean variance of the distances from each member. Returns the number of pairs
    that are not edges.
    """
    n = members.size
    n_missing = 0
    for i in range(n):
        spread[i] = 0.0
    for i in range(n):
        pairs[i, i] = 0.0
        start = indptr[members[i]]
        stop = indptr[members[i] + 1]
        for j in range(i + 1, n):
            low, high = start, stop
            while low < high:
                middle = (low + high) // 2
                if indices[middle] < members[j]:
                    low = middle + 1
                else:
                    high = middle
            # Members are sorted: the next one lies behind this one.
            start = low
            if low < stop and indices[low] == members[j]:
                pairs[i, j] = sq_dist[low]
                pairs[j, i] = sq_dist[low]
                spread[i] += variance[low]
                spread[j] += variance[low]
            else:
                n_missing += 1
    for i in range(n):
        spread[i] /= max(n - 1, 1)
    return n_missing


@jit
def extreme_point(sq_dist, use_mean):
    """Point with the smallest largest (or mean) squared distance to others, lowest of equals."""
    best = 0
    lowest = np.inf
    for i in range(sq_dist.shape[0]):
        score = 0.0
        for j in range(sq_dist.shape[0]):
            score = score + sq_dist[i, j] if use_mean else max(score, sq_dist[i, j])
        if score < lowest:
            lowest = score
            best = i
    return best


@jit
def to_gram(sq_dist, reference):
    """Turn squared distances into inner products, in place (Eq. 4).

    The ``reference`` is 0 for the centre, 1 for the min_max point, 2 for the min_mean point.
    """
    n = sq_dist.shape[0]
    offset = np.empty(n, np.float64)
    shift = 0.0
    if reference == 0:
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += sq_dist[i, j]
            offset[i] = total / n
            shift += offset[i] / n
    else:
        point = extreme_point(sq_dist, reference == 2)
        for i in range(n):
            offset[i] = sq_dist[point, i]
    for i in range(n):
        for j in range(n):
            sq_dist[i, j] = 0.5 * (offset[i] + offset[j] - sq_dist[i, j] - shift)


@jit
def dominant_pairs(gram, n_components):
    """Eigenvalues of a symmetric matrix (n, n), ascending, and vectors: the largest in size only.

    Subspace iteration with a few columns more than the leading M = ``n_components`` asks for. Where
    these do not converge, or are not positive, all eigenpairs are found.
    """
    n = gram.shape[0]
    width = n_components + _SPARE
    basis = np.empty((n, width), np.float64)
    for i in range(n):
        for j in range(width):
            basis[i, j] = np.cos(1.0 + (2.0 * j + 1.0) * i)
    image = gram @ basis
    for _ in range(_MOST_STEPS):
        basis = np.ascontiguousarray(np.linalg.qr(image)[0])
        image = gram @ basis
        values, vectors = np.linalg.eigh(np.ascontiguousarray(basis.T) @ image)
        turn = np.ascontiguousarray(vectors)
        basis = basis @ turn
        image = image @ turn
        largest = max(abs(values[0]), abs(values[width - 1]))
        smallest = largest
        for j in range(width):
            smallest = min(smallest, abs(values[j]))
        # What was not found is smaller than all that was: none of it can be a leading one.
        if values[width - n_components] < smallest or values[width - n_components] <= 0.0:
            continue
        worst = 0.0
        for j in range(width - n_components, width):
            square = 0.0
            for i in range(n):
                square += (image[i, j] - values[j] * basis[i, j]) ** 2
            worst = max(worst, square)
        if np.sqrt(worst) <= _RESIDUAL * largest:
            return values, basis
    return np.linalg.eigh(gram)


@jit
def leading_coordinates(total, spectrum, vectors, out, values, shares):
    """Coordinates from the leading eigenpairs of a Gram matrix (n, n), symmetric (Eq. 9).

    ``total`` is the sum of squares of all eigenvalues, ``spectrum`` and ``vectors`` those that were
    found, ascending. Filled: ``out`` (n, M), eigenvectors times roots of eigenvalues, and
    ``values`` (M,), descending, both 0 where there is no positive one; ``shares`` (2,), those of
    the leading and of the negative eigenvalues in ``total`` (in large cliques the second is a lower
    bound). Returns how many leading ones are negative and became 0.
    """
    n, n_components = out.shape
    kept, negative = 0.0, 0.0
    last = spectrum.size - 1
    # Rounding leaves values of this size where the points span fewer dimensions.
    floor = 1e-13 * max(abs(spectrum[0]), abs(spectrum[last]))
    for value in spectrum:
        if value < 0.0:
            negative += value * value
    n_clipped = 0
    for m in range(n_components):
        k = last - m
        if k < 0 or spectrum[k] <= floor:
            n_clipped += 1 if k >= 0 and spectrum[k] < -floor else 0
            values[m] = 0.0
            for i in range(n):
                out[i, m] = 0.0
            continue
        values[m] = spectrum[k]
        kept += values[m] * values[m]
        peak = 0
        for i in range(n):
            if abs(vectors[i, k]) > abs(vectors[peak, k]):
                peak = i
        # A vector and its negative are both right: the largest entry is made positive.
        root = np.sqrt(values[m])
        if vectors[peak, k] < 0.0:
            root = -root
        for i in range(n):
            out[i, m] = vectors[i, k] * root
    shares[0] = kept / total if total > 0.0 else 1.0
    shares[1] = negative / total if total > 0.0 else 0.0
    return n_clipped


@jit
def block_gram(block, blocks, edges, reference, solved):
    """Inner products of the points of a block, and the sum of their squares.

    A block with pairs that are not edges is counted, and keeps its squared distances.
    """
    start, stop = blocks[0][block], blocks[0][block + 1]
    n = stop - start
    gram = np.empty((n, n), np.float64)
    solved.counts[block, 0] = gather_pairs(
        blocks[1][start:stop],
        edges.indptr,
        edges.indices,
        edges.sq_dist,
        edges.variance,
        gram,
        solved.spread[start:stop],
    )
    solved.counts[block, 1] = 0
    total = 0.0
    if solved.counts[block, 0] == 0:
        to_gram(gram, reference)
        for i in range(n):
            for j in range(n):
                total += gram[i, j] * gram[i, j]
    return gram, total


@jit
def keep_pairs(block, blocks, total, spectrum, vectors, solved):
    """Write down what the eigenpairs of a block's inner products say."""
    out = solved.coordinates[blocks[0][block] : blocks[0][block + 1]]
    values, shares = solved.values[block], solved.shares[block]
    solved.counts[block, 1] = leading_coordinates(total, spectrum, vectors, out, values, shares)


@pjit
def solve_blocks(which, blocks, edges, reference, solved):
    """Solve the eigenproblem of some cliques, whose nodes are sorted; ``solved`` is filled.

    A block with pairs that are not edges is not solved.
    """
    for i in numba.prange(which.size):
        block = which[i]
        gram, total = block_gram(block, blocks, edges, reference, solved)
        if solved.counts[block, 0] == 0:
            spectrum, vectors = np.linalg.eigh(gram)
            keep_pairs(block, blocks, total, spectrum, vectors, solved)


@pjit
def solve_large_blocks(which, blocks, edges, reference, solved):
    """As `solve_blocks`, from the leading eigenpairs alone: compiled where there is need."""
    for i in numba.prange(which.size):
        block = which[i]
        gram, total = block_gram(block, blocks, edges, reference, solved)
        if solved.counts[block, 0] == 0:
            spectrum, vectors = dominant_pairs(gram, solved.values.shape[1])
            keep_pairs(block, blocks, total, spectrum, vectors, solved)
