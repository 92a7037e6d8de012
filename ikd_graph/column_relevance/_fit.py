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


class RowNoise:
    """Noise of the rows of a table, which its columns share, from what fits leave of them."""

    def __init__(self, n_rows: int) -> None:
        self._n_columns = 0
        self._sums = np.zeros((2, n_rows))
        self._n_pairs, self._alike = 0, 0.0

    def add(self, residual: Floats) -> None:
        """Take residuals of columns in, (n, b)."""
        # Heavy tails have no squares to average; roots will do.
        roots = np.sqrt(np.abs(residual[:, residual.any(axis=0)]))
        roots /= roots.mean(axis=0)
        self._sums += roots.sum(axis=1), (roots**2).sum(axis=1)
        self._n_columns += roots.shape[1]
        # Signs tell columns that are alike from rows that are noisy.
        signs = np.sign(residual)
        signs -= signs.mean(axis=0)
        signs /= np.maximum(np.linalg.norm(signs, axis=0), 1e-300)
        n, b = signs.shape
        off = ~np.eye(b, dtype=bool)
        squares = np.sin(0.5 * np.pi * (signs.T @ signs)[off]) ** 2
        self._alike += float(squares.sum()) - off.sum() * (0.5 * np.pi) ** 2 / (n - 1.0)
        self._n_pairs += b * (b - 1)

    def estimate(self) -> Floats:
        """Return relative standard deviations (n,), less unequal by what chance makes of them.

        The mean root of a row varies by the variance of one over the effective number of columns;
        what it varies more by is kept (James and Stein).
        """
        n_columns = max(self._n_columns, 1)
        means, squares = self._sums / n_columns
        alike = max(self._alike / max(self._n_pairs, 1), 0.0)
        error = (squares.mean() - 1.0) * (alike + (1.0 - alike) / n_columns)
        spread = float(means.var())
        kept = max(0.0, 1.0 - error / spread) if spread > 0.0 else 0.0
        return np.asarray((1.0 + kept * (means - 1.0)) ** 2)
