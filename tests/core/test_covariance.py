import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from tables import sq_distances

from ikd_graph import IKD, covariance, kernels, strategies
from ikd_graph._base.threads import limit_threads
from ikd_graph.datasets import gp_mapping


@pytest.mark.parametrize("seed", range(3))
def test_correlation_equals_numpy(seed):
    X = np.random.default_rng(seed).normal(size=(30, 7)) * 3 + 5
    np.testing.assert_allclose(covariance.correlation(X), np.corrcoef(X), atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_covariance_equals_numpy(seed):
    X = np.random.default_rng(seed).normal(size=(30, 7)) + 2
    np.testing.assert_allclose(covariance.covariance(X), np.cov(X), atol=1e-13)
    np.testing.assert_allclose(covariance.covariance(X, centered=False), X @ X.T / 7, atol=1e-13)
    np.testing.assert_allclose(covariance.to_correlation(np.cov(X)), np.corrcoef(X), atol=1e-13)


def test_one_variance_for_all_points_is_the_mean_of_the_diagonal():
    cov = np.cov(np.random.default_rng(0).normal(size=(30, 7)))
    expected = np.clip(cov / np.trace(cov) * 30, -1.0, 1.0)
    np.fill_diagonal(expected, 1.0)
    n_above = np.count_nonzero(np.triu(cov / np.trace(cov) * 30, 1) > 1.0)
    with pytest.warns(UserWarning, match=f"{2 * n_above} covariances exceed the mean variance"):
        corr = covariance.to_correlation(cov, variance="mean")
    np.testing.assert_allclose(corr, expected, atol=1e-13)
    with pytest.warns(UserWarning, match="exceed the mean variance"):
        sparse = covariance.to_correlation(sp.csr_array(cov), variance="mean")
    np.testing.assert_allclose(sparse.toarray(), expected, atol=1e-13)
    with pytest.raises(ValueError, match="variance must be"):
        covariance.to_correlation(cov, variance="median")


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e200])
def test_the_scale_of_a_row_does_not_matter(scale):
    X = np.random.default_rng(0).normal(size=(6, 9))
    np.testing.assert_allclose(covariance.correlation(X * scale), np.corrcoef(X), atol=1e-12)


def test_the_gram_matrix_is_equal_for_any_number_of_threads():
    rows = covariance.unit_rows(np.random.default_rng(0).normal(size=(700, 33)))
    with limit_threads(1):
        one = covariance.gram(rows)
    with limit_threads(2):
        two = covariance.gram(rows)
    assert np.array_equal(one, two)
    assert np.array_equal(one, one.T)
    np.testing.assert_allclose(one, rows @ rows.T, atol=1e-14)


def test_constant_and_zero_rows_are_named():
    X = np.random.default_rng(0).normal(size=(5, 4))
    X[3] = 0.1
    with pytest.raises(ValueError, match=r"rows of X must vary.*1 constant row\(s\): 3;"):
        covariance.correlation(X)
    assert covariance.cosine(X).shape == (5, 5)
    X[1] = 0.0
    with pytest.raises(ValueError, match=r"1 all zero row\(s\): 1;"):
        covariance.cosine(X)


def test_values_outside_the_domain_are_counted_before_they_are_lifted():
    corr = np.array([[1.0, -0.2, 0.5], [-0.2, 1.0, 1.3], [0.5, 1.3, 1.0]])
    with pytest.warns(UserWarning, match="1 of 3 pairs have a covariance <= 0 and 1 one above"):
        lifted = covariance.clip_correlations(corr)
    assert lifted.min() == covariance.FLOOR
    assert lifted.max() == 1.0


def test_a_sparse_covariance_is_divided_like_a_dense_one():
    cov = np.cov(np.random.default_rng(0).normal(size=(8, 5)))
    cov[2, 3] = cov[3, 2] = 0.0
    stored = sp.coo_array((cov.ravel(), np.indices(cov.shape).reshape(2, -1)), shape=cov.shape)
    corr = covariance.to_correlation(stored)
    assert corr.nnz == 64
    np.testing.assert_allclose(corr.toarray(), covariance.to_correlation(cov))
    off = sp.csr_array(np.array([[0.0, 0.5], [0.5, 0.0]]))
    assert covariance.to_correlation(off).toarray().tolist() == [[1.0, 0.5], [0.5, 1.0]]
    with pytest.raises(ValueError, match=r"positive variance for every point .* got 1 points"):
        covariance.to_correlation(sp.csr_array([[1.0, 0.5], [0.5, 0.0]]))
    with pytest.warns(UserWarning, match="1 covariances exceed"):
        covariance.to_correlation([[1.0, 0.5], [1.5, 1.0]])


def test_the_sampling_variance_is_that_of_repeated_draws():
    rng = np.random.default_rng(0)
    r, n = 0.6, 200
    pair = rng.normal(size=(4000, 2, n))
    pair[:, 1] = r * pair[:, 0] + np.sqrt(1 - r**2) * pair[:, 1]
    found = [np.corrcoef(one)[0, 1] for one in pair]
    np.testing.assert_allclose(np.var(found), covariance.sampling_variance(r, n), rtol=0.1)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_the_euclidean_similarity_is_what_its_formula_says_in_any_unit(scale):
    X = np.random.default_rng(0).normal(size=(40, 5)) + 2.0
    found, squares = covariance.euclidean(X * scale), sq_distances(X)
    np.testing.assert_allclose(found, 1.0 - squares / squares.sum() * 40 * 39, atol=1e-13)
    assert np.array_equal(found, found.T)
    assert np.all(np.diagonal(found) == 1.0)


def test_a_table_of_one_row_has_no_euclidean_scale():
    for rows in (np.zeros((4, 3)), np.full((4, 3), 7.0), np.tile([0.1, 0.2, 0.7], (4, 1))):
        with pytest.raises(ValueError, match="rows of X must vary, got one row"):
            covariance.euclidean(rows)


def test_algorithm_1_of_the_paper_on_rows():
    latent = np.random.default_rng(5).uniform(0.0, 1.5, size=(25, 2))
    X = gp_mapping(latent, 4000, kernels.SquaredExponential(), seed=5)
    cov = np.cov(X)
    ratio = np.minimum(cov / np.diag(cov).mean(), 1.0)
    np.fill_diagonal(ratio, 1.0)
    sq_dist = -2.0 * np.log(ratio)
    origin = sq_dist.max(axis=0).argmin()
    gram = 0.5 * (sq_dist[:, [origin]] + sq_dist[[origin]] - sq_dist)
    values, vectors = np.linalg.eigh(gram)
    expected = vectors[:, -2:] * np.sqrt(values[-2:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        corr = covariance.to_correlation(cov, variance="mean")
        model = IKD(2, affinity="precomputed", strategy=strategies.Eigen.paper(), refine=None)
        fitted = model.fit_transform(corr)
    np.testing.assert_allclose(pdist(fitted), pdist(expected), rtol=1e-8)
