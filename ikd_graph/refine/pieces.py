"""Lines put together anew from their pieces.

On a line points cannot pass one another, so that a line once broken or folded stays so: where its
pieces are beyond the reach of the kernel, nothing pulls them to where they belong. Within a piece
model and data agree; between pieces only the data say how they lie.

The constants were chosen on cells 8, 19, 65, 94, 122, 135, 164 and 182 of `tests/polish_cells.py`
and confirmed on 31 others, numbers 300 to 362.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, laplacian
from scipy.spatial.distance import cdist

from .. import gplvm
from .objective import Objective

Floats = NDArray[np.float64]
Points = NDArray[np.intp]
Pairs = NDArray[np.bool_]

_NEAR = 0.1  # model correlation from which points are near one another
_AGREE = 0.3  # share of the model's covariance that the data must show
_SURE = 3.0, 4.0  # standard errors above noise of a tie, and below the model of a conflict
_SEAM = 0.5  # model correlation across a cut of points that may be on either side
_FEWEST = 6  # points of a piece that may be cut in two
_TIES = 20  # points of a piece whose strongest ties say where it may lie
_KNOWN = 0.05, 0.99  # correlations that tell a distance
_SHIFTS = np.linspace(-0.5, 0.5, 11)  # in length-scales, around a place
_MOST_WORK = 1e10  # pieces, times all points cubed: 5 s on one core
_JUDGED = 4  # places each way round that are compared by likelihood


def assembled(
    objective: Objective, vector: Floats, n_observed: int
) -> tuple[Floats, Points] | None:
    """The pieces of a line put together, the largest first and then what is tied to it most.

    Parameters
    ----------
    objective : Objective
        Likelihood of all points at once, of one component.
    vector : (k,) float64
        A line with its variance and noise.
    n_observed : int
        Number of observed dimensions.

    Returns
    -------
    tuple of (n, 1) ndarray of float64 and (k,) ndarray of int, or None
        Another line and the points of its seams, which are where they were; None where there is
        one piece, or where it would take too long.
    """
    cov = objective.cov
    own = np.diagonal(cov)
    chance = np.outer(own, own) / n_observed
    groups, seam = pieces(objective, vector, np.sqrt(chance + cov**2 / n_observed))
    if len(groups) < 2 or len(groups) * len(cov) ** 3 > _MOST_WORK:
        return None
    line = objective.latent(vector)[:, 0].copy()
    excess = np.maximum(cov**2 - chance, 0.0)
    placed, waiting = groups[0], groups[1:]
    tie = [float(excess[np.ix_(group, placed)].sum()) for group in waiting]
    while waiting:
        group = waiting.pop(most := int(np.argmax(tie)))
        tie.pop(most)
        line[group] = _place(objective, vector, line, group, placed)
        placed = np.concatenate([placed, group])
        tie = [
            known + float(excess[np.ix_(other, group)].sum())
            for known, other in zip(tie, waiting, strict=True)
        ]
    return line[:, None], seam


def pieces(objective: Objective, vector: Floats, error: Floats) -> tuple[list[Points], Points]:
    """Sets of points that lie near one another in the latent and in the data, the largest first.

    Parameters
    ----------
    objective : Objective
        Likelihood of all points at once.
    vector : (k,) float64
        A latent with its variance and noise.
    error : (n, n) float64
        Standard errors of the covariances.

    Returns
    -------
    list of (k,) int arrays
        The pieces.
    (k,) ndarray of int
        Points where a piece was cut, which belong to none.
    """
    latent, variance = objective.latent(vector), objective.scales(vector)[0]
    cov = objective.cov
    model = variance * objective.kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    near = model > _NEAR * variance
    np.fill_diagonal(near, False)
    ties = near & (cov > _SURE[0] * error) & (cov > _AGREE * model)
    conflicts = near & (cov < model - _SURE[1] * error) & (cov < 0.5 * model)
    found: list[Points] = []
    for part in _connected(np.arange(len(cov)), ties):
        found += _cut(part, ties, conflicts)
    # Where a cut runs is known to within a length-scale: those between have no piece of their own.
    piece_of = np.empty(len(cov), dtype=np.intp)
    for number, part in enumerate(found):
        piece_of[part] = number
    torn = ties & (model > _SEAM * variance) & (piece_of[:, None] != piece_of)
    seam = torn.any(axis=1)
    whole = [part[~seam[part]] for part in found if not seam[part].all()]
    return sorted(whole, key=len, reverse=True), np.flatnonzero(seam)


def _connected(members: Points, ties: Pairs) -> list[Points]:
    """Connected components of some points."""
    inside = csr_array(ties[np.ix_(members, members)])
    label = connected_components(inside, directed=False)[1]
    return [members[label == one] for one in range(int(label.max()) + 1)]


def _cut(members: Points, ties: Pairs, conflicts: Pairs) -> list[Points]:
    """A piece, or its parts if a cut parts more than it tears.

    The cut is across the second eigenvector of the Laplacian, which follows a line along its folds.
    """
    inside = np.ix_(members, members)
    against = conflicts[inside]
    if len(members) < _FEWEST or not against.any():
        return [members]
    tied = ties[inside].astype(np.float64)
    scaled, root = laplacian(tied, normed=True, return_diag=True)
    along = eigh(scaled, subset_by_index=[1, 1])[1][:, 0] / root
    order = np.argsort(along, kind="stable")
    gain = _across(against, order) - _across(tied, order)
    best = int(np.argmax(gain))
    if gain[best] <= 0.0:
        return [members]
    halves = members[order[: best + 1]], members[order[best + 1 :]]
    parts = [part for half in halves for part in _connected(np.sort(half), ties)]
    return [piece for part in parts for piece in _cut(part, ties, conflicts)]


def _across(pairs: Pairs | Floats, order: Points) -> Floats:
    """Number of pairs that each cut of an order parts."""
    later = np.triu(pairs[np.ix_(order, order)].astype(np.float64), 1)
    return np.cumsum(later.sum(axis=1) - later.sum(axis=0))[:-1]


def _place(
    objective: Objective, vector: Floats, line: Floats, group: Points, placed: Points
) -> Floats:
    """Where a piece lies, either way round, given the points that are in place."""
    cov, kernel = objective.cov, objective.kernel
    variance, noise = objective.scales(vector)
    across = cov[np.ix_(group, placed)]

    def missed(places: Floats) -> Floats:
        """Sum of squared covariances that each place leaves unexplained."""
        apart = [(place[:, None] - line[placed]) ** 2 for place in places]
        return np.array([((across - variance * kernel.covariance(at)) ** 2).sum() for at in apart])

    both = np.concatenate([placed, group])
    inside = cov[np.ix_(both, both)]

    def likelihood(place: Floats) -> float:
        """Log likelihood of one observed dimension with the piece in a place."""
        latent = np.concatenate([line[placed], place])[:, None]
        return gplvm.log_likelihood(latent, inside, 1, kernel, variance, noise)

    best = line[group]
    highest = likelihood(best)
    tied = across.argmax(axis=1)
    strongest = np.argsort(-across.max(axis=1), kind="stable")[:_TIES]
    share = np.clip(across[strongest, tied[strongest]] / variance, *_KNOWN)
    arm = np.sqrt(kernel.sq_distance(share))
    for way in (1.0, -1.0):
        turned = way * line[group]
        shifts = line[placed[tied[strongest]]] - turned[strongest]
        places = np.concatenate([shifts - arm, shifts + arm])[:, None] + turned
        miss = missed(places)
        for place in _apart(places[np.argsort(miss, kind="stable")], kernel.length_scale):
            nearby = place + kernel.length_scale * _SHIFTS[:, None]
            near = nearby[int(np.argmin(missed(nearby)))]
            value = likelihood(near)
            if value > highest:
                highest, best = value, near
    return best


def _apart(places: Floats, least: float) -> list[Floats]:
    """The first few places that differ."""
    found: list[Floats] = []
    for place in places:
        if all(abs(place[0] - other[0]) > least for other in found):
            found.append(place)
        if len(found) == _JUDGED:
            break
    return found
