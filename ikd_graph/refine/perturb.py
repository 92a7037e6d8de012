"""Perturbations of a latent: move some of the points, or take some out and place them again.

A wrong local optimum of the likelihood is rarely wrong all over. A few points are on the wrong
side, or a part that few covariances hold in place is folded over, while the rest is right.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist, squareform

from ..covariance import to_correlation
from ..kernels import StationaryKernel

Floats = NDArray[np.float64]
Reals = NDArray[np.floating]
Points = NDArray[np.intp]

_FEWEST = 5
_DIRECTIONS = 16
_NEAREST = 5
_CLOSER = 0.3  # step around the best place, in length-scales
_TIES = 4
_KNOWN = (0.05, 0.99)  # correlations that tell a distance


def perturbed(latent: Floats, turn: int, size: float, rng: np.random.Generator) -> Floats:
    """A latent changed at random, in one of four ways that take turns.

    The least principal coordinate is sampled anew, because the data hold it least and parts of a
    flat latent often lie on the wrong side of it; a part is mirrored across a principal plane;
    one half is moved; one neighbourhood is moved.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points.
    turn : int
        Number of the perturbation.
    size : float
        Standard deviation of a coordinate's change.
    rng : Generator
        Random numbers.

    Returns
    -------
    (n, m) ndarray of float64
        Changed points.
    """
    n, m = latent.shape
    points = latent - latent.mean(axis=0)
    steps = size * rng.standard_normal((n, m))
    if turn % 4 == 0 and m > 1:
        turned = points @ np.linalg.svd(points, full_matrices=False)[2].T
        turned[:, -1] = 0.5 * steps[:, -1]
        return turned
    if turn % 4 == 1:
        return _mirrored(points, rng)
    if turn % 4 == 2:
        across = points @ rng.standard_normal(m)
        steps[across < np.median(across)] = 0.0
    else:
        order = _from_one_point(points, rng)
        steps[order[rng.integers(_FEWEST, max(int(0.4 * n), _FEWEST + 1)) :]] = 0.0
    return points + steps


def _mirrored(points: Floats, rng: np.random.Generator) -> Floats:
    """One side of a random cut, or one neighbourhood, mirrored across a principal plane."""
    n, m = points.shape
    if rng.random() < 0.6:
        across = points @ rng.standard_normal(m)
        order = np.argsort(across, kind="stable")
        count = _widest_gap(across[order], int(rng.uniform(0.1, 0.9) * n))
    else:
        order = _from_one_point(points, rng)
        count = int(rng.integers(min(_FEWEST, n), max(int(0.45 * n), _FEWEST + 1)))
    axes = np.linalg.svd(points, full_matrices=False)[2]
    # The least axis twice as often as the others.
    normal = axes[min(int(rng.integers(m + 1)), m - 1)]
    # A plane through the points on both sides of the cut leaves them near one another.
    cut = order[max(0, count - _FEWEST) : count + _FEWEST]
    centre = points[cut].mean(axis=0)
    out = points.copy()
    part = order[:count]
    out[part] -= 2.0 * np.outer((points[part] - centre) @ normal, normal)
    return out


def _widest_gap(values: Floats, near: int) -> int:
    """Where sorted values are cut: at the widest gap near a place, where least is torn apart."""
    reach = max(_FEWEST, len(values) // 8)
    low, high = max(near - reach, 1), min(near + reach, len(values) - 1)
    return low + int(np.argmax(np.diff(values[low - 1 : high + 1])))


def _from_one_point(points: Floats, rng: np.random.Generator) -> Points:
    """Points by their distance from a random one."""
    apart = ((points - points[rng.integers(len(points))]) ** 2).sum(axis=1)
    return np.argsort(apart, kind="stable")


def parts(corr: Floats, largest: int) -> list[Points]:
    """Every point by itself, and the clusters of a tree of average linkage that are small enough.

    Parameters
    ----------
    corr : (n, n) float64
        Correlations.
    largest : int
        Most points in a part.

    Returns
    -------
    list of (k,) int arrays
        Members of each part.
    """
    n = len(corr)
    far = 1.0 - 0.5 * (corr + corr.T)
    np.fill_diagonal(far, 0.0)
    members = [[point] for point in range(n)]
    for left, right, _, _ in linkage(squareform(far, checks=False), "average"):
        members.append(members[int(left)] + members[int(right)])
    return [np.array(sorted(part)) for part in members if len(part) <= min(largest, n // 2)]


def reinserted(
    latent: Floats,
    cov: Floats,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
    groups: list[Points],
) -> Iterator[Floats]:
    """Latents in which one group after another was taken out and placed again point by point.

    A point goes where it is likeliest given the points that are in place, the best known one first.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points.
    cov : (n, n) float64
        Sample covariance.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal and noise variance; a generous noise lets points find their side before their place.
    groups : list of (k,) int arrays
        Points to take out together.

    Yields
    ------
    (n, m) ndarray of float64
        One latent for each group.
    """
    n, m = latent.shape
    places = _Places(cov, kernel, variance, noise, m)
    model = variance * kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    model.flat[:: n + 1] += noise
    whole = np.linalg.inv(model)
    for group in groups:
        out = latent.copy()
        placed = np.setdiff1d(np.arange(n), group)
        # The inverse without some rows, from the inverse with them.
        inside = whole[np.ix_(group, placed)]
        inverse = whole[np.ix_(placed, placed)]
        inverse = inverse - inside.T @ np.linalg.solve(whole[np.ix_(group, group)], inside)
        waiting = list(group)
        while waiting:
            ties = np.sort(places.corr[np.ix_(waiting, placed)], axis=1)[:, -_TIES:].sum(axis=1)
            point = waiting.pop(int(np.argmax(ties)))
            known = cov[np.ix_(placed, placed)]
            out[point] = best = places.likeliest(point, placed, out[placed], inverse, known)
            to_best = cdist(best[None], out[placed], "sqeuclidean")
            across = np.asarray(variance * kernel.covariance(to_best)[0], dtype=np.float64)
            inverse = _bordered(inverse, inverse @ across, variance + noise, across)
            placed = np.append(placed, point)
        yield out


def completed(
    core: Floats,
    members: Points,
    cov: Floats,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
) -> Floats:
    """A latent of all points from one of some of them: each of the others where those want it.

    Parameters
    ----------
    core : (k, m) float64
        Latent of some of the points.
    members : (k,) int array
        Which points these are.
    cov : (n, n) float64
        Sample covariance of all points.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal and noise variance.

    Returns
    -------
    (n, m) ndarray of float64
        Latent of all points.
    """
    n, m = len(cov), core.shape[1]
    places = _Places(cov, kernel, variance, noise, m)
    model = variance * kernel.covariance(cdist(core, core, "sqeuclidean"))
    model.flat[:: len(core) + 1] += noise
    inverse, known = np.linalg.inv(model), cov[np.ix_(members, members)]
    out = np.empty((n, m))
    out[members] = core
    for point in np.setdiff1d(np.arange(n), members):
        out[point] = places.likeliest(point, members, core, inverse, known)
    return out


class _Places:
    """Where a point can be, and where it is likeliest, given points that are in place.

    With k its covariances with them and B the inverse of theirs, its own density is that of a
    normal of variance v + n - k^T B k around k^T B x.
    """

    def __init__(
        self, cov: Floats, kernel: StationaryKernel, variance: float, noise: float, m: int
    ) -> None:
        self.cov, self.kernel, self.variance, self.noise = cov, kernel, variance, noise
        self.corr = to_correlation(cov)
        self._reach = np.sqrt(kernel.sq_distance(np.clip(self.corr, *_KNOWN)))
        around = np.random.default_rng(0).standard_normal((_DIRECTIONS, m))
        self._around = around / np.linalg.norm(around, axis=1, keepdims=True)

    def likeliest(
        self, point: int, placed: Points, latent: Floats, inverse: Reals, known: Floats
    ) -> Floats:
        """Place of a point, given the latent, inverse and sample covariance of those in place."""
        kernel, own = self.kernel, self.cov[point, point]
        nearest = np.argsort(-self.corr[point, placed], kind="stable")[:_NEAREST]
        near, tie = latent[nearest], self.cov[placed, point]
        arms = self._reach[point, placed[nearest]][:, None, None] * self._around
        places = np.concatenate([near, (near[:, None] + arms).reshape(-1, near.shape[1])])
        for step in (_CLOSER, 0.0):
            across = self.variance * kernel.covariance(cdist(places, latent, "sqeuclidean"))
            gain = across @ inverse
            left = self.variance + self.noise - np.einsum("ij,ij->i", gain, across)
            miss = own - 2.0 * gain @ tie + np.einsum("ij,ij->i", gain @ known, gain)
            best = places[int(np.argmin(np.log(left) + miss / left))]
            places = np.vstack([best, best + step * kernel.length_scale * self._around])
        return np.asarray(best)


def _bordered(inverse: Reals, gain: Reals, own: float, across: Floats) -> Floats:
    """Inverse of a matrix with one more row, from the inverse without it."""
    rest = own - float(gain @ across)
    out = np.empty((len(inverse) + 1, len(inverse) + 1))
    out[:-1, :-1] = inverse + np.outer(gain, gain) / rest
    out[-1, :-1] = out[:-1, -1] = -gain / rest
    out[-1, -1] = 1.0 / rest
    return out
