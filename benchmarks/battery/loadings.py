"""Derivatives of columns along a map: against known ones, against local regressions, and time.

    OMP_NUM_THREADS=1 python benchmarks/battery/loadings.py samples [--seeds 0 30] [--out FILE]
    OMP_NUM_THREADS=1 python benchmarks/battery/loadings.py real
    OMP_NUM_THREADS=1 python benchmarks/battery/loadings.py kernels
    OMP_NUM_THREADS=1 python benchmarks/battery/loadings.py halves
    OMP_NUM_THREADS=1 python benchmarks/battery/loadings.py cost

Samples: every column is drawn together with its gradient at all points from one Gaussian process
over Z, and noise is added. `IKD(M, kernel=the true one)` is fitted, the truth is turned onto the
embedding by a rotation or reflection and a shift, and what `IKD.loadings` says is compared with the
true derivatives. "attainable" is the correlation of the posterior mean on the true map with the
true variances, "map known" the coverage without the errors of coordinates, "true map" correlation
and coverage of `ikd_graph.loadings` on the true map, without the kernel. Seeds 0 to 29 are for
choosing, 30 to 59 for one confirmation. Lines that FILE has already are not computed again.

Real: columns of digits and of 437 cells by 48 genes (guo_qpcr.npz in the folder $IKD_GRAPH_DATA),
ranked at 40 points by the length of their gradient beyond its standard errors, against the slopes
of weighted linear regressions on the nearest 75 rows. Kernels: the same for kernels of given
maps, with correlation and coverage on true ones. Halves: principal components of six tables, at
100 points, from either half of the rows, with the scale that is chosen and with the shortest. Cost:
time of a processor and memory.
"""

import argparse
import json
import os
import resource
import time
import warnings
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
)
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

import ikd_graph
from ikd_graph import IKD, kernels
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
N_POINTS = 40
TABLES = (load_breast_cancer, load_wine, load_diabetes, load_iris, load_digits)


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


def differences(model, Z, step):
    """Derivatives (T, N, M) of `inverse_transform` at Z by central differences."""
    moves = step * np.eye(Z.shape[1])
    there, back = ([model.inverse_transform(Z + s * move) for move in moves] for s in (1, -1))
    return np.stack([(a - b) / (2.0 * step) for a, b in zip(there, back, strict=True)], axis=-1)


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
    model = IKD(Z.shape[1], kernel=kernel, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
        begin = time.process_time()
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
    away = np.abs(values - differences(model, model.embedding_, 1e-5))
    return facts | {
        "correlation": correlation(truth, values),
        "attainable": correlation(gradients, ideal),
        "held": held(truth, values, errors),
        "held_scaled": held(truth / scale, values, errors),
        "held_known": held(truth, *plain),
        "correlation_given": correlation(gradients, given.values),
        "held_given": held(gradients, given.values, given.standard_errors),
        "r2": affine_r2(Z, model.embedding_),
        "differences": float(away.max() / np.abs(values).max()),
        "seconds": seconds,
    }


def table(lines):
    """Correlation and coverage by kernel and by noise, mean ± standard deviation, as Markdown."""
    heads = ("", "samples", "R2", "correlation", "attainable", "50 %", "95 %", "least",
             "scaled, 95 %", "map known, 95 %", "true map", "50 %", "95 %")  # fmt: skip
    out = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]

    def cell(values):
        return f"{np.mean(values):.3f} ± {np.std(values):.3f}"

    def add(name, group):
        most = [x["held"][1] for x in group]
        cells = [
            f"{np.mean([x['r2'] for x in group]):.3f}",
            *(cell([x[key] for x in group]) for key in ("correlation", "attainable")),
            cell([x["held"][0] for x in group]),
            cell(most),
            f"{min(most):.3f}",
            *(cell([x[key][1] for x in group]) for key in ("held_scaled", "held_known")),
            cell([x["correlation_given"] for x in group]),
            *(cell([x["held_given"][level] for x in group]) for level in (0, 1)),
        ]
        out.append(f"| {name} | {len(group)} | " + " | ".join(cells) + " |")

    add("all", lines)
    for key in ("kernel", "sd", "T"):
        for value in sorted({x[key] for x in lines}):
            group = [x for x in lines if x[key] == value]
            add(value if key == "kernel" else f"{key} {value:g}", group)
    for name in KERNELS:
        for sd in NOISE:
            group = [x for x in lines if (x["kernel"], x["sd"]) == (name, sd)]
            if group:
                add(f"{name}, sd {sd:g}", group)
    worst = max(x["differences"] for x in lines)
    slowest = max(x["seconds"] for x in lines)
    return "\n".join([*out, "", f"Differences of inverse_transform: {worst:.1e} of the largest "
                      f"derivative away at most. Slowest: {slowest:.2f} s."])  # fmt: skip


def local_slopes(Z, X, points, n_near=75):
    """Lengths (k, p) of the slopes of weighted linear regressions on the rows near each point."""
    out = np.empty((len(points), X.shape[1]))
    for index, point in enumerate(points):
        away = np.linalg.norm(Z - point, axis=1)
        near = np.argsort(away)[:n_near]
        weights = np.sqrt(1.0 - (away[near] / (1.001 * away[near].max())) ** 2)
        design = np.column_stack([np.ones(n_near), Z[near] - point]) * weights[:, None]
        slopes = np.linalg.lstsq(design, X[near] * weights[:, None], rcond=None)[0][1:]
        out[index] = np.linalg.norm(slopes, axis=0)
    return out


def agreement(found, Z, X):
    """Spearman correlations (k,) over columns with local regressions, at 40 rows of the map."""
    at = np.unique(np.linspace(0, len(Z) - 1, N_POINTS).astype(int))
    moving = np.flatnonzero(found.sd > 0.0)
    names = np.array(found.names)[moving]
    judge = local_slopes(Z, X[:, moving] / found.sd[moving], Z[at])
    out = []
    for row, slopes in zip(at, judge, strict=True):
        top = found.top(len(found), where=int(row)).set_index("column")["size"]
        # Columns without a change beyond its error are not listed: the last, all alike.
        out.append(spearmanr(top.reindex(names, fill_value=0.0), slopes)[0])
    return np.nan_to_num(out)  # NaN where no column is listed


def maps():
    """Tables with maps of theirs by t-SNE and UMAP, by name of the table and of the map."""
    cells = np.load(Path(os.environ["IKD_GRAPH_DATA"]) / "guo_qpcr.npz")["X"]
    for name, X in (("digits", load_digits().data[:1000]), ("cells", cells)):
        yield name, "t-SNE", X, TSNE(random_state=0).fit_transform(X).astype(float)
        if find_spec("umap") is not None:
            umap = import_module("umap").UMAP(random_state=0)
            yield name, "UMAP", X, umap.fit_transform(X).astype(float)


def real():
    """Print the agreement with local regressions for real tables and their maps."""
    print("| table | map | median | lower quartile | least |\n|---|---|---|---|---|")

    def line(name, kind, met):
        cells = [np.median(met), np.quantile(met, 0.25), met.min()]
        print(f"| {name} | {kind} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")

    for name, kind, X, Z in maps():
        if kind == "t-SNE":
            model = IKD(2, random_state=0).fit(X)
            line(name, "IKD", agreement(model.loadings(), model.embedding_, X))
        line(name, kind, agreement(ikd_graph.loadings(Z, X), Z, X))


def compare_kernels():
    """Print how kernels do on given maps: real ones, and true ones of samples with noise."""
    tables = [sample(seed) for seed in range(30)]
    given = list(maps())
    for shape, part in (("SE", 2), ("SE", 4), ("RQ", 4), ("Matern 5/2", 2)):

        def fitted(Z, X, shape=shape, part=part):
            kernel = replace(KERNELS[shape], length_scale=float(np.median(pdist(Z))) / part)
            return ikd_graph.loadings(Z, X, kernel=kernel)

        met = [f"{name}, {kind} {np.median(agreement(fitted(Z, X), Z, X)):.2f}"
               for name, kind, X, Z in given]  # fmt: skip
        held_by = []
        for facts, Z, X, gradients in tables:
            if facts["sd"] > 0.0:
                found = fitted(Z, X)
                held_by.append([correlation(gradients, found.values),
                                *held(gradients, found.values, found.standard_errors)])  # fmt: skip
        text = ", ".join(f"{value:.3f}" for value in np.mean(held_by, axis=0))
        print(f"{shape} 1/{part}: {'; '.join(met)}; correlation, 50 %, 95 %: {text}", flush=True)


def halves():
    """Print how gradients from one half of the rows agree with those from the other."""
    print("| table | scale | sure | sure of a half | opposite | 95 % |\n|---|---|---|---|---|---|")
    rng = np.random.default_rng(0)
    tables = {load.__name__[5:]: load().data[:1000] for load in TABLES}
    for name, X in (tables | {"noise": rng.normal(size=(300, 30))}).items():
        X = X[:, X.std(axis=0) > 0.0]
        Z = PCA(2).fit_transform(X / X.std(axis=0))
        middle = float(np.median(pdist(Z)))
        at, order = Z[rng.permutation(len(Z))[:100]], rng.permutation(len(Z))
        for kernel in (None, kernels.RationalQuadratic(length_scale=0.25 * middle)):
            one, other = (ikd_graph.loadings(Z[half], X[half], points=at, kernel=kernel)
                          for half in np.array_split(order, 2))  # fmt: skip
            every = ikd_graph.loadings(Z, X, kernel=kernel)
            sure = sure_of(one)
            opposite = np.sum(one.values * other.values, axis=2)[sure] < 0.0
            away = np.abs(one.values - other.values)
            inside = away <= MOST * np.hypot(one.standard_errors, other.standard_errors)
            scale = every.posteriors[0].features.kernel.length_scale / middle
            cells = [scale, sure_of(every).mean(), sure.mean(),
                     opposite.mean() if opposite.size else np.nan, inside.mean()]  # fmt: skip
            print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


def sure_of(found):
    """Which gradients (n, p) are longer than two standard errors."""
    length, error = (np.sum(each**2, axis=2) for each in (found.values, found.standard_errors))
    return length > 4.0 * error


def cost():
    """Print seconds of a processor and the largest memory of this process, small tables first."""
    rng = np.random.default_rng(0)

    def clock(name, work):
        begin = time.process_time()
        work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"{name}: {time.process_time() - begin:.2f} s, {peak:.2f} GB", flush=True)

    Z = rng.uniform(size=(1000, 2)) * [4.0, 2.5]
    waves = np.cos(Z @ rng.normal(size=(2, 2000)) + rng.uniform(0.0, 6.3, 2000))
    X = waves + 0.5 * rng.normal(size=waves.shape)
    model = IKD(2, random_state=0).fit(X)

    def both(found):
        return found.values, found.standard_errors

    clock("nothing (what is there before)", lambda: None)
    for run in ("first", "second"):
        clock(f"model.loadings, 1 000 x 2 000, {run} call", lambda: both(model.loadings()))
        clock(f"loadings(Z, X), 1 000 x 2 000, {run} call", lambda: both(ikd_graph.loadings(Z, X)))
        clock(f"top(10), {run} call", lambda: model.loadings().top(10))
    Z = rng.uniform(size=(3000, 2)) * [4.0, 2.5]
    X = sparse.random_array((3000, 20_000), density=0.05, format="csr", rng=rng)
    clock("loadings(Z, X).top(10), 3 000 x 20 000 sparse",
          lambda: ikd_graph.loadings(Z, X).top(10))  # fmt: skip
    clock("loadings(Z, X, points=1) with values and errors",
          lambda: both(ikd_graph.loadings(Z, X, points=Z[:1])))  # fmt: skip


JOBS = {"real": real, "kernels": compare_kernels, "halves": halves, "cost": cost}


def main():
    """Print what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("samples", *JOBS))
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 30))
    parser.add_argument("--out", help="jsonl file that every sample is appended to")
    options = parser.parse_args()
    with threadpool_limits(limits=1):
        if options.what != "samples":
            JOBS[options.what]()
            return
        lines = []
        if options.out and Path(options.out).exists():
            lines = [json.loads(text) for text in Path(options.out).read_text().splitlines()]
        done = {line["seed"] for line in lines}
        for seed in range(*options.seeds):
            if seed not in done:
                lines.append(measure(seed))
                if options.out:
                    with open(options.out, "a") as file:
                        file.write(json.dumps(lines[-1]) + "\n")
    first, last = options.seeds
    print(table([line for line in lines if first <= line["seed"] < last]))


if __name__ == "__main__":
    main()
