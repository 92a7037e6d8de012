"""What an embedding can be worth: chance, significant correlations, agreement of halves."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from .. import covariance, graph, model_selection
from .. import missing as holes
from .._base import limits
from .._base import validation as check
from .._base.as_table import as_table, check_known, row_names
from .._base.format import setting
from .._base.progress import Stages, stage
from .._base.table import dense_rows, random_rows, rows_of, some_rows
from .._base.types import Floats, Integers
from .._base.warn import no_warnings, warn
from ..eigen import DOMINANT_FRACTION
from ..estimator import IKD
from ..similarity import AFFINITIES, PairwiseSimilarity, warn_of_pairs
from ..strategies import Blockwise
from ..trust import Trust, chance_of
from .compare_result import LEAST, Difference
from .diagnose_result import Diagnosis, Step, as_typed, problems

__all__ = ["Diagnosis", "Step", "diagnose"]


def diagnose(
    X: ArrayLike,
    n_components: int = 2,
    *,
    fdr: float = 0.01,
    n_removed: int = 0,
    missing: str | holes.Rule = "error",
    null: str = "shift",
    random_state: int | None = 0,
    verbose: int = 0,
    **settings: Any,
) -> Diagnosis:
    """Tell what an embedding of weakly correlated data can be worth before it is believed.

    The p value is that of a table without a latent whose columns keep their values and their order,
    see `chance_test`. Pairs of rows are trusted where they are significantly correlated
    (`graph.significant_graph`). All else is what the fit of X says, in the same numbers
    (`IKD.trust_`).

    Parameters
    ----------
    X : (n_samples, n_features) array_like or scipy sparse of float64
        Points in rows; of more than 1000 the correlations of a fixed random sample of 1000.
    n_components : int
        Number M of hidden coordinates.
    fdr : float
        False discovery rate of the pairs that are trusted, in (0, 1).
    n_removed : int
        Rows that were regressed out of X (`covariance.remove_mean_row` takes one).
    missing : {"error", "pairwise", "impute"} or object
        How the fit treats holes in X, see `ikd_graph.missing`. The p value and significant
        correlations are those of X with holes filled in by values of their columns at random, which
        relate no rows.
    null : {"shift", "permute", "permute_all"}
        What the p value compares X with, see `chance_test`: "permute" where the order of the rows
        is arbitrary.
    random_state : int or None
        Seed of the fit.
    verbose : int
        1 shows stage and time on a terminal, and a line for each stage elsewhere.
    **settings
        Other parameters of `IKD`.

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
    >>> import numpy as np
    >>> import ikd_graph
    >>> from ikd_graph import datasets
    >>> latent = np.random.default_rng(0).uniform(0.0, 3.0, size=(15, 1))
    >>> diagnosis = ikd_graph.diagnose(datasets.gplvm_data(latent, 300, noise=0.1).X, 1)
    >>> diagnosis.holds_together, diagnosis.p_value, diagnosis.agreement > 0.9
    (True, 0.005, True)
    """
    check.one_of(("auto", *AFFINITIES))("affinity", settings.get("affinity", "auto"))
    if not isinstance(rule := settings.get("graph", "auto"), str | float | int | graph.Rule):
        raise ValueError(
            "graph must be a rule, a number or 'auto' in a diagnosis, whose steps name it, got "
            f"{type(rule).__name__}; IKD(graph=...).fit(X).trust_ takes any graph"
        )
    with check.naming_rows(row_names(X)):
        table, known = _what_is_known(as_table(X, dtype=np.float64).values, missing)
    check.enough(2, 2)("X", table)
    picked = random_rows(table.shape[0], limits.DIAGNOSED)
    # Of what the fit says, the diagnosis says what matters, and says it once.
    with Stages(verbose) as stages, no_warnings():
        # It checks what all others are given.
        with stages("fitting"):
            options = {"missing": missing, "random_state": random_state, **settings}
            model = IKD(n_components, **options).fit(X)
        with stages("chance"):
            trust = Trust.of(model, chance_of(table, null))
        with stages("correlations"):
            measured = dense_rows(some_rows(table, picked))
            data = np.asarray(holes.fill(measured, table), np.float64) if known else measured
            unrelated = holes.fill_at_random(measured) if known else data
            correlations = _correlations(data, unrelated, picked, fdr, n_removed)
    affinity, moments = AFFINITIES[model.settings_.affinity], model_selection.moments(measured)
    noise = np.nan
    if moments.is_plausible and not known:
        noise = covariance.noise_fraction(affinity.modeled(data), correlations["n_effective"])
        # What columns, or rows, say of one another is no independent noise.
        all_of_it = round(noise, 2) >= 1.0 and not trust.found_nothing
        noise = np.nan if noise > 1.0 - model.held_out_r2_ or all_of_it else noise
    diagnosis = Diagnosis(
        model, trust, fdr, n_removed, picked, **correlations,
        noise_fraction=noise, moments=moments, known=known,
    )  # fmt: skip
    with stage(verbose, "trying steps"):
        tried = _tried(diagnosis, data, random_state)
    texts = (*model.settings_.warnings, *problems(diagnosis))
    if texts:
        warn("; ".join(texts))
    return replace(diagnosis, tried=tried, warnings=texts)


def _what_is_known(values: Any, rule: str | holes.Rule) -> tuple[Any, str]:
    """Return rows of a table, dense with holes, and what is known of them; empty without holes."""
    asked, pairwise = holes.get(rule), setting("missing", "pairwise")
    cure = f"pass {pairwise}, which examines the table with its holes filled in, or fill them in"
    check_known(values, "X", cure, holes=asked is not None)
    table = rows_of(values)
    warn_of_pairs(table)
    if not holes.has_holes(table):
        return table, ""
    holes.check_holes(table)
    shared = asked if isinstance(asked, holes.Pairwise) else holes.Pairwise()
    least = shared.least(table.shape[1])
    similarity = PairwiseSimilarity(AFFINITIES["euclidean"], table, least)
    if asked is shared:
        similarity.check_groups(np.arange(len(table)))
    pairs = similarity.known[np.triu_indices(len(table), 1)]
    text = (
        f"{pairs.sum()} of {pairs.size} pairs of rows share at least {least} columns; for p "
        "value and significant correlations holes were filled in at random"
    )
    return table, text


def _correlations(
    data: Floats, unrelated: Floats, picked: Integers, fdr: float, n_removed: int
) -> dict[str, Any]:
    """Return the fields of a diagnosis that say which correlations can be trusted.

    These are correlations of ``unrelated`` rows, where holes in the data are filled in at random.
    """
    rows, drawn = (covariance.unit_rows(each, allow_flat=True) for each in (data, unrelated))
    upper, centered = np.triu_indices(len(data), 1), covariance.doubly_centered_rows(drawn)
    raw, pairs = (covariance.gram(each)[upper] for each in (rows, centered))
    effective = covariance.effective_columns(rows, n_removed=n_removed)
    error = 1.0 / float(np.sqrt(max(effective - 1.0, 1.0)))
    trusted = graph.significant_graph(drawn, fdr, n_removed=n_removed)
    left, right, corr = graph.edges(trusted)
    order = np.argsort(-corr, kind="stable")
    sizes = np.bincount(graph.component_labels(trusted))
    # Rounding leaves correlations of 1 just above it.
    counts, edges = np.histogram(np.clip(pairs, -1.0, 1.0), np.linspace(-1.0, 1.0, 82))
    mean, above = float(raw.mean()), np.mean(raw > 2.0 * error)
    shares_direction = above >= DOMINANT_FRACTION and mean**2 >= 0.5 * np.mean(raw**2)
    return {
        "n_effective": effective,
        "mean_correlation": mean,
        "has_common_direction": bool(shares_direction),
        "trusted_pairs": np.c_[picked[left[order]], picked[right[order]]],
        "trusted_correlations": corr[order],
        "largest_component": int(sizes.max()),
        "correlation_counts": tuple(counts.tolist()),
        "correlation_edges": tuple(edges.tolist()),
    }


def _possible_steps(d: Diagnosis) -> list[Step]:
    """Return what may predict held-out columns better than the fit, by what it does."""
    steps, m = list[Step](), d.n_components
    if d.has_common_direction and not d.n_removed:
        left = "ikd_graph.covariance.remove_mean_row(X)"
        settings: dict[str, Any] = {"n_components": m, "fdr": d.fdr, **d.typed}
        python = f"ikd_graph.diagnose({left}, {as_typed(settings | {'n_removed': 1})})"
        settings |= {"remove_mean_row": True}
        steps.append(Step("removing the mean row", python, "diagnose", settings))
    # Of groups that they do not join a map is a guess.
    if d.n_trusted and d.holds_together and d.agreement < model_selection.SUPPORTED:
        rule = graph.Threshold(fdr=d.fdr, n_removed=d.n_removed)
        settings = {"n_components": m, "strategy": Blockwise(), "graph": rule}
        settings |= {"affinity": "correlation", "refine": d.parameters["refine"]}
        python = f"ikd_graph.IKD({as_typed(settings)}).fit(X)"
        steps.append(Step("taking significant correlations alone", python, "embed", settings))
    return steps


def _tried(d: Diagnosis, data: Floats, seed: int | None) -> tuple[tuple[Difference, Step], ...]:
    """Return how much better steps predict held-out columns than the fit does.

    Each is fitted as it stands, without a quarter of the columns, four times, and paired over rows.
    What cannot be fitted is not told.
    """
    table = data[random_rows(len(data), limits.SIZED)]
    values = AFFINITIES[d.model.settings_.affinity].modeled(table)
    parts, told = model_selection.folds(table), []

    def r2(settings: dict[str, Any]) -> Floats:
        model: Any = IKD(d.n_components, random_state=seed)
        if "remove_mean_row" in settings:
            removed = FunctionTransformer(covariance.remove_mean_row)
            model = make_pipeline(removed, model.set_params(**d.typed))
        else:
            model.set_params(**settings)
        maps = ((model.fit_transform(table[:, ~fold]), values[:, fold]) for fold in parts)
        return np.sum([model_selection.held_out_r2(*each) / len(parts) for each in maps], axis=0)

    # No step takes holes.
    steps = _possible_steps(d) if len(parts) > 1 and not d.known else []
    with no_warnings(), suppress(ValueError):
        usual = r2(d.parameters) if steps else np.nan
        for step in steps:
            gains = r2(step.settings) - usual
            error = LEAST + 2.0 * float(gains.std() * np.sqrt(gains.size))
            gain = Difference(step.words, "this fit", 0.0, float(gains.sum()), error)
            words = f"{str(gain).capitalize()} in R² of held-out columns"
            told.append((gain, step._replace(words=words)))
    return tuple(told)
