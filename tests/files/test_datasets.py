"""Data sets by name: digits, the paper's latents, and the classics."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ikd_graph import datasets, kernels


def test_digits_need_no_download():
    data = datasets.load("digits")
    assert data.X.shape == (1797, 64)
    assert data.image_shape == (8, 8)
    assert data.label_names == tuple("0123456789")


def test_the_latent_of_eq_12_has_its_covariance():
    draws = datasets.ou_latent(12, 40000, seed=0)
    expected = 6.0 * np.exp(-np.abs(np.subtract.outer(range(12), range(12))) / 5.0)
    np.testing.assert_allclose(draws @ draws.T / 40000, expected, atol=0.2)
    assert np.abs(datasets.ou_latent(500, 3, clip=2.0, seed=0)).max() == 2.0


def test_the_fixed_latents_have_their_landmarks():
    medium = datasets.fixed_latent("medium")
    np.testing.assert_allclose(medium[[0, -1], 1:], [[1.25, -0.5], [1.25, 0.5]])
    easy = datasets.fixed_latent("easy", seed=1)
    assert np.unique(easy[:, :2].round(9), axis=0).shape == (100, 2)
    assert easy[:, 2].max() == pytest.approx(1.41782, abs=1e-5)
    hard = datasets.fixed_latent("hard", seed=1)
    assert np.hypot(hard[:, 0], hard[:, 1]).mean() == pytest.approx(1.0, abs=0.05)
    np.testing.assert_array_equal(hard, datasets.fixed_latent("hard", seed=1))
    with pytest.raises(ValueError, match="square number for 'easy', got 90; try 81 or 100"):
        datasets.fixed_latent("easy", 90)
    with pytest.raises(ValueError, match="must be even for 'hard', got 91"):
        datasets.fixed_latent("hard", 91)
    with pytest.raises(ValueError, match="name must be one of"):
        datasets.fixed_latent("harder")


@pytest.mark.parametrize("kernel", ["squared_exponential", kernels.Matern(nu=0.5)])
def test_gp_observations_have_the_covariance_of_the_latent(kernel):
    latent = datasets.fixed_latent("medium", 30)
    X = datasets.gp_mapping(latent, 60000, kernel, variance=4.0, seed=0)
    expected = 4.0 * kernels.get(kernel).covariance(cdist(latent, latent, "sqeuclidean"))
    np.testing.assert_allclose(X @ X.T / 60000, expected, atol=0.15)


def test_the_classics_are_built_in():
    moons, roll, spikes = (
        datasets.load(name) for name in ("half_moons", "swiss_roll", "spike_counts")
    )
    assert moons.X.shape == (100, 2)
    assert set(moons.labels[0].texts) == {"upper", "lower"}
    assert np.all(np.round(spikes.X) == spikes.X)
    # Neighbors on the sheet are as far apart as in space: the latent is isometric.
    gap = cdist(roll.latent, roll.latent) + 1e3 * np.eye(500)
    i, j = np.unravel_index(np.argsort(gap, axis=None)[:40], gap.shape)
    in_space = np.linalg.norm(roll.X[i] - roll.X[j], axis=1)
    np.testing.assert_allclose(gap[i, j], in_space, rtol=0.02)
