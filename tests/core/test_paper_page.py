"""The paper on one page, `ikd_graph.paper`, against the estimator with the paper's strategies."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from ikd_graph import IKD, covariance, kernels, paper
from ikd_graph.blockwise import rigid_fit
from ikd_graph.datasets import FIXED_LATENTS, fixed_latent, gplvm_data
from ikd_graph.graph import Threshold
from ikd_graph.metrics import affine_r2
from ikd_graph.strategies import Blockwise, Eigen, Geodesic

PAGES = {
    "algorithm_1": (Eigen, paper.algorithm_1),
    "blockwise": (Blockwise, paper.blockwise),
    "geodesic": (Geodesic, paper.geodesic),
}
TABLES = {name: (gplvm_data(name, 1000, seed=0).X, 0.1) for name in FIXED_LATENTS}
TABLES["digits"] = (load_digits().data, 0.9)
MATERN = kernels.Matern(nu=2.5, length_scale=0.5)
CASES = [(name, kernel) for name in FIXED_LATENTS for kernel in ("squared_exponential", MATERN)]
CASES.append(pytest.param("digits", "squared_exponential", marks=pytest.mark.slow))

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def distance_after_motion(first, second):
    """Largest distance of a point, in radii, after the rigid motion that fits best."""
    moved = rigid_fit(first, second).apply(first)
    return np.abs(moved - second).max() / np.abs(second - second.mean(axis=0)).max()


@pytest.mark.parametrize("method", PAGES)
@pytest.mark.parametrize(("name", "kernel"), CASES, ids=str)
def test_the_estimator_with_the_papers_strategies_is_the_page(name, method, kernel):
    (X, s0), (strategy, page) = TABLES[name], PAGES[method]
    rule = {} if strategy is Eigen else {"s0": s0}
    model = IKD(
        3,
        strategy=strategy.paper(),
        affinity="correlation",
        graph=Threshold(s0, prune=False),
        kernel=kernel,
        refine=None,
        n_landmarks=None,
    )
    latent = page(X, 3, **rule, f=kernel)
    assert distance_after_motion(latent, model.fit_transform(X)) < 1e-10


@pytest.mark.parametrize("method", PAGES)
def test_one_variance_for_all_points_is_line_3_of_algorithm_1(method):
    X, (strategy, page) = TABLES["medium"][0], PAGES[method]
    rule = {} if strategy is Eigen else {"s0": 0.3}
    latent = page(X, 2, **rule, variance="mean")
    model = IKD(2, strategy=strategy.paper(), affinity="precomputed", graph=0.3, refine=None)
    model.set_params(kernel="squared_exponential", n_landmarks=None)
    scaled = covariance.to_correlation(np.cov(X), variance="mean")
    assert distance_after_motion(latent, model.fit_transform(scaled)) < 1e-10
    assert distance_after_motion(latent, page(X, 2, **rule)) > 1e-3


def test_cliques_and_exact_covariances_recover_the_latent():
    data = gplvm_data("easy", 10_000, seed=0)
    rule = {"f": kernels.SquaredExponential(length_scale=0.5)}
    assert affine_r2(data.latent, paper.blockwise(data.X, 3, **rule)) > 0.99
    z = fixed_latent("easy")
    exact = rule["f"].covariance(((z[:, None] - z) ** 2).sum(axis=-1))
    # Rows with a mean of 0 whose products are the covariances.
    root = np.linalg.cholesky(exact + 1e-13 * np.eye(100))
    latent = paper.algorithm_1(np.hstack([root, -root]), 3, **rule)
    assert affine_r2(z, latent) > 1.0 - 1e-6


@pytest.mark.parametrize("page", [page for _, page in PAGES.values()], ids=PAGES)
def test_bad_arguments_are_refused_in_words(page):
    X = np.random.default_rng(0).normal(size=(6, 20))
    for M in (0, 6, 2.5):
        with pytest.raises(ValueError, match=r"M must be an integer (at least 1|from 1 to 5), got"):
            page(X, M)
    with pytest.raises(ValueError, match="X must have at least 2 rows"):
        page(X[:1], 1)
    with pytest.raises(ValueError, match="variance must be one of"):
        page(X, 2, variance="none")
    with pytest.raises(ValueError, match="kernel must be one of"):
        page(X, 2, f="none")
