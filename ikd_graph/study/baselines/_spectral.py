"""Diffusion maps, and metric scaling from principal components."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist, squareform

Floats = NDArray[np.float64]


def diffusion_map(
    X: ArrayLike, n_components: int = 2, *, time_steps: int = 1, epsilon: float | None = None
) -> Floats:
    r"""Diffusion map (Coifman & Lafon 2005): W = exp(-\|x - x'\|² / ε), a random walk on it.

    Parameters
    ----------
    X : (n, n_features) float64
        Points in rows.
    n_components : int
        Number of coordinates.
    time_steps : int
        Steps t of the walk: coordinate i is λ_i^t ψ_i, with ψ the right eigenvectors.
    epsilon : float or None
        ε; None is a quarter of the median squared distance to the tenth nearest point, so that
        the walk stays among neighbours (it leaks between the layers of a Swiss roll above that).

    Returns
    -------
    (n, n_components) float64
        The map, without the constant first coordinate.
    """
    sq_dist = squareform(pdist(np.asarray(X, dtype=np.float64), "sqeuclidean"))
    if epsilon is None:
        near = min(10, sq_dist.shape[0] - 1)
        epsilon = 0.25 * float(np.median(np.partition(sq_dist, near, axis=1)[:, near]))
    if not epsilon > 0.0:
        raise ValueError(f"epsilon must be positive, got {epsilon}; too many points are copies")
    weights = np.exp(-sq_dist / epsilon)
    root = np.sqrt(weights.sum(axis=1))
    from scipy.linalg import eigh

    size = root.size
    values, vectors = eigh(
        weights / np.outer(root, root), subset_by_index=[size - 1 - n_components, size - 1]
    )
    # The symmetric matrix has the walk's eigenvalues; its vectors differ by the root of degrees.
    steps = vectors[:, ::-1] / root[:, None] * root.mean()
    return steps[:, 1:] * values[::-1][1:] ** time_steps


def metric_mds(X: Floats, n_components: int, seed: int) -> NDArray[Any]:
    """Metric scaling by stress."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import MDS

    # Newer releases want the start named twice, and say so.
    named = {"init": "classical_mds"} if "init" in inspect.signature(MDS).parameters else {}
    model = MDS(n_components, n_init=1, random_state=seed, **named)
    return model.fit_transform(X, init=PCA(n_components, random_state=seed).fit_transform(X))
