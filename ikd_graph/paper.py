r"""The method on one page, in the letters of Li & Wu (Inverse Kernel Decomposition, TMLR 2024).

X holds T points in rows of N columns, each of which is a sample of a Gaussian process over the
latent Z (Eq. 1). S estimates the covariance of points, f is the kernel as a function of a squared
distance d, D has those of all pairs, and U, called U tilde in the paper, estimates Z in M
dimensions, up to a rigid motion and the length-scale (Eq. 6 and 7).

A line of code is a line of the paper, with its number. "Open" marks what the text leaves open, and
says what is taken here. `strategies.Eigen.paper()`, `strategies.Blockwise.paper()` and
`strategies.Geodesic.paper()` of `IKD` are the same functions behind an estimator; the defaults of
the package differ (`docs/mathematics.md`).
"""

import numpy as np

from . import blockwise as merging
from . import cliques, covariance, eigen, geodesics, graph, kernels, strategies
from ._base import validation as check
from ._base.types import Floats, Reals
from .covariance import VARIANCES
from .kernels import StationaryKernel

__all__ = ["algorithm_1", "blockwise", "geodesic"]

_RULES = {
    "X": check.table,
    "M": check.whole(1),
    "variance": check.one_of(VARIANCES),
}


def _check_size(X: Reals, M: int, *_: object, **__: object) -> None:
    check.enough(2)("X", X)
    check.whole(1, len(X) - 1)("M", M)


@check.validate(_check_size, **_RULES)
def algorithm_1(
    X: Reals,
    M: int,
    f: StationaryKernel | str = "squared_exponential",
    *,
    variance: str = "each",
) -> Floats:
    """Invert the kernel on all covariances and take the leading eigenpairs (Algorithm 1).

    Parameters
    ----------
    X : (T, N) array_like of float64
        Points in rows.
    M : int
        Number of latent dimensions, less than T.
    f : StationaryKernel or str
        Kernel of Table 1, of unit variance (`kernels.get`).
    variance : {"each", "mean"}
        What stands for sigma^2 of a pair, see `covariance.to_correlation`: the standard deviations
        of both points, or line 3, the mean of the diagonal.

    Returns
    -------
    (T, M) ndarray of float64
        The latent, seen from its reference point.

    Examples
    --------
    >>> from ikd_graph import datasets, paper
    >>> data = datasets.gplvm_data("medium", 10_000, seed=0)
    >>> U = paper.algorithm_1(data.X, 3)
    >>> U.shape
    (100, 3)
    """
    f, S = kernels.get(f), _covariance(X, variance)
    # Open: s_ij <= 0 has no inverse (Section 2.4). It is lifted to .001, with a warning.
    S = covariance.clip_correlations(S)
    D = f.sq_distance(S)  # line 4, Eq. 2: d_ij = f^-1(s_ij)
    return _latent(D, M)  # lines 5 and 6


@check.validate(_check_size, **_RULES, s0=check.optional(check.fraction))
def blockwise(
    X: Reals,
    M: int,
    s0: float | None = None,
    f: StationaryKernel | str = "squared_exponential",
    *,
    variance: str = "each",
) -> Floats:
    """Solve cliques of large covariances and merge them by rigid motions (Section 2.4).

    Parameters
    ----------
    X : (T, N) array_like of float64
        Points in rows.
    M : int
        Number of latent dimensions, less than T.
    s0 : float, optional
        Threshold on the scale where sigma^2 is 1; `graph.auto_threshold` by default.
    f : StationaryKernel or str
        Kernel of Table 1, of unit variance (`kernels.get`).
    variance : {"each", "mean"}
        As for `algorithm_1`.

    Returns
    -------
    (T, M) ndarray of float64
        The merged latent.

    Examples
    --------
    >>> from ikd_graph import datasets, metrics, paper
    >>> data = datasets.gplvm_data("medium", 2000, seed=0)
    >>> U = paper.blockwise(data.X, 3, 0.1)
    >>> metrics.affine_r2(data.latent, U) > 0.95
    True
    """
    f = kernels.get(f)  # Table 1
    G = _thresholded(_covariance(X, variance), s0, f, X.shape[1])
    # Open: which maximal cliques, "up to T". One grows around each point, nearest neighbor first,
    # and of equal ones one is kept (decision 006: chosen by its results among sixteen readings).
    C = cliques.covering_cliques(G).blocks
    U = merging.solve(G, C, f, M, "min_max")  # Algorithm 1 on every clique
    # Open: the order of pairs that share as many points (the larger clique, then the wider, is
    # first), where shared points lie (their mean), and pairs that share at most M points or flat
    # ones: they merge last, turned as little as possible from where geodesics have them. The
    # merged clique is the union: the text has the intersection, a slip.
    Z = strategies.geodesic_frame(G, f, M)
    return merging.merge_greedy(merging.largest_first(U), len(X), start=Z).coordinates


@check.validate(_check_size, **_RULES, s0=check.optional(check.fraction))
def geodesic(
    X: Reals,
    M: int,
    s0: float | None = None,
    f: StationaryKernel | str = "squared_exponential",
    *,
    variance: str = "each",
) -> Floats:
    """Replace small covariances by the best path, then take the eigenpairs (Section 2.4).

    Parameters
    ----------
    X : (T, N) array_like of float64
        Points in rows.
    M : int
        Number of latent dimensions, less than T.
    s0 : float, optional
        Threshold on the scale where sigma^2 is 1; `graph.auto_threshold` by default.
    f : StationaryKernel or str
        Kernel of Table 1, of unit variance (`kernels.get`).
    variance : {"each", "mean"}
        As for `algorithm_1`.

    Returns
    -------
    (T, M) ndarray of float64
        The latent, seen from its reference point.

    Examples
    --------
    >>> from ikd_graph import datasets, paper
    >>> paper.geodesic(datasets.gplvm_data("medium", 2000, seed=0).X, 3, 0.1).shape
    (100, 3)
    """
    f = kernels.get(f)  # Table 1
    G = _thresholded(_covariance(X, variance), s0, f, X.shape[1])
    S = geodesics.covariance(G)  # s_ij <- max s_(i,t1) s_(t1,t2) ... s_(t',j) where s_ij < s0
    D = f.sq_distance(S)  # line 4, Eq. 2
    return _latent(D, M)  # lines 5 and 6


def _covariance(X: Reals, variance: str) -> Floats:
    """Estimate of the covariance over sigma^2, (T, T) with ones on its diagonal."""
    # Open: the centering. Algorithm 1 takes off the mean of each row, X̄ 1ᵀ; by Eq. 1 it is 0.
    S = covariance.covariance(X)  # line 2: S = (X - X̄ 1ᵀ) (X - X̄ 1ᵀ)ᵀ / (N - 1)
    # Open: sigma^2. Line 3 takes the mean of s_ii, "a statistic"; the slides take correlations,
    # under which no s_ij is above sigma^2. Both are here.
    return covariance.to_correlation(S, variance)  # line 3: s_ij / sigma^2


def _thresholded(S: Floats, s0: float | None, f: StationaryKernel, N: int) -> graph.CsrGraph:
    """Join the points whose covariance is above a threshold into a connected graph."""
    # Open: s0. Eq. 11 says that d_ij has the error O(|k_ij - s_ij|) / s_ij, and gives no number.
    s0 = graph.auto_threshold(N, f) if s0 is None else s0
    G = graph.threshold(S, s0)  # S~ = s_ij 1[s_ij > s0]
    # Open: a graph in pieces. Its components are joined by the largest covariances between them.
    return graph.join(G, S).graph


def _latent(D: Floats, M: int) -> Floats:
    """Latent (T, M) whose squared distances come nearest to D (Eq. 3 to 9)."""
    # Open: several such r. The one with the smallest mean of d_rj is taken.
    r = eigen.reference_index(D, "min_max")  # Section 2.5: r = argmin_i max_j d_ij
    g = eigen.gram_matrix(D, r)  # Eq. 4: g_ij = (d_ir + d_rj - d_ij) / 2
    A, U = np.linalg.eigh(g)  # Eq. 5: g(D) = U A Uᵀ, ascending
    A, U = A[: -M - 1 : -1], U[:, : -M - 1 : -1]
    # Open: fewer than M positive eigenvalues. The dimensions beyond are 0.
    return U * np.sqrt(np.maximum(A, 0.0))  # Eq. 9: sqrt(lambda_m) U_(:, m)
