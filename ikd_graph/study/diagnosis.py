"""Can these data be embedded at all: correlations worth trusting, and the accuracy to expect."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.base import clone
from sklearn.utils.validation import check_array

from .. import covariance, evidence, graph
from .. import model as fitting
from .._stages import Stages
from .._validation import (
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_integer,
)
from ..estimator import IKD
from .datasets.mappings import add_noise, gp_mapping
from .metrics import affine_r2

Floats = NDArray[np.float64]

MOST_POINTS = 1000
"""Beyond so many points a sample of them is looked at."""

SAMPLE_POINTS = 500
"""Size of that sample."""

WEAK_R2 = 0.8
"""A predicted R² that may be below this, by one spread of its draws, is warned of."""

_WHOLE = 0.9
# Halves of fewer measurements than this say nothing about the whole.
_FEWEST_HALF = 10
_RESAMPLED = 2


@dataclass(frozen=True)
class Diagnosis:
    """What can be expected of an embedding of some data; see `diagnose`.

    Attributes
    ----------
    n_points, n_used, n_observed, n_components : int
        Points, those that were looked at, observed dimensions N, hidden coordinates M.
    standard_error : float
        Sampling error of a correlation of nothing, 1 / sqrt(N).
    share_above_two, share_above_five : float
        Share of pairs whose correlation exceeds 2 and 5 of these; chance makes 2.3 % and none.
    threshold : float
        Smallest correlation that is trusted, ``graph.auto_threshold``.
    n_edges, components, largest_component : int
        Pairs above it, components of their graph, points in the largest of them.
    mean_degree : float
        Trusted correlations of a point.
    connected_up_to : float
        The weakest link: every threshold below it leaves the graph in one piece.
    graph_components : int
        Components of the graph that was fitted, in which nearest neighbours are edges too.
    predicted_r2, spread_r2 : float
        Expected R² (after affine alignment), and the standard deviation of ``draws_r2``.
    draws_r2 : tuple of float
        R² of the latent of each draw.
    agreement : float
        R² of the embedding against that of the likeliest kernel, both fitted to the same data.
    halves_r2 : float
        R² that the agreement of two halves of the measurements speaks for; NaN below 20 of them.
    resampled_r2 : float
        Mean R² of the embedding with those of resampled measurements.
    likeliest_kernel : str
        Name of that kernel, from which data are drawn.
    noise_share : float
        Estimated share of noise in the variance of a measurement.
    negative_mass : float
        Share of the squared eigenvalues in negative ones: how far from distances in space.
    spread_ratio, kurtosis_gap : float
        Evidence for the model, see `ikd_graph.evidence.Evidence`.
    model_holds : bool
        Whether nothing in it speaks against the model, on which the prediction rests.
    refine : str or None
        Polish of the fits behind the prediction.
    parameters : dict
        Parameters for `ikd_graph.IKD` on all points.
    suggestions, warnings : tuple of str
        What to do, and what is wrong, in sentences.
    """

    n_points: int
    n_used: int
    n_observed: int
    n_components: int
    standard_error: float
    share_above_two: float
    share_above_five: float
    threshold: float
    n_edges: int
    components: int
    largest_component: int
    mean_degree: float
    connected_up_to: float
    graph_components: int
    predicted_r2: float
    spread_r2: float
    draws_r2: tuple[float, ...]
    agreement: float
    halves_r2: float
    resampled_r2: float
    likeliest_kernel: str
    noise_share: float
    negative_mass: float
    spread_ratio: float
    kurtosis_gap: float
    model_holds: bool
    refine: str | None
    parameters: dict[str, Any]
    suggestions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def holds_together(self) -> bool:
        """Whether the graph is whole, and trusted correlations alone join nearly all points."""
        return self.graph_components == 1 and self.largest_component >= _WHOLE * self.n_used

    @property
    def enough_trusted(self) -> bool:
        """Whether a point has 2 M trusted correlations: fewer cannot fix places in M dimensions."""
        return self.mean_degree >= 2 * self.n_components

    def findings(self) -> dict[str, str]:
        """What was found, in words.

        Returns
        -------
        dict of str to str
            Name and sentence, in the order to read them.
        """
        sampled = "" if self.n_used == self.n_points else f", {self.n_used} of them looked at"
        pieces = (
            "join all points"
            if self.components == 1
            else f"leave {self.components} pieces, the largest of {self.largest_component} points"
        )
        if self.connected_up_to > 0.0:
            link = f"every threshold below {self.connected_up_to:.3g} leaves the graph whole"
        else:
            link = "no threshold leaves the graph whole"
        doubt = "" if self.enough_trusted else ", if it is not points far apart (they look alike)"
        polish = f"{self.refine} polish" if self.refine else "closed form"
        return {
            "data": f"{self.n_points} points{sampled}, {self.n_observed} measurements of each",
            "correlations": f"{self.share_above_two:.1%} exceed 2 standard errors of "
            f"{self.standard_error:.3g} (chance makes 2.3%), {self.share_above_five:.1%} exceed 5",
            "trusted": f"above {self.threshold:.3g}: {self.n_edges} pairs, "
            f"{self.mean_degree:.1f} for a point; they {pieces}",
            "weakest link": link,
            "model": ("nothing speaks against" if self.model_holds else "the rows do not look like")
            + f" draws of a Gaussian process (variances scatter {self.spread_ratio:.2g} times as "
            f"expected, kurtosis {self.kurtosis_gap:+.2f} off)",
            "noise": f"{self.noise_share:.0%} of the variance{doubt}; negative mass "
            f"{self.negative_mass:.1%}",
            "draws": f"R² {np.mean(self.draws_r2):.2f} in {len(self.draws_r2)} data sets drawn "
            f"from the fitted model ({self.likeliest_kernel}, {polish})",
            "agreement": f"R² {self.agreement:.2f} with the embedding of that kernel"
            + (
                f"; two halves of the measurements speak for {self.halves_r2:.2f}"
                if np.isfinite(self.halves_r2)
                else ""
            ),
            "resampling": f"R² {self.resampled_r2:.2f} with embeddings of resampled measurements",
            "expected R²": f"{self.predicted_r2:.2f} ± {self.spread_r2:.2f}",
        }

    def summary(self) -> str:
        """The whole diagnosis in words.

        Returns
        -------
        str
            Lines of findings, warnings and suggestions.
        """
        found = self.findings()
        width = max(len(name) for name in found)
        lines = [f"{name:<{width}}  {text}" for name, text in found.items()]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"- {text}" for text in self.suggestions)])

    def __str__(self) -> str:
        """As `summary`."""
        return self.summary()


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
    variance are taken for the truth, new data of the same size are drawn from them, and the latent
    that the default call finds in each draw is compared with the one drawn from. It cannot see an
    error that the fit to X has made already, so its mean is multiplied by the agreement of the
    default embedding of X with that of the likeliest kernel: searches that end in different places
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
        Number of data sets drawn, at least 2.
    random_state : int or None
        Seed of the draws.
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
    n_observed = data.shape[1]
    check_components(n_components, n_points)
    table_says = evidence.examine(data)
    stages = Stages(verbose, total=n_draws + 4)
    # Of what the fits say of their graphs, the diagnosis says what matters, and says it once.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        trusted = _trust(data, counts=counts)
        polish = "auto" if len(data) <= evidence.LIKELIHOOD_POINTS else None
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
        noise = fitting.explain(
            np.asarray(likeliest.embedding_, dtype=np.float64),
            data,
            likeliest.kernel_,
            centred=True,
        )
        draws = _bootstrap(likeliest, model, noise, n_observed, n_draws, random_state, stages)
        agreement = affine_r2(likeliest.embedding_, model.embedding_)
        with stages("fitting halves"):
            halves = _halves(model, table, random_state)
        with stages("fitting resampled data"):
            resampled = _resampled(model, table, random_state)
    stages.close()
    chosen = evidence.choose(
        "correlation",
        evidence.Wishes(),
        table_says,
        n_samples=n_points,
        n_components=n_components,
    )
    names = ("strategy", "path", "threshold", "n_neighbors", "refine")
    found = Diagnosis(
        n_points=n_points,
        n_used=len(data),
        n_observed=n_observed,
        n_components=n_components,
        **trusted,
        graph_components=int(model.n_components_graph_),
        predicted_r2=float(np.nanmean([np.mean(draws) * agreement, halves, resampled])),
        spread_r2=float(np.std(draws, ddof=1)),
        draws_r2=draws,
        agreement=agreement,
        halves_r2=halves,
        resampled_r2=resampled,
        likeliest_kernel=type(likeliest.kernel_).__name__,
        noise_share=float(noise.noise / (noise.variance + noise.noise)),
        negative_mass=float(model.start_negative_mass_ or 0.0),
        spread_ratio=float(table_says.spread_ratio),
        kurtosis_gap=float(table_says.kurtosis_gap),
        model_holds=bool(table_says.holds),
        refine=model.refine_,
        parameters={
            "affinity": "correlation",
            **{name: getattr(chosen, name) for name in names},
        },
    )
    wrong = tuple(_wrongs(found))
    if wrong:
        warnings.warn("; ".join(wrong), UserWarning, stacklevel=2)
    words = (*_advise(found), *(chosen.reasons[n] for n in names if n in chosen.reasons))
    return Diagnosis(**{**vars(found), "suggestions": words, "warnings": wrong})


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
    threshold = graph.auto_threshold(n_observed)
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
    noise: fitting.Noise,
    n_observed: int,
    n_draws: int,
    random_state: int | None,
    stages: Stages,
) -> tuple[float, ...]:
    """R² of the latents of data drawn from one fitted model, found with the settings of another."""
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
    rng = np.random.default_rng(random_state)
    found = []
    for _ in range(n_draws):
        signal = gp_mapping(truth, n_observed, source.kernel_, variance=noise.variance, seed=rng)
        drawn = add_noise(signal, float(np.sqrt(noise.noise)), seed=rng)
        with stages("fitting drawn data"):
            found.append(affine_r2(truth, again.fit_transform(drawn)))
    return tuple(found)


def _wrongs(found: Diagnosis) -> list[str]:
    """What is to be warned of."""
    said = []
    low = found.predicted_r2 - found.spread_r2
    if low < WEAK_R2:
        may = "is" if found.predicted_r2 < WEAK_R2 else "may be"
        said.append(
            f"expected R² is {found.predicted_r2:.2f} ± {found.spread_r2:.2f}, which {may} below "
            f"{WEAK_R2:g}: another sample of {found.n_observed} measurements would give another "
            "picture; more of them help"
        )
    if not found.holds_together:
        said.append(
            f"the graph does not hold together: correlations above {found.threshold:.3g} join "
            f"{found.largest_component} of {found.n_used} points; the places of its pieces to one "
            "another rest on correlations that may be noise"
        )
    if not found.enough_trusted:
        said.append(
            f"too few correlations are trustworthy: {found.mean_degree:.1f} for a point, "
            f"{2 * found.n_components} are needed in {found.n_components} dimensions; fewer "
            "dimensions or more measurements help"
        )
    return said


def _advise(found: Diagnosis) -> list[str]:
    """Sentences that the reasons of the settings leave unsaid."""
    said = []
    if not found.model_holds:
        said.append(
            "the expected R² is that of data of the model, which these are not; trust it less"
        )
    weakest = found.connected_up_to
    if found.components > 1 and weakest > 2.0 * found.standard_error:
        said.append(
            f"a threshold just below {weakest:.3g} leaves the graph whole and is still beyond "
            "2 standard errors"
        )
    if found.n_used < found.n_points:
        said.append(
            f"correlations and R² are those of {found.n_used} points; all {found.n_points}, which "
            "lie denser, were not tried"
        )
    return said


__all__ = ["Diagnosis", "diagnose"]
