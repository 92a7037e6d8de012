"""How often the number of dimensions is right, beside parallel analysis, TwoNN and a spectral gap.

    OMP_NUM_THREADS=1 python benchmarks/battery/how_many.py [--seed 1] [--tables 60] [--jobs 1]

120 points, 100, 200 or 500 columns, noise of standard deviation 0 to 1 (that of the signal is 1).

- Samples of a Gaussian process: 1 to 5 dimensions in turn, a normal or uniform cloud as wide as the
  length-scale.
- Surfaces: smooth functions of 1 to 4 uniform coordinates, and shapes whose coordinates are mixed
  linearly. A closed curve counts as 2 and a cylinder as 3, as an embedding needs so many.
- Noise, of which there are half as many tables: 0 is right.

Parallel analysis (Horn 1965) counts the eigenvalues of the columns' correlations above the 95 %
quantile of those with every column shuffled; TwoNN (Facco et al. 2017) takes the distances to the
two nearest rows; the gap is the last wide one in the spectrum of the closed form,
`eigen.eigengap`.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from measures import head, options, row
from scipy.spatial import KDTree

from ikd_graph import IKD, dimension, eigen, kernels
from ikd_graph.datasets import gplvm_data


def parallel_analysis(X, rng, n_draws=20):
    """Number of leading eigenvalues above the 95 % quantile of shuffled columns."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    # Their squares are the eigenvalues, but for the number of rows.
    values = np.linalg.svd(X, compute_uv=False)
    shuffled = [np.linalg.svd(rng.permuted(X, axis=0), compute_uv=False) for _ in range(n_draws)]
    above = values > np.quantile(shuffled, 0.95, axis=0)
    return int(np.argmin(above)) if not above.all() else above.size


def two_nearest(X):
    """Intrinsic dimension by the ratio of the distances to the two nearest rows."""
    distances = KDTree(X).query(X, 3)[0]
    ratios = np.sort(distances[:, 2] / distances[:, 1])[: int(0.9 * len(X))]
    fraction = np.arange(1, ratios.size + 1) / len(X)
    x, y = np.log(ratios), -np.log(1.0 - fraction)
    return int(np.rint((x @ y) / (x @ x)))


def spectral_gap(X):
    """Dimensions before the last wide gap in the spectrum of the closed form."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(15, strategy="geodesic", affinity="correlation", refine=None).fit(X)
    return eigen.eigengap(model.eigenvalues_, largest=10)


def samples(rng, number, width):
    """Kind, table and number of dimensions: samples of a Gaussian process over a cloud."""
    size = number % 5 + 1
    latent = rng.normal(size=(120, size))
    if rng.random() < 0.5:
        latent = rng.uniform(-(3.0**0.5), 3.0**0.5, size=(120, size))
    X = gplvm_data(latent, width, kernel=kernels.SquaredExponential(), seed=rng).X
    return f"{size} of a process", X, size


def functions(z, kind, rng, width):
    """Columns that are smooth functions of coordinates from -1 to 1."""
    size = z.shape[1]
    a, b = rng.normal(size=(2, size, width))
    mixed = rng.normal(size=(3 * size, width))
    if kind == "sines":
        return np.sin(rng.choice([1.0, 2.0]) * z @ a + rng.uniform(0.0, 2.0 * np.pi, width))
    if kind == "sums of sines":
        waves = np.sin(z[:, :, None] * rng.uniform(0.5, 3.0, a.shape) + 2.0 * np.pi * b)
        return (a * waves).sum(axis=1)
    if kind == "quadratics":
        return z @ a + rng.choice([0.5, 1.0, 2.0]) * np.einsum(
            "ni,ijk,nj->nk", z, rng.normal(size=(size, size, width)), z
        )
    if kind == "cubics":
        return z @ a + (z @ a) * (z @ b) + 0.5 * (z @ b) ** 3
    if kind == "sigmoids":
        steps = z @ (a / np.linalg.norm(a, axis=0)) - rng.uniform(-0.8, 0.8, width)
        return np.tanh(rng.uniform(1.0, 4.0, width) * steps)
    if kind == "bumps":
        sq_dist = ((z[:, :, None] - rng.uniform(-1.0, 1.0, a.shape)) ** 2).sum(axis=1)
        return np.exp(-0.5 * sq_dist / rng.uniform(0.4, 0.8) ** 2)
    if kind == "bent sheet":
        slopes = rng.normal(size=(size, 2 * size))
        bent = np.sin(2.5 * z @ (slopes / np.linalg.norm(slopes, axis=0)) + slopes.sum(axis=0))
        return np.hstack([1.5 * z, bent]) @ mixed
    slopes, shifts = rng.normal(size=(size, 3 * size)), rng.normal(size=3 * size)
    return np.tanh(1.5 * z @ slopes + shifts) @ mixed


FUNCTIONS = (
    "sines", "sums of sines", "quadratics", "cubics", "sigmoids", "bumps", "bent sheet", "network",
)  # fmt: skip

# Of two parameters from -1 to 1: coordinates, and how many of them an embedding needs.
SHAPES = {
    "arch": lambda s, t: ([s, s**2, 0.6 * s**3], 1),
    "helix": lambda s, t: ([np.cos(5.0 * s), np.sin(5.0 * s), 2.0 * s], 1),
    "circle": lambda s, t: ([np.cos(np.pi * s), np.sin(np.pi * s)], 2),
    "eight": lambda s, t: ([np.cos(np.pi * s), np.sin(2.0 * np.pi * s)], 2),
    "S-curve": lambda s, t: ([np.sin(4.7 * s), t, np.sign(s) * (np.cos(4.7 * s) - 1.0)], 2),
    "sphere patch": lambda s, t: ([np.sin(s) * np.cos(t), np.sin(t), np.cos(s) * np.cos(t)], 2),
    "saddle": lambda s, t: ([s, t, 1.2 * s * t, 0.8 * (s**2 - t**2)], 2),
    "swiss roll": lambda s, t: ([(s + 2) * np.cos(4.7 * s), (s + 2) * np.sin(4.7 * s), 2 * t], 2),
    "cylinder": lambda s, t: ([np.cos(np.pi * s), np.sin(np.pi * s), 2.0 * t], 3),
}


def surfaces(rng, number, width):
    """Smooth functions of a few coordinates, or a shape mixed linearly."""
    if number % 2:
        kind, shape = list(SHAPES.items())[number // 2 % len(SHAPES)]
        points, size = shape(*rng.uniform(-1.0, 1.0, (2, 120)))
        X = np.transpose(points) @ rng.normal(size=(len(points), width))
    else:
        turn, at = divmod(number // 2, len(FUNCTIONS))
        kind, size = FUNCTIONS[at], (turn + at) % 4 + 1
        X = functions(rng.uniform(-1.0, 1.0, (120, size)), kind, rng, width)
    return kind, (X - X.mean(axis=0)) / X.std(axis=0), size


def noise(rng, number, width):
    """Rows that have nothing to do with one another."""
    white, levels = rng.normal(size=(120, width)), rng.normal(size=(120, 1))
    smooth = white.copy()
    for column in range(1, width):
        smooth[:, column] = 0.8 * smooth[:, column - 1] + 0.6 * white[:, column]
    tables = {
        "white": white,
        "autocorrelated": smooth,
        "t(2)": rng.standard_t(2, size=white.shape),
        "lognormal": np.exp(white),
        "row levels": white + 2.0 * levels,
        "Poisson": rng.poisson(rng.uniform(0.3, 5.0, width), white.shape),
    }
    return *list(tables.items())[number % len(tables)], 0


SOURCES = samples, surfaces, noise


def trial(seed, source, number):
    """True and estimated numbers for one table."""
    rng = np.random.default_rng([seed, SOURCES.index(source), number])
    width, scale = int(rng.choice([100, 200, 500])), float(rng.uniform(0.0, 1.0))
    kind, X, size = source(rng, number, width)
    if size:
        X = X + scale * rng.normal(size=X.shape)
    result = dimension.estimate(X)
    return {
        "source": source.__name__,
        "kind": kind,
        "M": size,
        "N": width,
        "noise": scale,
        "covered": result.interval[0] <= size <= result.interval[1],
        "width": result.interval[1] - result.interval[0] + 1,
        "held-out columns": result.dimension,
        "parallel analysis": parallel_analysis(X, rng),
        "TwoNN": two_nearest(X),
        "spectral gap": spectral_gap(X),
    }


JUDGES = ("held-out columns", "parallel analysis", "TwoNN", "spectral gap")


def groups(trials):
    """Trials of every group by its name."""
    real = [t for t in trials if t["source"] != "noise"]
    yield "samples and surfaces", real
    for source in SOURCES:
        yield source.__name__, [t for t in trials if t["source"] == source.__name__]
    for m in range(1, 5):
        yield f"surfaces, M = {m}", [t for t in real if (t["source"], t["M"]) == ("surfaces", m)]
    for kind in sorted({t["kind"] for t in trials}):
        yield kind, [t for t in trials if t["kind"] == kind]
    for n in (100, 200, 500):
        yield f"N = {n}", [t for t in real if t["N"] == n]
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        yield f"noise {low} to {high}", [t for t in real if low <= t["noise"] < high]


def main():
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given = parser.parse_args()
    numbers = [(s, k) for s in SOURCES for k in range(given.tables // (1 + (s is noise)))]
    trials = Parallel(given.jobs)(delayed(trial)(given.seed, *each) for each in numbers)
    print(head("tables", "number", *JUDGES, "interval covers", "its length", "found"))
    for name, group in groups(trials):
        if group:
            right = [f"{np.mean([t[judge] == t['M'] for t in group]):.1%}" for judge in JUDGES]
            covered, width = (np.mean([t[key] for t in group]) for key in ("covered", "width"))
            found = " ".join(f"{t['M']}:{t['held-out columns']}" for t in group[:12])
            print(row(name, len(group), *right, f"{covered:.1%}", f"{width:.2f}", found))


if __name__ == "__main__":
    main()
