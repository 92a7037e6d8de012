r"""Which optima of a likelihood the columns cannot tell apart.

Two optima j and k differ in log likelihood by a sum over N columns. Its sampling variance (Vuong,
Econometrica 57, 1989) is, with S = C C^T the covariance of the columns and A the model,

    N / 2 \|C^T (A_j^-1 - A_k^-1) C\|^2,

which takes no more than S. z is the difference over the root of that. The chance that an optimum
would be the likeliest on other columns is that of a normal vector with these variances (as Kishino
and Hasegawa resample log likelihoods, Journal of Molecular Evolution 29, 1989). Of optima that lack
less than .3 standard errors the most compact is taken (docs/decisions/023-rivals.md).
"""

from collections.abc import Sequence

import numpy as np

from .._base.types import Floats
from ..blockwise import rigid_fit
from ._descent import Objective, Optimum
from ._likelihood import inverse_model

ONE_OPTIMUM = 0.02
"""Of the sum of squares, by which latents of one optimum may differ."""

_TIED = 0.3  # standard errors
_DRAWS = 2000
_ROUNDING = 1e-6  # of a sum of squares, and of a log likelihood, squared


def same(latent: Floats, other: Floats, tolerance: float = _ROUNDING) -> bool:
    """Whether two latents are equal but for a rigid motion and a fraction of their variance."""
    gap = rigid_fit(latent, other).apply(latent) - other
    return float(np.sum(gap**2)) <= tolerance * float(np.sum((other - other.mean(axis=0)) ** 2))


def compare_optima(
    objective: Objective, optima: Sequence[Optimum], n_columns: float
) -> tuple[list[tuple[float, float]], int]:
    """Compare optima with the most likely one, and choose one.

    Parameters
    ----------
    objective : Objective
        Of complete data.
    optima : sequence of Optimum
        Where descents ended, the most likely first.
    n_columns : float
        Independent columns that the data are worth.

    Returns
    -------
    standings : list of tuple of two floats
        Of every optimum what its log likelihood lacks of the largest, in standard errors, and the
        chance that it would be the likeliest on other columns, 0 of one that is one with another.
    chosen : int
        The most compact one of those that are as likely as the first.
    """
    models = [objective.model(at.vector) for at in optima]
    kept: list[int] = []  # the most likely of those that are one
    one_of = []
    for number, model in enumerate(models):
        found = [k for k in kept if same(model.latent, models[k].latent, ONE_OPTIMUM)]
        kept += [] if found else [number]
        one_of.append(kept.index(found[0]) if found else len(kept) - 1)
    root = objective.likelihood.groups[0].root
    forms = np.array([(root.T @ inverse_model(*models[k])[0] @ root).ravel() for k in kept])
    forms -= forms[0]
    lacks = n_columns * (np.array([optima[k].value for k in kept]) - optima[0].value)
    cov = 0.5 * n_columns * forms @ forms.T + _ROUNDING * np.eye(len(kept))
    z = lacks / np.sqrt(cov.diagonal())
    rng = np.random.default_rng(0)
    others = rng.multivariate_normal(-lacks, cov, _DRAWS, method="cholesky")
    weights = np.bincount(np.argmax(others, axis=1), minlength=len(kept)) / _DRAWS
    standings = [
        (float(z[at]), float(weights[at]) if number == kept[at] else 0.0)
        for number, at in enumerate(one_of)
    ]
    tied = [k for k, apart in zip(kept, z, strict=True) if apart <= _TIED]
    return standings, min(tied, key=lambda k: float(np.var(models[k].latent, axis=0).sum()))
