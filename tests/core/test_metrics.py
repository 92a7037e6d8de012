import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, silhouette_score
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from ikd_graph import metrics
from ikd_graph._base import limits


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


@pytest.mark.parametrize(
    ("unit", "offset", "dtype"),
    [(1.0, 2.0**27, np.float64), (1e-5, 5.4e6, np.float64), (1.0, 0.0, np.float32)]
    + [(2.0**power, 0.0, np.float64) for power in (-532, -43, 532)],
)
def test_measures_depend_on_no_unit_origin_or_precision(unit, offset, dtype):
    rng = np.random.default_rng(0)
    # So coarse that no offset rounds them.
    truth = np.round(64.0 * rng.normal(size=(60, 2))) / 64.0
    estimate = np.round(64.0 * (truth @ random_rotation(rng, 2) + rng.normal(0.0, 0.1, (60, 2))))
    classes = np.array(["left", "right"])[(truth[:, 0] > 0.0).astype(int)]

    def measured(truth, estimate):
        return [
            metrics.affine_r2(truth, estimate),
            metrics.rigid_r2(truth, estimate),
            metrics.rigid_r2(truth, 3.0 * estimate, scale=True),
            metrics.held_out_r2(estimate, truth),
            metrics.knn_accuracy(estimate, classes),
            metrics.silhouette(estimate, classes),
            metrics.decoding_r2(estimate, truth[:, 0]),
        ]

    plain = measured(truth, estimate / 64.0)
    moved = [(table * unit + offset).astype(dtype) for table in (truth, estimate / 64.0)]
    np.testing.assert_allclose(measured(*moved), plain, atol=1e-4 if unit == 1e-5 else 1e-12)
    assert min(plain[:5]) > 0.8


def test_units_of_columns_do_not_matter_to_an_affine_map(rng):
    true = rng.normal(size=(50, 3))
    units = np.array([1e-120, 1.0, 1e13])
    assert metrics.affine_r2(true * units, (true + 1.0) * units[::-1]) == pytest.approx(1.0)


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT])
@pytest.mark.parametrize("measure", [metrics.knn_accuracy, metrics.silhouette])
def test_points_without_a_label_are_left_out_and_counted(measure, missing, rng):
    Z = rng.normal(size=(60, 2))
    words = ["right" if z > 0.0 else "left" for z in Z[:, 0]]
    expected = measure(Z[20:], words[20:])
    given = [missing] * 20 + words[20:]
    for labels in (given, np.array(given, dtype=object), pd.Series(given)):
        with pytest.warns(UserWarning, match="20 of 60 points have no label and are left out"):
            assert measure(Z, labels) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_scaled_rigid_r2_agrees_with_procrustes_in_one_overall_number(seed):
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(50, 2))
    # Equal variance in both dimensions: the mean of their R² is then the overall one.
    true = (true - true.mean(axis=0)) / true.std(axis=0)
    estimate = 3.0 * true @ random_rotation(rng, 2) + rng.normal(scale=0.5, size=true.shape)
    disparity = procrustes(true, estimate)[2]
    assert metrics.rigid_r2(true, estimate, scale=True) == pytest.approx(1.0 - disparity)


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
        ([0, 1, 0], 1, "y must be one for each of 20 points"),
        (np.zeros(20), 1, "at least 2 classes"),
        (np.arange(20.0), 1, "got 20 classes for 20 points"),
        (np.arange(20) % 2, 50, "k must be an integer from 1 to 19, got 50"),
    ],
)
def test_bad_classes_are_refused(y, k, message):
    with pytest.raises(ValueError, match=message):
        metrics.knn_accuracy(np.arange(20.0), y, k)


def test_parts_have_points_of_every_class():
    line = np.arange(20.0)
    with pytest.raises(ValueError, match=r"n_splits must be .* the smallest class has too few"):
        metrics.knn_scores(line, line == 0, 1)
    with pytest.raises(ValueError, match="k must be an integer from 1 to 16, got 50"):
        metrics.knn_scores(line, line % 2, 50)


@pytest.mark.parametrize("k", [1, 5, 79])
def test_knn_accuracy_leaves_one_out_as_scikit_learn_does(k, rng):
    Z, y = rng.normal(size=(80, 2)), rng.integers(4, size=80)
    judge = cross_val_score(KNeighborsClassifier(k), Z, y, cv=LeaveOneOut())
    assert metrics.knn_accuracy(Z, y, k) == pytest.approx(judge.mean())


@pytest.mark.parametrize("n", [60, 1200])
def test_no_score_depends_on_the_order_of_rows(n, rng, monkeypatch):
    monkeypatch.setattr(limits, "DOUBLE", 1000)
    # Many points are equal, or as far from others: who is nearest is a matter of ties.
    Z, mixed = rng.integers(6, size=(n, 2)).astype(float), rng.permutation(n)
    y, held = rng.integers(3, size=n), rng.normal(size=(n, 2))

    def scores(order):
        return (
            metrics.knn_accuracy(Z[order], y[order]),
            metrics.silhouette(Z[order], y[order]),
            metrics.decoding_r2(Z[order], held[order, 0]),
            metrics.held_out_r2(Z[order], held[order]),
        )

    np.testing.assert_allclose(scores(mixed), scores(np.arange(n)), rtol=1e-12)


def test_the_order_of_rows_says_nothing_about_an_embedding_that_collapsed():
    assert metrics.held_out_r2(np.zeros((300, 2)), np.arange(300.0)) < 0.0


def test_the_silhouette_of_many_points_is_that_of_a_sample_with_every_class(rng, monkeypatch):
    monkeypatch.setattr(limits, "DOUBLE", 1000)
    codes = np.repeat([0, 1, 2], [900, 599, 1])
    Z = codes[:, None] * [3.0, 1.0] + rng.normal(size=(1500, 2))
    exact = silhouette_score(Z, codes)
    assert metrics.silhouette(Z, codes) == pytest.approx(exact, abs=0.02)


def test_a_quantity_is_decoded_as_by_a_naive_neighbor_mean(rng):
    Z = rng.normal(size=(60, 2))
    y = Z[:, 0] + 0.1 * rng.normal(size=60)
    predicted = np.empty(60)
    for block in np.split(np.arange(60), 5):
        rest = np.setdiff1d(np.arange(60), block)
        for i in block:
            near = rest[np.argsort(np.linalg.norm(Z[rest] - Z[i], axis=1))[:10]]
            predicted[i] = y[near].mean()
    expected = 1.0 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2)
    assert metrics.decoding_r2(Z, y, seed=None) == pytest.approx(expected)
    holes = np.concatenate([y, [np.nan, np.nan]])
    longer = np.vstack([Z, Z[:2]])
    with pytest.warns(UserWarning, match="2 of 62 points have no label"):
        assert metrics.decoding_r2(longer, holes, seed=None) == pytest.approx(expected)


def test_blocks_do_not_flatter_a_recording_that_drifts():
    time = np.arange(500)
    walks = [np.cumsum(np.random.default_rng(seed).normal(size=500)) for seed in range(10)]
    # Nothing but time is in the latent: what it knows of a walk it knows from the rows next to.
    assert np.mean([metrics.decoding_r2(time, walk) for walk in walks]) > 0.9
    assert np.mean([metrics.decoding_r2(time, walk, seed=None) for walk in walks]) < 0.5


def test_an_angle_is_decoded_across_its_seam(rng):
    angle = rng.uniform(0.0, 360.0, size=300)
    ring = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    assert metrics.decoding_r2(ring, angle, period=360.0) > 0.99
    assert metrics.decoding_r2(ring, angle) < metrics.decoding_r2(ring, angle, period=360.0)
    turned = (angle + 90.0) % 360.0
    assert metrics.decoding_r2(ring, turned, period=360.0) == pytest.approx(
        metrics.decoding_r2(ring, angle, period=360.0)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y: metrics.decoding_r2(np.arange(20.0), y[:19]), "y must be one for each of 20"),
        (lambda y: metrics.decoding_r2(np.arange(20.0), 0.0 * y), "y must vary, got 0 for every"),
        (lambda y: metrics.decoding_r2(np.arange(20.0), y / 0.0), "y must be finite"),
        (
            lambda y: metrics.decoding_r2(np.arange(20.0), y * np.nan),
            "number of labels must",
        ),
        (lambda y: metrics.decoding_r2(y, y, 17), "k must be an integer from 1 to 16, got 17"),
        (lambda y: metrics.decoding_r2(y, y, period=0.0), "period must be positive"),
        (lambda y: metrics.held_out_r2(y, y, 20), "k must be an integer from 1 to 19, got 20"),
    ],
)
def test_bad_labels_and_sizes_are_refused(call, message):
    with pytest.raises(ValueError, match=message), np.errstate(divide="ignore"):
        call(np.arange(1.0, 21.0))


def test_held_out_columns_are_predicted_as_by_a_naive_neighbor_mean(rng):
    X = rng.normal(size=(50, 1)) @ rng.normal(size=(1, 9)) + 0.1 * rng.normal(size=(50, 9))
    X[:, 4] = 7.0
    for _ in range(3):
        kept = rng.permutation(9) > 3
        Z, wanted = PCA(1).fit_transform(X[:, kept]), X[:, ~kept]
        lost = whole = 0.0
        for i in range(50):
            others = np.setdiff1d(np.arange(50), [i])
            near = others[np.argsort(np.abs(Z[others, 0] - Z[i, 0]))[:6]]
            lost += np.sum((wanted[i] - wanted[near].mean(axis=0)) ** 2)
            whole += np.sum((wanted[i] - wanted.mean(axis=0)) ** 2)
        assert metrics.held_out_r2(Z, wanted, 6) == pytest.approx(1.0 - lost / whole)
    assert np.isnan(metrics.held_out_r2(X[:, 0], np.ones(50)))
