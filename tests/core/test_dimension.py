"""How many dimensions: of samples, surfaces and noise, the same in any unit, with an interval."""

import numpy as np
import pytest
from matplotlib import pyplot

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
    assert result.scores[0] == 0.0
    assert result.errors[result.scores.argmax()] == 0.0


@pytest.mark.parametrize("size", [1, 2])
def test_a_bent_surface_has_no_more_dimensions_than_a_flat_one(size):
    rng = np.random.default_rng(3)
    flat = rng.uniform(-1.0, 1.0, size=(100, size))
    bent = np.c_[1.5 * flat, np.sin(1.5 * flat @ rng.normal(size=(size, size)))]
    X = bent @ rng.normal(size=(2 * size, 200))
    X += 0.3 * X.std(axis=0) * rng.normal(size=X.shape)
    assert dimension.estimate(X).dimension == size


@pytest.mark.parametrize("kind", ["white", "heavy", "counts", "levels"])
def test_noise_has_no_dimension_and_its_embedding_one(kind):
    rng = np.random.default_rng(1)
    X = {
        "white": rng.normal(size=(40, 80)),
        "heavy": rng.standard_t(2, size=(40, 80)),
        "counts": rng.poisson(2.0, size=(40, 80)),
        "levels": rng.normal(size=(40, 80)) + 2.0 * rng.normal(size=(40, 1)),
    }[kind]
    result = dimension.estimate(X)
    assert result.dimension == result.interval[0] == 0
    assert str(result).startswith("0 dimensions")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_without_a_dimension_the_embedding_has_one_coordinate():
    model = IKD("auto", refine=None).fit(np.random.default_rng(1).normal(size=(40, 80)))
    assert model.embedding_.shape == (40, 1)
    assert "0 dimensions" in model.settings_.reasons["n_components"]


@pytest.mark.slow
def test_five_dimensions_are_found_and_weak_data_have_a_wide_interval():
    assert dimension.estimate(drawn(5, 500, 0.3, n_points=120)).dimension == 5
    weak = dimension.estimate(drawn(4, 60, 0.5))
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


def test_scores_are_r2_of_rows_that_were_left_out():
    line = np.linspace(0.0, 3.0, 60)[:, None]
    rng = np.random.default_rng(0)
    signal = np.sin(line + rng.uniform(0.0, 6.0, 50))
    signal -= signal.mean(axis=0)
    columns = signal + 0.3 * rng.normal(size=signal.shape)
    columns -= columns.mean(axis=0)
    sample_cov = columns[:, :30] @ columns[:, :30].T
    sample_cov *= len(line) / np.trace(sample_cov)
    signal, columns = signal[:, 30:], columns[:, 30:]
    r2 = dimension.held_out_r2(line, sample_cov, columns)
    best = 1.0 - ((columns - signal) ** 2).sum() / (columns**2).sum()
    assert r2.shape == (20,)
    assert best - 0.04 < r2.mean() < best
    # Of positions that say nothing, nothing follows: a row is no evidence of itself.
    assert dimension.held_out_r2(rng.permutation(line), sample_cov, columns).mean() < 0.02


def test_columns_that_follow_one_another_are_held_out_in_runs():
    rng = np.random.default_rng(0)
    # Unrelated rows, every column eight times: a run says nothing of the next.
    slow = np.repeat(rng.normal(size=(40, 16)), 8, axis=1)
    slow += 0.1 * rng.normal(size=slow.shape)
    assert dimension.estimate(slow, max_components=3).dimension == 0
    mixed = slow[:, rng.permutation(128)]
    assert dimension.estimate(mixed, max_components=3).dimension == 3


def test_the_estimator_takes_the_number_and_says_why():
    X = drawn(2, 120, 0.2, n_points=40)
    model = IKD("auto", refine=None).fit(X)
    assert model.n_components_ == model.settings_.n_components == 2
    assert "held-out columns" in model.settings_.reasons["n_components"]
    same = IKD(2, refine=None).fit(X)
    np.testing.assert_array_equal(model.embedding_, same.embedding_)


def test_an_estimate_prints_and_draws_itself():
    result = dimension.DimensionEstimate(
        2, (2, 3), np.array([0.0, 0.3, 0.8, 0.79]), np.array([0.1, 0.05, 0.0, 0.01])
    )
    assert str(result) == "2 dimensions (2 to 3 predict as well)"
    ax = result.plot()
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[0, 0], [1, 0.3], [2, 0.8], [3, 0.79]])
    pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("X", "more", "message"),
    [
        (np.eye(5), {}, "X must have at least 20 columns that vary"),
        (np.ones((1, 30)), {}, "at least 2 rows"),
        (np.full((5, 30), np.nan), {}, "X must be finite"),
        (np.random.default_rng(0).normal(size=(9, 30)), {"max_components": 0}, "max_components"),
        (np.random.default_rng(0).normal(size=(2, 40)), {}, "8 of them different"),
        (np.tile(np.random.default_rng(0).normal(size=(9, 5)), 6), {}, "8 of them different"),
    ],
)
def test_what_has_no_estimate_says_why(X, more, message):
    with pytest.raises(ValueError, match=message):
        dimension.estimate(X, **more)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [3, 5])
def test_of_few_rows_fewer_dimensions_are_tried(n):
    result = dimension.estimate(np.random.default_rng(0).normal(size=(n, 40)))
    assert result.scores.size == n
    assert result.dimension < n
