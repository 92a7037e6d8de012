"""Fits of many columns over one map: noise, prediction, coefficients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from .._types import Floats
from ._smoother import NOISE_RATIOS, Smoother

_PERFECT = 1e-12  # fraction of a column that no fit explains, at the least


class Fits(NamedTuple):
    """Fits of b columns."""

    evidence: Floats  # (b,) log Bayes factor of a smooth column against pure noise
    choice: NDArray[np.intp]  # (b,) position of the noise ratio of largest likelihood
    noise: Floats  # (b,) noise variance
    coefficients: Floats  # (b, r) posterior means of b
    r2: Floats  # (b,) of rows that were left out, one at a time


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
    ratios = evidence(products, squares, smooth)
    choice = ratios.argmax(axis=1)
    kept = smooth.shrinkage[choice] * products
    explained = np.einsum("ij,ij->i", kept, products)
    noise = np.maximum(squares - explained, _PERFECT * squares) / (n - 1)
    residual = (Y - smooth.basis @ kept.T) / (1.0 - leverages[:, choice])
    # The mean of the others stands for a row that is left out, too.
    total = squares * (n / (n - 1.0)) ** 2
    lost = np.einsum("ij,ij->j", residual, residual)
    r2 = np.where(total > 0.0, 1.0 - lost / np.where(total > 0.0, total, 1.0), 0.0)
    return Fits(bayes_factor(ratios), choice, noise, kept / np.sqrt(smooth.eigenvalues), r2)
