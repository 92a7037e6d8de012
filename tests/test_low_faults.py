"""Small faults that were found once stay cured."""

import numpy as np
import pytest

from ikd_graph import IKD, gplvm, kernels


def test_a_length_scale_whose_square_overflows_is_refused():
    with pytest.raises(ValueError, match=r"length_scale must have a finite square, got 1e\+300"):
        kernels.SquaredExponential(length_scale=1e300)


def test_the_wrong_width_of_a_latent_is_named():
    fast = {"strategy": "geodesic", "affinity": "euclidean", "refine": None}
    model = IKD(2, graph=5, **fast).fit(np.random.default_rng(0).normal(size=(30, 9)))
    with pytest.raises(ValueError, match="Z must have the 2 columns of the embedding, got 3"):
        model.inverse_transform(np.zeros((4, 3)))


@pytest.mark.parametrize("size", [1e-310, 1e-80, 1e80, 1e160])
def test_values_whose_moments_overflow_or_vanish_are_refused(size):
    X = np.random.default_rng(0).normal(size=(12, 6))
    with pytest.raises(ValueError, match=r"largest value of X must lie between 1e-70 and 1e\+70"):
        IKD(1).fit(size * X)
    model = IKD(1, graph=5, refine=None, affinity="euclidean").fit(X)
    with pytest.raises(ValueError, match="multiply X by a power of ten"):
        model.transform(size * X)


def test_the_noise_of_rows_that_do_not_vary_is_finite():
    latent = np.arange(6.0)[:, None]
    for cov in (np.zeros((6, 6)), np.ones((6, 6)) - 0.5 * np.eye(6), -np.eye(6)):
        assert np.isfinite(gplvm.fit_variances(latent, cov, 9, "matern")).all()
    line = np.arange(12.0)[:, None] * np.ones(5)
    model = IKD(1, graph=5, refine=None, affinity="euclidean").fit(line)
    assert np.isfinite(model.score(line))
