"""Error bars next to those of the Bayesian GPLVM of GPy, on the tables of `calibration.py`.

    OMP_NUM_THREADS=1 python benchmarks/beside_gpy.py [--seed 2] [--tables 110] [--out FILE]

Of the tables drawn there, those of the squared exponential with at most 200 points and 200 columns.
Both packages are given the kernel. GPy starts from PCA with its defaults, and has variances of its
own coordinates; the truth is brought into each frame by a rotation or reflection, a shift and a
scale. The table that is printed is that of docs/decisions/009-error-bars.md.
"""

import argparse
import json
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from calibration import LEVELS, SHAPES, aligned, draw
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from ikd_graph import IKD
from ikd_graph.metrics import affine_r2


def ours(rows, n_components):
    """Coordinates and standard errors of a fit by likelihood."""
    model = IKD(n_components, affinity="correlation", strategy="geodesic",
                kernel="squared_exponential", refine="likelihood", random_state=0)  # fmt: skip
    model.fit(rows)
    return model.embedding_, model.standard_errors_


def gpy(rows, n_components):
    """Means and standard deviations of the Bayesian GPLVM of GPy."""
    import GPy

    np.random.seed(0)  # noqa: NPY002 (the library draws from the global generator)
    kernel = GPy.kern.RBF(n_components)
    model = GPy.models.BayesianGPLVM(rows, n_components, kernel=kernel, num_inducing=40)
    model.optimize(messages=False, max_iters=5000)
    return np.asarray(model.X.mean), np.sqrt(np.asarray(model.X.variance))


METHODS = {"ikd": ours, "gpy": gpy}


def measure(seed, index):
    """Lines of a table, one for each package; none for a table that is left out."""
    facts, latent, rows = draw(seed, index, SHAPES["confirm"])
    if facts["kernel"] != "squared_exponential" or facts["T"] > 200 or facts["N"] > 200:
        return []
    truth, lines = latent[: facts["T"]], []
    for name, embed in METHODS.items():
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            points, error = embed(rows[: facts["T"]], truth.shape[1])
        seconds = time.process_time() - begin
        away = np.abs(aligned(truth, points, truth, scale=True) - points)
        held = [float(np.mean(away < norm.ppf(0.5 + 0.5 * p) * error)) for p in LEVELS]
        lines.append(facts | {"method": name, "index": index, "held": held, "seconds": seconds,
                              "r2": affine_r2(truth, points)})  # fmt: skip
    return lines


GROUPS = {
    "": lambda line: True,
    ", R2 above 0.9": lambda line: line["r2"] > 0.9,
    ", no noise": lambda line: line["sd"] == 0.0,
    ", noise 1.5": lambda line: line["sd"] == 1.5,
}


def table(lines):
    """Coverage, R2 and seconds by package, of all tables and of some."""
    out = ["| | tables | 50 % | 80 % | 90 % | 95 % | least | R2 | processor s |", "|---" * 9 + "|"]
    for (group, chosen), name in product(GROUPS.items(), METHODS):
        own = [line for line in lines if line["method"] == name and chosen(line)]
        if not own:
            continue
        held = np.array([line["held"] for line in own])
        levels = " | ".join(f"{value:.3f}" for value in held.mean(axis=0))
        r2, seconds = (np.array([line[key] for line in own]) for key in ("r2", "seconds"))
        out.append(
            f"| `{name}`{group} | {len(own)} | {levels} | {held[:, -1].min():.2f} "
            f"| {r2.mean():.3f} | {np.median(seconds):.1f} |"
        )
    return "\n".join(out)


def main():
    """Fit every table by both packages, and print what held."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--tables", type=int, default=110)
    parser.add_argument("--out", type=Path, help="lines (.jsonl), read if it is there")
    args = parser.parse_args()
    stored = args.out is not None and args.out.exists()
    lines = [json.loads(line) for line in args.out.read_text().splitlines()] if stored else []
    with threadpool_limits(1):
        for index in range(0 if stored else args.tables):
            for line in measure(args.seed, index):
                lines.append(line)
                if args.out:
                    with args.out.open("a") as file:
                        file.write(json.dumps(line) + "\n")
    print(table(lines))


if __name__ == "__main__":
    main()
