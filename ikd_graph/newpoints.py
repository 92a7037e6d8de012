"""Placing new rows in a latent that has been found.

A new row is compared with the training rows, walks through its nearest ones to the landmarks along
the training geodesics, and is put where Gower's interpolation puts a point with those squared
distances: z* = b - 1/2 pinv(Z_L) d*^2. Each row is placed by itself, in closed form.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .covariance import FLOOR
from .kernels import StationaryKernel
from .landmarks import gower_map

Floats = NDArray[np.float64]

MAX_LANDMARKS = 1000
_CHUNK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Placement:
    """All that placing a new row needs, in plain arrays."""

    kernel: StationaryKernel
    path: str  # "direct" (eigen), "distance" or "covariance"
    n_neighbors: int
    latent: Floats  # (n, m)
    landmarks: NDArray[np.int64]  # (l,) training rows that are landmarks
    sq_dist: Floats  # (n, l) squared distance of every training row to the landmarks
    gower: Floats  # (m, l) half the pseudo-inverse of the centred landmark latent
    origin: Floats  # (m,)
    known: dict[bytes, int]  # digest of a training row -> its index


def prepare(
    latent: Floats,
    sq_dist: Floats | None,
    *,
    kernel: StationaryKernel,
    path: str,
    n_neighbors: int,
    keys: list[bytes],
) -> Placement:
    """Keep what placing new rows needs.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Training latent.
    sq_dist : (n, n) ndarray of float64 or None
        Squared distances the latent came from; None takes those of the latent itself (merged
        cliques, components laid side by side).
    kernel : StationaryKernel
        The kernel.
    path : {"direct", "distance", "covariance"}
        How a new row reaches the landmarks.
    n_neighbors : int
        Training rows a new row may walk through.
    keys : list of bytes
        Digest of every training row.

    Returns
    -------
    Placement
        Plain arrays.
    """
    n = latent.shape[0]
    count = min(n, MAX_LANDMARKS)
    if sq_dist is None:
        landmarks = np.linspace(0, n - 1, count).astype(np.int64)
        order = np.lexsort(latent.T[::-1])
        landmarks = np.sort(order[landmarks])
        to_landmarks = cdist(latent, latent[landmarks], "sqeuclidean")
    else:
        landmarks = farthest_points(sq_dist, count)
        to_landmarks = np.ascontiguousarray(sq_dist[:, landmarks])
    gower, origin = gower_map(latent, to_landmarks, landmarks)
    known: dict[bytes, int] = {}
    for index, key in enumerate(keys):
        known.setdefault(key, index)
    return Placement(
        kernel, path, n_neighbors, latent, landmarks, to_landmarks, gower, origin, known
    )


def farthest_points(sq_dist: Floats, count: int) -> NDArray[np.int64]:
    """Landmarks by farthest-point (max-min) selection, independent of the order of the rows.

    Parameters
    ----------
    sq_dist : (n, n) ndarray of float64
        Squared distances.
    count : int
        Number of landmarks, at most n.

    Returns
    -------
    (count,) ndarray of int64
        Indices, sorted.
    """
    n = sq_dist.shape[0]
    if count >= n:
        return np.arange(n)
    chosen = [int(np.argmin(sq_dist.mean(axis=1)))]
    nearest = sq_dist[chosen[0]].copy()
    while len(chosen) < count:
        chosen.append(int(np.argmax(nearest)))
        np.minimum(nearest, sq_dist[chosen[-1]], out=nearest)
    return np.sort(np.array(chosen, dtype=np.int64))


def row_keys(X: Any) -> list[bytes]:
    """Digest of every row, equal for equal rows.

    Parameters
    ----------
    X : (n, p) ndarray of float64 or scipy sparse
        Rows.

    Returns
    -------
    list of bytes
        One digest a row.
    """
    keys = []
    for start in range(0, X.shape[0], 1024):
        part = X[start : start + 1024]
        dense = part.toarray() if sp.issparse(part) else np.asarray(part)
        # + 0.0 makes -0.0 the zero it equals.
        block = np.ascontiguousarray(dense, dtype=np.float64) + 0.0
        keys += [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in block]
    return keys


def place(placement: Placement, corr: Floats) -> tuple[Floats, Floats]:
    """Latent of new rows from their covariances with the training rows.

    Parameters
    ----------
    placement : Placement
        What was kept of the fit.
    corr : (n_new, n) ndarray of float64
        Covariances on the scale where the variance is 1.

    Returns
    -------
    latent : (n_new, m) ndarray of float64
        Where the rows are put.
    residual : (n_new,) ndarray of float64
        How badly a row fits in, in units of the latent: the distance to the nearest training row
        and the root mean square difference between the distances to the landmarks as measured and
        as placed, in quadrature.
    """
    n_new = corr.shape[0]
    latent = np.empty((n_new, placement.latent.shape[1]))
    residual = np.empty(n_new)
    n_landmarks = placement.landmarks.size
    rows = max(1, _CHUNK_BYTES // (8 * n_landmarks * max(placement.n_neighbors, 1)))
    anchors = placement.latent[placement.landmarks]
    for start in range(0, n_new, rows):
        part = slice(start, start + rows)
        sq_dist = _landmark_distances(placement, corr[part])
        latent[part] = placement.origin - sq_dist @ placement.gower.T
        found = np.linalg.norm(latent[part][:, None] - anchors, axis=2)
        misfit = np.mean((found - np.sqrt(sq_dist)) ** 2, axis=1)
        nearest = placement.kernel.sq_distance(np.clip(corr[part].max(axis=1), FLOOR, 1.0))
        residual[part] = np.sqrt(misfit + nearest)
    return latent, residual


def _landmark_distances(placement: Placement, corr: Floats) -> Floats:
    """Squared distances of new rows to the landmarks, (n_new, l)."""
    kernel = placement.kernel
    if placement.path == "direct":
        return kernel.sq_distance(np.clip(corr[:, placement.landmarks], FLOOR, 1.0))
    k = min(placement.n_neighbors, corr.shape[1])
    near = np.argpartition(-corr, k - 1, axis=1)[:, :k]
    step = np.clip(np.take_along_axis(corr, near, axis=1), FLOOR, 1.0)
    if placement.path == "distance":
        first = np.sqrt(kernel.sq_distance(step))
        onward = np.sqrt(placement.sq_dist[near])
        return np.asarray((first[:, :, None] + onward).min(axis=1) ** 2)
    product = step[:, :, None] * kernel.covariance(placement.sq_dist[near])
    return kernel.sq_distance(np.clip(product.max(axis=1), 1e-100, 1.0))
