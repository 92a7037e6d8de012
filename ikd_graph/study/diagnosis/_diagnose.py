"""Can these data be embedded at all: correlations worth trusting, and the accuracy to expect."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_array

from ... import _limits, auto, covariance, graph
from ..._checks import (
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_integer,
)
from ..._stages import Stages
from ..._warn import warn
from ...estimator import IKD
from ...similarity import AFFINITIES
from ..judgement import say_row_levels
from ..metrics import affine_r2
from ..settings import reasons, say_settings, used_parameters
from ._record import Diagnosis, problems, steps

Floats = NDArray[np.float64]

_BINS = 41


def diagnose(
    X: ArrayLike,
    n_components: int = 2,
    *,
    fdr: float = 0.01,
    n_removed: int = 0,
    n_splits: int = 3,
    random_state: int | None = 0,
    verbose: int = 0,
) -> Diagnosis:
    """Tell what an embedding of weakly correlated data can be worth before it is believed.

    Pairs of rows are trusted where they are significantly correlated (`graph.significant_graph`).
    The expected accuracy is a split-half reliability: the default embedding of X is computed from
    either half of the columns alone. The R² of one half with the other, less what chance gives, is
    the square of that of a half with the truth, and Spearman and Brown's formula (1910) takes it to
    all columns, or to more. Columns that follow one another are cut into two runs, others are
    divided at random. It is an upper bound: what both halves distort alike, as principal components
    do a curve, is not seen.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows; beyond 1000 a fixed random sample of 500 is looked at.
    n_components : int
        Number M of hidden coordinates.
    fdr : float
        False discovery rate of the pairs that are trusted, in (0, 1).
    n_removed : int
        Rows that were regressed out of X (`covariance.remove_mean_row` takes one).
    n_splits : int
        Number of times that the columns are split, at least 2.
    random_state : int or None
        Seed of the splits.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Diagnosis
        Numbers, and sentences about them.

    Warns
    -----
    UserWarning
        Once, with all that speaks against an embedding.

    Examples
    --------
    >>> import ikd_graph
    >>> from ikd_graph.study import datasets
    >>> at = np.linspace(0.0, 3.0, 15)[:, None]
    >>> found = ikd_graph.diagnose(datasets.gplvm_data(at, 300, noise=0.1).X, 1)
    >>> found.holds_together, found.predicted_r2 > 0.9
    (True, True)
    """
    check_integer("n_splits", n_splits, 2)
    table, data, picked, n_points = _taken(X)
    check_components(n_components, n_points)
    stages = Stages(verbose, total=3 + n_splits)
    # Of what the fits say of their graphs, the diagnosis says what matters, and says it once.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with stages("correlations"):
            found = _correlations(data, picked, fdr, n_removed)
        with stages("fitting"):
            whole = IKD(n_components, n_landmarks=None).fit(np.asarray(X))
        follow = found["n_effective"] < data.shape[1] - n_removed
        expected = _expected(whole, table, n_splits, follow, random_state, stages)
    stages.close()
    affinity = AFFINITIES[whole.settings_.affinity]
    seen = auto.moments(data)
    diagnosis = Diagnosis(
        n_points=n_points,
        n_used=len(data),
        n_observed=data.shape[1],
        n_components=n_components,
        **{**say_settings(whole), **found, **expected},
        graph_components=int(whole.component_labels_.max()) + 1,
        negative_mass=float(whole._result.embedding.negative_mass),
        noise_share=noise_share(affinity.modelled(data), found["n_effective"]),
        spread_ratio=float(seen.spread_ratio),
        kurtosis_gap=float(seen.kurtosis_gap),
        model_holds=seen.fit_the_model,
        compares_correlations=affinity.over_pairs == "correlation" and not affinity.shared,
        predicts=whole.settings_.reasons.get("warning", ""),
        row_levels=() if affinity.scale_invariant else tuple(say_row_levels(data)),
        parameters={k: v for k, v in used_parameters(whole).items() if k != "n_components"},
        reasons={name: text for name, text in reasons(whole).items() if name != "warning"},
    )
    wrong = tuple(problems(diagnosis))
    if wrong:
        warn("; ".join(wrong))
    return Diagnosis(**{**vars(diagnosis), "warnings": wrong, "steps": tuple(steps(diagnosis))})


def _taken(X: ArrayLike) -> tuple[NDArray[Any], Floats, NDArray[np.int64], int]:
    """The rows to look at, as they came and as floats, their numbers, and the number of all."""
    # The estimator knows a table of counts, where a row may be silent, by its type.
    counts = np.asarray(X).dtype.kind in "iub"
    data = check_array(X, dtype=np.float64)
    n_points, n_observed = data.shape
    check_enough_rows(n_points)
    check_enough_columns(n_observed, "correlation")
    picked = np.arange(n_points)
    if n_points > _limits.DIAGNOSED_WHOLE:
        rng = np.random.default_rng(0)
        picked = np.sort(rng.choice(n_points, _limits.DIAGNOSED_SAMPLE, replace=False))
    data = data[picked]
    return (data.astype(np.int64) if counts else data), data, picked, n_points


def _correlations(
    data: Floats, picked: NDArray[np.int64], fdr: float, n_removed: int
) -> dict[str, Any]:
    """The fields of a diagnosis that say which correlations can be trusted."""
    n = len(data)
    rows = covariance.unit_rows(data, allow_flat=True)
    pairs = covariance.gram(rows)[np.triu_indices(n, 1)]
    effective = covariance.effective_columns(rows, n_removed=n_removed)
    error = 1.0 / float(np.sqrt(max(effective - 1.0, 1.0)))
    trusted = graph.significant_graph(rows, fdr, n_removed=n_removed)
    left, right, corr = graph.edges(trusted)
    order = np.argsort(-corr, kind="stable")
    sizes = np.bincount(graph.component_labels(trusted))
    counts, edges = np.histogram(pairs, np.linspace(-1.0, 1.0, 2 * _BINS))
    return {
        "n_effective": effective,
        "n_removed": n_removed,
        "standard_error": error,
        "share_above_two": float(np.mean(pairs > 2.0 * error)),
        "mean_correlation": float(pairs.mean()),
        "mean_square": float(np.mean(pairs**2)),
        "correlated": auto.has_significant_correlation(data),
        "fdr": fdr,
        "trusted_pairs": np.c_[picked[left[order]], picked[right[order]]],
        "trusted_correlations": corr[order],
        "components": int(sizes.size),
        "largest_component": int(sizes.max()),
        "correlation_counts": tuple(counts.tolist()),
        "correlation_edges": tuple(edges.tolist()),
    }


def _expected(
    whole: IKD,
    table: NDArray[Any],
    n_splits: int,
    follow: bool,
    random_state: int | None,
    stages: Stages,
) -> dict[str, Any]:
    """The fields of a diagnosis that predict the accuracy."""
    width = table.shape[1]
    model = _same_method(whole)
    rng = np.random.default_rng(random_state)
    halves: list[float] = []
    quarters: list[float] = []
    for split in range(n_splits):
        columns = rng.permutation(width)
        if follow:
            columns = np.roll(np.arange(width), -split * width // (2 * n_splits))
        # A quarter is for the eye, and one will do.
        for size, found in ((width // 2, halves), (width // 4, quarters))[: 2 - (split > 0)]:
            enough = size >= max(2, whole.n_components_)
            with stages(f"{size} of {width} columns"):
                parts = (columns[:size], columns[size : 2 * size])
                found.append(_reliability(model, table, *parts) if enough else np.nan)
    whole_r2 = 2.0 * np.array(halves) / (1.0 + np.array(halves))
    return {
        "predicted_r2": float(whole_r2.mean()),
        "spread_r2": float(whole_r2.std(ddof=1)),
        "halves_r2": tuple(halves),
        "quarters_r2": tuple(quarters),
    }


def _same_method(whole: IKD) -> IKD:
    """The method of a fit, whose threshold is that of the columns it is given."""
    parameters = {**used_parameters(whole), "n_landmarks": None}
    rule = parameters.get("graph")
    if isinstance(rule, graph.Threshold):
        prune = False if whole.settings_.trusted else rule.prune
        parameters["graph"] = graph.Threshold(n_neighbors=rule.n_neighbors, prune=prune)
    return IKD(**parameters)


def _reliability(
    model: IKD, table: NDArray[Any], first: NDArray[np.int64], second: NDArray[np.int64]
) -> float:
    """R² with the truth that the agreement of embeddings of separate columns speaks for."""
    try:
        one, other = (clone(model).fit_transform(table[:, part]) for part in (first, second))
        shared = 0.5 * (affine_r2(one, other) + affine_r2(other, one))
    # A row that is constant in one part, or a part that falls into one place.
    except ValueError:
        return 0.0
    n, m = one.shape
    # Any other embedding explains a share m / (n - 1).
    shared = 1.0 - (1.0 - shared) * (n - 1.0) / max(n - 1.0 - m, 1.0)
    return float(np.sqrt(max(shared, 0.0)))


def noise_share(table: Floats, effective: float) -> float:
    """Share of the variance that is independent noise.

    Of noise alone the eigenvalues follow the law of Marchenko and Pastur (1967); the signal has few
    that stand out of it. The noise is the variance with which the law has the lower half of them.

    Parameters
    ----------
    table : (n, p) ndarray of float64
        Rows.
    effective : float
        Number of independent columns.

    Returns
    -------
    float
        From 0 to 1.
    """
    # Columns that differ by more than the rows do have levels of their own.
    levels = table.mean(axis=0)
    by_column = levels.var() > table.var(axis=0).mean()
    centred = table - (levels if by_column else table.mean(axis=1, keepdims=True))
    n = len(centred)
    size = min(n - by_column, max(int(effective) - (not by_column), 2))
    longer = max(n - by_column, effective - (not by_column))
    values = np.linalg.svd(centred, compute_uv=False)[:size] ** 2
    total = float((centred**2).sum())
    if not total > 0.0:
        return 0.0
    lower = size - size // 2
    out = 0
    for _ in range(20):
        bulk = _marchenko_pastur(size - out, longer - out)
        noise = values[size - lower :].sum() / max(bulk[:lower].sum(), 1e-300)
        edge = noise * (np.sqrt(longer) + np.sqrt(size)) ** 2
        before, out = out, min(int(np.count_nonzero(values > edge)), size - lower)
        if out == before:
            break
    return float(min(noise * size * longer / total, 1.0))


def _marchenko_pastur(size: int, longer: float) -> Floats:
    """Expected eigenvalues, ascending, of the products of unit noise, (size,)."""
    low, high = (np.sqrt(longer) + np.array([-1.0, 1.0]) * np.sqrt(size)) ** 2
    # In this angle the density has no edges that a grid would miss.
    angle = (np.arange(2000) + 0.5) * np.pi / 2000
    at = 0.5 * (low + high) - 0.5 * (high - low) * np.cos(angle)
    weight = np.sin(angle) ** 2 / at
    share = np.cumsum(weight) / weight.sum()
    return np.interp((np.arange(size) + 0.5) / size, share, at)
