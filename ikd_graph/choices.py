"""What every "auto" stands for, and the reason in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

AUTO_NEIGHBORS = 6
"""Neighbours that keep a point in the graph whatever the threshold."""

REAL_NEIGHBORS = 7
"""Neighbours where correlations are no estimate of a kernel and only their order is trusted."""

CLIQUE_NEIGHBORS = 15
"""The same for cliques, which need neighbours that are neighbours of one another."""

REFINES = ("likelihood", "stress")

LIKELIHOOD_POINTS = 300
"""Most points for which "auto" takes the seconds of a likelihood polish."""

_ENOUGH_DIMENSIONS = 100
_FEWEST_DIMENSIONS = 20
_FEWEST_POINTS = 20
_SAMPLE = 2000


class Evidence(NamedTuple):
    """What a table says about being draws of a Gaussian process over its rows.

    Under the model (Li & Wu 2024, Eq. 1) the columns are independent Gaussian draws, so that the
    variances of rows scatter like a chi-square of N, and each row has a normal kurtosis.
    """

    n_observed: int  # number N of columns
    spread_ratio: float  # scatter of the row variances over its expectation, sqrt(2 / N)
    kurtosis_gap: float  # mean kurtosis of rows less its expectation, 3 (N - 1) / (N + 1)
    kurtosis_error: float  # two standard errors of that mean, 0.2 at least

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the model."""
        return self.spread_ratio <= 2.0 and abs(self.kurtosis_gap) <= self.kurtosis_error


@dataclass(frozen=True)
class Choice:
    """Settings with nothing left to choose."""

    strategy: str
    path: str
    reference: str | int
    threshold: float | None
    n_neighbors: int | None
    refine: str | None
    reasons: dict[str, str] = field(default_factory=dict)


def examine(X: NDArray[np.float64]) -> Evidence:
    """Compare a table with draws of a Gaussian process.

    Parameters
    ----------
    X : (n_samples, n_features) ndarray of float64
        Points in rows; beyond 2000 rows a fixed random sample of them is looked at.

    Returns
    -------
    Evidence
        The statistics; they do not depend on the order of rows or columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import choices
    >>> choices.examine(np.random.default_rng(0).normal(size=(50, 200))).holds
    True
    """
    if X.shape[0] > _SAMPLE:
        X = X[np.random.default_rng(0).choice(X.shape[0], _SAMPLE, replace=False)]
    n_observed = X.shape[1]
    scale = float(np.abs(X).max(initial=0.0)) or 1.0
    centred = X / scale
    centred -= centred.mean(axis=1, keepdims=True)
    squares = np.einsum("ij,ij->i", centred, centred)
    varying = squares > 1e-20 * n_observed
    if not varying.any():
        return Evidence(n_observed, 0.0, 0.0, 0.2)
    centred, squares = centred[varying], squares[varying]
    spread = float(squares.std() / squares.mean()) / np.sqrt(2.0 / n_observed)
    kurtosis = n_observed * float(
        np.mean(np.einsum("ij,ij->i", centred**2, centred**2) / squares**2)
    )
    rows = centred / np.sqrt(squares)[:, None]
    small = rows.T @ rows if n_observed < rows.shape[0] else rows @ rows.T
    # Correlated rows repeat one another: so many count as independent.
    independent = rows.shape[0] ** 2 / float(np.einsum("ij,ij->", small, small))
    error = 2.0 * np.sqrt(24.0 / (n_observed * independent))
    expected = 3.0 * (n_observed - 1.0) / (n_observed + 1.0)
    return Evidence(n_observed, spread, kurtosis - expected, max(0.2, float(error)))


def auto_threshold(n_observed: int | None) -> float:
    """Threshold above which a correlation is signal.

    Parameters
    ----------
    n_observed : int or None
        Number N of observed dimensions: a correlation of nothing has the standard deviation
        1 / sqrt(N), and five of them leave no false edge among a few thousand points.

    Returns
    -------
    float
        ``min(5 / sqrt(N), 0.5)``, or 0.3 where N is not known.
    """
    return 0.3 if n_observed is None else min(5.0 / n_observed**0.5, 0.5)


def choose(
    *,
    strategy: str,
    path: str,
    reference: str | int,
    threshold: float | str | None,
    n_neighbors: int | None,
    refine: str | None,
    n_samples: int,
    evidence: Evidence | None,
) -> Choice:
    """Replace every "auto" by a setting.

    Parameters
    ----------
    strategy, path, reference, threshold, n_neighbors, refine
        Parameters of the estimator.
    n_samples : int
        Number T of points.
    evidence : Evidence or None
        What the table says; None for a precomputed covariance, which is taken at its word.

    Returns
    -------
    Choice
        The settings and, for each "auto", why.
    """
    reasons: dict[str, str] = {}
    holds = evidence is None or evidence.holds
    verdict = _verdict(evidence)
    if strategy == "auto":
        strategy = "geodesic"
        reasons["strategy"] = "geodesic: one connected graph is enough, and it is stable"
    if reference == "auto":
        reference = "center"
        reasons["reference"] = "center: averages the errors of all distances"
    if path == "auto":
        path = "distance" if holds else "covariance"
        why = "sums of distances agree with the kernel" if holds else "robust off the model"
        reasons["path"] = f"{path}: {why}; {verdict}"
    level: float | None = None
    if threshold == "auto" and n_neighbors is None:
        trusted = evidence is None or (holds and evidence.n_observed >= _ENOUGH_DIMENSIONS)
        if trusted:
            n_neighbors = AUTO_NEIGHBORS
            level = auto_threshold(None if evidence is None else evidence.n_observed)
            reasons["threshold"] = f"{level:.3g}: five standard errors of a correlation; {verdict}"
            reasons["n_neighbors"] = f"{n_neighbors}: keeps every point in the graph"
        else:
            n_neighbors = CLIQUE_NEIGHBORS if strategy == "blockwise" else REAL_NEIGHBORS
            reasons["threshold"] = f"none: {verdict}, so only nearest neighbours are trusted"
            reasons["n_neighbors"] = f"{n_neighbors}: near enough to be neighbours on the manifold"
        n_neighbors = min(n_neighbors, n_samples - 1)
    elif threshold is not None and threshold != "auto":
        level = float(threshold)
    if refine == "auto":
        refine, reasons["refine"] = _auto_refine(strategy, n_samples, evidence)
    return Choice(strategy, path, reference, level, n_neighbors, refine, reasons)


def _auto_refine(
    strategy: str, n_samples: int, evidence: Evidence | None
) -> tuple[str | None, str]:
    """The polish of "auto" and why."""
    if evidence is None:
        return None, "none: a precomputed covariance keeps its closed form"
    verdict = _verdict(evidence)
    few = n_samples < _FEWEST_POINTS or evidence.n_observed < _FEWEST_DIMENSIONS
    if not evidence.holds or few:
        why = "too few points or dimensions to tell" if few else verdict
        return None, f"none: {why}"
    if n_samples <= LIKELIHOOD_POINTS:
        return "likelihood", f"likelihood: {verdict}, and {n_samples} points take seconds"
    if evidence.n_observed < _ENOUGH_DIMENSIONS:
        return None, f"none: {verdict}"
    if strategy != "eigen":
        return "stress", f"stress: {verdict}; the likelihood of {n_samples} points takes minutes"
    return None, "none: the eigen strategy has no graph to polish on"


def _verdict(evidence: Evidence | None) -> str:
    """What the evidence says, in words."""
    if evidence is None:
        return "a precomputed covariance is taken at its word"
    if evidence.holds and evidence.n_observed < _ENOUGH_DIMENSIONS:
        return f"{evidence.n_observed} dimensions leave correlations uncertain"
    if evidence.holds:
        return f"the {evidence.n_observed} columns look like draws of a Gaussian process"
    if evidence.spread_ratio > 2.0:
        return (
            f"row variances scatter {evidence.spread_ratio:.1f} times as much as those of a "
            "Gaussian process"
        )
    return f"the kurtosis of rows is {evidence.kurtosis_gap:+.2f} off that of a Gaussian process"
