"""Input that an estimator must not take for what it is not."""

import numpy as np
import pytest

from ikd_graph import IKD, kernels
from ikd_graph.cli import main


@pytest.fixture
def X(rng):
    return np.cos(rng.random((40, 2)) @ rng.standard_normal((2, 30)))


def test_what_is_masked_is_not_used(X):
    masked = np.ma.masked_array(X, np.zeros(X.shape, bool))
    model = IKD(2).fit(masked)
    masked[3, 4] = np.ma.masked
    with pytest.raises(ValueError, match="X must hold every value, got 1 masked; drop"):
        IKD(2).fit(masked)
    with pytest.raises(ValueError, match="X must hold every value, got 1 masked"):
        model.transform(masked)


@pytest.mark.parametrize("jobs", ["abc", 0, 1.5, True])
def test_a_number_of_threads_is_a_whole_number(X, jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        IKD(2, n_jobs=jobs).fit(X)


def test_an_order_that_would_take_forever_is_refused():
    with pytest.raises(ValueError, match=r"nu must be in .0, 100000., got 1000000000"):
        kernels.Matern(nu=1e9)


@pytest.mark.parametrize("value", ["", ","])
def test_an_empty_list_of_numbers_is_refused(value, capsys):
    assert main(["compare", "half_moons", "--noise", value]) == 2
    assert "invalid" in capsys.readouterr().err
