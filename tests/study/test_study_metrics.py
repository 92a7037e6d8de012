import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from ikd_graph.study import metrics


def random_rotation(rng, size):
    return np.linalg.qr(rng.normal(size=(size, size)))[0]


@pytest.mark.parametrize("seed", range(5))
def test_affine_r2_agrees_with_linear_regression(seed):
    rng = np.random.default_rng(seed)
    true, estimate = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    fitted = LinearRegression().fit(estimate, true).predict(estimate)
    assert metrics.affine_r2(true, estimate) == pytest.approx(r2_score(true, fitted))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_rigid_r2_ignores_rigid_motions_and_affine_r2_every_affine_map(seed, size):
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(30, size))
    moved = true @ random_rotation(rng, size) + rng.normal(size=size)
    assert metrics.rigid_r2(true, moved) == pytest.approx(1.0)
    assert metrics.rigid_r2(true, 7.0 * moved, scale=True) == pytest.approx(1.0)
    bent = true @ rng.normal(size=(size, size)) + 1.0
    assert metrics.affine_r2(true, bent) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_scaled_rigid_r2_agrees_with_procrustes_in_one_overall_number(seed):
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(50, 2))
    # Equal variance in both dimensions: the mean of their R² is then the overall one.
    true = (true - true.mean(axis=0)) / true.std(axis=0)
    estimate = 3.0 * true @ random_rotation(rng, 2) + rng.normal(scale=0.5, size=true.shape)
    disparity = procrustes(true, estimate)[2]
    assert metrics.rigid_r2(true, estimate, scale=True) == pytest.approx(1.0 - disparity)


def test_a_wrong_scale_makes_rigid_r2_negative_and_affine_r2_does_not_see_it(rng):
    true = rng.normal(size=(50, 2))
    assert metrics.rigid_r2(true, 5.0 * true) < -1.0
    assert metrics.affine_r2(true, 5.0 * true) == pytest.approx(1.0)


def test_missing_dimensions_count_as_zeros(rng):
    true = rng.normal(size=(50, 2)) * [10.0, 1.0]
    one = metrics.rigid_r2(true, true[:, :1])
    assert 0.4 < one < 0.6
    with pytest.raises(ValueError, match="at most the 1 dimensions of the truth"):
        metrics.rigid_r2(true[:, :1], true)


@pytest.mark.parametrize(
    ("true", "estimate", "message"),
    [
        (np.ones((5, 1)), np.arange(5.0), r"must vary, got a constant one \(dimension 0\)"),
        (np.arange(5.0), np.arange(4.0), "the same points in the same order, got 5 and 4 rows"),
        (np.arange(5.0), np.full(5, np.nan), "estimate must be finite"),
        (np.ones((2, 2, 2)), np.ones((2, 2)), "true must be a table"),
    ],
)
def test_bad_latents_are_refused(true, estimate, message):
    with pytest.raises(ValueError, match=message):
        metrics.affine_r2(true, estimate)


def test_knn_accuracy_does_not_depend_on_names_of_classes_and_repeats(digits):
    X, y = digits[0][:300], digits[1][:300]
    accuracy = metrics.knn_accuracy(X, y)
    assert accuracy == metrics.knn_accuracy(X, np.array(list("abcdefghij"))[y])
    assert 0.85 < accuracy < 1.0
    assert metrics.knn_scores(X, y, 10, seed=None).shape == (5,)
    assert metrics.silhouette(X, y) > 0.0


@pytest.mark.parametrize(
    ("y", "k", "message"),
    [
        ([0, 1, 0], 1, "one label for each of the 20 points"),
        (np.zeros(20), 1, "at least 2 classes"),
        (np.arange(20.0), 1, "got 20 classes for 20 points"),
        (np.arange(20) == 0, 1, "n_splits must be .* the smallest class has too few points"),
        (np.arange(20) % 2, 50, "k must be an integer from 1 to 16, got 50"),
    ],
)
def test_bad_classes_are_refused(y, k, message):
    with pytest.raises(ValueError, match=message):
        metrics.knn_accuracy(np.arange(20.0), y, k)


def test_a_faithful_embedding_is_perfect_in_every_neighbourhood_measure(rng):
    X = rng.normal(size=(60, 3))
    Z = X @ random_rotation(rng, 3)
    assert metrics.trustworthiness(X, Z) == 1.0
    assert metrics.continuity(X, Z) == 1.0
    assert metrics.local_distance_preservation(X, Z) == pytest.approx(1.0)
    assert metrics.global_distance_preservation(X, Z) == pytest.approx(1.0)


def test_a_tear_lowers_continuity_and_a_fold_lowers_trustworthiness():
    line = np.linspace(0.0, 1.0, 100)
    torn = np.where(line > 0.5, line + 5.0, -line)
    folded = np.abs(line - 0.5)
    ring = np.column_stack([np.cos(2 * np.pi * line[:-1]), np.sin(2 * np.pi * line[:-1])])
    assert metrics.trustworthiness(line, folded) < metrics.continuity(line, folded)
    assert metrics.continuity(ring, line[:-1]) < metrics.trustworthiness(ring, line[:-1])
    assert metrics.global_distance_preservation(line, torn) < 0.9


def test_large_data_are_sampled_and_constants_give_zero(rng):
    X = rng.normal(size=(200, 2))
    sampled = metrics.global_distance_preservation(X, X, max_points=50)
    assert sampled == pytest.approx(1.0)
    assert metrics.global_distance_preservation(X, np.zeros((200, 2))) == 0.0
