"""Measure R2, the kernel, the noise and error bars of maximum likelihood on samples of the model.

    OMP_NUM_THREADS=1 python benchmarks/battery/model_cells.py --seed 1 [--set noisy] [--out FILE]

Sets: "noisy" (sd 0.3 to 1.5; T 60 to 150; N 50 to 1000), "weak" (sd 1 or 1.5, T 60 or 100, N up to
300), "clean" (no noise, T = N = 100), over eight shapes and four kernels, length-scale 0.35 to 0.8
of the root mean square radius; "rough" has the paper's three latents, no noise, T = 100, N = 100 or
200 and the gamma-exponential kernel. The fit is told that correlations are compared. Seconds are
those of the processor, error bars included. Seeds 0, 20 and 30 were used to choose.
"""

import numpy as np
from measures import aligned, append, fitted, options
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from ikd_graph import kernels
from ikd_graph.datasets import fixed_latent, gp_mapping
from ikd_graph.metrics import affine_r2

SHAPES = ("lissajous", "moons", "cloud", "sheet", "walk", "cross", "spiral", "bell")
SETS = {
    "noisy": ((60, 100, 150), (50, 100, 300, 1000), (0.3, 0.6, 1.0, 1.5)),
    "weak": ((60, 100), (50, 100, 300), (1.0, 1.5)),
    "clean": ((100,), (100,), (0.0,)),
}
"""Numbers of points and columns, and standard deviations of the noise."""


def shape_points(name, n, rng):
    """Points (n, 2 or 3) of a shape, centered, of root mean square radius 1."""
    t = rng.uniform(size=n)
    if name == "lissajous":
        a = 2.0 * np.pi * t
        points = np.column_stack([np.sin(2 * a + 0.4), np.sin(3 * a), 0.8 * np.cos(a)])
    elif name == "moons":
        half = rng.integers(2, size=n)[:, None]
        points = np.column_stack([np.cos(np.pi * t), np.sin(np.pi * t)])
        points = points * np.where(half, 1, -1) + np.where(half, 1.0, 0.0) * [1.0, -0.4]
        points += 0.05 * rng.normal(size=(n, 2))
    elif name == "cloud":
        M = int(rng.integers(2, 4))
        points = rng.normal(size=(n, M)) * [1.3, 1.0, 0.7][:M]
    elif name == "sheet":
        points = rng.uniform(size=(n, 2)) * [2.0, 1.2]
    elif name == "walk":
        points = rng.normal(size=(n, int(rng.integers(2, 4)))).cumsum(axis=0)
    elif name == "cross":
        arm = rng.integers(2, size=n)
        x = np.where(arm, t - 0.5, 0.04 * rng.normal(size=n))
        points = np.column_stack([x, np.where(arm, 0.04 * rng.normal(size=n), 0.7 * (t - 0.4))])
    elif name == "spiral":
        points = np.column_stack([t * np.cos(9 * t), t * np.sin(9 * t), 0.6 * t])
    else:
        flat = rng.normal(size=(n, 2))
        points = np.column_stack([flat, 1.5 * np.exp(-0.5 * (flat**2).sum(axis=1))])
    points = points - points.mean(axis=0)
    return points / np.sqrt((points**2).sum(axis=1).mean())


def draw(which, seed, index):
    """Facts, latent and rows of a cell."""
    if which == "rough":
        facts = {
            "shape": ("hard", "medium", "easy")[index % 3],
            "kernel": "gamma_exponential",
            "T": 100,
            "N": (100, 200)[index // 3 % 2],
            "sd": 0.0,
        }
        latent = fixed_latent(facts["shape"], 100, seed=1000 * (seed + 1) + index)
        draws = 1000 * (seed + 2) + index
        return facts, latent, gp_mapping(latent, facts["N"], facts["kernel"], seed=draws)
    rng = np.random.default_rng([911, seed, index])
    points, columns, noise = SETS[which]
    facts = {
        "shape": SHAPES[index % len(SHAPES)],
        "T": int(rng.choice(points)),
        "N": int(rng.choice(columns)),
        "sd": float(rng.choice(noise)),
        "kernel": str(rng.choice(list(kernels.KERNELS))),
    }
    latent = shape_points(facts["shape"], facts["T"], rng) / rng.uniform(0.35, 0.8)
    cov = kernels.get(facts["kernel"]).covariance(cdist(latent, latent, "sqeuclidean"))
    root = np.linalg.cholesky(cov + 1e-8 * np.eye(len(cov)))
    rows = root @ rng.normal(size=(len(cov), facts["N"]))
    return facts, latent, rows + facts["sd"] * rng.normal(size=rows.shape)


def measure(which, seed, index):
    """A line for a cell."""
    facts, latent, X = draw(which, seed, index)
    asked = {"affinity": "correlation", "refine": "likelihood"}
    model, seconds = fitted(X, latent.shape[1], **asked)
    right = type(model.kernel_) is type(kernels.get(facts["kernel"]))
    noise = model.noise_model()
    # The units are those of the kernel: under another one they are others.
    found = model.embedding_
    gaps = np.abs(aligned(latent, found, latent, scale=not right) - found)
    return facts | {
        "seed": seed,
        "cell": index,
        "r2": affine_r2(latent, found),
        "seconds": seconds,
        "right": right,
        "reliability": model.reliability_,
        "noise": noise.noise / (noise.noise + noise.variance),
        "held": float(np.mean(gaps <= 1.96 * model.standard_errors_)),
    }


def main():
    """Print a line a cell, then means."""
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cells", type=int, default=60)
    parser.add_argument("--set", default="noisy", choices=(*SETS, "rough"))
    parser.add_argument("--out", help="jsonl file to append every fit to")
    given = parser.parse_args()
    measure("noisy", 99, 1)  # compiles
    lines = []
    for index in range(given.cells):
        lines.append(measure(given.set, given.seed, index))
        append(given.out, lines[-1])
        print(*(f"{v:.3f}" if isinstance(v, float) else v for v in lines[-1].values()), flush=True)
    r2, seconds, right, held, sure, noise, sd = (
        np.array([line[key] for line in lines])
        for key in ("r2", "seconds", "right", "held", "reliability", "noise", "sd")
    )
    print(f"R2 {r2.mean():.3f}, below .6 with a reliability above .85: "
          f"{np.sum((r2 < 0.6) & (sure > 0.85))}, processor s {seconds.sum():.1f}, right kernel "
          f"{right.mean():.2f}, held by 95 %: {held.mean():.3f}, Spearman of reliability and R2 "
          f"{spearmanr(sure, r2).statistic:.3f}, bias of the noise fraction "
          f"{np.mean(noise - sd**2 / (1 + sd**2)):.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
