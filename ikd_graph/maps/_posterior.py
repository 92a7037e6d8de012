r"""What the values of columns at the points of a map say of them elsewhere, and of their slopes.

A column is v^(1/2) times a sample of a Gaussian process with the kernel k = f(\|z - z'\|²), plus
noise. Its posterior mean is a sum of features g_j(z), which are sums of kernels, times coefficients
c_j, of whose variance the values take off a fraction e_j. A linear functional l of the column,
such as its derivative at a point, then has

    the mean  Σ c_j l g_j  and the variance  v (l l' k - Σ e_j (l g_j)²),

so that one set of features serves all columns, and all functionals of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax

from .._base.rounding import TINY
from .._base.types import Floats, Integers
from ..gplvm._process import FAINTEST, GaussianProcess
from ..kernels import StationaryKernel

NOISE_RATIOS = np.logspace(-3.0, 4.0, 15)
"""Ratios of noise variance to signal variance that the likelihood of a column chooses from."""


@dataclass(frozen=True)
class Features:
    """Functions over a map that are sums of a kernel at points."""

    kernel: StationaryKernel
    inducing: Floats  # (i, m) the points
    expansion: Floats  # (i, r) weights of each in each function

    def values_at(self, points: Floats) -> Floats:
        """Evaluate the functions at points, (k, r)."""
        return np.asarray(self.kernel.matrix(points, self.inducing) @ self.expansion)

    def slopes_at(self, points: Floats) -> Floats:
        """Differentiate the functions in every coordinate, (m, k, r)."""
        factor = 2.0 * self.kernel.derivative(cdist(points, self.inducing, "sqeuclidean"))
        gaps = points.T[:, :, None] - self.inducing.T[:, None, :]
        return np.array([(factor * gap) @ self.expansion for gap in gaps])


class ColumnPosterior(NamedTuple):
    """Posterior of b columns of a table that have the same features."""

    features: Features
    columns: Integers  # (b,) which they are
    means: Floats  # (b,) of their values, which were taken off
    sd: Floats  # (b,) standard deviations of their values
    coefficients: Floats  # (r, b) posterior means of those of the features
    explained: Floats  # (g, r) e, for each noise ratio that a column may have
    variances: Floats  # (g, b) v, times the weight of each noise ratio

    def of(self, functionals: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Means and variances (k, b) of functionals: (k, r) of the features, of prior (k,)."""
        open_ = np.maximum(prior[:, None] - functionals**2 @ self.explained.T, 0.0)
        return functionals @ self.coefficients, open_ @ self.variances

    @classmethod
    def joined(cls, parts: Sequence[ColumnPosterior]) -> ColumnPosterior:
        """Join posteriors of columns that have the same features and follow one another."""
        means, sd, coefficients, variances = (
            np.concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in ("means", "sd", "coefficients", "variances")
        )
        features, explained = parts[0].features, parts[0].explained
        every = np.arange(means.size)
        return cls(features, every, means, sd, coefficients, explained, variances)


def column_posterior(
    process: GaussianProcess, columns: Integers, means: Floats, *, alike: bool
) -> ColumnPosterior:
    r"""Posterior of the columns of a process, ``alike`` or with a noise ratio each.

    With K = U diag(λ) U^T and the noise ratio r of the process the features are k(z) U, and their
    coefficients U^T x / (λ + r). Of a column whose own ratio is q this leaves the variance
    v (l l' k - Σ (l g)² (2 / (λ + r) - (λ + q) / (λ + r)²)).
    """
    points, rows = process.points, process.rows
    cov = process.kernel.matrix(points)
    values, vectors = np.linalg.eigh(cov)
    ratio = process.noise / process.variance
    kept = values > FAINTEST**2 * ratio
    values, vectors = values[kept], vectors[:, kept]
    ratios = np.array([[ratio]]) if alike else np.append(NOISE_RATIOS, ratio)[:, None]
    shrunk, spread = values + ratio, values + ratios
    products, squares, n = vectors.T @ rows, np.einsum("ij,ij->j", rows, rows), len(rows)
    # What no mode has is noise.
    rest = np.maximum(squares - np.einsum("ij,ij->j", products, products), 0.0)
    variances = ((1.0 / spread) @ products**2 + rest / ratios) / n
    volume = np.log(spread).sum(axis=1, keepdims=True) + (n - values.size) * np.log(ratios)
    floor = np.maximum(variances, TINY)
    weights = softmax(-0.5 * (n * np.log(floor) + volume), axis=0)
    return ColumnPosterior(
        features=Features(process.kernel, points, vectors),
        columns=columns,
        means=means,
        sd=np.sqrt(squares / n),
        coefficients=products / shrunk[:, None],
        explained=(2.0 - spread / shrunk) / shrunk,
        variances=weights * variances,
    )
