import numpy as np
import pytest
from reference_gplvm import (
    central_difference,
    naive_covariance,
    naive_information,
    naive_posterior,
)
from scipy.stats import multivariate_normal

from ikd_graph import IKD, gplvm, kernels

KERNELS = [
    kernels.SquaredExponential(),
    kernels.SquaredExponential(length_scale=0.7),
    kernels.RationalQuadratic(),
    kernels.RationalQuadratic(alpha=0.6, length_scale=2.0),
    kernels.GammaExponential(),
    kernels.GammaExponential(gamma=1.5, length_scale=0.8),
    kernels.Matern(nu=0.5),
    kernels.Matern(nu=1.5, length_scale=1.3),
    kernels.Matern(nu=2.5),
]


def problem(seed, n=7, m=2, n_observed=20):
    rng = np.random.default_rng(seed)
    latent = rng.standard_normal((n, m))
    rows = rng.standard_normal((n, n_observed))
    return latent, rows, gplvm.sample_covariance(rows, centered=False)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("seed", range(2))
def test_likelihood_equals_the_multivariate_normal_density(kernel, seed):
    latent, rows, cov = problem(seed)
    model = naive_covariance(latent, kernel.covariance, 1.4, 0.2)
    total = gplvm.log_likelihood(latent, cov, rows.shape[1], kernel, 1.4, 0.2)
    oracle = multivariate_normal(cov=model).logpdf(rows.T).sum()
    assert total == pytest.approx(oracle, rel=1e-11)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("seed", range(2))
def test_gradient_equals_finite_differences_in_every_parameter(kernel, seed):
    latent, _, cov = problem(seed)

    def value(points=latent, log_variance=0.3, log_noise=-1.0):
        scales = np.exp(log_variance), np.exp(log_noise)
        return gplvm.SampleLikelihood(cov)(points, kernel, *map(float, scales))

    at = value()
    by_latent = central_difference(lambda z: value(points=z).value, latent)
    by_variance = central_difference(lambda x: value(log_variance=x).value, np.array(0.3))
    by_noise = central_difference(lambda x: value(log_noise=x).value, np.array(-1.0))
    np.testing.assert_allclose(at.latent, by_latent, rtol=1e-6, atol=1e-7)
    assert at.log_variance == pytest.approx(float(by_variance), rel=1e-6, abs=1e-7)
    assert at.log_noise == pytest.approx(float(by_noise), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("n", [64, 65, 129])
@pytest.mark.parametrize("n_observed", [30, 200])
def test_gradient_equals_that_of_numpy_at_sizes_inverted_whole_and_in_parts(n, n_observed):
    latent, _, cov = problem(0, n, n_observed=n_observed)
    kernel, variance, noise = kernels.Matern(nu=1.5), 1.4, 0.2
    gaps = latent[:, None] - latent
    sq_dist = (gaps**2).sum(axis=-1)
    model = variance * kernel.covariance(sq_dist) + noise * np.eye(n)
    inverse = np.linalg.inv(model)
    by_cov = 0.5 * (inverse - inverse @ cov @ inverse)
    slope = kernel.derivative(sq_dist + np.eye(n)) * (1.0 - np.eye(n))
    by_latent = 4.0 * variance * np.einsum("ij,ij,ijc->ic", by_cov, slope, gaps)
    at = gplvm.SampleLikelihood(cov)(latent, kernel, variance, noise)
    log_det = np.linalg.slogdet(2.0 * np.pi * model)[1]
    assert at.value == pytest.approx(0.5 * (log_det + np.trace(inverse @ cov)), rel=1e-10)
    np.testing.assert_allclose(at.latent, by_latent, rtol=1e-8, atol=1e-9)
    assert at.log_noise == pytest.approx(noise * np.trace(by_cov), rel=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_expected_information_equals_that_of_the_naive_derivatives(kernel):
    latent, _, _ = problem(7)
    information = gplvm.expected_information(latent, kernel, 1.4, 0.2)
    wanted = naive_information(latent, kernel.covariance, 1.4, 0.2)
    np.testing.assert_allclose(information, wanted, rtol=1e-4, atol=1e-6)
    assert (information == information.T).all()


@pytest.mark.parametrize("n_observed", [1, 4, 49, 63, 400])
def test_every_rank_of_the_sample_covariance_has_the_value_of_scipy(n_observed):
    rng = np.random.default_rng(n_observed)
    rows = rng.standard_normal((70, n_observed))
    likelihood = gplvm.SampleLikelihood(gplvm.sample_covariance(rows, centered=False))
    # The same arrays again and again: nothing of an earlier call is in what was returned.
    for kernel in (KERNELS[0], KERNELS[-1], KERNELS[0]):
        latent = rng.standard_normal((70, 2))
        at = likelihood(latent, kernel, 1.3, 0.01)
        model = naive_covariance(latent, kernel.covariance, 1.3, 0.01)
        oracle = multivariate_normal(cov=model).logpdf(rows.T).sum()
        assert -at.value * n_observed == pytest.approx(oracle, rel=1e-9)
        before = at.latent.copy()
        likelihood(rng.standard_normal((70, 2)), kernel, 1.0, 0.1)
        np.testing.assert_array_equal(at.latent, before)


@pytest.mark.parametrize("cov", [np.zeros((4, 4)), np.zeros((1, 1)), np.ones((5, 5))], ids=str)
def test_sample_covariances_without_rank_have_a_gradient(cov, capfd):
    latent = np.random.default_rng(0).standard_normal((len(cov), 2))
    at = gplvm.SampleLikelihood(cov)(latent, KERNELS[0], 1.0, 0.1)
    by_latent = central_difference(
        lambda z: -gplvm.log_likelihood(z, cov, 1, KERNELS[0], 1.0, 0.1), latent
    )
    np.testing.assert_allclose(at.latent, by_latent, atol=1e-8)
    # BLAS writes what it refuses.
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_points_in_the_same_place_give_a_finite_gradient(kernel):
    latent, _, cov = problem(0)
    latent[1] = latent[0]
    at = gplvm.SampleLikelihood(cov)(latent, kernel, 1.0, 0.1)
    assert np.isfinite(at.value)
    assert np.isfinite(at.latent).all()
    assert np.isfinite([at.log_variance, at.log_noise]).all()


def test_a_model_that_is_not_positive_definite_is_infinitely_unlikely():
    latent, _, cov = problem(3)
    latent[1] = latent[0]
    assert gplvm.log_likelihood(latent, cov, 20, "matern", 1.0, 0.0) == -np.inf
    at = gplvm.SampleLikelihood(cov)(latent, KERNELS[0], 1.0, 0.0)
    assert at.value == np.inf
    assert not at.latent.any()


def test_sample_covariance_takes_the_mean_off_every_row():
    rows = np.random.default_rng(4).standard_normal((6, 30)) + 5.0
    np.testing.assert_allclose(gplvm.sample_covariance(rows), np.cov(rows, bias=True), atol=1e-12)
    raw = gplvm.sample_covariance(rows, centered=False)
    np.testing.assert_allclose(raw, rows @ rows.T / 30, atol=1e-12)
    assert (raw == raw.T).all()


@pytest.mark.parametrize("seed", range(3))
def test_posterior_equals_the_naive_twin(seed):
    latent, rows, _ = problem(seed)
    fresh = np.random.default_rng(seed + 100).standard_normal((4, 2))
    kernel = kernels.Matern()
    found = gplvm.GaussianProcess(latent, rows, kernel, 1.3, 0.2).predict(fresh)
    mean, std = naive_posterior(fresh, latent, rows, kernel.covariance, 1.3, 0.2)
    np.testing.assert_allclose(found.mean, mean, atol=1e-8)
    np.testing.assert_allclose(found.std, std, atol=1e-8)


def test_the_noise_free_posterior_interpolates():
    latent, rows, _ = problem(5)
    at_home = gplvm.GaussianProcess(latent, rows, "gamma_exponential", 2.0).predict(latent)
    np.testing.assert_allclose(at_home.mean, rows, atol=1e-7)
    np.testing.assert_allclose(at_home.std, 0.0, atol=1e-4)
    far = gplvm.GaussianProcess(latent, rows, "gamma_exponential", 2.0).predict(latent + 1e3)
    np.testing.assert_allclose(far.mean, 0.0, atol=1e-12)
    np.testing.assert_allclose(far.std, np.sqrt(2.0), atol=1e-12)


def test_a_latent_of_other_points_is_refused():
    latent, _, cov = problem(6)
    with pytest.raises(ValueError, match="latent must be a table of floats with"):
        gplvm.log_likelihood(latent[:-1], cov, 20, "matern")
    with pytest.raises(ValueError, match="variance must be positive"):
        gplvm.log_likelihood(latent, cov, 20, "matern", 0.0)
    with pytest.raises(ValueError, match="sample_cov must be symmetric"):
        gplvm.log_likelihood(latent, cov + np.triu(cov, 1), 20, "matern")


def test_posterior_names_the_cure_for_a_covariance_it_cannot_invert():
    rows = np.zeros((2, 3))
    with pytest.raises(ValueError, match="noise must be large enough"):
        gplvm.GaussianProcess([[0.0], [0.0]], rows, "matern", 1.0, -1.0).predict([[0.0]])


def test_the_noise_of_rows_that_do_not_vary_is_finite():
    latent = np.arange(6.0)[:, None]
    for cov in (np.zeros((6, 6)), np.ones((6, 6)) - 0.5 * np.eye(6), -np.eye(6)):
        assert np.isfinite(gplvm.fit_variances(latent, cov, 9, "matern")).all()
    line = np.arange(12.0)[:, None] * np.ones(5)
    model = IKD(1, graph=5, refine=None, affinity="euclidean").fit(line)
    assert np.isfinite(model.score(line))
