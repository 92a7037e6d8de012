"""Likelihood and stress refine: against sklearn's SMACOF, and against their own closed form.

Run with ``pytest tests/benchmarks -o python_files='bench_*.py' --benchmark-only -o addopts=""``.
"""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ikd_graph import IKD, gplvm, graph, kernels, refine
from ikd_graph._threads import limit_threads
from ikd_graph.refine import descent, minimize, objective
from ikd_graph.study.datasets.synthetic import gplvm_data, mapped_data
from ikd_graph.study.metrics import affine_r2

KERNEL = kernels.SquaredExponential()


@pytest.mark.parametrize("kernel", [kernels.get(name) for name in kernels.KERNELS], ids=repr)
@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.benchmark(group="one evaluation of the likelihood and its gradient")
def test_evaluation(benchmark, kernel, n):
    rng = np.random.default_rng(0)
    latent = rng.uniform(-2.0, 2.0, (n, 3))
    cov = kernel.covariance(cdist(latent, latent, "sqeuclidean")) + 0.1 * np.eye(n)
    at = objective.Objective(cov, kernel, 3)
    with limit_threads(1):
        benchmark(at, at.vector(latent, 1.0, 0.1))


@pytest.mark.parametrize("way", ["from Fisher's information", "L-BFGS"])
@pytest.mark.benchmark(group="descent from a closed form, 100 points")
def test_descent(benchmark, way):
    data = gplvm_data("medium", 1000, kernel="matern", seed=50)
    cov = gplvm.sample_covariance(data.X)
    kernel = kernels.Matern(length_scale=0.5)
    at = objective.Objective(cov, kernel, 3)
    start = descent.anneal(at, refine.starts(cov, 1000, 3, kernel)["threshold + stress"], "stress")
    start = descent.fit_size(at, at.latent(start.vector), "stress")
    scored = minimize.score(at, start, 180, tolerance=1e-10)
    followed = minimize.polish(at, start, 2000)
    assert abs(scored.value - followed.value) < 1e-4
    with limit_threads(1):
        if way == "L-BFGS":
            benchmark(minimize.polish, at, start, 2000)
        else:
            benchmark(minimize.score, at, start, 180, tolerance=1e-10)
    benchmark.extra_info["above the lowest"] = (
        followed if way == "L-BFGS" else scored
    ).value - min(scored.value, followed.value)


@pytest.mark.parametrize("n_observed", [100, 1000])
@pytest.mark.benchmark(group="likelihood refine of 100 points")
def test_likelihood_refine(benchmark, n_observed):
    data = gplvm_data("medium", n_observed, seed=50)
    cov = gplvm.sample_covariance(data.X)
    with limit_threads(1):
        fit = benchmark.pedantic(
            refine.likelihood, (cov, n_observed, 3, KERNEL), rounds=3, warmup_rounds=1
        )
    benchmark.extra_info["r2"] = affine_r2(data.latent, fit.latent)
    assert benchmark.extra_info["r2"] > 0.9


@pytest.mark.parametrize("way", ["closed form", "likelihood"])
@pytest.mark.benchmark(group="1000 points, 100 observed dimensions")
def test_refine_of_many_points_against_the_closed_form(benchmark, way):
    data = mapped_data("gp", 100, seed=50)
    if way == "closed form":
        run = IKD(n_components=3, refine=None).fit_transform
        arguments = (data.X,)
    else:
        cov = gplvm.sample_covariance(data.X)

        def run(cov):
            return refine.likelihood(cov, 100, 3, KERNEL).latent

        arguments = (cov,)
    with limit_threads(1):
        latent = benchmark.pedantic(run, arguments, rounds=3, warmup_rounds=1)
    benchmark.extra_info["r2"] = affine_r2(data.latent, latent)
    assert benchmark.extra_info["r2"] > (0.9 if way == "closed form" else 0.995)


@pytest.mark.parametrize("who", ["ikd_graph", "sklearn"])
@pytest.mark.benchmark(group="60 steps of SMACOF on 500 points, all weights alike")
def test_stress(benchmark, who):
    from sklearn.manifold import smacof

    rng = np.random.default_rng(0)
    latent = rng.uniform(-1.0, 1.0, (500, 2))
    start = latent + 0.1 * rng.standard_normal(latent.shape)
    distances = cdist(latent, latent)
    # A complete graph, so that both move to the same distances.
    g = graph.threshold(KERNEL.covariance(distances**2), 1e-3)
    assert g.n_edges == 500 * 499 // 2

    def ours():
        fit = refine.stress(start, g, KERNEL, weights="uniform", max_iter=60)
        return fit.latent

    def peer():
        return smacof(
            distances,
            n_components=2,
            init=start,
            n_init=1,
            max_iter=60,
            eps=0.0,
            normalized_stress=False,
        )[0]

    with limit_threads(1):
        a, b = ours(), peer()
        np.testing.assert_allclose(cdist(a, a), cdist(b, b), atol=1e-4)
        benchmark(ours if who == "ikd_graph" else peer)
