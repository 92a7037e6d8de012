"""The axes of a map along which a column varies: fractions of its squared gradient."""

from __future__ import annotations

import numpy as np

from .._base.types import Floats
from ._fit import Fits
from ._smoother import NOISE_RATIOS, Smoother


def gradients(smooth: Smoother) -> Floats:
    """Quadratic forms of coefficients that are mean squared derivatives, (m, r, r)."""
    n, (m, r) = len(smooth.points), (smooth.points.shape[1], smooth.eigenvalues.size)
    forms = np.zeros((m, r, r))
    for start in range(0, n, 1024):
        slopes = smooth.slopes_at(smooth.points[start : start + 1024])
        forms += np.einsum("mkr,mks->mrs", slopes, slopes, optimize=True)
    return np.asarray(forms / n)


def fractions(fits: Fits, smooth: Smoother, forms: Floats) -> tuple[Floats, Floats]:
    r"""Fraction of the mean squared gradient along each axis, with its standard error, (b, m) both.

    The squared gradient b' Q b of the posterior mean has the noise of the coefficients in it: its
    expectation tr(Q V), with V the sampling variance of the coefficients, is taken off. The
    standard error is that of a ratio of quadratic forms F = A / B of normal coefficients:
    Var(A - F B) = 4 b' R V R b + 2 tr(R V R V), R = Q_A - F Q_B. A column without a slope beyond
    its noise has NaN.
    """
    b, ratio = fits.coefficients, NOISE_RATIOS[fits.choice][:, None]
    sampling = fits.noise[:, None] * smooth.eigenvalues / (smooth.eigenvalues + ratio) ** 2
    total = np.asarray(forms.sum(axis=0))

    def energy(form: Floats) -> tuple[Floats, Floats]:
        image = b @ form
        return np.einsum("ij,ij->i", image, b) - sampling @ np.diagonal(form), image

    size, image = energy(total)
    known = size > 0.0
    size = np.where(known, size, np.inf)
    fraction, error = np.empty((len(b), len(forms))), np.empty((len(b), len(forms)))
    for axis, form in enumerate(forms):
        part, of_part = energy(form)
        share = part / size
        slope = of_part - share[:, None] * image
        crossed = [
            np.einsum("ij,ij->i", sampling @ product, sampling)
            for product in (form * form, form * total, total * total)
        ]
        trace = crossed[0] - 2.0 * share * crossed[1] + share**2 * crossed[2]
        variance = 4.0 * np.einsum("ij,ij,ij->i", slope, slope, sampling) + 2.0 * trace
        fraction[:, axis] = share
        error[:, axis] = np.sqrt(np.maximum(variance, 0.0)) / size
    fraction = np.clip(fraction, 0.0, 1.0)
    fraction /= np.maximum(fraction.sum(axis=1, keepdims=True), 1e-300)
    fraction[~known], error[~known] = np.nan, np.nan
    return fraction, error
