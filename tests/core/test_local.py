"""A local descent: sharper neighborhoods near the initial embedding, in any unit and order."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from ikd_graph import gplvm, kernels, refine
from ikd_graph._base.threads import limit_threads


@pytest.fixture(scope="module")
def images():
    """300 digits without their mean, their classes, and a linear initial embedding."""
    X, y = load_digits(return_X_y=True)
    X = X[:300] - X[:300].mean(axis=0)
    return X, y[:300], PCA(2).fit_transform(X)


def accuracy(points, y):
    return cross_val_score(KNeighborsClassifier(5), points, y, cv=5).mean()


def rigid_r2(first, second):
    """How much of one configuration another tells after rotation and scaling."""
    first, second = first - first.mean(axis=0), second - second.mean(axis=0)
    common = np.linalg.svd(first.T @ second, compute_uv=False).sum()
    return common**2 / np.sum(first**2) / np.sum(second**2)


def test_neighborhoods_are_sharper_and_the_arrangement_stays(images):
    X, y, init = images
    fit = refine.local_likelihood(X, init, centered=False)
    assert accuracy(fit.latent, y) > accuracy(init, y) + 0.1
    assert rigid_r2(fit.latent, init) > 0.6
    assert type(fit.kernel) is kernels.RationalQuadratic
    assert [record.start for record in fit.optima] == [fit.start]


def test_it_is_likelier_than_the_initial_embedding_in_any_unit(images):
    X, _, init = images
    fit = refine.local_likelihood(X, init, centered=False)
    cov = gplvm.sample_covariance(X, centered=False)
    own = gplvm.log_likelihood(fit.latent, cov, 64, fit.kernel, fit.variance, fit.noise)
    assert fit.log_likelihood == pytest.approx(own, rel=1e-9)
    for radius in np.geomspace(0.1, 10.0, 15):
        points = radius * init / np.sqrt((init**2).sum(axis=1).mean())
        *_, log_likelihood = gplvm.fit_variances(points, cov, 64, fit.kernel)
        assert own > log_likelihood


def test_units_of_rows_and_of_the_initial_embedding_do_not_matter(images):
    X, _, init = images
    fit = refine.local_likelihood(X, init, centered=False, max_iter=10)
    other = refine.local_likelihood(300.0 * X, 1e-3 * init, centered=False, max_iter=10)
    np.testing.assert_allclose(other.latent, fit.latent, atol=1e-6)
    assert other.noise == pytest.approx(9e4 * fit.noise, rel=1e-6)
    length = refine.local_likelihood(
        X, init, kernels.RationalQuadratic(length_scale=5.0), centered=False, max_iter=10
    )
    np.testing.assert_allclose(length.latent, 5.0 * fit.latent, atol=1e-5)


@pytest.mark.parametrize("max_points", [100, 1000])
def test_neither_the_order_of_rows_nor_threads_matter(images, max_points):
    X, _, init = images
    order = np.random.default_rng(0).permutation(len(X))
    refinement = refine.Likelihood(descent="local")
    options = {"centered": False, "max_points": max_points}
    with limit_threads(1):
        fit = refinement.run(init, X, "auto", **options)
    with limit_threads(2):
        again = refinement.run(init, X, "auto", **options)
        mixed = refinement.run(init[order], X[order], "auto", **options)
    assert np.array_equal(again.latent, fit.latent)
    np.testing.assert_allclose(mixed.latent, fit.latent[order], atol=1e-6)


def test_rows_outside_the_core_are_as_right_as_those_in_it(images):
    X, y, init = images
    fit = refine.Likelihood(descent="local").run(init, X, "auto", centered=False, max_points=150)
    assert fit.core.size == 150
    np.testing.assert_array_equal(fit.latent[fit.core], fit.fit.latent)
    outside = np.setdiff1d(np.arange(300), fit.core)
    inside = KNeighborsClassifier(5).fit(fit.fit.latent, y[fit.core])
    of_init = KNeighborsClassifier(5).fit(init[fit.core], y[fit.core])
    right = inside.score(fit.latent[outside], y[outside])
    assert right > of_init.score(init[outside], y[outside]) + 0.1


def test_the_prior_holds_a_long_descent_back(images):
    X, init = images[0][:150], images[2][:150]
    long = refine.local_likelihood(X, init, centered=False, max_iter=200)
    cov = gplvm.sample_covariance(X, centered=False)
    free = refine.likelihood(cov, 64, long.kernel, init=init)
    assert rigid_r2(long.latent, init) > rigid_r2(free.latent, init) + 0.05
    assert free.log_likelihood > long.log_likelihood


def test_the_object_takes_what_auto_stands_for_and_what_was_asked_for(images):
    X, _, init = images
    X, init = X[:60], init[:60]
    local = refine.Likelihood(descent="local", max_iter=7)
    result = local.run(init, X, "auto", centered=False)
    expected = refine.local_likelihood(X, init, centered=False, max_iter=7)
    np.testing.assert_array_equal(result.latent, expected.latent)
    resolved = refine.Likelihood(max_iter=7).run(init, X, "auto", centered=False, descent="local")
    np.testing.assert_array_equal(resolved.latent, expected.latent)
    annealed = refine.Likelihood(descent="annealed", restarts=0)
    result = annealed.run(init, X, "matern", centered=False, descent="local")
    assert result.fit.kernel == kernels.Matern()
    assert np.abs(result.latent - expected.latent).max() > 0.01
    for wrong, message in (
        ({"descent": "global"}, "descent must be one of 'auto', 'annealed', 'single', 'local'"),
        ({"max_iter": 0}, "max_iter must be an integer at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            refine.Likelihood(**wrong).run(init, X, "auto")


class Custom(kernels.StationaryKernel):
    """The rational quadratic of alpha 1, as somebody would write it."""

    def _f(self, d):
        return 1.0 / (1.0 + d / 2.0)

    def _f_prime(self, d):
        return -0.5 / (1.0 + d / 2.0) ** 2


def test_a_custom_kernel_fits_as_the_built_in_one(images):
    X, _, init = images
    refinement = refine.Likelihood(descent="local", max_iter=5)
    fits = [
        refinement.run(init[:150], X[:150], kernel, centered=False, max_points=100)
        for kernel in ("rational_quadratic", Custom())
    ]
    np.testing.assert_allclose(fits[0].latent, fits[1].latent, atol=1e-6)


def test_the_shape_is_fitted_where_asked(images):
    X, _, init = images
    fit = refine.local_likelihood(X[:80], init[:80], centered=False, fit_shape=True)
    assert fit.kernel.alpha != 1.0


def test_few_rows_equal_rows_and_no_time_are_no_obstacle(images):
    X, _, init = images
    pair = refine.local_likelihood(X[:2], init[:2, :1])
    assert np.isfinite(pair.latent).all()
    twice = np.repeat(np.arange(20), 2)
    for points in (init[twice], np.zeros((40, 2))):
        assert np.isfinite(refine.local_likelihood(X[twice], points).latent).all()
    none = refine.local_likelihood(X, init, time_budget=1e-9)
    assert not none.complete
    assert np.isfinite(none.latent).all()
    assert rigid_r2(none.latent, init) > 0.999


def test_what_does_not_fit_is_refused(images):
    X, _, init = images
    with pytest.raises(ValueError, match="init must be a table of floats with 300 rows"):
        refine.local_likelihood(X, init[:-1])
    with pytest.raises(ValueError, match="mean variance of rows must be positive"):
        refine.local_likelihood(np.ones((5, 4)), init[:5])
    with pytest.raises(ValueError, match="descent must be one of"):
        refine.Likelihood(descent="down").run(init, X, "auto")
