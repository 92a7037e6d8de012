"""A detour through more dimensions: what is knotted in three is often free in four."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .minimize import polish
from .objective import Candidate, Objective

Floats = NDArray[np.float64]

_STEPS = 90
_SQUEEZE_STEPS = 12


def detour(narrow: Objective, wide: Objective, at: Candidate, spread: float) -> Candidate:
    """Polish in extra dimensions, squeeze them, drop them, polish again.

    Parameters
    ----------
    narrow : Objective
        Likelihood in the wanted number of dimensions.
    wide : Objective
        The same in more.
    at : Candidate
        Where to start, in the wanted number of dimensions.
    spread : float
        Size of the random coordinates in the extra dimensions, relative to the latent.

    Returns
    -------
    Candidate
        In the wanted number of dimensions; not necessarily better.
    """
    latent = narrow.latent(at.vector)
    extra = wide.n_components - narrow.n_components
    noise = np.random.default_rng(0).standard_normal((len(latent), extra))
    scales = at.vector[latent.size :]
    begin = np.concatenate([np.c_[latent, spread * latent.std() * noise].ravel(), scales])
    free = polish(wide, Candidate(np.inf, begin, at.name), _STEPS)
    weights = np.where(np.arange(wide.n_components) < narrow.n_components, 1.0, 0.5)
    begin = _turned(wide, free.vector, weights)
    squeezed = polish(wide, Candidate(np.inf, begin, at.name), _SQUEEZE_STEPS)
    begin = _turned(wide, squeezed.vector, weights[: narrow.n_components])
    return polish(narrow, Candidate(np.inf, begin, at.name), _STEPS)


def leading(latent: Floats, n_components: int) -> Floats:
    """Principal coordinates of a latent, the widest first.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points.
    n_components : int
        How many to keep.

    Returns
    -------
    (n, n_components) ndarray of float64
        Centred coordinates.
    """
    left, sizes, _ = np.linalg.svd(latent - latent.mean(axis=0), full_matrices=False)
    return np.asarray((left * sizes)[:, :n_components])


def _turned(wide: Objective, vector: Floats, weights: Floats) -> Floats:
    """Vector of the leading principal coordinates, each times its weight."""
    latent = wide.latent(vector)
    kept = leading(latent, weights.size) * weights
    return np.concatenate([kept.ravel(), vector[latent.size :]])
