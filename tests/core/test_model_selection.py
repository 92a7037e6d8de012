"""What "auto" chooses: the same for the same table, by what predicts, with the reason told."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors
from tables import quiet, roll, sheet, warned

from ikd_graph import IKD, gplvm, graph, kernels, model_selection, refine, strategies
from ikd_graph._base import limits
from ikd_graph.datasets import fixed_latent, gp_mapping, gplvm_data
from ikd_graph.metrics import affine_r2
from ikd_graph.model_selection import has_significant_correlation, moments
from ikd_graph.similarity import AFFINITIES

NOTHING = "there may be nothing to see"


def groups(seed=0, n=90, p=60):
    """Three groups, which are no sample of a process."""
    rng = np.random.default_rng(seed)
    return np.repeat(9.0 * rng.normal(size=(3, p)), n // 3, axis=0) + rng.normal(size=(n, p))


# Does a table look like samples of the model? -----------------------------------------------------


@pytest.mark.parametrize("n_columns", [100, 1000])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_samples_of_a_gaussian_process_are_recognized(n_columns, noise):
    for seed in range(5):
        X = gp_mapping(fixed_latent("medium"), n_columns, seed=seed)
        X += noise * np.random.default_rng(100 + seed).normal(size=X.shape)
        assert moments(X).fit_the_model
        assert not moments(X[:, :99]).fit_the_model


@pytest.mark.parametrize("length_scale", [1.0, 3.0, 8.0])
def test_samples_whose_rows_are_all_correlated_are_recognized(length_scale):
    kernel = kernels.SquaredExponential(length_scale=length_scale)
    for seed in range(6):
        latent = fixed_latent("medium", 60 + 30 * seed)
        X = gp_mapping(latent, 150 + 150 * seed, kernel=kernel, seed=seed)
        assert moments(X).fit_the_model
        levels = np.random.default_rng(100 + seed).normal(size=X.shape[1])
        # A constant is a process as well.
        assert moments(X + levels).fit_the_model


def bifurcation(seed, level, n=200, n_genes=200):
    """Counts of cells on a path that divides in two, genes with levels that switch along it."""
    rng = np.random.default_rng(seed)
    time, branch = rng.uniform(size=(n, 1)), rng.integers(1, 3, size=(n, 1))
    of_branch = rng.integers(3, size=n_genes)
    on = (of_branch == 0) | ((time > 0.5) & (branch == of_branch))
    change = rng.choice([-1.5, 1.5], n_genes) * on
    switched = change / (1.0 + np.exp(-10.0 * (time - rng.uniform(size=n_genes))))
    log_rates = 1.1 + level * rng.normal(size=n_genes) + switched + 0.3 * rng.normal(size=(n, 1))
    return rng.poisson(np.exp(log_rates)).astype(float)


@pytest.mark.parametrize("level", [0.0, 0.7, 1.2])
def test_log_counts_fail_the_check_of_the_model(level):
    for seed in range(4):
        counts = bifurcation(seed, level)
        logs = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
        assert not moments(logs).fit_the_model


def whole_numbers(kind):
    """Tables of whole numbers: counts, and measurements that are no counts."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 40)) + rng.normal(size=(120, 40))
    return {
        "spikes": lambda: rng.poisson(0.3 * np.exp(0.5 * scores)),
        "cells": lambda: rng.poisson(rng.gamma(0.5, 4.0 * np.exp(0.5 * scores))),
        "words": lambda: rng.multinomial(120, np.full(40, 1.0 / 40.0), size=120),
        "pixels": lambda: np.clip(np.rint(60.0 * scores + 80.0), 0, 255),
        "ratings": lambda: np.clip(np.rint(scores + 2.0), 0, 4),
        "votes": lambda: 2.0 * (scores > 0.0) - (rng.random(scores.shape) < 0.05),
        "genotypes": lambda: rng.binomial(2, 1.0 / (1.0 + np.exp(1.5 - scores))),
        "dollars": lambda: np.rint(np.exp(10.0 + 0.5 * scores)),
        "ages": lambda: np.clip(np.rint(40.0 + 15.0 * scores), 0, 99),
        "millimeters": lambda: np.rint(10.0 * np.abs(scores) + 20.0),
        "bits": lambda: scores > 1.0,
        "deep counts": lambda: rng.poisson(np.exp(4.4 + 0.5 * scores)),
    }[kind]().astype(float)


@pytest.mark.parametrize("kind", ["spikes", "cells", "words"])
def test_counts_are_compared_by_the_roots_of_their_proportions_in_any_unit(kind):
    X = whole_numbers(kind)
    wider = X.astype(np.float32) / np.float32(255.0)
    for table in (X, X.astype(int), X / 7.0, 255.0 * X, wider, sp.csr_array(X)):
        used = quiet(IKD(2, refine=None), table).settings_
        assert (used.affinity, used.reasons["affinity"]) == ("hellinger", "X holds counts")


@pytest.mark.parametrize(
    "kind",
    ["pixels", "ratings", "votes", "genotypes", "dollars", "ages", "millimeters", "bits",
     "deep counts"],
)  # fmt: skip
def test_whole_numbers_that_are_no_counts_are_measurements(kind):
    X = whole_numbers(kind)
    used = {quiet(IKD(2, refine=None), table).settings_.affinity for table in (X, X * 0.999 / 16.0)}
    assert len(used) == 1
    assert "hellinger" not in used
    assert not moments(X).are_counts


def test_a_table_with_a_value_that_is_no_multiple_holds_no_counts():
    counts = whole_numbers("spikes")
    assert moments(counts).are_counts
    assert not moments(counts - 3.0).are_counts
    counts[-1, -1] += 0.5
    assert not moments(counts).are_counts


def test_a_constant_row_of_whole_numbers_is_kept_whatever_the_type():
    X = whole_numbers("spikes")
    X[5] = 0.0
    for table in (X, X.astype(int), X / 7.0):
        with pytest.warns(UserWarning, match="1 row of X does not vary"):
            IKD(2, affinity="correlation", graph=6, refine=None).fit(table)
    X = X + np.random.default_rng(0).random(X.shape)
    X[5] = 0.0
    for table in (X, X.astype(np.float32)):
        with pytest.raises(ValueError, match=r"1 constant row\(s\): 5"):
            IKD(2, affinity="correlation", graph=6, refine=None).fit(table)


@pytest.mark.parametrize("graph_", [10, pytest.param("auto", marks=pytest.mark.slow)])
def test_neither_unit_nor_type_nor_order_moves_a_point(digits, graph_):
    X = digits[0][:300]
    order = np.random.default_rng(0).permutation(300)
    settings = {"strategy": "geodesic", "affinity": "euclidean", "refine": "stress"}
    settings = {"graph": 10, **settings} if graph_ != "auto" else {}
    expected = quiet(IKD(2, **settings), X)
    radius = np.sqrt((expected.embedding_**2).sum(axis=1).mean())
    close = 1e-5 if graph_ != "auto" else 1e-3  # halves of the columns disagree
    for unit, dtype in (
        (255.0, float),
        (1 / 255.0, float),
        (1.0, "f4"),
        (1.0, int),
        (1 / 3.0, "f4"),
    ):
        model = quiet(IKD(2, **settings), (unit * X).astype(dtype))
        own = float(np.sqrt((model.embedding_.astype(float) ** 2).sum(axis=1).mean()))
        gap = model.embedding_ / own - expected.embedding_ / radius
        assert np.abs(gap).max() < close
        assert model.embedding_.dtype == ("f4" if dtype == "f4" else "f8")
        assert (model.graph_.indices == expected.graph_.indices).all()
    again = quiet(IKD(2, **settings), X[order]).embedding_
    np.testing.assert_allclose(again, expected.embedding_[order], atol=1e-8 * radius)


# Is there anything to see? ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(40, 100), (300, 120), (120, 300), (2300, 100)])
def test_unrelated_rows_seem_related_in_about_one_table_of_ten(size):
    related = [
        has_significant_correlation(np.random.default_rng(seed).normal(size=size) + seed)
        for seed in range(40)
    ]
    assert 1 <= sum(related) <= 10


def test_rows_are_related_by_two_of_them_or_by_all():
    rng = np.random.default_rng(5)
    noise = rng.normal(size=(300, 120))
    assert not has_significant_correlation(noise)
    two = noise.copy()
    two[7] += 0.8 * two[200]
    assert has_significant_correlation(two)
    # No pair is correlated by more than chance, but all follow one line.
    line = noise + 0.25 * rng.normal(size=(300, 1)) * rng.normal(size=120)
    corr = np.corrcoef(line) - 2.0 * np.eye(300)
    assert corr.max() < graph.sure_threshold(120, 0.05 / (300 * 299 / 2))
    assert has_significant_correlation(line)


@pytest.mark.parametrize("step", ["auto", None, "stress"])
def test_a_table_of_noise_with_many_columns_is_told_to_have_no_correlated_rows(step):
    noise = np.random.default_rng(0).normal(size=(150, 120))
    (text,) = warned(IKD(2, refine=step), noise)
    assert text.startswith("no two of 150 rows are correlated more than unrelated rows are by")
    assert "the embedding is noise; measure more columns, or average rows" in text
    if step == "auto":
        model = quiet(IKD(2), noise)
        assert model.settings_.refine is None
        assert "no rows are significantly correlated" in model.settings_.reasons["refine"]


@pytest.mark.parametrize("n_columns", [24, 60])
def test_a_table_of_noise_with_few_columns_is_told_that_nothing_predicts(n_columns):
    for seed in range(3):
        noise = np.random.default_rng(seed).standard_t(3, size=(80, n_columns))
        model = IKD(2)
        texts = warned(model, noise)
        assert len(texts) == 1
        assert NOTHING in texts[0]
        assert NOTHING in str(model.settings_)
        assert model.candidates_[0].r2 < 0.05
        assert model.agreement_ < 0.1


# Thresholds of correlations -----------------------------------------------------------------------


def test_the_threshold_is_five_standard_errors_and_never_above_one_half():
    assert graph.auto_threshold(10_000) == 0.05
    assert graph.auto_threshold(50) == 0.5
    assert graph.auto_threshold(None) == 0.3


KERNELS = (
    kernels.RationalQuadratic(alpha=1.0, length_scale=0.5),
    kernels.GammaExponential(gamma=1.0),
    kernels.Matern(nu=1.5, length_scale=3.0),
)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n_observed", [1000, 10_000])
def test_the_threshold_leaves_out_correlations_whose_distance_is_uncertain(kernel, n_observed):
    s0 = graph.auto_threshold(n_observed, kernel)
    assert 5.0 / n_observed**0.5 <= s0 <= 0.5
    # Spread of the distances of sampled correlations, in place of the expansion of Eq. 11.
    rng = np.random.default_rng(0)
    corr = np.linspace(s0, 0.5, 20)[:, None]
    drawn = corr + (1.0 - corr**2) / n_observed**0.5 * rng.normal(size=(20, 4000))
    spread = np.sqrt(kernel.sq_distance(drawn)).std(axis=1) / kernel.length_scale
    assert spread.max() < 1.1 * (0.2 / n_observed) ** 0.2


def test_the_threshold_of_a_fit_is_that_of_its_kernel():
    X, _ = sheet(n=60, n_columns=4000)
    used = {
        kernel: IKD(2, kernel=kernel, affinity="correlation", graph=graph.Threshold(), refine=None)
        .fit(X)
        .settings_.graph.s0
        for kernel in ("squared_exponential", "rational_quadratic")
    }
    assert used["squared_exponential"] == graph.auto_threshold(4000)
    # Somewhat below that of a table without any noise.
    highest = graph.auto_threshold(4000, "rational_quadratic")
    assert used["squared_exponential"] < used["rational_quadratic"] <= highest
    assert used["rational_quadratic"] > 0.7 * highest


@pytest.mark.parametrize("n_columns", [1500, 4000])
def test_the_automatic_threshold_is_that_of_every_strategy(n_columns):
    X = gplvm_data("medium", n_columns, seed=0).X
    for strategy in ("geodesic", "blockwise"):
        model = IKD(3, strategy=strategy, affinity="correlation", refine=None).fit(X)
        assert model.settings_.graph.s0 == pytest.approx(5 / n_columns**0.5)


def test_half_of_the_threshold_is_left_where_half_of_the_variance_is_noise():
    whole = graph.auto_threshold(10_000, "rational_quadratic")
    half = graph.auto_threshold(10_000, "rational_quadratic", 0.5)
    assert half == pytest.approx(whole / 2)
    with pytest.raises(ValueError, match=r"noise_fraction must lie in \[0, 1\], got 1.5"):
        graph.auto_threshold(10_000, "matern", 1.5)


@pytest.mark.parametrize(("n_observed", "rate"), [(3, 0.2), (20, 1e-5), (90, 1e-3), (20, 0.7)])
def test_the_sure_threshold_is_that_of_a_test_of_no_correlation(n_observed, rate):
    level = graph.sure_threshold(n_observed, rate)
    # scipy's own distribution of the sample correlation, a beta distribution from -1 to 1.
    half = n_observed / 2.0 - 1.0
    assert stats.beta(half, half, loc=-1.0, scale=2.0).sf(level) == pytest.approx(rate, rel=1e-6)


def test_geodesic_and_blockwise_have_the_same_affinity_and_graph(digits):
    tables = {
        "process": sheet(n=60, n_columns=150)[0],
        "few columns": sheet(n=60, n_columns=30)[0],
        "digits": digits[0][:120],
        "groups": groups(),
    }
    for name, X in tables.items():
        one, other = (
            quiet(IKD(2, strategy=strategy, refine=None), X)
            for strategy in ("geodesic", "blockwise")
        )
        assert one.settings_.affinity == other.settings_.affinity, name
        assert one.settings_.graph == other.settings_.graph, name
        for first, second in zip(one.graph_, other.graph_, strict=True):
            np.testing.assert_array_equal(first, second)


# What is chosen -----------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["auto", "blockwise", strategies.Geodesic.paper()], ids=str)
def test_samples_of_the_model_are_compared_by_correlations_on_a_threshold(strategy):
    X, _ = sheet(n=60, n_columns=400)
    model = quiet(IKD(2, strategy=strategy, refine=None), X)
    chosen = model.settings_
    assert chosen.affinity == "correlation"
    expected = graph.Threshold(5 / 20, n_neighbors=6, strongest=150, prune=False)
    assert chosen.graph == expected
    assert model.candidates_ == ()
    assert "400 columns look like samples of a Gaussian process" in chosen.reasons["affinity"]
    if strategy == "auto":
        assert chosen.strategy == strategies.Geodesic()


@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
def test_a_thousand_rows_are_no_border_of_the_graph(strategy):
    z = np.random.default_rng(1).uniform(0.0, 6.0, (1001, 2))
    X = gplvm_data(z, 400, noise=0.5, seed=1).X
    for n in (1000, 1001):
        model = quiet(IKD(2, strategy=strategy, refine=None), X[:n])
        assert affine_r2(z[:n], model.embedding_) > 0.98
        assert model.settings_.graph.s0 == 5 / 400**0.5


@pytest.mark.parametrize("seed", [1, 3])
def test_how_rows_are_compared_does_not_hang_on_the_refinement(seed):
    rng = np.random.default_rng(seed)
    bumps = np.exp(-(((rng.uniform(size=(90, 1)) - np.linspace(0.0, 1.0, 24)) / 0.12) ** 2))
    X = bumps * rng.lognormal(0.0, 0.5, (90, 1)) + 0.15 * rng.normal(size=(90, 24))
    affinities = [quiet(IKD(2, refine=how), X).settings_.affinity for how in ("auto", None)]
    assert affinities == ["euclidean", "euclidean"]


def test_the_first_candidate_is_the_one_that_was_used(digits):
    for X in (digits[0][:150], groups(), sheet(n=60, n_columns=30)[0], roll(150)[0]):
        model = quiet(IKD(2), X)
        first, *others = model.candidates_
        assert first.chosen
        assert not any(one.chosen for one in others)
        assert first.difference == 0.0
        assert first.affinity == model.settings_.affinity
        step = model.settings_.refine
        halves_agree = not model.agreement_ < model_selection.SUPPORTED
        if halves_agree:
            assert first.refine == (None if step is None else type(step).__name__.lower())
        gaps = [one.difference for one in others]
        assert gaps == sorted(gaps, reverse=True)
        for one in others:
            assert 0.0 <= one.score <= 1.0
            # None is ahead by more than the margin of a table as it is.
            assert one.difference <= 0.05 * first.score
        # The choice can be made by hand, and is the same.
        again = IKD(2, affinity=first.affinity, strategy=first.strategy, refine=first.refine)
        if halves_agree:
            np.testing.assert_array_equal(quiet(again, X).embedding_, model.embedding_)


@pytest.mark.parametrize("kind", ["roll", "bent", "linear", "scales"])
def test_a_row_beyond_those_that_candidates_are_compared_on_changes_no_choice(kind):
    rng = np.random.default_rng(5)
    latent = rng.uniform(-1.0, 1.0, (301, 2))
    clean = latent @ rng.normal(size=(2, 24))
    X = {
        "roll": roll(301)[0],
        "bent": np.tanh(2.0 * clean),
        "linear": clean,
        "scales": np.tanh(2.0 * clean) * 10.0 ** rng.uniform(-3.0, 3.0, 24),
    }[kind]
    X = X + 0.1 * X.std(axis=0) * rng.normal(size=X.shape)
    below, above = (quiet(IKD(2), X[:n]) for n in (300, 301))
    assert below.settings_.affinity == above.settings_.affinity
    assert below.settings_.strategy.name == above.settings_.strategy.name
    first, other = below.candidates_[0], above.candidates_[0]
    assert abs(first.score - other.score) < 3.0 * np.hypot(first.score_error, other.score_error)


def test_what_is_linear_is_solved_linearly():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(150, 2))
    X = latent @ rng.normal(size=(2, 40)) + 0.5 * rng.normal(size=(150, 40))
    model = quiet(IKD(2), X)
    assert model.settings_.strategy == strategies.Linear()
    assert affine_r2(latent, model.embedding_) > 0.95
    assert model.graph_ is None


def test_levels_and_gains_of_rows_are_no_structure():
    rng = np.random.default_rng(1)
    parts, line = rng.dirichlet([1.0, 1.0, 1.0], 150), np.linspace(0.0, 1.0, 80)
    bands = [np.exp(-(((line - middle) / 0.1) ** 2)) for middle in (0.2, 0.5, 0.8)]
    where = parts[:, :2]
    X = parts @ bands + 0.02 * rng.normal(size=(150, 80))
    X = rng.lognormal(0.0, 0.05, (150, 1)) * X + 3.0 * rng.normal(size=(150, 1))
    model = quiet(IKD(2), X)
    assert model.settings_.affinity == "correlation"
    levels = quiet(IKD(2, affinity="euclidean"), X)
    assert affine_r2(where, model.embedding_) > affine_r2(where, levels.embedding_) + 0.2


def test_columns_of_many_units_are_standardized():
    X, _ = roll(400)
    X = X * [1e-3, 1.0, 1e4]
    model = quiet(IKD(2), X)
    assert model.settings_.affinity == "standardized_euclidean"


def test_counts_are_compared_by_the_roots_of_their_proportions():
    rng = np.random.default_rng(2)
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, 200))[:, None]
    rate = 6.0 * np.exp(2.0 * np.cos(angle - np.linspace(0.0, 6.0, 30)) - 2.0)
    X = rng.poisson(rate * rng.lognormal(0.0, 0.5, (200, 1)) + 0.2)
    model = quiet(IKD(2), X)
    assert model.settings_.affinity == "hellinger"
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    assert affine_r2(circle, model.embedding_) > 0.9


# Two halves of the columns ------------------------------------------------------------------------


def test_the_likelihood_takes_the_place_of_stress_where_halves_disagree(digits):
    X = digits[0][:60]
    model = quiet(IKD(2), X)
    assert model.agreement_ < model_selection.SUPPORTED
    assert isinstance(model.settings_.refine, refine.Likelihood)
    assert model.settings_.refine.descent == "single"
    # Settings say it all: who asks for them gets the same map, and the same trust.
    again = quiet(IKD(**model.settings_.parameters()), X)
    assert np.array_equal(again.embedding_, model.embedding_)
    assert again.agreement_ == model.agreement_
    assert np.array_equal(again.standard_errors_, model.standard_errors_, equal_nan=True)
    assert "two halves of the columns disagree" in model.settings_.reasons["refine"]
    assert "the arrangement is weak" in str(model.settings_)
    # What was asked for is done all the same.
    asked = quiet(IKD(2, refine="stress"), X)
    assert isinstance(asked.settings_.refine, refine.Stress)


def bumps():
    """Forty columns, each a bump over a square."""
    rng = np.random.default_rng(0)
    where, middle = rng.uniform(size=(200, 2)), rng.uniform(size=(40, 2))
    sq_dist = ((where[:, None] - middle) ** 2).sum(axis=2)
    return np.exp(2.0 * np.exp(-sq_dist / (2.0 * 0.3**2)) + 0.05 * rng.normal(size=(200, 40)))


def test_stress_stays_where_halves_agree():
    wide = bumps()
    model = quiet(IKD(2), wide)
    assert model.agreement_ > 0.8
    assert isinstance(model.settings_.refine, refine.Stress)
    assert np.isnan(model.reliability_)
    assert "refine='likelihood'" in model.settings_.reasons["standard errors"]


def test_a_likelihood_descends_locally_where_halves_agree():
    wide = bumps()
    model = quiet(IKD(2, refine="likelihood"), wide)
    assert model.settings_.refine.descent == "local"
    assert model.kernel_ == kernels.RationalQuadratic()
    assert "they come with refine='likelihood'" in model.settings_.reasons["standard errors"]
    new = model.transform(wide[:20] + 0.01)
    assert np.abs(new - model.embedding_[:20]).max() < 0.5 * model.embedding_.std()


def test_reliability_is_no_more_than_halves_support():
    kernel, latent = kernels.Matern(), np.random.default_rng(5).normal(size=(70, 2))
    X = gplvm_data(latent, 24, noise=0.3, kernel=kernel, seed=5).X
    asked = {"strategy": "geodesic", "affinity": "correlation", "refine": "likelihood"}
    model = quiet(IKD(2, kernel=kernel, **asked), X)
    half = np.sqrt(model.agreements_.max())
    assert model.reliability_ == pytest.approx(2.0 * half / (1.0 + half))
    by_errors = gplvm.reliability(model.embedding_, model.standard_errors_)
    assert by_errors > model.reliability_ + 0.1


def naive_agreement(first, second):
    """R² of a linear fit of one onto the other by rotation, reflection, shift and scale (scipy)."""
    from scipy.spatial import procrustes

    return 1.0 - procrustes(first, second)[2]


def tanh_features(noise, n=90):
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(n, 2))
    return np.tanh(latent @ rng.normal(size=(2, 48))) + noise * rng.normal(size=(n, 48))


def refitted_halves(model, X):
    """R² between fits of each split by the settings of the model."""
    plan, parts = model.settings_, model_selection.folds(X)
    step = {"strategy": plan.strategy, "affinity": plan.affinity, "refine": plan.refine}
    for other in parts[1:]:
        half = parts[0] | other
        embedded = [quiet(IKD(2, **step), X[:, mask]).embedding_ for mask in (half, ~half)]
        yield naive_agreement(*embedded)


@pytest.mark.parametrize("noise", [0.3, 1.0])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"refine": None},
        {"strategy": "blockwise"},
        {"strategy": "blockwise", "refine": None},
        {"strategy": strategies.Geodesic.paper()},
        {"strategy": strategies.Geodesic.paper(), "refine": None},
    ],
)
def test_the_agreement_is_that_of_the_map_that_is_shown(noise, settings):
    X = tanh_features(noise)
    model = quiet(IKD(2, **settings), X)
    found = list(refitted_halves(model, X))
    np.testing.assert_allclose(model.agreements_, found, atol=1e-6)
    assert model.agreement_ == pytest.approx(np.mean(found), abs=1e-6)
    plan, parts = model.settings_, model_selection.folds(X)
    step = {"strategy": plan.strategy, "affinity": plan.affinity, "refine": plan.refine}
    r2 = []
    for part in parts:
        Z = quiet(IKD(2, **step), X[:, ~part]).embedding_
        r2.append(model_selection.held_out_r2(Z, X[:, part]).sum())
    assert model.held_out_r2_ == pytest.approx(np.mean(r2), abs=1e-6)


@pytest.mark.parametrize("n", [100, 101])
def test_a_reference_row_need_not_be_in_the_sample(n, monkeypatch):
    monkeypatch.setattr(limits, "COMPARED", 100)
    X = tanh_features(0.3, n=n)
    last, center = (
        quiet(IKD(2, strategy=strategies.Eigen(reference=at)), X) for at in (n - 1, "center")
    )
    assert last.agreement_ == pytest.approx(center.agreement_, abs=0.02)
    assert last.held_out_r2_ == pytest.approx(center.held_out_r2_, abs=0.02)


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_the_agreement_of_a_likelihood_is_that_of_likelihoods(noise):
    X = tanh_features(noise, n=40)
    model = quiet(IKD(2, strategy="geodesic", affinity="correlation", refine="likelihood"), X)
    wanted = np.mean(list(refitted_halves(model, X)))
    assert model.agreement_ == pytest.approx(wanted, abs=0.1)
    closed = quiet(IKD(2, strategy="geodesic", affinity="correlation", refine="stress"), X)
    assert closed.agreement_ > wanted + 0.2


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_last_digits_move_no_agreement(noise):
    X = tanh_features(noise)
    agreement = quiet(IKD(2), X).agreement_
    for seed in range(3):
        rng = np.random.default_rng(seed)
        nudged = X + 1e-4 * X.std(axis=0) * rng.normal(size=X.shape)
        assert quiet(IKD(2), nudged).agreement_ == pytest.approx(agreement, abs=0.05)
        other = X[:, rng.permutation(X.shape[1])]
        assert quiet(IKD(2), other).agreement_ == pytest.approx(agreement, abs=1e-6)


def test_another_refinement_is_said_to_be_close():
    said = "another refinement was close, by {}".format
    near = quiet(IKD(2), load_digits().data[:200]).settings_
    assert near.reasons["close"] == said("the agreement of halves")
    # From a hundred columns samples of the model are told from other tables.
    few = quiet(IKD(2), gp_mapping(fixed_latent("medium", 60), 105, seed=0)).settings_
    assert few.reasons["close"].startswith(said("how much the columns look like samples"))
    sure = quiet(IKD(2), bumps()).settings_
    assert "close" not in sure.reasons


def test_a_roll_is_unrolled():
    X, latent = roll(800)
    model = quiet(IKD(2), X)
    assert model.settings_.strategy.name == "geodesic"
    assert AFFINITIES[model.settings_.affinity].euclidean
    assert affine_r2(latent, model.embedding_) > 0.99


@pytest.mark.parametrize(
    "settings_",
    [
        {"strategy": "geodesic"},
        {"graph": 9},
        {"kernel": "matern", "affinity": "correlation"},
        {"refine": "stress"},
        {"affinity": "cosine"},
    ],
    ids=str,
)
def test_what_was_asked_for_is_used_and_has_no_reason(settings_):
    X, _ = sheet(n=60, n_columns=30)
    model = quiet(IKD(2, **settings_), X)
    name, value = next(iter(settings_.items()))
    assert name not in model.settings_.reasons
    used = getattr(model.settings_, name)
    if name == "affinity":
        assert used == value
    elif name == "graph":
        assert used == graph.Neighbors(9, prune=True)
    elif name == "kernel":
        assert model.kernel_ == kernels.Matern()
    else:
        assert (getattr(used, "name", "") or type(used).__name__.lower()) == value
    # What has no graph is not tried where something on a graph was asked for.
    if "affinity" not in settings_:
        assert model.settings_.strategy.name == "geodesic"


def test_everything_that_was_chosen_has_a_reason_and_is_printed(digits):
    fits = ((IKD("auto"), digits[0][:150], "n_components"), (IKD(2), roll(600)[0], "graph"))
    for model, X, more in fits:
        quiet(model, X)
        text = str(model.settings_)
        for name in ("strategy", "affinity", "refine", more):
            value, reason = getattr(model.settings_, name), model.settings_.reasons[name]
            (line,) = [line for line in text.splitlines() if f"{name}={value!r}" in line]
            assert line.endswith(f": {reason}")
        # By itself it says nothing of a map.
        assert "held-out R²" not in text
        assert "='auto'" not in text
    named = IKD(
        2, strategy="geodesic", graph=8, kernel="matern", affinity="cosine", refine=None,
        n_landmarks=None,
    )  # fmt: skip
    assert set(quiet(named, digits[0][:80]).settings_.reasons) == {"standard errors"}


def test_very_many_columns_are_compared_by_a_sample_of_them(monkeypatch):
    monkeypatch.setattr(limits, "COLUMNS_COMPARED", 4000)
    X = np.maximum(groups(n=45, p=5000) - 4.0, 0.0)
    dense, stored = (IKD(2, refine="stress").fit(table) for table in (X, sp.csr_array(X)))
    assert dense.settings_.affinity == stored.settings_.affinity == "euclidean"
    np.testing.assert_allclose(dense.embedding_, stored.embedding_, atol=1e-6)
    few = IKD(2, refine="stress").fit(X[:, :4000])
    assert abs(few.agreement_ - dense.agreement_) < 0.1


def test_the_order_of_rows_does_not_matter():
    X, _ = sheet(n=60, n_columns=30)
    order = np.random.default_rng(0).permutation(60)
    one, other = quiet(IKD(2), X).embedding_, quiet(IKD(2), X[order]).embedding_
    np.testing.assert_allclose(other, one[order], atol=1e-8)


def test_errors_of_a_candidate_are_not_swallowed(monkeypatch):
    def broken(*given):
        raise ZeroDivisionError("a fault of a candidate")

    monkeypatch.setattr(strategies.Geodesic, "solve", broken)
    with pytest.raises(ZeroDivisionError, match="a fault of a candidate"):
        IKD(2).fit(sheet(n=60, n_columns=30)[0])


@pytest.mark.parametrize("leave_out", ["column", "tenth of the rows"])
def test_the_embedding_is_stable_without_a_column_or_a_tenth_of_the_rows(leave_out):
    tables = [groups(1), sheet(n=80, n_columns=60)[0], np.exp(sheet(1, n=80, n_columns=60)[0])]
    changed = 0
    for X in tables:
        whole = quiet(IKD(2), X)
        for seed in range(3):
            rng = np.random.default_rng(seed)
            keep = np.sort(rng.permutation(80)[:72])
            part = X[keep] if leave_out != "column" else np.delete(X, rng.integers(60), axis=1)
            again = quiet(IKD(2), part)
            rows = keep if leave_out != "column" else slice(None)
            changed += again.settings_.affinity != whole.settings_.affinity
            assert affine_r2(whole.embedding_[rows], again.embedding_) > 0.5
    assert changed <= 2


# The score ----------------------------------------------------------------------------------------


def naive_prediction(latent, X):
    """Mean R2 over principal directions that neighbors predict, of three numbers of neighbors."""
    directions = np.linalg.svd(stats.zscore(X), full_matrices=False)[0]
    near = NearestNeighbors(n_neighbors=20).fit(latent).kneighbors(return_distance=False)
    errors = [((directions - directions[near[:, :k]].mean(axis=1)) ** 2) for k in (5, 10, 20)]
    scores = 1.0 - np.mean(errors, axis=0).sum(axis=0) / (directions**2).sum(axis=0)
    return np.maximum(scores, 0.0).mean()


def test_the_score_is_that_of_a_naive_twin():
    rng = np.random.default_rng(3)
    latent = rng.normal(size=(110, 2))
    X = np.sin(latent @ rng.normal(size=(2, 3))) + 0.3 * rng.normal(size=(110, 3))
    directions = model_selection.principal_directions(X)
    np.testing.assert_allclose(directions.T @ directions, np.eye(3), atol=1e-9)
    by_point = model_selection.direction_score(latent, directions)
    assert by_point.sum() == pytest.approx(naive_prediction(latent, X), rel=1e-9)


def test_the_held_out_r2_is_that_of_a_naive_twin():
    rng = np.random.default_rng(4)
    latent = rng.normal(size=(80, 2))
    X = np.sin(latent @ rng.normal(size=(2, 5))) * [1.0, 2.0, 5.0, 0.1, 1.0]
    near = NearestNeighbors(n_neighbors=10).fit(latent).kneighbors(return_distance=False)
    residual = ((X - X[near].mean(axis=1)) ** 2).sum()
    wanted = 1.0 - residual / ((X - X.mean(axis=0)) ** 2).sum()
    assert model_selection.held_out_r2(latent, X).sum() == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("noise", [0.02, 0.5])
def test_the_held_out_r2_of_a_plane_is_what_it_predicts(noise):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 200)) + noise * rng.normal(size=(60, 200))
    first, *_ = quiet(IKD(2), X).candidates_
    assert first.r2 > 0.5
    assert not any(NOTHING in text for text in warned(IKD(2), X))


def test_folds_hold_every_column_once_and_do_not_depend_on_units_or_orders():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 30))
    parts = model_selection.folds(X)
    assert np.sum(parts, axis=0).tolist() == [1] * 30
    rows, columns = rng.permutation(50), rng.permutation(30)
    for units, origin in ((3.0, 7.0), (10.0 ** rng.uniform(-180.0, 100.0, 30), 0.0)):
        again = model_selection.folds(units * X[rows][:, columns] + origin)
        for part, other in zip(parts, again, strict=True):
            np.testing.assert_array_equal(part[columns], other)


@pytest.mark.parametrize(("different", "sizes"), [(7, [10]), (8, [2, 2, 2, 2])])
def test_fewer_than_eight_different_columns_are_in_one_fold(different, sizes):
    X = np.random.default_rng(0).normal(size=(50, different))
    X = np.c_[X, X[:, : sum(sizes) - different]]
    assert [np.count_nonzero(part) for part in model_selection.folds(X)] == sizes


def test_columns_that_follow_one_another_are_held_out_in_runs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 160)).cumsum(axis=1)
    for part in model_selection.folds(X):
        assert np.count_nonzero(np.diff(part)) <= 8


# Covariances that were given ----------------------------------------------------------------------


def random_curve(seed, n_points, n_components):
    """Points along a few waves, some length-scales across."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 2.0 * np.pi, n_points)[:, None]
    waves = [
        rng.normal(size=n_components) / order * np.sin(order * t * rng.uniform(0.5, 1.2) + shift)
        for order, shift in enumerate(rng.uniform(0.0, 6.3, size=(4, n_components)), 1)
    ]
    points = np.sum(waves, axis=0)
    return points * rng.uniform(1.0, 3.0) / points.std()


@pytest.mark.parametrize("kernel", ["squared_exponential", "rational_quadratic", "matern"])
@pytest.mark.parametrize("strategy", [strategies.Blockwise.paper(), "blockwise"])
def test_exact_covariances_of_curves_are_solved_exactly(kernel, strategy):
    """With ten neighbors 1 in 8 of them is below .999."""
    for seed in range(4):
        points = random_curve([40, seed], (60, 100, 150, 200)[seed], 2 + seed % 2)
        cov = kernels.get(kernel).covariance(((points[:, None] - points) ** 2).sum(axis=-1))
        model = IKD(
            points.shape[1], affinity="precomputed", kernel=kernel, strategy=strategy, refine=None
        )
        assert affine_r2(points, model.fit_transform(cov)) > 0.999
        assert "agree with the kernel" in model.settings_.reasons["graph"]


def test_given_covariances_that_are_not_exact_are_left_to_their_order():
    latent = fixed_latent("medium")
    of_columns = np.cov(gp_mapping(latent, 300, seed=0))
    squares = ((latent[:, None] - latent) ** 2).sum(axis=-1)
    of_another_kernel = kernels.RationalQuadratic(length_scale=0.5).covariance(squares)
    for cov in (of_columns, of_another_kernel):
        model = quiet(IKD(3, affinity="precomputed", strategy="geodesic", refine=None), cov)
        assert model.settings_.graph.__class__ is graph.Neighbors


def test_graphs_of_exact_covariances_stay_sparse():
    points = 3.0 * np.random.default_rng(0).normal(size=(900, 2))
    kernel = kernels.SquaredExponential()
    cov = kernel.covariance(((points[:, None] - points) ** 2).sum(axis=-1))
    model = IKD(2, affinity="precomputed", kernel=kernel, strategy="geodesic", refine=None).fit(cov)
    assert 150.0 < 2 * graph.edges(model.graph_)[0].size / len(points) < 250.0
    assert affine_r2(points, model.embedding_) > 0.999
