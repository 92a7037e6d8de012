"""How many dimensions: right on tables of the model, the same in any unit, with an interval."""

import numpy as np
import pytest
from matplotlib import pyplot
from scipy.stats import multivariate_normal

from ikd_graph import IKD, datasets, dimension, kernels


def drawn(size, n_columns, noise, seed=0, n_points=80):
    latent = np.random.default_rng(seed).normal(size=(n_points, size))
    kernel = kernels.SquaredExponential()
    return datasets.gplvm_data(latent, n_columns, kernel=kernel, noise=noise, seed=seed).X


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_number_of_dimensions_of_model_data(size):
    result = dimension.estimate(drawn(size, 200, 0.3), max_components=4)
    assert result.dimension == size
    assert result.interval[0] <= size <= result.interval[1]
    assert result.scores.max() == 0.0
    assert result.errors[result.scores.argmax()] == 0.0


@pytest.mark.slow
def test_five_dimensions_are_found_and_weak_data_have_a_wide_interval():
    assert dimension.estimate(drawn(5, 500, 0.3, n_points=120)).dimension == 5
    weak = dimension.estimate(drawn(4, 60, 1.0))
    assert weak.dimension < 4
    assert weak.interval[1] > weak.dimension


def test_neither_units_nor_levels_nor_constant_columns_count():
    X = drawn(2, 60, 0.3, n_points=40)
    plain = dimension.estimate(X, max_components=3)
    units = 10.0 ** np.arange(-30, 30)
    moved = dimension.estimate((X + np.arange(60.0)) * units, max_components=3)
    np.testing.assert_allclose(moved.scores, plain.scores, rtol=1e-4, atol=1e-4)
    same = dimension.estimate(np.c_[X, np.ones(40)], max_components=3)
    np.testing.assert_array_equal(same.scores, plain.scores)


def test_scores_are_log_densities_of_columns_that_were_not_fitted():
    X = drawn(1, 40, 0.5, n_points=30)
    table = (X - X.mean(axis=0)) / X.std(axis=0)
    line = np.random.default_rng(0).normal(size=(30, 1))
    training, held_out = table[:, :30], table[:, 30:]
    scores = dimension.column_log_densities(line, held_out)
    law = kernels.SquaredExponential().covariance((line - line.T) ** 2)
    best = max(
        multivariate_normal(cov=v * law + max(n, 0.01) * np.eye(30)).logpdf(held_out.T).sum()
        for v in np.geomspace(0.01, 3.0, 40)
        for n in np.geomspace(0.01, 3.0, 40)
    )
    constant = 10 * 15 * np.log(2.0 * np.pi)
    assert scores.shape == (10,)
    assert scores.sum() - constant == pytest.approx(best, abs=0.1)
    assert training.shape == (30, 30)


def test_columns_that_follow_one_another_are_held_out_in_runs():
    rng = np.random.default_rng(0)
    # Unrelated rows, every column eight times: a run says nothing of the next.
    slow = np.repeat(rng.normal(size=(40, 10)), 8, axis=1)
    assert dimension.estimate(slow, max_components=3).dimension == 1
    mixed = slow[:, rng.permutation(80)]
    assert dimension.estimate(mixed, max_components=3).dimension == 3


def test_the_estimator_takes_the_number_and_says_why():
    X = drawn(2, 150, 0.2, n_points=60)
    model = IKD("auto", refine=None).fit(X)
    assert model.n_components_ == model.settings_.n_components == 2
    assert "held-out columns" in model.settings_.reasons["n_components"]
    same = IKD(2, refine=None).fit(X)
    np.testing.assert_array_equal(model.embedding_, same.embedding_)


def test_an_estimate_prints_and_draws_itself():
    result = dimension.DimensionEstimate(
        2, (2, 3), np.array([-9.0, 0.0, -0.1]), np.array([0.5, 0.0, 0.1])
    )
    assert str(result) == "2 dimensions (2 to 3 predict as well)"
    ax = result.plot()
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[1, -9], [2, 0], [3, -0.1]])
    pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("X", "more", "message"),
    [
        (np.eye(5), {}, "X must have at least 20 columns that vary"),
        (np.ones((1, 30)), {}, "at least 2 rows"),
        (np.full((5, 30), np.nan), {}, "X must be finite"),
        (np.random.default_rng(0).normal(size=(9, 30)), {"max_components": 0}, "max_components"),
        (np.random.default_rng(0).normal(size=(9, 30)), {"n_folds": 1}, "n_folds must"),
    ],
)
def test_what_has_no_estimate_says_why(X, more, message):
    with pytest.raises(ValueError, match=message):
        dimension.estimate(X, **more)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [2, 3, 5])
def test_of_few_rows_fewer_dimensions_are_tried(n):
    result = dimension.estimate(np.random.default_rng(0).normal(size=(n, 40)))
    assert result.scores.size == n - 1
    assert 1 <= result.dimension < n
