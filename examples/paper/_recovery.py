"""Experiments with a known latent: draw data, fit every method to them, measure R².

Trial t of seed s draws from ``default_rng([s, t])``, so that all methods of a trial see the same
data, and any trial can be made again by itself.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ikd_graph import gplvm, kernels
from ikd_graph.refine import Likelihood
from ikd_graph.study import metrics
from ikd_graph.study.datasets import fixed_latent, gplvm_data

from ._lab import Fit, Table, fit, rows, run_trials

KERNELS = ("squared_exponential", "rational_quadratic", "gamma_exponential", "matern")
"""Kernels of the paper's Table 1."""

LENGTH_SCALE = 0.5
"""Length-scale of the paper's Fig. 3 to 6."""


class Cell(NamedTuple):
    """One cell of a table: what is drawn for it, and how it is solved."""

    columns: dict[str, Any]
    draw: Callable[..., Any]  # of a seed: a Dataset with its latent
    solve: str | None = None  # kernel that the methods are told, of length-scale 1/2

    def kernel(self):
        """Kernel to solve with; None leaves each method its own."""
        return self.solve and type(kernels.get(self.solve))(length_scale=LENGTH_SCALE)


def gplvm_cell(columns, latent, n_features, kernel, *, noise=0.0, solve=None):
    """Cell of a latent seen through Gaussian processes, solved with their kernel or another."""
    draw = partial(gplvm_data, latent, n_features, kernel=kernel, noise=noise)
    return Cell(columns, draw, solve or kernel)


def named_latents(latents):
    """Latents by name, from names or (n, m) arrays; those drawn are the same in all trials."""
    if isinstance(latents, Mapping):
        return {name: np.asarray(points, dtype=np.float64) for name, points in latents.items()}
    return {name: fixed_latent(name, seed=0) for name in latents}


def recover(table, cells, methods, *, extras=(), n_trials=20, seed=0, **how):
    """Table of R² of methods in cells; ``table`` is (name, title, notes)."""
    name, title, notes = table
    tasks = [(cell, tuple(methods), extras, seed, t) for cell in cells for t in range(n_trials)]
    trials = run_trials(recovery_trial, tasks, **how)
    notes = [
        *notes,
        f"{n_trials} trials a cell, seed {seed}; mean, sd, se and min are of R² after an affine "
        "alignment, r2_rigid is the mean after a rigid one; bad: share below .9",
        *(f"{extra}: {EXTRAS[extra].__doc__.rstrip('.')}" for extra in extras),
    ]
    by = (*cells[0].columns, "method")
    return Table(name, title, trials, by, "r2_affine", notes, 0.9, ("r2_rigid", *extras))


def recovery_trial(cell, methods, extras, seed, trial):
    """Draw the data of a cell and fit its methods."""
    data = cell.draw(seed=np.random.default_rng([seed, trial]))
    found = {
        name: fit(name, data.X, data.latent.shape[1], trial, kernel=cell.kernel())
        for name in methods
    }

    def measure(one):
        return {
            **r_squared(data.latent, one.coordinates),
            **{name: EXTRAS[name](one, data, cell.columns) for name in extras},
        }

    return rows({**cell.columns, "seed": seed, "trial": trial}, found, measure)


def r_squared(latent, points):
    """R² after an affine and after a rigid alignment with one scale."""
    return {
        "r2_affine": metrics.affine_r2(latent, points),
        "r2_rigid": metrics.rigid_r2(latent, points, scale=True),
    }


def likelihood_gap(one: Fit, data, columns):
    """Log likelihood reached from the truth, less that of the fit; above 0 the search lost."""
    if one.model is None or not isinstance(one.model.settings_.refine, Likelihood):
        return np.nan
    centred = one.model.settings_.affinity != "cosine"
    cov = gplvm.sample_covariance(data.X, centered=centred)
    n, kernel = data.X.shape[1], one.model.kernel_
    variance, noise, _ = gplvm.fit_variances(data.latent, cov, n, kernel)
    # The fit has this floor too: without noise the likelihood grows without end as it falls.
    lowest = 1e-7 * np.trace(cov) / len(cov)
    begin = np.append(data.latent, np.log([variance, max(noise, lowest)]))

    def cost(at):
        signal, rest = np.exp(at[-2:])
        points = at[:-2].reshape(data.latent.shape)
        got = gplvm.SampleLikelihood(cov)(points, kernel, signal, rest)
        slopes = np.append(got.latent, [got.log_variance, got.log_noise])
        return got.value, slopes

    free = [(None, None)] * (begin.size - 1)
    bounds = [*free, (np.log(lowest), None)]
    end = minimize(cost, begin, jac=True, method="L-BFGS-B", bounds=bounds,
                   options={"maxiter": 2000, "maxfun": 4000})  # fmt: skip
    return -n * end.fun - one.model.log_likelihood()


def noise_error(one: Fit, data, columns):
    """Noise variance found, over the true one, less 1."""
    true = columns["noise"] ** 2
    if one.model is None or true == 0.0:
        return np.nan
    return one.model.noise_model().noise / true - 1.0


def kernel_right(one: Fit, data, columns):
    """Share of trials in which the generating kernel was chosen."""
    if one.model is None or one.model.kernel != "auto":
        return np.nan
    return float(type(one.model.kernel_) is type(kernels.get(columns["generated by"])))


EXTRAS = {f.__name__: f for f in (likelihood_gap, noise_error, kernel_right)}
"""Measures of a fit beyond its coordinates, by name; NaN where they do not apply."""
