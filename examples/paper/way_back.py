"""The way back: rows from three coordinates, ``inverse_transform(transform(X))`` against X."""

from itertools import product

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA, KernelPCA

from ikd_graph import IKD, kernels
from ikd_graph._checks import check_choice
from ikd_graph.study.datasets import fixed_latent, gp_mapping
from ikd_graph.study.timing import timed

from ._lab import Table, run_trials, title_of
from ._recovery import LENGTH_SCALE

M = 3
SHARE_NEW = 0.2
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0)  # over the median squared distance
RIDGES = (1e-6, 1e-4, 1e-2, 1.0)


def _kernel_pca(X, seed):
    """Kernel principal components with a ridge regression back, in all settings."""
    median = float(np.median(pdist(X, "sqeuclidean")))
    for gamma, ridge in product(GAMMAS, RIDGES):
        back = {"gamma": gamma / median, "alpha": ridge, "fit_inverse_transform": True}
        yield KernelPCA(M, kernel="rbf", random_state=seed, **back)


WAYS_BACK = {
    "ikd": lambda X, seed: [IKD(M, random_state=seed)],
    "pca": lambda X, seed: [PCA(M, random_state=seed)],
    "kernel_pca_rbf": _kernel_pca,
}
"""Methods with a way back: functions of the rows and the seed that yield models to fit."""


def run(
    noise=(0.0, 0.5),
    methods=("ikd", "pca", "kernel_pca_rbf"),
    *,
    n_features=100,
    n_samples=1000,
    n_trials=5,
    seed=0,
    **how,
):
    """Mean squared error by noise, rows (fitted or held out) and method."""
    for method in methods:
        check_choice("methods", method, WAYS_BACK)
    tasks = [
        (float(sd), (n_samples, n_features), method, seed, t)
        for sd, method, t in product(noise, methods, range(n_trials))
    ]
    trials = run_trials(way_back_trial, tasks, **how)
    trials.sort(key=lambda trial: (trial["rows"] != "fitted", trial["noise"]))
    notes = [
        f"medium latent, {n_samples} points, N = {n_features}, squared exponential, length-scale "
        f"{LENGTH_SCALE}, signal variance 1; M = {M}",
        f"{n_trials} data sets a cell, seed {seed}; 80 % of the rows are fitted, 20 % held out",
        "mean: mean squared error against the rows; signal: against the rows before noise",
        f"kernel_pca_rbf: the best of {len(GAMMAS) * len(RIDGES)} settings for each data set and "
        f"kind of rows, chosen by the error itself (gamma {GAMMAS} over the median squared "
        f"distance; ridge {RIDGES}); seconds are those of all",
    ]
    by = ("noise", "rows", "method")
    return Table("way_back", title_of(__doc__), trials, by, "mse", notes, also=("signal",))


def way_back_trial(noise, shape, method, seed, trial):
    """Draw data, fit four fifths of it and reconstruct both parts."""
    rng = np.random.default_rng([seed, trial])
    kernel = kernels.SquaredExponential(length_scale=LENGTH_SCALE)
    signal = gp_mapping(fixed_latent("medium", shape[0]), shape[1], kernel, seed=rng)
    X = signal + noise * rng.normal(size=signal.shape)
    order = rng.permutation(shape[0])
    n_new = round(SHARE_NEW * shape[0])
    parts = {"fitted": order[n_new:], "held out": order[:n_new]}

    def reconstruct():
        errors = {name: [] for name in parts}
        for model in WAYS_BACK[method](X[parts["fitted"]], trial):
            model.fit(X[parts["fitted"]])
            for name, part in parts.items():
                again = model.inverse_transform(model.transform(X[part]))
                found = [float(np.mean((again - true[part]) ** 2)) for true in (X, signal)]
                errors[name].append(found)
        return {name: min(found) for name, found in errors.items()}

    done = timed(reconstruct)
    cell = {"noise": noise, "method": method, "seed": seed, "trial": trial}
    cost = {"seconds": done.seconds, "failure": done.failure}
    out = []
    for name, part in parts.items():
        mse, clean = (done.value or {}).get(name, (np.nan, np.nan))
        out.append({**cell, "rows": name, "T": part.size, "mse": mse, "signal": clean, **cost})
    return out
