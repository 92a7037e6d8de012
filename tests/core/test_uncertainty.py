"""Error bars hold the truth, and say so where there are none."""

import warnings

import numpy as np
import pytest
from reference_gplvm import central_difference, naive_covariance, naive_information
from scipy.linalg import orthogonal_procrustes
from scipy.stats import spearmanr
from tables import process, quiet, sheet, warned

from ikd_graph import IKD, gplvm, kernels, refine

KERNEL = kernels.Matern()


def sampled(latent, n_columns, noise=0.1, seed=0, kernel=KERNEL):
    """Rows of the model over an embedding."""
    model = naive_covariance(latent, kernel.covariance, 1.0, noise)
    draws = np.random.default_rng(seed).standard_normal((len(latent), n_columns))
    return np.linalg.cholesky(model) @ draws


def fitted(latent, rows, kernel=KERNEL, noise=0.1):
    """Process at the maximum-likelihood embedding near a given one."""
    cov = gplvm.sample_covariance(rows)
    fit = refine.likelihood(cov, rows.shape[1], kernel, init=latent)
    return gplvm.GaussianProcess(
        fit.latent, rows, fit.kernel, fit.variance, fit.noise, centered=True
    )


def aligned(truth, estimate, of=slice(None)):
    """The truth in the frame of an estimate, rigidly aligned on some rows."""
    middle, frame = truth[of].mean(axis=0), estimate[of].mean(axis=0)
    rotation = orthogonal_procrustes(truth[of] - middle, estimate[of] - frame)[0]
    return (truth - middle) @ rotation + frame


def coverage(truth, estimate, errors, sds=1.96):
    """Fraction of coordinates within so many standard errors."""
    return np.mean(np.abs(aligned(truth, estimate) - estimate) < sds * errors)


@pytest.mark.parametrize("kernel", [KERNEL, kernels.SquaredExponential()], ids=repr)
def test_column_scores_equal_finite_differences(kernel):
    latent = np.random.default_rng(0).normal(size=(6, 2))
    rows = sampled(latent, 3)

    def value(vector):
        model = naive_covariance(vector[:12].reshape(6, 2), kernel.covariance, *np.exp(vector[12:]))
        inverse, log_det = np.linalg.inv(model), np.linalg.slogdet(model)[1]
        return -0.5 * (np.einsum("ic,ij,jc->c", rows, inverse, rows) + log_det)

    at = np.append(latent.ravel(), np.log([1.3, 0.2]))
    wanted = [central_difference(lambda v, c=c: value(v)[c], at) for c in range(3)]
    scores = gplvm.column_scores(latent, rows, kernel, 1.3, 0.2)
    np.testing.assert_allclose(scores.T, wanted, rtol=1e-4, atol=1e-6)


def test_errors_are_those_of_the_naive_information_but_for_a_factor():
    latent = np.random.default_rng(1).normal(size=(12, 2))
    at = fitted(latent, sampled(latent, 5000))
    known = 4999 * naive_information(at.points, KERNEL.covariance, at.variance, at.noise)
    # The marginal of the latent: the variances are unknown, and rigid motions carry nothing.
    of_latent = known[:24, :24] - known[:24, 24:] @ np.linalg.solve(
        known[24:, 24:], known[24:, :24]
    )
    naive = np.sqrt(np.diagonal(np.linalg.pinv(of_latent, rcond=1e-7))).reshape(12, 2)
    bars = gplvm.posterior(at, n_simulations=8)
    np.testing.assert_allclose(bars.standard_errors, np.sqrt(bars.factor) * naive, rtol=0.02)
    # The likelihood of so many columns is a parabola: simulated tables find nothing else.
    assert 0.7 < bars.factor < 1.5


def test_errors_turn_with_the_latent_and_follow_the_order_of_the_rows():
    latent = np.random.default_rng(2).normal(size=(30, 2)) * [1.5, 1.0]
    rows = sampled(latent, 100)
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    order = np.random.default_rng(0).permutation(30)

    def posterior(points, table):
        return gplvm.posterior(
            gplvm.GaussianProcess(points, table, KERNEL, 1.0, 0.1, centered=True), 7
        )

    bars = posterior(latent, rows)
    turned = posterior(latent @ turn + 3.0, rows)
    wanted = np.einsum("ba,ibc,cd->iad", turn, bars.covariances, turn)
    np.testing.assert_allclose(turned.covariances, wanted, rtol=1e-2, atol=2e-3)
    mixed = posterior(latent[order], rows[order])
    np.testing.assert_allclose(mixed.standard_errors, bars.standard_errors[order], rtol=1e-3)


def test_columns_that_differ_or_follow_one_another_count_less():
    latent = np.random.default_rng(3).normal(size=(25, 2))
    rows, rng = sampled(latent, 300), np.random.default_rng(0)
    loud = rows * np.exp(0.8 * rng.normal(size=300) - 0.64)
    of_model = gplvm.posterior(fitted(latent, rows))
    of_loud = gplvm.posterior(fitted(latent, loud))
    assert of_model.free_columns > 270
    assert of_loud.free_columns < 150
    assert of_loud.standard_errors.mean() > 1.2 * of_model.standard_errors.mean()
    smooth = (rows[:, 1:] + rows[:, :-1]) / np.sqrt(2.0)
    assert gplvm.posterior(fitted(latent, smooth)).free_columns < 240


def test_the_embedding_has_errors_that_rows_and_files_agree_about(tmp_path):
    X, truth = sheet(4, 90, 150, 0.5)
    model = IKD(2, random_state=0).fit(X[:70])
    errors = model.standard_errors_
    assert errors.shape == (70, 2)
    assert "reliability" in model.settings_.reasons["standard errors"]
    assert coverage(truth[:70], model.embedding_, errors) > 0.85
    placed, std = model.transform(X[60:], return_std=True)
    np.testing.assert_array_equal(placed, model.transform(X[60:]))
    np.testing.assert_array_equal(std[:10], errors[60:])
    for number in (12, 25):
        alone = model.transform(X[60 + number][None], return_std=True)[1][0]
        np.testing.assert_array_equal(alone, std[number])
    model.save(tmp_path / "model.ikd")
    again = IKD.load(tmp_path / "model.ikd")
    np.testing.assert_array_equal(again.standard_errors_, errors)
    np.testing.assert_array_equal(again.transform(X[60:], return_std=True)[1], std)
    assert again.reliability_ == model.reliability_
    assert again.inverse_transform(placed, return_std=True)[1].shape == (30,)


@pytest.mark.parametrize("refinement", ["stress", None])
def test_latents_by_stress_and_closed_form_have_wider_errors(refinement):
    X, truth = sheet(5, 80, 150, 0.5)
    model = quiet(IKD(2, refine=refinement), X)
    most_likely = quiet(IKD(2, kernel="squared_exponential"), X)
    assert model.standard_errors_.mean() > most_likely.standard_errors_.mean()
    assert model.reliability_ < most_likely.reliability_
    assert coverage(truth, model.embedding_, model.standard_errors_) > 0.9


def test_another_optimum_as_likely_widens_the_errors():
    latent = np.random.default_rng(5).uniform(size=(40, 2)) * [4.0, 3.0]
    folded = np.where(latent[:, :1] > 3.0, [6.0, 0.0] + [-1.0, 1.0] * latent, latent)
    at = gplvm.GaussianProcess(latent, sampled(latent, 400), KERNEL, 1.0, 0.1, centered=True)
    alone, unlikely, rival = (
        gplvm.posterior(at, optima=[refine.OptimumRecord("", 0.0, 1.0, folded, 0.5, weight)])
        for weight in (0.0, 1e-3, 0.4)
    )
    moved = np.linalg.norm(aligned(folded, latent) - latent, axis=1) > 0.8
    assert rival.standard_errors[moved].mean() > 2.0 * alone.standard_errors[moved].mean()
    # Simulated tables are as far from the truth as so unlikely a one.
    np.testing.assert_allclose(unlikely.standard_errors, alone.standard_errors, rtol=0.3)


def test_what_the_data_do_not_tell_apart_is_said_and_counts(tmp_path):
    t = np.linspace(0.0, 4.0, 60)
    truth = np.c_[np.cos(2.0 * t), np.sin(2.0 * t), t / 2.0] / 0.8
    model = quiet(IKD(3, random_state=0), process(truth, 120, 0.7, seed=3))
    rivals = [record for record in model.optima_ if record.weight > 0.05 and record.distance > 0.1]
    assert rivals
    assert "cannot tell this arrangement from" in model.settings_.reasons["optima"]
    assert "cannot tell this arrangement from" in str(model.settings_)
    assert model.reliability_ < 0.85
    model.save(tmp_path / "model.ikd")
    again = IKD.load(tmp_path / "model.ikd").optima_
    assert [record[4:] for record in again] == [record[4:] for record in model.optima_]


def test_reliability_is_that_of_every_coordinate():
    # A coordinate that is small is as much as one that is large, as in an R2 over coordinates.
    latent = np.random.default_rng(0).normal(size=(100, 2)) * [10.0, 1.0]
    assert gplvm.reliability(latent, np.ones((100, 2))) == pytest.approx(0.75, abs=0.05)
    assert gplvm.reliability(latent * [1.0, 0.0], [[1.0, 0.0]] * 100) > 0.9


def on_a_sphere(n=80, seed=0):
    """Random points of a sphere of radius 1.7."""
    points = np.random.default_rng(seed).normal(size=(n, 3))
    return 1.7 * points / np.linalg.norm(points, axis=1)[:, None]


def told(model, X):
    """Warnings of a fit and of its standard errors, which are computed when asked for."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert model.fit(X).standard_errors_.shape == model.embedding_.shape
    return [str(each.message) for each in caught]


ANNEALED = {"kernel": "squared_exponential", "refine": refine.Likelihood(descent="annealed")}


@pytest.mark.filterwarnings("ignore:the model does not fit X")
def test_a_missing_coordinate_is_told_with_the_cure_that_mends_it():
    X = process(on_a_sphere(), 100, 0.3)
    model = IKD(2, **ANNEALED)
    (text,) = (text for text in told(model, X) if "reliability" in text)
    assert "one more coordinate" in text
    assert text.endswith("fit n_components=3")
    assert np.isnan(model.reliability_)
    assert np.isnan(model.standard_errors_).all()
    assert text.split(": ")[-1] == model.trust_.misfit
    gain = model.checks_.coordinate
    assert gain.value > gain.limit > gain.null > 0.0
    mended = IKD(3, **ANNEALED)
    assert told(mended, X) == []
    assert mended.reliability_ > 0.9


def test_of_weak_signals_simulated_tables_say_what_a_coordinate_gains_by_chance():
    model = IKD(2, **ANNEALED)
    latent = 1.5 * np.random.default_rng(3).normal(size=(60, 2))
    assert not any("does not fit" in text for text in told(model, process(latent, 30, 1.0)))
    gain = model.checks_.coordinate
    # Above what strong signals gain, and not above what tables of this model do.
    assert gain.value > 1.0 + 2.0 / 60**0.5
    assert 1.0 < gain.null < 2.0


@pytest.mark.parametrize("settings", [ANNEALED, {"kernel": "squared_exponential", "refine": None}])
def test_what_is_computed_when_asked_for_is_checked_then(settings):
    model = IKD(2, **settings)
    assert warned(model, process(on_a_sphere(), 100, 0.3)) == []
    # Printing the model asks first, and warns of nothing.
    assert "one more coordinate fits better" in repr(model)
    for number in ("standard_errors_", "reliability_"):
        with pytest.warns(UserWarning, match="one more coordinate fits better"):
            assert np.isnan(getattr(model, number)).all()


def test_a_fit_says_what_its_columns_allow_at_most():
    latent = 1.5 * np.random.default_rng(3).normal(size=(60, 2))
    model = IKD(2, **ANNEALED)
    (text,) = (text for text in warned(model, process(latent, 30, 2.0)) if "reliability" in text)
    most = float(text.split("at most about ")[1].split(",")[0])
    assert most < 0.7
    assert f"{most:.2f}" in model.settings_.reasons["standard errors"]
    assert not model.reliability_ > most + 0.05
    assert warned(model, process(latent, 300, 0.3)) == []


@pytest.mark.filterwarnings("ignore:the model does not fit X")
def test_noise_that_follows_along_rows_is_told():
    latent = np.random.default_rng(3).uniform(size=(70, 2)) * [4.0, 2.5]
    noise = np.random.default_rng(2).normal(size=(70, 100))
    X = process(latent, 100)
    model = IKD(2, **ANNEALED)
    assert not any("does not fit" in text for text in told(model, X + 0.5 * noise))
    # The question is asked where neighboring rows are alike.
    assert np.isnan(model.checks_.order.value)
    assert "rows in no order" in repr(model.trust_)
    for row in range(1, 70):
        noise[row] = 0.8 * noise[row - 1] + 0.6 * noise[row]
    assert any("neighboring rows" in text for text in told(model, X + 0.5 * noise))
    assert np.isnan(model.reliability_)


def test_rows_that_follow_one_another_are_no_noise_that_does():
    walk = 0.2 * np.random.default_rng(0).normal(size=(80, 2)).cumsum(axis=0)
    model = IKD(2, **ANNEALED)
    assert not any("does not fit" in text for text in told(model, process(walk, 100, 0.5)))
    assert abs(model.checks_.order.value) < 3.0
    assert model.reliability_ > 0.5


@pytest.mark.filterwarnings("ignore:the model does not fit X")
def test_a_factor_that_rows_share_is_told():
    latent = np.random.default_rng(3).uniform(size=(90, 2)) * [4.0, 2.5]
    rng = np.random.default_rng(4)
    factor = rng.normal(size=(90, 1)) * rng.normal(size=200)
    X = process(latent, 200, 0.5)
    model = IKD(2, **ANNEALED)
    assert any("factor that" in text for text in told(model, X + factor))
    assert np.isnan(model.reliability_)
    assert not any("factor" in text for text in told(model, X))
    assert model.reliability_ > 0.9


def test_a_torn_latent_loses_its_reliability():
    latent = np.random.default_rng(4).uniform(size=(40, 2)) * [4.0, 3.0]
    rows = sampled(latent, 100, 1e-3)
    torn = latent + [9.0, 0.0] * (np.arange(40)[:, None] % 2)
    right, wrong = (
        gplvm.posterior(gplvm.GaussianProcess(z, rows, KERNEL, 1.0, 1e-3, centered=True))
        for z in (latent, torn)
    )
    assert gplvm.reliability(torn, wrong.standard_errors) < 0.85
    assert gplvm.reliability(latent, right.standard_errors) > 0.95


def test_duplicate_rows_share_their_errors():
    X, _ = sheet(6, 50, 150, 0.3)
    model = quiet(IKD(2), np.vstack([X, X[:5]]))
    np.testing.assert_array_equal(model.standard_errors_[50:], model.standard_errors_[:5])


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"affinity": "precomputed"}, "need the rows"),
        ({"affinity": "euclidean"}, "they come with refine='likelihood' and its descent"),
    ],
)
def test_without_a_process_errors_are_nan_and_the_reason_is_told(settings, reason):
    X, _ = sheet(7, 60, 150, 0.3)
    table = np.corrcoef(X) if settings["affinity"] == "precomputed" else X
    model = quiet(IKD(2, **settings), table)
    assert np.isnan(model.standard_errors_).all()
    assert np.isnan(model.reliability_)
    assert reason in str(model.settings_)
    with pytest.warns(UserWarning, match=f"standard errors of all rows are NaN: .*{reason}"):
        assert np.isnan(model.transform(table[:3] + 1e-3, return_std=True)[1]).all()


def test_a_weak_table_is_warned_of_and_a_strong_one_is_not():
    latent = np.random.default_rng(8).uniform(size=(60, 2)) * [4.0, 3.0]
    weak = warned(IKD(2, random_state=0), process(latent, 100, 2.0, seed=1))
    assert any("reliability" in text for text in weak)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IKD(2, random_state=0).fit(process(latent, 200, 0.3, seed=1))
    assert model.reliability_ > 0.9


@pytest.mark.filterwarnings("ignore:the model does not fit X")
@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    held, reliability, wrong = [], [], []
    for seed in range(36):
        rng = np.random.default_rng([9, seed])
        latent = rng.normal(size=(60 + 10 * (seed % 4), 2)) * [1.2, 0.9]
        n_columns, noise = (50, 100, 400)[seed % 3], (0.3, 0.6, 1.2)[seed // 3 % 3]
        rows = sampled(latent, n_columns, noise**2, seed)
        train, new = np.arange(len(latent) - 15), np.arange(len(latent) - 15, len(latent))
        model = quiet(IKD(2, kernel="matern", refine="likelihood", random_state=0), rows[train])
        if np.isnan(model.reliability_):  # the check of the model failed
            continue
        truth = aligned(latent, np.vstack([model.embedding_, np.zeros((15, 2))]), train)
        placed, std = model.transform(rows[new], return_std=True)
        fit = np.abs(truth[train] - model.embedding_) / model.standard_errors_
        held.append([np.mean(fit < 1.96), np.mean(fit < 0.674),
                     np.mean(np.abs(truth[new] - placed) < 1.96 * std)])  # fmt: skip
        reliability.append(model.reliability_)
        wrong.append(np.sum((truth[train] - model.embedding_) ** 2))
    # One right model in twenty may be told not to fit.
    assert len(held) > 33
    of_fit, half, of_new = np.mean(held, axis=0)
    assert 0.91 < of_fit < 0.985
    assert 0.44 < half < 0.7
    assert 0.9 < of_new < 0.99
    assert spearmanr(reliability, wrong).statistic < -0.5
