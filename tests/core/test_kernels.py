import numpy as np
import pytest
from scipy.special import gamma, gammaln, kv, kve

from ikd_graph import IKD, kernels

PARAMETERS = [
    *[kernels.SquaredExponential(length_scale=scale) for scale in (0.3, 0.5, 1.0, 2.0, 7.0)],
    *[kernels.RationalQuadratic(alpha=alpha) for alpha in (0.2, 0.5, 1.0, 3.0, 20.0)],
    *[kernels.GammaExponential(gamma=power) for power in (0.3, 0.7, 1.0, 1.5, 2.0)],
    *[kernels.Matern(nu=nu) for nu in (0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 3.5, 7.0, 30.0)],
    kernels.Matern(nu=2.5, length_scale=0.5),
    kernels.RationalQuadratic(alpha=2.0, length_scale=3.0),
    kernels.GammaExponential(gamma=1.2, length_scale=0.7),
]
DISTANCES = np.geomspace(1e-6, 40.0, 400)


@pytest.mark.parametrize("kernel", PARAMETERS, ids=str)
def test_the_inverse_undoes_the_covariance(kernel):
    sq_dist = DISTANCES * kernel.length_scale**2
    back = kernel.sq_distance(kernel.covariance(sq_dist))
    np.testing.assert_allclose(back, sq_dist, rtol=1e-8)


@pytest.mark.parametrize("kernel", PARAMETERS, ids=str)
def test_the_derivative_is_the_slope_of_the_covariance(kernel):
    d = np.geomspace(1e-2, 40.0, 60) * kernel.length_scale**2
    step = 1e-3

    def across(width):
        return kernel.covariance(d * (1 + width)) - kernel.covariance(d * (1 - width))

    slope = (8.0 * across(step) - across(2.0 * step)) / (12.0 * step * d)
    np.testing.assert_allclose(kernel.derivative(d), slope, rtol=1e-6)


@pytest.mark.parametrize("kernel", PARAMETERS, ids=str)
def test_covariances_fall_from_one(kernel):
    values = kernel.covariance(np.concatenate([[0.0], DISTANCES]) * kernel.length_scale**2)
    assert values[0] == 1.0
    assert np.all(np.diff(values) < 0.0)
    assert kernel.sq_distance(1.0) == 0.0
    assert np.signbit(kernel.sq_distance(np.ones(3))).sum() == 0


@pytest.mark.parametrize("kernel", PARAMETERS, ids=str)
def test_the_matrix_of_points_has_the_covariance_of_every_pair(kernel):
    points = np.random.default_rng(0).normal(size=(6, 2))
    sq_dist = ((points[:, None] - points) ** 2).sum(axis=2)
    np.testing.assert_allclose(kernel.matrix(points), kernel.covariance(sq_dist), rtol=1e-12)
    np.testing.assert_array_equal(kernel.matrix(points[:2], points), kernel.matrix(points)[:2])


@pytest.mark.parametrize("nu", [0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 3.5, 7.0])
def test_matern_equals_its_bessel_formula(nu):
    x = np.sqrt(2.0 * nu * DISTANCES)
    formula = 2.0 ** (1.0 - nu) / gamma(nu) * x**nu * kv(nu, x)
    np.testing.assert_allclose(
        kernels.Matern(nu=nu).covariance(DISTANCES),
        formula,
        rtol=1e-11 if 2 * nu in (1, 3, 5) else 1e-9,
    )


def test_the_limits_of_the_derivative_at_zero_are_right():
    assert kernels.SquaredExponential().derivative(0.0) == -0.5
    assert kernels.RationalQuadratic(alpha=3.0).derivative(0.0) == -0.5
    assert kernels.GammaExponential(gamma=1.0).derivative(0.0) == -np.inf
    assert kernels.Matern(nu=0.5).derivative(0.0) == -np.inf
    assert kernels.Matern(nu=1.5).derivative(0.0) == -1.5
    np.testing.assert_allclose(kernels.Matern(nu=2.5).derivative(0.0), -5 / 6)


@pytest.mark.parametrize("bad", [0.0, -0.1, 1.1, np.nan])
def test_covariances_outside_the_domain_are_refused(bad):
    with pytest.raises(ValueError, match=r"covariances must lie in \(0, 1\].*got 1 outside"):
        kernels.Matern().sq_distance(np.array([0.5, bad]))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: kernels.SquaredExponential(length_scale=0.0), "length_scale must be positive"),
        (lambda: kernels.RationalQuadratic(alpha=-1.0), "alpha must be positive"),
        (lambda: kernels.GammaExponential(gamma=2.5), r"gamma must be in \(0, 2\], got 2.5"),
        (
            lambda: kernels.Matern(nu=60.0),
            r"nu must be in \(0, 50\], got 60.0; .*'squared_exponential'",
        ),
        (lambda: kernels.Matern(nu=np.inf), r"got inf; of larger orders take .*'squared_exp"),
        (lambda: kernels.Matern(nu=0.0), "nu must be positive and finite, got 0.0"),
        (lambda: kernels.get("gauss"), "kernel must be one of 'squared_exponential'.*'gauss'"),
    ],
)
def test_parameters_out_of_range_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("nu", [0.3, 0.5, 1.0, 1.5, 2.5, 7.0])
def test_covariances_that_underflow_have_distances(nu):
    kernel = kernels.Matern(nu=nu, length_scale=3.0)
    depth = np.array([800.0, 5000.0, 1e6])
    x = np.sqrt(2.0 * nu * kernel.sq_distance_from_log(-depth)) / 3.0
    # log f(x) is x^nu K_nu(x), up to a constant, with K e^x from scipy.
    constant = (1.0 - nu) * np.log(2.0) - gammaln(nu)
    log_f = constant + nu * np.log(x) + np.log(kve(nu, x)) - x
    np.testing.assert_allclose(log_f, -depth, rtol=1e-2)
    assert kernels.SquaredExponential().sq_distance_from_log(-depth).tolist() == [1.6e3, 1e4, 2e6]
    assert kernels.RationalQuadratic(alpha=0.5).sq_distance_from_log(-np.inf) == 1e60


@pytest.mark.parametrize("nu", [0.3, 0.8, 1.0, 2.0, 3.5, 7.0])
@pytest.mark.parametrize("strategy", ["eigen", "blockwise"])
def test_exact_covariances_of_any_matern_kernel_give_their_latent(nu, strategy):
    rng = np.random.default_rng(3)
    angle = np.linspace(0.0, 1.5, 30)
    latent = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0.0, 0.05, (30, 2))
    sq_dist = ((latent[:, None] - latent) ** 2).sum(2)
    kernel = kernels.Matern(nu=nu)
    model = IKD(
        2, affinity="precomputed", kernel=kernel, strategy=strategy,
        graph=0.01, refine=None,
    )  # fmt: skip
    fitted = model.fit_transform(kernel.covariance(sq_dist))
    np.testing.assert_allclose(((fitted[:, None] - fitted) ** 2).sum(2), sq_dist, atol=1e-6)


def test_a_matern_kernel_without_closed_form_maximizes_the_likelihood_and_places_rows(tmp_path):
    rng = np.random.default_rng(4)
    z = np.sort(rng.uniform(0.0, 3.0, 25))
    kernel = kernels.Matern(nu=1.0)
    cov = kernel.covariance((z[:, None] - z) ** 2) + 0.01 * np.eye(25)
    X = np.linalg.cholesky(cov) @ rng.normal(size=(25, 300))
    model = IKD(1, kernel=kernel, affinity="correlation", refine="likelihood", random_state=0)
    model.fit(X)
    assert abs(np.corrcoef(model.embedding_[:, 0], z)[0, 1]) > 0.99
    placed = model.transform(X[:5])
    np.testing.assert_allclose(placed, model.embedding_[:5], atol=0.1)
    model.save(tmp_path / "model.ikd")
    np.testing.assert_array_equal(IKD.load(tmp_path / "model.ikd").transform(X[:5]), placed)


@pytest.mark.parametrize("scale", [1e-300, 1e-75, 1e75, 1e100, 1e300])
def test_a_length_scale_of_which_powers_overflow_is_refused(scale):
    with pytest.raises(ValueError, match=r"length_scale must lie between 1e-74 and 1e\+74, got 1e"):
        kernels.SquaredExponential(length_scale=scale)


@pytest.mark.parametrize("scale", [1e-74, 1e-40, 1e40, 1e74])
def test_results_are_finite_under_any_length_scale(scale, tmp_path):
    X = np.cumsum(np.random.default_rng(0).normal(size=(30, 40)), axis=0)
    kernel = kernels.SquaredExponential(length_scale=scale)
    model = IKD(1, kernel=kernel, affinity="correlation", graph=6, refine="stress").fit(X)
    unit = IKD(1, affinity="correlation", graph=6, refine="stress", kernel="squared_exponential")
    np.testing.assert_allclose(model.embedding_ / scale, unit.fit_transform(X), rtol=1e-4)
    assert model.explained_variance_ratio_ == pytest.approx(1.0)
    model.save(tmp_path / "model.ikd")
    placed = IKD.load(tmp_path / "model.ikd").transform(1.01 * X)
    np.testing.assert_allclose(placed / scale, unit.transform(1.01 * X), rtol=1e-4)


@pytest.mark.parametrize("nu", [1e-9, 1e-5, 1e-3, 0.003, 0.01])
def test_rough_matern_kernels_are_those_of_scipy(nu):
    d = np.logspace(-8, 2, 41)
    x = np.sqrt(2.0 * nu * d)
    truth = 2.0 ** (1.0 - nu) / gamma(nu) * x**nu * kv(nu, x)
    kernel = kernels.Matern(nu=nu)
    np.testing.assert_allclose(kernel.covariance(d), truth, rtol=1e-8)
    np.testing.assert_allclose(kernel.sq_distance(truth), d, rtol=1e-6)
