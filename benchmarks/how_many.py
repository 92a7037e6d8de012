"""How often the number of dimensions is right, beside parallel analysis, TwoNN and a spectral gap.

    OMP_NUM_THREADS=1 python benchmarks/how_many.py [--seed 1] [--tables 200] [--jobs 1]

Gaussian-process tables: 1 to 5 dimensions in turn; 100, 200 or 500 columns; noise of standard
deviation 0 to 1 (that of the signal is 1); 120 points, from a normal or uniform cloud as
wide as the length-scale. Parallel analysis (Horn 1965) counts the eigenvalues of the columns'
correlations above the 95 % quantile of those with every column shuffled; TwoNN (Facco et al. 2017)
takes the distances to the two nearest rows; the gap is the last wide one in the spectrum of the
closed form, `eigen.eigengap`.
"""

import argparse
import warnings

import numpy as np
from joblib import Parallel, delayed
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


def trial(seed, number):
    """True and estimated numbers for one table."""
    rng = np.random.default_rng([seed, number])
    size, n = number % 5 + 1, 120
    width, noise = int(rng.choice([100, 200, 500])), float(rng.uniform(0.0, 1.0))
    latent = rng.normal(size=(n, size))
    if rng.random() < 0.5:
        latent = rng.uniform(-(3.0**0.5), 3.0**0.5, size=(n, size))
    X = gplvm_data(latent, width, kernel=kernels.SquaredExponential(), noise=noise, seed=rng).X
    result = dimension.estimate(X)
    return {
        "M": size,
        "N": width,
        "noise": noise,
        "covered": result.interval[0] <= size <= result.interval[1],
        "width": result.interval[1] - result.interval[0] + 1,
        "held-out columns": result.dimension,
        "parallel analysis": parallel_analysis(X, rng),
        "TwoNN": two_nearest(X),
        "spectral gap": spectral_gap(X),
    }


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    numbers = range(options.tables)
    trials = Parallel(options.jobs)(delayed(trial)(options.seed, k) for k in numbers)
    judges = ("held-out columns", "parallel analysis", "TwoNN", "spectral gap")
    groups = {"all": lambda t: True}
    groups |= {f"M = {m}": lambda t, m=m: t["M"] == m for m in range(1, 6)}
    groups |= {f"N = {n}": lambda t, n=n: t["N"] == n for n in (100, 200, 500)}
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        groups[f"noise {low} to {high}"] = lambda t, a=low, b=high: a <= t["noise"] < b
    print(f"| tables | number | {' | '.join(judges)} | interval covers | its length |")
    print("|---" * (len(judges) + 4) + "|")
    for name, belongs in groups.items():
        group = [t for t in trials if belongs(t)]
        if group:
            right = [f"{np.mean([t[judge] == t['M'] for t in group]):.1%}" for judge in judges]
            covered, width = (np.mean([t[key] for t in group]) for key in ("covered", "width"))
            cells = " | ".join([*right, f"{covered:.1%}", f"{width:.2f}"])
            print(f"| {name} | {len(group)} | {cells} |")


if __name__ == "__main__":
    main()
