"""Random cells: rows of Gaussian processes over latents that are not the paper's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ikd_graph import kernels


class Cell(NamedTuple):
    """One data set with a known latent."""

    family: str
    kernel: str
    length_scale: float
    noise: float  # standard deviation; the signal's is 1
    latent: np.ndarray  # (n, m)
    rows: np.ndarray  # (n, n_observed)


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
