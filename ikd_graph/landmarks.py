"""Geodesic solutions from a few landmarks: memory in proportion to points times landmarks.

Paths are searched from the landmarks only, the landmarks are solved among themselves, and every
other point is placed by Gower's interpolation of its squared distances to them (landmark scaling).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import eigen, geodesics
from ._records import CsrGraph, Embedding

Floats = NDArray[np.float64]


def gower_map(
    latent: Floats, sq_dist: Floats, landmarks: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Linear map from squared landmark distances to a latent point: b - G d^2.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Training latent.
    sq_dist : (n, l) ndarray of float64
        Squared distances of training rows to the landmarks.
    landmarks : (l,) ndarray of int64
        Rows that are landmarks.

    Returns
    -------
    gower : (m, l) ndarray of float64
        Half the pseudo-inverse of the centred landmark latent.
    origin : (m,) ndarray of float64
        What the map adds, so that the training rows are right on average.
    """
    centred = latent[landmarks] - latent[landmarks].mean(axis=0)
    gower = 0.5 * np.linalg.pinv(centred, rcond=1e-10)
    return gower, latent.mean(axis=0) + gower @ sq_dist.mean(axis=0)


def farthest_nodes(lengths: CsrGraph, count: int) -> tuple[NDArray[np.int64], Floats]:
    """Nodes of a connected graph, each the farthest from those before it.

    Parameters
    ----------
    lengths : CsrGraph
        Graph whose weights are lengths.
    count : int
        Number of nodes.

    Returns
    -------
    nodes : (count,) ndarray of int64
        The nodes, in the order they were found; the first ends the longest path from a node
        with the shortest edges, so that the order of the nodes does not matter.
    distances : (count, n) ndarray of float64
        Path lengths from each to every node.
    """
    mean = np.full(lengths.n_nodes, np.inf)
    degrees = np.diff(lengths.indptr)
    sums = np.add.reduceat(np.append(lengths.weights, 0.0), lengths.indptr[:-1])
    np.divide(sums, degrees, out=mean, where=degrees > 0)
    central = geodesics.shortest_distances(lengths, [int(np.argmin(mean))])[0]
    nodes = [int(np.argmax(central))]
    distances = np.empty((count, lengths.n_nodes))
    distances[0] = geodesics.shortest_distances(lengths, nodes)[0]
    nearest = distances[0].copy()
    for found in range(1, count):
        nodes.append(int(np.argmax(nearest)))
        distances[found] = geodesics.shortest_distances(lengths, [nodes[-1]])[0]
        np.minimum(nearest, distances[found], out=nearest)
    return np.array(nodes, dtype=np.int64), distances


def solve(
    sq_dist: Floats,
    landmarks: NDArray[np.int64],
    n_components: int,
    reference: str | int = "center",
) -> Embedding:
    """Latent of all points from their squared distances to the landmarks.

    Parameters
    ----------
    sq_dist : (l, n) ndarray of float64
        Squared distances from each landmark to every point.
    landmarks : (l,) ndarray of int64
        Points that are landmarks.
    n_components : int
        Number of coordinates, less than the number of landmarks.
    reference : {"min_max", "min_mean", "center"} or int
        Reference point among the landmarks, see `eigen.reference_index`.

    Returns
    -------
    Embedding
        Coordinates of all points and the spectrum of the landmarks.
    """
    among = sq_dist[:, landmarks]
    among = 0.5 * (among + among.T)
    solved = eigen.coordinates(among, n_components, reference)
    anchors = solved.coordinates
    gower = 0.5 * np.linalg.pinv(anchors - anchors.mean(axis=0), rcond=1e-10)
    origin = anchors.mean(axis=0) + gower @ among.mean(axis=1)
    points = origin - (gower @ sq_dist).T
    points[landmarks] = anchors
    return solved._replace(coordinates=points)
