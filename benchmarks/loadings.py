"""Derivatives of columns along a map, against those that are known.

    OMP_NUM_THREADS=1 python benchmarks/loadings.py [--seeds 0 30] [--out FILE]

A table is a sample of the model: every column of X is drawn together with its gradient at all
points from one Gaussian process over Z, and noise is added. `IKD(M, kernel=the true one)` is fitted
to it, the truth is turned onto the embedding by a rotation or reflection and a shift, and the
derivatives that it states are compared with the true ones. Seeds 0 to 29 are for choosing, 30 to 59
for one confirmation. Lines that FILE has already are not computed again.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

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
HALF, MOST = 0.674, 1.96


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
    """Derivatives (T, N, M) of the posterior mean at Z, and their standard errors (T, M)."""
    d = cdist(Z, Z, "sqeuclidean")
    cov = variance * kernel.covariance(d)
    cov.flat[:: len(d) + 1] += noise + 1e-10 * variance
    inverse = np.linalg.inv(cov)
    slope = 2.0 * variance * kernel.derivative(d)[:, :, None] * (Z[:, None] - Z)
    values = np.einsum("ijm,jn->inm", slope, inverse @ X)
    prior = -2.0 * variance * float(kernel.derivative(0.0))
    explained = np.einsum("ijm,jk,ikm->im", slope, inverse, slope, optimize=True)
    return values, np.sqrt(np.maximum(prior - explained, 0.0))


def scores(truth, values, errors):
    """Correlation with the truth, and fractions of it within 50 and 95 % intervals."""
    away = np.abs(values - truth)
    return {
        "correlation": float(np.corrcoef(truth.ravel(), values.ravel())[0, 1]),
        "50": float(np.mean(away < HALF * errors)),
        "95": float(np.mean(away < MOST * errors)),
        "z": float(np.sqrt(np.mean((away / errors) ** 2))),
    }
