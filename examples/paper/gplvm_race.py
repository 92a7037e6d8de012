"""The race with an optimised GPLVM that is given the right kernel, and started from ours."""

from itertools import product

import numpy as np

from ikd_graph.study.datasets import gplvm_data

from ._lab import Table, fit, rows, run_trials, title_of
from ._recovery import gplvm_cell, r_squared


def run(
    n_features=(200, 1000),
    noise=(0.0, 0.5),
    kernel_names=("squared_exponential",),
    *,
    ours=("geodesic", "geodesic+stress", "ikd"),
    n_trials=10,
    seed=0,
    **how,
):
    """R² by kernel, N, noise and method; GPLVM starts by itself and from the last of ``ours``."""
    tasks = [
        (kernel, n, float(sd), tuple(ours), seed, t)
        for kernel, n, sd, t in product(kernel_names, n_features, noise, range(n_trials))
    ]
    trials = run_trials(race_trial, tasks, **how)
    notes = [
        "medium latent, T = 100, M = 3, length-scale 0.5, known to all",
        f"{n_trials} trials a cell, seed {seed}; R² after an affine alignment; one thread",
        "the time of a GPLVM started from ours holds ours",
        "seconds and cpu_seconds: medians",
    ]
    by = ("kernel", "N", "noise", "method")
    title = title_of(__doc__)
    return Table("gplvm_race", title, trials, by, "r2_affine", notes, 0.9, ("r2_rigid",))


def race_trial(kernel, n_features, noise, ours, seed, trial):
    """Draw data and fit our methods, GPLVM, and GPLVM started from the last of ours."""
    columns = {"kernel": kernel, "N": n_features, "noise": noise, "seed": seed, "trial": trial}
    solve = gplvm_cell(columns, "medium", n_features, kernel).kernel()
    rng = np.random.default_rng([seed, trial])
    data = gplvm_data("medium", n_features, kernel=kernel, noise=noise, seed=rng)
    found = {name: fit(name, data.X, 3, trial, kernel=solve) for name in (*ours, "gplvm")}
    found |= started(found[ours[-1]], ours[-1], "gplvm", data.X, 3, trial, kernel=solve)
    return rows(columns, found, lambda one: r_squared(data.latent, one.coordinates))


def started(first, name, peer, X, n_components, seed, **options):
    """A peer started from a fit of ours, whose time is added; nothing after a failure."""
    if first.coordinates is None:
        return {}
    after = fit(peer, X, n_components, seed, start=first.coordinates, **options)
    for key in ("seconds", "cpu_seconds"):
        after.cost[key] += first.cost[key]
    return {f"{peer} from {name}": after}
