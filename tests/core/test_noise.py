"""How much of a table is independent noise: of samples of the model, and of noise alone."""

import numpy as np
import pytest

from ikd_graph import covariance, datasets, kernels


def sample(n_points, n_columns, noise, length_scale=1.0, seed=0):
    """Samples of a Gaussian process over points of the plane."""
    latent = np.random.default_rng(seed).normal(size=(n_points, 2))
    kernel = kernels.SquaredExponential(length_scale=length_scale)
    return datasets.gplvm_data(latent, n_columns, kernel=kernel, noise=noise, seed=seed).X


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.8])
@pytest.mark.parametrize(("n_points", "n_columns"), [(250, 60), (100, 200), (60, 1000)])
def test_the_fraction_of_noise_is_told_to_a_tenth(n_points, n_columns, fraction):
    for seed in range(3):
        X = sample(n_points, n_columns, np.sqrt(fraction / (1.0 - fraction)), seed=seed)
        assert covariance.noise_fraction(X, n_columns) == pytest.approx(fraction, abs=0.1)


@pytest.mark.parametrize("length_scale", [1.0, 3.0])
@pytest.mark.parametrize("noise", [0.5, 1.0, 2.0])
def test_the_variance_of_the_noise_does_not_depend_on_levels(length_scale, noise):
    for size in ((250, 60), (100, 200), (60, 1000)):
        X = sample(*size, noise, length_scale)
        found = covariance.noise_variance(X, size[1])
        assert found == pytest.approx(noise**2, rel=0.12)
        rng = np.random.default_rng(1)
        X = X + 5.0 * rng.normal(size=size[1]) + 5.0 * rng.normal(size=(size[0], 1))
        assert covariance.noise_variance(X, size[1]) == pytest.approx(found, rel=1e-6)
        assert covariance.noise_variance(10.0 * X, size[1]) == pytest.approx(100.0 * found)


@pytest.mark.parametrize("level", [0.0, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("size", [(90, 60), (200, 100), (40, 400), (300, 40)])
def test_noise_is_noise_whatever_its_levels_units_and_tails(size, level):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        tables = {
            "gaussian": rng.normal(size=size),
            "Student's t, 5": rng.standard_t(5, size=size),
            "uniform": rng.uniform(-2.0, 2.0, size),
            "units": rng.normal(size=size) * 2.0 ** rng.uniform(-1.0, 1.0, size[1]),
        }
        for name, X in tables.items():
            levels = level * rng.normal(size=size[1])
            assert covariance.noise_fraction(X + levels, size[1]) >= 0.95, name


def test_tables_of_next_to_nothing_have_a_fraction_of_noise():
    for X in (np.ones((5, 6)), np.arange(6.0)[None], np.arange(6.0)[:, None], np.eye(2)):
        assert 0.0 <= covariance.noise_fraction(X, X.shape[1]) <= 1.0
