"""Inverting a 1000 x 1000 matrix, against the squared exponential in the same run."""

import numpy as np
import pytest

from ikd_graph import kernels

KERNELS = [
    kernels.SquaredExponential(),
    *[kernels.Matern(nu=nu) for nu in (0.5, 1.5, 2.5, 0.8, 3.3)],
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.benchmark(group="invert a 1000 x 1000 covariance")
def bench_inverse(benchmark, kernel):
    cov = np.random.default_rng(0).uniform(0.01, 1.0, (1000, 1000))
    found = benchmark(kernel.sq_distance, cov)
    np.testing.assert_allclose(kernel.covariance(found), cov, rtol=1e-9)
