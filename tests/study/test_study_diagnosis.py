"""What an embedding can be worth: counts against plain ones, the bootstrap, words and warnings."""

import warnings
from dataclasses import FrozenInstanceError, replace
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

from ikd_graph import IKD, _limits, auto, generative, kernels
from ikd_graph._stages import Stages
from ikd_graph.study import datasets, metrics
from ikd_graph.study.diagnosis import _diagnose, diagnose
from ikd_graph.study.diagnosis._record import problems

N_POINTS = 60


def drawn(n_observed, noise, *, seed=0, n_points=N_POINTS):
    """Data of a line, drawn from the model."""
    line = np.linspace(0.0, 4.0, n_points)[:, None]
    return datasets.gplvm_data(line, n_observed, noise=noise, seed=seed).X


def quietly(X, n_components=1, **more):
    """A diagnosis whose warnings are looked at elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return diagnose(X, n_components, **{"n_draws": 2, **more})


def whole(X):
    """The closed form of a table by correlations."""
    return IKD(1, affinity="correlation", refine=None).fit(X)


@pytest.fixture(scope="module")
def strong():
    return diagnose(drawn(400, 0.1, n_points=40), 1, n_draws=2)


@pytest.fixture(scope="module")
def weak():
    return quietly(drawn(40, 3.0, n_points=24), 2)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_observed", "noise"), [(40, 1.0), (150, 0.5), (400, 0.1)])
def test_counts_of_correlations_are_those_of_networkx(seed, n_observed, noise):
    X = drawn(n_observed, noise, seed=seed)
    found = _diagnose._trust(whole(X), X)
    corr = np.corrcoef(X)
    pairs = corr[np.triu_indices(N_POINTS, 1)]
    g = nx.from_numpy_array(np.triu(corr > min(5 / n_observed**0.5, 0.5), 1))
    parts = [len(part) for part in nx.connected_components(g)]
    assert found["share_above_two"] == np.mean(pairs > 2 / n_observed**0.5)
    assert found["share_above_five"] == np.mean(pairs > 5 / n_observed**0.5)
    assert found["n_edges"] == g.number_of_edges()
    assert found["mean_degree"] == pytest.approx(np.mean([k for _, k in g.degree]))
    assert (found["components"], found["largest_component"]) == (len(parts), max(parts))


@pytest.mark.parametrize("seed", range(3))
def test_the_graph_is_whole_below_its_weakest_link_and_not_above(seed):
    X = drawn(100, 0.7, seed=seed)
    weakest = _diagnose._trust(whole(X), X)["connected_up_to"]
    corr = np.corrcoef(X)
    for level, one_piece in ((weakest - 1e-9, True), (weakest + 1e-9, False)):
        assert nx.is_connected(nx.from_numpy_array(np.triu(corr > level, 1))) is one_piece


def test_good_data_are_foretold_to_be_good_without_a_warning(strong):
    assert strong.warnings == ()
    assert strong.model_holds
    assert strong.holds_together
    assert strong.enough_trusted
    assert strong.predicted_r2 > 0.95
    # The noise has a hundredth of the signal's variance.
    assert strong.noise_share == pytest.approx(0.01, abs=0.01)


@pytest.mark.slow
def test_bad_data_are_warned_of_once_and_in_every_respect():
    with pytest.warns(
        UserWarning, match=r"expected R².*; (the graph|correlations above) .*; too few"
    ) as told:
        found = diagnose(drawn(40, 3.0), 2, n_draws=2)
    assert len(told) == 1
    assert str(told[0].message) == "; ".join(found.warnings)
    assert told[0].filename == __file__
    assert not found.holds_together
    assert not found.enough_trusted
    assert found.predicted_r2 < 0.8


@pytest.mark.slow
def test_more_measurements_promise_more(strong, weak):
    middle = quietly(drawn(100, 1.0))
    assert weak.predicted_r2 < middle.predicted_r2 < strong.predicted_r2
    assert weak.share_above_five < middle.share_above_five < strong.share_above_five


def test_the_prediction_is_the_mean_of_draws_halves_and_resampling(weak):
    assert len(weak.draws_r2) == 2
    drawn_r2 = np.mean(weak.draws_r2) * weak.agreement
    expected = np.mean([drawn_r2, weak.halves_r2, weak.resampled_r2])
    assert weak.predicted_r2 == pytest.approx(expected)
    assert weak.spread_r2 == pytest.approx(np.std(weak.draws_r2, ddof=1))


@pytest.mark.slow
def test_fits_of_two_kernels_are_compared_where_the_likelihood_can_tell_kernels(monkeypatch):
    X = drawn(150, 1.0)
    found = quietly(X)
    likeliest = IKD(1).fit(X)
    usual = IKD(1, kernel="squared_exponential").fit(X)
    assert found.refine == "likelihood"
    expected = metrics.affine_r2(likeliest.embedding_, usual.embedding_)
    assert found.agreement == pytest.approx(expected)
    assert found.likeliest_kernel == type(likeliest.kernel_).__name__
    assert found.likeliest_kernel in found.summary()


def test_halves_speak_for_the_whole_by_the_formula_of_spearman_and_brown(monkeypatch):
    X = drawn(101, 0.3)
    model = IKD(1, affinity="correlation", refine=None).fit(X)
    columns = np.random.default_rng(3).permutation(101)
    first, second = (clone(model).fit_transform(X[:, c]) for c in np.split(columns, [50]))
    link = abs(np.corrcoef(first[:, 0], second[:, 0])[0, 1])
    assert _diagnose._halves(model, X, 3) == pytest.approx(2 * link / (1 + link))
    assert np.isnan(_diagnose._halves(model, X[:, :19], 3))
    # A row that varies in one column only is constant in one of the halves.
    X[0], X[0, 0] = 1.0, 2.0
    assert _diagnose._halves(model, X, 3) == 0.0


def test_resampling_compares_the_embedding_with_those_of_columns_drawn_again():
    X = drawn(80, 0.3)
    model = IKD(1, refine=None).fit(X)
    rng, wanted = np.random.default_rng(3), []
    for _ in range(2):
        again = IKD(1, refine=None).fit_transform(X[:, rng.integers(0, 80, 80)])
        wanted.append(np.corrcoef(model.embedding_[:, 0], again[:, 0])[0, 1] ** 2)
    assert _diagnose._resampled(model, X, 3) == pytest.approx(np.mean(wanted))


def test_draws_have_the_covariance_of_the_model_and_are_fitted_with_its_settings(monkeypatch):
    seen = []

    class Recorder:
        """Stands for the estimator; finds the first true coordinate and no other."""

        def __init__(self, **settings):
            seen.append(settings)

        def fit_transform(self, X):
            """Keep the data."""
            seen.append(X)
            return latent[:, :1]

    latent = np.random.default_rng(0).normal(size=(12, 2))
    kernel = kernels.Matern(nu=2.5, length_scale=0.8)
    settings = {"n_components": 2, "strategy": "eigen", "affinity": "cosine"}
    monkeypatch.setattr(_diagnose, "IKD", Recorder)
    noise = generative.NoiseModel(3.0, 0.25, 0.0, kernel)
    model = SimpleNamespace(embedding_=latent, kernel_=kernel, noise_model=lambda: noise)
    source = _diagnose._process_of(model, 40_000)
    draws = _diagnose._bootstrap(source, settings, 2, 0, Stages())
    given, first, second = seen
    assert given == settings
    assert not np.array_equal(first, second)
    gaps = latent[:, None, :] - latent[None, :, :]
    expected = 3.0 * kernel.covariance((gaps**2).sum(axis=2)) + 0.25 * np.eye(12)
    for X in (first, second):
        np.testing.assert_allclose(X @ X.T / 40_000, expected, atol=0.1)
    r2 = (1.0 + np.corrcoef(latent.T)[0, 1] ** 2) / 2.0
    assert draws == pytest.approx((r2, r2))


@pytest.mark.slow
def test_the_same_seed_makes_the_same_diagnosis_and_another_other_draws(weak):
    X = drawn(40, 3.0, n_points=24)
    assert quietly(X, 2) == weak
    assert quietly(X, 2, random_state=1).draws_r2 != weak.draws_r2


def test_words_say_the_numbers_and_suggest_settings_that_the_estimator_takes(strong, weak):
    assert str(weak) == weak.summary()
    assert f"{weak.predicted_r2:.2f} ± {weak.spread_r2:.2f}" in weak.summary()
    assert all(f"warning: {text}" in weak.summary() for text in weak.warnings)
    assert "warning" not in strong.summary()
    # Points that are all far apart have the covariance of noise.
    assert "cannot be told apart" in weak.summary()
    assert "cannot be told apart" not in strong.summary()
    assert "similarity above 0.25 or 6 nearest neighbours" in strong.summary()
    latent = IKD(1, **strong.parameters).fit_transform(drawn(400, 0.1))
    np.testing.assert_array_equal(latent, IKD(1).fit_transform(drawn(400, 0.1)))


def test_a_diagnosis_cannot_change(strong):
    with pytest.raises(FrozenInstanceError, match="predicted_r2"):
        strong.predicted_r2 = 1.0


def test_each_warning_has_its_own_cause(strong):
    assert problems(strong) == []
    planted = (
        (replace(strong, predicted_r2=0.79), "expected R² is 0.79"),
        (replace(strong, predicted_r2=0.85, spread_r2=0.1), "0.85 ± 0.10, which may be below 0.8"),
        (replace(strong, graph_components=2), "has 2 separate components"),
        (replace(strong, largest_component=35), "connect only 35 of 40 points"),
        (replace(strong, mean_degree=1.9), "too few correlations can be trusted: 1.9 per point"),
    )
    for found, words in planted:
        (said,) = problems(found)
        assert words in said
    # A stray point or two is no reason to warn.
    assert problems(replace(strong, components=3, largest_component=38)) == []


def test_data_off_the_model_are_said_to_be():
    X = drawn(150, 0.1) * np.linspace(0.2, 5.0, N_POINTS)[:, None]
    found = quietly(X)
    assert not found.model_holds
    assert found.refine == "stress"
    assert any("trust it less" in text for text in found.suggestions)


@pytest.mark.slow
def test_many_points_are_sampled_and_the_suggestion_is_for_all(monkeypatch):
    monkeypatch.setattr(_limits, "DIAGNOSED_WHOLE", 50)
    monkeypatch.setattr(_limits, "DIAGNOSED_SAMPLE", 24)
    X = drawn(200, 0.1)
    found = quietly(X)
    assert (found.n_points, found.n_used) == (N_POINTS, 24)
    assert "24 points, chosen at random, were examined" in found.summary()
    chosen = auto.moments(X)
    assert found.spread_ratio != chosen.spread_ratio
    assert quietly(X) == found


def test_many_points_are_simulated_by_stress(monkeypatch):
    monkeypatch.setattr(_diagnose, "_LIKELIHOOD_ROWS", 40)
    found = quietly(drawn(150, 0.1))
    assert found.refine == "stress"
    assert type(found.parameters["refine"]).__name__ == "Likelihood"


def test_samples_of_the_model_of_counts_are_compared_as_numbers():
    latent = np.linspace(0.0, 3.0, 30)[:, None]
    rng = np.random.default_rng(1)
    counts = rng.poisson(4.0 * np.exp(np.cos(latent - rng.uniform(0.0, 6.0, 40))))
    parameters = {"n_components": 1, "affinity": "hellinger", "refine": "stress"}
    model = IKD(**parameters, strategy="geodesic").fit(counts)
    source = _diagnose._process_of(model, 40)
    # The one affinity that takes no values below zero, which samples of a Gaussian process have.
    draws = _diagnose._bootstrap(source, parameters, 2, 0, Stages())
    assert np.isfinite(draws).all()


@pytest.mark.slow
def test_silent_rows_of_counts_are_looked_at_too():
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.exp(drawn(40, 0.1, n_points=30)))
    counts[3] = 0
    found = quietly(counts)
    assert found.n_used == 30
    assert found.components > 1


@pytest.mark.parametrize(
    ("X", "more", "message"),
    [
        (np.ones((5, 4)), {}, "rows of X must vary"),
        (np.eye(5), {"n_components": 5}, "n_components must be less than the number of points"),
        (np.eye(5), {"n_draws": 1}, "n_draws must be an integer at least 2, got 1"),
        (np.full((5, 4), np.nan), {}, "contains NaN"),
    ],
)
def test_what_cannot_be_diagnosed_says_why(X, more, message):
    with pytest.raises(ValueError, match=message):
        diagnose(X, **more)


def test_a_latent_of_principal_components_is_simulated_by_lines():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(300, 2))
    signal = latent @ rng.normal(size=(2, 24))
    X = signal + 0.5 * rng.normal(size=signal.shape)
    share = 0.25 / X.var(axis=0).mean()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = diagnose(X, n_draws=2)
    assert found.likeliest_kernel == "Linear"
    assert found.noise_share == pytest.approx(share, rel=0.1)
    real = metrics.affine_r2(latent, IKD(2).fit(X).embedding_)
    assert np.mean(found.draws_r2) == pytest.approx(real, abs=0.01)
    assert "kernel" not in found.findings()["agreement"]
    assert "assume" not in found.summary()


@pytest.mark.parametrize("noise", [1.0, 8.0])
def test_what_noise_adds_to_lines_is_not_simulated(noise):
    rng = np.random.default_rng(1)
    signal = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 40))
    X = signal + noise * rng.normal(size=signal.shape)
    X -= X.mean(axis=0)
    u, values, v = np.linalg.svd(X, full_matrices=False)
    kept = _diagnose._without_noise((u[:, :2] * values[:2]) @ v[:2], noise**2)
    left = np.linalg.svd(kept, compute_uv=False)[:2]
    if noise == 8.0:  # the two largest values are those of noise alone
        assert (left < 0.5 * values[:2]).all()
    else:
        np.testing.assert_allclose(left, np.linalg.svd(signal, compute_uv=False)[:2], rtol=0.05)
    assert np.array_equal(_diagnose._without_noise(X, 0.0).round(9), X.round(9))
