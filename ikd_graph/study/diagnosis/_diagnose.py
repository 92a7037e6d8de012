"""The fits behind a diagnosis: what they agree on, and what they would find in new data."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.base import clone
from sklearn.utils.validation import check_array

from ... import choices, covariance, graph, pipeline
from ..._stages import Stages
from ..._validation import (
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_integer,
)
from ...estimator import IKD
from ..datasets.mappings import add_noise, gp_mapping
from ..metrics import affine_r2
from ._record import Diagnosis, advise, wrongs

Floats = NDArray[np.float64]

MOST_POINTS = 1000
"""Beyond so many points a sample of them is looked at."""

SAMPLE_POINTS = 500
"""Size of that sample."""

# Halves of fewer measurements than this say nothing about the whole.
_FEWEST_HALF = 10
_RESAMPLED = 2


def diagnose(
    X: ArrayLike,
    n_components: int = 2,
    *,
    n_draws: int = 5,
    random_state: int | None = 0,
    verbose: int = 0,
) -> Diagnosis:
    """Tell what an embedding of weakly correlated data can be worth before it is believed.

    The prediction is the mean of three that err in different ways. A parametric bootstrap:
    `ikd_graph.IKD` is fitted to X with its likeliest kernel, that latent, kernel, signal and noise
    variance are taken for the truth, new data of the same size are simulated from them, and the
    latent that the default call finds in each is compared with that truth. It cannot see an error
    that the fit to X has made already, so its mean is multiplied by the agreement of the default
    embedding of X with that of the likeliest kernel: searches that end in different places
    cannot both be right. Two halves of the measurements, embedded by themselves: the R² that their
    agreement speaks for (Spearman and Brown's formula for twice the measurements; left out below
    20). A plain bootstrap: the R² of the embedding with those of measurements drawn anew from those
    of X, with replacement. It knows no model, and is the most pessimistic.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows; beyond 1000 a fixed random sample of 500 is looked at.
    n_components : int
        Number M of hidden coordinates.
    n_draws : int
        Number of simulated data sets, at least 2.
    random_state : int or None
        Seed of the simulations.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Diagnosis
        Numbers, and sentences about them.

    Warns
    -----
    UserWarning
        Once, if the predicted R² less its spread is below 0.8, the graph does not hold
        together, or too few correlations are trustworthy.

    Examples
    --------
    >>> from ikd_graph.study import datasets
    >>> from ikd_graph.study.diagnosis import diagnose
    >>> at = np.linspace(0.0, 3.0, 15)[:, None]
    >>> found = diagnose(datasets.gplvm_data(at, 300, noise=0.1).X, 1, n_draws=2)
    >>> found.holds_together, found.predicted_r2 > 0.9
    (True, True)
    """
    check_integer("n_draws", n_draws, 2)
    data, counts, n_points = _taken(X)
    check_components(n_components, n_points)
    evidence = choices.examine(data)
    with closing(Stages(verbose, total=n_draws + 4)) as stages, warnings.catch_warnings():
        # Of what the fits say of their graphs, the diagnosis says what matters, and says it once.
        warnings.simplefilter("ignore", UserWarning)
        trusted = _trust(data, counts=counts)
        predicted = _predict(data, counts, n_components, (n_draws, random_state), stages)
    chosen = choices.choose(
        affinity="correlation",
        strategy="auto",
        path="auto",
        reference="auto",
        threshold="auto",
        n_neighbors=None,
        mutual="auto",
        refine="auto",
        n_samples=n_points,
        n_components=n_components,
        evidence=evidence,
    )
    names = ("strategy", "path", "threshold", "n_neighbors", "refine")
    found = Diagnosis(
        n_points=n_points,
        n_used=len(data),
        n_observed=data.shape[1],
        n_components=n_components,
        **trusted,
        **predicted,
        spread_ratio=float(evidence.spread_ratio),
        kurtosis_gap=float(evidence.kurtosis_gap),
        model_holds=bool(evidence.holds),
        parameters={
            "affinity": "correlation",
            **{name: getattr(chosen, name) for name in names},
        },
    )
    wrong = wrongs(found)
    if wrong:
        warnings.warn("; ".join(wrong), UserWarning, stacklevel=2)
    words = (*advise(found), *(f"{name}: {chosen.reasons[name]}" for name in names))
    return replace(found, suggestions=words, warnings=wrong)


def _predict(
    data: Floats, counts: bool, n_components: int, draw: tuple[int, int | None], stages: Stages
) -> dict[str, Any]:
    """The fields of a diagnosis that fits are needed for; ``draw`` is (n_draws, random_state)."""
    polish = "auto" if len(data) <= choices.LIKELIHOOD_POINTS else None
    # The estimator knows a table of counts, where a row may be silent, by its type.
    table = data.astype(np.int64) if counts else data
    model = IKD(n_components, affinity="correlation", refine=polish, n_landmarks=None)
    with stages("fitting"):
        model.fit(table)
    # Only where the likelihood polishes it can tell kernels apart.
    likeliest = model
    if model.refine_ == "likelihood":
        with stages("trying other kernels"):
            likeliest = clone(model).set_params(kernel="auto").fit(table)
    latent = np.asarray(likeliest.embedding_, dtype=np.float64)
    noise = pipeline.explain(latent, data, likeliest.kernel_, centred=True)
    draws = _bootstrap(likeliest, model, noise, data.shape[1], draw, stages)
    agreement = affine_r2(likeliest.embedding_, model.embedding_)
    with stages("fitting halves"):
        halves = _halves(model, table, draw[1])
    with stages("fitting resampled data"):
        resampled = _resampled(model, table, draw[1])
    return {
        "graph_components": int(model.n_components_graph_),
        "predicted_r2": float(np.nanmean([np.mean(draws) * agreement, halves, resampled])),
        "spread_r2": float(np.std(draws, ddof=1)),
        "draws_r2": draws,
        "agreement": agreement,
        "halves_r2": halves,
        "resampled_r2": resampled,
        "likeliest_kernel": type(likeliest.kernel_).__name__,
        "noise_share": float(noise.noise / (noise.variance + noise.noise)),
        "negative_mass": float(model.negative_mass_),
        "refine": model.refine_,
    }


def _taken(X: ArrayLike) -> tuple[Floats, bool, int]:
    """The points to look at, whether X is a table of counts, and its number of points."""
    counts = np.asarray(X).dtype.kind in "iub"
    data = check_array(X, dtype=np.float64)
    n_points, n_observed = data.shape
    check_enough_rows(n_points)
    check_enough_columns(n_observed, "correlation")
    if n_points > MOST_POINTS:
        data = data[np.random.default_rng(0).choice(n_points, SAMPLE_POINTS, replace=False)]
    return data, counts, n_points


def _trust(data: Floats, *, counts: bool) -> dict[str, Any]:
    """The fields of a diagnosis that say which correlations can be trusted."""
    rows = covariance.unit_rows(data, allow_flat=counts)
    n, n_observed = data.shape
    corr = covariance.gram(rows)
    pairs = corr[np.triu_indices(n, 1)]
    error = float(np.sqrt(covariance.sampling_variance(0.0, n_observed)))
    threshold = choices.auto_threshold(n_observed)
    g = graph.row_threshold_graph(rows, threshold)
    sizes = np.bincount(graph.component_labels(g))
    # The strongest spanning tree; lengths stay positive, since a dense graph drops zeros.
    tree = minimum_spanning_tree(2.0 - np.clip(corr, -1.0, 1.0))
    return {
        "standard_error": error,
        "share_above_two": float(np.mean(pairs > 2.0 * error)),
        "share_above_five": float(np.mean(pairs > 5.0 * error)),
        "threshold": float(threshold),
        "n_edges": int(g.n_edges),
        "components": int(sizes.size),
        "largest_component": int(sizes.max()),
        "mean_degree": 2.0 * g.n_edges / n,
        "connected_up_to": float(2.0 - tree.data.max()),
    }


def _halves(model: IKD, table: NDArray[Any], random_state: int | None) -> float:
    """R² of the whole that the agreement of embeddings of two halves of the columns speaks for."""
    n_half = table.shape[1] // 2
    if n_half < _FEWEST_HALF:
        return np.nan
    columns = np.random.default_rng(random_state).permutation(table.shape[1])
    try:
        first = clone(model).fit_transform(table[:, columns[:n_half]])
        second = clone(model).fit_transform(table[:, columns[n_half:]])
        shared = 0.5 * (affine_r2(first, second) + affine_r2(second, first))
    # A row that is constant in one half, or a half that falls into one place.
    except ValueError:
        return 0.0
    link = float(np.sqrt(max(shared, 0.0)))
    return 2.0 * link / (1.0 + link)


def _resampled(model: IKD, table: NDArray[Any], random_state: int | None) -> float:
    """Mean R² of the embedding with those of columns drawn with replacement."""
    rng = np.random.default_rng(random_state)
    n_columns, found = table.shape[1], []
    for _ in range(_RESAMPLED):
        columns = rng.integers(0, n_columns, n_columns)
        try:
            again = clone(model).fit_transform(table[:, columns])
            found.append(affine_r2(model.embedding_, again))
        # A row that is constant in these columns.
        except ValueError:
            found.append(0.0)
    return float(np.mean(found))


def _bootstrap(
    source: IKD,
    model: IKD,
    noise: pipeline.Noise,
    n_observed: int,
    draw: tuple[int, int | None],
    stages: Stages,
) -> tuple[float, ...]:
    """R² of the latents of data simulated from one fitted model, by the settings of another."""
    truth = np.asarray(source.embedding_, dtype=np.float64)
    again = IKD(
        truth.shape[1],
        affinity="correlation",
        strategy=model.strategy_,
        kernel=model.kernel_,
        path=model.path_,
        threshold=model.threshold_,
        n_neighbors=model.n_neighbors_,
        refine=model.refine_,
        n_landmarks=None,
    )
    n_draws, random_state = draw
    rng = np.random.default_rng(random_state)
    found = []
    for _ in range(n_draws):
        signal = gp_mapping(truth, n_observed, source.kernel_, variance=noise.variance, seed=rng)
        drawn = add_noise(signal, float(np.sqrt(noise.noise)), seed=rng)
        with stages("fitting simulated data"):
            found.append(affine_r2(truth, again.fit_transform(drawn)))
    return tuple(found)
