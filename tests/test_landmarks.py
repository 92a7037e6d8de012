import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from ikd_graph import IKD, _limits, _memory, geodesics, graph, kernels, similarity, strategies
from ikd_graph.strategies import landmarks
from ikd_graph.study.metrics import affine_r2

SE = kernels.SquaredExponential()


def waves(n, seed=0, n_features=60):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 4.0, (n, 2))
    phase = rng.uniform(0.0, 2.0 * np.pi, n_features)
    return np.cos(latent @ rng.normal(size=(2, n_features)) + phase), latent


def connected(rows, k=8):
    near = graph.row_neighbors(rows, k)
    g = graph.from_neighbors(near, lambda a, b: graph.row_correlations(rows, a, b))
    assert graph.component_labels(g).max() == 0
    return g


def solve(g, size, count=None, *, path="distance", reference="center", seed=0):
    """Geodesic solution, from so many landmarks."""
    marks = None if count is None else strategies.Landmarks(count, seed)
    return strategies.Geodesic(path, reference).solve(None, g, SE, size, marks).embedding


def unit(X):
    rows = X - X.mean(axis=1, keepdims=True)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def drawn_from(points, count, seed=0):
    def measure(nodes):
        return cdist(points[nodes], points)

    return landmarks.draw(measure, len(points), count, np.random.RandomState(seed))


@pytest.mark.parametrize("path", ["distance", "covariance"])
@pytest.mark.parametrize("reference", ["center", "min_max", "min_mean", 17])
def test_every_point_a_landmark_gives_the_whole_solution(path, reference):
    g = connected(unit(waves(150)[0]))
    whole = solve(g, 3, path=path, reference=reference)
    lengths = geodesics.path_lengths(g, SE, path)
    everything = np.arange(150)
    table = geodesics.shortest_distances(lengths)
    for node in everything:
        edge = slice(g.indptr[node], g.indptr[node + 1])
        table[node, g.indices[edge]] = lengths.weights[edge]
    drawn = landmarks.Drawn(everything, table, np.ones(150, dtype=np.int64))

    def to_squares(values):
        return geodesics.squares_of_lengths(SE, path, values)

    found = landmarks.solve(drawn, to_squares, 3, reference)
    np.testing.assert_allclose(found.coordinates, whole.coordinates, atol=1e-6)
    np.testing.assert_allclose(found.eigenvalues, whole.eigenvalues, rtol=1e-8)
    assert found.reference == whole.reference


@pytest.mark.parametrize("strategy", ["eigen", "geodesic"])
@pytest.mark.parametrize("n_landmarks", [120, 500])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_as_many_landmarks_as_points_change_nothing(strategy, n_landmarks):
    X, _ = waves(120)
    settings = {"strategy": strategy, "refine": None, "graph": 8}
    whole = IKD(2, n_landmarks=None, **settings).fit(X)
    model = IKD(2, n_landmarks=n_landmarks, **settings).fit(X)
    assert np.array_equal(model.embedding_, whole.embedding_)
    assert model.landmarks_ is None


@pytest.mark.parametrize("n_components", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_euclidean_points_are_found_from_few_landmarks(seed, n_components):
    points = np.random.default_rng(seed).normal(size=(200, n_components))
    found = landmarks.solve(drawn_from(points, 2 * n_components + 3, seed), np.square, n_components)
    np.testing.assert_allclose(
        cdist(found.coordinates, found.coordinates), cdist(points, points), atol=1e-7
    )


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 80))
def test_landmarks_are_different_points_and_count_all_points(seed, count):
    points = np.random.default_rng(seed).integers(0, 4, (80, 2)).astype(float)
    drawn = drawn_from(points, count, seed)
    assert np.unique(drawn.nodes).size == count
    assert drawn.counts.min() >= 1
    assert drawn.counts.sum() == 80
    np.testing.assert_array_equal(drawn.lengths, cdist(points[drawn.nodes], points))


def test_a_seed_gives_the_same_landmarks_again():
    points = np.random.default_rng(0).normal(size=(300, 2))
    one, same, other = (drawn_from(points, 50, seed).nodes for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_landmarks_reach_a_far_group_of_few_points():
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(990, 2)), 100.0 + rng.normal(size=(10, 2))])
    for seed in range(10):
        assert (drawn_from(points, 40, seed).nodes >= 990).any()


@pytest.mark.parametrize("path", ["distance", "covariance"])
def test_a_tenth_of_the_points_gives_nearly_the_whole_embedding(path):
    g = connected(unit(waves(2000)[0]))
    whole, few = (solve(g, 2, count, path=path).coordinates for count in (None, 200))
    assert affine_r2(whole, few) > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [2, 10])
def test_auto_landmarks_keep_the_embedding_of_ten_thousand_images(data_home, n_components):
    from ikd_graph import covariance
    from ikd_graph.study.datasets import load

    images = load("fashion_mnist").X
    take = np.random.default_rng(0).choice(len(images), min(10_000, len(images)), replace=False)
    g = connected(covariance.unit_rows(images[take]), 7)
    count, _ = landmarks.number("auto", 10_001, n_components)
    whole, few = (solve(g, n_components, m, path="covariance").coordinates for m in (None, count))
    assert affine_r2(whole, few) > 0.98


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_estimator_with_landmarks_places_all_rows(dtype):
    X, latent = waves(800)
    X = X.astype(dtype)
    settings = {"n_landmarks": 0.1, "graph": 10, "refine": None, "random_state": 0}
    settings["strategy"] = "geodesic"
    model = IKD(2, **settings).fit(X)
    assert model.landmarks_.shape == (80,)
    assert affine_r2(latent, model.embedding_) > 0.95
    assert model.embedding_.dtype == dtype
    assert np.array_equal(model.transform(X[::7]), model.embedding_[::7])
    again = IKD(2, n_jobs=2, **settings).fit(X)
    assert np.array_equal(again.embedding_, model.embedding_)


@pytest.mark.parametrize("strategy", ["eigen", "geodesic"])
def test_new_rows_are_placed_by_the_landmarks_of_the_fit(strategy):
    # Without the detour of a path "eigen" needs a small part of the surface.
    X, latent = waves(700, n_features=300)
    near = np.flatnonzero((latent < (1.5 if strategy == "eigen" else 4.0)).all(axis=1))
    train, new = near[::2], near[1::2]
    model = IKD(
        2, strategy=strategy, affinity="cosine", n_landmarks=40, graph=10,
        refine=None, random_state=1,
    ).fit(X[train])  # fmt: skip
    design = np.column_stack([model.embedding_, np.ones(train.size)])
    to_truth = np.linalg.lstsq(design, latent[train], rcond=None)[0]
    found = model.transform(X[new])
    placed = np.column_stack([found, np.ones(new.size)]) @ to_truth
    error = ((placed - latent[new]) ** 2).sum() / ((latent[new] - latent[new].mean(0)) ** 2).sum()
    assert error < 0.05
    alone = model.transform(X[new[3:4]])
    np.testing.assert_allclose(alone[0], found[3], atol=1e-9)


def test_each_component_laid_aside_has_landmarks_of_its_own():
    X = np.concatenate(
        [np.pad(waves(60, 0)[0], ((0, 0), (0, 60))), np.pad(waves(60, 1)[0], ((0, 0), (60, 0)))]
    )
    with pytest.warns(UserWarning, match="laid side by side"):
        model = IKD(
            2, n_landmarks=20, graph=graph.Neighbors(5, disconnected="separate"), refine=None,
            affinity="cosine", random_state=0,
        ).fit(X)  # fmt: skip
    assert np.isfinite(model.embedding_).all()
    assert np.ptp(model.embedding_[:60], axis=0).min() > 0.0


def test_the_number_of_landmarks_follows_the_setting():
    assert landmarks.number(None, 10**6, 2) == (None, "")
    assert landmarks.number("auto", 10_000, 2)[0] is None
    assert landmarks.number("auto", 10_001, 2)[0] == 300
    assert landmarks.number("auto", 70_000, 10)[0] == 500
    assert landmarks.number(0.25, 400, 2) == (100, "")
    assert landmarks.number(0.001, 400, 2)[0] == 5
    assert landmarks.number(400, 400, 2)[0] is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.5, "n_landmarks must lie in (0, 1), got 1.5"),
        (2, "n_landmarks must be an integer at least 3, got 2; 'auto' chooses a number"),
        ("all", "n_landmarks must be an integer at least 3, got 'all'"),
    ],
)
def test_a_number_of_landmarks_that_cannot_be_is_named(value, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        IKD(2, n_landmarks=value).fit(waves(20)[0])


def test_points_that_span_fewer_dimensions_are_counted():
    line = np.linspace(0.0, 1.0, 30)[:, None]
    with pytest.warns(UserWarning, match="1 of the 2 leading eigenvalues are not positive"):
        found = landmarks.solve(drawn_from(line, 6), np.square, 2)
    np.testing.assert_allclose(found.coordinates[:, 1], 0.0, atol=1e-12)
    assert affine_r2(line, found.coordinates[:, :1]) > 1.0 - 1e-9


def test_what_does_not_fit_into_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("ikd_graph.pipeline.available", lambda: 10**6)
    X, _ = waves(400)
    settings = {"affinity": "correlation", "graph": 8, "refine": None}
    message = (
        "distances between 400 points must fit into memory, got 5120000 bytes (0.0 GB) "
        "with 1000000 available (0.0 GB); n_landmarks=300 measures from a few of them"
    )
    with pytest.raises(MemoryError, match=re.escape(message)):
        IKD(2, n_landmarks=None, **settings).fit(X)
    IKD(2, n_landmarks=100, **settings).fit(X)
    with pytest.raises(MemoryError, match=r"from 300 landmarks .* a smaller n_landmarks"):
        IKD(2, n_landmarks=300, **settings).fit(X)


def test_the_memory_there_is_is_read_from_the_system(monkeypatch, tmp_path):
    assert _memory.available() > 10**6
    monkeypatch.setattr(_memory, "_MEMINFO", tmp_path / "missing")
    assert _memory.available() is None or _memory.available() > 10**6
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:      7 kB\n")
    monkeypatch.setattr(_memory, "_MEMINFO", meminfo)
    assert _memory.available() == 7 * 1024


def test_an_interrupted_fit_names_its_stage_and_leaves_no_half_model(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(geodesics.shortest_distances, "unchecked", interrupted)
    strategy = strategies.Geodesic(path="covariance")
    model = IKD(2, affinity="cosine", n_landmarks=30, graph=8, refine=None, strategy=strategy)
    with pytest.raises(KeyboardInterrupt, match="stopped during the stage 'closed form'"):
        model.fit(waves(200)[0])
    assert not hasattr(model, "embedding_")


def test_many_rows_keep_their_precision_and_flat_ones_are_counted_together(monkeypatch):
    monkeypatch.setattr(_limits, "SOLVED_WHOLE", 100)
    X = waves(1300)[0].astype(np.float32)
    rows = similarity.compare(X, "correlation").rows
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, unit(X.astype(float)), atol=1e-6)
    X[[5, 1200]] = 1.0
    with pytest.warns(UserWarning, match="2 rows of X do not vary"):
        similarity.compare(X, "correlation", counts=True)
    with pytest.raises(ValueError, match="got 2 constant row"):
        similarity.compare(X, "correlation")


def test_many_points_have_landmarks_and_no_threshold(monkeypatch):
    monkeypatch.setattr(_limits, "SOLVED_WHOLE", 100)
    X = np.random.default_rng(0).normal(size=(400, 3)) @ np.random.default_rng(1).normal(
        size=(3, 150)
    )
    model = IKD(2, strategy="geodesic", refine=None, random_state=0).fit(X)
    assert model.landmarks_.size == 300
    assert model.settings_.graph == graph.Neighbors(10)
    assert (
        "distances between all of 400 points would fill" in model.settings_.reasons["n_landmarks"]
    )
