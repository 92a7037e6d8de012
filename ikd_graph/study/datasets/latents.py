"""Latents of the paper: random ones (Eq. 12) and the three fixed ones (Fig. 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._checks import check_choice, check_integer, check_positive

Floats = NDArray[np.float64]
Seed = int | np.random.Generator

FIXED_LATENTS = ("hard", "medium", "easy")
"""The three fixed latents of the paper's Fig. 3."""


def ou_latent(
    n_samples: int,
    n_components: int,
    *,
    variance: float = 6.0,
    time_scale: float = 5.0,
    clip: float | None = None,
    seed: Seed = 0,
) -> Floats:
    r"""Latent of the paper's Eq. 12: z_m ~ N(0, v e^{-\|i - j\| / τ}), each column by itself.

    Sampled step by step (the process is Markov), so the cost is linear in ``n_samples``.

    Parameters
    ----------
    n_samples, n_components : int
        Shape of the latent.
    variance : float
        v, the paper's 6.
    time_scale : float
        τ, the paper's 5.
    clip : float or None
        Clip to [-clip, clip]; the paper's runs clip to 6, its text does not say so.
    seed : int or Generator
        Source of randomness.

    Returns
    -------
    (n_samples, n_components) float64
        The latent.

    Examples
    --------
    >>> ou_latent(100, 3, seed=1).shape
    (100, 3)
    """
    check_integer("n_samples", n_samples, 1)
    check_integer("n_components", n_components, 1)
    from scipy.signal import lfilter

    steps = np.random.default_rng(seed).normal(size=(n_samples, n_components))
    decay = np.exp(-1.0 / check_positive("time_scale", time_scale))
    steps[1:] *= np.sqrt(1.0 - decay**2)
    latent = np.sqrt(check_positive("variance", variance)) * lfilter(
        [1.0], [1.0, -decay], steps, axis=0
    )
    return latent if clip is None else np.clip(latent, -clip, clip)


def fixed_latent(name: str, n_samples: int = 100, *, seed: Seed = 0) -> Floats:
    r"""Latent of the paper's Fig. 3, three-dimensional.

    - ``medium``: a swirl, θ = -4π .. 4π, z = -1/2 .. 1/2, r = 1 + z²,
      (r sin 1.3θ, r cos θ, z); exactly the paper's at 100 points.
    - ``easy``: the surface z = sin 2πx + 1/2 cos 3πy over a square grid on [-1/2, 1/2]², rows
      shuffled; the paper's points, in another order.
    - ``hard``: two strands of opposite sense, (±sin 2πz, cos 2πz, z) for z = -1 .. 1, with noise of
      standard deviation 0.1 on the first two; the paper's law, another sample.

    Parameters
    ----------
    name : {"hard", "medium", "easy"}
        Which one.
    n_samples : int
        Number of points; a square number for ``easy``, even for ``hard``.
    seed : int or Generator
        Order of the rows of ``easy``, noise of ``hard``; ``medium`` does not use it.

    Returns
    -------
    (n_samples, 3) float64
        The latent.

    Examples
    --------
    >>> fixed_latent("medium")[0].round(4).tolist()
    [0.7347, 1.25, -0.5]
    """
    check_choice("name", name, FIXED_LATENTS)
    check_integer("n_samples", n_samples, 4)
    rng = np.random.default_rng(seed)
    if name == "medium":
        theta = np.linspace(-4.0 * np.pi, 4.0 * np.pi, n_samples)
        z = np.linspace(-0.5, 0.5, n_samples)
        radius = z**2 + 1.0
        return np.column_stack([radius * np.sin(1.3 * theta), radius * np.cos(theta), z])
    if name == "easy":
        side = int(np.sqrt(n_samples))
        if side**2 != n_samples:
            raise ValueError(
                f"n_samples must be a square number for 'easy', got {n_samples}; "
                f"try {side**2} or {(side + 1) ** 2}"
            )
        axis = np.linspace(-0.5, 0.5, side)
        x, y = (grid.ravel() for grid in np.meshgrid(axis, axis, indexing="ij"))
        height = np.sin(2.0 * np.pi * x) + 0.5 * np.cos(3.0 * np.pi * y)
        return rng.permutation(np.column_stack([x, y, height]))
    if n_samples % 2:
        raise ValueError(f"n_samples must be even for 'hard', got {n_samples}; it has two strands")
    half = n_samples // 2
    # The two strands meet where both have sin 2πz = 0; they are offset there as in the paper.
    z = np.concatenate([np.linspace(-1.0, 0.975, half), np.linspace(-1.0, 1.0, half)])
    sense = np.repeat([1.0, -1.0], half)
    latent = np.column_stack([sense * np.sin(2.0 * np.pi * z), np.cos(2.0 * np.pi * z), z])
    latent[:, :2] += rng.normal(scale=0.1, size=(n_samples, 2))
    return latent
