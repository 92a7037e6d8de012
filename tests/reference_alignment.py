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
        centring = np.eye(n) - np.ones((n, n)) / n
        return -0.5 * centring @ sq_dist @ centring
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


def naive_is_certain(source, target, whole):
    """Whether a motion fits clearly better than the same one and a reflection of ``whole``."""
    n, size = source.shape
    if n <= size:
        return False
    rotation, shift = naive_rigid(source, target)
    variance = ((source @ rotation + shift - target) ** 2).sum() / (
        n * size - size * (size + 1) / 2
    )
    centre, moved = target.mean(axis=0), whole @ rotation + shift
    a, b = source - source.mean(axis=0), target - centre
    _, _, directions = np.linalg.svd(a.T @ b)
    for direction in directions:
        flip = np.eye(size) - 2.0 * np.outer(direction, direction)
        loss = ((a @ rotation - b) ** 2).sum()
        gain = ((a @ rotation @ flip - b) ** 2).sum() - loss
        thick = np.mean(((moved - centre) @ direction) ** 2)
        if gain <= 50.0 * variance < thick:
            return False
    return True


def naive_merge(sets, coordinates, n_points):
    """Greedy merger: the whole matrix of overlaps is looked at in every step.

    Returns the points of each block that is left ({point: position}), the order of merging and
    the number of mergers whose motion was open.
    """
    blocks = {
        index: {point: (position, 1) for point, position in zip(sorted(s), rows, strict=True)}
        for index, (s, rows) in enumerate(zip(sets, coordinates, strict=True))
    }
    order, n_open = [], 0
    size = coordinates[0].shape[1]

    def facing(i, j):
        big, small = blocks[i], blocks[j]
        if len(big) < len(small):
            big, small = small, big
        shared = sorted(big.keys() & small.keys())
        target = np.array([big[p][0] for p in shared])
        return big, small, np.array([small[p][0] for p in shared]), target

    def certain(i, j):
        _, small, source, target = facing(i, j)
        return naive_is_certain(source, target, np.array([at for at, _ in small.values()]))

    while True:
        pairs = [(-len(blocks[i].keys() & blocks[j].keys()), i, j) for i in blocks for j in blocks]
        pairs = [pair for pair in sorted(pairs) if pair[1] < pair[2] and pair[0] < 0]
        if not pairs:
            break
        sure = next((pair for pair in pairs if -pair[0] > size and certain(*pair[1:])), None)
        _, i, j = sure or min((max(pair[0], -size), *pair[1:]) for pair in pairs)
        n_open += sure is None
        big, small, source, target = facing(i, j)
        order.append((i, j, len(source)))
        del blocks[j]
        rotation, shift = naive_rigid(source, target)
        for point, (position, mass) in small.items():
            moved = position @ rotation + shift
            if point in big:
                other, other_mass = big[point]
                whole = mass + other_mass
                big[point] = ((moved * mass + other * other_mass) / whole, whole)
            else:
                big[point] = (moved, mass)
        blocks[i] = big
    left = [{p: position for p, (position, _) in blocks[i].items()} for i in blocks]
    return left, order, n_open


def naive_round(sets, coordinates, weights, points):
    """One round of generalised Procrustes: sum of squares before it, and the new consensus."""
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
