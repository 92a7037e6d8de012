"""Correlations of pairs of rows, all other rows held fixed."""

import numpy as np
from numpy.typing import ArrayLike

from .. import _validation as check
from .._threads import single_threaded_blas
from .._types import Floats
from .._validation import validate
from ._rows import unit_rows

SHRINKAGES = ("ledoit_wolf", "oas", "none")


@validate(X=check.table, shrinkage=check.one_of(SHRINKAGES))
def partial_correlation(X: ArrayLike, shrinkage: str = "ledoit_wolf") -> Floats:
    r"""Compute partial correlations between rows: what is left when all other rows are held fixed.

    With P the inverse of the correlation matrix, the partial correlation of rows i and j is
    -P_ij / sqrt(P_ii P_jj). With few columns that inverse is noise or does not exist: the matrix is
    shrunk toward the identity first, by the intensity of Ledoit and Wolf (2004). It is for looking
    at cliques: no kernel is behind partial correlations, and no embedding takes them.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows, none of them constant; columns are the observations.
    shrinkage : {"ledoit_wolf", "oas", "none"}
        How far to shrink: by Ledoit and Wolf, by the oracle approximation of Chen, Wiesel, Eldar
        and Hero (2010), or not at all, which needs more columns than rows.

    Returns
    -------
    (n_samples, n_samples) ndarray of float64
        Partial correlations in [-1, 1], ones on the diagonal, symmetric.

    Raises
    ------
    ValueError
        If a row is constant, or the matrix has no inverse.

    References
    ----------
    O. Ledoit and M. Wolf, A well-conditioned estimator for large-dimensional covariance matrices,
    Journal of Multivariate Analysis 88, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=2000)  # rows 0 and 2 are related through row 1 alone
    >>> X = np.array([shared + rng.normal(size=2000), shared, shared + rng.normal(size=2000)])
    >>> covariance.correlation(X)[0, 2].round(1), abs(covariance.partial_correlation(X)[0, 2]) < 0.1
    (np.float64(0.5), np.True_)
    """
    from sklearn.covariance import empirical_covariance, ledoit_wolf, oas

    rows = np.asarray(X, dtype=np.float64)
    # Of variance 1, so that no row weighs more.
    observations = unit_rows(rows).T * np.sqrt(rows.shape[1])
    with single_threaded_blas():
        if shrinkage == "none":
            corr = empirical_covariance(observations, assume_centered=True)
            _check_rank(rows)
        else:
            shrink = ledoit_wolf if shrinkage == "ledoit_wolf" else oas
            corr = shrink(observations, assume_centered=True)[0]
        precision = np.linalg.pinv(corr, hermitian=True)
    scale = np.sqrt(np.diagonal(precision))
    partial = -precision / np.outer(scale, scale)
    partial = np.clip(0.5 * (partial + partial.T), -1.0, 1.0)
    np.fill_diagonal(partial, 1.0)
    return np.asarray(partial)


def _check_rank(rows: Floats) -> None:
    """Raise unless the correlations have an inverse."""
    if rows.shape[1] <= rows.shape[0]:
        raise ValueError(
            f"shrinkage must not be 'none' with {rows.shape[1]} columns of {rows.shape[0]} rows, "
            "whose correlations have no inverse; 'ledoit_wolf' shrinks them"
        )
