"""What every "auto" stands for, and the reason in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import covariance, graph

AFFINITIES = ("auto", *covariance.AFFINITIES, "euclidean", "shared_neighbors", "precomputed")

AUTO_NEIGHBORS = 6
"""Neighbours that keep a point in the graph whatever the threshold."""

SURE_NEIGHBORS, SURE_THRESHOLD = 4, 0.45
"""The same for cliques, and the largest threshold, which makes up for the fewer neighbours."""

CLIQUE_NEIGHBORS = 15
"""Neighbours for cliques, which need neighbours that are neighbours of one another."""


class Rule(NamedTuple):
    """What is done with an affinity whose values are no estimate of a kernel, only their order."""

    n_neighbors: int
    mutual: bool
    path: str
    weights: str | None  # of the stress polish, None for no polish


RULES = {
    "correlation": Rule(7, False, "covariance", None),
    "covariance": Rule(7, False, "covariance", None),
    "cosine": Rule(12, False, "distance", "uniform"),
    "euclidean": Rule(15, True, "distance", "uniform"),
    "shared_neighbors": Rule(15, True, "covariance", "path"),
}

CURVE = Rule(5, False, "distance", "uniform")
"""The Euclidean rule for one coordinate: along a curve few neighbours are near."""

IN_GROUPS = 0.05
"""Share of points outside the largest group from which a table counts as one of groups."""

MANY_POINTS = 10_000
"""Points beyond which the graph grows with the points and nothing is tried first."""

REFINES = ("likelihood", "stress")

LIKELIHOOD_POINTS = 300
"""Most points for which "auto" takes the seconds of a likelihood polish."""

_ENOUGH_DIMENSIONS = 100
_FEWEST_DIMENSIONS = 20
_FEWEST_POINTS = 20
_SAMPLE = 2000
_GROUP_SAMPLE = 3000
# At two, one or two in a hundred draws of the model were taken for none.
_KURTOSIS_ERRORS = 2.5
_COUNTS = {
    "uniform": "all pairs alike",
    "path": "each pair by one over its path",
    "component": "less across bridges between components",
}
_PLANE = 2  # coordinates in which short paths, counted more, push groups over one another
_WIDE = 2.0  # spread ratio beyond which rows differ in length


class Evidence(NamedTuple):
    """What a table says about being draws of a Gaussian process over its rows.

    Under the model (Li & Wu 2024, Eq. 1) the columns are independent Gaussian draws, so that the
    variances of rows scatter like a chi-square of N, and each row has a normal kurtosis.
    """

    n_observed: int  # number N of columns
    spread_ratio: float  # scatter of the row variances over its expectation, sqrt(2 / N)
    kurtosis_gap: float  # mean kurtosis of rows less its expectation, 3 (N - 1) / (N + 1)
    kurtosis_error: float  # 2.5 standard errors of that mean, 0.2 at least

    @property
    def is_model(self) -> bool:
        """Whether the model holds and there are dimensions enough to trust correlations."""
        return self.holds and self.n_observed >= _ENOUGH_DIMENSIONS

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against the model."""
        return self.spread_ratio <= _WIDE and abs(self.kurtosis_gap) <= self.kurtosis_error


@dataclass(frozen=True)
class Choice:
    """Settings with nothing left to choose."""

    strategy: str
    affinity: str
    path: str
    reference: str | int
    threshold: float | None
    n_neighbors: int | None
    mutual: bool
    refine: str | None
    weights: str  # of the stress polish
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
    error = _KURTOSIS_ERRORS * np.sqrt(24.0 / (n_observed * independent))
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


def groups(rows: NDArray[np.floating]) -> float:
    """Share of points in groups of their own: the evidence for the shared-neighbour affinity.

    Where each joins only those of its 15 nearest that have it among their own 15 nearest, a
    continuum stays in one piece, but for single points; groups fall apart.

    Parameters
    ----------
    rows : (n, p) ndarray of float
        Rows of unit norm whose products are the correlations; beyond 3000 a fixed random sample
        of them is looked at.

    Returns
    -------
    float
        Share of points that have such neighbours, but outside the largest component.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import choices, covariance
    >>> rng = np.random.default_rng(0)
    >>> of_two = np.repeat(rng.normal(size=(2, 30)), 50, axis=0) + rng.normal(size=(100, 30)) / 3
    >>> choices.groups(covariance.unit_rows(of_two))
    0.5
    """
    if rows.shape[0] > _GROUP_SAMPLE:
        rows = rows[np.random.default_rng(0).choice(rows.shape[0], _GROUP_SAMPLE, replace=False)]
    k = min(RULES["shared_neighbors"].n_neighbors, rows.shape[0] - 1)
    g = graph.row_neighbor_graph(rows, k, neighbors="exact", mutual=True)
    joined = np.diff(g.indptr) > 0
    sizes = np.bincount(graph.component_labels(g)[joined], minlength=1)
    return float((sizes.sum() - sizes.max()) / rows.shape[0])


def choose_affinity(
    affinity: str,
    *,
    strategy: str,
    path: str,
    threshold: float | str | None,
    n_neighbors: int | None,
    n_samples: int,
    by_landmarks: bool,
    evidence: Evidence | None,
    measure_groups: Callable[[], float],
) -> tuple[str, str]:
    """Replace the affinity "auto" by one.

    Parameters
    ----------
    affinity, strategy, path, threshold, n_neighbors
        Parameters of the estimator.
    n_samples : int
        Number T of points.
    by_landmarks : bool
        Whether a number of landmarks was asked for, which no (n, n) matrix may come before.
    evidence : Evidence or None
        What the table says; None for a precomputed covariance.
    measure_groups : callable
        Returns what `groups` finds; called only where the answer matters.

    Returns
    -------
    affinity : str
        The affinity.
    reason : str
        Why, empty if it was given.
    """
    if affinity != "auto" or evidence is None:
        return affinity, ""
    verdict = _verdict(evidence)
    if evidence.is_model:
        return "correlation", f"correlation: {verdict}"
    if threshold is not None and threshold != "auto":
        return "correlation", "correlation: the threshold that was given is on its scale"
    if by_landmarks or n_samples > MANY_POINTS:
        return "correlation", f"correlation: {n_samples} points are compared by products of rows"
    # Directions of rows with few columns fall into groups whatever the points do, and those of
    # rows near zero are noise unless there are many columns.
    few = evidence.n_observed < _FEWEST_DIMENSIONS or (
        evidence.n_observed < _ENOUGH_DIMENSIONS and evidence.spread_ratio > _WIDE
    )
    share = 0.0 if few else measure_groups()
    if share > IN_GROUPS:
        free = threshold == "auto" and n_neighbors is None and path in ("auto", "covariance")
        found = f"{share:.0%} of points lie in groups of their own"
        if free and strategy in ("auto", "geodesic"):
            return "shared_neighbors", f"shared_neighbors: {found}, and neighbours tell them apart"
        return "correlation", f"correlation: {found}, but the graph or the strategy was given"
    if evidence.spread_ratio > _WIDE:
        return "cosine", f"cosine: {verdict}, so that their length tells nothing"
    return "euclidean", f"euclidean: {verdict}, and rows differ in length by chance"


def choose(
    *,
    affinity: str,
    strategy: str,
    path: str,
    reference: str | int,
    threshold: float | str | None,
    n_neighbors: int | None,
    mutual: bool | str,
    refine: str | None,
    n_samples: int,
    n_components: int,
    evidence: Evidence | None,
) -> Choice:
    """Replace every other "auto" by a setting.

    Parameters
    ----------
    affinity : str
        The affinity, chosen already.
    strategy, path, reference, threshold, n_neighbors, mutual, refine
        Parameters of the estimator.
    n_samples : int
        Number T of points.
    n_components : int
        Number M of coordinates.
    evidence : Evidence or None
        What the table says; None for a precomputed covariance, which is taken at its word.

    Returns
    -------
    Choice
        The settings and, for each "auto", why.
    """
    reasons: dict[str, str] = {}
    rule = RULES.get(affinity, RULES["correlation"])
    if affinity == "euclidean" and n_components == 1:
        rule = CURVE
    shared = affinity == "shared_neighbors"
    if shared and n_components <= _PLANE:
        rule = rule._replace(weights="component")
    trusted = not shared and (evidence is None or evidence.is_model)
    verdict = _verdict(evidence)
    if strategy == "auto":
        strategy = "geodesic"
        reasons["strategy"] = "geodesic: one connected graph is enough, and it is stable"
    if reference == "auto":
        reference = "center"
        reasons["reference"] = "center: averages the errors of all distances"
    if path == "auto":
        holds = not shared and (evidence is None or evidence.holds)
        path = "distance" if holds else rule.path
        why = "sums of distances agree with the kernel" if path == "distance" else "robust off it"
        reasons["path"] = f"{path}: {why}; {verdict}"
    level: float | None = None
    both = False
    if threshold == "auto" and n_neighbors is None:
        if trusted:
            n_neighbors = AUTO_NEIGHBORS
            level = auto_threshold(None if evidence is None else evidence.n_observed)
            if strategy == "blockwise":
                # A false edge spoils every clique it is in: neighbours only keep points in.
                n_neighbors, level = SURE_NEIGHBORS, min(level, SURE_THRESHOLD)
            reasons["threshold"] = f"{level:.3g}: five standard errors of a correlation; {verdict}"
            reasons["n_neighbors"] = f"{n_neighbors}: keeps every point in the graph"
        else:
            cliques = strategy == "blockwise"
            n_neighbors = CLIQUE_NEIGHBORS if cliques else rule.n_neighbors
            both = rule.mutual and (shared or not cliques)
            reasons["threshold"] = f"none: {verdict}, so only nearest neighbours are trusted"
            kind = " that are mutual" if both else ""
            reasons["n_neighbors"] = f"{n_neighbors}{kind}: near on the manifold"
        n_neighbors = min(n_neighbors, n_samples - 1)
    elif threshold is not None and threshold != "auto":
        level = float(threshold)
    if mutual == "auto":
        # Without a threshold beside them, and with shares, which mean little one way.
        mutual = both or (shared and level is None)
    weights = "precision" if trusted else rule.weights or "precision"
    if refine == "auto":
        refine, reasons["refine"] = _auto_refine(
            strategy, n_samples, evidence, rule, shared=shared, trusted=trusted
        )
    return Choice(
        strategy,
        affinity,
        path,
        reference,
        level,
        n_neighbors,
        bool(mutual),
        refine,
        weights,
        reasons,
    )


def _auto_refine(
    strategy: str,
    n_samples: int,
    evidence: Evidence | None,
    rule: Rule,
    *,
    shared: bool,
    trusted: bool,
) -> tuple[str | None, str]:
    """The polish of "auto" and why."""
    if evidence is None:
        return None, "none: a precomputed covariance keeps its closed form"
    verdict = _verdict(evidence)
    enough = n_samples >= _FEWEST_POINTS and evidence.n_observed >= _FEWEST_DIMENSIONS
    if evidence.holds and enough and not shared and n_samples <= LIKELIHOOD_POINTS:
        return "likelihood", f"likelihood: {verdict}, and {n_samples} points take seconds"
    if strategy == "eigen":
        return None, "none: the eigen strategy has no graph to polish on"
    if trusted:
        return "stress", f"stress: {verdict}; the likelihood of {n_samples} points takes minutes"
    if rule.weights is None or n_samples > MANY_POINTS:
        return None, f"none: {verdict}"
    return "stress", f"stress: {verdict}, so geodesics count, {_COUNTS[rule.weights]}"


def _verdict(evidence: Evidence | None) -> str:
    """What the evidence says, in words."""
    if evidence is None:
        return "a precomputed covariance is taken at its word"
    if evidence.holds and evidence.n_observed < _ENOUGH_DIMENSIONS:
        return f"{evidence.n_observed} dimensions leave correlations uncertain"
    if evidence.holds:
        return f"the {evidence.n_observed} columns look like draws of a Gaussian process"
    if evidence.spread_ratio > _WIDE:
        return (
            f"row variances scatter {evidence.spread_ratio:.1f} times as much as those of a "
            "Gaussian process"
        )
    return f"the kurtosis of rows is {evidence.kurtosis_gap:+.2f} off that of a Gaussian process"
