"""The blockwise solution as the published runs have it, beyond what the paper's text says.

Three rules are only in the public code: the threshold of N observed dimensions, neighborhoods
instead of cliques where the threshold leaves many points alone, and an Isomap embedding that takes
over where it explains the covariances better. results/README.md measures what each is worth.
"""

import warnings
from itertools import pairwise

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import Isomap

from ikd_graph import alignment, blocks, cliques, graph, kernels


def threshold(n_features):
    """Covariance from which a pair is an edge: 0.3 up to N = 100, 0.1 from 1000, between by log."""
    return float(np.clip(0.7 - 0.2 * np.log10(n_features), 0.1, 0.3))


def embed(X, n_components, kernel, *, fallback=True):
    """Coordinates (n, M) of rows whose signal has variance 1."""
    kernel = kernels.get(kernel)
    cov = np.cov(X)
    cov = np.where(cov <= 0.0, 1e-3, np.minimum(cov, 1.0 - 1e-5))
    np.fill_diagonal(cov, 1.0)
    groups = _cliques(cov, threshold(X.shape[1]), n_components)
    # Neighborhoods have pairs below the threshold: every covariance is an edge here.
    solved = blocks.solve(graph.threshold(cov, 1e-6), groups, kernel, n_components, "min_max")
    reference = Isomap(n_components=n_components).fit_transform(X)
    points = _merge(solved, reference)
    if not fallback or _explained(reference, cov, kernel) - _explained(points, cov, kernel) < 0.05:
        return points
    return _mean_of_aligned(solved, reference)


def _cliques(cov, s0, n_components):
    """At most 500 cliques of M + 2 points and more, points outside them by their neighborhoods."""
    size = n_components + max(len(cov) // 50, 2)
    nearest = np.argsort(-cov, axis=1)[:, :size]
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that there are more than 500
            large = list(cliques.maximal_cliques(graph.threshold(cov, s0), n_components + 2, 500))
        outside = np.setdiff1d(np.arange(len(cov)), np.concatenate([*large, np.empty(0, int)]))
        if outside.size <= len(cov) // 20:
            return large + [np.sort(nearest[point]) for point in outside]
        if s0 > 0.26:
            return [np.sort(row) for row in nearest]
        s0 += 0.04


def _merge(solved, reference):
    """Always the two groups that share most points, until one has all of them.

    The smaller is moved; shared points stay where the larger has them (`alignment.merge_greedy`
    averages them, and merges every clique). Groups that share no point are placed by the reference.
    """
    blocks_of = [
        (solved.blocks.members[a:b], solved.coordinates[a:b])
        for a, b in pairwise(solved.blocks.indptr)
    ]
    inside = np.zeros((len(blocks_of), len(reference)), dtype=bool)
    places = np.zeros((*inside.shape, reference.shape[1]))
    for row, (members, points) in enumerate(blocks_of):
        inside[row, members], places[row, members] = True, points
    shared = inside.astype(int) @ inside.T
    np.fill_diagonal(shared, -1)
    while shared.max() > 0 and not inside.all(axis=1).any():
        i, j = np.unravel_index(shared.argmax(), shared.shape)
        if inside[j].sum() > inside[i].sum():
            i, j = j, i
        both, new = inside[i] & inside[j], inside[j] & ~inside[i]
        if new.any():
            move = alignment.rigid_fit(places[j, both], places[i, both])
            places[i, new] = places[j, new] @ move.rotation + move.translation
            inside[i] |= new
            shared[i] = shared[:, i] = np.where(shared[i] < 0, -1, inside.astype(int) @ inside[i])
        shared[i, i] = -1
        shared[j] = shared[:, j] = -1
        inside[j] = False
    whole = inside.all(axis=1)
    if whole.any():
        return places[whole.argmax()]
    group = inside.argmax(axis=0)
    points = places[group, np.arange(len(group))]
    labels = np.unique(group, return_inverse=True)[1]
    return alignment.place_groups(points, labels, reference)


def _explained(points, cov, kernel):
    """R2 of the covariances that points imply, at the length-scale that fits them best."""
    middle = (cov > 0.15) & (cov < 0.85)
    expected = np.sqrt(kernel.sq_distance(cov[middle]))
    distances = squareform(pdist(points))
    scale = (distances[middle] @ expected) / (expected @ expected)
    implied = kernel.covariance((distances / scale) ** 2)
    return 1.0 - ((cov - implied) ** 2).sum() / ((cov - cov.mean()) ** 2).sum()


def _mean_of_aligned(solved, reference):
    """Mean over cliques of their coordinates, each brought to the reference by an affine map."""
    total, count = np.zeros_like(reference), np.zeros((len(reference), 1))
    bounds = solved.blocks.indptr
    for start, stop in pairwise(bounds):
        members = solved.blocks.members[start:stop]
        own = np.column_stack([np.ones(members.size), solved.coordinates[start:stop]])
        total[members] += own @ np.linalg.lstsq(own, reference[members], rcond=None)[0]
        count[members] += 1.0
    return total / count
