import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import sq_distances

from ikd_graph import IKD, datasets, eigen


@pytest.mark.parametrize("reference", ["min_max", "min_mean", "center", 0, 7, -1])
@pytest.mark.parametrize(("n", "m"), [(20, 2), (60, 3), (450, 3)])
def test_euclidean_distances_come_back_exactly(reference, n, m):
    points = np.random.default_rng(n).normal(size=(n, m)) * np.arange(1, m + 1)
    sq_dist = sq_distances(points)
    found = eigen.coordinates(sq_dist, m, reference)
    np.testing.assert_allclose(sq_distances(found.coordinates), sq_dist, atol=1e-10)
    np.testing.assert_allclose(found.explained_variance_ratio.sum(), 1.0)
    assert found.negative_mass < 1e-20
    assert np.all(np.diff(found.eigenvalues) <= 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_gram_matrix_equals_equation_4(seed):
    points = np.random.default_rng(seed).normal(size=(9, 4))
    sq_dist = sq_distances(points)
    for reference, origin in [((), points.mean(axis=0)), *zip(np.ndindex(9), points, strict=True)]:
        gram = (points - origin) @ (points - origin).T
        np.testing.assert_allclose(eigen.gram_matrix(sq_dist, *reference), gram, atol=1e-12)


@pytest.mark.parametrize("reference", ["center", "min_max", 3])
def test_many_points_get_the_leading_eigenpairs_of_the_whole_spectrum(reference):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(500, 500)) * 0.3
    sq_dist = np.abs(sq_distances(rng.normal(size=(500, 3)) * [3, 2, 1]) + noise + noise.T)
    np.fill_diagonal(sq_dist, 0.0)
    result = eigen.coordinates(sq_dist, 3, reference)
    values, vectors = np.linalg.eigh(eigen.gram_matrix(sq_dist, result.reference))
    np.testing.assert_allclose(result.eigenvalues, values[:-4:-1], rtol=1e-10)
    leading = eigen.pin_signs(vectors[:, :-4:-1]) * np.sqrt(values[:-4:-1])
    np.testing.assert_allclose(result.coordinates, leading, atol=1e-7)
    squares = (values**2).sum()
    np.testing.assert_allclose(result.explained_variance_ratio, values[:-4:-1] ** 2 / squares)
    negative = (np.minimum(values, 0.0) ** 2).sum() / squares
    assert 0.0 < result.negative_mass <= negative * (1 + 1e-6)


def test_a_symmetric_grid_keeps_its_odd_directions_at_any_size():
    line = np.linspace(-1.0, 1.0, 25)
    grid = np.stack(np.meshgrid(line, 0.5 * line), axis=-1).reshape(-1, 2)
    found = eigen.coordinates(sq_distances(grid), 2)
    np.testing.assert_allclose(sq_distances(found.coordinates), sq_distances(grid), atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 40))
def test_permuting_the_points_permutes_the_latent(seed, n):
    rng = np.random.default_rng(seed)
    sq_dist = np.abs(sq_distances(rng.normal(size=(n, 3))) + 0.1 * rng.random((n, 1)))
    sq_dist = (sq_dist + sq_dist.T) / 2
    np.fill_diagonal(sq_dist, 0.0)
    order = rng.permutation(n)
    for reference in ("center", "min_max", "min_mean"):
        plain = eigen.coordinates(sq_dist, 2, reference).coordinates
        mixed = eigen.coordinates(sq_dist[np.ix_(order, order)], 2, reference).coordinates
        np.testing.assert_allclose(mixed, plain[order], atol=1e-8)


def test_equal_largest_distances_are_decided_by_the_mean_not_by_the_order():
    # A clipped matrix: every row has the same largest value.
    sq_dist = np.array([[0, 9, 5, 9], [9, 0, 1, 2], [5, 1, 0, 9], [9, 2, 9, 0]], dtype=float)
    assert eigen.reference_index(sq_dist, "min_max") == 1
    flip = sq_dist[::-1, ::-1]
    assert eigen.reference_index(flip, "min_max") == 2


def test_negative_eigenvalues_are_reported_and_never_rooted():
    sq_dist = np.array([[0.0, 1.0, 16.0], [1.0, 0.0, 1.0], [16.0, 1.0, 0.0]])
    with pytest.warns(UserWarning, match="1 of the 2 leading eigenvalues are not positive"):
        found = eigen.coordinates(sq_dist, 2)
    assert np.all(np.isfinite(found.coordinates))
    assert found.negative_mass > 0.01
    assert np.all(found.coordinates[:, 1] == 0.0)


def test_bad_arguments_are_named():
    sq_dist = sq_distances(np.arange(4.0)[:, None])
    with pytest.raises(ValueError, match="less than the number of points"):
        eigen.coordinates(sq_dist, 4)
    with pytest.raises(ValueError, match=r"reference must be one of .* index of a point"):
        eigen.coordinates(sq_dist, 2, "middle")
    with pytest.raises(ValueError, match=r"reference must be one of .*got 4"):
        eigen.coordinates(sq_dist, 2, 4)
    with pytest.raises(ValueError, match="sq_dist must be symmetric"):
        eigen.coordinates(np.triu(sq_dist), 2)


def spectrum(X, **settings):
    """Fifteen leading eigenvalues of a geodesic fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(15, **{"strategy": "geodesic", "refine": None, **settings})
        return model.fit(X).eigenvalues_


@pytest.mark.parametrize("kernel", ["squared_exponential", "matern"])
@pytest.mark.parametrize("n_components", [1, 2, 3, 4, 5])
def test_the_eigengap_finds_the_dimension_of_noisy_data(n_components, kernel):
    found = []
    for seed in range(3):
        latent = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(200, n_components))
        data = datasets.gplvm_data(latent, 1000, kernel=kernel, noise=0.1, seed=seed)
        found.append(eigen.eigengap(spectrum(data.X, kernel=kernel)))
    assert np.median(found) == n_components


def test_the_eigengap_of_a_long_sheet_is_two():
    roll = datasets.swiss_roll(500).X
    sq_dist = sq_distances(roll)
    values = spectrum(1.0 - sq_dist / sq_dist.max(), affinity="precomputed", graph=6)
    assert np.argmax(values[:-1] / values[1:]) == 0
    assert eigen.eigengap(values) == 2


def test_the_eigengap_knows_no_order_no_unit_and_no_answer_above_the_largest():
    values = np.r_[50.0, 30.0, 20.0, np.linspace(1.0, -1.0, 40)]
    shuffled = 1e-9 * np.random.default_rng(0).permutation(values)
    assert eigen.eigengap(values) == eigen.eigengap(shuffled) == 3
    assert eigen.eigengap(values, largest=2) == 1
    assert eigen.eigengap([1.0, 1.0]) == 1
    assert eigen.eigengap([1.0, 0.0]) == 1
    # Noise as large as the third eigenvalue hides it.
    assert eigen.eigengap([50.0, 45.0, 5.0, 1.0, -10.0]) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eigen.eigengap([1.0]), "at least 2 with a positive one"),
        (lambda: eigen.eigengap([-1.0, -2.0]), "at least 2 with a positive one"),
        (lambda: eigen.eigengap([1.0, np.nan]), "eigenvalues must be finite"),
        (lambda: eigen.eigengap([1.0, 0.5], largest=2), "largest must be"),
    ],
)
def test_a_spectrum_without_a_gap_to_find_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("seed", range(8))
def test_rounding_does_not_choose_a_sign_where_the_largest_entries_cancel(seed):
    vectors = np.repeat([[1.0], [-1.0], [0.3]], 4, axis=0)
    noise = 1e-15 * np.random.default_rng(seed).normal(size=vectors.shape)
    pinned = eigen.pin_signs(-(vectors + noise))
    np.testing.assert_allclose(pinned, vectors, atol=1e-14)
