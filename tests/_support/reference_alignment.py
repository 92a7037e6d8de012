"""Slow twins of solving and merging blocks, as close to the formulas as can be; numpy only."""

import numpy as np


def ragged(sets):
    """Starts and members of a list of node sets, each sorted."""
    indptr = np.zeros(len(sets) + 1, dtype=np.int64)
    indptr[1:] = np.cumsum([len(s) for s in sets])
    members = [node for s in sets for node in sorted(s)]
    return indptr, np.array(members, dtype=np.int32)


def naive_gram(sq_dist, reference):
    """Inner products from a reference point (Eq. 4)."""
    n = len(sq_dist)
    if reference == "center":
        centering = np.eye(n) - np.ones((n, n)) / n
        return -0.5 * centering @ sq_dist @ centering
    scores = sq_dist.max(axis=1) if reference == "min_max" else sq_dist.mean(axis=1)
    r = int(np.argmin(scores))
    return 0.5 * (sq_dist[r][:, None] + sq_dist[r][None, :] - sq_dist)


def naive_latent(sq_dist, n_components, reference):
    """Coordinates, all eigenvalues in descending order (Algorithm 1)."""
    values, vectors = np.linalg.eigh(naive_gram(sq_dist, reference))
    values, vectors = values[::-1], vectors[:, ::-1]
    out = np.zeros((len(sq_dist), n_components))
    for m in range(min(n_components, len(values))):
        if values[m] > 1e-13 * abs(values).max():
            vector = vectors[:, m]
            out[:, m] = vector * np.sign(vector[np.argmax(abs(vector))]) * np.sqrt(values[m])
    return out, values


def naive_rigid(source, target, weights=None):
    """Moved source points; an open rotation is the one nearest to the identity."""
    weights = np.ones(len(source)) if weights is None else weights
    mean_source = np.average(source, axis=0, weights=weights)
    mean_target = np.average(target, axis=0, weights=weights)
    a, b = source - mean_source, target - mean_target
    cross = a.T @ (weights[:, None] * b)
    # A little identity decides where the points decide nothing.
    size = np.linalg.norm(cross) or 1.0
    left, _, right = np.linalg.svd(cross + 1e-9 * size * np.eye(len(cross)))
    rotation = left @ right
    return rotation, mean_target - mean_source @ rotation


def naive_merger(sets, coordinates, order):
    """Blocks that are left ({point: position}) of pairwise mergers in a given order, by loops."""
    blocks = {
        index: {point: (position, 1) for point, position in zip(sorted(s), rows, strict=True)}
        for index, (s, rows) in enumerate(zip(sets, coordinates, strict=True))
    }
    for low, high, n_shared in order:
        big, small = blocks[low], blocks.pop(high)
        if len(big) < len(small):
            big, small = small, big
        shared = sorted(big.keys() & small.keys())
        assert len(shared) == n_shared
        rotation, shift = naive_rigid(*(np.array([b[p][0] for p in shared]) for b in (small, big)))
        for point, (position, mass) in small.items():
            moved = position @ rotation + shift
            fixed, fixed_mass = big.get(point, (moved, 0))
            whole = mass + fixed_mass
            big[point] = ((moved * mass + fixed * fixed_mass) / whole, whole)
        blocks[low] = big
    return [{p: position for p, (position, _) in block.items()} for block in blocks.values()]


def naive_round(sets, coordinates, weights, points):
    """One round of generalized Procrustes: sum of squares before it, and the new consensus."""
    total = np.zeros(len(points))
    mean = np.zeros_like(points)
    loss = 0.0
    for s, rows, w in zip(sets, coordinates, weights, strict=True):
        nodes = sorted(s)
        rotation, shift = naive_rigid(rows, points[nodes], w)
        proposal = rows @ rotation + shift
        loss += (w[:, None] * (proposal - points[nodes]) ** 2).sum()
        mean[nodes] += w[:, None] * proposal
        total[nodes] += w
    covered = total > 0
    mean[covered] /= total[covered, None]
    mean[~covered] = points[~covered]
    return loss, mean
