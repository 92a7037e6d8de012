"""The blockwise solution as the published runs have it, figure by figure, beyond the paper's text.

The public code has rules that the text has not: a threshold by the number of observed dimensions,
neighborhoods where cliques leave many points alone, and in Fig. 4 and the mismatch an Isomap
embedding that takes over where it explains the correlations better. `FORMS` says which run had
which; results/readings.md measures what each is worth.
"""

from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import Isomap

from ikd_graph import blockwise, cliques, eigen, graph, kernels


@dataclass(frozen=True)
class Form:
    """Settings of a published run."""

    s0: float | None = None  # threshold; None is that of `threshold`, raised where it is too low
    most_cliques: int = 500  # visited before the search ends
    isomap: bool = False  # whether Isomap takes over where it explains the correlations better


FORMS = {
    "fig2_gp": Form(s0=0.6, most_cliques=2),
    "fig2_sine": Form(s0=0.6, most_cliques=2),
    "fig2_bump": Form(s0=0.2, most_cliques=2),
    "fig4": Form(isomap=True),
    "without_isomap": Form(),
}
"""Form of each figure; "fig4" is that of Fig. 4 to 6 and of the mismatch, too. Fig. 7 to 13 and
Table 2 are geodesic, on a graph of neighbors: `paper_geodesic` and `paper_geodesic_centered`."""


def threshold(n_features):
    """Correlation of an edge: 0.3 up to N = 100, 0.1 from N = 1000, between by the logarithm."""
    return float(np.clip(0.7 - 0.2 * np.log10(n_features), 0.1, 0.3))


def embed(X, n_components, kernel, form="fig4"):
    """Coordinates (n, M) of rows by the form of a figure."""
    kernel, form = kernels.get(kernel), FORMS[form]
    corr = np.maximum(np.corrcoef(X), 1e-3)
    np.fill_diagonal(corr, 1.0)

    def solve(members):
        sq_dist = kernel.sq_distance(corr[np.ix_(members, members)])
        return eigen.coordinates(sq_dist, n_components, "min_max").coordinates

    groups, mean_of_shared = _groups(corr, form, threshold(X.shape[1]), n_components)
    if len(groups) <= 1:
        return solve(np.arange(len(corr)))
    # Neighborhoods have pairs below the threshold: every correlation is an edge here.
    whole = graph.threshold(np.minimum(corr, 1.0), 1e-6)
    solved = blockwise.solve(whole, groups, kernel, n_components, "min_max")
    reference = Isomap(n_components=n_components).fit_transform(X)
    points, used = _merge(solved, (corr, solve), mean_of_shared)
    gain = _explained(reference, corr, kernel) - _explained(points, corr, kernel)
    return _mean_of_aligned(solved, used, reference) if form.isomap and gain >= 0.05 else points


def _groups(corr, form, s0, n_components):
    """Cliques of M + 2 points and more, or neighborhoods; whether shared points are averaged."""
    least, size = n_components + 2, n_components + max(len(corr) // 50, 2)
    given = form.s0 is not None
    s0 = form.s0 if given else s0
    while True:
        found = islice(cliques.iter_cliques(graph.threshold(corr, s0)), form.most_cliques)
        large = [clique for clique in found if clique.size >= least]
        outside = _outside(large, len(corr))
        if outside.size <= len(corr) // 20:
            return large + _nearest(corr, outside, size), False
        if given or s0 > 0.26:
            break
        s0 += 0.04
    # All that correlate with a point, point by point, until every point is in one of them.
    around, inside = [], np.zeros(len(corr), dtype=bool)
    for row in corr > s0:
        if row.sum() >= least and not inside.all():
            around.append(np.flatnonzero(row))
            inside |= row
    return around + _nearest(corr, np.flatnonzero(~inside), size), True


def _outside(groups, n):
    """Points of no group."""
    return np.setdiff1d(np.arange(n), np.concatenate([*groups, np.empty(0, int)]))


def _nearest(corr, points, size):
    """Neighborhoods of points, of so many members."""
    return [np.sort(np.argsort(-corr[point])[:size]) for point in points]


def _merge(solved, together, mean_of_shared):
    """Always the two groups that share most points, until one has all of them.

    The smaller is moved; shared points stay where the larger has them, or are averaged where all
    groups are neighborhoods (`blockwise.merge_greedy` weighs them, and merges every clique). What
    M + 1 shared points do not fix is fixed by solving some points of both groups ``together``.
    Returns places, and the groups that brought a point.
    """
    bounds = list(pairwise(solved.blocks.indptr))
    inside = np.zeros((len(bounds), solved.n_points), dtype=bool)
    places = np.zeros((*inside.shape, solved.coordinates.shape[1]))
    for row, (start, stop) in enumerate(bounds):
        inside[row, solved.blocks.members[start:stop]] = True
        places[row, solved.blocks.members[start:stop]] = solved.coordinates[start:stop]
    shared = inside.astype(int) @ inside.T
    np.fill_diagonal(shared, -1)
    used = set()
    while not inside.all(axis=1).any():
        i, j = np.unravel_index(shared.argmax(), shared.shape)
        if inside[j].sum() > inside[i].sum():
            i, j = j, i
        both, new = inside[i] & inside[j], inside[j] & ~inside[i]
        used.add(i)
        if new.any():
            used.add(j)
            average = mean_of_shared
            if both.sum() > places.shape[2]:
                move = blockwise.rigid_fit(places[j, both], places[i, both])
                moved = move.apply(places[j])
            else:
                average = True
                places[i], moved = _beside(places[i], places[j], inside[i], inside[j], together)
            places[i, new] = moved[new]
            if average:
                places[i, both] = (places[i, both] + moved[both]) / 2.0
            inside[i] |= new
            shared[i] = shared[:, i] = np.where(shared[i] < 0, -1, inside.astype(int) @ inside[i])
        shared[i, i] = -1
        shared[j] = shared[:, j] = -1
        inside[j] = False
    return places[inside.all(axis=1).argmax()], sorted(used)


def _beside(first, second, in_first, in_second, together):
    """Places of two groups in one frame, by the points of both that correlate most with a pair.

    The pair is a point that both have, of several the one around which they fit best, or the two
    points, one of each, that correlate most.
    """
    corr, solve = together
    here, there = np.flatnonzero(in_first), np.flatnonzero(in_second)
    pairs = [(point, point) for point in np.intersect1d(here, there)]
    if not pairs:
        across = corr[np.ix_(here, there)]
        i, j = np.unravel_index(across.argmax(), across.shape)
        pairs = [(here[i], there[j])]
    best, size = (np.inf, None, None), first.shape[1] + 2
    for a, b in pairs:
        around = [g[np.argsort(-corr[p, g])[:size]] for p, g in ((a, here), (b, there))]
        members = np.unique(np.concatenate(around))
        frame = np.zeros_like(first)
        frame[members] = solve(members)
        moves = [
            blockwise.rigid_fit(own[near], frame[near])
            for own, near in zip((first, second), around, strict=True)
        ]
        left = sum(
            np.linalg.norm(move.apply(own[near]) - frame[near])
            for move, own, near in zip(moves, (first, second), around, strict=True)
        )
        if left < best[0]:
            best = (left, *moves)
    return best[1].apply(first), best[2].apply(second)


def _explained(points, cov, kernel):
    """R2 of the correlations that points imply, at the length-scale that fits them best."""
    middle = (cov > 0.15) & (cov < 0.85)
    expected = np.sqrt(kernel.sq_distance(cov[middle]))
    distances = squareform(pdist(points))
    scale = (distances[middle] @ expected) / (expected @ expected)
    implied = kernel.covariance((distances / scale) ** 2)
    return 1.0 - ((cov - implied) ** 2).sum() / ((cov - cov.mean()) ** 2).sum()


def _mean_of_aligned(solved, used, reference):
    """Mean over cliques of their coordinates, each brought to the reference by an affine map."""
    total, count = np.zeros_like(reference), np.zeros((len(reference), 1))
    bounds = list(pairwise(solved.blocks.indptr))
    for start, stop in (bounds[row] for row in used):
        members = solved.blocks.members[start:stop]
        own = np.column_stack([np.ones(members.size), solved.coordinates[start:stop]])
        total[members] += own @ np.linalg.lstsq(own, reference[members], rcond=None)[0]
        count[members] += 1.0
    return total / count
