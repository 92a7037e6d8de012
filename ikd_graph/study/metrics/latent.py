r"""How good is an embedding against a known latent.

The R² of the paper is measured after an affine alignment, which flatters: it forgives every linear
distortion of the latent. ``rigid_r2`` forgives only a rigid motion (and, if asked, a scale).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orthogonal_procrustes

from ... import _checks as door
from ._tables import Floats, as_pair, within_reach


def affine_r2(true: ArrayLike, estimate: ArrayLike) -> float:
    r"""R² of a latent after the best affine map of its estimate, the paper's measure.

    For each true dimension 1 - \|residual\|² / \|deviation from the mean\|², then their mean.

    Parameters
    ----------
    true : (n, m) float64
        The true latent.
    estimate : (n, k) float64
        An embedding of the same points, of any dimension.

    Returns
    -------
    float
        1 if the estimate is an affine image of the truth, 0 if it explains nothing.

    Examples
    --------
    >>> true = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(affine_r2(true, true @ [[2.0, 1.0], [0.0, -3.0]] + 5.0), 12)
    1.0
    """
    truth, points = (within_reach(one)[0] for one in as_pair(true, estimate))
    design = np.column_stack([np.ones(points.shape[0]), points])
    fitted = design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    return _mean_r2(truth, fitted)


@door.takes(scale=door.flag)
def rigid_r2(true: ArrayLike, estimate: ArrayLike, *, scale: bool = False) -> float:
    """R² of a latent after the best rotation or reflection and translation of its estimate.

    Parameters
    ----------
    true : (n, m) float64
        The true latent.
    estimate : (n, k) float64
        An embedding of the same points in the same units; zeros are added to it if k < m.
    scale : bool
        Also fit one factor for all dimensions, for methods that do not know the unit.

    Returns
    -------
    float
        1 if only a rigid motion (and a scale) separates the two; may be very negative.

    Examples
    --------
    >>> true = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(rigid_r2(true, 3.0 * true[:, ::-1] + 1.0, scale=True), 12)
    1.0
    """
    truth, points = as_pair(true, estimate)
    if points.shape[1] > truth.shape[1]:
        raise ValueError(
            f"estimate must have at most the {truth.shape[1]} dimensions of the truth for a rigid "
            f"alignment, got {points.shape[1]}; use affine_r2, or fit n_components={truth.shape[1]}"
        )
    truth, points = within_reach(truth, points)
    padded = np.zeros_like(truth)
    padded[:, : points.shape[1]] = points
    centred = padded - padded.mean(axis=0)
    target = truth - truth.mean(axis=0)
    rotation, trace = orthogonal_procrustes(centred, target)
    size = np.sum(centred**2)
    factor = trace / size if scale and size > 0.0 else 1.0
    return _mean_r2(target, factor * centred @ rotation)


def _mean_r2(truth: Floats, fitted: Floats) -> float:
    """Mean over dimensions of 1 - residual / total sum of squares."""
    total = np.sum((truth - truth.mean(axis=0)) ** 2, axis=0)
    if not np.all(total > 0.0):
        flat = int(np.flatnonzero(~(total > 0.0))[0])
        raise ValueError(
            f"every dimension of the true latent must vary, got a constant one (dimension {flat}); "
            "leave it out"
        )
    # In units 1e160 apart more is lost than a number can say.
    with np.errstate(over="ignore"):
        lost = np.mean(np.sum((truth - fitted) ** 2, axis=0) / total)
    return float(1.0 - min(lost, np.finfo(np.float64).max))
