"""Data sets 1 to 3 of the paper: a random latent through Gaussian processes, sines or bumps."""

import numpy as np
from scipy.spatial.distance import cdist

from ikd_graph import kernels
from ikd_graph._base.validation import one_of, whole
from ikd_graph.datasets import Dataset, gp_mapping, ou_latent

MAPPINGS = ("gp", "sine", "bump", "bump_l1")
"""The mappings of Fig. 2, and the bump as the authors ran it."""


def mapped_data(mapping, n_features, *, n_samples=1000, seed=0):
    """Data set of the paper's Fig. 2: a latent of Eq. 12 through one of its mappings.

    Parameters
    ----------
    mapping : {"gp", "sine", "bump", "bump_l1"}
        gp: M = 3, length-scale 3, noise 0.05. sine: M = 1, noise 0.1. bump (as printed) and
        bump_l1 (as run): M = 2, noise 0.05.
    n_features : int
        Number of observed dimensions N.
    n_samples : int
        Number of points T, the paper's 1000.
    seed : int or Generator
        Source of randomness.

    Returns
    -------
    Dataset
        With its latent, clipped to [-6, 6] as in the paper's runs.
    """
    one_of(MAPPINGS)("mapping", mapping)
    rng = np.random.default_rng(seed)
    n_components = {"gp": 3, "sine": 1}.get(mapping, 2)
    latent = ou_latent(n_samples, n_components, clip=6.0, seed=rng)
    if mapping == "gp":
        clean = gp_mapping(
            latent, n_features, kernels.SquaredExponential(length_scale=3.0), seed=rng
        )
    elif mapping == "sine":
        clean = sine_mapping(latent, n_features, seed=rng)
    else:
        form = "l1" if mapping == "bump_l1" else "squared"
        clean = bump_mapping(latent, n_features, form=form, seed=rng)
    X = clean + rng.normal(scale=0.1 if mapping == "sine" else 0.05, size=clean.shape)
    return Dataset(X=X, latent=latent, name=f"{mapping}_N{n_features}")


def sine_mapping(latent, n_features, *, seed=0):
    """Observations of the paper's data set 2: sin(Ω z + φ), Ω ~ U(-1, 1), φ ~ U(-π, π).

    Parameters
    ----------
    latent, n_features, seed : see `gp_mapping`
        The true latent, the number of observed dimensions and a source of randomness.

    Returns
    -------
    (n, n_features) float64
        Observations without noise.
    """
    points = np.asarray(latent, dtype=np.float64)
    rng = np.random.default_rng(seed)
    omega = rng.uniform(-1.0, 1.0, size=(whole(1)("n_features", n_features), points.shape[1]))
    phase = rng.uniform(-np.pi, np.pi, size=n_features)
    return np.sin(points @ omega.T + phase)


def bump_mapping(latent, n_features, *, form="squared", seed=0):
    r"""Observations of the paper's data set 3: bumps around centers on a grid over [-6, 6]^m.

    Parameters
    ----------
    latent, seed : see `gp_mapping`
        The true latent and a source of randomness.
    n_features : int
        Number of observed dimensions N, each with its own center among 100^m grid points.
    form : {"squared", "l1"}
        "squared" is Eq. 13 as printed, 20 exp(-\|z - c\|²). "l1" is what the authors ran,
        20 exp(-\|z - c\|_1), wider at its foot; the published figures rest on it.

    Returns
    -------
    (n, n_features) float64
        Observations without noise.
    """
    one_of(("squared", "l1"))("form", form)
    points = np.asarray(latent, dtype=np.float64)
    n_axes = points.shape[1]
    n_grid = 100**n_axes
    whole(1, n_grid)("n_features", n_features)
    picked = np.random.default_rng(seed).choice(n_grid, size=n_features, replace=False)
    cells = np.stack(np.unravel_index(picked, (100,) * n_axes), axis=1)
    centers = np.linspace(-6.0, 6.0, 100)[cells]
    metric = "sqeuclidean" if form == "squared" else "cityblock"
    return 20.0 * np.exp(-cdist(points, centers, metric))
