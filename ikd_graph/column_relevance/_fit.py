"""Fits of many columns over one map: noise, prediction, coefficients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .._base.types import Floats
from ._smoother import NOISE_RATIOS, Smoother

_PERFECT = 1e-12  # fraction of a column that no fit explains, at the least


class Fits(NamedTuple):
    """Fits of b columns."""

    choice: NDArray[np.intp]  # (b,) position of the noise ratio of largest likelihood
    noise: Floats  # (b,) noise variance
    coefficients: Floats  # (b, r) posterior means of b
    residual: Floats  # (n, b) of rows that were left out, one at a time
    r2: Floats  # (b,) of these rows


def evidence(columns: Floats, squares: Floats, smooth: Smoother) -> Floats:
    """Log likelihood ratio of columns for every noise ratio against pure noise, (b, g).

    Parameters
    ----------
    columns : (b, r) ndarray of float64
        Products of the basis with centered columns.
    squares : (b,) ndarray of float64
        Sums of squares of the columns.
    smooth : Smoother
        Whose basis it is.
    """
    n = len(smooth.points)
    explained = columns**2 @ smooth.shrinkage.T / np.where(squares > 0.0, squares, 1.0)[:, None]
    left = np.maximum(1.0 - explained, _PERFECT)
    volume = np.log1p(smooth.eigenvalues / NOISE_RATIOS[:, None]).sum(axis=1)
    return np.asarray(-0.5 * (n - 1) * np.log(left) - 0.5 * volume)


def bayes_factor(ratios: Floats) -> Floats:
    """Log of the mean likelihood ratio over noise ratios, all as likely beforehand, (b,)."""
    return np.asarray(logsumexp(ratios, axis=1) - np.log(ratios.shape[1]))


def fit_columns(Y: Floats, smooth: Smoother, leverages: Floats) -> Fits:
    """Fit centered columns (n, b), each with the noise ratio of its largest likelihood."""
    n = len(Y)
    squares = np.einsum("ij,ij->j", Y, Y)
    products = Y.T @ smooth.basis
    choice = evidence(products, squares, smooth).argmax(axis=1)
    kept = smooth.shrinkage[choice] * products
    explained = np.einsum("ij,ij->i", kept, products)
    noise = np.maximum(squares - explained, _PERFECT * squares) / (n - 1)
    residual = (Y - smooth.basis @ kept.T) / (1.0 - leverages[:, choice])
    # The mean of the others stands for a row that is left out, too.
    total = squares * (n / (n - 1.0)) ** 2
    lost = np.einsum("ij,ij->j", residual, residual)
    r2 = np.where(total > 0.0, 1.0 - lost / np.where(total > 0.0, total, 1.0), 0.0)
    return Fits(choice, noise, kept / np.sqrt(smooth.eigenvalues), residual, r2)


def row_noise(residual: Floats) -> Floats:
    """Relative standard deviations of the noise of rows (n,), which columns (n, b) share.

    The mean root of a row varies by the variance of one over the effective number of columns; what
    it varies more by is kept (James and Stein).
    """
    residual = residual[:, residual.any(axis=0)]
    n, b = residual.shape
    if b == 0:
        return np.ones(n)
    # Heavy tails have no squares to average; roots will do.
    roots = np.sqrt(np.abs(residual))
    roots /= roots.mean(axis=0)
    # Signs tell columns that are alike from rows that are noisy.
    signs = np.sign(residual) - np.sign(residual).mean(axis=0)
    signs /= np.maximum(np.linalg.norm(signs, axis=0), 1e-300)
    alike = np.sin(0.5 * np.pi * (signs.T @ signs)) ** 2 - (0.5 * np.pi) ** 2 / (n - 1.0)
    np.fill_diagonal(alike, 1.0)
    means = roots.mean(axis=1)
    error, spread = roots.var() * max(float(alike.mean()), 1.0 / b), max(float(means.var()), 1e-300)
    return np.asarray((1.0 + max(0.0, 1.0 - error / spread) * (means - 1.0)) ** 2)
