import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ikd_graph import IKD, datasets, graph, strategies
from ikd_graph.eigen import landmark_coordinates
from ikd_graph.metrics import affine_r2


def waves(n, seed=0, n_features=60):
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 4.0, (n, 2))
    phase = rng.uniform(0.0, 2.0 * np.pi, n_features)
    return np.cos(latent @ rng.normal(size=(2, n_features)) + phase), latent


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
    nodes = np.arange(2 * n_components + 3)
    squares = cdist(points[nodes], points, "sqeuclidean")
    found = landmark_coordinates(nodes, squares, np.ones(nodes.size), n_components)
    np.testing.assert_allclose(
        cdist(found.coordinates, found.coordinates), cdist(points, points), atol=1e-7
    )


def test_a_landmark_counts_as_the_points_that_are_nearest_to_it():
    # Of copies, the landmarks' own problem is that of all points: classical scaling of the copies.
    rng = np.random.default_rng(0)
    lengths = cdist(points := rng.normal(size=(9, 4)), points) ** 0.7
    copies = np.r_[:9, np.repeat(np.arange(9), rng.integers(0, 6, 9))]
    counts = np.bincount(copies)
    found = landmark_coordinates(np.arange(9), lengths[:, copies] ** 2, counts, 3)
    squares = lengths[np.ix_(copies, copies)] ** 2
    centered = squares - squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (centered - centered.mean(axis=1, keepdims=True)))
    expected = vectors[:, :-4:-1] * np.sqrt(values[:-4:-1])
    signs = np.sign(np.sum(expected * found.coordinates, axis=0))
    np.testing.assert_allclose(found.coordinates, signs * expected, atol=1e-10)
    np.testing.assert_allclose(found.eigenvalues, values[:-4:-1])


@pytest.mark.parametrize("path", ["distance", "covariance"])
def test_a_tenth_of_the_points_gives_nearly_the_whole_embedding(path):
    X, _ = waves(2000)
    settings = {"strategy": strategies.Geodesic(path), "affinity": "correlation", "graph": 8}
    whole, few = (
        IKD(2, n_landmarks=count, refine=None, random_state=0, **settings).fit_transform(X)
        for count in (None, 200)
    )
    assert affine_r2(whole, few) > 0.99


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
    again = IKD(2, n_jobs=2, **(settings | {"random_state": None})).fit(X)
    assert np.array_equal(again.embedding_, model.embedding_)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("ikd_graph._base.limits.free_memory", lambda: 10**6)
    X, _ = waves(400)
    settings = {"affinity": "correlation", "graph": 8, "refine": None}
    for parameters in ({"n_landmarks": None}, {"strategy": "eigen"}):
        with pytest.raises(MemoryError, match=r"fit into memory, got 5120000 bytes .* need less"):
            IKD(2, **parameters, **settings).fit(X)
    IKD(2, n_landmarks=100, **settings).fit(X)
    with pytest.raises(MemoryError, match=r"400 points and 300 must fit"):
        IKD(2, n_landmarks=300, **settings).fit(X)


@pytest.mark.parametrize("refine", [None, "stress"])
def test_landmarks_do_not_depend_on_the_order_of_the_rows(refine):
    X, _ = waves(900)
    order = np.random.default_rng(1).permutation(len(X))
    settings = {"strategy": "geodesic", "graph": 10, "n_landmarks": 100, "refine": refine}
    model, shuffled = IKD(2, **settings).fit(X), IKD(2, **settings).fit(X[order])
    assert set(order[shuffled.landmarks_]) == set(model.landmarks_)
    np.testing.assert_allclose(shuffled.embedding_, model.embedding_[order], atol=1e-8)


def test_stress_on_landmarks_is_as_good_as_on_all_pairs():
    X, latent = waves(1500)
    settings = {"strategy": "geodesic", "graph": 10, "refine": "stress"}
    whole, few = (
        affine_r2(latent, IKD(2, n_landmarks=count, **settings).fit_transform(X))
        for count in (None, 300)
    )
    assert few > whole - 0.003 > 0.95


def test_many_points_have_landmarks():
    X, latent = waves(2500)
    model = IKD(2, strategy="geodesic", affinity="correlation", graph=10).fit(X)
    assert model.landmarks_.size == 300
    assert model.settings_.reasons["n_landmarks"].startswith("300 landmarks stand for 2500 points")
    assert affine_r2(latent, model.embedding_) > 0.95


@pytest.mark.parametrize("strategy", ["geodesic", "blockwise"])
def test_of_many_samples_of_the_model_a_point_keeps_its_strongest_edges(strategy):
    latent = np.random.default_rng(0).uniform(0.0, 2.0, (1200, 2))
    X = datasets.gplvm_data(latent, 200, noise=0.3).X
    model = IKD(2, strategy=strategy, refine=None).fit(X)
    rule = graph.Threshold(5 / 200**0.5, n_neighbors=6, strongest=150, prune=False)
    assert model.settings_.graph == rule
    assert model.graph_.n_edges <= 1200 * 150
    assert affine_r2(latent, model.embedding_) > 0.95
