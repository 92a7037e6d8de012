import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.manifold import trustworthiness as sklearn_trust
from sklearn.metrics import r2_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

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


def naive_ranks(points):
    """Rank of each point as seen from each other one, found by counting nearer ones."""
    n = len(points)
    ranks = np.zeros((n, n), dtype=int)
    for i in range(n):
        gaps = [np.linalg.norm(points[i] - points[j]) for j in range(n)]
        for j in range(n):
            ranks[i, j] = (
                0
                if i == j
                else 1 + sum(gaps[other] < gaps[j] for other in range(n) if other not in (i, j))
            )
    return ranks


def naive_q(X, Z, size):
    before, after = naive_ranks(X), naive_ranks(Z)
    shared = sum(
        len(set(np.flatnonzero(a <= size)) & set(np.flatnonzero(b <= size))) - 1
        for a, b in zip(before, after, strict=True)
    )
    return shared / (size * len(X))


@pytest.fixture
def bent(rng):
    X = rng.normal(size=(40, 4))
    return X, np.column_stack([X[:, 0] ** 3, X[:, 1]]) + 0.3 * rng.normal(size=(40, 2))


@pytest.mark.parametrize("k", [1, 5, 19])
def test_trustworthiness_and_continuity_agree_with_scikit_learn(bent, k):
    X, Z = bent
    assert metrics.trustworthiness(X, Z, k) == pytest.approx(sklearn_trust(X, Z, n_neighbors=k))
    assert metrics.continuity(X, Z, k) == pytest.approx(sklearn_trust(Z, X, n_neighbors=k))


def test_the_curve_of_shared_neighbours_agrees_with_a_naive_one(bent):
    X, Z = bent
    curve = metrics.q_nx(X, Z)
    assert curve.shape == (39,)
    assert curve[-1] == pytest.approx(1.0)
    for size in (1, 7, 30):
        assert curve[size - 1] == pytest.approx(naive_q(X, Z, size))
    above = metrics.r_nx(X, Z)
    assert above[6] == pytest.approx((39 * curve[6] - 7) / (39 - 7))
    weights = [1.0 / size for size in range(1, 39)]
    area = sum(w * r for w, r in zip(weights, above, strict=True)) / sum(weights)
    assert metrics.r_nx_auc(X, Z) == pytest.approx(area)


def test_a_random_embedding_shares_neighbours_by_chance_and_a_moved_one_all(rng):
    X = rng.normal(size=(400, 3))
    assert abs(metrics.r_nx_auc(X, rng.normal(size=(400, 2)))) < 0.03
    assert metrics.r_nx_auc(X, 3.0 * X @ random_rotation(rng, 3)) == pytest.approx(1.0)
    assert metrics.random_triplets(X, rng.normal(size=(400, 2))) == pytest.approx(0.5, abs=0.03)
    assert metrics.random_triplets(X, -2.0 * X) == 1.0


def test_the_order_of_rows_says_nothing_about_an_embedding_that_collapsed():
    # All gaps differ, so that only the embedding has ties.
    sorted_rows = np.arange(300.0) ** 1.37
    nothing = np.zeros((300, 2))
    assert abs(metrics.r_nx_auc(sorted_rows, nothing)) < 0.03
    assert metrics.trustworthiness(sorted_rows, nothing) == pytest.approx(0.5, abs=0.05)
    assert metrics.random_triplets(sorted_rows, nothing) == 0.5
    assert metrics.density_preservation(sorted_rows, nothing) == 0.0
    assert metrics.held_out_r2(nothing, sorted_rows) < 0.0


def test_triplets_agree_with_naive_ones(bent):
    X, Z = bent
    agree = []
    for i in range(40):
        for j in range(40):
            for other in range(j):
                if i not in (j, other):
                    gaps = [
                        np.linalg.norm(T[i] - T[j]) - np.linalg.norm(T[i] - T[other])
                        for T in (X, Z)
                    ]
                    agree.append(gaps[0] * gaps[1] > 0)
    assert metrics.random_triplets(X, Z) == pytest.approx(np.mean(agree), abs=0.01)
    classes = np.arange(40) % 8
    centres = [[T[classes == c].mean(axis=0) for c in range(8)] for T in (X, Z)]
    everyone = metrics.random_triplets(centres[0], centres[1], n_triplets=200_000)
    assert metrics.centroid_triplets(X, Z, classes) == pytest.approx(everyone, abs=0.005)
    gaps = [pdist(c) for c in centres]
    assert metrics.centroid_distances(X, Z, classes) == pytest.approx(spearmanr(*gaps).statistic)
    with pytest.raises(ValueError, match="number of classes must be an integer at least 3, got 2"):
        metrics.centroid_triplets(X, Z, classes > 3)


def test_spearman_of_distances_is_that_of_scipy_and_of_a_sample_of_many_pairs(rng):
    X = rng.normal(size=(900, 3))
    Z = X[:, :2] + rng.normal(size=(900, 2))
    exact = spearmanr(pdist(X), pdist(Z)).statistic
    assert metrics.global_distance_preservation(X, Z) == pytest.approx(exact, abs=0.006)
    few = spearmanr(pdist(X[:300]), pdist(Z[:300])).statistic
    assert metrics.global_distance_preservation(X[:300], Z[:300]) == pytest.approx(few)


def test_density_is_kept_by_a_scale_and_lost_by_an_even_spread(rng):
    dense, loose = rng.normal(size=(100, 2)), 20.0 * rng.normal(size=(100, 2)) + 200.0
    X = np.vstack([dense, loose])
    assert metrics.density_preservation(X, 7.0 * X) == pytest.approx(1.0)
    even = np.vstack([20.0 * dense, loose])
    assert metrics.density_preservation(X, even) < 0.3
    copies = np.vstack([np.zeros((20, 2)), X])
    assert 0.9 < metrics.density_preservation(copies, copies) <= 1.0
    k = 7
    near = np.sort(squareform(pdist(X)), axis=1)[:, 1 : k + 1]
    ours = metrics.density_preservation(X, even**2, k)
    after = np.sort(squareform(pdist(even**2)), axis=1)[:, 1 : k + 1]
    logs = [np.log((near**2).mean(axis=1)), np.log((after**2).mean(axis=1))]
    assert ours == pytest.approx(np.corrcoef(*logs)[0, 1])


def test_shared_distances_give_what_tables_give_and_must_be_of_the_same_points(bent):
    X, Z = bent
    data = metrics.Distances(X, max_points=30, seed=3)
    points = metrics.Distances(Z, rows=data.rows)
    for name in (
        "trustworthiness", "continuity", "r_nx_auc", "local_distance_preservation",
        "density_preservation", "global_distance_preservation", "random_triplets",
    ):  # fmt: skip
        measure = getattr(metrics, name)
        rows = data.rows
        assert measure(data, Z) == measure(data, points) == measure(X, points)
        assert measure(data, Z) == pytest.approx(measure(X[rows], Z[rows]), abs=0.02), name
    with pytest.raises(ValueError, match="got Distances of two samples"):
        metrics.r_nx_auc(data, metrics.Distances(Z))
    with pytest.raises(ValueError, match="the same points in the same order, got 40 and 39 rows"):
        metrics.r_nx_auc(data, Z[1:])


def test_beyond_a_limit_a_sample_stands_for_all_points(rng):
    X = rng.normal(size=(3000, 3))
    Z = X[:, :2]
    data = metrics.Distances(X)
    assert data.n_points == metrics.MOST_POINTS < 3000
    exact = sklearn_trust(X, Z, n_neighbors=75)
    assert metrics.trustworthiness(data, Z, 50) == pytest.approx(exact, abs=0.01)


def test_a_support_vector_machine_reads_classes_whatever_their_scale(digits):
    X, y = digits[0][:300, :], digits[1][:300]
    accuracy = metrics.svm_accuracy(X, y)
    assert 0.9 < accuracy < 1.0
    assert metrics.svm_accuracy(1e-3 * X, y) == pytest.approx(accuracy, abs=0.01)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    assert accuracy == pytest.approx(cross_val_score(SVC(), X, y, cv=folds).mean())
    with pytest.raises(ValueError, match="the smallest class has too few points"):
        metrics.svm_accuracy(X, np.arange(300) == 0)


def test_a_quantity_is_decoded_as_by_a_naive_neighbour_mean(rng):
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
    assert metrics.decoding_r2(longer, holes, seed=None) == pytest.approx(expected)


def test_blocks_do_not_flatter_a_recording_that_drifts():
    time = np.arange(500)
    walks = [np.cumsum(np.random.default_rng(seed).normal(size=500)) for seed in range(10)]
    # Nothing but time is in the latent: what it knows of a walk it knows from the rows beside.
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
        (lambda y: metrics.decoding_r2(np.arange(20.0), y[:19]), "one label for each of the 20"),
        (lambda y: metrics.decoding_r2(np.arange(20.0), 0.0 * y), "y must vary, got 0 for every"),
        (lambda y: metrics.decoding_r2(np.arange(20.0), y / 0.0), "y must be finite"),
        (lambda y: metrics.decoding_r2(np.arange(20.0), y * np.nan), "known for at least 2 points"),
        (lambda y: metrics.decoding_r2(y, y, 17), "k must be an integer from 1 to 16, got 17"),
        (lambda y: metrics.decoding_r2(y, y, period=0.0), "period must be positive"),
        (
            lambda y: metrics.co_smoothing(PCA(1), y),
            "number of columns must be an integer at least 2",
        ),
        (lambda y: metrics.held_out_r2(y, y, 20), "k must be an integer from 1 to 19, got 20"),
        (lambda y: metrics.r_nx(y[:2], y[:2]), "number of points must be an integer at least 3"),
    ],
)
def test_bad_labels_and_sizes_are_refused(call, message):
    with pytest.raises(ValueError, match=message), np.errstate(divide="ignore"):
        call(np.arange(1.0, 21.0))


def test_held_out_columns_are_predicted_as_by_a_naive_neighbour_mean(rng):
    X = rng.normal(size=(50, 1)) @ rng.normal(size=(1, 9)) + 0.1 * rng.normal(size=(50, 9))
    X[:, 4] = 7.0
    found = metrics.co_smoothing(PCA(1), X, 6, n_splits=3, seed=2)
    for kept, score in zip(metrics.column_halves(9, 3, seed=2), found.splits, strict=True):
        assert kept.sum() == 5
        Z, wanted = PCA(1).fit_transform(X[:, kept]), X[:, ~kept]
        lost = whole = 0.0
        for i in range(50):
            others = np.setdiff1d(np.arange(50), [i])
            near = others[np.argsort(np.abs(Z[others, 0] - Z[i, 0]))[:6]]
            lost += np.sum((wanted[i] - wanted[near].mean(axis=0)) ** 2)
            whole += np.sum((wanted[i] - wanted.mean(axis=0)) ** 2)
        assert score == pytest.approx(1.0 - lost / whole)
    assert found.r2 == pytest.approx(found.splits.mean())
    assert found.standard_error == pytest.approx(found.splits.std(ddof=1) / np.sqrt(3))
    assert np.isnan(metrics.held_out_r2(X[:, 0], np.ones(50)))
    assert np.isnan(metrics.co_smoothing(PCA(1), X, n_splits=1).standard_error)


@pytest.mark.parametrize("size", [1e-160, 1e160])
def test_a_motion_between_units_that_are_worlds_apart_is_a_number(size):
    points = np.random.default_rng(0).standard_normal((40, 2))
    assert metrics.rigid_r2(size * points, size * points) == pytest.approx(1.0)
    for one, other in ((size * points, points), (points, size * points)):
        assert np.isfinite(metrics.rigid_r2(one, other))
        assert metrics.rigid_r2(one, other) < 0.01
