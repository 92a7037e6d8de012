"""R2, reliability and coverage of the default on curves in three dimensions, and on other shapes.

    OMP_NUM_THREADS=1 python benchmarks/rivals.py SET KIND SD FIRST LAST

SET is "curves" (evenly or randomly spaced along a curve; squared exponential, noise of SD standard
deviations of the table) or "shapes" (points at random places in random order, four kernels, noise
of .3 to 1.5, SD is not read); KIND is "develop" or "confirm", with other shapes and seeds. Prints a
line for each table and the means.
"""

import sys
import time
import warnings

import numpy as np
from calibration import aligned
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from ikd_graph import IKD, datasets, kernels
from ikd_graph.metrics import affine_r2

CURVES = {
    "develop": ("helix", "coil", "arc", "tennis"),
    "confirm": ("helix", "trefoil", "spherical", "conic", "lissajous"),
}
SHAPES = {
    "develop": ("cloud", "sheet", "tree", "arcs", "sphere", "pieces", "walk"),
    "confirm": ("torus", "coiled", "star", "walk", "clusters", "ball", "ring", "sheet"),
}
OPEN = ("helix", "arc", "spherical", "conic")


def curve(name, t, rng):
    """Points (n, 3) at fractions t of a curve."""
    a = 2.0 * np.pi * t
    if name == "helix":
        u = rng.uniform(3.0, 6.0) * t
        return np.c_[np.cos(2.0 * u), np.sin(2.0 * u), rng.uniform(0.35, 0.7) * u]
    if name == "coil":
        k, r = rng.integers(3, 6), rng.uniform(0.35, 0.55)
        out = 1.0 + r * np.cos(k * a)
        return np.c_[out * np.cos(a), out * np.sin(a), r * np.sin(k * a)]
    if name == "arc":
        f = rng.uniform(0.6, 0.9)
        return np.c_[np.cos(f * a), np.sin(f * a), 0.4 * np.cos(2.0 * f * a)]
    if name == "trefoil":
        x, y = np.sin(a) + 2.0 * np.sin(2.0 * a), np.cos(a) - 2.0 * np.cos(2.0 * a)
        return 0.5 * np.c_[x, y, -np.sin(3.0 * a)]
    if name == "tennis":
        q = 0.44 * np.pi
        up, turn = np.pi / 2.0 - (np.pi / 2.0 - q) * np.cos(a), a + q * np.sin(2.0 * a)
        return np.c_[np.sin(up) * np.cos(turn), np.sin(up) * np.sin(turn), np.cos(up)]
    if name == "spherical":
        up, turn = np.pi * t, 2.0 * np.pi * rng.integers(2, 5) * t
        return np.c_[np.sin(up) * np.cos(turn), np.sin(up) * np.sin(turn), np.cos(up)]
    if name == "conic":
        k, r = rng.uniform(1.5, 3.0), 0.3 + t
        return np.c_[r * np.cos(k * a), r * np.sin(k * a), 1.5 * t]
    p = rng.uniform(0.0, np.pi, 2)
    return np.c_[np.sin(a), np.sin(2.0 * a + p[0]), np.sin(3.0 * a + p[1])]


def shape(name, n, rng):
    """Points (n, 2 or 3) at random places of a shape, of root mean square radius 1."""
    t, s = rng.uniform(0.0, 2.0 * np.pi, (2, n))
    ball = rng.normal(size=(n, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    middles, which = rng.normal(size=(5, 2)), rng.integers(5, size=n)
    if name in ("sphere", "ball"):
        points = ball * (1.0 if name == "sphere" else rng.uniform(size=(n, 1)) ** (1.0 / 3.0))
    elif name == "torus":
        out = 1.0 + 0.45 * np.cos(s)
        points = np.c_[out * np.cos(t), out * np.sin(t), 0.45 * np.sin(s)]
    elif name == "coiled":
        points = np.c_[np.cos(3.0 * t), np.sin(3.0 * t), 0.5 * t]
    elif name == "ring":
        points = np.c_[np.cos(t), np.sin(t)]
    elif name == "arcs":
        points = (1.0 + 0.5 * rng.integers(3, size=n)[:, None]) * np.c_[
            np.cos(0.7 * t), np.sin(0.7 * t)
        ]
    elif name == "sheet":
        points = rng.uniform(size=(n, 2)) * [4.0, 2.5]
    elif name == "walk":
        points = rng.normal(size=(n, 2)).cumsum(axis=0)
    elif name == "star":
        points = rng.uniform(size=(n, 1)) * middles[which]
    elif name == "tree":
        points = middles[which] + rng.uniform(size=(n, 1)) * (middles[which // 2] - middles[which])
    elif name == "clusters":
        points = 1.2 * middles[which] + 0.35 * rng.normal(size=(n, 2))
    else:
        points = rng.normal(size=(n, 2)) * [1.2, 1.0]
        points += [5.0, 0.0] * (np.arange(n)[:, None] < n // 2) * (name == "pieces")
    points = points - points.mean(axis=0)
    return points / np.sqrt((points**2).sum(axis=1).mean())


def draw(which, kind, sd, index):
    """Name, latent in length-scales, rows and kernel of a table."""
    names = (CURVES if which == "curves" else SHAPES)[kind]
    rng = np.random.default_rng([23, which == "curves", kind == "develop", index])
    name, n = names[index % len(names)], int(rng.choice([80, 120, 160]))
    width = int(rng.choice([100, 200, 300]))
    if which == "curves":
        even = index // len(names) % 2 == 0
        t = np.linspace(0.0, 1.0, n, endpoint=name in OPEN) if even else np.sort(rng.random(n))
        latent = curve(name, t, rng) / rng.uniform(0.6, 1.0)
        X = datasets.gp_mapping(latent, width, kernels.SquaredExponential(), seed=index)
        return name, latent, X + sd * X.std() * rng.normal(size=X.shape), "squared_exponential"
    latent = shape(name, n, rng) / rng.uniform(0.4, 0.8)
    kernel, sd = str(rng.choice(list(kernels.KERNELS))), rng.choice([0.3, 0.6, 1.0, 1.5])
    cov = kernels.get(kernel).covariance(cdist(latent, latent, "sqeuclidean"))
    X = np.linalg.cholesky(cov + 1e-6 * np.eye(n)) @ rng.normal(size=(n, width))
    return name, latent, X + sd * rng.normal(size=X.shape), kernel


def measure(which, kind, sd, index):
    """R2, reliability, fraction that 95 % intervals hold, and seconds of a table."""
    name, latent, X, kernel = draw(which, kind, sd, index)
    asked = {} if which == "curves" else {"affinity": "correlation", "strategy": "geodesic"}
    model = IKD(latent.shape[1], random_state=0, **asked)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(refine="likelihood").fit(X)
    seconds = time.process_time() - begin
    scale = not isinstance(model.kernel_, kernels.KERNELS[kernel])
    away = aligned(latent, model.embedding_, latent, scale=scale) - model.embedding_
    held = float(np.mean(np.abs(away) < 1.96 * model.standard_errors_))
    r2 = affine_r2(latent, model.embedding_)
    print(f"{index} {name} {X.shape}: R2 {r2:.2f}, reliability {model.reliability_:.2f}, "
          f"held {held:.2f}, {seconds:.1f} s", flush=True)  # fmt: skip
    return r2, model.reliability_, held, seconds


def main():
    """Print what every table shows, and the means."""
    which, kind, sd, first, last = sys.argv[1:]
    with threadpool_limits(limits=1):
        found = [measure(which, kind, float(sd), k) for k in range(int(first), int(last))]
    found = np.array(found)
    r2, reliability, held, _ = found[np.isfinite(found[:, 1])].T
    sure = (reliability > 0.85) & (r2 < 0.7)
    print(f"R2 {found[:, 0].mean():.3f}, {found[:, 3].mean():.1f} s; `checks_` tells that "
          f"{len(found) - len(r2)} models do not fit; the others: R2 {r2.mean():.3f}, "
          f"reliability less R2 {np.mean(reliability - r2):+.3f}, Spearman "
          f"{spearmanr(r2, reliability)[0]:.2f}, above .85 at R2 below .7: {sure.sum()} of "
          f"{np.sum(r2 < 0.7)}, held {held.mean():.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
