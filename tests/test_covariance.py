import numpy as np
import pytest
import scipy.sparse as sp

from ikd_graph import covariance
from ikd_graph._threads import limit_threads


@pytest.mark.parametrize("seed", range(3))
def test_correlation_equals_numpy(seed):
    X = np.random.default_rng(seed).normal(size=(30, 7)) * 3 + 5
    np.testing.assert_allclose(covariance.correlation(X), np.corrcoef(X), atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_covariance_equals_numpy(seed):
    X = np.random.default_rng(seed).normal(size=(30, 7)) + 2
    np.testing.assert_allclose(covariance.covariance(X), np.cov(X), atol=1e-13)
    np.testing.assert_allclose(covariance.covariance(X, centre=False), X @ X.T / 7, atol=1e-13)
    np.testing.assert_allclose(covariance.to_correlation(np.cov(X)), np.corrcoef(X), atol=1e-13)


def test_cosine_does_not_centre():
    X = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    np.testing.assert_allclose(covariance.cosine(X)[0, 1], 2 / np.sqrt(6))


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e200])
def test_the_scale_of_a_row_does_not_matter(scale):
    X = np.random.default_rng(0).normal(size=(6, 9))
    np.testing.assert_allclose(covariance.correlation(X * scale), np.corrcoef(X), atol=1e-12)


def test_the_gram_matrix_is_symmetric_and_has_the_same_bits_for_any_number_of_threads():
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
        lifted = covariance.into_domain(corr)
    assert lifted.min() == covariance.FLOOR
    assert lifted.max() == 1.0


def test_a_clean_matrix_goes_through_without_a_warning():
    corr = np.array([[1.0, 0.2], [0.2, 1.0]])
    assert np.array_equal(covariance.into_domain(corr), corr)


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


def naive_euclidean(X):
    gaps = [np.sum((a - b) ** 2) for i, a in enumerate(X) for b in X[:i]]
    variance = np.mean(gaps) / 2
    return np.array([[1 - np.sum((a - b) ** 2) / (2 * variance) for b in X] for a in X])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_the_euclidean_similarity_is_what_its_formula_says(seed, scale):
    X = np.random.default_rng(seed).normal(size=(40, 5)) + 2.0
    found = covariance.euclidean(X * scale)
    np.testing.assert_allclose(found, naive_euclidean(X), atol=1e-13)
    assert np.array_equal(found, found.T)
    assert np.all(np.diagonal(found) == 1.0)


def test_euclidean_similarity_estimates_the_kernel_up_to_what_all_points_share():
    places = np.linspace(0.0, 4.0, 12)[:, None]
    kernel = np.exp(-0.5 * (places - places.T) ** 2)
    root = np.linalg.cholesky(kernel + 1e-10 * np.eye(12))
    X = 3.0 * root @ np.random.default_rng(0).normal(size=(12, 20_000))
    shared = kernel[np.triu_indices(12, 1)].mean()
    expected = 1.0 - (1.0 - kernel) / (1.0 - shared)
    np.testing.assert_allclose(covariance.euclidean(X), expected, atol=0.05)


@pytest.mark.parametrize("offset", [1.0, 1e3])
def test_offsets_of_columns_leave_the_euclidean_similarity(offset):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 6))
    moved = X + offset * rng.normal(size=6)
    np.testing.assert_allclose(covariance.euclidean(moved), covariance.euclidean(X), atol=1e-9)


def test_the_nearest_rows_in_euclidean_similarity_are_the_nearest_rows():
    X = np.random.default_rng(1).normal(size=(60, 3)) * [1.0, 5.0, 0.1] + [100.0, 0.0, -7.0]
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    order = np.argsort(-covariance.euclidean(X), axis=1)[:, :6]
    assert np.array_equal(order, np.argsort(distances, axis=1)[:, :6])


def test_two_columns_are_enough_for_euclidean_similarity_where_correlations_know_two_values():
    X = np.random.default_rng(2).normal(size=(30, 2))
    assert np.unique(covariance.correlation(X).round(9)).size == 2
    assert np.unique(covariance.euclidean(X).round(9)).size > 400


def test_new_rows_are_compared_on_the_scale_of_the_old_ones():
    X = np.random.default_rng(3).normal(size=(25, 4)) + 1.0
    whole, known = covariance.euclidean_rows(X), covariance.euclidean_rows(X[:20])
    new = known.scaled(X[20:])
    half = 0.5 * (new**2).sum(axis=1)
    variance = np.sum(np.var(X[:20], axis=0, ddof=1))
    squares = np.sum((X[20:, None] - X[None, :20]) ** 2, axis=2)
    expected = 1.0 - squares / (2.0 * variance)
    products = new @ known.points.T - half[:, None] - known.half + 1.0
    np.testing.assert_allclose(products, expected, atol=1e-13)
    assert known.scale != whole.scale


def test_a_far_origin_does_not_cost_the_digits_of_distances():
    X = np.random.default_rng(4).normal(size=(20, 3))
    far = X + 1e6
    made = covariance.euclidean_rows(far)
    squares = 2.0 * made.scale**2 * (1.0 - covariance.euclidean_similarity(made))
    expected = np.sum((far[:, None] - far[None]) ** 2, axis=2)
    assert np.abs(squares - expected).max() < 1e-3 < 1e-2 * expected.max()


def test_a_table_of_one_value_has_no_euclidean_scale_and_equal_rows_are_alike():
    for value in (0.0, 7.0):
        with pytest.raises(ValueError, match="rows of X must vary, got the value"):
            covariance.euclidean(np.full((4, 3), value))
    assert np.all(covariance.euclidean(np.tile([0.1, 0.2, 0.7], (4, 1))) == 1.0)
