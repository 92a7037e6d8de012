"""Derivatives of columns along a map: against known ones.

    OMP_NUM_THREADS=1 python benchmarks/battery/loadings.py [--seeds 0 30] [--out FILE]

Every column is drawn together with its gradient at all points from one Gaussian process over Z, and
noise is added. `IKD(M, kernel=the true one)` is fitted, the truth is turned onto the embedding by a
rotation or reflection and a shift, and what `IKD.loadings` says is compared with the true
derivatives. "attainable" is the correlation of the posterior mean on the true map with the true
variances, "map known" the coverage without the errors of coordinates, "true map" correlation and
coverage of `ikd_graph.loadings` on the true map, without the kernel. Seeds 0 to 29 are for
choosing, 30 to 59 for one confirmation.
"""

import time
import warnings

import numpy as np
from measures import append, fitted, head, options, read, row
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import cdist

import ikd_graph
from ikd_graph import kernels
from ikd_graph.metrics import affine_r2

KERNELS = {
    "SE": kernels.SquaredExponential(),
    "RQ": kernels.RationalQuadratic(alpha=1.0),
    "Matern 3/2": kernels.Matern(nu=1.5),
    "Matern 5/2": kernels.Matern(nu=2.5),
}
NOISE = (0.0, 0.1, 0.3, 0.5, 1.0)
SHAPES = ("cloud", "sheet", "ring", "line")
HALF, MOST = 0.674, 1.96  # standard errors of 50 and 95 % intervals


def second_derivative(name, d):
    """Second derivative of a kernel in the squared distance d; 0 where it does not matter."""
    x = np.sqrt(np.maximum(d, 1e-300))
    if name == "SE":
        return 0.25 * np.exp(-0.5 * d)
    if name == "RQ":
        return 0.5 / (1.0 + 0.5 * d) ** 3
    if name == "Matern 3/2":
        return np.where(d > 0.0, 0.75 * np.sqrt(3.0) * np.exp(-np.sqrt(3.0) * x) / x, 0.0)
    return 25.0 / 12.0 * np.exp(-np.sqrt(5.0) * x)


def joint_covariance(name, Z):
    """Covariance of the values at points Z and of their derivatives, axis by axis."""
    T, M = Z.shape
    kernel, d = KERNELS[name], cdist(Z, Z, "sqeuclidean")
    gap = Z.T[:, :, None] - Z.T[:, None]
    first, second = kernel.derivative(d), second_derivative(name, d)
    out = np.empty((M + 1, T, M + 1, T))
    out[0, :, 0] = kernel.covariance(d)
    for a in range(M):
        out[a + 1, :, 0] = 2.0 * first * gap[a]
        out[0, :, a + 1] = out[a + 1, :, 0].T
        for b in range(M):
            out[a + 1, :, b + 1] = -4.0 * second * gap[a] * gap[b] - 2.0 * first * (a == b)
    return out.reshape((M + 1) * T, (M + 1) * T)


def latent_points(shape, T, rng):
    """Points (T, 2 or 1) of a shape in units of the length-scale."""
    if shape == "cloud":
        points = rng.normal(size=(T, 2)) * [1.2, 1.0]
    elif shape == "sheet":
        points = rng.uniform(size=(T, 2)) * [4.0, 2.5]
    elif shape == "ring":
        angle, radius = rng.uniform(0.0, 2.0 * np.pi, T), rng.uniform(0.6, 1.4, T)
        points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        points = rng.uniform(size=(T, 1)) * 4.0
    points = points - points.mean(axis=0)
    return points / np.sqrt(np.sum(points**2, axis=1).mean()) / rng.uniform(0.4, 0.8)


def sample(seed):
    """Facts of a table, its points Z (T, M), rows X (T, N) and gradients (T, N, M)."""
    rng = np.random.default_rng([55, seed])
    names = list(KERNELS)
    facts = {
        "seed": seed,
        "kernel": names[seed % 4],
        "sd": NOISE[seed // 4 % 5],
        "shape": SHAPES[int(rng.integers(4))],
        "T": int(rng.choice([60, 100, 200, 400])),
        "N": int(rng.integers(100, 201)),
    }
    Z = latent_points(facts["shape"], facts["T"], rng)
    values, vectors = np.linalg.eigh(joint_covariance(facts["kernel"], Z))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = (root @ rng.normal(size=(len(root), facts["N"]))).reshape(-1, len(Z), facts["N"])
    X = drawn[0] + facts["sd"] * rng.normal(size=drawn[0].shape)
    return facts, Z, X, np.moveaxis(drawn[1:], 0, 2)


def closed_form(Z, X, kernel, variance, noise):
    """Derivatives (T, N, M) of the posterior mean at Z, and their standard errors (T, 1, M)."""
    d = cdist(Z, Z, "sqeuclidean")
    cov = variance * kernel.covariance(d)
    cov.flat[:: len(d) + 1] += noise + 1e-10 * variance
    inverse = np.linalg.inv(cov)
    slope = 2.0 * variance * kernel.derivative(d)[:, :, None] * (Z[:, None] - Z)
    values = np.einsum("ijm,jn->inm", slope, inverse @ X)
    prior = -2.0 * variance * float(kernel.derivative(0.0))
    explained = np.einsum("ijm,jk,ikm->im", slope, inverse, slope, optimize=True)
    return values, np.sqrt(np.maximum(prior - explained, 0.0))[:, None]


def held(truth, values, errors):
    """Fractions of the truth within 50 and 95 % intervals."""
    away = np.abs(values - truth)
    return [float(np.mean(away <= level * errors)) for level in (HALF, MOST)]


def correlation(a, b):
    """Correlation of all entries."""
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


def measure(seed):
    """A line for a sample: facts, correlations, coverage, R2 and seconds."""
    facts, Z, X, gradients = sample(seed)
    kernel = KERNELS[facts["kernel"]]
    model, _ = fitted(X, Z.shape[1], kernel=kernel)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.loadings()
        values, errors = found.values, found.standard_errors
        seconds = time.process_time() - begin
        noise = model.noise_model()
    middle, frame = Z - Z.mean(axis=0), model.embedding_ - model.embedding_.mean(axis=0)
    turn, trace = orthogonal_procrustes(middle, frame)
    truth, scale = gradients @ turn, trace / np.sum(middle**2)
    plain = closed_form(frame, X - X.mean(axis=0), noise.kernel, noise.variance, noise.noise)
    ideal = closed_form(Z, X, kernel, 1.0, facts["sd"] ** 2)[0]
    given = ikd_graph.loadings(Z, X)
    return facts | {
        "correlation": correlation(truth, values),
        "attainable": correlation(gradients, ideal),
        "held": held(truth, values, errors),
        "held_scaled": held(truth / scale, values, errors),
        "held_known": held(truth, *plain),
        "correlation_given": correlation(gradients, given.values),
        "held_given": held(gradients, given.values, given.standard_errors),
        "r2": affine_r2(Z, model.embedding_),
        "seconds": seconds,
    }


def groups(lines):
    """Lines of every stratum by its name."""
    yield "all", lines
    for name in KERNELS:
        yield name, [line for line in lines if line["kernel"] == name]
    for key in ("sd", "T"):
        for value in sorted({line[key] for line in lines}):
            yield f"{key} {value:g}", [line for line in lines if line[key] == value]
    for name in KERNELS:
        for sd in NOISE:
            group = [line for line in lines if (line["kernel"], line["sd"]) == (name, sd)]
            yield f"{name}, sd {sd:g}", group


def cells(group):
    """Cells of a stratum, mean ± standard deviation of its samples."""

    def of(key, *level):
        values = [line[key][level[0]] if level else line[key] for line in group]
        return f"{np.mean(values):.3f} ± {np.std(values):.3f}"

    yield float(np.mean([line["r2"] for line in group]))
    yield from (of("correlation"), of("attainable"), of("held", 0), of("held", 1))
    yield min(line["held"][1] for line in group)
    yield from (of("held_scaled", 1), of("held_known", 1), of("correlation_given"))
    yield from (of("held_given", 0), of("held_given", 1))


def main():
    """Print correlation and coverage by kernel and by noise."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 30))
    parser.add_argument("--out", help="jsonl file of samples: those that it has are not repeated")
    given = parser.parse_args()
    done = {line["seed"]: line for line in read(given.out)}
    lines = []
    for seed in range(*given.seeds):
        lines.append(done.get(seed) or measure(seed))
        if seed not in done:
            append(given.out, lines[-1])
    print(head("", "samples", "R2", "correlation", "attainable", "50 %", "95 %", "least",
               "scaled, 95 %", "map known, 95 %", "true map", "50 %", "95 %"))  # fmt: skip
    for name, group in groups(lines):
        if group:
            print(row(name, len(group), *cells(group)))
    print(f"\nSlowest: {max(line['seconds'] for line in lines):.2f} s.")


if __name__ == "__main__":
    main()
