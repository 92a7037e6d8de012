"""Can these data be embedded at all: correlations worth trusting, and the accuracy to expect."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_array

from ... import _limits, auto, graph
from ..._checks import (
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_integer,
)
from ..._stages import Stages
from ...estimator import IKD
from ...kernels import SquaredExponential
from ...refine import Likelihood, Stress
from ...similarity import AFFINITIES, compare
from ..datasets.mappings import add_noise, gp_mapping
from ..levels import connected_up_to
from ..metrics import affine_r2
from ..settings import reasons, refinement_name, say_settings, used_parameters
from ._record import Diagnosis, advice, problems

Floats = NDArray[np.float64]

# Halves of fewer measurements than this say nothing about the whole.
_FEWEST_HALF = 10
_RESAMPLED = 2
# Rows up to which tables are simulated and refitted by likelihood; beyond, by stress.
_LIKELIHOOD_ROWS = 300
_USUAL = SquaredExponential()


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
    `ikd_graph.IKD` is fitted to X, that latent, kernel, signal and noise
    variance are taken for the truth, new data of the same size are sampled from them, and what the
    default call finds in each is compared with the latent sampled from (principal components are
    taken for the truth of lines, and each column has its own noise). It cannot see an
    error that the fit to X has made already, so its mean is multiplied by the agreement of the
    default embedding of X with that of the likeliest kernel: searches that end in different places
    cannot both be right. Two halves of the features, embedded by themselves: the R² that their
    agreement speaks for (Spearman and Brown's formula for twice the features; left out below
    20). A plain bootstrap: the R² of the embedding with those of features resampled from those
    of X, with replacement. It knows no model, and is the most pessimistic.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows; beyond 1000 a fixed random sample of 500 is looked at.
    n_components : int
        Number M of hidden coordinates.
    n_draws : int
        Number of data sets sampled, at least 2.
    random_state : int or None
        Seed of the samples.
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
    table, data, n_points = _taken(X)
    check_components(n_components, n_points)
    stages = Stages(verbose, total=n_draws + 5)
    # Of what the fits say of their graphs, the diagnosis says what matters, and says it once.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with stages("fitting"):
            whole = IKD(n_components, n_landmarks=None).fit(np.asarray(X))
        expected = _expect(whole, table, data, n_draws, random_state, stages)
        trusted = _trust(whole, data)
    stages.close()
    seen = auto.moments(data)
    described: dict[str, Any] = {**say_settings(whole), **trusted, **expected}
    found = Diagnosis(
        n_points=n_points,
        n_used=len(data),
        n_observed=data.shape[1],
        n_components=n_components,
        **described,
        graph_components=int(whole.component_labels_.max()) + 1,
        negative_mass=float(whole._result.embedding.negative_mass),
        spread_ratio=float(seen.spread_ratio),
        kurtosis_gap=float(seen.kurtosis_gap),
        model_holds=seen.fit_the_model,
        correlated=auto.has_significant_correlation(data),
        parameters={k: v for k, v in used_parameters(whole).items() if k != "n_components"},
    )
    wrong = tuple(problems(found))
    if wrong:
        warnings.warn("; ".join(wrong), UserWarning, stacklevel=2)
    words = (*advice(found), *(f"{name}: {text}" for name, text in reasons(whole).items()))
    return Diagnosis(**{**vars(found), "suggestions": words, "warnings": wrong})


def _expect(
    whole: IKD,
    table: NDArray[Any],
    data: Floats,
    n_draws: int,
    random_state: int | None,
    stages: Stages,
) -> dict[str, Any]:
    """The fields of a diagnosis that predict the accuracy."""
    parameters = {**used_parameters(whole), "n_landmarks": None}
    if isinstance(parameters["refine"], Likelihood) and len(data) > _LIKELIHOOD_ROWS:
        parameters["refine"] = Stress()
    model = IKD(**parameters).fit(table)
    agreement = 1.0
    if isinstance(parameters["refine"], Likelihood) and parameters["kernel"] != _USUAL:
        with stages("trying the usual kernel"):
            usual = IKD(**{**parameters, "kernel": _USUAL}).fit_transform(table)
        agreement = affine_r2(model.embedding_, usual)
    is_linear = model.settings_.strategy.name == "linear"
    source = _lines_of(model, data) if is_linear else _process_of(model, data.shape[1])
    draws = _bootstrap(source, parameters, n_draws, random_state, stages)
    with stages("fitting halves"):
        halves = _halves(model, table, random_state)
    with stages("fitting resampled data"):
        resampled = _resampled(model, table, random_state)
    return {
        "predicted_r2": float(np.nanmean([np.mean(draws) * agreement, halves, resampled])),
        "spread_r2": float(np.std(draws, ddof=1)),
        "draws_r2": draws,
        "agreement": agreement,
        "halves_r2": halves,
        "resampled_r2": resampled,
        "likeliest_kernel": source.kernel,
        "noise_share": source.noise_share,
        "refine": refinement_name(model),
    }


def _taken(X: ArrayLike) -> tuple[NDArray[Any], Floats, int]:
    """The rows to look at, as they came and as floats, and the number of all."""
    # The estimator knows a table of counts, where a row may be silent, by its type.
    counts = np.asarray(X).dtype.kind in "iub"
    data = check_array(X, dtype=np.float64)
    n_points, n_observed = data.shape
    check_enough_rows(n_points)
    check_enough_columns(n_observed, "correlation")
    if n_points > _limits.DIAGNOSED_WHOLE:
        data = data[
            np.random.default_rng(0).choice(n_points, _limits.DIAGNOSED_SAMPLE, replace=False)
        ]
    return (data.astype(np.int64) if counts else data), data, n_points


def _trust(whole: IKD, data: Floats) -> dict[str, Any]:
    """The fields of a diagnosis that say which correlations can be trusted."""
    similarity = compare(data, "correlation", counts=True)
    n, n_observed = data.shape
    pairs = similarity.matrix()[np.triu_indices(n, 1)]
    error = 1.0 / float(np.sqrt(n_observed))
    threshold = graph.auto_threshold(n_observed)
    g = similarity.threshold_graph(threshold)
    sizes = np.bincount(graph.component_labels(g))
    return {
        "standard_error": error,
        "share_above_two": float(np.mean(pairs > 2.0 * error)),
        "share_above_five": float(np.mean(pairs > 5.0 * error)),
        "threshold": float(threshold),
        "n_edges": int(g.n_edges),
        "components": int(sizes.size),
        "largest_component": int(sizes.max()),
        "mean_degree": 2.0 * g.n_edges / n,
        "connected_up_to": connected_up_to(whole._result.similarity),
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
    """Mean R² of the embedding with those of columns sampled with replacement."""
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


class _Source(NamedTuple):
    """A fitted model that tables can be sampled from."""

    truth: Floats  # (n, m)
    kernel: str
    noise_share: float
    draw: Callable[[np.random.Generator], Floats]


def _latent(model: IKD) -> Floats:
    """Coordinates as float64."""
    return np.asarray(model.embedding_, dtype=np.float64)


def _process_of(model: IKD, n_observed: int) -> _Source:
    """Samples of a Gaussian process over the latent."""
    truth, noise = _latent(model), model.noise_model()

    def draw(rng: np.random.Generator) -> Floats:
        signal = gp_mapping(truth, n_observed, noise.kernel, variance=noise.variance, seed=rng)
        return add_noise(signal, float(np.sqrt(noise.noise)), seed=rng)

    share = float(noise.noise / (noise.variance + noise.noise))
    return _Source(truth, type(model.kernel_).__name__, share, draw)


def _lines_of(model: IKD, data: Floats) -> _Source:
    """Lines on the latent, and noise of each column (Tipping and Bishop, JRSS B 1999)."""
    truth = _latent(model)
    (n, m), width = truth.shape, data.shape[1]
    along = np.c_[np.ones(n), truth]
    fitted = along @ np.linalg.lstsq(along, data, rcond=None)[0]
    # The latent has taken the noise of m of the directions, which is none of the signal.
    left = np.sum((data - fitted) ** 2, axis=0) / max(n - m - 1, 1)
    left *= width / max(width - m, 1)
    mean = data.mean(axis=0)
    signal = mean + _without_noise(fitted - mean, float(left.mean()))
    share = float(left.sum() / max(data.var(axis=0).sum(), np.finfo(float).tiny))
    return _Source(
        truth,
        "Linear",
        min(share, 1.0),
        lambda rng: signal + np.sqrt(left) * rng.normal(size=data.shape),
    )


def _without_noise(signal: Floats, noise: float) -> Floats:
    """Leading part of a table with its singular values as they were before the noise.

    Noise makes all of them larger, and gives some to a table that has none (Gavish and Donoho,
    Optimal shrinkage of singular values, IEEE Transactions on Information Theory 2017).
    """
    if noise <= 0.0:
        return signal
    u, values, v = np.linalg.svd(signal, full_matrices=False)
    few, many = sorted(signal.shape)
    unit, ratio = np.sqrt(many * noise), few / many
    gap = (values / unit) ** 2 - ratio - 1.0
    seen = gap > 2.0 * np.sqrt(ratio)
    inside = np.sqrt(np.maximum(gap**2 - 4.0 * ratio, 0.0))
    true = np.where(seen, unit * np.sqrt(np.maximum(gap + inside, 0.0) / 2.0), 0.0)
    return np.asarray(u * true @ v)


def _bootstrap(
    source: _Source,
    parameters: dict[str, Any],
    n_draws: int,
    random_state: int | None,
    stages: Stages,
) -> tuple[float, ...]:
    """R² of the latents of data sampled from a source, fitted with given parameters."""
    again = IKD(**parameters)
    if AFFINITIES[parameters["affinity"]].square_roots:
        # Samples are values around zero, and no counts.
        again.set_params(affinity="cosine")
    rng = np.random.default_rng(random_state)
    found = []
    for _ in range(n_draws):
        sampled = source.draw(rng)
        with stages("fitting sampled data"):
            found.append(affine_r2(source.truth, again.fit_transform(sampled)))
    return tuple(found)
