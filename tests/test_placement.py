import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from tables import r2_of_placed, sheet

from ikd_graph import IKD, _limits, graph

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
STRATEGIES = ["eigen", "blockwise", "geodesic", "linear"]
BOTH = graph.Threshold(0.6, n_neighbors=8)


def surface(seed=0, n=240, n_columns=400):
    return sheet(seed, n, n_columns, noise=0.0, size=(3.0, 2.0))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("affinity", ["correlation", "cosine", "covariance"])
def test_training_rows_get_their_stored_latent(strategy, affinity):
    X, _ = surface()
    model = IKD(2, refine=None, strategy=strategy, affinity=affinity, graph=BOTH).fit(X)
    assert np.array_equal(model.transform(X[::3]), model.embedding_[::3])


@pytest.mark.parametrize("strategy", ["eigen", "blockwise", "geodesic"])
def test_new_rows_land_where_they_belong(strategy):
    X, latent = surface()
    train, new = np.arange(0, 200), np.arange(200, 240)
    model = IKD(2, refine=None, strategy=strategy, graph=BOTH).fit(X[train])
    found = model.transform(X[new])
    # Aligned by the training points, so that the new ones have no say in it.
    assert r2_of_placed(model.embedding_, latent[train], found, latent[new]) > 0.95


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), strategy=st.sampled_from(STRATEGIES))
def test_a_row_is_placed_by_itself(seed, strategy):
    X, _ = surface(seed, n=120)
    model = IKD(2, refine=None, strategy=strategy, graph=8).fit(X[:100])
    together = model.transform(X[100:])
    for row in range(20):
        alone = model.transform(X[100 + row : 101 + row])
        np.testing.assert_array_equal(alone[0], together[row])
    order = np.random.default_rng(seed).permutation(20)
    np.testing.assert_array_equal(model.transform(X[100:][order]), together[order])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_precomputed_block_gives_what_the_rows_give(strategy):
    X, _ = surface(n=150)
    from_rows = IKD(2, strategy=strategy, affinity="correlation", graph=BOTH, refine=None)
    from_rows.fit(X[:120])
    corr = np.corrcoef(X)
    model = IKD(2, refine=None, strategy=strategy, affinity="precomputed", graph=BOTH)
    model.fit(corr[:120, :120])
    np.testing.assert_allclose(
        model.transform(corr[120:, :120]), from_rows.transform(X[120:]), atol=1e-8
    )
    assert np.array_equal(model.transform(corr[:120, :120]), model.embedding_)


def test_a_row_far_from_all_others_is_seen_as_such():
    X, _ = surface()
    model = IKD(2, refine=None, strategy="geodesic", graph=8).fit(X[:200])
    stray = np.random.default_rng(5).normal(size=(20, X.shape[1]))
    usual = model.placement_residuals(X[200:])
    assert model.placement_residuals(stray).min() > 3.0 * np.median(usual)


def test_transform_changes_neither_the_model_nor_its_input():
    X, _ = surface()
    X.setflags(write=False)
    model = IKD(2, refine=None, graph=8).fit(X[:200])
    before = model.embedding_.copy()
    model.transform(X[150:])
    assert np.array_equal(model.embedding_, before)


def test_the_wrong_number_of_columns_is_named():
    X, _ = surface()
    model = IKD(2, refine=None, graph=8).fit(X)
    with pytest.raises(ValueError, match="X has 399 features, but IKD is expecting 400"):
        model.transform(X[:, 1:])


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [2, 5, 10])
def test_new_images_are_classified_as_well_as_by_isomap(digits, n_components):
    from sklearn.manifold import Isomap
    from sklearn.neighbors import KNeighborsClassifier

    X, y = digits
    order = np.random.default_rng(1).permutation(len(X))
    train, new = order[:1437], order[1437:]

    def accuracy(fitted, placed):
        return KNeighborsClassifier(5).fit(fitted, y[train]).score(placed, y[new])

    model = IKD(n_components, random_state=0).fit(X[train])
    peer = Isomap(n_neighbors=7, n_components=n_components).fit(X[train])
    whole = IKD(n_components, random_state=0).fit_transform(X)
    ours = accuracy(model.embedding_, model.transform(X[new]))
    assert ours >= accuracy(peer.embedding_, peer.transform(X[new]))
    assert ours >= accuracy(whole[train], whole[new]) - 0.02


def test_a_terminal_sees_how_far_placing_has_come(monkeypatch, capsys):
    X, _ = surface(n=60)
    quiet = IKD(2, refine=None, graph=6).fit(X[:50])
    quiet.transform(X[50:])
    assert capsys.readouterr().err == ""
    loud = IKD(2, refine=None, graph=6, verbose=1).fit(X[:50])
    capsys.readouterr()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    found = loud.transform(X[50:])
    assert "placing rows" in capsys.readouterr().err
    assert np.array_equal(found, quiet.transform(X[50:]))


def test_single_precision_rows_are_placed_alone_as_together(monkeypatch):
    monkeypatch.setattr(_limits, "SOLVED_WHOLE", 50)
    X = surface(n=140)[0].astype(np.float32)
    model = IKD(2, refine=None, graph=8, n_landmarks=30, random_state=0).fit(X[:100])
    together = model.transform(X[100:])
    assert together.dtype == np.float32
    for row in range(0, 40, 7):
        assert np.array_equal(model.transform(X[100 + row : 101 + row])[0], together[row])
    assert np.array_equal(model.transform(X[:100]), model.embedding_)


def test_shared_neighbours_place_by_mutual_ones():
    rng = np.random.default_rng(0)
    centres = 3.0 * rng.normal(size=(5, 40))
    X = centres[np.arange(150) % 5] + rng.normal(size=(150, 40))
    model = IKD(3, affinity="shared_neighbors", refine="stress").fit(X[:120])
    found = model.transform(X[120:])
    for row in range(0, 30, 7):
        np.testing.assert_allclose(model.transform(X[120 + row : 121 + row])[0], found[row])
    nearest = np.linalg.norm(found[:, None] - model.embedding_, axis=2).argmin(axis=1)
    assert np.array_equal(nearest % 5, np.arange(120, 150) % 5)


@pytest.mark.parametrize("affinity", ["euclidean", "standardized_euclidean", "cosine"])
def test_a_linear_latent_is_that_of_principal_components(affinity):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(90, 3)) @ rng.normal(size=(3, 12)) + 0.3 * rng.normal(size=(90, 12))
    X, new = rows[:60] + 2.0, rows[60:] + 2.0
    model = IKD(2, strategy="linear", affinity=affinity).fit(X)
    if affinity == "standardized_euclidean":
        X, new = X / X.std(axis=0), new / X.std(axis=0)
    if affinity == "cosine":
        X, new = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (X, new))
    oracle = PCA(2, svd_solver="full").fit(X)
    found, right = model.embedding_, oracle.transform(X)
    # In units of the similarity, and of any sign.
    ratio = np.sum(found * right, axis=0) / np.sum(right**2, axis=0)
    np.testing.assert_allclose(np.abs(ratio), abs(ratio[0]), rtol=1e-9)
    np.testing.assert_allclose(found, right * ratio, atol=1e-9)
    np.testing.assert_allclose(
        model.transform(rows[60:] + 2.0), oracle.transform(new) * ratio, atol=1e-9
    )
