"""What every "auto" stands for, and the reason in words."""

from __future__ import annotations

from dataclasses import dataclass, field

AUTO_NEIGHBORS = 6
"""Neighbours that keep a point in the graph whatever the threshold."""


@dataclass(frozen=True)
class Choice:
    """Settings with nothing left to choose."""

    strategy: str
    path: str
    reference: str | int
    threshold: float | None
    n_neighbors: int | None
    reasons: dict[str, str] = field(default_factory=dict)


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
    n_samples: int,
    n_observed: int | None,
) -> Choice:
    """Replace every "auto" by a setting.

    Parameters
    ----------
    strategy, path, reference, threshold, n_neighbors
        Parameters of the estimator.
    n_samples : int
        Number T of points.
    n_observed : int or None
        Number N of observed dimensions, None for a precomputed covariance.

    Returns
    -------
    Choice
        The settings and, for each "auto", why.
    """
    reasons: dict[str, str] = {}
    if strategy == "auto":
        strategy = "geodesic"
        reasons["strategy"] = "geodesic: it needs no cliques and one connected graph is enough"
    if path == "auto":
        path = "distance"
        reasons["path"] = "distance: sums of distances agree with the kernel"
    if reference == "auto":
        reference = "center"
        reasons["reference"] = "center: it averages the error of every distance"
    level: float | None = None
    if threshold == "auto":
        if n_neighbors is None:
            n_neighbors = min(AUTO_NEIGHBORS, n_samples - 1)
            level = auto_threshold(n_observed)
            known = "an unknown number of" if n_observed is None else str(n_observed)
            reasons["threshold"] = f"{level:.3g}: five standard errors at {known} dimensions"
            reasons["n_neighbors"] = f"{n_neighbors}: keeps every point in the graph"
    elif threshold is not None:
        level = float(threshold)
    return Choice(strategy, path, reference, level, n_neighbors, reasons)
