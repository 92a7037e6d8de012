import time

import numpy as np
import pytest
from reference_gplvm import naive_covariance
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.base import clone

from ikd_graph import covariance, gplvm, kernels, refine
from ikd_graph._base.threads import limit_threads
from ikd_graph.metrics import affine_r2

KERNELS = [kernels.get(name) for name in kernels.KERNELS]


def sample(seed, kernel, n=30, m=1, n_observed=300, noise=0.02):
    """Latent on a box of a few length-scales, and the covariance of rows sampled from the model."""
    latent, rows = sample_rows(seed, kernel, n, m, n_observed, noise)
    return latent, gplvm.sample_covariance(rows)


def sample_rows(seed, kernel, n, m, n_observed, noise):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 4.0, (n, m)) * kernel.length_scale
    model = naive_covariance(latent, kernel.covariance, 1.0, noise)
    return latent, np.linalg.cholesky(model) @ rng.standard_normal((n, n_observed))


def closed_form(cov, m, kernel):
    corr, rng = covariance.to_correlation(cov), np.random.default_rng(0)
    return refine.random_closed_form(corr, m, kernels.get(kernel), rng)


def fit_of(cov, n_observed, m, kernel, **more):
    init = more.pop("init", None)
    if init is None:
        init = closed_form(cov, m, KERNELS[0] if kernel == "auto" else kernel)
    more = {"restarts": 2, **more}
    return refine.likelihood(cov, n_observed, kernel, init=init, **more)


def rigid_gap(latent, estimate):
    """Root mean square distance after the best rotation or reflection and shift."""
    a, b = latent - latent.mean(axis=0), estimate - estimate.mean(axis=0)
    left, _, right = np.linalg.svd(b.T @ a)
    return np.sqrt(((b @ left @ right - a) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_latent_is_recovered_and_likelier_than_the_truth(kernel):
    latent, cov = sample(0, kernel, m=2, n=40)
    fit = fit_of(cov, 300, 2, kernel, restarts=4)
    assert rigid_gap(latent, fit.latent) < 0.25
    assert fit.log_likelihood > gplvm.log_likelihood(latent, cov, 300, kernel, 1.0, 0.02)
    assert fit.complete
    assert fit.n_iter > 100


def test_the_log_likelihood_belongs_to_the_parameters_returned():
    _, cov = sample(1, KERNELS[0])
    fit = fit_of(7.3 * cov, 300, 1, KERNELS[0])
    own = gplvm.log_likelihood(fit.latent, 7.3 * cov, 300, fit.kernel, fit.variance, fit.noise)
    assert fit.log_likelihood == pytest.approx(own, rel=1e-9)
    assert fit.optima[0].start == fit.start
    assert fit.optima[0].log_likelihood == pytest.approx(fit.log_likelihood, rel=1e-6)
    assert fit.optima[0].distance < 0.05
    away = np.sqrt(((fit.optima[-1].latent - fit.latent) ** 2).sum(axis=1).mean())
    assert away == pytest.approx(fit.optima[-1].distance * fit.kernel.length_scale)


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_the_rows_leaves_no_trace(seed):
    _, cov = sample(seed, KERNELS[2], m=2)
    order = np.random.default_rng(seed).permutation(len(cov))
    init = closed_form(cov, 2, KERNELS[2])
    fit = fit_of(cov, 300, 2, KERNELS[2], init=init)
    again = fit_of(cov[np.ix_(order, order)], 300, 2, KERNELS[2], init=init[order])
    np.testing.assert_allclose(again.latent, fit.latent[order], atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_on_an_exact_covariance_nothing_moves(kernel):
    latent, _ = sample(4, kernel, n=25, m=2)
    cov = naive_covariance(latent, kernel.covariance, 1.3, 0.05)
    fit = fit_of(cov, 100, 2, kernel, init=latent, restarts=0)
    assert rigid_gap(latent, fit.latent) < 1e-4
    assert fit.variance == pytest.approx(1.3, rel=1e-4)
    assert fit.noise == pytest.approx(0.05, rel=1e-4)


@pytest.mark.parametrize("budget", [1e-9, 0.02])
@pytest.mark.parametrize("kernel", ["matern", "auto"])
def test_a_time_budget_ends_the_search_with_the_best_so_far(budget, kernel):
    _, cov = sample(8, KERNELS[3], n=40, m=2)
    begin = time.perf_counter()
    fit = fit_of(cov, 300, 2, kernel, restarts=1000, time_budget=budget)
    assert time.perf_counter() - begin < 10.0
    assert not fit.complete
    assert np.isfinite(fit.latent).all()
    own = gplvm.log_likelihood(fit.latent, cov, 300, fit.kernel, fit.variance, fit.noise)
    assert fit.log_likelihood == pytest.approx(own, rel=1e-9)


def test_restarts_leave_a_folded_start():
    rng = np.random.default_rng(1)
    line = np.linspace(0.0, 8.0, 60)[:, None]
    model = kernels.SquaredExponential().covariance(cdist(line, line, "sqeuclidean"))
    rows = np.linalg.cholesky(model + 0.05 * np.eye(60)) @ rng.standard_normal((60, 300))
    cov = gplvm.sample_covariance(rows)
    folded = np.abs(line - 4.0)
    fit = fit_of(cov, 300, 1, KERNELS[0], init=folded, restarts=6)
    assert abs(np.corrcoef(fit.latent[:, 0], line[:, 0])[0, 1]) > 0.99


def test_a_fit_ends_where_the_gradient_vanishes():
    _, cov = sample(12, KERNELS[1], n=40, m=2, noise=0.1)
    fit = fit_of(cov, 300, 2, KERNELS[1])
    at = gplvm.SampleLikelihood(cov)(fit.latent, fit.kernel, fit.variance, fit.noise)
    assert np.abs(at.latent).max() < 1e-3
    # The noise may end on its floor, above which the likelihood falls.
    assert at.log_noise > -1e-2


def test_the_noise_of_a_weak_table_does_not_collapse():
    rng = np.random.default_rng(3)
    latent = rng.uniform(0.0, 3.0, (60, 2))
    model = naive_covariance(latent, KERNELS[0].covariance, 1.0, 2.25)
    cov = gplvm.sample_covariance(np.linalg.cholesky(model) @ rng.standard_normal((60, 50)))
    bounded = fit_of(cov, 50, 2, KERNELS[0])
    assert bounded.noise > 1.6


def test_a_rough_kernel_without_noise_is_not_taken_for_noise():
    kernel = kernels.GammaExponential()
    latent, cov = sample(5, kernel, n=60, m=2, n_observed=1000, noise=1e-6)
    fit = fit_of(cov, 1000, 2, "auto", init=latent, restarts=0)
    assert fit.kernel == kernel
    assert fit.noise < 0.02


@pytest.mark.parametrize("seed", [0, 3])
def test_descents_to_less_noise_than_that_of_the_first_end(seed):
    rng, kernel = np.random.default_rng(seed), kernels.GammaExponential()
    latent = 3.0 * rng.normal(size=(25, 1))
    model = naive_covariance(latent, kernel.covariance, 1.0, 0.05)
    rows = np.linalg.cholesky(model) @ rng.normal(size=(25, 100))
    away = rng.normal(size=(25, 1))
    fit = fit_of(gplvm.sample_covariance(rows), 100, 1, kernel, init=away)
    assert len(fit.optima) >= 6


def test_the_threshold_graph_is_a_start_once():
    _, cov = sample(6, KERNELS[0], n=40, m=2)
    away = np.random.default_rng(0).normal(size=(40, 2))
    first = fit_of(cov, 300, 2, KERNELS[0], init=away)
    names = [record.start for record in first.optima]
    others = [f"all pairs, {level}" for level in ("0.05", "0.15", "0.3", "from 4")]
    others += ["init", "restart 1", "restart 2"]
    assert sorted(names) == sorted([*others, "threshold graph"])
    own = gplvm.closed_form(covariance.to_correlation(cov), 2, KERNELS[0], 300)
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    again = fit_of(cov, 300, 2, KERNELS[0], init=own @ turn + 1.0)
    assert sorted(record.start for record in again.optima) == sorted(others)


def helix(sd, n_observed, seed=12, n=60):
    """Points on a helix, and samples of the model over them."""
    t = np.linspace(0.0, 4.0, n)
    latent = np.c_[np.cos(2.0 * t), np.sin(2.0 * t), t / 2.0] / 0.8
    model = naive_covariance(latent, KERNELS[0].covariance, 1.0, max(sd**2, 1e-6))
    draws = np.random.default_rng(seed).standard_normal((n, n_observed))
    return latent, np.linalg.cholesky(model) @ draws


@pytest.mark.filterwarnings("error")
def test_starts_of_few_points_warn_of_nothing():
    # On a line there are not twice as many coordinates as are wanted.
    line = np.linspace(0.0, 2.0, 6)[:, None]
    model = naive_covariance(line, KERNELS[0].covariance, 1.0, 1e-4)
    rows = np.linalg.cholesky(model) @ np.random.default_rng(0).standard_normal((6, 150))
    cov = gplvm.sample_covariance(rows)
    fit = refine.likelihood(cov, 150, KERNELS[0], init=np.eye(6, 2))
    assert "all pairs, from 4" in [record.start for record in fit.optima]


@pytest.mark.parametrize("seed", [12, 14])
def test_a_helix_is_rolled_up(seed):
    latent, rows = helix(0.0, 200, seed, n=120)
    cov = gplvm.sample_covariance(rows)
    path = gplvm.closed_form(covariance.to_correlation(cov), 3, KERNELS[0], 200)
    fit = refine.likelihood(cov, 200, KERNELS[0], init=path)
    assert affine_r2(latent, fit.latent) > 0.9


def test_optima_are_compared_by_the_sampling_error_of_their_difference():
    latent, rows = helix(0.5, 100)
    cov = gplvm.sample_covariance(rows)
    fit = refine.likelihood(cov, 100, KERNELS[0], init=latent, restarts=2)
    weights = [record.weight for record in fit.optima]
    assert sum(weights) == pytest.approx(1.0)
    assert all(0.0 <= weight <= 1.0 for weight in weights)
    assert fit.optima[0].z == 0.0
    rows = rows - rows.mean(axis=1, keepdims=True)

    def by_column(record):
        variance, noise, _ = gplvm.fit_variances(record.latent, cov, 100, fit.kernel)
        model = naive_covariance(record.latent, fit.kernel.covariance, variance, noise)
        return multivariate_normal(cov=model).logpdf(rows.T)

    apart = [record for record in fit.optima if record.weight > 0.0][1]
    difference = by_column(fit.optima[0]) - by_column(apart)
    vuong = difference.sum() / (difference.std() * 10.0)
    assert apart.z == pytest.approx(vuong, rel=0.3, abs=0.1)
    # Columns that repeat one another are worth fewer.
    fewer = refine.likelihood(cov, 100, KERNELS[0], init=latent, restarts=2, n_effective=25.0)
    assert max(r.z for r in fewer.optima) == pytest.approx(max(r.z for r in fit.optima) / 2.0)


@pytest.mark.parametrize(("sd", "seed", "is_likeliest"), [(0.3, 2, False), (0.7, 5, True)])
def test_the_most_compact_of_ties_is_taken_and_no_other(sd, seed, is_likeliest):
    cov = gplvm.sample_covariance(helix(sd, 100, seed)[1])
    path = gplvm.closed_form(covariance.to_correlation(cov), 3, KERNELS[0], 100)
    fit = refine.likelihood(cov, 100, KERNELS[0], init=path)
    sizes = {record.latent.var(axis=0).sum(): record.z for record in fit.optima}
    assert sizes[min(sizes)] > 0.0
    ties = [size for size, z in sizes.items() if z <= 0.3]
    assert fit.latent.var(axis=0).sum() == pytest.approx(min(ties), rel=0.01)
    assert (sizes[min(ties)] == 0.0) == is_likeliest


def test_the_number_of_threads_changes_no_bit():
    _, cov = sample(7, KERNELS[3], n=40, m=2)
    fits = []
    for n_jobs in (1, 2):
        with limit_threads(n_jobs):
            fits.append(fit_of(cov, 300, 2, "auto", restarts=3))
    np.testing.assert_array_equal(fits[0].latent, fits[1].latent)
    assert fits[0].n_iter == fits[1].n_iter
    assert [record[:3] for record in fits[0].optima] == [record[:3] for record in fits[1].optima]


def test_a_record_of_an_optimum_prints_without_its_latent():
    _, cov = sample(8, KERNELS[0])
    text = repr(fit_of(cov, 300, 1, KERNELS[0]).optima)
    assert "log_likelihood=" in text
    assert "array" not in text


def test_two_points_and_duplicates_are_no_obstacle():
    pair = refine.likelihood([[1.0, 0.4], [0.4, 1.0]], 50, init=[[0.0], [1.0]])
    assert np.isfinite(pair.latent).all()
    _, cov = sample(15, KERNELS[2], n=20)
    twice = np.repeat(np.arange(20), 2)
    fit = fit_of(cov[np.ix_(twice, twice)], 300, 1, KERNELS[2], restarts=2)
    assert np.isfinite(fit.latent).all()


def test_what_does_not_fit_is_refused():
    latent, cov = sample(17, KERNELS[0], n=10)
    with pytest.raises(ValueError, match="sample_cov must be symmetric"):
        refine.likelihood(cov + np.triu(cov, 1), 300, init=latent)
    with pytest.raises(ValueError, match="less than the number of points"):
        refine.likelihood(cov, 300, init=np.zeros((10, 10)))
    with pytest.raises(ValueError, match="n_observed must be an integer"):
        refine.likelihood(cov, 0, init=latent)
    with pytest.raises(ValueError, match="time_budget must be positive"):
        refine.likelihood(cov, 300, init=latent, time_budget=0.0)
    with pytest.raises(ValueError, match="restarts must be an integer"):
        refine.likelihood(cov, 300, init=latent, restarts=-1)
    with pytest.raises(ValueError, match="init must be a table of floats with 10 rows"):
        refine.likelihood(cov, 300, init=np.zeros((9, 2)))
    with pytest.raises(ValueError, match="must be positive"):
        refine.likelihood(np.zeros((4, 4)), 300, init=np.ones((4, 1)))


@pytest.mark.parametrize("centered", [True, False])
def test_a_core_is_fitted_and_places_the_other_rows(centered):
    latent, rows = sample_rows(19, KERNELS[3], 120, 2, 500, 0.02)
    init = latent + 0.05 * np.random.default_rng(0).standard_normal(latent.shape)
    refinement = refine.Likelihood(restarts=0)
    result = refinement.run(init, rows, "matern", centered=centered, max_points=60)
    assert result.core.size == 60
    assert (np.diff(result.core) > 0).all()
    np.testing.assert_array_equal(result.latent[result.core], result.fit.latent)
    assert rigid_gap(latent, result.latent) < 0.25
    order = np.random.default_rng(1).permutation(120)
    mixed = refinement.run(init[order], rows[order], "matern", centered=centered, max_points=60)
    np.testing.assert_allclose(mixed.latent, result.latent[order], atol=1e-6)


def test_a_few_rows_are_all_in_the_core():
    _, rows = sample_rows(20, KERNELS[0], 30, 1, 300, 0.02)
    result = refine.Likelihood(restarts=2).run(
        np.arange(30.0)[:, None] % 7, rows, "squared_exponential"
    )
    np.testing.assert_array_equal(result.core, np.arange(30))
    assert {"init", "threshold graph", "restart 1"} <= {
        record.start for record in result.fit.optima
    }


def test_refinements_are_objects_that_clone_and_run():
    latent, rows = sample_rows(21, KERNELS[0], 30, 1, 300, 0.02)
    object_ = clone(refine.Likelihood(restarts=2)).set_params(restarts=1)
    assert object_.get_params() == {
        "restarts": 1,
        "fit_shape": False,
        "time_budget": None,
        "descent": "auto",
        "max_iter": 25,
    }
    result = object_.run(latent, rows, "auto")
    assert rigid_gap(latent, result.latent) < 0.25
    assert clone(refine.Stress("uniform")).weights == "uniform"
    with pytest.raises(ValueError, match="restarts must be an integer"):
        refine.Likelihood(restarts=0.5).run(latent, rows, "auto")


def test_groups_that_are_not_correlated_are_as_near_as_is_likely():
    rng = np.random.default_rng(5)
    line = np.linspace(0.0, 3.0, 15)
    model = kernels.SquaredExponential().covariance((line[:, None] - line) ** 2)
    model += 0.05 * np.eye(15)
    factor = np.kron(np.eye(2), np.linalg.cholesky(model))
    cov = gplvm.sample_covariance(factor @ rng.standard_normal((30, 200)), centered=False)
    far = np.c_[np.r_[line, line + 400.0], rng.normal(0.0, 0.01, 30)]
    fit = refine.likelihood(cov, 200, init=far)
    first, second = fit.latent[:15], fit.latent[15:]
    gap = cdist(first, second).min()
    nearest = np.sqrt(kernels.SquaredExponential().sq_distance(200.0**-0.5))
    assert gap < 2.0 * nearest

    def log_likelihood(latent):
        return gplvm.log_likelihood(latent, cov, 200, fit.kernel, fit.variance, fit.noise)

    away = (second - second.mean(axis=0)) + first.mean(axis=0) + [300.0, 0.0]
    assert log_likelihood(fit.latent) > log_likelihood(np.r_[first, away]) - 0.51
