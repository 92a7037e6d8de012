"""How often `checks_` tells a model that is wrong, and tells of a right one.

    OMP_NUM_THREADS=1 python benchmarks/model_checks.py KIND SEED FIRST LAST

KIND is "right" (points of a shape, in order or not), "scales" (three length-scales among the
columns) or "tanh" (features that are no samples of a process), which are right; "missing" (points
of a surface or body, fitted with two coordinates of three), "ar" (noise that follows along rows) or
"factor" (one that all or half of the rows share), which are wrong. T is 60 to 250, N 40 to 400, the
noise .1 to 1 standard deviation, the kernel one of four. Prints a line for each table that is
answered wrongly, and the counts.
"""

import sys
import warnings

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from ikd_graph import IKD, kernels, refine
from ikd_graph.metrics import affine_r2

RIGHT = "coil", "ring", "annulus", "moons", "line", "knot", "cross", "cloud", "triangle", "drift"
BODIES = "ellipsoid", "cube", "slab", "dome", "cylinder"
IN_ORDER = "coil", "knot", "ring", "line", "drift"
KINDS = "right", "missing", "ar", "factor", "scales", "tanh"


def shape(name, n, rng):
    """Points (n, 1 to 3) of a shape, of root mean square radius 1."""
    t, u, side = 2.0 * np.pi * np.sort(rng.random(n)), rng.random(n), rng.integers(2, size=n)
    ball = rng.normal(size=(n, 3))
    on = ball / np.linalg.norm(ball, axis=1)[:, None]
    if name == "coil":
        points = np.c_[np.cos(2.5 * t), np.sin(2.5 * t), 0.4 * t]
    elif name == "knot":
        x, y = np.sin(t) + 2.0 * np.sin(2.0 * t), np.cos(t) - 2.0 * np.cos(2.0 * t)
        points = np.c_[x, y, -np.sin(3.0 * t)]
    elif name in ("ring", "annulus"):
        points = np.c_[np.cos(t), np.sin(t)] * np.sqrt(0.3 + 0.7 * u[:, None]) ** (name != "ring")
    elif name == "moons":
        points = np.c_[(1 - 2 * side) * np.cos(t / 2.0) + side, (1 - 2 * side) * np.sin(t / 2.0)]
        points += [0.0, 0.4] * side[:, None] + 0.05 * rng.normal(size=(n, 2))
    elif name == "line":
        points = t[:, None]
    elif name == "cross":
        points = np.c_[side, 1 - side] * (2.0 * u[:, None] - 1.0) + 0.1 * rng.normal(size=(n, 2))
    elif name == "cloud":
        points = ball
    elif name == "triangle":
        points = rng.dirichlet(np.ones(3), n) @ [[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]]
    elif name == "drift":
        points = 0.2 * ball[:, :2].cumsum(axis=0) + t[:, None] * [0.5, 0.15]
    elif name == "ellipsoid":
        points = on * [1.2, 1.0, 0.8]
    elif name == "cube":
        points = rng.uniform(-1.0, 1.0, (n, 3))
        points[np.arange(n), rng.integers(3, size=n)] = 2.0 * side - 1.0
    elif name == "slab":
        points = rng.uniform(-1.0, 1.0, (n, 3)) * [1.2, 1.0, 0.7]
    elif name == "dome":
        points = np.c_[on[:, :2], abs(on[:, 2])]
    else:
        points = np.c_[np.cos(t), np.sin(t), 2.0 * u - 1.0]
    points = points - points.mean(axis=0)
    return points / np.sqrt((points**2).sum(axis=1).mean())


def draw(kind, seed, index):
    """Facts in words, latent in length-scales, and rows of a table."""
    rng = np.random.default_rng([seed, KINDS.index(kind), index])
    names = BODIES if kind == "missing" else RIGHT
    name, kernel = names[index % len(names)], str(rng.choice(list(kernels.KERNELS)))
    n, width = int(rng.integers(60, 251)), int(40.0 * 10.0 ** rng.random())
    sd = float(rng.choice([0.3, 0.6, 1.0] if kind in ("ar", "factor") else [0.1, 0.3, 0.6, 1.0]))
    latent = shape(name, n, rng) / rng.uniform(0.4, 0.8)
    if name not in IN_ORDER or index % 4 == 0:
        latent = latent[rng.permutation(n)]
    distances = cdist(latent, latent, "sqeuclidean")
    scales = np.exp(rng.uniform(-0.6, 0.6, 3)) if kind == "scales" else np.ones(1)
    X, noise = [], rng.normal(size=(n, width))
    for part, scale in zip(np.array_split(noise, len(scales), axis=1), scales, strict=True):
        cov = kernels.get(kernel).covariance(distances / scale**2) + 1e-6 * np.eye(n)
        X.append(np.linalg.cholesky(cov) @ rng.normal(size=part.shape))
    X = np.hstack(X)
    if kind == "tanh":
        X = np.tanh(latent @ rng.normal(size=(latent.shape[1], width)) + rng.normal(size=width))
        X /= X.std()
    slope = float(rng.choice([0.6, 0.8, 0.9]))
    for row in range(1, n if kind == "ar" else 0):
        noise[row] = slope * noise[row - 1] + np.sqrt(1.0 - slope**2) * noise[row]
    if kind == "factor":
        of_row = rng.normal(size=n), rng.uniform(0.5, 1.5, n), rng.random(n) < 0.5
        noise += rng.choice([1.0, 2.0]) * np.outer(of_row[index % 3], rng.normal(size=width))
    return f"{name} {X.shape} {kernel} sd {sd}", latent, X + sd * noise


def measure(kind, seed, index):
    """Questions failed and whether reliability is above .7 all the same; None without an answer."""
    facts, latent, X = draw(kind, seed, index)
    n_components = 2 if kind == "missing" else latent.shape[1]
    search = refine.Likelihood(descent="annealed")
    model = IKD(n_components, affinity="correlation", strategy="geodesic", refine=search)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    checks = model.checks_
    if checks is None:
        return None
    failed = [name for name, at in checks._asdict().items() if at.value > at.limit]
    if bool(failed) != (kind in ("missing", "ar", "factor")):
        print(f"{kind} {index}: {facts}, R2 {affine_r2(latent, model.embedding_):.2f}, "
              f"reliability {model.reliability_:.2f}", *map(tuple, checks), flush=True)  # fmt: skip
    return failed, model.reliability_ > 0.7


def main():
    """Print what is answered wrongly, and the counts."""
    kind, *numbers = sys.argv[1:]
    seed, first, last = map(int, numbers)
    with threadpool_limits(limits=1):
        asked = [each for k in range(first, last) if (each := measure(kind, seed, k))]
    by = {
        name: sum(name in failed for failed, _ in asked)
        for name in ("factor", "order", "coordinate")
    }
    print(f"{kind}: told {sum(bool(failed) for failed, _ in asked)} of {len(asked)} {by}, "
          f"reliability above .7: {sum(trusted for _, trusted in asked)}")  # fmt: skip


if __name__ == "__main__":
    main()
