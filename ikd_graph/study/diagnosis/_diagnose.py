"""Can these data be embedded at all: chance, significant correlations, the accuracy to expect."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_array

from ... import _limits, auto, covariance, graph
from ..._checks import check_components, check_enough_columns, check_enough_rows, check_integer
from ..._settings import Settings
from ..._stages import Stages
from ..._warn import warn
from ...estimator import IKD
from ...refine import Likelihood
from ...similarity import AFFINITIES
from ..judgement import say_row_levels
from ..metrics import affine_r2
from ..settings import reasons, say_settings, used_parameters
from ._chance import chance_test
from ._record import Diagnosis, problems, steps

Floats = NDArray[np.float64]


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

    The p value is that of a table without a latent whose columns keep their values and their order,
    see `chance_test`. Pairs of rows are trusted where they are significantly correlated
    (`graph.significant_graph`). The expected accuracy is a split-half reliability: the default
    embedding of X is computed from either half of the columns alone. The R² of one half with the
    other, less what chance gives, is the square of that of a half with the truth, and Spearman and
    Brown's formula (1910) takes it to all columns, or to more. Columns that follow one another are
    cut into two runs, others are divided at random. It is an upper bound: what both halves distort
    alike, as principal components do a curve, is not seen.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows; beyond 1000 a fixed random sample of 500 is looked at. Halves that the
        likelihood refines are those of 100 rows.
    n_components : int
        Number M of hidden coordinates.
    fdr : float
        False discovery rate of the pairs that are trusted, in (0, 1).
    n_removed : int
        Rows that were regressed out of X (`covariance.remove_mean_row` takes one).
    n_splits : int
        Number of times that the columns are split, at least 2.
    random_state : int or None
        Seed of the splits and of the test.
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
    >>> latent = np.random.default_rng(0).uniform(0.0, 3.0, size=(15, 1))
    >>> diagnosis = ikd_graph.diagnose(datasets.gplvm_data(latent, 300, noise=0.1).X, 1)
    >>> diagnosis.holds_together, diagnosis.p_value, diagnosis.predicted_r2 > 0.9
    (True, 0.005, True)
    """
    check_integer("n_splits", n_splits, 2)
    table, data, picked, n_points = _sampled(X)
    check_components(n_components, n_points)
    stages = Stages(verbose, total=3 + n_splits)
    # Of what the fits say of their graphs, the diagnosis says what matters, and says it once.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with stages("chance"):
            chance = chance_test(data, random_state=random_state)
        with stages("correlations"):
            correlations = _correlations(data, picked, fdr, n_removed)
        with stages("fitting"):
            whole, parameters = _default_fit(X, table, n_components, stages)
        ordered = correlations["n_effective"] < data.shape[1] - n_removed
        halves = _halves(whole, parameters, table, n_splits, ordered, random_state, stages)
    stages.close()
    affinity = AFFINITIES[whole.settings_.affinity]
    whole_r2 = 2.0 * np.array(halves) / (1.0 + np.array(halves))
    why, words = reasons(whole), say_settings(whole)
    warned = why.pop("warning", "")
    diagnosis = Diagnosis(
        n_points=n_points,
        n_used=len(data),
        n_observed=data.shape[1],
        n_components=n_components,
        n_removed=n_removed,
        fdr=fdr,
        chance=chance,
        similarity=words["similarity"],
        graph=words["graph"],
        **correlations,
        graph_components=int(whole.component_labels_.max()) + 1,
        predicted_r2=float(whole_r2.mean()),
        spread_r2=float(whole_r2.std(ddof=1)),
        halves_r2=tuple(halves),
        noise_share=noise_share(affinity.modelled(data), correlations["n_effective"]),
        moments=auto.moments(data),
        parameters=parameters,
        reasons=why,
        row_levels=() if affinity.scale_invariant else tuple(say_row_levels(data)),
    )
    texts = (*diagnosis.row_levels, *filter(None, [warned]), *problems(diagnosis))
    if texts:
        warn("; ".join(texts))
    return Diagnosis(**{**vars(diagnosis), "warnings": texts, "steps": tuple(steps(diagnosis))})


def _sampled(X: ArrayLike) -> tuple[NDArray[Any], Floats, NDArray[np.int64], int]:
    """The rows to examine, as they came and as floats, their numbers, and the number of all."""
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
    rows = covariance.unit_rows(data, allow_flat=True)
    pairs = covariance.gram(rows)[np.triu_indices(len(data), 1)]
    effective = covariance.effective_columns(rows, n_removed=n_removed)
    error = 1.0 / float(np.sqrt(max(effective - 1.0, 1.0)))
    trusted = graph.significant_graph(rows, fdr, n_removed=n_removed)
    left, right, corr = graph.edges(trusted)
    order = np.argsort(-corr, kind="stable")
    sizes = np.bincount(graph.component_labels(trusted))
    counts, edges = np.histogram(pairs, np.linspace(-1.0, 1.0, 82))
    mean = float(pairs.mean())
    return {
        "n_effective": effective,
        "standard_error": error,
        "share_above_two": float(np.mean(pairs > 2.0 * error)),
        "mean_correlation": mean,
        "common_share": mean**2 / max(float(np.mean(pairs**2)), np.finfo(float).tiny),
        "trusted_pairs": np.c_[picked[left[order]], picked[right[order]]],
        "trusted_correlations": corr[order],
        "components": int(sizes.size),
        "largest_component": int(sizes.max()),
        "correlation_counts": tuple(counts.tolist()),
        "correlation_edges": tuple(edges.tolist()),
    }


def _default_fit(
    X: ArrayLike, table: NDArray[Any], n_components: int, stages: Stages
) -> tuple[IKD, dict[str, Any]]:
    """The default fit before its refinement, and the parameters of `IKD` with it."""
    counts = table.dtype.kind in "iub"
    asked = Settings(n_components=n_components, n_landmarks=None, counts=counts)
    settings, _ = auto.resolve(np.unique(table, axis=0), asked, stages)
    model = IKD(
        n_components,
        strategy=settings.strategy,
        affinity=settings.affinity,
        refine=None,
        n_landmarks=None,
    ).fit(np.asarray(X))
    model.settings_.reasons.update(settings.reasons)
    parameters = {**used_parameters(model), "refine": settings.refine}
    del parameters["n_components"]
    if isinstance(settings.refine, Likelihood):
        # The likelihood chooses it.
        parameters.pop("kernel", None)
    return model, parameters


def _halves(
    whole: IKD,
    parameters: dict[str, Any],
    table: NDArray[Any],
    n_splits: int,
    ordered: bool,
    random_state: int | None,
    stages: Stages,
) -> list[float]:
    """The reliability of halves of the columns, NaN where they are too few to be embedded."""
    model = IKD(whole.n_components_, **parameters, n_landmarks=None)
    rule = parameters.get("graph")
    if isinstance(rule, graph.Threshold):
        # The threshold is that of the columns of a half.
        prune = False if whole.settings_.trusted else rule.prune
        model.set_params(graph=graph.Threshold(n_neighbors=rule.n_neighbors, prune=prune))
    if isinstance(model.refine, Likelihood):
        n = min(len(table), _limits.DIAGNOSED_BY_LIKELIHOOD)
        table = table[np.linspace(0, len(table) - 1, n).astype(np.int64)]
    width = table.shape[1]
    size = width // 2
    if size < max(2, whole.n_components_):
        return [np.nan] * n_splits
    rng, halves = np.random.default_rng(random_state), []
    for split in range(n_splits):
        columns = rng.permutation(width)
        if ordered:
            columns = np.roll(np.arange(width), -split * width // (2 * n_splits))
        with stages(f"{size} of {width} columns"):
            parts = columns[: 2 * size].reshape(2, size)
            halves.append(_reliability(model, *(table[:, half] for half in parts)))
    return halves


def _reliability(model: IKD, first: NDArray[Any], second: NDArray[Any]) -> float:
    """R² with the truth that the agreement of embeddings of separate columns speaks for."""
    try:
        a, b = (clone(model).fit_transform(half) for half in (first, second))
        shared = 0.5 * (affine_r2(a, b) + affine_r2(b, a))
    # A row that is constant in one half, or a half that falls into one point.
    except ValueError:
        return 0.0
    n, m = a.shape
    # Any unrelated embedding explains a share m / (n - 1).
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
