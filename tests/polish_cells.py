"""Random cells for the polish: latents that are not the paper's, and how a polish of each went.

``python tests/polish_cells.py [first] [last] [search]`` runs a range of the 200 cells and prints
one line each; `test_refine_cells.py` runs a dozen of them.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from ikd_graph import IKD, gplvm, kernels, refine
from ikd_graph.study.metrics import affine_r2

N_CELLS = 200
FAMILIES = ("cloud", "walk", "curve", "roll", "knot")
NAMES = ("squared_exponential", "rational_quadratic", "gamma_exponential", "matern")


class Cell(NamedTuple):
    """One data set with a known latent."""

    family: str
    kernel: str
    length_scale: float
    noise: float  # standard deviation; the signal's is 1
    latent: np.ndarray  # (n, m)
    rows: np.ndarray  # (n, n_observed)


class Outcome(NamedTuple):
    """How the polish of one cell went."""

    start_r2: float  # of the closed form after stress
    r2: float
    gain: float  # log likelihood above the plain descent from the start
    noise: float  # fitted over true variance; fitted where there is none
    gap: float  # largest distance of a point to its nearest, in length-scales
    seconds: float  # CPU time


def latent_of(family: str, n: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Points of a family, a few units wide."""
    t = np.sort(rng.uniform(0.0, 2.0 * np.pi, n))
    if family == "walk":
        steps = rng.standard_normal((n, m)).cumsum(axis=0)
        return 3.0 * (steps - steps.mean(axis=0)) / np.ptp(steps, axis=0).max()
    if family == "curve" and m > 1:
        flat = np.c_[2.0 * np.cos(t), 1.5 * np.sin(t * rng.integers(1, 3)), 0.5 * np.sin(3.0 * t)]
        return flat[:, :m]
    if family == "roll" and m > 1:
        turn = 1.5 * np.pi * (1.0 + rng.uniform(0.0, 1.6, n))
        roll = np.c_[turn * np.cos(turn), turn * np.sin(turn), 10.0 * rng.random(n)]
        return 0.25 * roll[:, :m]
    if family == "knot" and m == 3:
        return (
            0.7
            * np.c_[
                np.sin(t) + 2.0 * np.sin(2.0 * t),
                np.cos(t) - 2.0 * np.cos(2.0 * t),
                -np.sin(3.0 * t),
            ]
        )
    if family == "clusters":
        centre = rng.integers(0, 2, n)[:, None] * 3.0
        return 0.6 * rng.standard_normal((n, m)) + centre * np.eye(m)[0]
    if family == "tree":
        ends = rng.standard_normal((4, m))
        ends *= 2.5 / np.linalg.norm(ends, axis=1, keepdims=True)
        return rng.random((n, 1)) * ends[rng.integers(0, 4, n)]
    return rng.standard_normal((n, m)) * np.array([1.6, 1.0, 0.5])[:m]


def sample_cell(
    family: str,
    kernel: str,
    length_scale: float,
    noise: float,
    size: tuple[int, int, int],
    rng: np.random.Generator,
) -> Cell:
    """Rows of a Gaussian process over a latent of (n, n_observed, m)."""
    n, n_observed, m = size
    latent = latent_of(family, n, m, rng)
    model = type(kernels.get(kernel))(length_scale=length_scale)
    cov = model.covariance(cdist(latent, latent, "sqeuclidean")) + 1e-8 * np.eye(n)
    rows = np.linalg.cholesky(cov) @ rng.standard_normal((n, n_observed))
    rows += noise * rng.standard_normal(rows.shape)
    return Cell(family, kernel, length_scale, noise, latent, rows)


def cell(index: int) -> Cell:
    """One of the random cells."""
    rng = np.random.default_rng([20261122, index])
    size = (
        int(np.exp(rng.uniform(np.log(50), np.log(600)))),
        int(np.exp(rng.uniform(np.log(50), np.log(500)))),
        int(rng.integers(1, 4)),
    )
    return sample_cell(
        FAMILIES[index % len(FAMILIES)],
        NAMES[int(rng.integers(4))],
        float(rng.choice([0.5, 1.0, 2.0])),
        float(rng.choice([0.0, 0.5, 1.0])),
        size,
        rng,
    )


def plain_descent(cov: np.ndarray, kernel: str, start: np.ndarray) -> float:
    """Log likelihood of one observed dimension after SciPy's L-BFGS from a start, no floors.

    Shares nothing with the search but the likelihood itself.
    """
    n, m = start.shape
    model = kernels.get(kernel)
    variance, noise, _ = gplvm.fit_variances(start, cov, 1, model)

    def follow(vector: np.ndarray) -> tuple[float, np.ndarray]:
        at = gplvm.negative_log_likelihood_and_gradient(
            vector[:-2].reshape(n, m), cov, model, *np.exp(vector[-2:])
        )
        return at.value, np.r_[at.latent.ravel(), at.log_variance, at.log_noise]

    begin = np.r_[start.ravel(), np.log([variance, max(noise, 1e-7 * variance)])]
    bounds = [(None, None)] * start.size + [(-7.0, 7.0), (-16.0, 2.0)]
    options = {"maxiter": 400, "maxfun": 500, "maxcor": 20}
    return -float(
        minimize(follow, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun
    )


def polish(one: Cell, search: str = "local") -> Outcome:
    """Polish the closed form of a cell and compare with it and with the truth."""
    m, n_observed = one.latent.shape[1], one.rows.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = IKD(m, strategy="geodesic", kernel=one.kernel, refine="stress")
        start = model.fit_transform(one.rows)
    cov = gplvm.sample_covariance(one.rows)
    before = time.process_time()
    found = refine.likelihood(
        cov, n_observed, m, one.kernel, starts={"stress": start}, search=search
    )
    seconds = time.process_time() - before
    plain = plain_descent(cov, one.kernel, start)
    apart = cdist(found.latent, found.latent)
    np.fill_diagonal(apart, np.inf)
    return Outcome(
        affine_r2(one.latent, start),
        affine_r2(one.latent, found.latent),
        found.log_likelihood - n_observed * plain,
        found.noise / one.noise**2 if one.noise else found.noise,
        float(apart.min(axis=1).max()),
        seconds,
    )


if __name__ == "__main__":
    first, last = (int(text) for text in (sys.argv[1:3] or ("0", str(N_CELLS))))
    for index in range(first, last):
        one = cell(index)
        n, m = one.latent.shape
        found = polish(one, *sys.argv[3:4])
        sys.stdout.write(
            f"{index:3d} {one.family:6s} {one.kernel[:6]} l={one.length_scale} sd={one.noise}"
            f" T={n} N={one.rows.shape[1]} M={m} | r2 {found.start_r2:.3f} -> {found.r2:.3f}"
            f" gain {found.gain:.2f} noise {found.noise:.3g} gap {found.gap:.2f}"
            f" {found.seconds:.1f} s\n"
        )
        sys.stdout.flush()
