"""Points from noisy distances below a radius: root mean square error over the radius.

``python benchmarks/short_distances.py FIRST LAST`` prints medians over seeds of 300 points in a
square and a cube: blockwise alone, with stress weighted by the noise, with uniform stress, geodesic
with stress weighted by the noise, Isomap, and SMACOF of paths. All points, whether fixed or not;
seeds whose known distances do not connect all points are left out.
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.spatial.distance import cdist
from sklearn.decomposition import KernelPCA
from sklearn.manifold import smacof

from ikd_graph import IKD, refine
from ikd_graph.blockwise import rigid_fit

DEGREE = 18  # known distances of a point, about


def ranges(seed, dim, noise, n=300):
    """Points, known distances, their standard errors, and the radius."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(size=(n, dim))
    exact = cdist(points, points)
    radius = np.sort(exact, axis=1)[:, DEGREE].mean()
    known = (exact < radius) & (exact > 0.0)
    upper = np.triu(np.where(known, exact * (1.0 + noise * rng.normal(size=exact.shape)), 0.0), 1)
    return (
        points,
        sp.csr_array(upper + upper.T),
        sp.csr_array(np.where(known, noise * exact, 0.0)),
        radius,
    )


def embeddings(given, errors, dim):
    """Coordinates by every method."""

    def fit(strategy, how):
        model = IKD(dim, affinity="precomputed_distance", strategy=strategy, refine=how)
        return model.fit_transform(given)

    paths = shortest_path(given)
    weighted = refine.Stress(noise=errors)
    return {
        "blockwise": fit("blockwise", None),
        "blockwise, noise": fit("blockwise", weighted),
        "blockwise, uniform": fit("blockwise", refine.Stress("uniform")),
        "geodesic, noise": fit("geodesic", weighted),
        "Isomap": KernelPCA(dim, kernel="precomputed").fit_transform(-0.5 * paths**2),
        "SMACOF": smacof(paths, n_components=dim, n_init=1, random_state=0)[0],
    }


def main(first, last):
    """Print a line for each number of dimensions and noise."""
    warnings.simplefilter("ignore")
    for dim in (2, 3):
        for noise in (0.01, 0.05):
            found = []
            for seed in range(first, last):
                points, given, errors, radius = ranges(seed, dim, noise)
                if connected_components(given, directed=False)[0] > 1:
                    continue
                maps = embeddings(given, errors, dim)
                moved = (rigid_fit(Z, points) for Z in maps.values())
                gaps = (
                    Z @ m.rotation + m.translation - points
                    for Z, m in zip(maps.values(), moved, strict=True)
                )
                found.append([np.sqrt((gap**2).sum(axis=1).mean()) / radius for gap in gaps])
            print(f"{dim} dimensions, noise {noise}: {len(found)} seeds, median (worst)")
            middle, worst = np.median(found, axis=0), np.max(found, axis=0)
            for name, a, b in zip(maps, middle, worst, strict=True):
                print(f"  {name}: {a:.4f} ({b:.3f})", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
